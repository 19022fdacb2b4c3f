//! One family of instances, walked with every way of breaking ties.
//!
//! From every start, depth first. A state is left when all that can follow is known: it is *good* if every way of breaking
//! ties leads to what is asked for, and then L(s) = 1 + max L(s') over its successors s' is the longest run from it, and
//! E(s) = 1 + mean E(s') the expected one if ties are broken at random. It is *bad* if some way does not: a successor is
//! bad, is a dead end, or is still open, which closes a loop. (On a loop, each state is left after the next one or while
//! that is open, so all of them turn out bad.)

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use derrl_env::{Family, Next, observe_state};
use derrl_logic::{Alphabet, Decider, Facts, GroundAction, Policy, Shield, Universe};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Subject;
use super::failure::{Failure, Found, Graph, Node};

/// What was found in some families.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// How many instances there are.
    pub instances: u128,
    /// How many states were looked at.
    pub states: u64,
    /// Instances in which some way of breaking ties does not lead to what is asked for.
    pub failing: u128,
    /// Those of them in which only bad luck fails: ties broken at random lead there with probability 1.
    pub unlucky: u128,
    /// The most actions of a run, over the instances that do not fail.
    pub longest: u32,
    /// Instances that are solved in the fewest actions possible, however ties are broken.
    pub optimal: u128,
    /// Actions beyond the fewest possible, in the worst way of breaking ties, summed over instances that do not fail.
    pub excess: u128,
    /// The same, expected with ties broken at random.
    pub expected_excess: f64,
    /// The instance with the most actions beyond the fewest possible.
    pub worst: Option<Worst>,
    /// A shortest run that fails although ties are broken at random: into a dead end, or into a loop that no choice leaves.
    pub failure: Option<Failure>,
    /// A shortest loop that only an adversary who breaks ties goes round for ever.
    pub unlucky_loop: Option<Failure>,
    /// What a shield does.
    #[serde(default)]
    pub shield: Guarded,
}

/// What a shield does in the states that are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarded {
    /// States in which the policy alone could take a forbidden action.
    pub corrected: u64,
    /// States in which every action is forbidden, so that a forbidden one is taken.
    pub forced: u64,
    /// The first of these: its family and its code.
    pub first: Option<(u64, u128)>,
}

impl Guarded {
    fn add(&mut self, other: &Guarded) {
        self.corrected += other.corrected;
        self.forced += other.forced;
        self.first = self.first.or(other.first);
    }
}

/// An instance in which the policy takes more actions than it needs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worst {
    /// Its family.
    pub family: u64,
    /// The state it starts in.
    pub start: u128,
    /// The most actions the policy takes.
    pub longest: u32,
    /// The fewest actions possible.
    pub shortest: u32,
}

impl Worst {
    /// How many actions are too many.
    pub fn excess(&self) -> u32 {
        self.longest - self.shortest
    }
}

impl Tally {
    /// Adds what was found in families that come after these.
    pub fn add(&mut self, other: Tally) {
        self.instances = self.instances.saturating_add(other.instances);
        self.states += other.states;
        self.failing = self.failing.saturating_add(other.failing);
        self.unlucky = self.unlucky.saturating_add(other.unlucky);
        self.longest = self.longest.max(other.longest);
        self.optimal = self.optimal.saturating_add(other.optimal);
        self.excess = self.excess.saturating_add(other.excess);
        self.expected_excess += other.expected_excess;
        self.shield.add(&other.shield);
        let excess = |w: &Option<Worst>| w.as_ref().map_or(0, Worst::excess);
        if excess(&other.worst) > excess(&self.worst) {
            self.worst = other.worst;
        }
        let length = |f: &Option<Failure>| f.as_ref().map_or(usize::MAX, Failure::length);
        if length(&other.failure) < length(&self.failure) {
            self.failure = other.failure;
        }
        if length(&other.unlucky_loop) < length(&self.unlucky_loop) {
            self.unlucky_loop = other.unlucky_loop;
        }
    }
}

impl Tally {
    /// What a counterexample is made of: a run that fails, else a loop that only an adversary goes round.
    pub(crate) fn shown(&self) -> Option<&Failure> {
        self.failure.as_ref().or(self.unlucky_loop.as_ref())
    }
}

/// Runs of this many actions or more are of no interest.
#[derive(Clone, Copy)]
pub(crate) struct Shorter {
    /// Of runs that fail with random ties.
    pub failure: usize,
    /// Of loops that only an adversary goes round.
    pub unlucky_loop: usize,
}

/// Walks families; keeps its memory from one to the next.
pub(crate) struct Walker<'a> {
    policy: &'a Policy,
    alphabet: &'a Alphabet,
    compiled: Vec<Compiled>,
    facts: Facts,
    index: FxHashMap<u128, u32>,
    states: Vec<Visited>,
    graph: Graph,
    /// What the shield did in the family that is walked.
    guarded: Guarded,
}

/// A policy for the objects of a family.
struct Compiled {
    universe: Arc<Universe>,
    decider: Decider,
    shield: Option<Shield>,
    /// All ground actions, listed where any may be tried.
    all: Option<Arc<[GroundAction]>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Good,
    Bad,
}

struct Visited {
    code: u128,
    mark: Mark,
    /// L(s) of a good state; the place of a bad one in the graph of bad states.
    longest: u32,
    /// E(s) of a good state.
    expected: f64,
}

struct Frame {
    id: u32,
    /// The successors, one for each choice that leads to a state from which there is a way.
    next: Vec<u32>,
    at: usize,
    choices: usize,
    /// Whether a choice leads to what is asked for, or to a good state.
    escapes: bool,
    /// Whether a choice leads to a dead end.
    dead: bool,
    bad: bool,
    longest: u32,
    expected: f64,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(subject: &Subject<'a>) -> Walker<'a> {
        let (policy, alphabet) = (subject.policy, subject.alphabet.as_ref());
        Walker {
            policy,
            alphabet,
            compiled: Vec::new(),
            facts: Facts::new(alphabet),
            index: FxHashMap::default(),
            states: Vec::new(),
            graph: Graph::default(),
            guarded: Guarded::default(),
        }
    }

    /// Walks a family. Failing runs and unlucky loops are looked for only if they can be shorter than their bounds. Nothing if it
    /// was stopped.
    pub(crate) fn walk(
        &mut self,
        number: u64,
        family: &dyn Family,
        bounds: Shorter,
        stop: &AtomicBool,
    ) -> Option<Tally> {
        self.index.clear();
        self.states.clear();
        self.graph.clear();
        self.guarded = Guarded::default();
        let mut tally = Tally::default();
        let mut failing: Vec<(u32, u128)> = Vec::new();
        family.starts(&mut |code, count| {
            let Some(id) = self.visit(family, code, stop) else { return };
            tally.instances = tally.instances.saturating_add(count);
            let state = &self.states[id as usize];
            if state.mark == Mark::Bad {
                tally.failing = tally.failing.saturating_add(count);
                failing.push((state.longest, count));
                return;
            }
            let shortest = family.shortest(code).unwrap_or(state.longest);
            let found = Worst { family: number, start: code, longest: state.longest, shortest };
            tally.longest = tally.longest.max(state.longest);
            tally.excess += u128::from(found.excess()) * count;
            tally.expected_excess += (state.expected - f64::from(shortest)) * count as f64;
            if found.excess() == 0 {
                tally.optimal = tally.optimal.saturating_add(count);
            } else if tally.worst.as_ref().is_none_or(|w| w.excess() < found.excess()) {
                tally.worst = Some(found);
            }
        });
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        tally.states = self.states.len() as u64;
        tally.shield = std::mem::take(&mut self.guarded);
        tally.shield.first = tally.shield.first.map(|(_, code)| (number, code));
        if failing.is_empty() {
            return Some(tally);
        }
        let position = |id: u32| self.states[id as usize].longest;
        let code = |id: u32| self.states[id as usize].code;
        self.graph.close(position);
        let chances = self.graph.chances();
        let lucky = |(node, _): &&(u32, u128)| !chances.unsure[*node as usize];
        tally.unlucky = failing.iter().filter(lucky).fold(0, |sum, f| f.1.saturating_add(sum));
        let starts: Vec<u32> = failing.iter().map(|f| f.0).collect();
        let told = |found: Found| Failure {
            family: number,
            states: found.nodes.iter().map(|&node| code(self.graph.nodes[node as usize].id)).collect(),
            back_to: found.back_to,
            is_shortest: found.is_shortest,
        };
        if tally.unlucky < tally.failing {
            let counts = |node: u32| chances.stuck[node as usize];
            tally.failure = self.graph.shortest_failure(&starts, bounds.failure, counts).map(told);
        } else {
            tally.unlucky_loop =
                self.graph.shortest_failure(&starts, bounds.unlucky_loop, |_| true).map(told);
        }
        Some(tally)
    }

    /// The number of a state, all that follows from it known; none if it was stopped.
    fn visit(&mut self, family: &dyn Family, code: u128, stop: &AtomicBool) -> Option<u32> {
        let start = self.number(code);
        match self.states[start as usize].mark {
            Mark::New => {}
            // A visit that was stopped has left it behind.
            Mark::Open => return None,
            Mark::Good | Mark::Bad => return Some(start),
        }
        let mut stack = vec![self.open(family, start)];
        while let Some(frame) = stack.last_mut() {
            let Some(&next) = frame.next.get(frame.at) else {
                let frame = stack.pop().expect("the loop has a last frame");
                self.leave(frame);
                continue;
            };
            let state = &self.states[next as usize];
            match state.mark {
                Mark::New if stop.load(Ordering::Relaxed) => return None,
                Mark::New => {
                    let opened = self.open(family, next);
                    stack.push(opened);
                    continue; // this successor is looked at again once it is known
                }
                Mark::Open | Mark::Bad => frame.bad = true,
                Mark::Good => {
                    frame.escapes = true;
                    frame.longest = frame.longest.max(state.longest);
                    frame.expected += state.expected;
                }
            }
            frame.at += 1;
        }
        Some(start)
    }

    fn number(&mut self, code: u128) -> u32 {
        let states = &mut self.states;
        *self.index.entry(code).or_insert_with(|| {
            states.push(Visited { code, mark: Mark::New, longest: 0, expected: 0.0 });
            (states.len() - 1) as u32
        })
    }

    /// Opens a state: decides, and follows every choice one step.
    fn open(&mut self, family: &dyn Family, id: u32) -> Frame {
        let code = self.states[id as usize].code;
        self.states[id as usize].mark = Mark::Open;
        let (ties, all) = self.decide(family, code);
        let choices: &[GroundAction] = if ties.is_empty() { &all } else { &ties };
        let mut frame = Frame {
            id,
            next: Vec::with_capacity(choices.len()),
            at: 0,
            choices: choices.len(),
            escapes: false,
            dead: choices.is_empty(),
            bad: choices.is_empty(),
            longest: 0,
            expected: 0.0,
        };
        for choice in choices {
            match family.step(code, choice.action, &choice.args) {
                Next::Reached => frame.escapes = true,
                Next::State(next) if family.shortest(next).is_some() => frame.next.push(self.number(next)),
                Next::State(_) | Next::Lost => {
                    frame.dead = true;
                    frame.bad = true;
                }
            }
        }
        frame
    }

    fn leave(&mut self, frame: Frame) {
        let state = &mut self.states[frame.id as usize];
        if frame.bad {
            state.mark = Mark::Bad;
            state.longest = self.graph.nodes.len() as u32;
            let states = &self.states;
            let bad = frame.next.into_iter().filter(|&n| states[n as usize].mark != Mark::Good);
            self.graph.push(Node { id: frame.id, dead: frame.dead, escapes: frame.escapes, first: 0 }, bad);
        } else {
            state.mark = Mark::Good;
            state.longest = 1 + frame.longest;
            state.expected = 1.0 + frame.expected / frame.choices as f64;
        }
    }

    /// What holds in the state that was decided last, and what follows from it.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The actions that tie for the best in a state (none where no rule fires), and all that may be taken.
    pub(crate) fn decide(
        &mut self,
        family: &dyn Family,
        code: u128,
    ) -> (Vec<GroundAction>, Arc<[GroundAction]>) {
        let universe = family.universe();
        let at = self.compiled.iter().position(|c| Arc::ptr_eq(&c.universe, universe)).unwrap_or_else(|| {
            self.compiled.push(Compiled {
                universe: Arc::clone(universe),
                decider: Decider::new(self.policy, self.alphabet, universe),
                shield: Shield::new(self.alphabet, universe),
                all: None,
            });
            self.compiled.len() - 1
        });
        observe_state(family, code, &mut self.facts);
        let compiled = &mut self.compiled[at];
        let mut listed = Vec::new();
        let legal = family.legal(code, &mut listed).then_some(listed.as_slice());
        let decision = compiled.decider.decide_among(&self.facts, self.alphabet, universe, legal);
        if let Some(shield) = &compiled.shield {
            let forbids = |a: &GroundAction| !shield.forbidding(a, &self.facts, universe).is_empty();
            let taken = legal.filter(|_| decision.ties.is_empty()).unwrap_or(&decision.ties);
            if taken.first().is_some_and(forbids) {
                self.guarded.forced += 1;
                self.guarded.first = self.guarded.first.or(Some((0, code)));
            }
            let alone = compiled.decider.decide_among(&self.facts, self.alphabet, universe, None);
            self.guarded.corrected += u64::from(alone.ties.iter().any(forbids));
        }
        let all = match legal {
            Some(legal) => legal.into(),
            None => {
                Arc::clone(compiled.all.get_or_insert_with(|| universe.ground_actions(self.alphabet).into()))
            }
        };
        (decision.ties, all)
    }
}
