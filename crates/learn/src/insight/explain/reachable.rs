//! The states that can be reached in an instance: what would have to change, told only by states that can be.
//!
//! A change of single facts may lead to a state that no world has. Here states are walked to, a few hundred at the most, and the
//! answer is the one of them that differs least from the present state among those in which the policy chooses the action.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use derrl_env::{Cost, Env, Rng, Scene, Status, choices, list_legal, observe};
use derrl_logic::{Alphabet, Facts, GroundAction, Object, Pred, Role, Universe};

use super::{Change, Explainer, Found, Look, Standing, WhatIf};

/// States that are kept, at the most, and steps taken to find them: by worlds that tell states apart by a number, and by others.
const MOST_STATES: usize = 600;
const MOST_STEPS: usize = 60_000;
const FEW_STEPS: usize = 4_000;

type Atom = (Pred, Vec<Object>);

/// States of an instance in which something is left to decide, in the order in which they were met.
pub(super) struct Reachable {
    universe: Arc<Universe>,
    states: Vec<Met>,
    /// Whether these are all.
    is_complete: bool,
}

struct Met {
    facts: Facts,
    /// The facts that change, in order.
    atoms: Vec<Atom>,
    scene: Scene,
    legal: Option<Vec<GroundAction>>,
    /// The best actions, if a rule derives any.
    ties: Vec<GroundAction>,
}

impl Reachable {
    /// The states that can be reached from the start of the episode, where the world is quick, has one agent and no numbers. The
    /// world is at the start again afterwards.
    pub fn explore(explainer: &Explainer<'_>, env: &mut dyn Env) -> Option<Reachable> {
        let can_go_back = env.code().is_some() || env.copy().is_some();
        if !can_go_back || env.agents() > 1 || !matches!(env.cost(), Cost::Cheap) {
            return None;
        }
        let universe = Arc::clone(env.universe());
        let mut found = Reachable { universe, states: Vec::new(), is_complete: true };
        let mut left = if env.code().is_some() { MOST_STEPS } else { FEW_STEPS };
        let mut known: HashSet<Vec<Atom>> = HashSet::new();
        let mut codes: HashSet<u128> = HashSet::new();
        let mut paths = VecDeque::from([Vec::<GroundAction>::new()]);
        while let Some(path) = paths.pop_front() {
            if left < path.len() || found.states.len() >= MOST_STATES || env.fault().is_some() {
                found.is_complete = false;
                break;
            }
            left -= path.len();
            if !walk(env, &path) || !Arc::ptr_eq(&found.universe, env.universe()) {
                continue;
            }
            // Most paths lead to where another one led: a number tells that at once.
            if env.code().is_some_and(|code| !codes.insert(code)) {
                continue;
            }
            let Some(met) = Met::here(explainer, env) else {
                found.states.clear();
                break;
            };
            if known.insert(met.atoms.clone()) {
                let next = |action: &GroundAction| [path.as_slice(), std::slice::from_ref(action)].concat();
                paths.extend(choices(env, explainer.alphabet).iter().map(next));
                found.states.push(met);
            }
        }
        env.restart();
        (found.states.len() > 1).then_some(found)
    }

    /// What would have to change for an action, in a state, told by the states that can be. `None` where none of those that are known
    /// does it. `near`: [`Reachable::by_distance`] of that state.
    pub fn what_if(
        &self,
        explainer: &Explainer<'_>,
        action: &GroundAction,
        near: &[(usize, usize)],
    ) -> Option<WhatIf> {
        let (&(distance, here), others) = near.split_first()?;
        let here = (distance == 0).then(|| &self.states[here])?;
        let now = standing(&here.ties, action);
        if matches!(now, Standing::Alone | Standing::Tie) {
            return None;
        }
        let first = |wanted: &dyn Fn(Standing) -> bool| {
            let met = others.iter().map(|(_, at)| &self.states[*at]);
            met.into_iter().find(|met| wanted(standing(&met.ties, action)))
        };
        let change = |met| Found::Found(self.change(explainer, action, here, met));
        let (chosen, alone) = match first(&|s| matches!(s, Standing::Alone | Standing::Tie)) {
            Some(chosen) => (change(chosen), change(first(&|s| s == Standing::Alone).unwrap_or(chosen))),
            None if self.is_complete => (Found::Unreachable, Found::Unreachable),
            None => return None,
        };
        let action = explainer.show(action, &self.universe);
        Some(WhatIf { action, now, chosen, alone, silent: None, numbers: Vec::new() })
    }

    /// All states by how many facts tell them apart from this one: the number of facts, and the place of the state.
    pub fn by_distance(&self, facts: &Facts, alphabet: &Alphabet) -> Vec<(usize, usize)> {
        let atoms = changing(facts, alphabet);
        let mut all: Vec<(usize, usize)> =
            self.states.iter().enumerate().map(|(i, met)| (apart(&atoms, &met.atoms), i)).collect();
        all.sort_unstable();
        all
    }

    fn change(&self, explainer: &Explainer<'_>, action: &GroundAction, here: &Met, met: &Met) -> Change {
        let (alphabet, universe) = (explainer.alphabet, &*self.universe);
        let show = |(pred, args): &Atom| universe.show(&alphabet.predicate(*pred).name, args);
        let only =
            |a: &Met, b: &Met| a.atoms.iter().filter(|atom| !b.atoms.contains(atom)).map(show).collect();
        let others = met.ties.iter().filter(|a| *a != action);
        Change {
            removed: only(here, met),
            added: only(met, here),
            standing: standing(&met.ties, action),
            fired: explainer.among(met.legal.as_deref()).fired(action, &met.facts, universe),
            ties: others.map(|a| explainer.show(a, universe)).collect(),
            breaks: Vec::new(),
            look: Some(Look { scene: met.scene.clone(), facts: met.facts.show(alphabet, universe) }),
        }
    }
}

impl Met {
    /// The state in which a world is; none where it has numbers, of which states hardly ever come again.
    fn here(explainer: &Explainer<'_>, env: &dyn Env) -> Option<Met> {
        let alphabet = explainer.alphabet;
        let mut facts = Facts::new(alphabet);
        observe(env, &mut facts);
        if facts.all_numbers().next().is_some() {
            return None;
        }
        let mut legal = Vec::new();
        let legal = list_legal(env, alphabet, &facts, &mut legal).then_some(legal);
        let decider = explainer.decider(env.universe());
        let decision = decider.decide_among(&facts, alphabet, env.universe(), legal.as_deref());
        let ties = if decision.value > 0.0 { decision.ties } else { Vec::new() };
        Some(Met { atoms: changing(&facts, alphabet), facts, scene: env.scene(), legal, ties })
    }
}

/// Takes a world along a path from its start. Returns whether the episode goes on.
fn walk(env: &mut dyn Env, path: &[GroundAction]) -> bool {
    env.restart();
    let mut rng = Rng::new(0, 0);
    path.iter().all(|action| env.step(action.action, &action.args, &mut rng).status == Status::Running)
}

fn changing(facts: &Facts, alphabet: &Alphabet) -> Vec<Atom> {
    let is_state = |pred: Pred| alphabet.predicate(pred).role == Role::State;
    let mut atoms: Vec<Atom> =
        facts.iter().filter(|(pred, _)| is_state(*pred)).map(|(pred, args)| (pred, args.to_vec())).collect();
    atoms.sort();
    atoms
}

/// How many atoms are in one list only. Both are in order.
fn apart(a: &[Atom], b: &[Atom]) -> usize {
    let shared = a.iter().filter(|atom| b.binary_search(atom).is_ok()).count();
    a.len() + b.len() - 2 * shared
}

fn standing(ties: &[GroundAction], action: &GroundAction) -> Standing {
    match ties {
        [] => Standing::AnyAction,
        [only] if only == action => Standing::Alone,
        all if all.contains(action) => Standing::Tie,
        _ => Standing::Beaten,
    }
}
