//! The picture of a light: the streets around it, with what its signals show.

use derrl_traci::scenario::{Drive, Placed, Road};

use crate::scene::{Ahead, Stop, Streets, Vehicle};

/// Metres around a light that its picture shows.
const RADIUS: f64 = 100.0;

/// What is around a light.
pub(super) fn streets(drive: &Drive, light: usize, places: Vec<Placed>) -> Streets {
    let city = drive.city();
    let (of, current) = (&city.lights[light], drive.signal(light).phase);
    let near = |(x, y): (f64, f64)| (x - of.at.0).abs() < 2.0 * RADIUS && (y - of.at.1).abs() < 2.0 * RADIUS;
    let incoming: Vec<usize> = of.links.iter().flatten().filter(|l| !l.crossing).map(|l| l.from).collect();
    // A long straight road may pass without a point nearby, but not one that leads to the light.
    let shown = |(n, road): (usize, &Road)| {
        (road.shape.iter().any(|&p| near(p)) || incoming.contains(&n)).then(|| road.shape.clone())
    };
    let mut lanes = incoming.clone();
    lanes.sort_unstable();
    lanes.dedup();
    let stop = |&lane: &usize| {
        let end = city.lanes[lane].shape.as_slice();
        let [.., before, at] = end else { return Stop::default() };
        let (dx, dy) = (at.0 - before.0, at.1 - before.1);
        let length = dx.hypot(dy).max(1e-9);
        let links = of.links.iter().enumerate();
        let links = links.filter(|(_, l)| l.as_ref().is_some_and(|l| l.from == lane && !l.crossing));
        let letters = links.filter_map(|(link, _)| of.letter(current, link)).map(char::from);
        // SUMO numbers the ways on from the right.
        Stop { at: *at, way: (dx / length, dy / length), letters: letters.rev().collect() }
    };
    let phases = of.phases.iter().enumerate().map(|(n, phase)| Ahead {
        name: format!("p{}", n + 1),
        stops: phase.lanes.iter().filter_map(|lane| lanes.binary_search(lane).ok()).collect(),
    });
    Streets {
        light: of.id.clone(),
        centre: of.at,
        radius: RADIUS,
        roads: city.lanes.iter().enumerate().filter_map(shown).collect(),
        stops: lanes.iter().map(stop).collect(),
        phases: phases.collect(),
        vehicles: places
            .into_iter()
            .filter(|p| near(p.at))
            .map(|p| Vehicle { name: p.id, at: p.at, heading: p.heading, stands: p.stands })
            .collect(),
        time: drive.now() - drive.scenario().begin(),
    }
}
