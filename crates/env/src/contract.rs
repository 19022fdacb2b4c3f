//! The laws that every world keeps: a test of a world of one's own calls [`check`].
//!
//! ```no_run
//! # let world = derrl_env::find("blocks")?;
//! derrl_env::contract::check(world)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use derrl_logic::{Alphabet, Facts, Object, Pred, Role, Type, Universe};

use crate::env::{Cost, Env, Outcome, Status, choices, observe};
use crate::rng::Rng;
use crate::world::{Options, World};

/// A law that a world breaks, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("world `{world}`, task `{task}`: {law}: {found}")]
pub struct Broken {
    /// The world.
    pub world: String,
    /// The task in which it was seen.
    pub task: String,
    /// The law.
    pub law: &'static str,
    /// What was seen instead.
    pub found: String,
}

/// An error if the world breaks a law that all worlds keep. It plays some hundred episodes of random actions, fewer where they
/// are dear.
pub fn check(world: &World) -> Result<(), Broken> {
    let broken = |task: &str, (law, found): (&'static str, String)| Broken {
        world: world.name().to_string(),
        task: task.to_string(),
        law,
        found,
    };
    described(world).map_err(|found| broken("", ("it has tasks to train on and to score", found)))?;
    for task in world.tasks() {
        let cannot = |error: String| broken(&task.name, ("it can be made", error));
        let make = |alphabet: &Arc<Alphabet>| {
            world.make(alphabet, &task.name, &Options::default()).map_err(|e| e.to_string())
        };
        let alphabet = world.alphabet();
        let dear = matches!(make(&alphabet).map_err(cannot)?.cost(), Cost::Dear { .. });
        let of_task = Laws {
            alphabet: Arc::clone(&alphabet),
            make: &make,
            instances: if dear { 1 } else { 60 },
            longest: if dear { 60 } else { 10_000 },
            dear,
        };
        for (law, holds) in LAWS {
            if !dear || *law == REPLAY {
                holds(&of_task).map_err(|found| broken(&task.name, (law, found)))?;
            }
        }
    }
    Ok(())
}

type Law = fn(&Laws<'_>) -> Result<(), String>;

const REPLAY: &str = "the same seed and actions give the same facts and rewards";
const LAWS: &[(&str, Law)] = &[
    (REPLAY, replays),
    ("another episode in the same instance starts where the first did", restarts),
    ("there is something to do, on distinct objects of the declared types", actions_fit),
    ("facts are about objects of the declared types", facts_fit),
    ("episodes end, and rewards are numbers that do not beat the best known", ends),
    ("states have the same code if and only if they have the same facts and legal actions", codes),
    ("a journal tells what changed", journals),
    ("background does not change during an episode", background),
    ("a copy goes the same way and leaves the original where it is", copies),
    ("an alphabet may ignore types and leave predicates out", other_alphabets),
];

/// Makes an environment for an alphabet.
type MakeFor<'a> = dyn Fn(&Arc<Alphabet>) -> Result<Box<dyn Env>, String> + 'a;

/// One task of a world, and how hard to look at it.
struct Laws<'a> {
    alphabet: Arc<Alphabet>,
    make: &'a MakeFor<'a>,
    instances: u64,
    /// An episode of more steps is one without end.
    longest: usize,
    dear: bool,
}

fn described(world: &World) -> Result<(), String> {
    if !world.training_task().map_err(|e| e.to_string())?.scored {
        return Err("the first task, which is trained on, is scored on request only".to_string());
    }
    for (i, task) in world.tasks().iter().enumerate() {
        if world.tasks()[..i].iter().any(|t| t.name == task.name) {
            return Err(format!("two tasks are called `{}`", task.name));
        }
    }
    Ok(())
}

/// An error with what was seen, unless it holds.
fn ensure(holds: bool, seen: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(seen()) }
}

fn no_fault(env: &dyn Env) -> Result<(), String> {
    env.fault().map_or(Ok(()), |fault| Err(format!("the world failed: {fault}")))
}

fn facts_of(env: &dyn Env, alphabet: &Alphabet) -> Facts {
    let mut facts = Facts::new(alphabet);
    observe(env, &mut facts);
    facts
}

fn show(env: &dyn Env, alphabet: &Alphabet) -> Vec<String> {
    facts_of(env, alphabet).show(alphabet, env.universe())
}

impl Laws<'_> {
    fn env(&self) -> Result<Box<dyn Env>, String> {
        (self.make)(&self.alphabet)
    }

    /// Takes random actions until the episode ends, and tells what each brought; `see` is called after each.
    fn walk(
        &self,
        env: &mut dyn Env,
        alphabet: &Alphabet,
        choose: &mut Rng,
        rng: &mut Rng,
        see: &mut dyn FnMut(&dyn Env, Outcome) -> Result<(), String>,
    ) -> Result<Status, String> {
        for _ in 0..self.longest {
            no_fault(env)?;
            let actions = choices(env, alphabet);
            ensure(!actions.is_empty(), || {
                format!("nothing can be done where {}", show(env, alphabet).join(", "))
            })?;
            let action = &actions[choose.below(actions.len())];
            let outcome = env.step(action.action, &action.args, rng);
            no_fault(env)?;
            see(env, outcome)?;
            if outcome.status != Status::Running {
                return Ok(outcome.status);
            }
        }
        if self.dear {
            return Ok(Status::Running);
        }
        Err(format!("no end after {} actions", self.longest))
    }
}

fn replays(laws: &Laws) -> Result<(), String> {
    let trace = |seed: u64| {
        let mut env = laws.env()?;
        let (mut choose, mut rng) = (Rng::new(seed, 1), Rng::new(seed, 2));
        let mut trace = Vec::new();
        for _ in 0..laws.instances.min(5) {
            env.reset(&mut rng);
            no_fault(env.as_ref())?;
            trace.push(format!("{:?}, best {:?}", show(env.as_ref(), &laws.alphabet), env.best_return()));
            laws.walk(env.as_mut(), &laws.alphabet, &mut choose, &mut rng, &mut |env, outcome| {
                trace.push(format!("{:?}, {outcome:?}", show(env, &laws.alphabet)));
                Ok(())
            })?;
        }
        Ok::<_, String>(trace)
    };
    for seed in 0..laws.instances.min(3) {
        let (first, second) = (trace(seed)?, trace(seed)?);
        let differ = first.iter().zip(&second).find(|(a, b)| a != b);
        if let Some((a, b)) = differ {
            return Err(format!("once {a}, then {b}"));
        }
        ensure(first.len() == second.len(), || "episodes of different lengths".to_string())?;
    }
    Ok(())
}

fn restarts(laws: &Laws) -> Result<(), String> {
    let mut env = laws.env()?;
    let (mut choose, mut rng) = (Rng::new(3, 0), Rng::new(3, 1));
    for _ in 0..laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        let start = |env: &dyn Env| (show(env, &laws.alphabet), env.code(), env.best_return());
        let (universe, first) = (Arc::clone(env.universe()), start(env.as_ref()));
        laws.walk(env.as_mut(), &laws.alphabet, &mut choose, &mut rng, &mut |_, _| Ok(()))?;
        env.restart();
        no_fault(env.as_ref())?;
        let again = start(env.as_ref());
        ensure(first == again, || format!("at first {first:?}, then {again:?}"))?;
        ensure(universe == *env.universe(), || "the objects are others".to_string())?;
        ensure(!env.has_goal() || !env.succeeded(), || "nothing is left to do at the start".to_string())?;
    }
    Ok(())
}

/// Whether these objects have these types.
fn fit(alphabet: &Alphabet, universe: &Universe, args: &[Object], types: &[Type]) -> bool {
    let fits = |(o, &t): (&Object, _)| alphabet.types.is_subtype(universe.type_of(*o), t);
    args.len() == types.len() && args.iter().zip(types).all(fits)
}

fn actions_fit(laws: &Laws) -> Result<(), String> {
    let alphabet = &laws.alphabet;
    let well = |env: &dyn Env| {
        let universe = env.universe();
        let mut legal = Vec::new();
        let lists = env.legal(&mut legal);
        for a in &legal {
            let shown = || universe.show_action(alphabet, a.action, &a.args);
            ensure(fit(alphabet, universe, &a.args, &alphabet.action(a.action).args), || {
                format!("`{}` has objects of other types", shown())
            })?;
            let distinct = (1..a.args.len()).all(|i| !a.args[..i].contains(&a.args[i]));
            ensure(distinct, || format!("`{}` names an object twice", shown()))?;
        }
        ensure(!lists || legal.is_sorted_by(|a, b| a < b), || {
            "legal actions are out of order, or listed twice".to_string()
        })
    };
    let mut env = laws.env()?;
    let (mut choose, mut rng) = (Rng::new(4, 0), Rng::new(4, 1));
    for _ in 0..laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        well(env.as_ref())?;
        laws.walk(env.as_mut(), alphabet, &mut choose, &mut rng, &mut |env, _| well(env))?;
    }
    Ok(())
}

fn facts_fit(laws: &Laws) -> Result<(), String> {
    let alphabet = &laws.alphabet;
    let mut env = laws.env()?;
    let (mut choose, mut rng) = (Rng::new(5, 0), Rng::new(5, 1));
    let well = |env: &dyn Env| {
        let facts = facts_of(env, alphabet);
        let well = |name: &str, args: &[Object], types: &[Type]| {
            ensure(fit(alphabet, env.universe(), args, types), || {
                format!("`{}` has objects of other types", env.universe().show(name, args))
            })
        };
        for (pred, args) in facts.iter().filter(|(p, _)| alphabet.predicate(*p).role.is_given()) {
            let decl = alphabet.predicate(pred);
            well(&decl.name, args, &decl.args)?;
        }
        for (measure, args, _) in facts.all_numbers() {
            let decl = alphabet.measure(measure);
            well(&decl.name, args, &decl.args)?;
        }
        facts.fault().map_or(Ok(()), |fault| Err(fault.to_string()))
    };
    for _ in 0..laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        well(env.as_ref())?;
        laws.walk(env.as_mut(), alphabet, &mut choose, &mut rng, &mut |env, _| well(env))?;
    }
    Ok(())
}

/// A return may beat the best *expected* one where chance has a hand: the same actions then bring different things.
fn ends(laws: &Laws) -> Result<(), String> {
    let mut env = laws.env()?;
    let mut rng = Rng::new(6, 1);
    for i in 0..laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        let best = env.best_return();
        ensure(best.is_none_or(f64::is_finite), || format!("the best known return is {best:?}"))?;
        let mut returns = Vec::new();
        for chance in 0..4 {
            // The same choices every other time, with another generator for the world.
            let (mut choose, mut own) = (Rng::new(i, chance / 2), Rng::new(i, 10 + chance));
            env.restart();
            let mut total = 0.0;
            let end = laws.walk(env.as_mut(), &laws.alphabet, &mut choose, &mut own, &mut |_, outcome| {
                total += outcome.reward;
                ensure(outcome.reward.is_finite(), || format!("a reward of {}", outcome.reward))
            })?;
            ensure(!env.has_goal() || !env.succeeded() || end == Status::Terminated, || {
                "an episode that was cut off counts as a success".to_string()
            })?;
            returns.push(total);
        }
        let by_chance = returns.chunks(2).any(|pair| pair[0] != pair[1]);
        let most = returns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ensure(by_chance || best.is_none_or(|best| most <= best + 1e-9), || {
            format!("a return of {most} beats the best known, {}", best.unwrap_or_default())
        })?;
    }
    Ok(())
}

fn codes(laws: &Laws) -> Result<(), String> {
    let alphabet = &laws.alphabet;
    let mut env = laws.env()?;
    let (mut choose, mut rng) = (Rng::new(7, 0), Rng::new(7, 1));
    // Universes are compared by value: instances with the same objects are in one universe.
    let mut by_code: HashMap<(Arc<Universe>, u128), Vec<String>> = HashMap::new();
    let mut by_state: HashMap<(Arc<Universe>, Vec<String>), u128> = HashMap::new();
    let mut compare = |env: &dyn Env| {
        let Some(code) = env.code() else { return Ok(()) };
        let universe = env.universe();
        let mut state = show(env, alphabet);
        let mut legal = Vec::new();
        if env.legal(&mut legal) {
            state.extend(
                legal.iter().map(|a| format!("may {}", universe.show_action(alphabet, a.action, &a.args))),
            );
        }
        let known = by_code.entry((Arc::clone(universe), code)).or_insert_with(|| state.clone());
        ensure(*known == state, || format!("one code for {} and {}", known.join(", "), state.join(", ")))?;
        let known = *by_state.entry((Arc::clone(universe), state.clone())).or_insert(code);
        ensure(known == code, || format!("two codes, {known} and {code}, for {}", state.join(", ")))
    };
    for _ in 0..3 * laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        compare(env.as_ref())?;
        // What holds after the end is nobody's business.
        laws.walk(env.as_mut(), alphabet, &mut choose, &mut rng, &mut |env, outcome| {
            if outcome.status == Status::Running { compare(env) } else { Ok(()) }
        })?;
    }
    Ok(())
}

fn journals(laws: &Laws) -> Result<(), String> {
    let alphabet = &laws.alphabet;
    let mut env = laws.env()?;
    let (mut choose, mut rng) = (Rng::new(8, 0), Rng::new(8, 1));
    for _ in 0..laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        let Some(episode) = env.journal().map(crate::journal::Journal::episode) else { return Ok(()) };
        let mut facts = facts_of(env.as_ref(), alphabet);
        let mut read = env.journal().map_or(0, crate::journal::Journal::len);
        ensure(read == 0, || "something has changed before anything was done".to_string())?;
        laws.walk(env.as_mut(), alphabet, &mut choose, &mut rng, &mut |env, _| {
            let journal = env.journal().ok_or("the journal is gone")?;
            ensure(journal.episode() == episode, || "another episode in the middle of one".to_string())?;
            for (pred, args, holds) in journal.since(read) {
                ensure(facts.flip(pred, args) == holds, || "what did not change was noted".to_string())?;
            }
            read = journal.len();
            facts.derive(env.universe());
            ensure(facts == facts_of(env, alphabet), || "a change was not noted".to_string())
        })?;
        env.restart();
        let journal = env.journal().ok_or("the journal is gone")?;
        ensure(journal.is_empty() && journal.episode() != episode, || {
            "another episode goes on in the old journal".to_string()
        })?;
    }
    Ok(())
}

fn background(laws: &Laws) -> Result<(), String> {
    let alphabet = &laws.alphabet;
    let fixed = |env: &dyn Env| -> Vec<String> {
        let facts = facts_of(env, alphabet);
        let of_role = |p: &Pred| alphabet.predicate(*p).role == Role::Background;
        let fixed = facts.iter().filter(|(p, _)| of_role(p));
        fixed.map(|(p, args)| env.universe().show(&alphabet.predicate(p).name, args)).collect()
    };
    let mut env = laws.env()?;
    let (mut choose, mut rng) = (Rng::new(9, 0), Rng::new(9, 1));
    for _ in 0..laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        let first = fixed(env.as_ref());
        laws.walk(env.as_mut(), alphabet, &mut choose, &mut rng, &mut |env, _| {
            let now = fixed(env);
            ensure(first == now, || format!("at first {}, then {}", first.join(", "), now.join(", ")))
        })?;
    }
    Ok(())
}

fn copies(laws: &Laws) -> Result<(), String> {
    let alphabet = &laws.alphabet;
    let mut env = laws.env()?;
    let mut rng = Rng::new(10, 1);
    for i in 0..laws.instances {
        env.reset(&mut rng);
        no_fault(env.as_ref())?;
        let Some(mut copy) = env.copy() else { return Ok(()) };
        let before = show(env.as_ref(), alphabet);
        let trace = |env: &mut dyn Env| {
            let mut trace = vec![format!("{:?}", show(env, alphabet))];
            laws.walk(env, alphabet, &mut Rng::new(i, 2), &mut Rng::new(i, 3), &mut |env, outcome| {
                trace.push(format!("{:?}, {outcome:?}, {}", show(env, alphabet), env.succeeded()));
                Ok(())
            })?;
            Ok::<_, String>(trace)
        };
        let of_copy = trace(copy.as_mut())?;
        ensure(before == show(env.as_ref(), alphabet), || "the original moved with its copy".to_string())?;
        ensure(of_copy == trace(env.as_mut())?, || "they went different ways".to_string())?;
    }
    Ok(())
}

fn other_alphabets(laws: &Laws) -> Result<(), String> {
    let untyped = Arc::new(laws.alphabet.untyped());
    let mut less = (*laws.alphabet).clone();
    less.predicates.truncate(1);
    less.measures.truncate(1);
    less.constraints.clear();
    // Definitions and legality speak of predicates by their places.
    let all = if laws.alphabet.program.is_some() { vec![untyped] } else { vec![untyped, Arc::new(less)] };
    for alphabet in all {
        let mut env = (laws.make)(&alphabet)?;
        let (mut choose, mut rng) = (Rng::new(11, 0), Rng::new(11, 1));
        env.reset(&mut rng);
        laws.walk(env.as_mut(), &alphabet, &mut choose, &mut rng, &mut |_, _| Ok(()))?;
    }
    Ok(())
}
