//! `derrl watch`: an episode, played in the terminal.

mod letters;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use derrl::policies::load_policy;
use derrl_learn::{Ask, ExplainedStep, explain_episode};
use derrl_report::table::{WIDTH, fixed, wrap};

use crate::args::Watch;
use crate::explain::show_substitution;
use crate::failure::{Failure, Outcome};
use crate::output::print;
use crate::progress::{catch_interrupts, interrupted};
use crate::style::Paint;
use letters::Letters;

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
    let facts = trace.steps.iter().map(|step| &step.explanation.facts).chain([&trace.end.facts]);
    let letters = Letters::new(facts.map(Vec::as_slice), paint);
    let mut total = 0.0;
    let mut pictures = Vec::with_capacity(trace.steps.len() + 1);
    for step in &trace.steps {
        let shown = fixed(total, 2);
        let head = format!("step {} of {}, return {shown}", step.step, trace.steps.len());
        let state = letters.state(&step.scene, &step.explanation.facts);
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
    pictures.push(format!("{}\n{}{word}", paint.faint(&head), letters.state(&end.scene, &end.facts)));
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
