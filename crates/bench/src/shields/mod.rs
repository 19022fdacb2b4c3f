//! `derrl-bench shields`: what shields cost, and whether anything forbidden is ever done while learning.
//!
//! Each world is learned twice: as it is and under a shield that costs nothing, since what it forbids is of no use. Violations are
//! counted within the world, by a function written here ([`Guarded::forbids`]) that shares nothing with shields.

mod watched;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context;
use derrl::setup::Setup;
use derrl_cli::SeedRange;
use derrl_env::{Options, World, find};
use derrl_learn::{Checkpoint, Config, Silent, evaluate};
use derrl_logic::{Alphabet, Facts, Object};
use derrl_report::table::{WIDTH, columns, thousands, wrap};
use derrl_zoo::zoo;
use serde_json::{Value, json};

use crate::Report;
use crate::args::Bench;
use crate::planning::cpu_seconds;
use watched::{Counts, Forbids, Watched, unshielded};

/// Steps that are watched in each world, at the least.
const STEPS: u64 = 1_000_000;
/// Episodes per score.
const EPISODES: usize = 200;
/// Steps at random that have to show violations, so that zero means something.
const UNSHIELDED: usize = 10_000;

/// A world and a shield for it that costs nothing.
struct Guarded {
    world: &'static str,
    /// The rules, as text.
    shield: &'static str,
    /// The same in Rust.
    forbids: Forbids,
}

const WORLDS: [Guarded; 5] = [
    Guarded {
        world: "blocks",
        shield: "never(move(X, Y)) :- on(X, Y).\nnever(move(X, Y)) :- on(Z, X).\n",
        forbids: |seen, _, args| {
            // Distinct variables stand for distinct objects: Z is not Y.
            let is_under = |on: &[Object]| on[1] == args[0] && on[0] != args[1];
            seen.holds("on", &[Some(args[0]), Some(args[1])]) || seen.some("on", &is_under)
        },
    },
    Guarded {
        world: "doorkey",
        shield: "never(open(X)) :- key(X).\nnever(open(X)) :- goal(X).\nnever(pick(X)) :- door(X).\nnever(open(X)) :- door(X), notcarrying.\n",
        forbids: |seen, action, args| {
            let is = |kind| seen.holds(kind, &[Some(args[0])]);
            match action {
                "open" => is("key") || is("goal") || is("door") && seen.holds("notcarrying", &[]),
                "pick" => is("door"),
                _ => false,
            }
        },
    },
    Guarded {
        world: "gridworld",
        shield: "never(up) :- curr(X, Y), succ(Y, Z), obs(X, Z).\nnever(down) :- curr(X, Y), succ(Z, Y), obs(X, Z).\n\
            never(left) :- curr(X, Y), succ(Z, X), obs(Z, Y).\nnever(right) :- curr(X, Y), succ(X, Z), obs(Z, Y).\n",
        forbids: |seen, action, _| {
            let Some(here) = seen.first("curr", 2) else { return false };
            let (x, y) = (here[0], here[1]);
            // The obstacles beside it, by what they are next to.
            seen.some("obs", &|obs| match action {
                "up" => obs[0] == x && seen.holds("succ", &[Some(y), Some(obs[1])]),
                "down" => obs[0] == x && seen.holds("succ", &[Some(obs[1]), Some(y)]),
                "left" => obs[1] == y && seen.holds("succ", &[Some(obs[0]), Some(x)]),
                _ => obs[1] == y && seen.holds("succ", &[Some(x), Some(obs[0])]),
            })
        },
    },
    Guarded {
        world: "recycling",
        shield: "never(put(X, Y)) :- food(X), green(Y).\nnever(put(X, Y)) :- glass(X), brown(Y).\nnever(put(X, Y)) :- paper(X), yellow(Y).\n",
        forbids: |seen, _, args| {
            let pairs = [("food", "green"), ("glass", "brown"), ("paper", "yellow")];
            pairs
                .iter()
                .any(|(what, bin)| seen.holds(what, &[Some(args[0])]) && seen.holds(bin, &[Some(args[1])]))
        },
    },
    Guarded {
        world: "taxi",
        shield: "never(pick) :- inside.\nnever(drop) :- waiting(X, Y).\n",
        forbids: |seen, action, _| match action {
            "pick" => seen.holds("inside", &[]),
            "drop" => seen.holds("waiting", &[None, None]),
            _ => false,
        },
    },
];

/// What came of learning a world several times.
#[derive(Default)]
struct Learned {
    returns: Vec<f64>,
    steps: u64,
    seconds: f64,
}

impl Learned {
    fn mean(&self) -> f64 {
        self.returns.iter().sum::<f64>() / self.returns.len().max(1) as f64
    }

    /// CPU microseconds per step.
    fn pace(&self) -> f64 {
        1e6 * self.seconds / self.steps.max(1) as f64
    }
}

/// Measures each world.
pub fn run(args: &Bench) -> anyhow::Result<Report> {
    let range = args.seeds.unwrap_or(SeedRange { first: 0, last: 4 });
    let heads = [
        "world",
        "watched steps",
        "violations",
        "forced",
        "return",
        "shielded",
        "µs per step",
        "shielded",
        "times",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let mut all = Vec::new();
    let wanted = |g: &&Guarded| args.worlds.is_empty() || args.worlds.iter().any(|w| w == g.world);
    for guarded in WORLDS.iter().filter(wanted) {
        let free = world(guarded.world)?;
        let shielded =
            free.clone().with_domain("shielded.pl", format!("{}\n{}", free.domain(), guarded.shield))?;
        let seen = unshielded(&mut watched(guarded, &free, &Arc::default())?, UNSHIELDED);
        anyhow::ensure!(seen > 0, "{}: random actions violate nothing: the watch is blind", guarded.world);
        let (mut without, mut with) = (Learned::default(), Learned::default());
        for seed in range.first..=range.last {
            learn(&free, seed, &mut without)?;
            learn(&shielded, seed, &mut with)?;
        }
        let counts = Arc::new(Counts::default());
        let world = under_watch(guarded, &free, &shielded, &counts)?;
        let mut seed = 0;
        while counts.steps.load(Ordering::Relaxed) < args.steps.unwrap_or(STEPS) {
            learn(&world, seed, &mut Learned::default())?;
            seed += 1;
        }
        let [steps, violations, forced] =
            [&counts.steps, &counts.violations, &counts.forced].map(|c| c.load(Ordering::Relaxed));
        let times = with.pace() / without.pace();
        rows.push(vec![
            guarded.world.to_string(),
            thousands(steps),
            thousands(violations),
            thousands(forced),
            format!("{:.3}", without.mean()),
            format!("{:.3}", with.mean()),
            format!("{:.2}", without.pace()),
            format!("{:.2}", with.pace()),
            format!("{times:.2}"),
        ]);
        all.push(json!({
            "world": guarded.world, "steps": steps, "violations": violations, "forced": forced, "unshielded_violations": seen,
            "return": without.mean(), "shielded_return": with.mean(), "us_per_step": without.pace(),
            "shielded_us_per_step": with.pace(), "training_steps": [without.steps, with.steps],
            "training_seconds": [without.seconds, with.seconds],
        }));
        say!("{}: {} steps, {} violations", guarded.world, thousands(steps), thousands(violations));
    }
    let about = format!(
        "shields that cost nothing; violations are counted within the world, over training and scoring; return and CPU time per \
         training step: means of seeds {}..{}, default settings, one thread",
        range.first, range.last
    );
    let text = format!("{}\n{}", wrap(&about, "", WIDTH), columns(&rows, ""));
    Ok(Report { text, json: json!({ "shields": Value::Array(all) }) })
}

/// The built-in world of a name, or that of the zoo.
fn world(name: &str) -> anyhow::Result<World> {
    if let Ok(world) = find(name) {
        return Ok(world.clone());
    }
    let animal = zoo().into_iter().find(|a| a.world.name() == name);
    animal.map(|a| a.world).with_context(|| format!("there is no world {name}"))
}

/// An environment of the training task, watched and without a shield.
fn watched(guarded: &Guarded, free: &World, counts: &Arc<Counts>) -> anyhow::Result<Watched> {
    let alphabet = free.alphabet();
    let env = free.env(&free.training_task()?.name)?;
    let facts = Facts::new(&alphabet);
    Ok(Watched { env, alphabet, forbids: guarded.forbids, counts: Arc::clone(counts), facts })
}

/// The world under its shield, and below that the watch.
fn under_watch(
    guarded: &Guarded,
    free: &World,
    shielded: &World,
    counts: &Arc<Counts>,
) -> anyhow::Result<World> {
    let task = free.training_task()?.clone();
    let (free, counts, forbids, name) =
        (free.clone(), Arc::clone(counts), guarded.forbids, task.name.clone());
    let world = World::new(guarded.world, shielded.domain())?;
    Ok(world.engine_task(task, move |alphabet, options| {
        let alphabet = Arc::new(Alphabet { shield: Vec::new(), ..Alphabet::clone(alphabet) });
        let env = free.make(&alphabet, &name, options)?;
        let facts = Facts::new(&alphabet);
        Ok(Box::new(Watched { env, alphabet, forbids, counts: Arc::clone(&counts), facts }))
    }))
}

/// Learns a world once with default settings, and scores what came of it.
fn learn(world: &World, seed: u64, learned: &mut Learned) -> anyhow::Result<()> {
    let setup = Setup::of_world(world, &Options::default(), &Config::default())?;
    let before = cpu_seconds();
    let found = setup.search(vec![(seed, Checkpoint::default())], &Silent, 1)?;
    learned.seconds += cpu_seconds() - before;
    let found = found.into_iter().flatten().next().context("interrupted")?;
    learned.steps += found.steps;
    let mut env = world.make(&found.alphabet, &world.training_task()?.name, &Options::default())?;
    learned.returns.push(evaluate(&found.policy, &found.alphabet, env.as_mut(), EPISODES, seed)?.mean);
    Ok(())
}
