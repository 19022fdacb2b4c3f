//! The language of the search and how it widens: longer bodies, negation, one more variable.
//!
//! A run starts with what the domain file says and short bodies. Each step is tried on what was seen, which costs no steps
//! in the world, and is kept only if the policy then earns more. What the domain file fixes stays fixed. Another source of
//! candidate atoms (such as invented predicates) is one more [`Widening`].

use std::fmt;
use std::sync::Arc;

use derrl_logic::alphabet::Predicate;
use derrl_logic::syntax::Indicator;
use derrl_logic::{Alphabet, Policy};
use serde::{Deserialize, Serialize};

use super::bodies::Reach;
use super::draft::levels_of;
use super::invent::Invention;
use super::regret::Groundings;
use crate::error::Error;
use crate::language::problem::Problem;

/// Atoms of a body at the start, and at the most unless the domain file says otherwise.
const SHORT: usize = 3;
const LONGEST: usize = 6;
/// Variables beyond the domain's own, at the most.
const MORE_VARIABLES: usize = 2;
/// Candidate atoms of one action, at the most: a wider language takes too long to search.
const MOST_ATOMS: usize = 1500;

/// A step to a wider language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Widening {
    /// Bodies of up to this many atoms.
    Longer(usize),
    /// Every predicate may be negated.
    Negation,
    /// This predicate may be negated.
    NegationOf(String),
    /// So many variables.
    Variables(usize),
    /// A predicate of its own, of this name; or several, joined by "and".
    Invented(String),
}

impl fmt::Display for Widening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Widening::Longer(n) => write!(f, "bodies of up to {n} atoms"),
            Widening::Negation => f.write_str("negation"),
            Widening::NegationOf(predicate) => write!(f, "negation of {predicate}"),
            Widening::Variables(n) => write!(f, "{n} variables"),
            Widening::Invented(name) if name.contains(' ') => write!(f, "the invented predicates {name}"),
            Widening::Invented(name) => write!(f, "the invented predicate {name}"),
        }
    }
}

impl Widening {
    /// The steps that restarts may try: the negation of each predicate, and one more variable.
    pub fn for_restarts(alphabet: &Alphabet) -> Vec<Widening> {
        let negated = alphabet.predicates.iter().filter(|p| p.role.is_named()).map(signature);
        let mut steps: Vec<Widening> = negated.map(Widening::NegationOf).collect();
        steps.push(Widening::Variables(alphabet.variables + 1));
        steps.retain(|step| step.is_free(alphabet));
        steps
    }

    /// Whether the domain file leaves this open.
    fn is_free(&self, alphabet: &Alphabet) -> bool {
        match self {
            Widening::Longer(n) => alphabet.max_body.is_none_or(|most| most >= *n),
            Widening::Negation | Widening::NegationOf(_) => {
                !alphabet.predicates[..alphabet.of_domain].iter().any(|p| p.negatable)
            }
            Widening::Variables(_) => !alphabet.variables_given,
            Widening::Invented(_) => true,
        }
    }

    /// Adds to an alphabet what the step adds to it.
    pub fn widen(&self, alphabet: &mut Alphabet) {
        match self {
            Widening::Negation => alphabet.predicates.iter_mut().for_each(|p| p.negatable = true),
            Widening::NegationOf(one) => {
                let named = alphabet.predicates.iter_mut().filter(|p| signature(p) == *one);
                named.for_each(|p| p.negatable = true);
            }
            Widening::Variables(n) => alphabet.variables = *n,
            // Not of the alphabet, and with its definition: see `Language::with`.
            Widening::Longer(_) | Widening::Invented(_) => {}
        }
    }
}

/// A predicate as the domain file names it, such as `on/2`.
fn signature(predicate: &Predicate) -> String {
    Indicator(&predicate.name, predicate.args.len()).to_string()
}

/// A language with the masks of states in it.
pub struct Language {
    /// Candidate atoms and what is frozen.
    pub problem: Arc<Problem>,
    /// How far the search for bodies goes.
    pub reach: Reach,
    /// Masks of the states met.
    pub groundings: Groundings,
    /// The variables that the domain has by itself.
    own: usize,
}

impl Language {
    /// What the domain file says, with short bodies.
    pub fn start(problem: &Arc<Problem>) -> Language {
        Language {
            reach: Reach { longest: SHORT, singles: 128, beam: 40 },
            groundings: Groundings::default(),
            own: problem.alphabet.variables,
            problem: Arc::clone(problem),
        }
    }

    /// Whether rules can be edited in it: it has all their atoms.
    pub fn speaks(&self, policy: &Policy) -> bool {
        levels_of(policy, &self.problem).is_some()
    }

    /// The narrowest language at hand that has all atoms of these rules, and bodies as long as theirs; `None` where none has.
    pub fn of(problem: &Arc<Problem>, policy: &Policy) -> Result<Option<Language>, Error> {
        let mut languages = vec![Language::start(problem)];
        // Each may take all variables, and negation.
        for _ in 0..=MORE_VARIABLES + 1 {
            for language in &languages {
                if language.speaks(policy) {
                    let mut found = language.afresh();
                    let longest = policy.rules.iter().map(|r| r.body.len()).max().unwrap_or(0);
                    found.reach.longest = found.reach.longest.max(longest);
                    return Ok(Some(found));
                }
            }
            let mut wider = Vec::new();
            for language in &languages {
                for step in language.steps() {
                    if !matches!(step, Widening::Longer(_)) {
                        wider.extend(language.wider(&step)?);
                    }
                }
            }
            languages = wider;
        }
        Ok(None)
    }

    /// The same language, with no masks yet.
    #[must_use]
    pub fn afresh(&self) -> Language {
        Language { problem: Arc::clone(&self.problem), groundings: Groundings::default(), ..*self }
    }

    /// The language after a step; `None` where the domain file rules it out or it would be too wide to search.
    pub fn wider(&self, step: &Widening) -> Result<Option<Language>, Error> {
        let alphabet = &self.problem.alphabet;
        if !step.is_free(alphabet) {
            return Ok(None);
        }
        match *step {
            Widening::Longer(n) => {
                let reach = Reach { longest: n, ..self.reach };
                let (problem, groundings) = (Arc::clone(&self.problem), self.groundings.clone());
                return Ok((n <= LONGEST).then_some(Language { problem, reach, groundings, own: self.own }));
            }
            Widening::Variables(n) if n > self.own + MORE_VARIABLES => return Ok(None),
            // A definition comes with its text: see `with`.
            Widening::Invented(_) => return Ok(None),
            _ => {}
        }
        let mut wider: Alphabet = (**alphabet).clone();
        step.widen(&mut wider);
        self.over(&Arc::new(wider))
    }

    /// The language with an invented predicate; `None` where it would be too wide to search.
    pub fn with(&self, invention: &Invention) -> Result<Option<Language>, Error> {
        self.over(&invention.join(&self.problem.alphabet)?)
    }

    /// The language over another alphabet.
    fn over(&self, alphabet: &Arc<Alphabet>) -> Result<Option<Language>, Error> {
        let problem = self.problem.in_language(alphabet)?;
        let most = problem.actions().map(|a| problem.grounder.atoms(a).len()).max().unwrap_or(0);
        Ok((most <= MOST_ATOMS).then(|| Language {
            problem: Arc::new(problem),
            reach: self.reach,
            groundings: Groundings::default(),
            own: self.own,
        }))
    }

    /// The steps that lead on from here, the cheapest first.
    pub fn steps(&self) -> Vec<Widening> {
        let variables = self.problem.alphabet.variables;
        vec![Widening::Variables(variables + 1), Widening::Negation, Widening::Longer(self.reach.longest + 1)]
    }
}

#[cfg(test)]
mod tests {
    use derrl_logic::Source;

    use super::*;

    /// The variables and the longest body of the language for a rule; `None` where there is none.
    fn of(directive: &str, rule: &str) -> Option<(usize, usize)> {
        let text = format!(":- action(press/1). :- state(lit/1). :- state(on/2). {directive}");
        let alphabet = Arc::new(Alphabet::parse(&Source::new("domain.pl", text)).expect("the domain parses"));
        let problem = Arc::new(Problem::new(&alphabet, 1).expect("the action has candidate atoms"));
        let policy = Policy::parse(&Source::new("rule", rule), &alphabet).expect("the rule parses");
        let found = Language::of(&problem, &policy).expect("languages are made")?;
        assert!(found.speaks(&policy), "{rule}");
        Some((found.problem.alphabet.variables, found.reach.longest))
    }

    #[test]
    fn the_language_of_rules_is_the_narrowest_that_has_their_atoms() {
        assert_eq!(of("", "press(X) :- lit(X)."), Some((2, 3)));
        assert_eq!(of("", "press(X) :- on(X, Y), \\+ lit(Y)."), Some((2, 3)));
        assert_eq!(of("", "press(X) :- on(X, Y), on(Y, Z), on(Z, U), \\+ lit(U)."), Some((4, 4)));
    }

    #[test]
    fn what_the_domain_file_fixes_is_not_widened_for_rules() {
        assert_eq!(of(":- negation(lit/1).", "press(X) :- on(X, Y), \\+ on(Y, X)."), None);
        assert_eq!(of(":- variables(2).", "press(X) :- on(X, Y), on(Y, Z)."), None);
    }
}
