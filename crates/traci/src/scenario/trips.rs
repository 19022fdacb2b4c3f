//! What SUMO tells about every journey of an episode.

use std::path::Path;

use crate::error::{Error, Result};
use crate::scratch::read;

/// How the journeys of an episode went: means over all vehicles that wanted to enter, whether they did and arrived or not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Trips {
    /// Vehicles that wanted to enter.
    pub vehicles: usize,
    /// Seconds lost per vehicle: time loss and departure delay together.
    pub delay: f64,
    /// Seconds lost on the road by driving slower than wanted.
    pub loss: f64,
    /// Seconds waited for room to enter.
    pub departure_delay: f64,
    /// Seconds stood.
    pub waiting: f64,
    /// Seconds on the road.
    pub travel: f64,
    /// Vehicles still on the road at the end.
    pub unfinished: usize,
    /// Vehicles that never entered.
    pub undeparted: usize,
}

impl Trips {
    /// Reads SUMO's file of journeys (`--tripinfo-output`, with those that are unfinished and undeparted).
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = read(path)?;
        sum(&text).map_err(|reason| Error::Network { path: path.into(), reason })
    }
}

/// Reads line by line: the files are long, and SUMO writes an element per line.
fn sum(text: &str) -> Result<Trips, String> {
    let mut trips = Trips::default();
    for line in text.lines().map(str::trim_start).filter(|line| line.starts_with("<tripinfo ")) {
        let number = |name: &str| {
            let from = line.find(&format!(" {name}=\"")).map(|at| &line[at + name.len() + 3..]);
            let value = from.and_then(|from| from.split('"').next()?.parse::<f64>().ok());
            value.ok_or_else(|| format!("a journey has no number {name}: {line}"))
        };
        trips.vehicles += 1;
        trips.departure_delay += number("departDelay")?;
        if number("depart")? < 0.0 {
            trips.undeparted += 1;
            continue;
        }
        trips.unfinished += usize::from(number("arrival")? < 0.0);
        trips.loss += number("timeLoss")?;
        trips.waiting += number("waitingTime")?;
        trips.travel += number("duration")?;
    }
    let n = trips.vehicles.max(1) as f64;
    for total in [&mut trips.departure_delay, &mut trips.loss, &mut trips.waiting, &mut trips.travel] {
        *total /= n;
    }
    trips.delay = trips.loss + trips.departure_delay;
    Ok(trips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_never_entered_or_arrived_count() {
        let text = "<tripinfos>\n\
            <tripinfo id=\"a\" depart=\"1.00\" departDelay=\"2.00\" arrival=\"50.00\" duration=\"49.00\" waitingTime=\"4.00\" timeLoss=\"10.00\"/>\n\
            <tripinfo id=\"b\" depart=\"9.00\" departDelay=\"0.00\" arrival=\"-1.00\" duration=\"91.00\" waitingTime=\"40.00\" timeLoss=\"50.00\">\n\
            </tripinfo>\n\
            <tripinfo id=\"c\" depart=\"-1.00\" departDelay=\"60.00\" arrival=\"-1.00\" duration=\"-1.00\" waitingTime=\"-1.00\" timeLoss=\"-1.00\"/>\n\
            </tripinfos>";
        let trips = sum(text).unwrap();
        assert_eq!((trips.vehicles, trips.unfinished, trips.undeparted), (3, 1, 1));
        assert!((trips.delay - 122.0 / 3.0).abs() < 1e-9, "{trips:?}");
        assert!((trips.travel - 140.0 / 3.0).abs() < 1e-9, "{trips:?}");
        assert!(sum("<tripinfo id=\"a\" depart=\"x\"/>").unwrap_err().contains("departDelay"));
    }
}
