//! What training takes, said and refused before it fails for want of it.

use anyhow::bail;
use derrl_env::{Env, Rng};
use derrl_learn::{Config, Problem};
use derrl_logic::{Alphabet, EveryAction};

use crate::extent::{MOST_BYTES, memory};
use crate::say;

/// Memory of a ground action in a state that is kept, in bytes: its masks, rows and runs. Measured on blocks of 8 to 48, at one word per mask.
const ACTION_BYTES: f64 = 64.0;
/// What is kept of states from one update to the next, in bytes, per thread.
const KEPT_BYTES: f64 = 2.5e8;
/// Seconds that a substitution of all variables takes. Measured likewise.
const SUBSTITUTION_SECONDS: f64 = 3e-8;
/// What is not worth a word, and what is refused, in bytes and seconds.
const SMALL_BYTES: f64 = 1e9;
const SMALL_SECONDS: f64 = 600.0;
const MOST_SECONDS: f64 = 7.0 * 86_400.0;

/// What training takes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Takes {
    bytes: f64,
    /// Of one update.
    seconds: f64,
}

/// Says what training on this world takes where it is a good deal, and refuses what is too much, unless it is forced.
pub fn check(
    env: &mut dyn Env,
    alphabet: &Alphabet,
    problem: &Problem,
    config: &Config,
    threads: usize,
    force: bool,
) -> anyhow::Result<()> {
    if env.simulator().is_some() {
        return Ok(()); // a world of fixed size, and a dear one to ask
    }
    env.reset(&mut Rng::new(0, 0));
    let every = EveryAction::new(alphabet, env.universe());
    let words = problem.grounder.words();
    let takes = estimate(every.len(), every.objects(), alphabet.variables, words, config.batch, threads);
    let all = takes.seconds * config.updates as f64;
    let about = format!("about {} of memory and {} per update", memory(takes.bytes), time(takes.seconds));
    if (takes.bytes > MOST_BYTES || all > MOST_SECONDS) && !force {
        bail!(
            "training on {} objects and {} ground actions would take {about}; choose a smaller --size, or add --force to try all the \
             same",
            every.objects(),
            every.len()
        );
    }
    if takes.bytes > SMALL_BYTES || all > SMALL_SECONDS {
        say!("training takes {about}");
    }
    Ok(())
}

/// Each thread keeps the states of an update, each with its ground actions; a state is grounded under all substitutions.
fn estimate(
    actions: usize,
    objects: usize,
    variables: usize,
    words: usize,
    batch: usize,
    threads: usize,
) -> Takes {
    let (actions, words) = (actions as f64, words as f64);
    let states = batch as f64;
    let state = actions * ACTION_BYTES * words;
    let substitutions = (objects as f64).powi(variables as i32).max(actions);
    Takes {
        bytes: threads as f64 * (states * state + KEPT_BYTES),
        seconds: states * substitutions * words * SUBSTITUTION_SECONDS,
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "under 1 s".to_string(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 1e9 => format!("{:.0} h", s / 3600.0),
        _ => "years".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_sizes_pass_and_huge_ones_do_not() {
        let blocks = |n: usize| estimate(n * n, n + 1, 3, 1, 1024, 2);
        assert!(blocks(48).bytes < SMALL_BYTES && blocks(48).seconds < 60.0, "{:?}", blocks(48));
        assert!(blocks(3000).bytes > MOST_BYTES, "{:?}", blocks(3000));
        assert!(blocks(30_000).bytes > 1000.0 * MOST_BYTES, "{:?}", blocks(30_000));
    }
}
