//! A policy to act with, to look into and to take elsewhere.

use std::fmt;
use std::sync::Arc;

use derrl_env::{Env, Exhaustive, Extent, Options, Rng, Shielded, World, list_legal, observe};
use derrl_learn::{
    Actor, Explainer, Explanation, NoMonitor, Progress, Report, Score, Subject, WhyNot, constants, cores,
    evaluate, find_action,
};
use derrl_logic::syntax::Indicator;
use derrl_logic::{Alphabet, Constant, Facts, GroundAction, MOST_WORK, Scope, Source, Universe, bounded};
use derrl_report::English;

use crate::error::Error;
use crate::extent;
use crate::state::State;

/// Rules that act.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    alphabet: Arc<Alphabet>,
    rules: derrl_logic::Policy,
    /// What it was learned on, where that is known.
    scope: Option<Scope>,
}

/// An action in names. It reads `pick(ball1)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// The names of its objects.
    pub args: Vec<String>,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.args.is_empty() { Ok(()) } else { write!(f, "({})", self.args.join(", ")) }
    }
}

/// What [`Policy::verify`] found: [`Report::verdict`] says whether the policy always reaches the goal.
pub type Proof = Report;

/// A state as the engine sees it.
struct Seen {
    env: Box<dyn Env>,
    facts: Facts,
    legal: Option<Vec<GroundAction>>,
}

impl Policy {
    /// The policy that a text describes, for a world.
    pub fn parse(world: &World, text: &str) -> Result<Policy, Error> {
        let source = Source::new("policy.pl", text);
        let (rules, alphabet) = derrl_logic::Policy::read(&source, &world.alphabet_for(&source)?)?;
        Ok(Policy { alphabet, rules, scope: Scope::read(&source)? })
    }

    /// The policy of these rules over this alphabet.
    pub fn new(rules: derrl_logic::Policy, alphabet: &Arc<Alphabet>) -> Policy {
        Policy { alphabet: Arc::clone(alphabet), rules, scope: None }
    }

    /// What it was learned on, where its text said so. It is written as the first lines of the files of policies.
    pub fn scope(&self) -> Option<&Scope> {
        self.scope.as_ref()
    }

    /// The text of its file: what it was learned on, and its rules.
    pub fn file(&self) -> String {
        self.scope.as_ref().map_or_else(String::new, Scope::to_string) + &self.to_string()
    }

    /// Its rules, as the language has them.
    pub fn rules(&self) -> &derrl_logic::Policy {
        &self.rules
    }

    /// Each of its rules as an English sentence, in the words of a world ([`World::wording`]).
    pub fn in_english(&self, words: &str) -> Vec<String> {
        let english = English::new(&self.alphabet, words);
        self.rules.rules.iter().map(|rule| english.rule(rule)).collect()
    }

    /// What it speaks of.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// The action that it takes in a state; of several as good, one by chance.
    pub fn act(&self, state: &State, rng: &mut Rng) -> Result<Action, Error> {
        let env = self.env(state)?;
        let act = || Actor::new(&self.rules, &self.alphabet).act(env.as_ref(), rng);
        let action = bounded(MOST_WORK, act)?;
        Ok(self.show(&action, env.universe()))
    }

    /// The same, and an error ([`Error::Outside`]) where no rule fires, or where the state lies outside what the policy was learned
    /// on: more objects or fewer, other predicates, numbers out of range. Without a [`Policy::scope`] only the first is known.
    pub fn act_strictly(&self, state: &State, rng: &mut Rng) -> Result<Action, Error> {
        let seen = self.see(state)?;
        let universe = seen.env.universe();
        let scope = self.scope.as_ref();
        let mut outside = scope.map_or_else(Vec::new, |s| s.outside(&seen.facts, &self.alphabet, universe));
        let decider = derrl_logic::Decider::new(&self.rules, &self.alphabet, universe);
        let decide = || decider.decide_among(&seen.facts, &self.alphabet, universe, seen.legal.as_deref());
        if bounded(MOST_WORK, decide)?.value == 0.0 {
            outside.push("no rule fires".to_string());
        }
        if outside.is_empty() { self.act(state, rng) } else { Err(Error::Outside(outside)) }
    }

    /// All actions that are as good as the one that it would take, in order.
    pub fn best(&self, state: &State) -> Result<Vec<Action>, Error> {
        let seen = self.see(state)?;
        let universe = seen.env.universe();
        let decider = derrl_logic::Decider::new(&self.rules, &self.alphabet, universe);
        let decide = || decider.decide_among(&seen.facts, &self.alphabet, universe, seen.legal.as_deref());
        let ties = bounded(MOST_WORK, decide)?.ties;
        let all = if ties.is_empty() { universe.ground_actions(&self.alphabet) } else { ties };
        Ok(all.iter().map(|a| self.show(a, universe)).collect())
    }

    /// Why it acts as it does in a state: the rule that fires, the substitution, the facts.
    pub fn explain(&self, state: &State, rng: &mut Rng) -> Result<Explanation, Error> {
        let seen = self.see(state)?;
        let explainer = Explainer::new(&self.rules, &self.alphabet);
        let explainer = explainer.among(seen.legal.as_deref()).learned_on(self.scope.as_ref());
        let explained = bounded(MOST_WORK, || explainer.explain(&seen.facts, seen.env.universe(), rng, &[]))?;
        let nothing = || Error::Action("there is nothing to do in this state".to_string());
        explained.map(|(_, explanation)| explanation).ok_or_else(nothing)
    }

    /// Why it does not take an action in a state.
    pub fn why_not(&self, state: &State, action: &str, args: &[&str]) -> Result<WhyNot, Error> {
        let seen = self.see(state)?;
        let universe = seen.env.universe();
        let names: Vec<Constant> = args.iter().map(|name| constant(name)).collect();
        let (id, names) = self.alphabet.find_ground(action, &names).ok_or_else(|| {
            let whole = self.alphabet.actions.iter().filter(|a| !a.repeats());
            let known = whole.map(|a| Indicator(&a.name, a.arity()).to_string());
            let known: Vec<String> = known.collect();
            let wanted = format!("{action}/{}", args.len());
            let help = derrl_env::nearest(&wanted, known.iter().map(String::as_str));
            Error::Action(format!("there is no action `{wanted}`{help}"))
        })?;
        let asked = find_action(&self.alphabet, universe, id, &names).map_err(Error::Action)?;
        let decider = derrl_logic::Decider::new(&self.rules, &self.alphabet, universe);
        let legal = seen.legal.as_deref();
        let best = decider.decide_among(&seen.facts, &self.alphabet, universe, legal).value;
        Ok(Explainer::new(&self.rules, &self.alphabet).among(legal).why_not(
            &asked,
            best,
            &seen.facts,
            universe,
        ))
    }

    /// Its score on a task, over seeded episodes: the same instances for every policy.
    pub fn score(&self, world: &World, task: &str, episodes: usize, seed: u64) -> Result<Score, Error> {
        let mut env = world.make(&self.alphabet, task, &Options::default())?;
        Ok(evaluate(&self.rules, &self.alphabet, env.as_mut(), episodes, seed)?)
    }

    /// The instances that it and other policies are looked at in: up to a size or, without one, as many as take about a second. An
    /// error where they are too many, or where the world does not offer its states.
    pub fn extent(
        &self,
        world: &World,
        max_objects: Option<usize>,
        others: &[&Policy],
    ) -> Result<Extent, Error> {
        let policies = std::iter::once(self).chain(others.iter().copied());
        let named = constants(policies.map(Policy::rules));
        let of = |largest| Extent { largest, named: named.clone(), ..Extent::default() };
        let Exhaustive::Sizes { range, .. } = world.exhaustive() else {
            // The reason why not.
            return world.space(&self.alphabet, &of(0)).map(|_| of(0)).map_err(Error::from);
        };
        if world.is_chosen() && max_objects.is_none() {
            // All that somebody chose: their states are counted as they are walked.
            return Ok(of(range.1));
        }
        let largest = match max_objects {
            Some(largest) => largest,
            None => extent::quick(world, &self.alphabet, *range, &of, cores())?,
        };
        let space = world.space(&self.alphabet, &of(largest))?;
        let refused =
            |about: String| Error::TooLarge(format!("that would take {about}; choose a smaller size"));
        extent::affordable(space.as_ref(), cores()).map_err(refused)?;
        Ok(of(largest))
    }

    /// Whether it reaches the goal from every instance up to a size, however ties are broken. An error where the world does not offer
    /// its states.
    pub fn verify(&self, world: &World, max_objects: usize) -> Result<Proof, Error> {
        let extent = self.extent(world, Some(max_objects), &[])?;
        let subject = Subject { policy: &self.rules, alphabet: &self.alphabet, world, extent };
        derrl_learn::verify(&subject, cores(), Progress::default(), &mut NoMonitor)?.ok_or(Error::Interrupted)
    }

    /// The policy as a program of another language: `prolog`, `problog`, `asp`, `rust`, `python`, ...
    pub fn export(&self, language: &str) -> Result<String, Error> {
        Ok(derrl_export::export(derrl_export::find(language)?, &self.rules, &self.alphabet)?)
    }

    /// The state as an environment, under the shield of the domain.
    fn env(&self, state: &State) -> Result<Box<dyn Env>, Error> {
        let env = state.env(&self.alphabet)?;
        if self.alphabet.shield.is_empty() {
            return Ok(Box::new(env));
        }
        Ok(Box::new(Shielded::new(env, &self.alphabet, &Arc::default())))
    }

    fn see(&self, state: &State) -> Result<Seen, Error> {
        let env = self.env(state)?;
        let mut facts = Facts::new(&self.alphabet);
        observe(env.as_ref(), &mut facts);
        let mut legal = Vec::new();
        let legal = list_legal(env.as_ref(), &self.alphabet, &facts, &mut legal).then_some(legal);
        Ok(Seen { env, facts, legal })
    }

    pub(crate) fn show(&self, action: &GroundAction, universe: &Universe) -> Action {
        let text = |c: &Constant| match c {
            Constant::Int(n) => n.to_string(),
            Constant::Name(name) => name.to_string(),
        };
        let decl = self.alphabet.action(action.action);
        let args = decl.written(&action.args).into_iter().map(|o| text(universe.name(o))).collect();
        Action { name: decl.name.clone(), args }
    }
}

/// A name as the language has it: an integer where it is written as one.
pub(crate) fn constant(name: &str) -> Constant {
    match name.parse::<i64>() {
        Ok(n) if n.to_string() == name => Constant::Int(n),
        _ => Constant::name(name),
    }
}

/// The text of its rules.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.display(&self.alphabet).fmt(f)
    }
}
