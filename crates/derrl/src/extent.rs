//! How large the instances are in which policies are looked at, and whether they are too many.

use std::sync::Arc;

use derrl_env::{Extent, Space, World};
use derrl_learn::estimate;
use derrl_logic::Alphabet;
use derrl_report::table::thousands;

/// The most states where no size is asked for: about a second of work.
const QUICK_STATES: f64 = 2e5;
/// The most memory without `--force`.
pub const MOST_BYTES: f64 = 4e9;
/// The most states without `--force`: hours of work.
const MOST_STATES: f64 = 5e9;

/// The largest size in a range that takes about a second to look at.
pub fn quick(
    world: &World,
    alphabet: &Arc<Alphabet>,
    (least, most): (usize, usize),
    of: &dyn Fn(usize) -> Extent,
    threads: usize,
) -> Result<usize, derrl_env::Error> {
    let mut largest = least;
    while largest < most {
        let larger = world.space(alphabet, &of(largest + 1))?;
        if estimate(larger.as_ref(), threads).states > QUICK_STATES {
            break;
        }
        largest += 1;
    }
    Ok(largest)
}

/// What looking at a space takes, in words: an error where that is too much.
pub fn affordable(space: &dyn Space, threads: usize) -> Result<String, String> {
    let takes = estimate(space, threads);
    let about = format!("about {} states and {} of memory", number(takes.states), memory(takes.bytes));
    if takes.bytes > MOST_BYTES || takes.states > MOST_STATES { Err(about) } else { Ok(about) }
}

fn number(n: f64) -> String {
    if n < 1e15 { thousands(n as u64) } else { format!("{n:.1e}") }
}

/// An amount of memory in words.
pub fn memory(bytes: f64) -> String {
    match bytes {
        b if b < 1e6 => "under 1 MB".to_string(),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b if b < 1e15 => format!("{:.1} GB", b / 1e9),
        b => format!("{b:.1e} bytes"),
    }
}
