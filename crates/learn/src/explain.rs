//! Why a policy acts as it does: the rule that fired, the substitution, and what stood in the way of the other actions.

use std::ops::ControlFlow;
use std::sync::Arc;

use derrl_env::{Env, Rng, Status, observe};
use derrl_logic::{
    Action, Alphabet, Arg, Decider, Facts, GroundAction, Literal, Object, Policy, Query, Rule, Universe, Var,
};
use serde::Serialize;

use crate::error::Error;

/// Why one decision was taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What held, as text.
    pub facts: Vec<String>,
    /// The action chosen.
    pub action: String,
    /// F of the action chosen.
    pub value: f64,
    /// The rule that derived it; none where no rule fires and any action will do.
    pub fired: Option<Match>,
    /// All actions of this value, the chosen one included. All actions where no rule fires.
    pub ties: Vec<String>,
    /// Every other action, and why it was not chosen.
    pub others: Vec<WhyNot>,
}

/// A rule under a substitution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// Which rule of the policy, from 1.
    pub rule: usize,
    /// Its text.
    pub text: String,
    /// What its variables stand for, in order of appearance.
    pub substitution: Vec<(String, String)>,
    /// Its body under the substitution.
    pub body: Vec<String>,
}

/// Why an action was not chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhyNot {
    /// The action.
    pub action: String,
    /// Its value.
    pub value: f64,
    /// What kind of reason it is.
    pub reason: Reason,
    /// The rule that derives it, or the one that comes nearest.
    pub nearest: Option<Match>,
    /// The atoms of that rule that failed.
    pub failed: Vec<String>,
}

/// A kind of reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It has the same value: the choice among ties is random.
    Tie,
    /// A rule derives it, with a lower value.
    Weaker,
    /// No rule derives it: atoms of the nearest one failed.
    Failed,
    /// The policy has no rule for this action.
    NoRule,
}

/// A step of an explained episode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedStep {
    /// Which step, from 1.
    pub step: usize,
    /// Why.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The reward that followed.
    pub reward: f64,
    /// `running`, `terminated` or `truncated`.
    pub status: &'static str,
}

/// Explains decisions of one policy.
pub struct Explainer<'a> {
    policy: &'a Policy,
    alphabet: &'a Alphabet,
}

/// Substitutions tried at the most when looking for the nearest rule.
const MOST_TRIED: usize = 200_000;

impl<'a> Explainer<'a> {
    /// An explainer for a policy over this alphabet.
    pub fn new(policy: &'a Policy, alphabet: &'a Alphabet) -> Explainer<'a> {
        Explainer { policy, alphabet }
    }

    /// Explains what the policy does in a state. Ties are broken by `rng`.
    pub fn explain(&self, facts: &Facts, universe: &Universe, rng: &mut Rng) -> (GroundAction, Explanation) {
        let decision =
            Decider::new(self.policy, self.alphabet, universe).decide(facts, self.alphabet, universe);
        let all = universe.ground_actions(self.alphabet);
        let ties = if decision.ties.is_empty() { &all } else { &decision.ties };
        let chosen = ties[rng.below(ties.len())].clone();
        let show = |a: &GroundAction| universe.show_action(self.alphabet, a.action, &a.args);
        let others = all
            .iter()
            .filter(|a| **a != chosen)
            .map(|a| self.why_not(a, decision.value, facts, universe))
            .collect();
        let explanation = Explanation {
            facts: facts.show(self.alphabet, universe),
            action: show(&chosen),
            value: decision.value,
            fired: self.derivation(&chosen, facts, universe).map(|(_, m)| m),
            ties: ties.iter().map(show).collect(),
            others,
        };
        (chosen, explanation)
    }

    /// Why an action is not chosen where the best value is `best`.
    pub fn why_not(&self, action: &GroundAction, best: f64, facts: &Facts, universe: &Universe) -> WhyNot {
        let text = universe.show_action(self.alphabet, action.action, &action.args);
        if let Some((value, derived)) = self.derivation(action, facts, universe) {
            let reason = if value < best { Reason::Weaker } else { Reason::Tie };
            return WhyNot { action: text, value, reason, nearest: Some(derived), failed: Vec::new() };
        }
        let rules = self.policy.rules.iter().enumerate().filter(|(_, r)| r.action == action.action);
        let nearest = rules
            .map(|(i, r)| {
                let (failed, phi) = nearest_substitution(r, &action.args, facts, universe);
                (failed.len(), i, failed, phi)
            })
            .min_by_key(|(failed, i, ..)| (*failed, *i));
        let Some((_, i, failed, phi)) = nearest else {
            let reason = if best == 0.0 { Reason::Tie } else { Reason::NoRule };
            return WhyNot { action: text, value: 0.0, reason, nearest: None, failed: Vec::new() };
        };
        let rule = &self.policy.rules[i];
        let failed = failed.iter().map(|&j| self.show_literal(rule, j, &phi, universe)).collect();
        let reason = if best == 0.0 { Reason::Tie } else { Reason::Failed };
        WhyNot { action: text, value: 0.0, reason, nearest: Some(self.describe(i, &phi, universe)), failed }
    }

    /// The strongest rule that derives an action, and how; `None` where no rule does.
    pub fn fired(&self, action: &GroundAction, facts: &Facts, universe: &Universe) -> Option<Match> {
        self.derivation(action, facts, universe).map(|(_, m)| m)
    }

    /// The strongest rule that derives an action, and how.
    fn derivation(&self, action: &GroundAction, facts: &Facts, universe: &Universe) -> Option<(f64, Match)> {
        let mut order: Vec<usize> =
            (0..self.policy.rules.len()).filter(|&i| self.policy.rules[i].action == action.action).collect();
        order.sort_by(|&i, &j| self.policy.rules[j].weight.total_cmp(&self.policy.rules[i].weight));
        order.into_iter().find_map(|i| {
            let rule = &self.policy.rules[i];
            let mut phi = bind(rule, &action.args);
            let head: Vec<Var> = (0..action.args.len() as u8).map(Var).collect();
            let mut found = None;
            let query = Query::new(&rule.body, &head, universe);
            let _ = query.solve(facts, universe, &mut phi, &mut |phi| {
                found = Some(phi.to_vec());
                ControlFlow::Break(())
            });
            found.filter(|_| !rule.body.is_empty()).map(|phi| (rule.weight, self.describe(i, &phi, universe)))
        })
    }

    fn describe(&self, i: usize, phi: &[Option<Object>], universe: &Universe) -> Match {
        let rule = &self.policy.rules[i];
        let arity = self.alphabet.action(rule.action).args.len();
        // The text shows canonical names: head variables first, then the body's in order of appearance.
        let mut order: Vec<Var> = (0..arity as u8).map(Var).collect();
        for v in rule.body.iter().flat_map(Literal::vars) {
            if !order.contains(&v) {
                order.push(v);
            }
        }
        let name = |o: Option<Object>| o.map_or_else(|| "_".to_string(), |o| universe.name(o).to_string());
        Match {
            rule: i + 1,
            text: rule.display(self.alphabet).to_string(),
            substitution: order
                .iter()
                .enumerate()
                .map(|(at, v)| (Var(at as u8).to_string(), name(phi[v.0 as usize])))
                .collect(),
            body: (0..rule.body.len()).map(|j| self.show_literal(rule, j, phi, universe)).collect(),
        }
    }

    fn show_literal(&self, rule: &Rule, j: usize, phi: &[Option<Object>], universe: &Universe) -> String {
        let literal = &rule.body[j];
        let arg = |a: &Arg| match a {
            Arg::Var(v) => {
                phi[v.0 as usize].map_or_else(|| "_".to_string(), |o| universe.name(o).to_string())
            }
            Arg::Const(c) => c.to_string(),
        };
        let args: Vec<String> = literal.args.iter().map(arg).collect();
        let name = &self.alphabet.predicate(literal.pred).name;
        let atom = if args.is_empty() { name.clone() } else { format!("{name}({})", args.join(", ")) };
        if literal.positive { atom } else { format!("\\+ {atom}") }
    }
}

/// A binding for all variables of a rule, with those of the head bound.
fn bind(rule: &Rule, args: &[Object]) -> Vec<Option<Object>> {
    let in_body = rule.body.iter().flat_map(Literal::vars).map(|v| v.0 as usize + 1).max().unwrap_or(0);
    let mut phi = vec![None; in_body.max(args.len())];
    args.iter().enumerate().for_each(|(v, &o)| phi[v] = Some(o));
    phi
}

/// The substitution under which the fewest atoms of the body fail, and those atoms.
fn nearest_substitution(
    rule: &Rule,
    args: &[Object],
    facts: &Facts,
    universe: &Universe,
) -> (Vec<usize>, Vec<Option<Object>>) {
    let mut search = Nearest {
        rule,
        facts,
        universe,
        phi: bind(rule, args),
        best: ((0..rule.body.len()).collect(), bind(rule, args)),
        left: MOST_TRIED,
    };
    search.descend(args.len());
    search.best
}

struct Nearest<'a> {
    rule: &'a Rule,
    facts: &'a Facts,
    universe: &'a Universe,
    phi: Vec<Option<Object>>,
    best: (Vec<usize>, Vec<Option<Object>>),
    left: usize,
}

impl Nearest<'_> {
    fn descend(&mut self, v: usize) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let failed: Vec<usize> = (0..self.rule.body.len()).filter(|&j| self.fails(j) == Some(true)).collect();
        if failed.len() > self.best.0.len() || (failed.len() == self.best.0.len() && v < self.phi.len()) {
            return; // what fails already cannot be mended by further variables
        }
        if v >= self.phi.len() {
            if failed.len() < self.best.0.len() || self.best.1.iter().any(Option::is_none) {
                self.best = (failed, self.phi.clone());
            }
            return;
        }
        if self.rule.body.iter().all(|l| l.vars().all(|w| usize::from(w.0) != v)) {
            return self.descend(v + 1);
        }
        for o in self.universe.objects() {
            if !self.phi.contains(&Some(o)) {
                self.phi[v] = Some(o);
                self.descend(v + 1);
                self.phi[v] = None;
            }
        }
    }

    /// Whether an atom fails under phi; `None` while it has an unbound variable.
    fn fails(&self, j: usize) -> Option<bool> {
        let literal = &self.rule.body[j];
        let mut args = Vec::with_capacity(literal.args.len());
        for a in &literal.args {
            match a {
                Arg::Var(v) => args.push(self.phi[v.0 as usize]?),
                Arg::Const(c) => match self.universe.find(c) {
                    Some(o) => args.push(o),
                    None => return Some(literal.positive),
                },
            }
        }
        Some(self.facts.holds(literal.pred, &args) != literal.positive)
    }
}

/// One episode of an environment, explained step by step, at most `steps` of them.
pub fn explain_episode(
    policy: &Policy,
    alphabet: &Alphabet,
    env: &mut dyn Env,
    seed: u64,
    steps: usize,
) -> Result<Vec<ExplainedStep>, Error> {
    let explainer = Explainer::new(policy, alphabet);
    let (mut world, mut ties) = crate::evaluate::episode_streams(seed, 0);
    env.reset(&mut world);
    let mut facts = Facts::new(alphabet);
    let mut trace = Vec::new();
    for step in 1..=steps {
        if let Some(fault) = env.fault() {
            return Err(Error::World(fault.to_string()));
        }
        observe(env, &mut facts);
        let universe = Arc::clone(env.universe());
        let (action, explanation) = explainer.explain(&facts, &universe, &mut ties);
        let outcome = env.step(action.action, &action.args, &mut world);
        let status = match outcome.status {
            Status::Running => "running",
            Status::Terminated => "terminated",
            Status::Truncated => "truncated",
        };
        trace.push(ExplainedStep { step, explanation, reward: outcome.reward, status });
        if outcome.status != Status::Running {
            break;
        }
    }
    Ok(trace)
}

/// The ground action of this text in a universe: its objects must exist there and fit the action's types.
pub fn find_action(
    alphabet: &Alphabet,
    universe: &Universe,
    action: Action,
    names: &[derrl_logic::Constant],
) -> Result<GroundAction, String> {
    let decl = alphabet.action(action);
    let mut args = Vec::with_capacity(names.len());
    for (name, &wanted) in names.iter().zip(&decl.args) {
        let Some(o) = universe.find(name) else {
            let known: Vec<String> =
                universe.objects().take(20).map(|o| universe.name(o).to_string()).collect();
            return Err(format!("there is no object `{name}` here; there are: {}", known.join(", ")));
        };
        if !alphabet.types.is_subtype(universe.type_of(o), wanted) {
            let (is, needs) = (alphabet.types.name(universe.type_of(o)), alphabet.types.name(wanted));
            return Err(format!("`{name}` is a {is}, but `{}` needs a {needs} there", decl.name));
        }
        if args.contains(&o) {
            return Err(format!("`{name}` occurs twice: the arguments of an action are distinct objects"));
        }
        args.push(o);
    }
    Ok(GroundAction { action, args })
}
