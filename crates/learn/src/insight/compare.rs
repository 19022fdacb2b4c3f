//! Do two policies decide alike? And what can a policy do without? In every state of every instance up to a size.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use derrl_env::{Extent, Family, Next, Size, Space, World, observe_state};
use derrl_logic::{Alphabet, Decider, Facts, GroundAction, Policy, Universe};
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::error::Error;
use crate::insight::choices::{Choices, family_choices};
use crate::insight::explain::{Explainer, Match};
use crate::insight::verify::{Monitor, chunks};
use crate::parallel::in_chunks;
use crate::training::prune::{Drop, Dropped};

/// A state in which two policies decide differently.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The instance in words.
    pub instance: String,
    /// What holds.
    pub facts: Vec<String>,
    /// What the first policy does.
    pub first: Side,
    /// What the second policy does.
    pub second: Side,
}

/// What a policy does in a state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The best actions; all actions where no rule fires.
    pub actions: Vec<String>,
    /// Whether a rule fires.
    pub fires: bool,
    /// The rules that derive those actions, each once.
    pub rules: Vec<Match>,
}

/// What came of comparing two policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// States that were compared; states alike but for names count once.
    pub states: u64,
    /// A state of the smallest size in which they differ.
    pub difference: Option<Difference>,
}

/// All states of all instances of a world up to a size.
pub struct Everywhere<'a> {
    alphabet: &'a Arc<Alphabet>,
    space: Box<dyn Space>,
    threads: usize,
}

/// Where a state is: size, family, code.
type Place = (usize, u64, u128);

impl<'a> Everywhere<'a> {
    /// All states of a world up to an extent. Objects that a policy mentions must be among those named there.
    pub fn new(
        alphabet: &'a Arc<Alphabet>,
        world: &World,
        extent: &Extent,
        threads: usize,
    ) -> Result<Everywhere<'a>, Error> {
        Ok(Everywhere { alphabet, space: world.space(alphabet, extent)?, threads })
    }

    /// The instances.
    pub fn space(&self) -> &dyn Space {
        self.space.as_ref()
    }

    /// Compares two policies in every state, from the smallest size up, until they differ. `None` if stopped.
    pub fn compare(&self, first: &Policy, second: &Policy, monitor: &mut dyn Monitor) -> Option<Comparison> {
        let (states, place) = self.search(first, second, monitor)?;
        Some(Comparison { states, difference: place.map(|p| self.describe(first, second, p)) })
    }

    /// How many states were compared, and the first in which the policies differ. `None` if stopped.
    fn search(
        &self,
        first: &Policy,
        second: &Policy,
        monitor: &mut dyn Monitor,
    ) -> Option<(u64, Option<Place>)> {
        let mut states = 0;
        for (s, size) in self.space.sizes().iter().enumerate() {
            let (seen, found) = self.search_size(s, size, first, second, monitor)?;
            states += seen;
            if found.is_some() {
                return Some((states, found));
            }
        }
        Some((states, None))
    }

    fn search_size(
        &self,
        s: usize,
        size: &Size,
        first: &Policy,
        second: &Policy,
        monitor: &mut dyn Monitor,
    ) -> Option<(u64, Option<Place>)> {
        let todo = chunks(size);
        let differ = AtomicBool::new(false);
        let monitor = std::cell::RefCell::new(monitor);
        let (mut walked, mut states, mut stopped) = (0, 0, false);
        let mut found: Option<(u64, u128)> = None;
        in_chunks(
            &todo,
            self.threads,
            || [Deciding::new(first, self.alphabet), Deciding::new(second, self.alphabet)],
            |sides, families: &Range<u64>, stop| {
                let mut seen = 0;
                for i in families.clone() {
                    // Chunks are begun in order: one that comes after a difference has nothing to add.
                    if seen == 0 && differ.load(Ordering::Relaxed) {
                        break;
                    }
                    let family = self.space.family(s, i);
                    let mut here = None;
                    each_state(family.as_ref(), self.alphabet, &mut |state| {
                        if here.is_none() && !stop.load(Ordering::Relaxed) {
                            seen += 1;
                            let [a, b] = sides;
                            if a.decide(family.as_ref(), state) != b.decide(family.as_ref(), state) {
                                here = Some((i, state));
                            }
                        }
                    });
                    if here.is_some() {
                        differ.store(true, Ordering::Relaxed);
                        return Some((seen, here));
                    }
                    if stop.load(Ordering::Relaxed) {
                        return None;
                    }
                }
                Some((seen, None))
            },
            |i, (seen, here)| {
                states += seen;
                walked += todo[i].end - todo[i].start;
                if let Some(here) = here
                    && found.is_none_or(|f| here.0 < f.0)
                {
                    found = Some(here);
                }
                monitor.borrow_mut().walked(size, walked);
            },
            || {
                stopped |= monitor.borrow_mut().interrupted();
                stopped
            },
        );
        if stopped && found.is_none() && walked < size.families {
            return None;
        }
        Some((states, found.map(|(i, state)| (s, i, state))))
    }

    fn describe(&self, first: &Policy, second: &Policy, (s, i, state): Place) -> Difference {
        let family = self.space.family(s, i);
        let (alphabet, universe) = (self.alphabet.as_ref(), family.universe());
        let mut facts = Facts::new(alphabet);
        observe_state(family.as_ref(), state, &mut facts);
        let all = family_choices(family.as_ref(), state, alphabet);
        let legal = all.is_legal.then_some(all.actions.as_slice());
        let side = |policy: &Policy| {
            let decider = Decider::new(policy, alphabet, universe);
            let decision = decider.decide_among(&facts, alphabet, universe, legal);
            let fires = decision.value > 0.0;
            let actions = if decision.ties.is_empty() { all.actions.clone() } else { decision.ties };
            let explainer = Explainer::new(policy, alphabet);
            let mut rules: Vec<Match> = Vec::new();
            for m in actions.iter().filter_map(|a| explainer.fired(a, &facts, universe)) {
                if !rules.iter().any(|known| known.rule == m.rule) {
                    rules.push(m);
                }
            }
            let show = |a: &GroundAction| universe.show_action(alphabet, a.action, &a.args);
            Side { actions: actions.iter().map(show).collect(), fires, rules }
        };
        Difference {
            instance: family.title(),
            facts: facts.show(alphabet, universe),
            first: side(first),
            second: side(second),
        }
    }

    /// The policy without every rule and atom whose removal, one after another, changes no decision anywhere: weaker rules
    /// first, then the atoms of each rule from the last to the first, until nothing more can go. `None` if stopped.
    ///
    /// Values stay as they are. Nothing is removed that would leave a rule without a body or a variable of a negated atom
    /// without anything to say what it stands for.
    pub fn prune(&self, policy: &Policy, monitor: &mut dyn Monitor) -> Option<Pruned> {
        // States that have told policies apart before are likely to do so again.
        let mut witnesses: Vec<Place> = Vec::new();
        let mut states = 0;
        let mut same = |candidate: &Policy| -> Option<bool> {
            if monitor.interrupted() {
                return None;
            }
            if witnesses.iter().rev().any(|&place| self.differ_at(policy, candidate, place)) {
                return Some(false);
            }
            let (searched, place) = self.search(policy, candidate, monitor)?;
            states = states.max(searched);
            witnesses.extend(place);
            Some(place.is_none())
        };
        let mut removed = Vec::new();
        let mut note = |dropped: Dropped<'_>| {
            removed.push(match dropped {
                Dropped::Rule(rule) => rule.display(self.alphabet).to_string(),
                Dropped::Atom(atom, rule) => {
                    format!("{} in {}", atom.display(self.alphabet), rule.display(self.alphabet))
                }
            });
        };
        let mut drop = Drop { alphabet: self.alphabet, frozen: &|_| false, dropped: &mut note };
        let policy = drop.one_at_a_time(policy.clone(), &mut same)?;
        Some(Pruned { policy, removed, states })
    }

    fn differ_at(&self, first: &Policy, second: &Policy, (s, i, state): Place) -> bool {
        let family = self.space.family(s, i);
        let mut sides = [first, second].map(|p| Deciding::new(p, self.alphabet));
        let [a, b] = &mut sides;
        a.decide(family.as_ref(), state) != b.decide(family.as_ref(), state)
    }
}

/// A policy without what it can do without.
#[derive(Clone, Debug, PartialEq)]
pub struct Pruned {
    /// The policy.
    pub policy: Policy,
    /// The rules and atoms that went, in that order.
    pub removed: Vec<String>,
    /// In how many states it was made sure that nothing changes; 0 if nothing could go.
    pub states: u64,
}

/// A policy that decides in states of families.
struct Deciding<'a> {
    policy: &'a Policy,
    alphabet: &'a Alphabet,
    compiled: Option<(Arc<Universe>, Decider, Vec<GroundAction>)>,
    facts: Facts,
}

impl<'a> Deciding<'a> {
    fn new(policy: &'a Policy, alphabet: &'a Alphabet) -> Deciding<'a> {
        Deciding { policy, alphabet, compiled: None, facts: Facts::new(alphabet) }
    }

    /// The best actions: all actions where no rule fires.
    fn decide(&mut self, family: &dyn Family, state: u128) -> Vec<GroundAction> {
        let universe = family.universe();
        let compiled = match &mut self.compiled {
            Some(known) if Arc::ptr_eq(&known.0, universe) => known,
            other => {
                let mut all = universe.ground_actions(self.alphabet);
                all.sort();
                other.insert((Arc::clone(universe), Decider::new(self.policy, self.alphabet, universe), all))
            }
        };
        observe_state(family, state, &mut self.facts);
        let mut listed = Vec::new();
        let legal = family.legal(state, &mut listed).then_some(listed.as_slice());
        let decision = compiled.1.decide_among(&self.facts, self.alphabet, universe, legal);
        match (decision.ties.is_empty(), legal) {
            (false, _) => decision.ties,
            (true, Some(_)) => listed,
            (true, None) => compiled.2.clone(),
        }
    }
}

/// Calls `visit` with every state in which a decision can be asked for, each once.
fn each_state(family: &dyn Family, alphabet: &Alphabet, visit: &mut dyn FnMut(u128)) {
    if family.is_closed() {
        return family.starts(&mut |state, _| visit(state));
    }
    let mut choices = Choices::default();
    let mut seen = FxHashSet::default();
    let mut queue = Vec::new();
    family.starts(&mut |state, _| {
        if seen.insert(state) {
            queue.push(state);
        }
    });
    let mut at = 0;
    while let Some(&state) = queue.get(at) {
        at += 1;
        visit(state);
        choices.of(family, state, alphabet);
        for a in &choices.actions {
            if let Next::State(next) = family.step(state, a.action, &a.args)
                && seen.insert(next)
            {
                queue.push(next);
            }
        }
    }
}
