//! `derrl watch`: an episode, played in the terminal.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::time::Duration;

use derrl::policies::load_policy;
use derrl_env::scene::{Grid, Scene};
use derrl_learn::{Ask, Bounds, ExplainedStep, Others, WhatIfs, explain_episode};
use derrl_report::table::{WIDTH, fixed, list, wrap};

use crate::args::Watch;
use crate::failure::{Failure, Outcome};
use crate::output::print;
use crate::progress::{catch_interrupts, interrupted};
use crate::style::Paint;

/// Facts of a state that are shown, at the most.
const MOST_FACTS: usize = 24;

/// Plays an episode, step by step. On a terminal each step replaces the one before; elsewhere they follow each other at once.
pub fn run(args: &Watch) -> Outcome {
    if !(0.0..=60.0).contains(&args.seconds) {
        return Err(anyhow::anyhow!("--seconds is a number from 0 to 60, not {}", args.seconds).into());
    }
    let (policy, domain) = load_policy(&args.policy, args.domain.as_deref(), args.world.untyped)?;
    let task = args.task.as_deref().unwrap_or("train");
    let mut env = domain.world.make(&domain.alphabet, task, &args.world.options())?;
    let ask = Ask { others: Others::None, what_if: WhatIfs::None, bounds: Bounds::default(), until: None };
    let id = (args.seed, u64::from(args.episode) - 1);
    let trace = explain_episode(&policy, &domain.alphabet, env.as_mut(), id, args.steps as usize, &ask)?;
    let paint = Paint::stdout(args.color);
    let on_terminal = std::io::stdout().is_terminal();
    catch_interrupts();
    let mut total = 0.0;
    let show = |text: &str| -> Outcome {
        let clear = if on_terminal { "\x1b[H\x1b[2J" } else { "" };
        print(&format!("{clear}{text}\n"));
        if on_terminal {
            std::thread::sleep(Duration::from_secs_f64(args.seconds));
        }
        if interrupted() { Err(Failure::Interrupted("interrupted".to_string())) } else { Ok(()) }
    };
    for step in &trace.steps {
        let head = format!("step {} of {}, return {}", step.step, trace.steps.len(), fixed(total, 2));
        show(&format!(
            "{}\n{}{}",
            paint.faint(&head),
            state(&step.scene, &step.explanation.facts, paint),
            decision(step, paint)
        ))?;
        total += step.reward;
    }
    let end = &trace.end;
    let word = match (end.status, end.success) {
        (_, Some(true)) => paint.good("the goal is reached"),
        ("running", _) => paint.unsure("the episode goes on"),
        (_, None) => paint.strong("the episode is over"),
        (_, Some(false)) => paint.bad("the goal is not reached"),
    };
    let head = format!("end after {} steps, return {}", trace.steps.len(), fixed(end.total, 2));
    show(&format!("{}\n{}{word}", paint.faint(&head), state(&end.scene, &end.facts, paint)))
}

fn decision(step: &ExplainedStep, paint: Paint) -> String {
    let e = &step.explanation;
    let why = match &e.fired {
        None => paint.unsure("no rule fires: any action may be chosen"),
        Some(m) => paint.rule(wrap(&m.text, "  ", WIDTH).trim_end()),
    };
    format!("{}\n{why}\n", paint.strong(&e.action))
}

/// A state in letters: stacks and grids are drawn, other states are facts.
fn state(scene: &Scene, facts: &[String], paint: Paint) -> String {
    match scene {
        Scene::Stacks(scene) => {
            let wide = scene.blocks.iter().map(|b| b.chars().count()).max().unwrap_or(1);
            let high = scene.stacks.iter().map(Vec::len).max().unwrap_or(0);
            let mut text = String::new();
            for level in (0..high).rev() {
                for stack in &scene.stacks {
                    let block =
                        stack.get(level).map_or(String::new(), |b| format!("[{:^wide$}]", scene.name(*b)));
                    let _ = write!(text, " {block:>0$}", wide + 2);
                }
                text.push('\n');
            }
            let floor = "-".repeat(scene.stacks.len() * (wide + 3) + 1);
            let goal = wrap(&format!("goal: {}", scene.wanted()), "", WIDTH);
            format!("{text}{floor}\n{}\n", paint.faint(&goal))
        }
        Scene::Grid(scene) => format!("{}\n", grid(scene, paint)),
        Scene::Numbers(scene) => {
            let rest: Vec<String> = scene.numbers.iter().skip(scene.taken).map(i64::to_string).collect();
            let line = |n: i64| match n {
                n if n == scene.acc && n == scene.goal => paint.good("@"),
                n if n == scene.acc => paint.strong("o"),
                n if n == scene.goal => paint.good("F"),
                _ => ".".to_string(),
            };
            let axis: Vec<String> = (scene.range.0..=scene.range.1).map(line).collect();
            format!(
                "stack: {}\n{} {} {}\nsum {} (o), goal {} (F)\n\n",
                if rest.is_empty() { "empty".to_string() } else { rest.join(" ") },
                scene.range.0,
                axis.join(" "),
                scene.range.1,
                scene.acc,
                scene.goal
            )
        }
        Scene::Text { text } => format!("{text}\n\n"),
        Scene::Roads(_) | Scene::Streets(_) | Scene::Image(_) | Scene::Objects(_) | Scene::Facts => {
            format!("{}\n", wrap(&list(facts, MOST_FACTS), "", WIDTH))
        }
    }
}

fn grid(scene: &Grid, paint: Paint) -> String {
    let mut text = String::new();
    for (y, row) in scene.rows.iter().enumerate() {
        for (x, square) in row.chars().enumerate() {
            let here = (x as u32, y as u32);
            let thing = scene.things.iter().find(|t| t.at == here);
            let sign = if scene.agent.at == here {
                let facing = match scene.agent.facing {
                    Some(0) => ">",
                    Some(1) => "v",
                    Some(2) => "<",
                    Some(_) => "^",
                    None => "@",
                };
                paint.strong(facing)
            } else {
                match (thing.map(|t| (t.kind, t.state)), square) {
                    (Some(("goal", _)), _) => paint.good("F"),
                    (Some(("key", _)), _) => paint.unsure("k"),
                    (Some(("door", Some("open"))), _) => "'".to_string(),
                    (Some(("door", _)), _) => paint.bad("D"),
                    (Some(_), _) | (None, '#') => "#".to_string(),
                    (None, _) => paint.faint("."),
                }
            };
            text.push_str(&sign);
            text.push(' ');
        }
        text.push('\n');
    }
    let hand = scene.agent.holds.as_ref().and_then(|t| t.name.as_deref());
    if let Some(name) = hand {
        let _ = writeln!(text, "{}", paint.faint(&format!("carrying {name}")));
    }
    text
}
