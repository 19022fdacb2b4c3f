//! `derrl-bench scale`: the time of a decision in small and large states, beside SWI-Prolog and clingo.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | our own figures, and the table |
//! | `lanes.rs` | a world of many lanes whose queues change |
//! | `rivals.rs`, `driver.pl`, `driver.py` | the same decisions in the real SWI-Prolog and clingo |

mod lanes;
mod rivals;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use derrl_env::{Env, Options, Status, find, observe};
use derrl_learn::{Actor, episode_streams};
use derrl_logic::{Agenda, Alphabet, Decider, Decision, Facts, GroundAction, Policy, Source};
use serde_json::{Value, json};

use self::lanes::Lanes;
use self::rivals::{Fact, LIMIT, Moment, Rival, States};
use crate::args::Bench;
use crate::{Report, median};
use derrl_report::table::{WIDTH, columns, thousands, wrap};

/// Whole episodes are run until there are so many decisions.
const DECISIONS: usize = 1_000;
/// States that the rivals decide in, at the most, spread evenly over all.
const SAMPLES: usize = 100;
/// States in which the decision is compared with that of the plain decider.
const CHECKED: usize = 10;

/// What is measured: a world of any size, and the policy that acts there.
struct Scenario {
    name: &'static str,
    domain: &'static str,
    /// What training finds, the bodies in the order in which Prolog does best.
    policy: &'static str,
    make: MakeWorld,
}

/// Makes a world of a size.
type MakeWorld = fn(&Arc<Alphabet>, usize) -> anyhow::Result<Box<dyn Env>>;

/// Blocks of any number.
const BLOCKS: MakeWorld = |alphabet, size| {
    let options = Options { size: Some(size), ..Options::default() };
    Ok(find("blocks")?.make(alphabet, "large", &options)?)
};

const SCENARIOS: [Scenario; 4] = [
    Scenario {
        name: "blocks",
        domain: "blocks",
        policy: "1.00::move(X, Y) :- goal_on(X, Y), top(X), top(Y).\n\
                 0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n",
        make: BLOCKS,
    },
    // Unstacks what is above a block of the goal: the closure of `on`, kept up to date.
    Scenario {
        name: "blocks, above",
        domain: "blocks",
        policy: ":- closure(above, on).\n\
                 1.00::move(X, Y) :- goal_on(X, Y), top(X), top(Y).\n\
                 0.80::move(X, Y) :- goal_on(Z, U), above(X, Z), top(X), isFloor(Y).\n\
                 0.80::move(X, Y) :- goal_on(U, Z), above(X, Z), top(X), isFloor(Y).\n",
        make: BLOCKS,
    },
    // A property of each block by way of what it stands on.
    Scenario {
        name: "blocks, inplace",
        domain: "blocks",
        policy: ":- derived(wanted(block)).\n\
                 :- derived(inplace(block)).\n\
                 wanted(X) :- goal_on(X, Y).\n\
                 inplace(X) :- on(X, Y), isFloor(Y), \\+ wanted(X).\n\
                 inplace(X) :- on(X, Y), goal_on(X, Y), inplace(Y).\n\
                 inplace(X) :- on(X, Y), inplace(Y), \\+ wanted(X).\n\
                 1.00::move(X, Y) :- goal_on(X, Y), inplace(Y), top(X), top(Y).\n\
                 0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n",
        make: BLOCKS,
    },
    Scenario {
        name: "lanes",
        domain: "traffic",
        policy: "1.00::green(X) :- highest(X), between(X, Y, Z), intersection(Y), intersection(Z).\n\
                 0.80::green(X) :- highest(X).\n",
        make: |alphabet, size| {
            let lanes = Lanes::new(alphabet, size).context("the domain traffic lacks what lanes need")?;
            Ok(Box::new(lanes))
        },
    },
];

/// Runs each scenario at each size to the end of an episode (of several where they are short), then asks the rivals.
pub fn run(args: &Bench) -> anyhow::Result<Report> {
    let rivals = rivals::installed();
    let mut heads: Vec<String> = [
        "world and size",
        "facts",
        "changed",
        "decisions",
        "first",
        "median",
        "99 of 100",
        "worst",
        "environment",
        "memory",
        "per fact",
    ]
    .map(String::from)
    .to_vec();
    heads.extend(rivals.iter().flat_map(|r| [r.name.to_string(), "ratio".to_string()]));
    let mut rows = vec![heads];
    let mut list = Vec::new();
    for scenario in &SCENARIOS {
        for &size in &args.sizes {
            let figures = measure(scenario, size as usize, args.seed, &rivals)?;
            rows.push(figures.row(scenario.name, size));
            list.push(figures.json(scenario.name, size));
        }
    }
    let named: Vec<String> = rivals.iter().map(|r| format!("{} {}", r.name, r.version)).collect();
    let beside = if named.is_empty() {
        "neither SWI-Prolog nor clingo is installed".to_string()
    } else {
        named.join(", ")
    };
    let about = format!(
        "Microseconds per decision on one core: the first (all facts read, rules joined), then median, 99th percentile and \
         worst of the others (changes applied, an action chosen); `changed`: facts changed before a decision; `memory`: \
         facts, indexes and derived actions.\n\
         Beside it: {beside}; median over at most {SAMPLES} of the same states and {LIMIT} seconds, every answer the \
         same as ours. Of them, the CPU time of the query alone counts (SWI-Prolog; changes are asserted before), \
         and of grounding and solving (clingo; program and facts are read before); of us, the time on the clock.",
    );
    let text = format!("{}\n{}", wrap(&about, "", WIDTH), columns(&rows, ""));
    let versions: Vec<Value> =
        rivals.iter().map(|r| json!({ "name": r.name, "version": r.version })).collect();
    Ok(Report {
        text,
        json: json!({ "unit": "seconds per decision, one core", "rivals": versions, "scale": list }),
    })
}

/// What was measured of one scenario at one size.
struct Figures {
    facts: usize,
    bytes: usize,
    /// Facts changed before each decision but the first.
    changed: f64,
    decisions: usize,
    episodes: usize,
    first: f64,
    median: f64,
    /// Of a hundred decisions, all but one take no longer.
    most: f64,
    worst: f64,
    environment: f64,
    rivals: Vec<Raced>,
}

/// What a rival took.
struct Raced {
    name: &'static str,
    median: f64,
    worst: f64,
    states: usize,
    asked: usize,
}

fn measure(scenario: &Scenario, size: usize, seed: u64, rivals: &[Rival]) -> anyhow::Result<Figures> {
    let alphabet = find(scenario.domain)?.alphabet();
    let (policy, alphabet) = Policy::read(&Source::new("policy.pl", scenario.policy), &alphabet)?;
    let mut env = (scenario.make)(&alphabet, size)?;
    let mut timed = act(&policy, &alphabet, env.as_mut(), seed);
    let (moments, changes) = replay(&policy, &alphabet, env.as_mut(), seed, &timed.episodes)?;
    let universe = Arc::clone(env.universe());
    let states = States { policy: &policy, alphabet: &alphabet, universe: &universe, moments: &moments };
    let asked = moments.iter().filter(|m| m.decision.is_some()).count();
    let mut raced = Vec::new();
    for rival in rivals {
        let seconds = rival.decide(&states)?;
        ensure!(!seconds.is_empty(), "{} decides nothing", rival.name);
        let worst = seconds.iter().copied().fold(0.0, f64::max);
        raced.push(Raced { name: rival.name, states: seconds.len(), worst, median: median(seconds), asked });
    }
    Ok(Figures {
        facts: timed.facts,
        bytes: timed.bytes,
        changed: changes as f64 / timed.later.len().max(1) as f64,
        decisions: moments.len(),
        episodes: timed.episodes.len(),
        first: median(timed.first),
        most: quantile(&mut timed.later, 0.99),
        worst: quantile(&mut timed.later, 1.0),
        median: quantile(&mut timed.later, 0.5),
        environment: median(timed.environment),
        rivals: raced,
    })
}

/// Episodes that were acted in, and how long that took.
#[derive(Default)]
struct Timed {
    /// The actions of each episode.
    episodes: Vec<Vec<GroundAction>>,
    /// Seconds of the first decision of each episode, of the later ones, and of the environment's steps.
    first: Vec<f64>,
    later: Vec<f64>,
    environment: Vec<f64>,
    facts: usize,
    bytes: usize,
}

fn act(policy: &Policy, alphabet: &Alphabet, env: &mut dyn Env, seed: u64) -> Timed {
    let mut timed = Timed::default();
    let mut decisions = 0;
    while decisions < DECISIONS {
        // Each episode with an actor of its own: nothing is known beforehand.
        let mut actor = Actor::new(policy, alphabet);
        let (mut world, mut ties) = episode_streams(seed, timed.episodes.len() as u64);
        env.reset(&mut world);
        let mut actions = Vec::new();
        loop {
            let start = Instant::now();
            let action = actor.act(env, &mut ties);
            let decided = Instant::now();
            let status = env.step(action.action, &action.args, &mut world).status;
            timed.environment.push(decided.elapsed().as_secs_f64());
            let of = if actions.is_empty() { &mut timed.first } else { &mut timed.later };
            of.push(decided.duration_since(start).as_secs_f64());
            actions.push(action);
            if status != Status::Running {
                break;
            }
        }
        decisions += actions.len();
        timed.episodes.push(actions);
        let (facts, bytes) = actor.following();
        (timed.facts, timed.bytes) = (timed.facts.max(facts), timed.bytes.max(bytes));
    }
    timed
}

/// The states of the same episodes as changes, with our decisions at some of them, and how many facts changed on the way from
/// the first decision of an episode to the last.
fn replay(
    policy: &Policy,
    alphabet: &Alphabet,
    env: &mut dyn Env,
    seed: u64,
    episodes: &[Vec<GroundAction>],
) -> anyhow::Result<(Vec<Moment>, usize)> {
    let every = episodes.iter().map(Vec::len).sum::<usize>().div_ceil(SAMPLES);
    let mut moments: Vec<Moment> = Vec::new();
    let mut changes = 0;
    let mut facts = Facts::new(alphabet);
    for (episode, actions) in episodes.iter().enumerate() {
        let (mut world, _) = episode_streams(seed, episode as u64);
        env.reset(&mut world);
        let universe = Arc::clone(env.universe());
        // Whoever decides derives the other facts for themselves.
        let list = |facts: &Facts| {
            let given = facts.iter().filter(|(p, _)| alphabet.predicate(*p).role.is_given());
            given.map(|(p, args)| (p, args.to_vec())).collect::<Vec<Fact>>()
        };
        let gone = list(&facts);
        observe(env, &mut facts);
        let mut agenda =
            Agenda::new(policy, alphabet, &universe).context("this size does not fit the agenda")?;
        agenda.load(&facts);
        let decider = Decider::new(policy, alphabet, &universe);
        let mut moment = Moment { gone, come: list(&facts), decision: None };
        let mut read = 0;
        for (at, action) in actions.iter().enumerate() {
            if moments.len().is_multiple_of(every) {
                let best = agenda.best();
                let ties =
                    if best.fires() { (0..best.len()).map(|k| best.nth(k)).collect() } else { Vec::new() };
                let decision = Decision { value: best.value(), ties };
                if (moments.len() / every).is_multiple_of(SAMPLES / CHECKED) {
                    observe(env, &mut facts);
                    let plain = decider.decide(&facts, alphabet, &universe);
                    ensure!(decision == plain, "agenda and decider differ at decision {}", moments.len());
                }
                moment.decision = Some(decision);
            }
            moments.push(std::mem::take(&mut moment));
            if at + 1 == actions.len() {
                // No one decides after the last action: this is what the next episode replaces.
                observe(env, &mut facts);
            }
            env.step(action.action, &action.args, &mut world);
            let journal = env.journal().context("this world keeps no journal")?;
            let mut net: BTreeMap<Fact, bool> = BTreeMap::new();
            for (pred, args, holds) in journal.since(read) {
                agenda.change(pred, args, holds);
                // What changes twice in one step is as it was.
                if net.remove(&(pred, args.to_vec())).is_none() {
                    net.insert((pred, args.to_vec()), holds);
                }
            }
            if at + 1 < actions.len() {
                changes += net.len();
            }
            for (fact, holds) in net {
                if holds { &mut moment.come } else { &mut moment.gone }.push(fact);
            }
            read = journal.len();
        }
    }
    Ok((moments, changes))
}

impl Figures {
    fn row(&self, name: &str, size: u32) -> Vec<String> {
        let mut row = vec![
            format!("{name} {}", thousands(u64::from(size))),
            thousands(self.facts as u64),
            format!("{:.1}", self.changed),
            thousands(self.decisions as u64),
            micros(self.first),
            micros(self.median),
            micros(self.most),
            micros(self.worst),
            micros(self.environment),
            format!("{} KiB", thousands(self.bytes as u64 / 1024)),
            format!("{} B", self.bytes / self.facts.max(1)),
        ];
        for rival in &self.rivals {
            row.push(micros(rival.median));
            row.push(thousands((rival.median / self.median) as u64));
        }
        row
    }

    fn json(&self, name: &str, size: u32) -> Value {
        let rival = |r: &Raced| {
            json!({
                "name": r.name, "median": r.median, "worst": r.worst, "states": r.states, "states_asked": r.asked,
                "same_answers": true, "to_ours": r.median / self.median,
            })
        };
        json!({
            "world": name,
            "size": size,
            "facts": self.facts,
            "facts_changed": self.changed,
            "decisions": self.decisions,
            "episodes": self.episodes,
            "first": self.first,
            "median": self.median,
            "percentile_99": self.most,
            "worst": self.worst,
            "environment_step": self.environment,
            "bytes": self.bytes,
            "rivals": self.rivals.iter().map(rival).collect::<Vec<_>>(),
        })
    }
}

/// The value that this share of all does not exceed.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let at = (share * values.len() as f64) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn micros(seconds: f64) -> String {
    let micros = seconds * 1e6;
    if micros < 10.0 { format!("{micros:.2}") } else { thousands(micros.round() as u64) }
}
