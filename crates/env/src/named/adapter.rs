//! A world that speaks in names, as the engine sees it.

use std::sync::Arc;

use derrl_logic::{
    Action, Alphabet, Facts as EngineFacts, GroundAction, Object, Pred, Type, Types, Universe,
};
use rustc_hash::FxHashMap;

use super::{Actions, Env, Facts};
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
    /// The alphabet's ids of the world's own predicates and actions; none where the alphabet leaves them out.
    predicates: Vec<Option<Pred>>,
    actions: Vec<Option<Action>>,
    said: Facts,
    allowed: Actions,
    /// The objects named in this episode, by the numbers of their names, in order of their names.
    objects: Vec<(u32, Type)>,
    /// The type of each number of a name: [`UNMET`] where it was not named in this episode.
    types: Vec<Type>,
    /// The object of each number of a name that was named in this episode.
    places: Vec<Object>,
    /// The universes made before, by their objects.
    known: FxHashMap<Box<[(u32, Type)]>, Arc<Objects>>,
    current: Arc<Objects>,
    facts: Vec<(Pred, Vec<Object>)>,
    legal: Option<Vec<GroundAction>>,
    /// Lists that are free to be used again: a step would else allocate one per fact.
    spare: Vec<Vec<Object>>,
    code: u128,
    /// The generator as it was before the last reset.
    start: Rng,
    steps: usize,
    last: Outcome,
    fault: Option<Fault>,
}

/// The objects of a universe.
struct Objects {
    universe: Arc<Universe>,
    /// The name of each, as the world says it.
    texts: Vec<Arc<str>>,
    /// Whether there is any ground action.
    can_act: bool,
}

/// Universes, and names, that are kept at the most: beyond, all are forgotten when the next episode begins.
const MOST_UNIVERSES: usize = 1 << 10;
const MOST_NAMES: usize = 1 << 20;

/// Stands for the type of what was not named.
const UNMET: Type = Type(u32::MAX);

impl Named {
    /// The environment of the engine. `own` is the world's own alphabet, `alphabet` the one in use, which may leave out
    /// predicates and actions.
    pub fn new(env: Box<dyn Env>, own: &Alphabet, alphabet: &Arc<Alphabet>) -> Named {
        let predicates = own.predicates.iter().map(|p| given(alphabet, &p.name, p.args.len())).collect();
        let actions = own.actions.iter().map(|a| alphabet.find_action(&a.name, a.args.len())).collect();
        Named {
            env,
            alphabet: Arc::clone(alphabet),
            predicates,
            actions,
            said: Facts::new(own),
            allowed: Actions::new(own),
            objects: Vec::new(),
            types: Vec::new(),
            places: Vec::new(),
            known: FxHashMap::default(),
            current: Arc::new(Objects {
                universe: Arc::new(Universe::new(Vec::new())),
                texts: Vec::new(),
                can_act: false,
            }),
            facts: Vec::new(),
            legal: None,
            spare: Vec::new(),
            code: 0,
            start: Rng::new(0, 0),
            steps: 0,
            last: Outcome::running(0.0),
            fault: None,
        }
    }

    fn begin(&mut self) {
        self.steps = 0;
        self.last = Outcome::running(0.0);
        self.fault = None;
        for (number, _) in self.objects.drain(..) {
            self.types[number as usize] = UNMET;
        }
        if self.known.len() > MOST_UNIVERSES || self.said.atoms.names.len() > MOST_NAMES {
            self.known.clear();
            self.said.atoms.names = super::said::Names::default();
            self.types.clear();
            self.places.clear();
        }
        let mut rng = self.start.clone();
        let begun = self.env.reset(&mut rng).map_err(Fault::new).and_then(|()| self.look());
        let able = begun.and_then(|()| match &self.legal {
            Some(legal) if legal.is_empty() => {
                Err(Fault::new("an episode begins in a state in which no action is legal"))
            }
            _ => Ok(()),
        });
        self.fault = able.err();
    }

    /// Reads the state that the world is in.
    fn look(&mut self) -> Result<(), Fault> {
        self.said.clear();
        self.allowed.atoms.clear();
        self.env.facts(&mut self.said);
        // Facts and actions number names alike.
        self.allowed.atoms.names = std::mem::take(&mut self.said.atoms.names);
        let lists = self.env.legal(&mut self.allowed);
        self.said.atoms.names = std::mem::take(&mut self.allowed.atoms.names);
        if let Some(wrong) = self.said.atoms.wrong.take().or_else(|| self.allowed.atoms.wrong.take()) {
            return Err(Fault::new(wrong));
        }
        if self.meet_objects(lists)? {
            self.current = self.enter();
        }
        let mut legal = self.legal.take().unwrap_or_default();
        self.spare.extend(self.facts.drain(..).map(|(_, args)| args));
        self.spare.extend(legal.drain(..).map(|ground| ground.args));
        let (places, spare) = (&self.places, &mut self.spare);
        let mut place = |numbers: &[u32]| {
            let mut args = spare.pop().unwrap_or_default();
            args.clear();
            args.extend(numbers.iter().map(|&number| places[number as usize]));
            args
        };
        for (id, args) in self.said.atoms.iter() {
            if let Some(pred) = self.predicates[id as usize] {
                self.facts.push((pred, place(args)));
            }
        }
        self.facts.sort_unstable();
        self.facts.dedup();
        if lists {
            for (id, args) in self.allowed.atoms.iter() {
                let Some(action) = self.actions[id as usize] else { continue };
                if (1..args.len()).all(|i| !args[..i].contains(&args[i])) {
                    legal.push(GroundAction { action, args: place(args) });
                }
            }
            legal.sort_unstable();
            legal.dedup();
        }
        self.legal = lists.then_some(legal);
        if !lists && !self.current.can_act {
            return Err(Fault::new(
                "no action can be taken: the facts name no objects of the types that actions are about",
            ));
        }
        self.code = code(&self.facts, self.legal.as_deref());
        Ok(())
    }

    /// Takes in the objects that are named now, with their types. Whether any is new, or more is known of its type.
    fn meet_objects(&mut self, lists: bool) -> Result<bool, Fault> {
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
        for (number, name) in &self.said.objects {
            // An alphabet that leaves types out has less to say of its objects.
            meet(*number, alphabet.types.find(name).unwrap_or(Types::ANY))?;
        }
        for (id, args) in self.said.atoms.iter() {
            let types = self.predicates[id as usize].map(|p| &alphabet.predicate(p).args);
            for (i, &number) in args.iter().enumerate() {
                meet(number, types.map_or(Types::ANY, |types| types[i]))?;
            }
        }
        if lists {
            for (id, args) in self.allowed.atoms.iter() {
                let types = self.actions[id as usize].map(|a| &alphabet.action(a).args);
                for (i, &number) in args.iter().enumerate() {
                    meet(number, types.map_or(Types::ANY, |types| types[i]))?;
                }
            }
        }
        if changed {
            for (number, t) in objects.iter_mut() {
                *t = types[*number as usize];
            }
            objects.sort_by_cached_key(|&(number, _)| names.constant(number));
        }
        Ok(changed)
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
        let universe = Universe::new(self.objects.iter().map(|&(n, t)| (names.constant(n), t)).collect());
        let made = Arc::new(Objects {
            texts: self.objects.iter().map(|&(n, _)| Arc::clone(names.text(n))).collect(),
            can_act: universe.can_act(&self.alphabet),
            universe: Arc::new(universe),
        });
        self.known.insert(self.objects.clone().into(), Arc::clone(&made));
        made
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

/// A number for facts and legal actions, both sorted: 128 bits of hash, so that two states share one by chance in about
/// 2^64 states.
fn code(facts: &[(Pred, Vec<Object>)], legal: Option<&[GroundAction]>) -> u128 {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut mix = |word: u64| {
        hash = (hash ^ u128::from(word)).wrapping_mul(0xda94_2042_e4dd_58b5_94d0_49bb_1331_11eb);
        hash ^= hash >> 67;
    };
    for (pred, args) in facts {
        mix(u64::from(pred.0) << 32 | args.len() as u64);
        for o in args {
            mix(u64::from(o.0));
        }
    }
    mix(u64::MAX - u64::from(legal.is_some()));
    for ground in legal.unwrap_or_default() {
        mix(u64::from(ground.action.0) << 32 | ground.args.len() as u64);
        for o in &ground.args {
            mix(u64::from(o.0));
        }
    }
    hash
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
        for (pred, args) in &self.facts {
            facts.push(*pred, args);
        }
    }

    fn code(&self) -> Option<u128> {
        Some(self.code)
    }

    fn legal(&self, actions: &mut Vec<GroundAction>) -> bool {
        if let Some(legal) = &self.legal {
            actions.extend_from_slice(legal);
        }
        self.legal.is_some()
    }

    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        if self.fault.is_some() {
            return Outcome::truncated(0.0);
        }
        let current = Arc::clone(&self.current);
        let names: Vec<&str> = args.iter().map(|o| &*current.texts[o.0 as usize]).collect();
        let alphabet = Arc::clone(&self.alphabet);
        let stepped = self.env.step(&alphabet.action(action).name, &names, rng);
        let seen = match stepped {
            Ok(outcome) => self.look().map(|()| outcome),
            Err(error) => Err(Fault::new(error)),
        };
        self.steps += 1;
        self.last = match seen {
            Ok(outcome) if !outcome.reward.is_finite() => {
                self.fault = Some(Fault::new(format!(
                    "the world gave a reward of {}: it must be a number",
                    outcome.reward
                )));
                Outcome::truncated(0.0)
            }
            Ok(outcome) if outcome.status == Status::Running => {
                let stuck = self.legal.as_ref().is_some_and(Vec::is_empty);
                let status = match (stuck, self.steps >= self.env.horizon()) {
                    (true, _) => Status::Terminated,
                    (_, true) => Status::Truncated,
                    _ => Status::Running,
                };
                Outcome { status, ..outcome }
            }
            Ok(outcome) => outcome,
            Err(fault) => {
                self.fault = Some(fault);
                Outcome::truncated(0.0)
            }
        };
        self.last
    }

    fn succeeded(&self) -> bool {
        let by_reward = self.last.status == Status::Terminated && self.last.reward > 0.0;
        self.env.succeeded().unwrap_or(by_reward)
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
            actions: self.actions.clone(),
            said: self.said.clone(),
            allowed: self.allowed.clone(),
            objects: self.objects.clone(),
            types: self.types.clone(),
            places: self.places.clone(),
            known: self.known.clone(),
            current: Arc::clone(&self.current),
            facts: self.facts.clone(),
            legal: self.legal.clone(),
            spare: Vec::new(),
            code: self.code,
            start: self.start.clone(),
            steps: self.steps,
            last: self.last,
            fault: self.fault.clone(),
        }))
    }
}
