//! What a policy was learned on: how many objects of each type, which predicates, which numbers.
//!
//! The file of a policy says it in comments, which whoever reads rules passes over:
//!
//! ```prolog
//! % learned on: objects block 3..3, floor 1..1
//! % learned on: facts goal_on/2, isFloor/1, on/2, top/1
//! % learned on: numbers speed/1 0..17.5
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::alphabet::{Alphabet, Pred, Type};
use crate::diagnostic::{Error, Source};
use crate::facts::Facts;
use crate::syntax::{Indicator, Span};
use crate::universe::Universe;

/// How each line begins.
const HEAD: &str = "% learned on: ";

/// What a policy was learned on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// By type: the fewest and the most objects of an instance.
    objects: BTreeMap<String, (usize, usize)>,
    /// Predicates that held of something.
    facts: BTreeSet<String>,
    /// By measure: the least and the largest number.
    numbers: BTreeMap<String, (f64, f64)>,
}

impl Scope {
    /// Takes in a state.
    pub fn see(&mut self, facts: &Facts, alphabet: &Alphabet, universe: &Universe) {
        let counts = count(alphabet, universe);
        // A type that was missing so far had no objects there.
        let is_first = self.objects.is_empty();
        for (name, count) in &counts {
            let before = if is_first { *count } else { 0 };
            let range = self.objects.entry(name.clone()).or_insert((before, before));
            *range = (range.0.min(*count), range.1.max(*count));
        }
        for (_, range) in self.objects.iter_mut().filter(|(name, _)| !counts.contains_key(*name)) {
            range.0 = 0;
        }
        for (name, pred) in given(alphabet) {
            if facts.count(pred) > 0 && !self.facts.contains(&name) {
                self.facts.insert(name);
            }
        }
        for (measure, _, value) in facts.all_numbers() {
            let decl = alphabet.measure(measure);
            let name = Indicator(&decl.name, decl.args.len()).to_string();
            let range = self.numbers.entry(name).or_insert((value, value));
            *range = (range.0.min(value), range.1.max(value));
        }
    }

    /// In what a state lies outside, in words; nothing where it does not.
    pub fn outside(&self, facts: &Facts, alphabet: &Alphabet, universe: &Universe) -> Vec<String> {
        let mut told = Vec::new();
        let counts = count(alphabet, universe);
        let none = (0, 0);
        for name in self.objects.keys().chain(counts.keys()).collect::<BTreeSet<_>>() {
            let (least, most) = *self.objects.get(name).unwrap_or(&none);
            let now = counts.get(name).copied().unwrap_or(0);
            if now < least || now > most {
                let learned = if least == most { most.to_string() } else { format!("{least} to {most}") };
                told.push(format!("{now} objects of type {name}: it was learned on {learned}"));
            }
        }
        let held =
            given(alphabet).filter(|(name, pred)| facts.count(*pred) > 0 && !self.facts.contains(name));
        told.extend(held.map(|(name, _)| format!("facts of {name}: it was learned without any")));
        for (measure, args, value) in facts.all_numbers() {
            let decl = alphabet.measure(measure);
            let shown = universe.show(&decl.name, args);
            match self.numbers.get(&Indicator(&decl.name, decl.args.len()).to_string()) {
                None => told.push(format!("{shown} is {value}: it was learned without such numbers")),
                Some((least, most)) if value < *least || value > *most => {
                    told.push(format!("{shown} is {value}: it was learned on {least} to {most}"));
                }
                Some(_) => {}
            }
        }
        told
    }

    /// What the text of a policy says that it was learned on; `None` where it does not say.
    pub fn read(source: &Source) -> Result<Option<Scope>, Error> {
        let mut scope: Option<Scope> = None;
        let mut start = 0;
        for line in source.text.split_inclusive('\n') {
            let span = Span { start, end: start + line.trim_end().len() };
            start += line.len();
            let Some(rest) = line.trim_end().strip_prefix(HEAD) else { continue };
            let taken = rest
                .split_once(' ')
                .and_then(|(kind, items)| scope.get_or_insert_default().take(kind, items));
            if taken.is_none() {
                let error = source.error(span, "not what a learned policy says of what it was learned on");
                return Err(error.with_help("leave the line out where it is not known"));
            }
        }
        Ok(scope)
    }

    /// Takes in the items of a line; `None` where they are none.
    fn take(&mut self, kind: &str, items: &str) -> Option<()> {
        for item in split(items) {
            match kind {
                "facts" => self.facts.extend([item.to_string()]),
                "objects" => self.objects.extend([range(item)?]),
                "numbers" => self.numbers.extend([range(item)?]),
                _ => return None,
            }
        }
        Some(())
    }
}

/// A line for each kind of thing that there is.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.objects.iter().map(|(name, (least, most))| format!("{name} {least}..{most}"));
        let numbers = self.numbers.iter().map(|(name, &range)| {
            let (least, most) = rounded(range);
            format!("{name} {least}..{most}")
        });
        let kinds: [(&str, Vec<String>); 3] = [
            ("objects", objects.collect()),
            ("facts", self.facts.iter().cloned().collect()),
            ("numbers", numbers.collect()),
        ];
        for (kind, items) in kinds.into_iter().filter(|(_, items)| !items.is_empty()) {
            writeln!(f, "{HEAD}{kind} {}", items.join(", "))?;
        }
        Ok(())
    }
}

/// A range that is a little wider, in two digits of its width: nobody meets the very largest number.
fn rounded((least, most): (f64, f64)) -> (f64, f64) {
    let size = (most - least).log10().floor();
    // Neither a single number nor beyond what numbers hold.
    if !(-300.0..300.0).contains(&size) {
        return (least, most);
    }
    let digits = 1 - size as i32;
    let (unit, digits) = (10f64.powi(-digits), digits.max(0) as usize);
    let text = |x: f64| format!("{x:.digits$}").parse().unwrap_or(x);
    let (low, high) = (text((least / unit).floor() * unit), text((most / unit).ceil() * unit));
    // Rounding must not leave out what was seen.
    (f64::min(low, least), f64::max(high, most))
}

/// How many objects of each type there are.
fn count(alphabet: &Alphabet, universe: &Universe) -> BTreeMap<String, usize> {
    let mut counts = vec![0; alphabet.types.len()];
    universe.objects().for_each(|o| counts[universe.type_of(o).0 as usize] += 1);
    let types = (0..).map(Type).zip(counts).filter(|(_, count)| *count > 0);
    types.map(|(t, count)| (alphabet.types.name(t).to_string(), count)).collect()
}

/// The predicates that worlds speak of.
fn given(alphabet: &Alphabet) -> impl Iterator<Item = (String, Pred)> {
    let all = alphabet.predicates.iter().zip(0..).filter(|(p, _)| p.role.is_given());
    all.map(|(p, i)| (Indicator(&p.name, p.args.len()).to_string(), Pred(i)))
}

/// Items with commas between them, but for those within quotes.
fn split(items: &str) -> Vec<&str> {
    let (mut found, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in items.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            ',' if !quoted => {
                found.push(items[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(items[start..].trim());
    found
}

/// A name and a range after it.
fn range<T: std::str::FromStr + PartialOrd>(item: &str) -> Option<(String, (T, T))> {
    let (name, range) = item.rsplit_once(' ')?;
    let (least, most) = range.split_once("..")?;
    let (least, most): (T, T) = (least.parse().ok()?, most.parse().ok()?);
    (least <= most).then(|| (name.to_string(), (least, most)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::parse_state;

    fn state(alphabet: &Alphabet, text: &str) -> (Universe, Facts) {
        parse_state(&Source::new("s.pl", text), alphabet).expect("a state")
    }

    #[test]
    fn what_was_seen_is_written_read_and_known_again() {
        let text = ":- action(go(car)). :- state(at(car)). :- state('is, hot'). :- number(speed(car)).";
        let alphabet = Alphabet::parse(&Source::new("d.pl", text)).expect("a domain");
        let mut scope = Scope::default();
        for seen in ["at(a). speed(a) = 2.5.", "at(a). at(b). speed(a) = -1. speed(b) = 0. 'is, hot'."] {
            let (universe, facts) = state(&alphabet, seen);
            assert!(!scope.outside(&facts, &alphabet, &universe).is_empty());
            scope.see(&facts, &alphabet, &universe);
            assert_eq!(scope.outside(&facts, &alphabet, &universe), [""; 0]);
        }
        let written = scope.to_string();
        assert_eq!(
            written,
            "% learned on: objects car 1..2\n% learned on: facts 'is, hot'/0, at/1\n% learned on: numbers speed/1 -1..2.5\n"
        );
        assert_eq!(rounded((-0.050_263, 0.050_716)), (-0.06, 0.06));
        assert_eq!(
            [rounded((3.0, 3.0)), rounded((0.0, 173.2)), rounded((-0.1, 1e300))],
            [(3.0, 3.0), (0.0, 180.0), (-0.1, 1e300)]
        );
        let read = Scope::read(&Source::new("p.pl", format!("% Learned.\n{written}go(X) :- at(X).\n")));
        assert_eq!(read, Ok(Some(scope.clone())));
        let (universe, facts) = state(&alphabet, "at(a). at(b). at(c). speed(a) = 2.6.");
        assert_eq!(
            scope.outside(&facts, &alphabet, &universe),
            [
                "3 objects of type car: it was learned on 1 to 2",
                "speed(a) is 2.6: it was learned on -1 to 2.5"
            ]
        );
    }

    #[test]
    fn a_line_that_says_something_else_is_an_error() {
        assert_eq!(Scope::read(&Source::new("p.pl", "% learned in May\ngo(X) :- at(X).\n")), Ok(None));
        for bad in [
            "objects",
            "objects car",
            "objects car 3..1",
            "objects car x..y",
            "numbers a/0 NaN..1",
            "luck 1..2",
        ] {
            let error = Scope::read(&Source::new("p.pl", format!("\n{HEAD}{bad}\n"))).expect_err(bad);
            assert_eq!(error.place.as_ref().map(|p| p.line), Some(2), "{error}");
        }
    }
}
