//! What rules may say, as plain data, and the candidate atoms that follow from it.
//!
//! A run starts with what the domain file says and short bodies, and widens from there. What the domain file fixes stays fixed.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use derrl_logic::{Alphabet, Policy};
use serde::{Deserialize, Serialize};

use super::limits::{KEPT_PROBLEMS, LONGEST, MORE_VARIABLES, MOST_CANDIDATES, SHORT, WIDENINGS};
use crate::error::Error;
use crate::invent::{Invention, extended};
use crate::language::problem::Problem;

/// What rules may say beyond the domain file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Words {
    /// Variables beyond the domain's own.
    pub variables: usize,
    /// Whether every predicate may be negated.
    pub negation: bool,
    /// Atoms of a body, at the most.
    pub longest: usize,
    /// Whether weighted sums of two measures are compared.
    pub sums: bool,
    /// Predicates of its own.
    pub invented: Vec<Invention>,
}

impl Default for Words {
    fn default() -> Words {
        Words { variables: 0, negation: false, longest: SHORT, sums: false, invented: Vec::new() }
    }
}

/// A step to a wider language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Widening {
    /// Bodies of up to this many atoms.
    Longer(usize),
    /// Every predicate may be negated.
    Negation,
    /// So many variables.
    Variables(usize),
    /// Sums of two measures.
    Sums,
    /// A predicate of its own, of this name.
    Invented(String),
}

impl fmt::Display for Widening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Widening::Longer(n) => write!(f, "bodies of up to {n} atoms"),
            Widening::Negation => f.write_str("negation"),
            Widening::Variables(n) => write!(f, "{n} variables"),
            Widening::Sums => f.write_str("sums of two numbers"),
            Widening::Invented(name) => write!(f, "the invented predicate {name}"),
        }
    }
}

/// A step to a wider language that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WideningStep {
    /// The step.
    pub to: Widening,
    /// The mean return before and after.
    pub before: f64,
    /// The mean return with the wider language.
    pub after: f64,
    /// Whether it was kept.
    pub kept: bool,
}

impl Words {
    /// The narrowest words that can say these rules, which are of the given alphabet.
    pub fn of(policy: &Policy) -> Words {
        let longest = policy.rules.iter().map(|r| r.body.len()).max().unwrap_or(0);
        Words { longest: longest.max(SHORT), ..Words::default() }
    }

    /// The single steps that lead on from here, the cheapest first.
    fn steps(&self) -> [Words; WIDENINGS] {
        [
            Words { variables: self.variables + 1, ..self.clone() },
            Words { negation: true, ..self.clone() },
            Words { longest: self.longest + 1, ..self.clone() },
        ]
    }

    /// What lies one step on, and then what lies two steps on, since one may be of no use without the other.
    pub fn wider(&self) -> Vec<Words> {
        let mut all: Vec<Words> = self.steps().into();
        for words in self.steps().iter().flat_map(Words::steps) {
            if !all.contains(&words) {
                all.push(words);
            }
        }
        all.retain(|words| words != self);
        all
    }

    /// How many of [`Words::wider`] are a single step.
    pub const SINGLE: usize = WIDENINGS;

    /// The steps from narrower words to these.
    pub fn beyond(&self, narrow: &Words, alphabet: &Alphabet) -> Vec<Widening> {
        let mut steps = Vec::new();
        if self.variables > narrow.variables {
            steps.push(Widening::Variables(alphabet.variables + self.variables));
        }
        if self.negation && !narrow.negation {
            steps.push(Widening::Negation);
        }
        if self.longest > narrow.longest {
            steps.push(Widening::Longer(self.longest));
        }
        if self.sums && !narrow.sums {
            steps.push(Widening::Sums);
        }
        let new = self.invented.iter().filter(|i| !narrow.invented.contains(i));
        steps.extend(new.map(|i| Widening::Invented(i.name.clone())));
        steps
    }

    /// Whether the domain file leaves room for them.
    fn are_allowed(&self, alphabet: &Alphabet) -> bool {
        let negates = alphabet.predicates[..alphabet.of_domain].iter().any(|p| p.negatable);
        (self.variables == 0 || !alphabet.variables_given && self.variables <= MORE_VARIABLES)
            && (!self.negation || !negates)
            && (self.longest <= SHORT || self.longest <= alphabet.max_body.unwrap_or(LONGEST))
    }
}

/// Makes candidate atoms of words, each once.
pub struct Lexicon {
    /// The problem as it was given.
    pub given: Arc<Problem>,
    known: RefCell<Vec<(Words, Option<Arc<Problem>>)>>,
    alphabets: RefCell<Vec<(Vec<Invention>, Arc<Alphabet>)>>,
}

impl Lexicon {
    /// The lexicon of a problem.
    pub fn new(given: &Arc<Problem>) -> Lexicon {
        Lexicon { given: Arc::clone(given), known: RefCell::default(), alphabets: RefCell::default() }
    }

    /// The alphabet in which rules in these words are written.
    pub fn alphabet(&self, words: &Words) -> Arc<Alphabet> {
        if words.invented.is_empty() {
            return Arc::clone(&self.given.alphabet);
        }
        let known = &mut self.alphabets.borrow_mut();
        if let Some((_, alphabet)) = known.iter().find(|(of, _)| *of == words.invented) {
            return Arc::clone(alphabet);
        }
        let wider = extended(&self.given.alphabet, &words.invented);
        let wider = wider.unwrap_or_else(|_| Arc::clone(&self.given.alphabet));
        if known.len() >= MOST_CANDIDATES {
            known.clear();
        }
        known.push((words.invented.clone(), Arc::clone(&wider)));
        wider
    }

    /// The candidate atoms of these words; `None` where the domain file rules them out or they are too many to search.
    pub fn problem(&self, words: &Words) -> Result<Option<Arc<Problem>>, Error> {
        if !words.are_allowed(&self.given.alphabet) {
            return Ok(None);
        }
        let key = Words { longest: 0, sums: false, ..words.clone() };
        if let Some((_, problem)) = self.known.borrow().iter().find(|(of, _)| *of == key) {
            return Ok(problem.clone());
        }
        let problem = if key.variables == 0 && !key.negation && key.invented.is_empty() {
            Some(Arc::clone(&self.given))
        } else {
            let mut alphabet = (*self.alphabet(words)).clone();
            if words.variables > 0 {
                alphabet.variables += words.variables;
            }
            if words.negation {
                alphabet.predicates.iter_mut().for_each(|p| p.negatable = true);
            }
            let problem = self.given.in_language(&Arc::new(alphabet))?;
            let most = problem.actions().map(|a| problem.grounder.atoms(a).len()).max().unwrap_or(0);
            (most <= MOST_CANDIDATES).then(|| Arc::new(problem))
        };
        let mut known = self.known.borrow_mut();
        if known.len() >= KEPT_PROBLEMS {
            known.remove(0);
        }
        known.push((key, problem.clone()));
        Ok(problem)
    }
}
