//! `derrl watch`: an episode, played in the terminal.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use derrl::policies::load_policy;
use derrl_env::scene::{Grid, Scene};
use derrl_learn::{Ask, ExplainedStep, explain_episode};
use derrl_report::table::{WIDTH, fixed, list, wrap};

use crate::args::Watch;
use crate::explain::show_substitution;
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
    let ask = Ask::default();
    let id = (args.seed, u64::from(args.episode) - 1);
    let trace = explain_episode(&policy, &domain.alphabet, env.as_mut(), id, args.steps as usize, &ask)?;
    let paint = Paint::stdout(args.color);
    catch_interrupts();
    let mut total = 0.0;
    let mut pictures = Vec::with_capacity(trace.steps.len() + 1);
    for step in &trace.steps {
        let shown = fixed(total, 2);
        let head = format!("step {} of {}, return {shown}", step.step, trace.steps.len());
        let state = state(&step.scene, &step.explanation.facts, paint);
        pictures.push(format!("{}\n{state}{}", paint.faint(&head), decision(step, paint)));
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
    pictures.push(format!("{}\n{}{word}", paint.faint(&head), state(&end.scene, &end.facts, paint)));
    if std::io::stdout().is_terminal() {
        return play(&pictures, Duration::from_secs_f64(args.seconds), paint);
    }
    for picture in &pictures {
        print(&format!("{picture}\n"));
        check()?;
    }
    Ok(())
}

/// An error once Ctrl-C was pressed.
fn check() -> Outcome {
    if interrupted() { Err(Failure::Interrupted("interrupted".to_string())) } else { Ok(()) }
}

/// How often a terminal is looked at for keys.
const LOOK: Duration = Duration::from_millis(30);

/// Shows pictures one after the other, each in place of the one before. Space stops and goes on, arrows step, `q` ends.
fn play(pictures: &[String], each: Duration, paint: Paint) -> Outcome {
    let keys = Keys::listen();
    let hint = keys.as_ref().map_or("", |_| "space: stop and go on, arrows: step, q: end");
    let (mut at, mut stopped) = (0, false);
    while at < pictures.len() {
        print(&format!("\x1b[H\x1b[2J{}\n{}\n", pictures[at], paint.faint(hint)));
        let since = Instant::now();
        at = loop {
            check()?;
            match keys.as_ref().and_then(Keys::pressed) {
                Some(Key::End) => return Ok(()),
                Some(Key::Stop) => stopped = !stopped,
                Some(Key::Back) => {
                    stopped = true;
                    break at.saturating_sub(1);
                }
                Some(Key::Forward) => {
                    stopped = true;
                    break (at + 1).min(pictures.len() - 1);
                }
                None => {}
            }
            if !stopped && since.elapsed() >= each {
                break at + 1;
            }
            std::thread::sleep(LOOK.min(each));
        };
    }
    Ok(())
}

/// What a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Stop,
    Back,
    Forward,
    End,
}

impl Key {
    /// The key that a terminal sends these bytes for.
    fn of(bytes: &[u8]) -> Option<Key> {
        match bytes {
            b" " => Some(Key::Stop),
            b"q" | b"Q" => Some(Key::End),
            b"\x1b[D" | b"\x1bOD" => Some(Key::Back),
            b"\x1b[C" | b"\x1bOC" => Some(Key::Forward),
            _ => None,
        }
    }
}

/// A terminal that gives keys as they are pressed, until it is dropped.
#[cfg(unix)]
struct Keys(rustix::termios::Termios);

#[cfg(unix)]
impl Keys {
    /// `None` where nobody is there to press keys.
    fn listen() -> Option<Keys> {
        use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mut at_once = before.clone();
        at_once.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        // Reading gives what there is and never waits.
        at_once.special_codes[SpecialCodeIndex::VMIN] = 0;
        at_once.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(std::io::stdin(), OptionalActions::Now, &at_once).ok()?;
        Some(Keys(before))
    }

    #[allow(clippy::unused_self, reason = "keys are there as long as it lives")]
    fn pressed(&self) -> Option<Key> {
        let mut bytes = [0; 8];
        let count = std::io::Read::read(&mut std::io::stdin(), &mut bytes).unwrap_or(0);
        Key::of(&bytes[..count])
    }
}

#[cfg(unix)]
impl Drop for Keys {
    fn drop(&mut self) {
        let now = rustix::termios::OptionalActions::Now;
        let _ = rustix::termios::tcsetattr(std::io::stdin(), now, &self.0);
    }
}

#[cfg(not(unix))]
struct Keys;

#[cfg(not(unix))]
impl Keys {
    fn listen() -> Option<Keys> {
        None
    }

    fn pressed(&self) -> Option<Key> {
        None
    }
}

fn decision(step: &ExplainedStep, paint: Paint) -> String {
    let e = &step.explanation;
    let why = match &e.fired {
        None => paint.unsure("no rule fires: any action may be chosen"),
        Some(m) => {
            let rule = paint.rule(wrap(&m.text, "  ", WIDTH).trim_end());
            format!("{rule}{}", show_substitution(m))
        }
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
        Scene::Roads(_)
        | Scene::Streets(_)
        | Scene::Cart(_)
        | Scene::Image(_)
        | Scene::Objects(_)
        | Scene::Facts => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_what_terminals_send() {
        let all = [&b" "[..], b"q", b"\x1b[C", b"\x1bOD", b"\x1b", b"", b"x"].map(Key::of);
        let known = [Some(Key::Stop), Some(Key::End), Some(Key::Forward), Some(Key::Back), None, None, None];
        assert_eq!(all, known);
    }
}
