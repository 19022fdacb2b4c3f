//! Why a policy acts as it does: the rule that fired, the substitution, and what stood in the way of the other actions.
//!
//! | file | holds |
//! |---|---|
//! | `explain.rs` | the explanation of one decision |
//! | `explain/nearest.rs` | the rule that comes nearest to an action that no rule derives |
//! | `explain/reading.rs` | the numbers that a rule compares |
//! | `explain/leeway.rs` | how far a number may be off before the decision changes |
//! | `explain/number.rs` | the least change of a number that makes a policy choose an action |
//! | `explain/what_if.rs` | the smallest change of facts that makes a policy choose an action |
//! | `explain/laws.rs` | what was so in all states that were seen |
//! | `explain/reachable.rs` | the same, told by states that can be reached |
//! | `explain/trace.rs` | explained episodes |

mod laws;
mod leeway;
mod nearest;
mod number;
mod reachable;
mod reading;
mod trace;
mod what_if;

use std::ops::ControlFlow;

use derrl_env::Rng;
use derrl_logic::syntax::Quoted;
use derrl_logic::{
    Action, Alphabet, Arg, Choice, Constant, Decider, EveryAction, Facts, GroundAction, Literal, Object,
    Policy, Query, Rule, Scope, Shield, Universe, Var, derive, legal_actions, substitutions,
};
use serde::Serialize;

pub use laws::{Laws, Seen};
pub use leeway::Leeway;
pub use number::NumberChange;
pub use reading::Reading;
pub use trace::{Ask, End, ExplainedStep, Others, Trace, WhatIfs, explain_episode};
pub use what_if::{Bounds, Change, Found, Look, Standing, WhatIf};

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
    /// All actions of this value, the chosen one included. Where no rule fires, all actions, the first ten thousand of them.
    pub ties: Vec<String>,
    /// The other actions that were asked for, and why each was not chosen.
    pub others: Vec<WhyNot>,
    /// How many other actions there are that were not asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub unexplained: usize,
    /// What the policy would rather have done, or as soon, and a shield forbids: the first of such actions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<Forbidden>,
    /// The first rule against the action chosen, where every action is forbidden and it is one of the least bad.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced: Option<Match>,
    /// In what the state lies outside what the policy was learned on, where that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
}

/// An action that a shield forbids.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forbidden {
    /// The action.
    pub action: String,
    /// The first rule that forbids it.
    pub by: Match,
}

/// The most forbidden actions that are told of one decision.
const MOST_FORBIDDEN: usize = 20;

/// The most actions that are listed where no rule fires.
const MOST_TIES: usize = 10_000;

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A rule under a substitution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// Which rule of the policy, from 1.
    pub rule: usize,
    /// Its text.
    pub text: String,
    /// What its variables stand for, in order of appearance; `_` for one that no object is left for.
    pub substitution: Vec<(String, String)>,
    /// Its body under the substitution, then its choices. Where the rule fired, these are the facts that made it fire.
    pub body: Vec<String>,
    /// The numbers that it compares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading>,
    /// Why the derived facts among these hold, a fact a line, each indented below what it derives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
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
    /// The atoms of that rule that failed, and disequalities such as `floor \= floor` where the body names an object that a
    /// variable would have to stand for.
    pub failed: Vec<String>,
    /// What would have to change, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
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
    /// It is not legal in this state: the world does not allow it.
    Illegal,
    /// A shield forbids it: `nearest` is the first rule against it.
    Forbidden,
}

impl Reason {
    /// Whether the action was not among those that could be chosen.
    pub fn is_excluded(self) -> bool {
        matches!(self, Reason::Illegal | Reason::Forbidden)
    }
}

/// Explains decisions of one policy.
pub struct Explainer<'a> {
    policy: &'a Policy,
    alphabet: &'a Alphabet,
    /// The legal actions of the state in question, in order, where the world lists them.
    legal: Option<&'a [GroundAction]>,
    /// What the policy was learned on, where that is known.
    scope: Option<&'a Scope>,
    /// What holds in all states, as far as these were seen.
    laws: Option<&'a Laws>,
}

/// What each variable of a rule stands for.
type Phi = Vec<Option<Object>>;

impl<'a> Explainer<'a> {
    /// An explainer for a policy over this alphabet.
    pub fn new(policy: &'a Policy, alphabet: &'a Alphabet) -> Explainer<'a> {
        Explainer { policy, alphabet, legal: None, scope: None, laws: None }
    }

    /// The same for a policy that was learned on this: states outside are told.
    #[must_use]
    pub fn learned_on(&self, scope: Option<&'a Scope>) -> Explainer<'a> {
        Explainer { scope, ..*self }
    }

    /// The same where states obey these laws: what would have to change keeps them.
    #[must_use]
    pub fn under(&self, laws: &'a Laws) -> Explainer<'a> {
        Explainer { laws: Some(laws), ..*self }
    }

    /// The same for a state in which only these actions are legal, given in order; `None` where any may be tried.
    #[must_use]
    pub fn among(&self, legal: Option<&'a [GroundAction]>) -> Explainer<'a> {
        Explainer { legal, ..*self }
    }

    /// Explains what the policy does in a state, and why it does none of the others that are asked for. Ties are broken by
    /// `rng`. `None` if there is no action at all: no objects of the types that actions need.
    pub fn explain(
        &self,
        facts: &Facts,
        universe: &Universe,
        rng: &mut Rng,
        asked: &[GroundAction],
    ) -> Option<(GroundAction, Explanation)> {
        let shield = Shield::new(self.alphabet, universe);
        if let (Some(shield), None) = (&shield, self.legal) {
            // Nobody has asked yet what is allowed.
            let legal = legal_actions(facts, self.alphabet, universe);
            let mut all = legal.unwrap_or_else(|| universe.ground_actions(self.alphabet));
            shield.restrict(&mut all, 0, facts, universe);
            return self.among(Some(&all)).explain(facts, universe, rng, asked);
        }
        let decision = self.decider(universe).decide_among(facts, self.alphabet, universe, self.legal);
        let every = EveryAction::new(self.alphabet, universe);
        let (count, silent) = (self.legal.map_or(every.len(), <[_]>::len), decision.ties.is_empty());
        if count == 0 {
            return None;
        }
        let nth = |k: usize| self.legal.map_or_else(|| every.nth(k), |legal| legal[k].clone());
        let (chosen, ties) = if silent {
            (nth(rng.below(count)), (0..count.min(MOST_TIES)).map(nth).collect())
        } else {
            (decision.ties[rng.below(decision.ties.len())].clone(), decision.ties)
        };
        let others: Vec<WhyNot> = asked
            .iter()
            .filter(|a| **a != chosen)
            .map(|a| self.why_not(a, decision.value, facts, universe))
            .collect();
        let (forbidden, forced) = match &shield {
            None => (Vec::new(), None),
            Some(shield) => (
                self.preferred_but_forbidden(decision.value, shield, facts, universe),
                self.against(&chosen, shield, facts, universe),
            ),
        };
        let explanation = Explanation {
            forbidden,
            forced,
            outside: self.scope.map_or_else(Vec::new, |s| s.outside(facts, self.alphabet, universe)),
            facts: facts.show(self.alphabet, universe),
            action: self.show(&chosen, universe),
            value: decision.value,
            fired: self.fired(&chosen, facts, universe),
            ties: ties.iter().map(|a| self.show(a, universe)).collect(),
            unexplained: (count - 1)
                .saturating_sub(others.iter().filter(|o| !o.reason.is_excluded()).count()),
            others,
        };
        Some((chosen, explanation))
    }

    /// What is forbidden of the actions that the policy alone would take, where these are worth at least `value`.
    fn preferred_but_forbidden(
        &self,
        value: f64,
        shield: &Shield,
        facts: &Facts,
        universe: &Universe,
    ) -> Vec<Forbidden> {
        let alone = self.decider(universe).decide_among(facts, self.alphabet, universe, None);
        if alone.value < value || alone.value == 0.0 {
            return Vec::new();
        }
        let by = |action: &GroundAction| {
            let by = self.against(action, shield, facts, universe)?;
            Some(Forbidden { action: self.show(action, universe), by })
        };
        alone.ties.iter().filter_map(by).take(MOST_FORBIDDEN).collect()
    }

    /// The first rule that forbids an action, under the substitution by which it does.
    fn against(
        &self,
        action: &GroundAction,
        shield: &Shield,
        facts: &Facts,
        universe: &Universe,
    ) -> Option<Match> {
        let first = *shield.forbidding(action, facts, universe).first()?;
        let rule = &self.alphabet.shield[first];
        let alone = Policy { rules: vec![rule.clone()] };
        let found = Explainer::new(&alone, self.alphabet).fired(action, facts, universe)?;
        Some(Match { rule: first + 1, text: rule.display_never(self.alphabet).to_string(), ..found })
    }

    /// Why an action is not chosen where the best value is `best`.
    pub fn why_not(&self, action: &GroundAction, best: f64, facts: &Facts, universe: &Universe) -> WhyNot {
        let text = self.show(action, universe);
        if self.legal.is_some_and(|legal| legal.binary_search(action).is_err()) {
            let shield = Shield::new(self.alphabet, universe);
            let nearest = shield.and_then(|shield| self.against(action, &shield, facts, universe));
            let reason = if nearest.is_some() { Reason::Forbidden } else { Reason::Illegal };
            return WhyNot { action: text, value: 0.0, reason, nearest, failed: Vec::new(), what_if: None };
        }
        if let Some((i, phi)) = self.derivation(action, facts, universe) {
            let value = self.policy.rules[i].weight;
            let reason = if value < best { Reason::Weaker } else { Reason::Tie };
            let nearest = Some(self.describe(i, &phi, facts, universe));
            return WhyNot { action: text, value, reason, nearest, failed: Vec::new(), what_if: None };
        }
        let nearest = self.nearest(action, facts, universe);
        let reason = match nearest {
            _ if best == 0.0 => Reason::Tie,
            Some(_) => Reason::Failed,
            None => Reason::NoRule,
        };
        let (nearest, failed) = match nearest {
            None => (None, Vec::new()),
            Some((i, near)) => {
                let rule = &self.policy.rules[i];
                let failed = near.failed.iter().map(|&j| self.show_literal(rule, j, &near.phi, universe));
                let clashes = near.clashes.iter().map(|&o| {
                    let name = universe.name(o);
                    format!("{name} \\= {name}")
                });
                // A body that holds derives nothing where its choices fall on others.
                let choices: &[Choice] =
                    if near.failed.is_empty() && near.clashes.is_empty() { &rule.choices } else { &[] };
                let passed_over = choices.iter().map(|c| self.show_choice(c, &near.phi, universe));
                let failed = clashes.chain(failed).chain(passed_over).collect();
                (Some(self.describe(i, &near.phi, facts, universe)), failed)
            }
        };
        WhyNot { action: text, value: 0.0, reason, nearest, failed, what_if: None }
    }

    fn decider(&self, universe: &Universe) -> Decider {
        Decider::new(self.policy, self.alphabet, universe)
    }

    fn show(&self, action: &GroundAction, universe: &Universe) -> String {
        universe.show_action(self.alphabet, action.action, &action.args)
    }

    /// The rules for an action that can fire, by their place in the policy.
    fn rules_for(&self, action: Action) -> impl Iterator<Item = usize> + '_ {
        let speaks = move |r: &Rule| r.action == action && !r.abstains();
        (0..self.policy.rules.len()).filter(move |&i| speaks(&self.policy.rules[i]))
    }

    /// The strongest rule that derives an action, and how; `None` where no rule does.
    pub fn fired(&self, action: &GroundAction, facts: &Facts, universe: &Universe) -> Option<Match> {
        let (i, phi) = self.derivation(action, facts, universe)?;
        let mut fired = self.describe(i, &phi, facts, universe);
        fired.because = self.because(&self.policy.rules[i].body, &phi, facts, universe);
        Some(fired)
    }

    /// Why the derived facts of a body hold.
    fn because(
        &self,
        body: &[Literal],
        phi: &[Option<Object>],
        facts: &Facts,
        universe: &Universe,
    ) -> Vec<String> {
        /// The most facts that explain one.
        const MOST: usize = 12;
        let Some(program) = &self.alphabet.program else { return Vec::new() };
        let is_explained = |l: &&Literal| {
            l.positive && program.defines(l.pred) && self.alphabet.comparison(l.pred).is_none()
        };
        let derived: Vec<&Literal> = body.iter().filter(is_explained).collect();
        if derived.is_empty() {
            return Vec::new();
        }
        let Some(mut explainer) = derive::Explainer::new(program, facts, universe) else { return Vec::new() };
        let mut lines = Vec::new();
        for literal in derived {
            let Ground::Objects(args) = ground(literal, phi, universe) else { continue };
            let Some(why) = explainer.why(literal.pred, &args, MOST) else { continue };
            let text = why.display(self.alphabet, universe).to_string();
            lines.extend(text.lines().map(str::to_string));
        }
        lines
    }

    /// The strongest rule that derives an action, and how.
    fn derivation(&self, action: &GroundAction, facts: &Facts, universe: &Universe) -> Option<(usize, Phi)> {
        let mut order: Vec<usize> = self.rules_for(action.action).collect();
        order.sort_by(|&i, &j| self.policy.rules[j].weight.total_cmp(&self.policy.rules[i].weight));
        order.into_iter().find_map(|i| {
            let rule = &self.policy.rules[i];
            if !rule.choices.is_empty() {
                let all = substitutions(rule, facts, self.alphabet, universe, self.legal);
                let of_action = |phi: &Phi| phi.iter().zip(&action.args).all(|(b, o)| *b == Some(*o));
                return all.into_iter().find(of_action).map(|phi| (i, phi));
            }
            let mut phi = bind(rule, &action.args);
            let head: Vec<Var> = (0..action.args.len() as u8).map(Var).collect();
            let mut found = None;
            let _ = Query::new(&rule.body, &head, universe).solve(facts, universe, &mut phi, &mut |phi| {
                found = Some(phi.to_vec());
                ControlFlow::Break(())
            });
            found.map(|phi| (i, phi))
        })
    }

    fn describe(&self, i: usize, phi: &[Option<Object>], facts: &Facts, universe: &Universe) -> Match {
        let rule = &self.policy.rules[i];
        let arity = self.alphabet.action(rule.action).args.len();
        // The text shows canonical names: head variables first, then the body's in order of appearance.
        let mut order: Vec<Var> = (0..arity as u8).map(Var).collect();
        for v in rule.body.iter().flat_map(Literal::vars) {
            if !order.contains(&v) {
                order.push(v);
            }
        }
        let literals = (0..rule.body.len()).map(|j| self.show_literal(rule, j, phi, universe));
        let choices = rule.choices.iter().map(|choice| self.show_choice(choice, phi, universe));
        Match {
            rule: i + 1,
            text: rule.display(self.alphabet).to_string(),
            substitution: order
                .iter()
                .enumerate()
                .map(|(at, v)| (Var(at as u8).to_string(), name(phi[v.0 as usize], universe)))
                .collect(),
            body: literals.chain(choices).collect(),
            readings: self.readings(rule, phi, facts, universe),
            because: Vec::new(),
        }
    }

    fn show_literal(&self, rule: &Rule, j: usize, phi: &[Option<Object>], universe: &Universe) -> String {
        let literal = &rule.body[j];
        let arg = |a: &Arg| match a {
            Arg::Var(v) => name(phi[v.0 as usize], universe),
            Arg::Const(c) => c.to_string(),
        };
        let args: Vec<String> = literal.args.iter().map(arg).collect();
        if let Some(comparison) = self.alphabet.comparison(literal.pred) {
            let sign = if literal.positive { "" } else { "\\+ " };
            return format!("{sign}{}", comparison.display(&args, self.alphabet));
        }
        let name = Quoted(&self.alphabet.predicate(literal.pred).name);
        let atom = if args.is_empty() { name.to_string() } else { format!("{name}({})", args.join(", ")) };
        if literal.positive { atom } else { format!("\\+ {atom}") }
    }
}

/// The objects of a list of arguments; `None` where one stands for nothing.
fn objects(args: &[Arg], phi: &[Option<Object>], universe: &Universe) -> Option<Vec<Object>> {
    let object = |arg: &Arg| match arg {
        Arg::Var(v) => phi[v.0 as usize],
        Arg::Const(c) => universe.find(c),
    };
    args.iter().map(object).collect()
}

fn name(o: Option<Object>, universe: &Universe) -> String {
    o.map_or_else(|| "_".to_string(), |o| universe.name(o).to_string())
}

/// A binding for all variables of a rule, with those of the head bound.
fn bind(rule: &Rule, args: &[Object]) -> Phi {
    let in_body = rule.body.iter().flat_map(Literal::vars).map(|v| v.0 as usize + 1).max().unwrap_or(0);
    let mut phi = vec![None; in_body.max(args.len())];
    args.iter().enumerate().for_each(|(v, &o)| phi[v] = Some(o));
    phi
}

/// The variables of a body that the head leaves open, in order, each with the objects of the types at which the body uses it. An
/// atom about an object of another type never holds, so that only these are worth trying.
fn open_variables(
    rule: &Rule,
    phi: &[Option<Object>],
    alphabet: &Alphabet,
    universe: &Universe,
) -> Vec<(usize, Vec<Object>)> {
    let named = named(rule, universe);
    let used = |v: usize| {
        rule.body.iter().flat_map(move |l| {
            let types = &alphabet.predicate(l.pred).args;
            l.args.iter().zip(types).filter(move |(a, _)| **a == Arg::Var(Var(v as u8))).map(|(_, &t)| t)
        })
    };
    let fits = |o: Object, v: usize| used(v).all(|t| alphabet.types.is_subtype(universe.type_of(o), t));
    let open = (0..phi.len()).filter(|&v| phi[v].is_none() && used(v).next().is_some());
    open.map(|v| (v, universe.objects().filter(|&o| !named.contains(&o) && fits(o, v)).collect())).collect()
}

/// The objects that a body mentions by name: no variable of the rule stands for them.
fn named(rule: &Rule, universe: &Universe) -> Vec<Object> {
    let args = rule.body.iter().flat_map(|l| &l.args).chain(rule.choices.iter().flat_map(|c| &c.args));
    let constants = args.filter_map(|a| match a {
        Arg::Const(c) => universe.find(c),
        Arg::Var(_) => None,
    });
    constants.collect()
}

/// An atom under phi.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ground {
    /// It still has a variable that stands for nothing.
    Open,
    /// It is about an object that this universe lacks: it is false.
    Absent,
    /// Its arguments.
    Objects(Vec<Object>),
}

fn ground(literal: &Literal, phi: &[Option<Object>], universe: &Universe) -> Ground {
    let mut args = Vec::with_capacity(literal.args.len());
    let mut open = false;
    for a in &literal.args {
        match a {
            Arg::Var(v) => match phi[v.0 as usize] {
                Some(o) => args.push(o),
                None => open = true,
            },
            Arg::Const(c) => match universe.find(c) {
                Some(o) => args.push(o),
                None => return Ground::Absent,
            },
        }
    }
    if open { Ground::Open } else { Ground::Objects(args) }
}

/// The ground action of this text in a universe: its objects must exist there and fit the action's types.
pub fn find_action(
    alphabet: &Alphabet,
    universe: &Universe,
    action: Action,
    names: &[Constant],
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
            return Err(format!(
                "`{name}` occurs twice: the arguments of an action are distinct objects, unless the domain declares it with equal ones"
            ));
        }
        args.push(o);
    }
    Ok(GroundAction { action, args })
}
