//! Numbers in rules: sums of measures, comparisons and choices, in ids.
//!
//! A [`Linear`] form has places for objects instead of variables, as a predicate has: a comparison *is* a derived predicate, and a
//! rule uses it by a literal with arguments, so that whatever works with literals works with comparisons.

use std::fmt;

use crate::alphabet::{Alphabet, Measure, Type, Types, Var};
use crate::rule::Arg;
use crate::syntax::{Extreme, Number, Op, from_fn, write_application};

/// A measure times a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The number; not 0.
    pub factor: f64,
    /// The measure.
    pub measure: Measure,
    /// Which place of the form each of its arguments is.
    pub places: Vec<u8>,
}

/// A sum of measures: `y(B) - y(P)`. Its places are numbered by appearance.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Linear {
    /// Its terms, one or two.
    pub terms: Vec<Term>,
}

impl Linear {
    /// One measure of distinct objects.
    pub fn of(measure: Measure, arity: usize) -> Linear {
        Linear { terms: vec![Term { factor: 1.0, measure, places: (0..arity as u8).collect() }] }
    }

    /// `first + factor*second`, where the measures are about the objects at these places. Places have to be numbered by appearance.
    pub fn sum(first: (Measure, Vec<u8>), factor: f64, second: (Measure, Vec<u8>)) -> Linear {
        let term = |factor, (measure, places)| Term { factor, measure, places };
        Linear { terms: vec![term(1.0, first), term(factor, second)] }
    }

    /// How many places it has.
    pub fn arity(&self) -> usize {
        self.terms.iter().flat_map(|t| &t.places).map(|&p| usize::from(p) + 1).max().unwrap_or(0)
    }

    /// The type of each place: of all that its measures ask for the narrowest.
    pub fn types(&self, alphabet: &Alphabet) -> Vec<Type> {
        let mut types = vec![Types::ANY; self.arity()];
        for term in &self.terms {
            for (&place, &t) in term.places.iter().zip(&alphabet.measure(term.measure).args) {
                let known = &mut types[usize::from(place)];
                if alphabet.types.is_subtype(t, *known) {
                    *known = t;
                }
            }
        }
        types
    }

    /// The sum with these arguments: `y(B) - y(P)`.
    pub fn display<'a, T: fmt::Display>(
        &'a self,
        args: &'a [T],
        alphabet: &'a Alphabet,
    ) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            for (i, term) in self.terms.iter().enumerate() {
                f.write_str(match (i, term.factor < 0.0) {
                    (0, false) => "",
                    (0, true) => "-",
                    (_, false) => " + ",
                    (_, true) => " - ",
                })?;
                term.write(args, alphabet, f)?;
            }
            Ok(())
        })
    }
}

impl Term {
    /// The term without its sign: `1.2*near(C)`.
    fn write<T: fmt::Display>(
        &self,
        args: &[T],
        alphabet: &Alphabet,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        if self.factor.abs() != 1.0 {
            write!(f, "{}*", Number(self.factor.abs()))?;
        }
        let args: Vec<&T> = self.places.iter().map(|&p| &args[usize::from(p)]).collect();
        write_application(f, &alphabet.measure(self.measure).name, &args)
    }
}

/// `left OP threshold`, where the first factor of `left` is above 0.
///
/// It holds of objects for which all its measures have a value: the sum, taken from left to right, is compared with the threshold. As text a
/// second measure that is subtracted stands on the right: `queue(X) > queue(Y) + 3`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub left: Linear,
    /// How.
    pub op: Op,
    /// With what number.
    pub threshold: f64,
}

impl Comparison {
    /// The comparison in the form that there is one of: where the first factor is below 0, both sides are negated.
    pub fn new(mut left: Linear, op: Op, threshold: f64) -> Comparison {
        if left.terms.first().is_some_and(|t| t.factor < 0.0) {
            left.terms.iter_mut().for_each(|t| t.factor = -t.factor);
            return Comparison { left, op: op.flipped(), threshold: 0.0 - threshold };
        }
        // There is one zero.
        Comparison { left, op, threshold: threshold + 0.0 }
    }

    /// The comparison with these arguments: `queue(X) > queue(Y) + 3`.
    pub fn display<'a, T: fmt::Display>(
        &'a self,
        args: &'a [T],
        alphabet: &'a Alphabet,
    ) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            let threshold = Number(self.threshold);
            let [first, second] = self.left.terms.as_slice() else {
                return write!(f, "{} {} {threshold}", self.left.display(args, alphabet), self.op);
            };
            if second.factor > 0.0 {
                return write!(f, "{} {} {threshold}", self.left.display(args, alphabet), self.op);
            }
            first.write(args, alphabet, f)?;
            write!(f, " {} ", self.op)?;
            second.write(args, alphabet, f)?;
            match self.threshold {
                0.0 => Ok(()),
                t if t < 0.0 => write!(f, " - {}", Number(-t)),
                _ => write!(f, " + {threshold}"),
            }
        })
    }

    /// The name of its predicate: its text, which no two comparisons share.
    pub(crate) fn name(&self, alphabet: &Alphabet) -> String {
        let args: Vec<Var> = (0..self.left.arity()).map(|i| Var(i as u8)).collect();
        self.display(&args, alphabet).to_string()
    }
}

/// A part of a rule that chooses: of all substitutions that satisfy the body, those with the most or least of something.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Most or least.
    pub extreme: Extreme,
    /// Of what.
    pub of: Linear,
    /// The arguments of that, by place.
    pub args: Vec<Arg>,
}

impl Choice {
    /// The variables that it uses, in order, each once.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.args.iter().filter_map(|a| if let Arg::Var(v) = a { Some(*v) } else { None })
    }

    /// The choice as text: `least(dist(X, Y))`.
    pub fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| write!(f, "{}({})", self.extreme, self.of.display(&self.args, alphabet)))
    }
}
