//! A world that speaks in names, as the engine sees it.

use std::sync::Arc;

use derrl_logic::alphabet::{ActionDecl, distinct_of, places_of};
use derrl_logic::{
    Action, Alphabet, Facts as EngineFacts, GroundAction, Measure, Object, Pred, Type, Types, Universe,
};
use rustc_hash::FxHashMap;

use super::said::{MetAtom, hash_number};
use super::{Actions, Atoms, Env, Facts};
use crate::binding::given;
use crate::env::{self, Cost, Outcome, Status};
use crate::fault::Fault;
use crate::rng::Rng;
use crate::scene::{self, Scene};

/// A world that speaks in names, as an environment of the engine.
///
/// After every reset and step the world is asked for its facts (and legal actions) once. The objects of an episode are those
/// that were named in it so far; two episodes with the same objects share one universe.
pub struct Named {
    env: Box<dyn Env>,
    alphabet: Arc<Alphabet>,
    /// The alphabet's ids of the world's own predicates, measures and actions; none where the alphabet leaves them out.
    predicates: Vec<Option<Pred>>,
    measures: Vec<Option<Measure>>,
    actions: Vec<Option<Action>>,
    /// Actions with equal arguments: the world's own action, where its arguments stand, and the alphabet's id.
    repeated: Vec<(u32, Vec<u8>, Action)>,
    /// The types of their arguments: any where the alphabet leaves them out.
    predicate_types: Vec<Vec<Type>>,
    measure_types: Vec<Vec<Type>>,
    action_types: Vec<Vec<Type>>,
    said: Facts,
    allowed: Actions,
    /// The objects named in this episode, by the numbers of their names, in order of their names.
    objects: Vec<(u32, Type)>,
    /// The type of each number of a name: [`UNMET`] where it was not named in this episode.
    types: Vec<Type>,
    /// The object of each number of a name that was named in this episode.
    places: Vec<Object>,
    /// The number of this episode.
    episode: u64,
    facts_met: Vec<Met>,
    numbers_met: Vec<Met>,
    actions_met: Vec<Met>,
    /// The universes made before, by their objects.
    known: FxHashMap<Box<[(u32, Type)]>, Arc<Objects>>,
    current: Arc<Objects>,
    /// How many actions are legal, where the world lists them.
    legal: Option<usize>,
    code: u128,
    /// The generator as it was before the last reset.
    start: Rng,
    steps: usize,
    last: Outcome,
    fault: Option<Fault>,
}

/// What an atom is at every step.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    /// What it adds to the code of a state: nothing where the alphabet leaves it out.
    hash: u128,
    /// 1 if it counts: it is in the alphabet and, being an action, names no object twice.
    counts: u64,
    /// The episode in which it was said last: what was said before in an episode tells nothing new of its objects.
    episode: u64,
}

/// The objects of a universe.
struct Objects {
    universe: Arc<Universe>,
    /// The name of each, as the world says it.
    texts: Vec<Arc<str>>,
    /// Whether there is any ground action.
    can_act: bool,
}

/// Universes, and names and atoms, that are kept at the most: beyond, all are forgotten when the next episode begins.
const MOST_UNIVERSES: usize = 1 << 10;
const MOST_KEPT: usize = 1 << 20;

/// The largest reward: sums and squares of larger ones might not be numbers any more.
const LARGEST_REWARD: f64 = 1e100;

/// Stands for the type of what was not named.
const UNMET: Type = Type(u32::MAX);

impl Named {
    /// The environment of the engine. `own` is the world's own alphabet, `alphabet` the one in use, which may leave out
    /// predicates and actions.
    pub fn new(env: Box<dyn Env>, own: &Alphabet, alphabet: &Arc<Alphabet>) -> Named {
        let predicates: Vec<Option<Pred>> =
            own.predicates.iter().map(|p| given(alphabet, &p.name, p.args.len())).collect();
        let whole = own.actions.iter().filter(|a| !a.repeats());
        let actions: Vec<Option<Action>> =
            whole.clone().map(|a| alphabet.find_action(&a.name, a.arity())).collect();
        let or_any = |types: Option<&Vec<Type>>, arity: usize| {
            types.map_or_else(|| vec![Types::ANY; arity], Clone::clone)
        };
        let predicate_types = predicates.iter().zip(&own.predicates);
        let predicate_types =
            predicate_types.map(|(p, own)| or_any(p.map(|p| &alphabet.predicate(p).args), own.args.len()));
        let measures: Vec<Option<Measure>> =
            own.measures.iter().map(|m| alphabet.find_measure(&m.name, m.args.len())).collect();
        let measure_types = measures.iter().zip(&own.measures);
        let measure_types =
            measure_types.map(|(m, own)| or_any(m.map(|m| &alphabet.measure(m).args), own.args.len()));
        let action_types = actions.iter().zip(whole);
        let action_types =
            action_types.map(|(a, own)| or_any(a.map(|a| &alphabet.action(a).args), own.arity()));
        Named {
            env,
            alphabet: Arc::clone(alphabet),
            predicate_types: predicate_types.collect(),
            measure_types: measure_types.collect(),
            action_types: action_types.collect(),
            predicates,
            measures,
            repeated: repeated(&actions, alphabet),
            actions,
            said: Facts::new(own),
            allowed: Actions::new(own),
            objects: Vec::new(),
            types: Vec::new(),
            places: Vec::new(),
            episode: 0,
            facts_met: Vec::new(),
            numbers_met: Vec::new(),
            actions_met: Vec::new(),
            known: FxHashMap::default(),
            current: Arc::new(Objects {
                universe: Arc::new(Universe::new(Vec::new())),
                texts: Vec::new(),
                can_act: false,
            }),
            legal: None,
            code: 0,
            start: Rng::new(0, 0),
            steps: 0,
            last: Outcome::running(0.0),
            fault: None,
        }
    }

    fn begin(&mut self) {
        self.steps = 0;
        self.episode += 1;
        self.last = Outcome::running(0.0);
        self.fault = None;
        for (number, _) in self.objects.drain(..) {
            self.types[number as usize] = UNMET;
        }
        let kept = self.said.kept() + self.allowed.atoms.kept();
        if self.known.len() > MOST_UNIVERSES || kept > MOST_KEPT {
            self.known.clear();
            self.said.forget();
            self.allowed.atoms.forget();
            self.types.clear();
            self.places.clear();
            self.facts_met.clear();
            self.numbers_met.clear();
            self.actions_met.clear();
        }
        let mut rng = self.start.clone();
        let begun = self.env.reset(&mut rng).map_err(Fault::new).and_then(|()| self.look());
        let able = begun.and_then(|()| match self.legal {
            Some(0) => Err(Fault::new("an episode begins in a state in which no action is legal")),
            _ => Ok(()),
        });
        if let Err(fault) = able {
            self.fail(fault);
        }
    }

    /// Ends the episode: what the world said is void.
    fn fail(&mut self, fault: Fault) {
        self.said.clear();
        self.allowed.atoms.clear();
        self.fault = Some(fault);
    }

    /// Reads the state that the world is in.
    fn look(&mut self) -> Result<(), Fault> {
        self.said.clear();
        self.allowed.atoms.clear();
        self.env.facts(&mut self.said);
        // Facts and actions number names alike.
        std::mem::swap(&mut self.allowed.atoms.names, &mut self.said.atoms.names);
        let lists = self.env.legal(&mut self.allowed);
        if !lists {
            self.allowed.atoms.clear();
        }
        std::mem::swap(&mut self.said.atoms.names, &mut self.allowed.atoms.names);
        if let Some(wrong) = self.said.atoms.wrong.take().or_else(|| self.allowed.atoms.wrong.take()) {
            return Err(Fault::new(wrong));
        }
        let (changed, code, count) = self.meet(lists)?;
        if changed {
            self.current = self.enter();
        }
        (self.code, self.legal) = (code, lists.then_some(count));
        if !lists && !self.current.can_act {
            return Err(Fault::new(
                "no action can be taken: the facts name no objects of the types that actions are about",
            ));
        }
        Ok(())
    }

    /// The facts that the alphabet knows.
    fn known_facts(&self) -> impl Iterator<Item = (Pred, &MetAtom)> {
        self.said.atoms.iter().filter_map(|atom| Some((self.predicates[atom.of as usize]?, atom)))
    }

    /// The numbers that the alphabet knows.
    fn known_numbers(&self) -> impl Iterator<Item = (Measure, &MetAtom, f64)> {
        let all = self.said.numbers.iter().zip(&self.said.values);
        all.filter_map(|(atom, &value)| Some((self.measures[atom.of as usize]?, atom, value)))
    }

    /// The legal actions that the alphabet knows.
    fn legal_actions(&self) -> impl Iterator<Item = (Action, &MetAtom)> {
        let all = self.allowed.atoms.iter();
        all.filter_map(|atom| Some((known_action(&self.actions, &self.repeated, atom)?, atom)))
    }

    fn places(&self, atom: &MetAtom) -> impl Iterator<Item = Object> {
        atom.args.iter().map(|&number| self.places[number as usize])
    }

    /// Takes in what is said now: its objects with their types. Returns whether any is new or more is known of its type; the code of
    /// the state, which is what is said, in any order; and the number of legal actions. The code has 128 bits, so that two states
    /// share one by chance in about 2^64 states. A state in which something is said twice has another.
    fn meet(&mut self, lists: bool) -> Result<(bool, u128, usize), Fault> {
        let (alphabet, names) = (&self.alphabet, &self.said.atoms.names);
        let (types, objects) = (&mut self.types, &mut self.objects);
        let mut changed = objects.is_empty();
        if types.len() < names.len() {
            types.resize(names.len(), UNMET);
        }
        let mut meet = |number: u32, t: Type| {
            let before = types[number as usize];
            if before == UNMET {
                types[number as usize] = t;
                objects.push((number, t));
                changed = true;
                return Ok(());
            }
            if before != t {
                let Some(both) = common(&alphabet.types, before, t) else {
                    return Err(Fault::new(format!(
                        "object `{}` is a `{}` in one place and a `{}` in another, and no type is both",
                        names.text(number),
                        alphabet.types.name(before),
                        alphabet.types.name(t)
                    )));
                };
                changed |= both != before;
                types[number as usize] = both;
            }
            Ok(())
        };
        for &(number, of_type) in &self.said.objects {
            // An alphabet that leaves types out has less to say of its objects.
            let of_type = alphabet.types.find(self.said.types.text(of_type)).unwrap_or(Types::ANY);
            meet(number, of_type)?;
        }
        let episode = self.episode;
        let mut meet_all = |atoms: &Atoms, all: &mut Vec<Met>, known: &Known<'_>| {
            let (mut code, mut count) = (0_u128, 0);
            for &number in &atoms.now {
                if number as usize >= all.len() {
                    all.extend((all.len()..atoms.known()).map(|n| known.first_met(atoms.met(n as u32))));
                }
                let met = &mut all[number as usize];
                code = code.wrapping_add(met.hash);
                count += met.counts;
                if met.episode != episode {
                    met.episode = episode;
                    let atom = atoms.met(number);
                    for (&name, &t) in atom.args.iter().zip(&known.types[atom.of as usize]) {
                        meet(name, t)?;
                    }
                }
            }
            Ok::<_, Fault>((code, count))
        };
        let predicates = &self.predicates;
        let said =
            Known { types: &self.predicate_types, knows: &|atom| predicates[atom.of as usize].is_some() };
        let (facts, _) = meet_all(&self.said.atoms, &mut self.facts_met, &said)?;
        let measures = &self.measures;
        let reported =
            Known { types: &self.measure_types, knows: &|atom| measures[atom.of as usize].is_some() };
        meet_all(&self.said.numbers, &mut self.numbers_met, &reported)?;
        let counted = self.said.numbers.now.iter().zip(&self.said.values).filter_map(|(&number, &value)| {
            let met = &self.numbers_met[number as usize];
            (met.counts > 0).then(|| hash_number(met.hash, value))
        });
        let facts = counted.fold(facts, u128::wrapping_add);
        let (actions, repeated) = (&self.actions, &self.repeated);
        let allowed = Known {
            types: &self.action_types,
            knows: &|atom| known_action(actions, repeated, atom).is_some(),
        };
        let (legal, count) = meet_all(&self.allowed.atoms, &mut self.actions_met, &allowed)?;
        if changed {
            for (number, t) in objects.iter_mut() {
                *t = types[*number as usize];
            }
            objects.sort_unstable_by(|a, b| names.constant(a.0).cmp(names.constant(b.0)));
        }
        let code = u128::from(lists).wrapping_add(facts).wrapping_add(legal);
        Ok((changed, code, count as usize))
    }

    /// The universe of the objects met, made once.
    fn enter(&mut self) -> Arc<Objects> {
        self.places.resize(self.types.len(), Object(u32::MAX));
        for (object, &(number, _)) in (0..).zip(&self.objects) {
            self.places[number as usize] = Object(object);
        }
        if let Some(known) = self.known.get(&self.objects[..]) {
            return Arc::clone(known);
        }
        let names = &self.said.atoms.names;
        let universe =
            Universe::new(self.objects.iter().map(|&(n, t)| (names.constant(n).clone(), t)).collect());
        let made = Arc::new(Objects {
            texts: self.objects.iter().map(|&(n, _)| Arc::clone(names.text(n))).collect(),
            can_act: universe.can_act(&self.alphabet),
            universe: Arc::new(universe),
        });
        self.known.insert(self.objects.clone().into(), Arc::clone(&made));
        made
    }
}

/// The actions of the alphabet that write an argument twice: beside the world's own actions, by their places.
fn repeated(actions: &[Option<Action>], alphabet: &Alphabet) -> Vec<(u32, Vec<u8>, Action)> {
    let all = alphabet.actions.iter().enumerate().filter(|(_, a)| a.repeats());
    let of = |(i, a): (usize, &ActionDecl)| {
        let whole = alphabet.find_action(&a.name, a.arity());
        let own = actions.iter().position(|known| known.is_some() && *known == whole)?;
        Some((own as u32, a.places.clone(), Action(i as u32)))
    };
    all.filter_map(of).collect()
}

/// The action of the alphabet that a legal one is, if it has it.
fn known_action(
    actions: &[Option<Action>],
    repeated: &[(u32, Vec<u8>, Action)],
    atom: &MetAtom,
) -> Option<Action> {
    if atom.distinct {
        return actions[atom.of as usize];
    }
    let mut of = repeated.iter().filter(|(of, ..)| *of == atom.of).peekable();
    of.peek()?;
    let places = places_of(&atom.args);
    of.find(|(_, known, _)| *known == places).map(|(.., action)| *action)
}

/// What is known of the predicates, or the actions, of a world.
struct Known<'a> {
    /// The types of their arguments.
    types: &'a [Vec<Type>],
    /// Whether an atom of theirs counts.
    knows: &'a dyn Fn(&MetAtom) -> bool,
}

impl Known<'_> {
    fn first_met(&self, atom: &MetAtom) -> Met {
        let counts = (self.knows)(atom);
        Met { hash: if counts { atom.hash } else { 0 }, counts: u64::from(counts), episode: 0 }
    }
}

/// The greatest type of objects that have both types, where there is one.
fn common(types: &Types, a: Type, b: Type) -> Option<Type> {
    if types.is_subtype(a, b) {
        return Some(a);
    }
    if types.is_subtype(b, a) {
        return Some(b);
    }
    let both: Vec<Type> = (0..types.len() as u32)
        .map(Type)
        .filter(|&t| types.is_subtype(t, a) && types.is_subtype(t, b))
        .collect();
    both.iter().copied().find(|&t| both.iter().all(|&other| types.is_subtype(other, t)))
}

impl env::Env for Named {
    fn reset(&mut self, rng: &mut Rng) {
        // A stream of its own, so that another episode in the same instance can be given the same one.
        self.start = Rng::new(rng.bits(), 0);
        self.begin();
    }

    fn restart(&mut self) {
        self.begin();
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.current.universe
    }

    fn facts(&self, facts: &mut EngineFacts) {
        let mut objects = Vec::new();
        for (pred, atom) in self.known_facts() {
            objects.clear();
            objects.extend(self.places(atom));
            facts.push(pred, &objects);
        }
        for (measure, atom, value) in self.known_numbers() {
            objects.clear();
            objects.extend(self.places(atom));
            facts.set(measure, &objects, value);
        }
    }

    fn code(&self) -> Option<u128> {
        Some(self.code)
    }

    fn legal(&self, actions: &mut Vec<GroundAction>) -> bool {
        if self.legal.is_some() {
            let ground = |(action, atom): (Action, &MetAtom)| {
                let args: Vec<Object> = self.places(atom).collect();
                GroundAction { action, args: if atom.distinct { args } else { distinct_of(&args) } }
            };
            let mut listed: Vec<GroundAction> = self.legal_actions().map(ground).collect();
            listed.sort_unstable();
            listed.dedup();
            actions.append(&mut listed);
        }
        self.legal.is_some()
    }

    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        if self.fault.is_some() {
            return Outcome::truncated(0.0);
        }
        let name = |&o: &Object| &*self.current.texts[o.0 as usize];
        let decl = self.alphabet.action(action);
        let called = &decl.name;
        let written = if decl.repeats() { decl.written(args) } else { Vec::new() };
        let args = if decl.repeats() { &written } else { args };
        // Most actions have few objects: these need no list on the heap.
        let stepped = match args {
            [] => self.env.step(called, &[], rng),
            [one] => self.env.step(called, &[name(one)], rng),
            [one, two] => self.env.step(called, &[name(one), name(two)], rng),
            more => self.env.step(called, &more.iter().map(name).collect::<Vec<_>>(), rng),
        };
        let seen = match stepped {
            Ok(outcome) => self.look().map(|()| outcome),
            Err(error) => Err(Fault::new(error)),
        };
        self.steps += 1;
        self.last = match seen {
            // Not a number is not within them either.
            Ok(outcome) if !(-LARGEST_REWARD..=LARGEST_REWARD).contains(&outcome.reward) => {
                self.fail(Fault::new(format!(
                    "the world gave a reward of {}: it must be a number, {LARGEST_REWARD:e} at the most",
                    outcome.reward
                )));
                Outcome::truncated(0.0)
            }
            Ok(outcome) if outcome.status == Status::Running => {
                let stuck = self.legal == Some(0);
                let status = match (stuck, self.steps >= self.env.horizon()) {
                    (true, _) => Status::Terminated,
                    (_, true) => Status::Truncated,
                    _ => Status::Running,
                };
                Outcome { status, ..outcome }
            }
            Ok(outcome) => outcome,
            Err(fault) => {
                self.fail(fault);
                Outcome::truncated(0.0)
            }
        };
        self.last
    }

    fn succeeded(&self) -> bool {
        let by_reward = self.last.status == Status::Terminated && self.last.reward > 0.0;
        self.env.succeeded().unwrap_or(by_reward || !self.env.has_goal())
    }

    fn has_goal(&self) -> bool {
        self.env.has_goal()
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn cost(&self) -> Cost {
        self.env.cost()
    }

    fn scene(&self) -> Scene {
        match self.env.scene() {
            Scene::Facts => Scene::Objects(scene::Objects::of(&self.current.universe)),
            scene => scene,
        }
    }

    fn best_return(&self) -> Option<f64> {
        self.env.best_return()
    }

    fn copy(&self) -> Option<Box<dyn env::Env>> {
        Some(Box::new(Named {
            env: self.env.copy()?,
            alphabet: Arc::clone(&self.alphabet),
            predicates: self.predicates.clone(),
            measures: self.measures.clone(),
            actions: self.actions.clone(),
            repeated: self.repeated.clone(),
            predicate_types: self.predicate_types.clone(),
            measure_types: self.measure_types.clone(),
            action_types: self.action_types.clone(),
            said: self.said.clone(),
            allowed: self.allowed.clone(),
            objects: self.objects.clone(),
            types: self.types.clone(),
            places: self.places.clone(),
            episode: self.episode,
            facts_met: self.facts_met.clone(),
            numbers_met: self.numbers_met.clone(),
            actions_met: self.actions_met.clone(),
            known: self.known.clone(),
            current: Arc::clone(&self.current),
            legal: self.legal,
            code: self.code,
            start: self.start.clone(),
            steps: self.steps,
            last: self.last,
            fault: self.fault.clone(),
        }))
    }
}
