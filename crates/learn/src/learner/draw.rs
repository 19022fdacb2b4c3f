//! Lists that are drawn at random, and lists that are changed at random.

use derrl_env::Rng;
use derrl_logic::{Action, Comparison, RuleCount};

use super::limits::{
    CHOOSES, MORE_ATOMS, MORE_CHANGES, MORE_RULES, MOST_ATOMS, MOST_RULES, MOVED, NEW_THRESHOLD, TRIES,
    WEIGHT_OCTAVES,
};
use super::list::{Atom, Line, RuleList, opposite};
use super::vocabulary::{Vocabulary, one_digit, rounded};

/// Draws lists.
pub struct Drawer<'a> {
    /// What may be said.
    pub vocabulary: Vocabulary<'a>,
    /// Lists whose rules may be borrowed.
    pub lists: &'a [&'a RuleList],
}

/// What can be changed at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// An atom more.
    Atom,
    /// An atom less, or no choice.
    DropAtom,
    /// Another atom in the place of one.
    OtherAtom,
    /// Another threshold or weight.
    Threshold,
    /// A new rule.
    Rule,
    /// A rule less, or nothing that is done elsewhere.
    Drop,
    /// Another place for the rule.
    Move,
    /// Another action.
    Act,
    /// A rule of one of the best lists.
    Borrow,
    /// The rule's mirror image beside it.
    Mirror,
    /// Another choice.
    Choose,
    /// Nothing: it is drawn again.
    Nothing,
}

/// What is changed at a rule, and what at the end of the list where that is drawn: each row as often as any other.
const WAYS: &[(Way, Way)] = &[
    (Way::Atom, Way::Act),
    (Way::DropAtom, Way::Act),
    (Way::OtherAtom, Way::Act),
    (Way::Threshold, Way::Act),
    (Way::Threshold, Way::Drop),
    (Way::Threshold, Way::Nothing),
    (Way::Rule, Way::Rule),
    (Way::Drop, Way::Nothing),
    (Way::Move, Way::Nothing),
    (Way::Act, Way::Nothing),
    (Way::Borrow, Way::Borrow),
    (Way::Mirror, Way::Nothing),
    (Way::Mirror, Way::Nothing),
    (Way::Choose, Way::Nothing),
    (Way::Choose, Way::Nothing),
    (Way::Nothing, Way::Nothing),
];

impl Drawer<'_> {
    fn actions(&self) -> usize {
        self.vocabulary.alphabet.actions.len()
    }

    fn longest(&self) -> usize {
        self.vocabulary.alphabet.max_body.unwrap_or(MOST_ATOMS).min(MOST_ATOMS)
    }

    fn action(&self, rng: &mut Rng) -> Action {
        Action(rng.below(self.actions()) as u32)
    }

    /// A rule; `None` where the draw came to nothing.
    fn line(&self, rng: &mut Rng) -> Option<Line> {
        let action = self.action(rng);
        let choices = self.vocabulary.choices(action);
        let choice =
            (!choices.is_empty() && rng.unit() < CHOOSES).then(|| choices[rng.below(choices.len())].clone());
        let mut atoms = usize::from(choice.is_none());
        while atoms < self.longest() && rng.unit() < MORE_ATOMS {
            atoms += 1;
        }
        let body = (0..atoms).map(|_| self.vocabulary.atom(action, rng)).collect::<Option<_>>()?;
        Some(Line { frozen: None, action, body, choice })
    }

    /// A list from nothing.
    pub fn list(&self, rng: &mut Rng) -> RuleList {
        let mut rules = 1;
        while rules < MOST_RULES - 1 && rng.unit() < MORE_RULES {
            rules += 1;
        }
        let lines =
            (0..rules).filter_map(|_| (0..TRIES).find_map(|_| self.line(rng).filter(|l| self.is_safe(l))));
        let levels = lines.map(|line| vec![line]).collect::<Vec<_>>();
        let action = self.action(rng);
        // Where there is nothing to compare, nothing can be said that holds wherever no other rule does.
        let otherwise = self.vocabulary.has_numbers().then_some(action);
        let mut list = RuleList { levels, otherwise, ..RuleList::default() };
        self.limit(&mut list);
        list
    }

    fn is_safe(&self, line: &Line) -> bool {
        line.is_safe(self.vocabulary.alphabet)
    }

    /// Takes out the last rules of actions that have more than they may.
    fn limit(&self, list: &mut RuleList) {
        let mut left: Vec<usize> = (self.vocabulary.alphabet.actions.iter())
            .map(|a| if let RuleCount::AtMost(n) = a.rules { n } else { usize::MAX })
            .collect();
        for level in &mut list.levels {
            level.retain(|line| {
                let left = &mut left[line.action.0 as usize];
                *left > 0 && {
                    *left -= 1;
                    true
                }
            });
        }
        list.tidy(self.vocabulary.alphabet);
    }

    /// A list with one or more changes.
    pub fn changed(&self, list: &RuleList, rng: &mut Rng) -> RuleList {
        let mut list = list.clone();
        loop {
            for _ in 0..TRIES {
                let mut other = list.clone();
                if self.change(&mut other, rng).is_some() {
                    self.limit(&mut other);
                    list = other;
                    break;
                }
            }
            if rng.unit() >= MORE_CHANGES {
                return list;
            }
        }
    }

    /// Changes a list in one way; `None` where the way drawn does not apply.
    fn change(&self, list: &mut RuleList, rng: &mut Rng) -> Option<()> {
        let places: Vec<(usize, usize)> = list
            .levels
            .iter()
            .enumerate()
            .flat_map(|(l, level)| (0..level.len()).map(move |i| (l, i)))
            .collect();
        // What is done elsewhere stands after the last rule.
        let at = rng.below(places.len() + 1);
        let (of_rule, of_end) = WAYS[rng.below(WAYS.len())];
        let Some(&(l, i)) = places.get(at) else {
            match of_end {
                Way::Act if self.vocabulary.has_numbers() => list.otherwise = Some(self.action(rng)),
                Way::Drop if !places.is_empty() => list.otherwise = None,
                Way::Rule if places.len() < MOST_RULES => list.levels.push(vec![self.line(rng)?]),
                Way::Borrow if places.len() < MOST_RULES => list.levels.push(vec![self.borrowed(rng)?]),
                _ => return None,
            }
            return Some(());
        };
        match of_rule {
            Way::Atom if list.levels[l][i].body.len() < self.longest() => {
                let atom = self.vocabulary.atom(list.levels[l][i].action, rng)?;
                list.levels[l][i].body.push(atom);
            }
            Way::DropAtom if list.levels[l][i].length() > 2 => {
                let line = &mut list.levels[l][i];
                let j = rng.below(line.length() - 1);
                if j < line.body.len() {
                    line.body.remove(j);
                } else {
                    line.choice = None;
                }
            }
            Way::OtherAtom => {
                let line = &mut list.levels[l][i];
                let j = rng.below(line.body.len().max(1));
                *line.body.get_mut(j)? = self.vocabulary.atom(line.action, rng)?;
            }
            Way::Threshold => self.move_threshold(&mut list.levels[l][i], rng)?,
            Way::Rule if places.len() < MOST_RULES => list.levels.insert(l, vec![self.line(rng)?]),
            Way::Drop if places.len() > 1 => {
                list.levels[l].remove(i);
            }
            Way::Move if places.len() > 1 => {
                let line = list.levels[l].remove(i);
                let to = rng.below(list.levels.len() + 1);
                if rng.unit() < 0.5 || to == list.levels.len() {
                    list.levels.insert(to, vec![line]);
                } else {
                    list.levels[to].push(line);
                }
            }
            Way::Act => {
                let action = self.action(rng);
                let line = &mut list.levels[l][i];
                let args = |a: Action| &self.vocabulary.alphabet.action(a).args;
                if action == line.action || args(action) != args(line.action) {
                    return None;
                }
                line.action = action;
            }
            Way::Borrow if places.len() < MOST_RULES => list.levels.insert(l, vec![self.borrowed(rng)?]),
            Way::Mirror if places.len() < MOST_RULES => {
                let line = self.mirrored(&list.levels[l][i], rng)?;
                list.levels.insert(l + rng.below(2), vec![line]);
            }
            Way::Choose => {
                let line = &mut list.levels[l][i];
                let choices = self.vocabulary.choices(line.action);
                line.choice = Some(choices.get(rng.below(choices.len().max(1)))?.clone());
            }
            _ => return None,
        }
        list.levels.iter().flatten().all(|line| self.is_safe(line)).then_some(())
    }

    /// A rule of one of the best lists.
    fn borrowed(&self, rng: &mut Rng) -> Option<Line> {
        let list = self.lists.get(rng.below(self.lists.len().max(1)))?;
        let all: Vec<&Line> = list.levels.iter().flatten().collect();
        all.get(rng.below(all.len().max(1))).map(|line| (*line).clone())
    }

    /// A rule's mirror image: one number turned round, another action.
    fn mirrored(&self, line: &Line, rng: &mut Rng) -> Option<Line> {
        let action = self.action(rng);
        let args = |a: Action| &self.vocabulary.alphabet.action(a).args;
        if action == line.action || args(action) != args(line.action) {
            return None;
        }
        let mut line = Line { action, ..line.clone() };
        let j = rng.below(line.body.len().max(1));
        let Atom::Compare { comparison, .. } = line.body.get_mut(j)? else { return None };
        let threshold = 0.0 - comparison.threshold;
        *comparison = Comparison { threshold, ..opposite(comparison) };
        Some(line)
    }

    /// Moves a threshold, or the weight of a sum.
    fn move_threshold(&self, line: &mut Line, rng: &mut Rng) -> Option<()> {
        let j = rng.below(line.body.len().max(1));
        let Atom::Compare { comparison, .. } = line.body.get_mut(j)? else { return None };
        let before = comparison.clone();
        let weighted = comparison.left.terms.get(1).is_some_and(|t| t.factor.abs() != 1.0);
        if weighted && rng.unit() < 0.5 {
            let by = rng.unit().mul_add(2.0 * WEIGHT_OCTAVES, -WEIGHT_OCTAVES).exp2();
            let x = comparison.left.terms[1].factor * by;
            comparison.left.terms[1].factor = self.vocabulary.weight(&comparison.left, x);
        } else if rng.unit() < NEW_THRESHOLD {
            comparison.threshold = self.vocabulary.threshold(&comparison.left, rng)?;
        } else {
            let width = self.vocabulary.spread(&comparison.left, rng)?.width();
            let by = normal(rng) * width * MOVED;
            comparison.threshold = rounded(comparison.threshold + by, width);
        }
        (*comparison != before).then_some(())
    }

    /// Lists that are a little shorter: without a rule, an atom, or what is done elsewhere, with two levels as one, and with 0 or a rounder number for a threshold.
    pub fn shorter(&self, list: &RuleList) -> Vec<RuleList> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut RuleList)| {
            let mut other = list.clone();
            change(&mut other);
            other.tidy(self.vocabulary.alphabet);
            if other != *list && (other.rules() > 0 || other.otherwise.is_some()) {
                all.push(other);
            }
        };
        let free = |l: usize, i: usize| list.levels[l][i].frozen.is_none();
        for l in 0..list.levels.len() {
            for i in (0..list.levels[l].len()).filter(|&i| free(l, i)) {
                add(&|list| {
                    list.levels[l].remove(i);
                });
                for j in 0..list.levels[l][i].body.len() {
                    add(&|list| {
                        list.levels[l][i].body.remove(j);
                    });
                }
                add(&|list| list.levels[l][i].choice = None);
            }
        }
        add(&|list| list.otherwise = None);
        for l in 1..list.levels.len() {
            add(&|list| {
                let lower = list.levels.remove(l);
                list.levels[l - 1].extend(lower);
            });
        }
        for l in 0..list.levels.len() {
            for i in (0..list.levels[l].len()).filter(|&i| free(l, i)) {
                for j in 0..list.levels[l][i].body.len() {
                    add(&|list| set_threshold(list, (l, i, j), |_| 0.0));
                    add(&|list| set_threshold(list, (l, i, j), one_digit));
                }
            }
        }
        all
    }
}

/// Sets a threshold, where there is one there.
fn set_threshold(list: &mut RuleList, (l, i, j): (usize, usize, usize), to: impl Fn(f64) -> f64) {
    if let Some(Atom::Compare { comparison, .. }) = list.levels[l][i].body.get_mut(j)
        && comparison.threshold != 0.0
    {
        comparison.threshold = to(comparison.threshold);
    }
}

/// A normal number (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    let r = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    r * (std::f64::consts::TAU * rng.unit()).cos()
}
