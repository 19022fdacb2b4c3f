//! Choosing by return what the gradient leaves open: which rules tie, and which are not worth having.
//!
//! While training, F passes a softmax, in which values that are close are nearly the same. The text is read by argmax,
//! in which 0.95 beats 0.94 every time: an order that came about by chance decides, and a policy whose rules should tie
//! walks into the same obstacle until the horizon. So the order is settled by what it earns on the training task.

use std::collections::BTreeMap;

use derrl_logic::{Alphabet, Policy, Rule};

use crate::act::score::{Act, Actor, mean_stderr, run_episode, selection_streams};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::search::diary::Questions;
use crate::search::prune::weakest_first;

/// Runs policies on the same episodes of the training task.
pub struct Judge<'a, 'e> {
    alphabet: &'a Alphabet,
    env: &'a mut Counted<'e>,
    episodes: usize,
    seed: u64,
    questions: Option<&'a Questions<'a>>,
}

/// A policy with its return in each of the judge's episodes.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The policy.
    pub policy: Policy,
    /// Its returns.
    pub returns: Vec<f64>,
    /// The share of episodes that succeeded.
    pub success: f64,
}

impl<'a, 'e> Judge<'a, 'e> {
    /// A judge by this many episodes of this seed, in streams that no score uses. As soon as the world has no steps left,
    /// fewer have to do.
    pub fn new(
        alphabet: &'a Alphabet,
        env: &'a mut Counted<'e>,
        episodes: usize,
        seed: u64,
    ) -> Judge<'a, 'e> {
        Judge { alphabet, env, episodes, seed, questions: None }
    }

    /// The same, which keeps what policies earn.
    #[must_use]
    pub(crate) fn asking(self, questions: &'a Questions<'a>) -> Judge<'a, 'e> {
        Judge { questions: Some(questions), ..self }
    }

    /// Whether there are no steps left.
    fn exhausted(&self) -> bool {
        self.env.left() == 0
    }

    /// Runs a policy.
    pub fn judge(&mut self, policy: Policy) -> Result<Judged, Error> {
        let (returns, success) = self.run(&policy, |_| false)?;
        Ok(Judged { policy, returns, success })
    }

    /// Runs a policy for as long as it may still earn as much as another one did, to within the noise; `None` if it earns
    /// less.
    fn rival(&mut self, policy: Policy, other: &[f64]) -> Result<Option<Judged>, Error> {
        let (returns, success) = self.run(&policy, |returns| {
            let (gap, noise) = advantage(other, returns);
            gap > SURE * noise + 1e-9
        })?;
        let (gap, noise) = advantage(other, &returns);
        let as_good = returns.len() == other.len() && gap <= noise + 1e-9;
        Ok(as_good.then_some(Judged { policy, returns, success }))
    }

    /// The returns of a policy, a chunk of episodes at a time until `enough`, and the share of its successes.
    fn run(&mut self, policy: &Policy, enough: impl Fn(&[f64]) -> bool) -> Result<(Vec<f64>, f64), Error> {
        let Some(questions) = self.questions else { return self.run_now(policy, enough) };
        let (before, most) = (self.env.taken(), self.episodes);
        let fits = |(_, returns, _): &(u64, Vec<f64>, f64)| (1..=most).contains(&returns.len());
        let (taken, returns, success) = questions.ask("judge", fits, || {
            let (returns, success) = self.run_now(policy, enough)?;
            Ok((self.env.taken() - before, returns, success))
        })?;
        self.env.count(before + taken - self.env.taken());
        Ok((returns, success))
    }

    fn run_now(
        &mut self,
        policy: &Policy,
        enough: impl Fn(&[f64]) -> bool,
    ) -> Result<(Vec<f64>, f64), Error> {
        let mut actor = Actor::new(policy, self.alphabet);
        let mut returns = Vec::with_capacity(self.episodes);
        let mut successes = 0;
        let share = |successes: usize, of: usize| successes as f64 / of.max(1) as f64;
        while returns.len() < self.episodes && (returns.is_empty() || !enough(&returns)) {
            for i in (returns.len()..self.episodes).take(CHUNK) {
                if self.exhausted() && !returns.is_empty() {
                    let success = share(successes, returns.len());
                    return Ok((returns, success));
                }
                let act: &mut Act<'_> = &mut |env, rng| actor.act(env, rng);
                let result = run_episode(act, self.env, selection_streams(self.seed, i as u64))?;
                successes += usize::from(result.success);
                returns.push(result.value);
            }
        }
        let success = share(successes, returns.len());
        Ok((returns, success))
    }
}

/// Tells the rules that stay as they are.
pub type Frozen<'a> = dyn Fn(&Rule) -> bool + 'a;

/// Episodes between two looks at how a policy does.
const CHUNK: usize = 50;
/// A policy that trails by so many standard errors is given up.
const SURE: f64 = 3.0;

/// How much more `a` earned than `b`, a paired comparison on the same instances, and the standard error of that.
pub fn advantage(a: &[f64], b: &[f64]) -> (f64, f64) {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    mean_stderr(&differences)
}

/// The mean difference of paired numbers and its standard error. Episodes of one instance are alike, so that many of them tell no more
/// than a few: the error is that of instances, where there are several and it is said which is whose.
pub fn paired(a: &[f64], b: &[f64], instances: &[u64]) -> (f64, f64) {
    let (gap, noise) = advantage(a, b);
    let mut off: BTreeMap<u64, f64> = BTreeMap::new();
    let mut n = 0.0;
    for ((a, b), instance) in a.iter().zip(b).zip(instances) {
        *off.entry(*instance).or_insert(0.0) += a - b - gap;
        n += 1.0;
    }
    let groups = off.len() as f64;
    if off.len() < 2 {
        return (gap, noise);
    }
    let squares: f64 = off.values().map(|o| o * o).sum();
    (gap, noise.max((squares * groups / (groups - 1.0)).sqrt() / n))
}

/// The policy on the levels of value that earn most, without the rules that earn nothing.
///
/// Rules whose values lie within a gap of each other tie; each gap between values is tried, so that the learned order is
/// kept, in part or not at all. Of the orders within the noise of the best, the one with the fewest levels is taken.
/// Then a rule goes, the weakest first, if the policy earns no less without it, to within the noise. Takes one run of the
/// judge for each level and each rule. Frozen rules stay, with their values.
pub fn refine(policy: &Policy, judge: &mut Judge<'_, '_>, frozen: &Frozen<'_>) -> Result<Judged, Error> {
    let mut judged: Vec<Judged> = Vec::new();
    for candidate in levellings(policy, frozen) {
        if judged.is_empty() || !judge.exhausted() {
            judged.push(judge.judge(candidate)?);
        }
    }
    let mean = |j: &Judged| mean_stderr(&j.returns).0;
    let Some(best) = judged.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))) else {
        return judge.judge(policy.clone());
    };
    let close = |j: &&Judged| {
        let (gap, noise) = advantage(&best.returns, &j.returns);
        gap <= noise + 1e-9
    };
    let mut kept = judged.iter().find(close).unwrap_or(best).clone();
    loop {
        let before = kept.policy.rules.len();
        for i in weakest_first(&kept.policy) {
            if kept.policy.rules.len() == 1 || judge.exhausted() {
                break;
            }
            if frozen(&kept.policy.rules[i]) {
                continue;
            }
            let mut without = kept.policy.clone();
            without.rules.remove(i);
            if let Some(without) = judge.rival(without, &kept.returns)? {
                kept = without;
                break; // the numbers of the rules have changed
            }
        }
        if kept.policy.rules.len() == before {
            return Ok(kept);
        }
    }
}

/// The policy on 1, 2, ... levels: the largest gaps between its values separate levels, rules between two gaps take the
/// highest value among them, or that of the frozen rule among them.
fn levellings(policy: &Policy, frozen: &Frozen<'_>) -> Vec<Policy> {
    let mut values: Vec<f64> = policy.rules.iter().map(|r| r.weight).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.dedup();
    // The levels start at these places of `values`; places are ordered by the gap above them.
    let mut starts: Vec<usize> = (1..values.len()).collect();
    starts.sort_by(|&i, &j| (values[j - 1] - values[j]).total_cmp(&(values[i - 1] - values[i])));
    let levelled = |cuts: usize| {
        let mut levelled = policy.clone();
        let start = |weight: f64| {
            let at = values.iter().position(|v| *v == weight).unwrap_or(0);
            starts[..cuts].iter().copied().filter(|&s| s <= at).max().unwrap_or(0)
        };
        for rule in &mut levelled.rules {
            let start_of = start(rule.weight);
            let fixed = policy.rules.iter().find(|r| frozen(r) && start(r.weight) == start_of);
            let weight = fixed.map_or(values[start_of], |r| r.weight);
            if frozen(rule) && rule.weight != weight {
                return None; // two frozen rules of different value do not tie
            }
            rule.weight = weight;
        }
        Some(levelled)
    };
    (0..values.len()).filter_map(levelled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_of_one_instance_count_once() {
        let (a, b): (Vec<f64>, Vec<f64>) = ((0..100).map(|i| f64::from(i % 4 / 3)).collect(), vec![0.0; 100]);
        let alone: Vec<u64> = (0..100).collect();
        let (gap, noise) = paired(&a, &b, &alone);
        assert!((gap, noise) == advantage(&a, &b) && gap > 5.0 * noise, "25 of 100 instances are won");
        let repeated: Vec<u64> = (0..100).map(|i| i % 4).collect();
        let (gap, noise) = paired(&a, &b, &repeated);
        assert!(gap <= noise + 1e-9, "one of four is: that may be chance, {gap} {noise}");
    }
}
