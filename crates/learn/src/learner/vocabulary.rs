//! What rules may say: facts, comparisons of numbers, and choices.

use derrl_env::Rng;
use derrl_logic::{
    Action, Alphabet, Arg, Choice, Comparison, Extreme, Linear, Literal, Measure, Op, Role, Type, Types, Var,
    candidates,
};

use super::limits::{ABOVE_ONE, BELOW_ONE, DIGITS, FACTS, NOTHING, RATIO_OCTAVES, SUMS, TEN, UNIT, ZERO};
use super::list::Atom;
use super::seen::{Seen, Spread};
use super::words::Words;

/// What may be said in rules of each action.
pub struct Vocabulary<'a> {
    /// The alphabet of the domain.
    pub alphabet: &'a Alphabet,
    /// Where thresholds come from.
    pub seen: &'a Seen,
    sums: bool,
    /// Measures and differences.
    plain: Vec<Linear>,
    /// Pairs of measures, of which sums are made.
    pairs: Vec<Linear>,
    /// By action.
    facts: Vec<Vec<Literal>>,
}

impl<'a> Vocabulary<'a> {
    /// What may be said of the states seen.
    pub fn new(alphabet: &'a Alphabet, words: &Words, seen: &'a Seen) -> Vocabulary<'a> {
        let measures: Vec<Measure> = (0..alphabet.measures.len() as u32).map(Measure).collect();
        let arity = |m: Measure| alphabet.measure(m).args.len();
        let mut plain: Vec<Linear> = measures.iter().map(|&m| Linear::of(m, arity(m))).collect();
        let mut pairs = Vec::new();
        for (i, &a) in measures.iter().enumerate() {
            for &b in &measures[i..] {
                for pair in together(alphabet, a, b) {
                    let unit = |m: Measure| alphabet.measure(m).unit.as_deref();
                    if unit(a) == unit(b) {
                        plain.push(pair.clone());
                    }
                    pairs.push(pair);
                }
            }
        }
        let facts = (0..alphabet.actions.len() as u32).map(|a| {
            let mut all = candidates(alphabet, Action(a));
            all.retain(|l| alphabet.predicate(l.pred).role != Role::Comparison);
            all
        });
        Vocabulary { alphabet, seen, sums: words.sums, plain, pairs, facts: facts.collect() }
    }

    /// All sums with whole weights, and pairs of measures where sums are compared.
    pub fn forms(&self) -> (&[Linear], &[Linear]) {
        (&self.plain, if self.sums { &self.pairs } else { &[] })
    }

    /// Whether there are numbers to compare.
    pub fn has_numbers(&self) -> bool {
        !self.plain.is_empty()
    }

    /// An atom for a rule of an action; `None` where the draw came to nothing.
    pub fn atom(&self, action: Action, rng: &mut Rng) -> Option<Atom> {
        let facts = &self.facts[action.0 as usize];
        if self.plain.is_empty() || (!facts.is_empty() && rng.unit() < FACTS) {
            return Some(Atom::Fact(facts.get(rng.below(facts.len().max(1)))?.clone()));
        }
        let left = self.sum(rng)?;
        let args = self.arguments(action, &left, rng)?;
        let op = if rng.unit() < 0.5 { Op::Greater } else { Op::AtMost };
        let threshold = self.threshold(&left, rng)?;
        Some(Atom::Compare { comparison: Comparison::new(left, op, threshold), args })
    }

    /// A sum to compare.
    fn sum(&self, rng: &mut Rng) -> Option<Linear> {
        if self.sums && !self.pairs.is_empty() && rng.unit() < SUMS {
            let mut left = self.pairs[rng.below(self.pairs.len())].clone();
            let by = rng.unit().mul_add(2.0 * RATIO_OCTAVES, -RATIO_OCTAVES).exp2();
            left.terms[1].factor = self.ratio(&left, if rng.unit() < 0.5 { -by } else { by }, rng)?;
            return Some(left);
        }
        Some(self.plain[rng.below(self.plain.len())].clone())
    }

    /// The weight that makes the second measure of a pair count so many times as much as the first; `None` where one never changes.
    pub fn ratio(&self, pair: &Linear, times: f64, rng: &mut Rng) -> Option<f64> {
        let width = |term: usize, rng: &mut Rng| {
            let of = Linear::of(pair.terms[term].measure, pair.terms[term].places.len());
            Spread::of(&self.seen.values(&of, rng)).map(Spread::width).filter(|w| *w > 0.0)
        };
        Some(self.weight(pair, times * width(0, rng)? / width(1, rng)?))
    }

    /// A weight of one digit for the second measure of a pair. Units that have nothing to do with each other are not added as they are.
    pub fn weight(&self, pair: &Linear, x: f64) -> f64 {
        let weight = one_digit(x);
        let same = self.alphabet.comparable(pair.terms[0].measure, pair.terms[1].measure);
        if weight.abs() != 1.0 || same {
            return weight;
        }
        if x.abs() < 1.0 { BELOW_ONE * weight } else { ABOVE_ONE * weight }
    }

    /// The spread of a sum; `None` where it never has a value.
    pub fn spread(&self, left: &Linear, rng: &mut Rng) -> Option<Spread> {
        Spread::of(&self.seen.values(left, rng))
    }

    /// A threshold among the values seen, or 0 where that is among them.
    pub fn threshold(&self, left: &Linear, rng: &mut Rng) -> Option<f64> {
        let spread = self.spread(left, rng)?;
        if spread.has_zero() && rng.unit() < ZERO {
            return Some(0.0);
        }
        Some(rounded(self.seen.value(left, rng)?, spread.width()))
    }

    /// Variables for the places of a sum, of types that objects can have.
    pub fn arguments(&self, action: Action, left: &Linear, rng: &mut Rng) -> Option<Vec<Arg>> {
        let all = self.all_arguments(action, left);
        all.get(rng.below(all.len().max(1))).cloned()
    }

    /// All tuples of variables for the places of a sum. Those beyond the head's come in their order.
    pub fn all_arguments(&self, action: Action, left: &Linear) -> Vec<Vec<Arg>> {
        let head = &self.alphabet.action(action).args;
        let variables = self.alphabet.variables_for(head.len()).max(head.len());
        let mut tuples: Vec<Vec<usize>> = vec![Vec::new()];
        for t in left.types(self.alphabet) {
            let fits = |v: usize| {
                v >= head.len() || self.alphabet.types.overlap(head.get(v).copied().unwrap_or(Types::ANY), t)
            };
            tuples = tuples
                .into_iter()
                .flat_map(|tuple| {
                    let next = tuple.iter().map(|&v| v + 1).max().unwrap_or(0).max(head.len());
                    let free = (0..variables).filter(move |v| *v <= next);
                    let fresh: Vec<usize> = free.filter(|v| fits(*v) && !tuple.contains(v)).collect();
                    fresh.into_iter().map(move |v| tuple.iter().copied().chain([v]).collect())
                })
                .collect();
        }
        let arg = |v: usize| Arg::Var(Var(v as u8));
        tuples.into_iter().map(|tuple| tuple.into_iter().map(arg).collect()).collect()
    }

    /// What a rule of an action may end with: most or least of what is known of the objects that it is done to.
    pub fn choices(&self, action: Action) -> Vec<Choice> {
        let arity = self.alphabet.action(action).args.len();
        let of_head =
            |args: &Vec<Arg>| args.iter().all(|arg| matches!(arg, Arg::Var(v) if usize::from(v.0) < arity));
        let measures = self.plain.iter().filter(|left| left.arity() > 0 && left.terms.len() == 1);
        measures
            .flat_map(|left| {
                let args = self.all_arguments(action, left).into_iter().filter(of_head);
                args.flat_map(move |args| {
                    let choice = |extreme| Choice { extreme, of: left.clone(), args: args.clone() };
                    [Extreme::Most, Extreme::Least].map(choice)
                })
            })
            .collect()
    }
}

/// Differences of two measures: of the same objects, and of others.
fn together(alphabet: &Alphabet, a: Measure, b: Measure) -> Vec<Linear> {
    let types = |m: Measure| alphabet.measure(m).args.as_slice();
    let fit = |(s, t): (&Type, &Type)| alphabet.types.overlap(*s, *t);
    let (n, m) = (types(a).len() as u8, types(b).len() as u8);
    let mut all = Vec::new();
    if a != b && n == m && types(a).iter().zip(types(b)).all(fit) {
        all.push(Linear::sum((a, (0..n).collect()), -1.0, (b, (0..n).collect())));
    }
    if n != m || n > 0 {
        all.push(Linear::sum((a, (0..n).collect()), -1.0, (b, (n..n + m).collect())));
    }
    all
}

/// A number rounded to what can be told apart where values spread so widely.
pub fn rounded(x: f64, width: f64) -> f64 {
    let unit = power_below(width) * UNIT;
    decimal((x / unit).round() * unit, unit)
}

/// The power of ten that is not above a number.
fn power_below(x: f64) -> f64 {
    TEN.powf(x.max(NOTHING).log10().floor())
}

/// A multiple of a power of ten as people write it: 0.3 and not 0.30000000000000004.
fn decimal(x: f64, unit: f64) -> f64 {
    let digits = (-unit.log10()).round().max(0.0) as usize;
    format!("{x:.digits$}").parse().map_or(x, |x: f64| x + 0.0)
}

/// The number of one digit (1, 2, 3 or 5) that is nearest.
pub fn one_digit(x: f64) -> f64 {
    let unit = power_below(x.abs());
    let off = |digit: f64| (digit * unit / x.abs()).ln().abs();
    let digit = DIGITS.into_iter().min_by(|a, b| off(*a).total_cmp(&off(*b)));
    decimal(x.signum() * digit.unwrap_or(1.0) * unit, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_short() {
        assert_eq!(rounded(0.123_456, 0.4), 0.12);
        assert_eq!(rounded(-1234.0, 5000.0), -1200.0);
        assert_eq!(rounded(0.000_004, 1.0), 0.0);
        assert_eq!((one_digit(0.28), one_digit(-4.4), one_digit(9.0)), (0.3, -5.0, 10.0));
    }
}
