//! A recorded hour as a page.

use derrl_pages::{Hour, Light, Stop, Told, hour_page};
use derrl_traci::scenario::{At, City, Film, Scenario};

use super::Driven;

/// Metres by which a drawn lane may miss the real one.
const TOLERANCE: f64 = 1.0;

/// The page of an hour that was recorded; none where it was not.
pub fn page(
    scenario: &Scenario,
    (controller, simulator): (&str, &str),
    seed: u64,
    driven: Driven,
) -> anyhow::Result<Option<String>> {
    let Driven { hour, film, told, .. } = driven;
    let Some(film) = film else { return Ok(None) };
    let city = scenario.city();
    let trips = hour.trips;
    let missing = trips.unfinished + trips.undeparted;
    let figures = [
        ("delay", format!("{:.1} s", trips.delay)),
        ("waiting", format!("{:.1} s", trips.waiting)),
        ("travel", format!("{:.1} s", trips.travel)),
        ("queue per light", format!("{:.2}", hour.queue)),
        ("vehicles", trips.vehicles.to_string()),
        ("unfinished", missing.to_string()),
        ("stuck", hour.stuck.to_string()),
    ];
    let figures = figures.map(|(name, value)| (name.to_string(), value)).to_vec();
    let told = told.unwrap_or_else(|| Told::silent(city.lights.len()));
    let title = format!("{} under {controller}", scenario.name());
    let page = Hour {
        scenario: scenario.name().to_string(),
        seed,
        controller: controller.to_string(),
        simulator: simulator.to_string(),
        seconds: (scenario.begin(), scenario.end()),
        figures,
        roads: roads(city),
        lights: lights(city, &film),
        ways: film.ways.iter().map(|way| written(way)).collect(),
        rules: told,
    };
    Ok(Some(hour_page(&title, &page)?))
}

/// A length in half metres; the page's y goes down.
fn half((x, y): (f64, f64)) -> (i64, i64) {
    ((2.0 * x).round() as i64, (-2.0 * y).round() as i64)
}

/// The lanes that vehicles use.
fn roads(city: &City) -> Vec<(u8, Vec<i64>)> {
    let driven = city.lanes.iter().filter(|lane| !lane.walks && lane.shape.len() > 1);
    let road = |lane: &derrl_traci::scenario::Road| {
        let mut last = (0, 0);
        let points = simplified(&lane.shape).into_iter().map(half).flat_map(|(x, y)| {
            let step = [x - last.0, y - last.1];
            last = (x, y);
            step
        });
        (u8::from(lane.inside), points.collect())
    };
    driven.map(road).collect()
}

/// A line with no more corners than it takes to be near the one given (Douglas and Peucker).
fn simplified(line: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let [first, .., last] = line else { return line.to_vec() };
    let far = |p: &(f64, f64)| {
        let (dx, dy) = (last.0 - first.0, last.1 - first.1);
        let length = dx.hypot(dy);
        let (px, py) = (p.0 - first.0, p.1 - first.1);
        if length == 0.0 { px.hypot(py) } else { (dx * py - dy * px).abs() / length }
    };
    let within = line.iter().enumerate().take(line.len() - 1).skip(1);
    let worst = within.map(|(n, p)| (n, far(p))).max_by(|a, b| a.1.total_cmp(&b.1));
    match worst {
        Some((n, by)) if by > TOLERANCE => {
            let mut all = simplified(&line[..=n]);
            all.pop();
            all.extend(simplified(&line[n..]));
            all
        }
        _ => vec![*first, *last],
    }
}

fn lights(city: &City, film: &Film) -> Vec<Light> {
    let of = |(n, light): (usize, &derrl_traci::scenario::Light)| {
        let ways = || light.links.iter().enumerate().filter_map(|(n, l)| Some((n, l.as_ref()?)));
        let mut lanes: Vec<usize> = ways().filter(|(_, l)| !l.crossing).map(|(_, l)| l.from).collect();
        lanes.sort_unstable();
        lanes.dedup();
        let stops = lanes.iter().filter_map(|&lane| {
            let [.., before, at] = city.lanes[lane].shape.as_slice() else { return None };
            let way = (before.1 - at.1).atan2(at.0 - before.0).to_degrees().round() as i64;
            // SUMO numbers the ways on from the right.
            let links = ways().filter(|(_, l)| l.from == lane && !l.crossing).map(|(n, _)| n);
            let mut links: Vec<usize> = links.collect();
            links.reverse();
            Some(Stop { at: half(*at), way, links })
        });
        Light {
            id: light.id.clone(),
            at: half(light.at),
            phases: light.phases.iter().map(|p| p.state.clone()).collect(),
            stops: stops.collect(),
            shown: film.shown.get(n).cloned().unwrap_or_default(),
        }
    };
    city.lights.iter().enumerate().map(of).collect()
}

/// A way as numbers: each second and place from the one before.
fn written(way: &[At]) -> Vec<i64> {
    let mut last = (0, 0, 0);
    let numbers = way.iter().flat_map(|at| {
        let (x, y) = half(at.place);
        let step = [at.second as i64 - last.0, x - last.1, y - last.2];
        last = (at.second as i64, x, y);
        step
    });
    numbers.collect()
}
