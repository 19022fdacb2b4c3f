//! Rings of vehicles far from any light, each right behind the next: vehicles that turn around close to each other end like that.
//!
//! No signal can free them, and the whole hour would be lost for every controller alike. Where people drive, somebody would back up;
//! here one of them is towed away, after five minutes. Jams that lights cause are never touched.

use std::collections::HashSet;

use crate::error::Result;
use crate::process::Process;
use crate::protocol::{Answer, Batch, Domain, Value, Variable};
use crate::scenario::net::City;

/// A ring has no more vehicles than this.
const LONGEST: usize = 40;
/// At which gap the next vehicle is right ahead, in metres: before a junction somebody waits until there is room for a vehicle behind it.
const AHEAD: f64 = 12.0;
/// Everybody in a ring has stood for so long, in seconds.
const STANDING: f64 = 200.0;
/// A light so near may be what holds somebody up, in metres.
const AT_LIGHT: f64 = 50.0;
/// The reason that SUMO is given for taking a vehicle away.
const VAPORIZED: i8 = 3;

/// Takes one vehicle out of each ring that one of these belongs to. Returns how many.
pub(crate) fn break_rings(
    city: &City,
    junctions: &HashSet<usize>,
    process: &mut Process,
    held: &[String],
) -> Result<usize> {
    let mut towed = 0;
    for first in held {
        if closes(city, junctions, process, first)? {
            let mut batch = Batch::new();
            batch.set(Domain::Vehicle, Variable::REMOVE, first, &Value::Byte(VAPORIZED));
            process.ask(|client| client.send(&batch, "towing a vehicle away"))?;
            towed += 1;
        }
    }
    Ok(towed)
}

/// Whether the way from a vehicle to the one right ahead, and so on, comes back to it without a light on it.
fn closes(city: &City, junctions: &HashSet<usize>, process: &mut Process, first: &str) -> Result<bool> {
    let mut here = first.to_owned();
    for _ in 0..LONGEST {
        let mut batch = Batch::new();
        batch.get(Domain::Vehicle, Variable::LANE, &here);
        batch.get(Domain::Vehicle, Variable::NEXT_LIGHTS, &here);
        batch.get(Domain::Vehicle, Variable::WAITING_TIME, &here);
        batch.get_with(Domain::Vehicle, Variable::LEADER, &here, &Value::Double(AHEAD));
        let answers = process.ask(|client| client.send(&batch, "looking for what holds a vehicle up"))?;
        let [
            Answer::Got(Value::String(lane)),
            Answer::Got(Value::Compound(lights)),
            Answer::Got(Value::Double(waiting)),
            Answer::Got(Value::Compound(leader)),
        ] = answers.as_slice()
        else {
            return Ok(false);
        };
        if *waiting < STANDING || city.lane(lane).is_some_and(|lane| junctions.contains(&lane)) {
            return Ok(false);
        }
        if matches!(lights.as_slice(), [_, _, _, Value::Double(far), ..] if *far < AT_LIGHT) {
            return Ok(false);
        }
        match leader.as_slice() {
            [Value::String(next), Value::Double(gap)] if !next.is_empty() && *gap < AHEAD => {
                if next == first {
                    return Ok(true);
                }
                here.clone_from(next);
            }
            _ => return Ok(false),
        }
    }
    Ok(false)
}
