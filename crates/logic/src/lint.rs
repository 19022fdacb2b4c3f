//! What a domain says that has no effect: constraints that never apply or that others already imply.
//!
//! A constraint acts on the bodies of rules as the set of its literals (the head of `h :- b1..bn` is one of
//! them): it applies where an injective renaming of its variables into V puts the whole set into a body.

use std::fmt;

use rustc_hash::FxHashSet;

use crate::alphabet::{ActionDecl, Alphabet, Constraint, Pred, Type, Var};
use crate::derive::MOST_FACTS;
use crate::diagnostic::{Diagnostic, Error, Source};
use crate::parser;
use crate::rule::{Arg, Literal, Rule};
use crate::syntax::{Clause, Constant, Head, Indicator, Item, TermKind};

/// How many comparisons of actions, constraints or literals are made before the search for warnings ends.
/// Deciding implication is NP-hard; real domains need a few thousand comparisons.
const BUDGET: usize = 5_000_000;

/// The most warnings that are placed in the file, which takes a walk through it each; of the others the number is said.
const MOST_SHOWN: usize = 100;

/// The most literals of a constraint that takes part in the search, which recurs once per literal.
const LONGEST: usize = 64;

/// A constraint of a domain that has no effect of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Its index in [`Alphabet::constraints`].
    pub constraint: usize,
    /// Why it has none.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Diagnostic::warning(&self.message).with_help(&self.help))
    }
}

impl Alphabet {
    /// The constraints that have no effect of their own, in order, each with one reason.
    ///
    /// ```
    /// use derrl_logic::{Alphabet, Source};
    /// let text = ":- action(go). :- state(at/1). :- variables(1). false :- at(X), at(Y).";
    /// let domain = Alphabet::parse(&Source::new("d.pl", text))?;
    /// assert_eq!(domain.warnings()[0].message, "this constraint never applies: it has 2 variables, V has 1");
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        let mut linter = Linter {
            alphabet: self,
            sets: self.constraints.iter().map(literal_set).collect(),
            constants: self.constants.iter().collect(),
            budget: BUDGET,
        };
        (0..self.constraints.len()).filter_map(|i| linter.warning(i)).collect()
    }

    /// Where a rule holds all literals of a constraint: the constraint forbids its body, or says that an atom of it
    /// follows from the others. The index in [`Alphabet::constraints`] of the first such one, and what it means.
    pub fn contradicts(&self, rule: &Rule) -> Option<(usize, String)> {
        let body: Vec<&Literal> = rule.body.iter().collect();
        let mut budget = BUDGET;
        let holds = |c: &Constraint| {
            let set = literal_set(c);
            set.len() <= body.len()
                && body.len() <= LONGEST
                && Renaming::default().extends(&set, &body, &mut budget)
        };
        let at = self.constraints.iter().position(holds)?;
        let constraint = &self.constraints[at];
        let text = &constraint.text;
        let message = match constraint.head {
            None => format!("the body of this rule never holds: `{text}`"),
            Some(_) => format!("an atom of this rule follows from the others: `{text}`"),
        };
        Some((at, message))
    }

    /// The alphabet that a domain file describes, with [`Alphabet::warnings`] placed in the file.
    pub fn check(source: &Source) -> Result<(Alphabet, Vec<Diagnostic>), Error> {
        let alphabet = Alphabet::parse(source)?;
        let program = parser::parse(source)?;
        let clauses = program.items.iter().filter_map(|item| match item {
            Item::Clause(clause) => Some(clause),
            Item::Directive(_) => None,
        });
        let head = |c: &Clause| match &c.head {
            Head::Atom(atom) => alphabet.find_predicate(&atom.name, atom.args.len()),
            Head::False(_) | Head::Number(_) | Head::Never(_) => None,
        };
        let is_action = |c: &Clause| match &c.head {
            Head::Atom(atom) => alphabet.find_action(&atom.name, atom.args.len()).is_some(),
            Head::False(_) | Head::Number(_) | Head::Never(_) => false,
        };
        let derived = |p: Pred| !alphabet.predicate(p).role.is_given();
        let (defining, constraining): (Vec<&Clause>, Vec<&Clause>) =
            clauses.partition(|c| is_action(c) || head(c).is_some_and(derived));
        let place = |w: Warning| source.warning(constraining[w.constraint].span, w.message).with_help(w.help);
        let all = alphabet.warnings();
        let more = all.len().saturating_sub(MOST_SHOWN);
        let mut warnings: Vec<Diagnostic> = all.into_iter().take(MOST_SHOWN).map(place).collect();
        if more > 0 {
            warnings
                .push(Diagnostic::warning(format!("{more} more constraints have no effect of their own")));
        }
        for clause in defining {
            let Head::Atom(atom) = &clause.head else { continue };
            let mut terms: Vec<_> = atom
                .args
                .iter()
                .filter(|t| matches!(t.kind, TermKind::Var(_)))
                .map(ToString::to_string)
                .collect();
            terms.sort_unstable();
            terms.dedup();
            let facts = (EXAMPLE_OBJECTS as f64).powi(terms.len() as i32);
            if facts > MOST_FACTS as f64 {
                let (indicator, k) = (atom.indicator(), terms.len());
                let message = format!(
                    "`{indicator}` may explode: {EXAMPLE_OBJECTS} objects allow up to {EXAMPLE_OBJECTS}^{k} = {facts:.0e} facts"
                );
                let help = format!(
                    "states that derive more than {MOST_FACTS} facts are refused: split it into smaller predicates"
                );
                warnings.push(source.warning(atom.span, message).with_help(help));
            }
        }
        Ok((alphabet, warnings))
    }
}

/// For how many objects the facts of a definition are estimated in a warning.
const EXAMPLE_OBJECTS: usize = 100;

/// The literals of a constraint, head included, each once.
fn literal_set(constraint: &Constraint) -> Vec<&Literal> {
    let mut seen = FxHashSet::default();
    constraint.head.iter().chain(&constraint.body).filter(|l| seen.insert(*l)).collect()
}

struct Linter<'a> {
    alphabet: &'a Alphabet,
    /// The literal set of each constraint.
    sets: Vec<Vec<&'a Literal>>,
    constants: FxHashSet<&'a Constant>,
    budget: usize,
}

/// Why a constraint has no effect, and what to do about it.
type Reason = Option<(String, String)>;

impl Linter<'_> {
    fn warning(&mut self, at: usize) -> Option<Warning> {
        let reason = self.never_applies(at).or_else(|| self.implied(at)).or_else(|| self.repeats(at));
        reason.map(|(message, help)| Warning { constraint: at, message, help })
    }

    fn spend(&mut self, comparisons: usize) -> bool {
        self.budget = self.budget.saturating_sub(comparisons);
        self.budget > 0
    }

    /// Why no body of any rule contains the constraint's literals.
    fn never_applies(&mut self, at: usize) -> Reason {
        let never = |why: String, help: String| Some((format!("this constraint never applies: {why}"), help));
        let alphabet = self.alphabet;
        let set = self.sets[at].as_slice();
        let variables = alphabet.constraints[at].variables;
        if variables > alphabet.variables {
            let why = format!("it has {variables} variables, V has {}", alphabet.variables);
            return never(why, format!("write `:- variables({variables}).` or more, or remove it"));
        }
        if let Some(literal) = set.iter().find(|l| !l.positive && !alphabet.predicate(l.pred).negatable) {
            let p = alphabet.predicate(literal.pred);
            let indicator = Indicator(&p.name, p.args.len());
            let why = format!("rules cannot negate `{indicator}`");
            return never(why, format!("declare `:- negation({indicator}).` or remove it"));
        }
        let mut mentioned = set.iter().flat_map(|l| &l.args).filter_map(|arg| match arg {
            Arg::Const(c) => Some(c),
            Arg::Var(_) => None,
        });
        if let Some(c) = mentioned.find(|c| !self.constants.contains(c)) {
            let why = format!("rules cannot mention `{c}`");
            return never(why, format!("declare `:- constant({c}).` or remove it"));
        }
        let length = set.len();
        if let Some(max) = alphabet.max_body.filter(|&max| max < length) {
            let why = format!("it needs {length} literals in a body, bodies have at most {max}");
            return never(why, format!("write `:- max_body({length}).` or more, or remove it"));
        }
        for action in &alphabet.actions {
            if !self.spend(length) || fits(alphabet, variables, &self.sets[at], action) {
                return None;
            }
        }
        let why = "no action may have all its literals in one body".to_string();
        never(why, "look at the types of the actions and at `forbid`, or remove it".to_string())
    }

    /// Which other constraint implies this one, if any does.
    fn implied(&mut self, at: usize) -> Reason {
        for other in (0..self.sets.len()).filter(|&i| i != at) {
            if self.budget == 0 {
                return None;
            }
            if !self.subsumes(other, at) {
                continue;
            }
            // Of several that say the same, the first stays.
            let both = self.subsumes(at, other);
            if both && at < other {
                continue;
            }
            let relation = if both { "says the same as" } else { "follows from" };
            let message = format!("this constraint {relation} `{}`", self.alphabet.constraints[other].text);
            return Some((message, "remove it: wherever it applies, the other one does".to_string()));
        }
        None
    }

    /// Whether constraint `a`, renamed, is a part of constraint `b`.
    fn subsumes(&mut self, a: usize, b: usize) -> bool {
        let (from, to) = (&self.sets[a], &self.sets[b]);
        self.budget = self.budget.saturating_sub(1);
        from.len() <= to.len()
            && to.len() <= LONGEST
            && Renaming::default().extends(from, to, &mut self.budget)
    }

    /// A literal that the constraint holds twice, if any.
    fn repeats(&self, at: usize) -> Reason {
        let mut seen = FxHashSet::default();
        let twice = self.alphabet.constraints[at].body.iter().find(|l| !seen.insert(*l))?;
        let text = twice.display(self.alphabet);
        Some((format!("a literal of this constraint is repeated: `{text}`"), "write it once".to_string()))
    }
}

/// Whether an action's rules may contain the literals under some injective renaming into V: every variable
/// gets a place of its own, and the first places have the types of the action's arguments.
fn fits(alphabet: &Alphabet, variables: usize, set: &[&Literal], action: &ActionDecl) -> bool {
    if set.iter().any(|l| action.forbidden.contains(&l.pred)) {
        return false;
    }
    let mut types: Vec<Vec<Type>> = vec![Vec::new(); variables];
    for literal in set {
        for (arg, &t) in literal.args.iter().zip(&alphabet.predicate(literal.pred).args) {
            if let Arg::Var(v) = arg
                && !types[usize::from(v.0)].contains(&t)
            {
                types[usize::from(v.0)].push(t);
            }
        }
    }
    let allowed = |v: usize, place: usize| {
        let expected = action.args.get(place);
        expected.is_none_or(|&e| types[v].iter().all(|&t| alphabet.types.overlap(t, e)))
    };
    // Bipartite matching of variables to places by augmenting paths.
    let mut at: Vec<Option<usize>> = vec![None; alphabet.variables];
    (0..types.len()).all(|v| place(v, &allowed, &mut at, &mut vec![false; alphabet.variables]))
}

/// Gives variable `v` a place, moving others if need be.
fn place(
    v: usize,
    allowed: &impl Fn(usize, usize) -> bool,
    at: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for i in 0..at.len() {
        if allowed(v, i) && !std::mem::replace(&mut tried[i], true) {
            let free = at[i].is_none_or(|other| place(other, allowed, at, tried));
            if free {
                at[i] = Some(v);
                return true;
            }
        }
    }
    false
}

/// An injective renaming of the variables of one constraint to those of another.
#[derive(Clone, Default)]
struct Renaming {
    pairs: Vec<(Var, Var)>,
}

impl Renaming {
    /// Whether some extension renames every literal of `from` to a literal of `to`.
    fn extends(&self, from: &[&Literal], to: &[&Literal], budget: &mut usize) -> bool {
        let Some((first, rest)) = from.split_first() else {
            return true;
        };
        to.iter().any(|target| {
            *budget = budget.saturating_sub(1);
            *budget > 0 && self.matching(first, target).is_some_and(|r| r.extends(rest, to, budget))
        })
    }

    /// The extension that renames `from` to `to`.
    fn matching(&self, from: &Literal, to: &Literal) -> Option<Renaming> {
        if (from.pred, from.positive) != (to.pred, to.positive) {
            return None;
        }
        let mut renaming = self.clone();
        for args in from.args.iter().zip(&to.args) {
            match args {
                (Arg::Const(a), Arg::Const(b)) if a == b => {}
                (&Arg::Var(a), &Arg::Var(b)) => {
                    match renaming.pairs.iter().find(|&&(x, y)| x == a || y == b) {
                        None => renaming.pairs.push((a, b)),
                        Some(&pair) if pair == (a, b) => {}
                        Some(_) => return None,
                    }
                }
                _ => return None,
            }
        }
        Some(renaming)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(text: &str) -> Vec<(usize, String)> {
        let domain = format!(
            ":- action(open(door)). :- state(at(room, room)). :- state(key(door)). :- variables(3).
             :- background(door(door)). {text}"
        );
        let alphabet = Alphabet::parse(&Source::new("d.pl", domain)).expect("the domain is well-formed");
        alphabet.warnings().into_iter().map(|w| (w.constraint, w.message)).collect()
    }

    #[test]
    fn sound_constraints_pass() {
        assert_eq!(warnings("false :- at(X, Y), at(Y, X). false :- at(X, X). door(X) :- key(X)."), []);
    }

    #[test]
    fn renamed_and_reordered_duplicates_are_found() {
        let found = warnings("false :- at(X, Y), key(Z). false :- key(A), at(B, C).");
        assert_eq!(found, [(1, "this constraint says the same as `false :- at(X, Y), key(Z).`".to_string())]);
    }

    #[test]
    fn a_longer_constraint_follows_from_a_shorter_one_before_or_after_it() {
        let found = warnings("false :- at(X, Y), at(Y, X). false :- at(X, Y).");
        assert_eq!(found, [(0, "this constraint follows from `false :- at(X, Y).`".to_string())]);
    }

    #[test]
    fn renamings_are_injective() {
        // at(X, Y) has distinct variables, so it says nothing about at(X, X).
        assert_eq!(warnings("false :- at(X, Y). false :- at(X, X), key(Z)."), []);
    }

    #[test]
    fn a_head_counts_as_a_literal() {
        let found = warnings("door(X) :- key(X). false :- key(X), door(X).");
        assert_eq!(found, [(1, "this constraint says the same as `door(X) :- key(X).`".to_string())]);
    }

    #[test]
    fn too_few_places_of_the_right_type() {
        // X of open(X) is a door, so only two of the three variables of V can be rooms.
        let found = warnings("false :- at(X, Y), at(Y, Z).");
        assert_eq!(
            found[0].1,
            "this constraint never applies: no action may have all its literals in one body"
        );
        assert_eq!(warnings(":- action(go(room)). false :- at(X, Y), at(Y, Z)."), []);
    }

    #[test]
    fn an_adversarial_pair_ends() {
        // A path through nine rooms is not among the 56 ways between eight.
        let path: Vec<String> = (0..9).map(|i| format!("at(X{i}, X{})", i + 1)).collect();
        let ways =
            (0..8).flat_map(|i| (0..8).filter(move |j| i != *j).map(move |j| format!("at(X{i}, X{j})")));
        let ways: Vec<String> = ways.collect();
        let domain = format!(
            ":- action(go). :- state(at/2). :- variables(32). false :- {}. false :- {}.",
            path.join(", "),
            ways.join(", ")
        );
        let alphabet = Alphabet::parse(&Source::new("d.pl", domain)).expect("the domain is well-formed");
        assert!(alphabet.warnings().is_empty());
    }
}
