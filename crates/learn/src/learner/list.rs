//! Lists of rules, as the moves write them.

use std::sync::Arc;

use derrl_logic::{
    Action, Alphabet, Arg, Choice, Comparison, Linear, Literal, Measure, Op, Policy, Rule, Source, Var,
};

use super::words::{Lexicon, Words};
use crate::fit::values;

/// An atom of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    /// Something that holds of objects.
    Fact(Literal),
    /// Numbers are compared.
    Compare {
        /// How.
        comparison: Comparison,
        /// The arguments, by place.
        args: Vec<Arg>,
    },
}

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The value that it keeps, where it is given and frozen.
    pub frozen: Option<f64>,
    /// What it does.
    pub action: Action,
    /// When.
    pub body: Vec<Atom>,
    /// With what, of all that fits.
    pub choice: Option<Choice>,
}

/// Rules on levels of priority, the highest first, and what is done where none of them fires.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RuleList {
    /// The levels. Rules of one level tie.
    pub levels: Vec<Vec<Line>>,
    /// What is done elsewhere; any action where there is nothing.
    pub otherwise: Option<Action>,
    /// What they may say.
    pub words: Words,
}

impl Atom {
    /// Whether this is a comparison with the same sum of the same objects from the same side.
    fn is_same_bound(&self, other: &Atom) -> bool {
        let parts = |atom: &Atom| match atom {
            Atom::Compare { comparison, args } => {
                Some((comparison.left.clone(), is_above(comparison.op), args.clone()))
            }
            Atom::Fact(_) => None,
        };
        parts(self).is_some_and(|mine| Some(mine) == parts(other))
    }

    /// The variables that it binds.
    fn binds(&self, v: Var) -> bool {
        let args = match self {
            Atom::Fact(literal) if literal.positive => &literal.args,
            Atom::Fact(_) => return false,
            Atom::Compare { args, .. } => args,
        };
        args.contains(&Arg::Var(v))
    }
}

/// Whether a comparison is with a lower bound.
pub fn is_above(op: Op) -> bool {
    matches!(op, Op::Greater | Op::AtLeast)
}

/// The comparison that holds exactly where this one does not, of the same numbers.
pub fn opposite(comparison: &Comparison) -> Comparison {
    let op = match comparison.op {
        Op::Greater => Op::AtMost,
        Op::AtLeast => Op::Less,
        Op::Less => Op::AtLeast,
        Op::AtMost => Op::Greater,
    };
    Comparison { op, ..comparison.clone() }
}

impl Line {
    /// A rule as the moves write it.
    pub fn of(rule: &Rule, alphabet: &Alphabet) -> Line {
        let atom = |literal: &Literal| match alphabet.comparison(literal.pred) {
            Some(comparison) => Atom::Compare { comparison: comparison.clone(), args: literal.args.clone() },
            None => Atom::Fact(literal.clone()),
        };
        let body = rule.body.iter().map(atom).collect();
        Line { frozen: None, action: rule.action, body, choice: rule.choices.first().cloned() }
    }

    /// How long it is to read.
    pub fn length(&self) -> usize {
        1 + self.body.len() + usize::from(self.choice.is_some())
    }

    /// Whether every variable of its negated atoms and its choice is bound.
    pub fn is_safe(&self, alphabet: &Alphabet) -> bool {
        let arity = alphabet.action(self.action).args.len();
        let bound = |v: Var| usize::from(v.0) < arity || self.body.iter().any(|atom| atom.binds(v));
        let says = !self.body.is_empty() || self.choice.is_some();
        let facts = self.body.iter().all(|atom| match atom {
            Atom::Fact(literal) => literal.positive || literal.vars().all(bound),
            Atom::Compare { .. } => true,
        });
        says && facts && self.choice.iter().all(|choice| choice.vars().all(bound))
    }

    /// Of two bounds on one side only the tighter one stays, and no atom twice.
    fn tidy(&mut self) {
        let mut body: Vec<Atom> = Vec::new();
        for atom in self.body.drain(..) {
            let same = body.iter_mut().find(|known| **known == atom || known.is_same_bound(&atom));
            match (same, &atom) {
                (None, _) => body.push(atom),
                (Some(Atom::Compare { comparison: known, .. }), Atom::Compare { comparison, .. }) => {
                    let tighter = if is_above(known.op) {
                        comparison.threshold > known.threshold
                    } else {
                        comparison.threshold < known.threshold
                    };
                    if tighter {
                        *known = comparison.clone();
                    }
                }
                (Some(_), _) => {}
            }
        }
        self.body = body;
    }
}

impl RuleList {
    /// How long it is to read: one for each rule and for each of its parts.
    pub fn length(&self) -> usize {
        let rules: usize = self.levels.iter().flatten().map(Line::length).sum();
        rules + usize::from(self.otherwise.is_some())
    }

    /// Whether it has the same rules as another list, perhaps in another order.
    pub fn is_reordered(&self, other: &RuleList) -> bool {
        let all = |list: &RuleList| list.levels.concat();
        let (own, others) = (all(self), all(other));
        own.len() == others.len()
            && own.iter().all(|line| others.contains(line))
            && self.otherwise == other.otherwise
    }

    /// How many rules it has.
    pub fn rules(&self) -> usize {
        self.levels.iter().map(Vec::len).sum()
    }

    /// Takes out what says nothing: levels without rules, atoms and rules twice, and last rules that do what is done anyway.
    pub fn tidy(&mut self, alphabet: &Alphabet) {
        self.levels.iter_mut().flatten().for_each(Line::tidy);
        for level in &mut self.levels {
            let mut known: Vec<Line> = Vec::new();
            for line in level.drain(..).filter(|line| line.is_safe(alphabet)) {
                if !known.contains(&line) {
                    known.push(line);
                }
            }
            *level = known;
        }
        self.levels.retain(|level| !level.is_empty());
        let Some(action) = self.otherwise.filter(|&a| alphabet.action(a).args.is_empty()) else { return };
        while self.levels.last().is_some_and(|last| last.iter().all(|line| line.action == action)) {
            self.levels.pop();
        }
    }

    /// The same rules on one level, but for frozen ones: which of those that fire decides is left to chance, which gets out of circles.
    pub fn tied(&self) -> RuleList {
        let mut tied = self.clone();
        let free = tied.levels.concat().into_iter().filter(|line| line.frozen.is_none()).collect();
        tied.levels.retain(|level| level.iter().any(|line| line.frozen.is_some()));
        tied.levels.push(free);
        tied
    }

    /// Takes out levels whose value is not among those that decided: what is done does not change wherever these did. Frozen ones stay.
    pub fn keep(&mut self, decided: &[f64]) {
        let weights = self.weights();
        let of_use = |at: usize| weights.get(at).is_none_or(|weight| decided.contains(weight));
        let count = self.levels.len();
        let mut at = 0;
        self.levels.retain(|level| {
            at += 1;
            of_use(at - 1) || level.iter().any(|line| line.frozen.is_some())
        });
        if !of_use(count) {
            self.otherwise = None;
        }
    }

    /// The values of the levels, and last of what is done elsewhere.
    fn weights(&self) -> Vec<f64> {
        let frozen = self.levels.iter().map(|level| level.iter().find_map(|line| line.frozen));
        let fixed: Vec<Option<f64>> = frozen.chain(self.otherwise.map(|_| None)).collect();
        values(&fixed).unwrap_or_default()
    }

    /// The list as a policy, with the alphabet that has its comparisons.
    pub fn policy(&self, alphabet: &Alphabet) -> (Policy, Arc<Alphabet>) {
        let mut levels = self.levels.clone();
        let elsewhere = self.elsewhere(alphabet);
        if !elsewhere.is_empty() {
            levels.push(elsewhere);
        }
        let compared = |atom: &Atom| match atom {
            Atom::Compare { comparison, .. } => Some(comparison.clone()),
            Atom::Fact(_) => None,
        };
        let atoms = levels.iter().flatten().flat_map(|line| &line.body);
        let comparisons: Vec<Comparison> = atoms.filter_map(compared).collect();
        let (wider, preds) = alphabet.with_comparisons(&comparisons);
        let mut preds = preds.into_iter();
        let mut literal = |atom: &Atom| match atom {
            Atom::Fact(literal) => literal.clone(),
            Atom::Compare { args, .. } => {
                let pred = preds.next().expect("every comparison has its predicate");
                Literal { positive: true, pred, args: args.clone() }
            }
        };
        let weights = self.weights();
        let mut rules = Vec::new();
        for (level, weight) in levels.iter().zip(weights) {
            for line in level {
                let mut rule = Rule::new(weight, line.action, line.body.iter().map(&mut literal).collect());
                rule.choices = line.choice.iter().cloned().collect();
                rules.push(rule);
            }
        }
        (Policy { rules }, Arc::new(wider))
    }

    /// Rules that fire wherever none of the others does. A rule cannot be without a body: it says the opposite of the last one, or that some
    /// measure is above 0 or not.
    fn elsewhere(&self, alphabet: &Alphabet) -> Vec<Line> {
        let Some(action) = self.otherwise else { return Vec::new() };
        let line = |comparison, args| Line {
            frozen: None,
            action,
            body: vec![Atom::Compare { comparison, args }],
            choice: None,
        };
        let opposites = |last: &Line| -> Option<Vec<Line>> {
            let opposite = |atom: &Atom| match atom {
                Atom::Compare { comparison, args } if args.is_empty() => {
                    Some(line(opposite(comparison), Vec::new()))
                }
                _ => None,
            };
            last.body.iter().map(opposite).collect::<Option<Vec<Line>>>().filter(|_| last.choice.is_none())
        };
        if let Some([last]) = self.levels.last().map(Vec::as_slice)
            && let Some(lines) = opposites(last)
        {
            return lines;
        }
        let Some((m, measure)) = alphabet.measures.iter().enumerate().min_by_key(|(_, m)| m.args.len())
        else {
            return Vec::new();
        };
        let arity = alphabet.action(action).args.len();
        let args: Vec<Arg> = (0..measure.args.len()).map(|i| Arg::Var(Var((arity + i) as u8))).collect();
        let of = || Linear::of(Measure(m as u32), measure.args.len());
        [Op::Greater, Op::AtMost].map(|op| line(Comparison::new(of(), op, 0.0), args.clone())).into()
    }

    /// The rules as text, without what is done elsewhere and without definitions.
    pub fn text(&self, alphabet: &Alphabet) -> String {
        let (policy, wider) = RuleList { otherwise: None, ..self.clone() }.policy(alphabet);
        let bare = Policy { rules: policy.rules };
        let text = bare.display(&wider).to_string();
        let rules = text.lines().filter(|line| line.contains("::"));
        rules.flat_map(|line| [line, "\n"]).collect()
    }

    /// The list that a text holds; `None` where it holds none of this alphabet.
    pub fn read(text: &str, otherwise: Option<Action>, words: &Words, lexicon: &Lexicon) -> Option<RuleList> {
        let alphabet = lexicon.alphabet(words);
        let (policy, wider) = Policy::read(&Source::new("rules", text), &alphabet).ok()?;
        Some(RuleList { otherwise, ..RuleList::of(&policy, &wider, words, lexicon) })
    }

    /// The list of a policy.
    pub fn of(policy: &Policy, alphabet: &Alphabet, words: &Words, lexicon: &Lexicon) -> RuleList {
        let mut rules: Vec<&Rule> = policy.rules.iter().filter(|rule| !rule.abstains()).collect();
        rules.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let line = |rule: &&Rule| {
            let frozen = lexicon.given.is_frozen(rule).then_some(rule.weight);
            Line { frozen, ..Line::of(rule, alphabet) }
        };
        let levels =
            rules.chunk_by(|a, b| a.weight == b.weight).map(|level| level.iter().map(line).collect());
        RuleList { levels: levels.collect(), otherwise: None, words: words.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::problem::Problem;

    fn pole() -> Arc<Alphabet> {
        let text = ":- action(left). :- action(right). :- number(angle, radian). :- number(spin).";
        Arc::new(Alphabet::parse(&Source::new("pole.pl", text)).expect("it parses"))
    }

    fn read(text: &str, otherwise: Option<Action>) -> RuleList {
        let lexicon = Lexicon::new(&Arc::new(Problem::new(&pole(), 1).expect("it is a problem")));
        RuleList::read(text, otherwise, &Words::default(), &lexicon).expect("it is a list")
    }

    fn shown(list: &RuleList) -> String {
        let (policy, wider) = list.policy(&pole());
        policy.display(&wider).to_string()
    }

    #[test]
    fn a_list_is_written_and_read_back() {
        let text = "1.00::right :- angle > 0.02, spin > -0.5.\n0.90::left :- angle =< 0.5*spin.\n0.90::left :- spin > 1.\n";
        let list = read(text, None);
        assert_eq!((shown(&list).as_str(), list.rules(), list.levels.len()), (text, 3, 2));
        assert_eq!(list.text(&pole()), text);
    }

    #[test]
    fn what_is_done_elsewhere_is_the_opposite_of_the_last_rule_or_always_holds() {
        let left = Some(Action(0));
        let list = read("1.00::right :- angle > 0.02, spin > 1.\n", left);
        let expected = "1.00::right :- angle > 0.02, spin > 1.\n0.90::left :- angle =< 0.02.\n0.90::left :- spin =< 1.\n";
        assert_eq!(shown(&list).replace("0.67", "0.90"), expected);
        let nothing = RuleList { otherwise: left, ..RuleList::default() };
        assert_eq!(shown(&nothing).lines().count(), 2);
    }

    #[test]
    fn tidying_keeps_the_tighter_bound_and_drops_what_says_nothing() {
        let text =
            "1.00::right :- angle > 0.02, angle > 0.05, spin =< 1, spin =< 0.5.\n0.90::left :- angle =< 0.\n";
        let mut list = read(text, Some(Action(0)));
        list.tidy(&pole());
        assert_eq!(list.text(&pole()), "1.00::right :- angle > 0.05, spin =< 0.5.\n");
    }
}
