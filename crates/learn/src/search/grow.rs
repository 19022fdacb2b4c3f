//! Rules for the states in which a policy says nothing.
//!
//! Where no rule fires, any action is taken: the policy explores there by itself. What each action then earned, compared
//! with what its state earns on average, says which to prefer, and a rule for an action is a body that holds where the
//! action did better. This is a step of approximate policy iteration within the language of rules (Fern, Yoon and Givan,
//! 2006). The rules found stand below all others, so they act in these states only.
//!
//! The gradient hardly finds such rules: they matter in few states, and below rules that are still changing.

use derrl_env::Rng;
use derrl_logic::{Action, Literal, Policy, Rule};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::experience::counted::Counted;
use crate::experience::rollout::{Acting, Batch};
use crate::experience::rules::Rules;
use crate::experience::states::{StateId, States};
use crate::language::body::Body;
use crate::language::ids::Learner;
use crate::language::problem::Problem;
use crate::language::slot::{RuleDistribution, Slot};
use crate::settings::config::Config;
use crate::settings::estimator::Estimator;

/// Decisions by which the states without a rule are explored.
const DECISIONS: usize = 160_000;
/// Rules are not grown where fewer decisions are left: half of them explore, half judge what was found.
const LEAST_DECISIONS: usize = 10_000;
/// Episodes from one instance, so that its states are met often enough to know what they earn.
const GROUP: usize = 16;
/// The most atoms of a body that is grown.
const LONGEST: usize = 3;
/// How many bodies of two or more atoms are extended; of single atoms, how many at the most.
const BEAM: usize = 40;
const SINGLES: usize = 128;
/// What an atom has to gain to be worth its place, in standard errors of the sum of all gains.
const PRICE: f64 = 0.3;

/// The policy with a rule more for each action that has a slot left and does better than others in states without a
/// rule; `None` where no action does. The rules are found by exploring `env`.
pub fn grow(
    policy: &Policy,
    problem: &Problem,
    config: &Config,
    env: &mut Counted<'_>,
    rng: &mut Rng,
) -> Result<Option<Policy>, Error> {
    let free = free_actions(policy, problem);
    if free.is_empty()
        || policy.rules.is_empty()
        || env.world().agents() > 1
        || env.left() < LEAST_DECISIONS as u64
    {
        return Ok(None);
    }
    let mut states = States::new(problem);
    let tried = explore(policy, problem, config, &mut states, env, rng)?;
    let lowest = policy.rules.iter().map(|r| r.weight).fold(1.0, f64::min);
    let weight = (lowest * 90.0).floor() / 100.0;
    let mut grown = policy.clone();
    for action in free {
        let body = Bodies::new(action, &tried, problem).best();
        grown.rules.extend(body.map(|body| Rule::new(weight, action, body)));
    }
    Ok((grown.rules.len() > policy.rules.len() && weight > 0.0).then_some(grown))
}

/// The actions that may have more rules than the policy has for them.
pub fn free_actions(policy: &Policy, problem: &Problem) -> Vec<Action> {
    let has = |action: Action| policy.rules.iter().filter(|r| r.action == action).count();
    let actions = (0..problem.alphabet.actions.len() as u32).map(Action);
    actions.filter(|&a| has(a) < problem.slots_of(Learner::FIRST, a).count()).collect()
}

/// A ground action in a state in which no rule fired.
struct Tried<'a> {
    action: Action,
    /// The masks of the ground action, end to end.
    masks: &'a [u64],
    /// The sum of its advantages: returns above the mean of the state.
    gain: f64,
    /// The sum of their squares.
    squares: f64,
}

/// Acts by the policy and keeps what was tried in states where no rule fires.
fn explore<'a>(
    policy: &Policy,
    problem: &Problem,
    config: &Config,
    states: &'a mut States,
    env: &mut Counted<'_>,
    rng: &mut Rng,
) -> Result<Vec<Tried<'a>>, Error> {
    let config = Config {
        estimator: Estimator::StraightThrough,
        // Levels of value are as good as strictly ordered: the softmax is the argmax.
        temperature: 0.02,
        group: GROUP,
        ..config.clone()
    };
    let mut rules = Rules::default();
    rules.prepare(certain(policy, problem), problem, config.temperature);
    let mut batch = Batch::default();
    let decisions = DECISIONS.min(usize::try_from(env.left() / 2).unwrap_or(usize::MAX));
    let on = Acting { problem, config: &config, rules: &rules };
    batch.collect(&on, decisions, states, env, rng);
    if env.stopped() {
        return Err(Error::Interrupted);
    }
    if let Some(fault) = env.world().fault() {
        return Err(Error::World(fault.clone()));
    }
    let mut places = FxHashMap::default();
    let mut sums: Vec<(u32, u32, f64, f64)> = Vec::new();
    for step in batch.steps.iter().filter(|s| batch.derived(s).is_empty()) {
        let at = *places.entry((step.state.0, step.action)).or_insert_with(|| {
            sums.push((step.state.0, step.action, 0.0, 0.0));
            sums.len() - 1
        });
        sums[at].2 += step.advantage;
        sums[at].3 += step.advantage * step.advantage;
    }
    let states: &States = states;
    let tried = sums
        .into_iter()
        .map(|(state, a, gain, squares)| {
            let state = StateId(state);
            let action = states.actions(state)[a as usize].action;
            Tried { action, masks: states.grounding(state).flat(a as usize), gain, squares }
        })
        .collect();
    Ok(tried)
}

/// The policy as distributions that leave nothing to chance.
fn certain(policy: &Policy, problem: &Problem) -> Vec<RuleDistribution> {
    let mut values: Vec<f64> = policy.rules.iter().map(|r| r.weight).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.dedup();
    let slot_of = |(slot, s): (usize, &Slot)| {
        let nth = slot - problem.slots_of(Learner::FIRST, s.action).first.index();
        let rule = policy.rules.iter().filter(|r| r.action == s.action).nth(nth);
        let mut p = vec![0.0; s.atoms];
        rule.iter().flat_map(|r| problem.places(r)).for_each(|j| p[j] = 1.0);
        let level = values.iter().position(|v| rule.is_some_and(|r| r.weight == *v)).unwrap_or(0);
        RuleDistribution { p, confidence: (1.0 - 0.2 * level as f64).max(0.2) }
    };
    problem.slots.iter().enumerate().map(slot_of).collect()
}

/// The search for a body of one action.
struct Bodies<'a> {
    action: Action,
    problem: &'a Problem,
    atoms: &'a [Literal],
    tried: Vec<&'a Tried<'a>>,
    /// What an atom has to gain.
    price: f64,
}

struct Candidate {
    atoms: Vec<usize>,
    /// The sum of the gains where it holds.
    gain: f64,
}

impl<'a> Bodies<'a> {
    fn new(action: Action, tried: &'a [Tried<'a>], problem: &'a Problem) -> Bodies<'a> {
        let tried: Vec<&Tried> = tried.iter().filter(|t| t.action == action).collect();
        let price = PRICE * tried.iter().map(|t| t.squares).sum::<f64>().sqrt();
        Bodies { action, problem, atoms: problem.grounder.atoms(action), tried, price }
    }

    /// The body that gains most beyond the price of its atoms; `None` if none does. Single atoms seldom tell, pairs do:
    /// all pairs are looked at, then what extends the best of them.
    fn best(&self) -> Option<Vec<Literal>> {
        let longest = self.problem.alphabet.max_body.unwrap_or(LONGEST).min(LONGEST);
        let mut best: Option<(f64, Vec<Literal>)> = None;
        let mut beam = vec![Vec::new()];
        for length in 1..=longest {
            let mut bodies = self.longer(&beam);
            bodies.sort_by(|a, b| b.gain.total_cmp(&a.gain));
            for body in &bodies {
                let score = body.gain - self.price * length as f64;
                if score > best.as_ref().map_or(0.0, |b| b.0)
                    && let Some(literals) = self.safe(&body.atoms)
                {
                    best = Some((score, literals));
                }
            }
            bodies.truncate(if length == 1 { SINGLES } else { BEAM });
            beam = bodies.into_iter().map(|b| b.atoms).collect();
        }
        best.map(|b| b.1)
    }

    /// Every well-typed body with one atom more that holds somewhere, each once.
    fn longer(&self, beam: &[Vec<usize>]) -> Vec<Candidate> {
        let mut seen = FxHashSet::default();
        let mut bodies = Vec::new();
        for body in beam {
            for j in 0..self.atoms.len() {
                let fits = |&i: &usize| i != j && self.problem.alphabet.fit(&self.atoms[i], &self.atoms[j]);
                if !body.iter().all(fits) {
                    continue;
                }
                let mut atoms = body.clone();
                atoms.push(j);
                atoms.sort_unstable();
                if seen.insert(atoms.clone())
                    && let Some(gain) = self.gain(&atoms)
                {
                    bodies.push(Candidate { atoms, gain });
                }
            }
        }
        bodies
    }

    /// The sum of the gains where a body holds; `None` if it holds nowhere.
    fn gain(&self, atoms: &[usize]) -> Option<f64> {
        let body = Body::of(atoms.iter().copied(), self.problem.grounder.words());
        let mut gain = None;
        for t in self.tried.iter().filter(|t| body.holds(t.masks)) {
            gain = Some(gain.unwrap_or(0.0) + t.gain);
        }
        gain
    }

    /// The literals of a body, if every variable of its negated ones is bound.
    fn safe(&self, atoms: &[usize]) -> Option<Vec<Literal>> {
        let body = atoms.iter().map(|&j| self.atoms[j].clone()).collect();
        let rule = Rule::new(1.0, self.action, body);
        rule.is_safe(self.problem.alphabet.action(self.action).args.len()).then_some(rule.body)
    }
}
