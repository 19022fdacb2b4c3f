//! A state of things at places in letters, for terminals: a line for each place, with what is there.

use super::places::Reading;

/// Lines that fit a terminal.
const MOST_PLACES: usize = 40;

/// A state in lines, each with a title and what comes after it: places with what is at them, then what is left to say. `None` where facts
/// are not about things at places.
pub fn in_letters(groups: &[Vec<String>], facts: &[String]) -> Option<Vec<(String, String)>> {
    let reading = Reading::new(groups, facts).filter(|reading| reading.places.len() <= MOST_PLACES)?;
    let line = |of: &str| reading.content(of).into_iter().map(|thing| show(&reading, thing));
    let mut lines: Vec<(String, String)> = reading
        .places
        .iter()
        .map(|place| {
            (format!("{place}{}", about(&reading, place)), line(place).collect::<Vec<_>>().join("  "))
        })
        .collect();
    if !reading.nowhere.is_empty() {
        let things: Vec<String> = reading.nowhere.iter().map(|thing| show(&reading, thing)).collect();
        lines.push(("elsewhere".to_string(), things.join("  ")));
    }
    if !reading.rest.is_empty() {
        let tick = |(text, done): &(String, bool)| if *done { format!("{text} ✓") } else { text.clone() };
        lines.push((String::new(), reading.rest.iter().map(tick).collect::<Vec<_>>().join(", ")));
    }
    Some(lines)
}

/// A thing with what it holds, what is said about it and what is wanted of it: `ferry[car1→l2]`.
fn show(reading: &Reading<'_>, thing: &str) -> String {
    let content: Vec<String> = reading.content(thing).into_iter().map(|inner| show(reading, inner)).collect();
    let content = if content.is_empty() { String::new() } else { format!("[{}]", content.join(" ")) };
    format!("{thing}{}{content}", about(reading, thing))
}

fn about(reading: &Reading<'_>, object: &str) -> String {
    let said = reading.said.get(object).map_or(String::new(), |said| format!("({})", said.join(", ")));
    let wish = |(text, done): &(String, bool)| if *done { " ✓".to_string() } else { format!("→{text}") };
    let wanted: String = reading.wanted.get(object).into_iter().flatten().map(wish).collect();
    format!("{said}{wanted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_stand_at_their_places_with_what_is_wanted_of_them() {
        let groups = [vec!["c1".to_string(), "c2".to_string()], vec!["l1".to_string(), "l2".to_string()]];
        let facts = ["at_ferry(l1)", "on(c1)", "at(c2, l2)", "goal_at(c1, l2)", "goal_at(c2, l2)"];
        let lines = in_letters(&groups, &facts.map(str::to_string)).unwrap();
        let line = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(lines, [line("l1", "ferry[c1→l2]"), line("l2", "c2 ✓")]);
        assert_eq!(in_letters(&groups, &["p(c1)".to_string()]), None);
    }
}
