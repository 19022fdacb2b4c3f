//! What training takes: oversized jobs are refused, with an estimate.

use anyhow::bail;
use derrl_env::{Entered, Env, Rng, list_legal, observe};
use derrl_learn::{Config, Problem};
use derrl_logic::{Action, Alphabet, EveryAction, Facts};

use crate::extent::{MOST_BYTES, memory};

/// Memory of a ground action in a state that is kept, in bytes: its masks, rows and runs. Measured on blocks of 8 to 48, at one word per mask.
const ACTION_BYTES: f64 = 64.0;
/// What is kept of states from one update to the next, in bytes, per thread.
const KEPT_BYTES: f64 = 2.5e8;
/// Seconds that a substitution of all variables takes. Measured likewise.
const SUBSTITUTION_SECONDS: f64 = 3e-8;
/// How many times as many actions may be legal later on as at the start.
const LATER: f64 = 4.0;
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

/// What training on this world takes, in words, where it is a good deal. An error where it is too much, unless it is forced.
pub fn check(
    env: &mut dyn Env,
    alphabet: &Alphabet,
    problem: &Problem,
    config: &Config,
    threads: usize,
    force: bool,
) -> anyhow::Result<Option<String>> {
    if env.simulator().is_some() {
        return Ok(None); // a world of fixed size, and a dear one to ask
    }
    enter_largest(env);
    let every = EveryAction::new(alphabet, env.universe());
    let words = problem.grounder.words();
    let heads: Vec<Head> = (0..alphabet.actions.len() as u32)
        .map(Action)
        .map(|a| {
            let arity = alphabet.action(a).args.len();
            Head { actions: every.len_of(a), spare: alphabet.variables_for(arity) - arity }
        })
        .collect();
    let mut facts = Facts::new(alphabet);
    observe(env, &mut facts);
    let mut legal = Vec::new();
    let listed = list_legal(env, alphabet, &facts, &mut legal);
    let share = if listed { legal_share(legal.len(), every.len()) } else { 1.0 };
    let takes = estimate(&heads, share, every.objects(), words, config.batch, threads);
    let all = takes.seconds * config.updates as f64;
    let about = format!("about {} of memory and {} per update", memory(takes.bytes), time(takes.seconds));
    if (takes.bytes > MOST_BYTES || all > MOST_SECONDS) && !force {
        bail!(
            "training on {} objects and {} ground actions would take {about}; train on smaller instances, or add --force to try \
             all the same",
            every.objects(),
            every.len()
        );
    }
    let is_much = takes.bytes > SMALL_BYTES || all > SMALL_SECONDS;
    Ok(is_much.then(|| format!("training takes {about}")))
}

/// Starts an episode: of instances that somebody chose in the largest in which something is to be done.
fn enter_largest(env: &mut dyn Env) {
    let sizes: Vec<Option<usize>> = (0..env.instances())
        .map(|i| (env.enter(i) == Entered::Begun).then(|| env.universe().len()))
        .collect();
    match (0..sizes.len()).filter(|&i| sizes[i].is_some()).max_by_key(|&i| sizes[i]) {
        Some(largest) => drop(env.enter(largest)),
        None => env.reset(&mut Rng::new(0, 0)),
    }
}

/// An action: how many ground ones there are, and the variables that its rules have beside the head's.
#[derive(Clone, Copy, Debug)]
struct Head {
    actions: usize,
    spare: usize,
}

/// The share of all ground actions that are legal at once, at the most and about, given how many are at the start.
fn legal_share(at_the_start: usize, all: usize) -> f64 {
    (LATER * at_the_start.max(1) as f64 / all.max(1) as f64).min(1.0)
}

/// Each thread keeps the states of an update, each with its legal ground actions; these are grounded under all substitutions.
fn estimate(heads: &[Head], share: f64, objects: usize, words: usize, batch: usize, threads: usize) -> Takes {
    let (states, words, objects) = (batch as f64, words as f64, objects as f64);
    let actions = share * heads.iter().map(|h| h.actions as f64).sum::<f64>();
    let state = actions * ACTION_BYTES * words;
    let of = |h: &Head| share * h.actions as f64 * objects.powi(h.spare as i32);
    let substitutions: f64 = heads.iter().map(of).sum();
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
        let blocks = |n: usize| estimate(&[Head { actions: n * n, spare: 1 }], 1.0, n + 1, 1, 1024, 2);
        assert!(blocks(48).bytes < SMALL_BYTES && blocks(48).seconds < 60.0, "{:?}", blocks(48));
        assert!(blocks(3000).bytes > MOST_BYTES, "{:?}", blocks(3000));
        assert!(blocks(30_000).bytes > 1000.0 * MOST_BYTES, "{:?}", blocks(30_000));
    }

    #[test]
    fn what_cannot_be_done_at_once_takes_nothing() {
        let wide = Head { actions: 100_000, spare: 3 };
        let seconds = |legal| estimate(&[wide], legal_share(legal, wide.actions), 20, 1, 1024, 2).seconds;
        assert!(seconds(10) < seconds(100_000) / 1000.0 && seconds(50_000) == seconds(100_000));
    }
}
