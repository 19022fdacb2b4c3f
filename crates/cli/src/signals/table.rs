//! `derrl reproduce signals`: every controller on every scenario, with the same traffic, as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use derrl::domain::Domain;
use derrl_files::bounded::read_text;
use derrl_files::lock::Lock;
use derrl_files::provenance::{commit, machine, today};
use derrl_files::safe_file::{self, append_line, make_folder};
use derrl_logic::Source;
use derrl_traci::Sumo;
use derrl_traci::scenario::{Hands, Look, Manner, RESCO, Rival, Scenario};
use serde::{Deserialize, Serialize};

use super::Driver;
use crate::args::Reproduce;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::{catch_interrupts, interrupted};
use crate::say;

/// The four rules, as `examples/traffic-lights` has them.
const RULES: &str = include_str!("../../traffic-lights/four-rules.pl");

/// What the rules are called in the table.
const OURS: &str = "four rules";

/// Seeds of the traffic, by which no rule was chosen. They lie far apart, because SUMO gives each of 64 groups of lanes a seed of its
/// own, counted up from the one it is given: seeds 1 and 2 share nearly all of their chance.
const SEEDS: u64 = 20;
const APART: u64 = 1000;

/// Scenarios that take seconds, for `--quick`.
const QUICK: [&str; 3] = ["cologne1", "cologne3", "ingolstadt1"];

/// Best episodes that RESCO publishes (mean delay in seconds, SUMO 1.9), in the order of [`RESCO`].
const PUBLISHED: [(&str, [f64; 8]); 2] = [
    ("IDQN", [26.1, 24.0, 22.1, 21.5, 31.2, 59.6, 33.0, 1168.0]),
    ("IPPO", [43.2, 24.0, 21.6, 20.9, 31.7, 93.1, 44.0, 687.0]),
];

/// One hour, as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    scenario: String,
    controller: String,
    /// Seconds of clearance at the most.
    clearance: u64,
    seed: u64,
    /// The version of SUMO.
    sumo: String,
    delay: f64,
    waiting: f64,
    travel: f64,
    queue: f64,
    stuck: usize,
    /// Vehicles towed away out of rings.
    towed: usize,
    missing: usize,
}

type Key = (String, String, u64, u64, String);

impl Run {
    fn key(&self) -> Key {
        let Run { scenario, controller, clearance, seed, sumo, .. } = self;
        (scenario.clone(), controller.clone(), *clearance, *seed, sumo.clone())
    }
}

/// Runs what is missing, then writes the tables.
pub fn reproduce(args: &Reproduce) -> Outcome {
    let commit = commit();
    let sumo = Sumo::find()?;
    let names: Vec<&str> = match (args.domains.as_slice(), args.quick) {
        ([], true) => QUICK.to_vec(),
        ([], false) => RESCO.to_vec(),
        (asked, _) => asked.iter().map(String::as_str).collect(),
    };
    let seeds = args.seeds.unwrap_or(if args.quick { 2 } else { SEEDS });
    let scenarios: Vec<Arc<Scenario>> =
        names.iter().map(|name| super::scenario(&sumo, name).map(Arc::new)).collect::<Result<_, _>>()?;
    let domain = Domain::load("signals", false)?;
    let (policy, alphabet) =
        derrl_logic::Policy::read(&Source::new("four-rules.pl", RULES), &domain.alphabet)?;
    let rules = Driver::Rules(Box::new(policy), alphabet);
    let mut drivers = vec![(OURS.to_string(), rules)];
    drivers.extend(Rival::ALL.map(|rival| (rival.to_string(), Driver::Rival(rival))));
    let clearances = |driver: &Driver| match driver {
        // SUMO operates its own programs.
        Driver::Rival(rival) if rival.hands() != Hands::Ours => vec![0],
        _ => vec![Manner::default().safety.clearance, 0],
    };
    make_folder(&args.out)?;
    let _lock = Lock::of(&args.out)?; // held to the end
    let file = args.out.join("signals.jsonl");
    let mut runs: BTreeMap<Key, Run> = BTreeMap::new();
    if file.exists() {
        let text = read_text(&file, 64 << 20)?;
        for (n, line) in text.lines().enumerate() {
            let run: Run = serde_json::from_str(line)
                .with_context(|| format!("{}:{}: not a run; remove the line", file.display(), n + 1))?;
            if !args.again.contains(&run.controller) {
                runs.insert(run.key(), run);
            }
        }
    }
    // Seeds first, so that an interrupted table is one of fewer seeds.
    let mut jobs: Vec<(usize, usize, u64, u64)> = Vec::new();
    for seed in (1..=seeds).map(|n| n * APART) {
        for (s, scenario) in scenarios.iter().enumerate() {
            for (d, (name, driver)) in drivers.iter().enumerate() {
                for clearance in clearances(driver) {
                    let key =
                        (scenario.name().to_string(), name.clone(), clearance, seed, sumo.version.clone());
                    if !runs.contains_key(&key) {
                        jobs.push((s, d, clearance, seed));
                    }
                }
            }
        }
    }
    catch_interrupts();
    let threads = args.threads.map_or_else(derrl_learn::cores, usize::from).min(jobs.len()).max(1);
    let (next, total) = (AtomicUsize::new(0), jobs.len());
    let done: Mutex<Vec<Run>> = Mutex::new(Vec::new());
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let work = || {
        while let Some(&(s, d, clearance, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (scenario, (name, driver)) = (&scenarios[s], &drivers[d]);
            let safety = derrl_traci::scenario::Safety { clearance, ..Manner::default().safety };
            let manner = Manner { safety, look: Look::Always, ..Manner::default() };
            let driven = driver.drive(&sumo, scenario, seed, &manner, &mut || !interrupted());
            let kept = driven.and_then(|driven| {
                let Some(hour) = driven.map(|d| d.hour).filter(|_| !interrupted()) else { return Ok(false) };
                let run = Run {
                    scenario: scenario.name().to_string(),
                    controller: name.clone(),
                    clearance,
                    seed,
                    sumo: sumo.version.clone(),
                    delay: hour.trips.delay,
                    waiting: hour.trips.waiting,
                    travel: hour.trips.travel,
                    queue: hour.queue,
                    stuck: hour.stuck,
                    towed: hour.towed,
                    missing: hour.trips.unfinished + hour.trips.undeparted,
                };
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                append_line(&file, &serde_json::to_string(&run)?)?;
                done.push(run);
                if done.len().is_multiple_of(20) {
                    say!("{} of {total} hours", done.len());
                }
                Ok(true)
            });
            match kept {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error.into());
    }
    if interrupted() {
        let text = "interrupted; what is finished is kept. Resume with the same command";
        return Err(Failure::Interrupted(text.to_string()));
    }
    let fresh = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    runs.extend(fresh.into_iter().map(|run| (run.key(), run)));
    let within = 1..=seeds * APART;
    let shown: Vec<&Run> =
        runs.values().filter(|r| r.sumo == sumo.version && within.contains(&r.seed)).collect();
    let names: Vec<&str> = scenarios.iter().map(|s| s.name()).collect();
    let controllers: Vec<&str> = drivers.iter().map(|(name, _)| name.as_str()).collect();
    let table = Table { runs: &shown, scenarios: &names, controllers: &controllers };
    let head = format!(
        "SUMO {}, {seeds} seeds (1000, 2000, ...), commit {commit}, {}, {}.\n",
        sumo.version,
        today(),
        machine(threads)
    );
    let text = table.markdown(&head);
    safe_file::write(&args.out.join("signals.md"), &text)?;
    let document =
        serde_json::json!({ "simulator": sumo.version, "runs": shown, "comparison": table.compared() });
    safe_file::write(&args.out.join("signals.json"), &serde_json::to_string_pretty(&document)?)?;
    if args.json {
        print_json(&document)?;
    } else {
        print(&text);
        let out = args.out.display();
        print(&format!("\nwritten to {out}: signals.md, signals.json, signals.jsonl\n"));
    }
    Ok(())
}

/// The figures, arranged.
struct Table<'a> {
    runs: &'a [&'a Run],
    scenarios: &'a [&'a str],
    controllers: &'a [&'a str],
}

/// How the rules do beside the best other controller of a scenario.
#[derive(Serialize)]
struct Compared {
    scenario: String,
    rules: f64,
    best: String,
    best_delay: f64,
    /// The mean share by which the rules are better, by the same traffic, with the half width of its 95 % interval.
    better: f64,
    within: f64,
}

impl Table<'_> {
    fn of(&self, scenario: &str, controller: &str, clearance: u64) -> Vec<&Run> {
        let of = |r: &&&Run| r.scenario == scenario && r.controller == controller && r.clearance == clearance;
        self.runs.iter().copied().filter(|r| of(&r)).collect()
    }

    /// Those with clearance; SUMO's own programs, which have none, by themselves.
    fn cleared(&self, scenario: &str, controller: &str) -> Vec<&Run> {
        let with = self.of(scenario, controller, Manner::default().safety.clearance);
        if with.is_empty() { self.of(scenario, controller, 0) } else { with }
    }

    fn row(&self, title: &str, cell: impl Fn(&str) -> String) -> String {
        let cells: Vec<String> = self.scenarios.iter().map(|s| cell(s)).collect();
        format!("| {title} | {} |\n", cells.join(" | "))
    }

    fn markdown(&self, head: &str) -> String {
        let mut text = format!("# Real traffic lights\n\n{head}");
        let columns = |text: &mut String, title: &str| {
            let names: String = self.scenarios.iter().flat_map(|s| [" ", s, " |"]).collect();
            let _ = write!(text, "\n{title}\n\n| |{names}\n|---|{}\n", "---|".repeat(self.scenarios.len()));
        };
        let delay = |runs: Vec<&Run>| figure(&runs.iter().map(|r| r.delay).collect::<Vec<_>>());
        columns(
            &mut text,
            "Mean delay per vehicle in seconds (time lost on the road and waited for room to enter, vehicles that never arrived \
             or entered included), with its standard error. Up to 5 s of clearance for all but SUMO's own programs, which \
             operate by themselves.",
        );
        for name in self.controllers {
            text += &self.row(name, |s| delay(self.cleared(s, name)));
        }
        columns(&mut text, "The same without clearance.");
        for name in self.controllers {
            text += &self.row(name, |s| delay(self.of(s, name, 0)));
        }
        for (title, of) in [
            ("Seconds stood per vehicle, with clearance.", (|r: &Run| r.waiting) as fn(&Run) -> f64),
            ("Seconds on the road per vehicle, with clearance.", |r: &Run| r.travel),
            ("Vehicles that stand before a light, with clearance.", |r: &Run| r.queue),
        ] {
            columns(&mut text, title);
            for name in self.controllers {
                text += &self.row(name, |s| {
                    let all: Vec<f64> = self.cleared(s, name).iter().map(|r| of(r)).collect();
                    mean(&all).map_or_else(|| "-".to_string(), |m| format!("{m:.1}"))
                });
            }
        }
        columns(
            &mut text,
            "Deadlocked hours: with clearance, without. In these, vehicles had stood inside a junction for five minutes in the end.",
        );
        for name in self.controllers {
            let dead = |runs: Vec<&Run>| runs.iter().filter(|r| r.stuck > 0).count();
            text += &self
                .row(name, |s| format!("{}, {}", dead(self.cleared(s, name)), dead(self.of(s, name, 0))));
        }
        text += "\nThe rules beside the best other controller of each scenario, both with clearance, on the same traffic:\n\n";
        text +=
            "| scenario | four rules | best other | its delay | better by (95 %) |\n|---|---|---|---|---|\n";
        for c in self.compared() {
            let _ = writeln!(
                text,
                "| {} | {:.1} | {} | {:.1} | {:.1} % ± {:.1} |",
                c.scenario,
                c.rules,
                c.best,
                c.best_delay,
                100.0 * c.better,
                100.0 * c.within
            );
        }
        text += "\nBest episodes that RESCO publishes, with another version of SUMO (1.9), so for orientation only:\n";
        columns(&mut text, "Mean delay in seconds.");
        for (name, values) in PUBLISHED {
            text += &self.row(name, |s| {
                let known = RESCO.iter().position(|r| *r == s);
                known.map_or_else(|| "-".to_string(), |at| format!("{:.1}", values[at]))
            });
        }
        text
    }

    fn compared(&self) -> Vec<Compared> {
        let of = |scenario: &&str| {
            let ours = self.cleared(scenario, OURS);
            let others = self.controllers.iter().filter(|c| **c != OURS);
            let means = others.filter_map(|c| {
                let delays: Vec<f64> = self.cleared(scenario, c).iter().map(|r| r.delay).collect();
                Some((*c, mean(&delays)?))
            });
            let (best, best_delay) = means.min_by(|a, b| a.1.total_cmp(&b.1))?;
            let theirs = self.cleared(scenario, best);
            let pairs =
                ours.iter().filter_map(|r| Some((r.delay, theirs.iter().find(|t| t.seed == r.seed)?.delay)));
            let shares: Vec<f64> = pairs.map(|(ours, theirs)| 1.0 - ours / theirs).collect();
            let (better, error) = mean_error(&shares)?;
            Some(Compared {
                scenario: (*scenario).to_string(),
                rules: mean(&ours.iter().map(|r| r.delay).collect::<Vec<_>>())?,
                best: best.to_string(),
                best_delay,
                better,
                within: student(shares.len()) * error,
            })
        };
        self.scenarios.iter().filter_map(of).collect()
    }
}

/// How many standard errors a 95 % interval reaches to either side, by Student's distribution.
fn student(n: usize) -> f64 {
    const TWO_SIDED: [f64; 20] = [
        12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    ];
    match n.checked_sub(2) {
        None => f64::NAN,
        Some(at) => TWO_SIDED.get(at).copied().unwrap_or(2.0),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    mean_error(values).map(|(mean, _)| mean)
}

fn mean_error(values: &[f64]) -> Option<(f64, f64)> {
    (!values.is_empty()).then(|| derrl_learn::mean_stderr(values))
}

fn figure(values: &[f64]) -> String {
    match mean_error(values) {
        None => "-".to_string(),
        Some((mean, error)) if values.len() > 1 => format!("{mean:.1} ± {error:.1}"),
        Some((mean, _)) => format!("{mean:.1}"),
    }
}
