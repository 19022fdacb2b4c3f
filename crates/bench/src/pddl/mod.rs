//! `derrl-bench pddl`: how fast planning problems load and step, and the time to a plan beside Fast Downward's LAMA.

pub mod lama;

use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use derrl_learn::Actor;
use derrl_logic::{Policy, Source};
use derrl_pddl::bench;
use derrl_pddl::generate::{GENERATORS, Generator};
use derrl_pddl::{Problem, Problems, Task, Translation};
use serde_json::{Value, json};

use crate::Report;
use crate::args::Bench;
use derrl::pddl::play;
use derrl_report::table::{columns, thousands};
use lama::{Lama, Planned};

/// Objects of the large problems.
const LARGE: usize = 1_000;
/// Facts of the problem that is loaded.
const FACTS: usize = 20_000;
/// Sizes of the problems that are planned for, until LAMA takes longer than [`PATIENCE`].
const SIZES: [usize; 8] = [10, 20, 50, 100, 200, 500, 1_000, 2_000];
/// Seconds that LAMA may take.
const PATIENCE: u32 = 60;

/// Measures the simulator on small and large problems, then sets rules beside LAMA.
pub fn run(args: &Bench) -> anyhow::Result<Report> {
    let generators: Vec<&Generator> = GENERATORS
        .iter()
        .filter(|g| args.domains.is_empty() || args.domains.iter().any(|d| d == g.name))
        .collect();
    if generators.is_empty() {
        let names: Vec<&str> = GENERATORS.iter().map(|g| g.name).collect();
        bail!("--domain: the domains of `bench pddl` are {}", names.join(", "));
    }
    let (small, small_json) = small(&generators, args.seconds)?;
    let (large, large_json) = large(&generators, args.seconds)?;
    let (facts, seconds) = bench::load(FACTS)?;
    let lama = Lama::installed();
    let (plans, plans_json) = plans(&generators, lama.as_ref(), args.seed)?;
    let beside = match lama {
        Some(_) => format!("sizes grow until LAMA needs more than {PATIENCE} s"),
        None => "LAMA is left out: `pip install --no-deps up-fast-downward==1.0.0` brings it".to_string(),
    };
    let text = format!(
        "small problems, random legal actions, one thread: steps per second\n\n{small}\n\
         large problems (size {LARGE})\n\n{large}\n\
         a problem of {} facts loads in {seconds:.2} s\n\n\
         from the text of a problem to a plan, by the rules that come with each domain\n\
         {beside}\n\n{plans}",
        thousands(facts as u64),
    );
    let json = json!({
        "small": small_json, "large": large_json, "load": {"facts": facts, "seconds": seconds}, "plans": plans_json,
    });
    Ok(Report { text, json })
}

/// A row of a table from words.
fn row<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

fn small(generators: &[&Generator], seconds: f64) -> anyhow::Result<(String, Value)> {
    let mut rows = vec![row(["domain", "objects", "simulator", "and listing legal", "environment"])];
    let mut list = Vec::new();
    for generator in generators {
        let s = bench::small(generator, seconds)?;
        let mut cells = row([generator.name, &s.objects.to_string()]);
        cells.extend([s.steps, s.legal_steps, s.env_steps].map(|rate| thousands(rate as u64)));
        rows.push(cells);
        list.push(json!({
            "domain": generator.name, "objects": s.objects, "steps": s.steps, "legal_steps": s.legal_steps,
            "env_steps": s.env_steps,
        }));
    }
    Ok((columns(&rows, ""), list.into()))
}

fn large(generators: &[&Generator], seconds: f64) -> anyhow::Result<(String, Value)> {
    let mut rows =
        vec![row(["domain", "objects", "facts", "load s", "step µs", "legal µs", "legal actions"])];
    let mut list = Vec::new();
    for generator in generators {
        let l = bench::large(generator, LARGE, seconds)?;
        rows.push(row([
            generator.name,
            &thousands(l.objects as u64),
            &thousands(l.facts as u64),
            &format!("{:.3}", l.load_seconds),
            &format!("{:.2}", l.step_micros),
            &format!("{:.1}", l.legal_micros),
            &thousands(l.legal as u64),
        ]));
        list.push(json!({
            "domain": generator.name, "objects": l.objects, "facts": l.facts, "load_seconds": l.load_seconds,
            "step_micros": l.step_micros, "legal_micros": l.legal_micros, "legal": l.legal,
        }));
    }
    Ok((columns(&rows, ""), list.into()))
}

/// Rules beside LAMA on problems that grow.
fn plans(generators: &[&Generator], lama: Option<&Lama>, seed: u64) -> anyhow::Result<(String, Value)> {
    let mut rows = vec![row([
        "domain",
        "size",
        "rules s",
        "first ms",
        "µs per decision",
        "steps",
        "LAMA s",
        "LAMA's steps",
    ])];
    let mut list = Vec::new();
    for generator in generators {
        let Some(rules) = generator.policy else { continue };
        for size in SIZES {
            if size > generator.largest {
                break;
            }
            say!("{} of size {size}", generator.name);
            let text = generator.problem(size, seed);
            let ruled = by_rules((generator, rules), &text, seed)?;
            let planned = lama.map(|l| l.plan(generator.domain, &text, PATIENCE)).transpose()?;
            let later = ruled.steps.saturating_sub(1).max(1);
            let per_decision = 1e6 * (ruled.seconds_acting - ruled.first_decision) / later as f64;
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_string());
            rows.push(row([
                generator.name,
                &thousands(size as u64),
                &format!("{:.3}", ruled.seconds),
                &format!("{:.1}", 1e3 * ruled.first_decision),
                &format!("{per_decision:.1}"),
                &thousands(ruled.steps as u64),
                &or_none(planned.map(|p| format!("{:.1}", p.seconds))),
                &or_none(planned.and_then(|p| p.steps).map(|n| thousands(n as u64))),
            ]));
            list.push(json!({
                "domain": generator.name, "size": size, "seconds": ruled.seconds,
                "first_seconds": ruled.first_decision, "decision_micros": per_decision,
                "steps": ruled.steps, "lama_seconds": planned.map(|p| p.seconds),
                "lama_steps": planned.and_then(|p| p.steps),
            }));
            if planned.is_some_and(|p: Planned| p.steps.is_none()) {
                break;
            }
        }
    }
    Ok((columns(&rows, ""), list.into()))
}

/// What rules did in a problem.
struct Ruled {
    /// Seconds in all: reading, compiling and acting.
    seconds: f64,
    /// Of these, acting.
    seconds_acting: f64,
    /// Of these, until the first decision: from then on only changes are looked at.
    first_decision: f64,
    steps: usize,
}

/// Reads a problem and acts in it by the rules that come with its domain. What they did is checked as a plan.
fn by_rules((generator, rules): (&Generator, &str), text: &str, seed: u64) -> anyhow::Result<Ruled> {
    let start = Instant::now();
    let domain = generator.domain()?;
    let problem = Problem::parse(&Source::new("problem.pddl", text.to_string()), &domain)?;
    let task = Arc::new(Task::new(&domain, problem)?);
    let translation = Translation::new(&domain, [task.as_ref()])?;
    let source = Source::new(format!("{}/policy.pl", generator.name), rules);
    let alphabet = Arc::new(translation.alphabet_for(&source)?);
    let (policy, alphabet) = Policy::read(&source, &alphabet)?;
    let problems = Arc::new(Problems::new(&translation, &alphabet, vec![Arc::clone(&task)], None)?);
    let mut actor = Actor::new(&policy, &alphabet);
    let acting = Instant::now();
    let (_, played) = play(&mut actor, (&alphabet, &Arc::default()), &problems, 0, seed)?;
    let (seconds, seconds_acting) = (start.elapsed().as_secs_f64(), acting.elapsed().as_secs_f64());
    let checked = played.plan.check(&task)?;
    if !played.solved {
        bail!("the rules of {} do not solve a problem of {} objects", generator.name, task.size());
    }
    Ok(Ruled { seconds, seconds_acting, first_decision: played.first_decision, steps: checked.steps })
}
