//! States in letters, for terminals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use derrl_env::scene::{Grid, Numbers, Roads, Scene, Stacks};
use derrl_report::table::{WIDTH, list, wrap};
use derrl_report::{in_letters, towers};

use crate::style::Paint;

/// Facts of a state that are shown, at the most.
const MOST_FACTS: usize = 24;
/// Numbers that have a gauge each, at the most, and the width of one.
const MOST_GAUGES: usize = 16;
const GAUGE: usize = 33;

/// Draws the states of an episode.
pub struct Letters<'a> {
    paint: Paint,
    /// Between what each number lies in the episode.
    ranges: BTreeMap<&'a str, (f64, f64)>,
}

/// A number by its name and its value.
fn number(fact: &str) -> Option<(&str, f64)> {
    let (name, value) = fact.split_once(" = ")?;
    Some((name, value.parse().ok()?))
}

impl<'a> Letters<'a> {
    /// For an episode whose states have these facts.
    pub fn new(states: impl Iterator<Item = &'a [String]>, paint: Paint) -> Letters<'a> {
        let mut ranges = BTreeMap::new();
        for (name, value) in states.flatten().filter_map(|fact| number(fact)) {
            let (low, high) = ranges.entry(name).or_insert((value, value));
            (*low, *high) = (low.min(value), high.max(value));
        }
        Letters { paint, ranges }
    }

    /// A state, drawn where its scene or its facts tell how; else its facts.
    pub fn state(&self, scene: &Scene, facts: &[String]) -> String {
        match scene {
            Scene::Stacks(scene) => self.stacks(scene, &[]),
            Scene::Grid(scene) => format!("{}\n", self.grid(scene)),
            Scene::Numbers(scene) => self.numbers(scene),
            Scene::Text { text } => format!("{text}\n\n"),
            Scene::Roads(scene) => format!("{}\n", self.roads(scene)),
            Scene::Objects(objects) => match (towers(facts), in_letters(&objects.groups, facts)) {
                (Some((scene, held)), _) => self.stacks(&scene, &held),
                (None, Some(lines)) => format!("{}\n", self.lines(&lines)),
                (None, None) => self.facts(facts),
            },
            Scene::Streets(_) | Scene::Cart(_) | Scene::Image(_) | Scene::Facts => self.facts(facts),
        }
    }

    /// Facts as they are, with a gauge for each number.
    fn facts(&self, facts: &[String]) -> String {
        let (numbers, others): (Vec<&String>, Vec<&String>) = facts.iter().partition(|f| number(f).is_some());
        if numbers.is_empty() || numbers.len() > MOST_GAUGES {
            return format!("{}\n", wrap(&list(facts, MOST_FACTS), "", WIDTH));
        }
        let wide = numbers.iter().filter_map(|f| number(f)).map(|(name, _)| name.chars().count()).max();
        let mut gauges = String::new();
        for (name, value) in numbers.iter().filter_map(|fact| number(fact)) {
            let (low, high) = self.ranges.get(name).copied().unwrap_or((value, value));
            let at = if high > low { (value - low) / (high - low) } else { 0.5 };
            let at = (at * (GAUGE - 1) as f64).round() as usize;
            let (left, right) = ("-".repeat(at), "-".repeat(GAUGE - 1 - at));
            let gauge = [self.paint.faint(&left), self.paint.strong("o"), self.paint.faint(&right)].concat();
            let _ = writeln!(gauges, "{name:0$}  {value:>9.3}  {gauge}", wide.unwrap_or(0));
        }
        let others = list(&others, MOST_FACTS);
        let others = if others.is_empty() { others } else { wrap(&others, "", WIDTH) };
        format!("{gauges}{others}\n")
    }

    /// Titles, and what comes after each.
    fn lines(&self, lines: &[(String, String)]) -> String {
        let wide = lines.iter().map(|(title, _)| title.chars().count()).max().unwrap_or(0);
        let indent = " ".repeat(wide + 2);
        let mut all = String::new();
        for (title, text) in lines {
            let text = wrap(text, &indent, WIDTH);
            let _ = writeln!(all, "{}  {}", self.paint.strong(&format!("{title:wide$}")), text.trim());
        }
        all
    }

    fn stacks(&self, scene: &Stacks, held: &[u32]) -> String {
        let wide = scene.blocks.iter().map(|b| b.chars().count()).max().unwrap_or(1);
        let high = scene.stacks.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for block in held {
            let _ = writeln!(text, "in the hand: {}", scene.name(*block));
        }
        for level in (0..high).rev() {
            for stack in &scene.stacks {
                let block =
                    stack.get(level).map_or(String::new(), |b| format!("[{:^wide$}]", scene.name(*b)));
                let _ = write!(text, " {block:>0$}", wide + 2);
            }
            text.push('\n');
        }
        let floor = "-".repeat(scene.stacks.len() * (wide + 3) + 1);
        let goal = wrap(&format!("goal: {}", scene.wanted()), "", WIDTH);
        format!("{text}{floor}\n{}\n", self.paint.faint(&goal))
    }

    fn numbers(&self, scene: &Numbers) -> String {
        let paint = self.paint;
        let rest: Vec<String> = scene.numbers.iter().skip(scene.taken).map(i64::to_string).collect();
        let line = |n: i64| match n {
            n if n == scene.acc && n == scene.goal => paint.good("@"),
            n if n == scene.acc => paint.strong("o"),
            n if n == scene.goal => paint.good("F"),
            _ => ".".to_string(),
        };
        let axis: Vec<String> = (scene.range.0..=scene.range.1).map(line).collect();
        format!(
            "stack: {}\n{} {} {}\nsum {} (o), goal {} (F)\n\n",
            if rest.is_empty() { "empty".to_string() } else { rest.join(" ") },
            scene.range.0,
            axis.join(" "),
            scene.range.1,
            scene.acc,
            scene.goal
        )
    }

    /// The lanes that lead to each traffic light: who waits, and which have green.
    fn roads(&self, scene: &Roads) -> String {
        let mut lines = Vec::new();
        for (i, node) in scene.nodes.iter().enumerate().filter(|(_, node)| node.lights) {
            let to_it = scene.lanes.iter().enumerate().filter(|(_, lane)| lane.to == i);
            let lane = |(j, lane): (usize, &derrl_env::scene::Lane)| {
                let from = &scene.nodes[lane.from].name;
                let queue = scene.queues.get(j).copied().unwrap_or(0);
                let green = if scene.green.contains(&j) { "*" } else { "" };
                format!("{from} {queue}{green}")
            };
            let turn = if scene.turn == Some(i) { " decides" } else { "" };
            lines.push((format!("{}{turn}", node.name), to_it.map(lane).collect::<Vec<_>>().join("  ")));
        }
        format!(
            "{}{}\n",
            self.lines(&lines),
            self.paint.faint("vehicles that wait, by where they come from; * has green")
        )
    }

    fn grid(&self, scene: &Grid) -> String {
        let paint = self.paint;
        let mut text = String::new();
        for (y, row) in scene.rows.iter().enumerate() {
            for (x, square) in row.chars().enumerate() {
                let here = (x as u32, y as u32);
                let thing = scene.things.iter().find(|t| t.at == here);
                let sign = if scene.agent.at == here {
                    let facing = match scene.agent.facing {
                        Some(0) => ">",
                        Some(1) => "v",
                        Some(2) => "<",
                        Some(_) => "^",
                        None => "@",
                    };
                    paint.strong(facing)
                } else {
                    match (thing.map(|t| (t.kind, t.state)), square) {
                        (Some(("goal", _)), _) => paint.good("F"),
                        (Some(("key", _)), _) => paint.unsure("k"),
                        (Some(("door", Some("open"))), _) => "'".to_string(),
                        (Some(("door", _)), _) => paint.bad("D"),
                        (Some(_), _) | (None, '#') => "#".to_string(),
                        (None, _) => paint.faint("."),
                    }
                };
                text.push_str(&sign);
                text.push(' ');
            }
            text.push('\n');
        }
        let hand = scene.agent.holds.as_ref().and_then(|t| t.name.as_deref());
        if let Some(name) = hand {
            let _ = writeln!(text, "{}", paint.faint(&format!("carrying {name}")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Color;

    #[test]
    fn numbers_stand_on_a_line_between_their_least_and_their_greatest() {
        let states: Vec<Vec<String>> =
            ["0", "1", "2"].iter().map(|n| vec![format!("speed = {n}"), "red".to_string()]).collect();
        let letters = Letters::new(states.iter().map(Vec::as_slice), Paint::stdout(Color::Never));
        let drawn = letters.state(&Scene::Facts, &states[1]);
        assert_eq!(drawn, format!("speed      1.000  {0}o{0}\nred\n\n", "-".repeat(GAUGE / 2)));
    }
}
