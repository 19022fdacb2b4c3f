//! Problems in space: satellites and rovers.

use derrl_env::Rng;

use super::roads::Roads;
use super::{Numbers, Text, numbered, some};

pub(super) fn usual_satellite(satellites: usize, rng: &mut Rng) -> Numbers {
    let directions = satellites + 2 + rng.below(2);
    let instruments = (0..satellites).map(|_| 1 + rng.below(3)).sum();
    let modes = 1 + rng.below(2 + satellites / 5);
    [satellites, instruments, modes, directions, 1 + rng.below(directions)]
}

/// Each satellite has an instrument, each mode too; half of the satellites have to point somewhere in the end.
pub(super) fn satellite(numbers: Numbers, rng: &mut Rng) -> Text {
    let [satellites, instruments, modes, directions, images] = numbers;
    let (satellites, modes, directions) = (satellites.max(1), modes.max(1), directions.max(2));
    let instruments = instruments.max(satellites);
    let direction = |d: usize| format!("dir{}", d + 1);
    let (mut init, mut goal) = (Vec::new(), Vec::new());
    for s in 1..=satellites {
        init.push(format!("pointing sat{s} {}", direction(rng.below(directions))));
        init.push(format!("power_avail sat{s}"));
    }
    let owners = some(satellites, satellites, rng);
    let mut supported = vec![false; modes];
    for i in 0..instruments {
        let owner = owners.get(i).copied().unwrap_or_else(|| rng.below(satellites));
        init.push(format!("on_board ins{} sat{}", i + 1, owner + 1));
        init.push(format!("calibration_target ins{} {}", i + 1, direction(rng.below(directions))));
        for mode in some(1 + rng.below(modes.min(3)), modes, rng) {
            init.push(format!("supports ins{} mode{}", i + 1, mode + 1));
            supported[mode] = true;
        }
    }
    let supported: Vec<usize> = (0..modes).filter(|&m| supported[m]).collect();
    for image in some(images.max(1), directions * supported.len(), rng) {
        let mode = supported[image % supported.len()];
        goal.push(format!("have_image {} mode{}", direction(image / supported.len()), mode + 1));
    }
    for s in some(rng.below(1 + satellites.div_ceil(2)), satellites, rng) {
        goal.push(format!("pointing sat{} {}", s + 1, direction(rng.below(directions))));
    }
    let objects = vec![
        ("satellite", numbered("sat", satellites)),
        ("instrument", numbered("ins", instruments)),
        ("mode", numbered("mode", modes)),
        ("direction", numbered("dir", directions)),
    ];
    Text { objects, init, goal }
}

const MODES: [&str; 3] = ["colour", "high_res", "low_res"];

/// What one rover can do.
struct Rover {
    /// The waypoints it can go to and come back from; the first is where it is.
    reach: Vec<usize>,
    soil: bool,
    rock: bool,
    imaging: bool,
}

pub(super) fn usual_rovers(goals: usize, rng: &mut Rng) -> Numbers {
    let waypoints = 3 + goals * 2 / 3 + rng.below(2);
    let objectives = 1 + rng.below(1 + goals.div_ceil(3));
    [goals, 1 + rng.below(1 + goals.div_ceil(4)), waypoints, objectives, 0]
}

/// Drawn until there is as much to find as is asked for, so that every goal can be reached. Where that takes long, there
/// are more waypoints.
pub(super) fn rovers([goals, rovers, waypoints, objectives, _]: Numbers, rng: &mut Rng) -> Text {
    let mut numbers = (goals.max(1), rovers.max(1), waypoints.max(2), objectives.max(1));
    let mut tries = 0;
    loop {
        if let Some(text) = draw_rovers(numbers, rng) {
            return text;
        }
        tries += 1;
        numbers.2 += usize::from(tries % 20 == 0);
    }
}

fn draw_rovers(numbers: (usize, usize, usize, usize), rng: &mut Rng) -> Option<Text> {
    let (goals, rovers, waypoints, objectives) = numbers;
    let roads = Roads::new(waypoints, waypoints / 2, rng);
    let lander = rng.below(waypoints);
    let place = |w: usize| format!("waypoint{}", w + 1);
    let mut init = vec![format!("at_lander general {}", place(lander))];
    init.extend(roads.pairs().map(|(a, b)| format!("visible {} {}", place(a), place(b))));
    let mut possible: Vec<String> = Vec::new();
    let samples = |rng: &mut Rng| some(waypoints / 2 + rng.below(2), waypoints, rng);
    let (soils, rocks) = (samples(rng), samples(rng));
    init.extend(soils.iter().map(|&w| format!("at_soil_sample {}", place(w))));
    init.extend(rocks.iter().map(|&w| format!("at_rock_sample {}", place(w))));
    let seen: Vec<Vec<usize>> =
        (0..objectives).map(|_| some(1 + rng.below(waypoints.div_ceil(2)), waypoints, rng)).collect();
    for (o, from) in seen.iter().enumerate() {
        init.extend(from.iter().map(|&w| format!("visible_from objective{} {}", o + 1, place(w))));
    }
    let mut cameras = 0;
    for r in 1..=rovers {
        let least = waypoints.div_ceil(2);
        let (reach, used) = roads.part(rng.below(waypoints), least + rng.below(waypoints + 1 - least), rng);
        for (a, b) in used {
            init.push(format!("can_traverse rover{r} {} {}", place(a), place(b)));
            init.push(format!("can_traverse rover{r} {} {}", place(b), place(a)));
        }
        // Who cannot send takes nothing: what is taken is gone.
        let sends = reach.iter().any(|&w| roads.joined(w, lander));
        let [soil, rock, imaging] = [(); 3].map(|()| sends && rng.below(2) == 0);
        let rover = Rover { reach, soil, rock, imaging };
        init.push(format!("at rover{r} {}", place(rover.reach[0])));
        init.push(format!("store_of store{r} rover{r}"));
        init.push(format!("empty store{r}"));
        let equipment =
            [(rover.soil, "soil_analysis"), (rover.rock, "rock_analysis"), (rover.imaging, "imaging")];
        for (_, name) in equipment.iter().filter(|(has, _)| *has) {
            init.push(format!("equipped_for_{name} rover{r}"));
        }
        let mut modes: Vec<usize> = Vec::new();
        for _ in 0..rng.below(3) * usize::from(rover.imaging) {
            cameras += 1;
            init.push(format!("on_board camera{cameras} rover{r}"));
            let target = rng.below(objectives);
            init.push(format!("calibration_target camera{cameras} objective{}", target + 1));
            let supported = some(1 + rng.below(MODES.len()), MODES.len(), rng);
            init.extend(supported.iter().map(|&m| format!("supports camera{cameras} {}", MODES[m])));
            if seen[target].iter().any(|w| rover.reach.contains(w)) {
                modes.extend(supported);
            }
        }
        found(&rover, (&soils, &rocks), (&seen, &modes), &mut possible);
    }
    possible.sort_unstable();
    possible.dedup();
    if possible.len() < goals {
        return None;
    }
    let goal = some(goals, possible.len(), rng).iter().map(|&i| possible[i].clone()).collect();
    let objects = vec![
        ("lander", vec!["general".to_string()]),
        ("rover", numbered("rover", rovers)),
        ("store", numbered("store", rovers)),
        ("waypoint", numbered("waypoint", waypoints)),
        ("camera", numbered("camera", cameras)),
        ("mode", MODES.map(String::from).to_vec()),
        ("objective", numbered("objective", objectives)),
    ];
    Some(Text { objects, init, goal })
}

/// What a rover can find.
fn found(
    rover: &Rover,
    (soil, rock): (&[usize], &[usize]),
    (seen, modes): (&[Vec<usize>], &[usize]),
    possible: &mut Vec<String>,
) {
    for (has, samples, kind) in [(rover.soil, soil, "soil"), (rover.rock, rock, "rock")] {
        let near = samples.iter().filter(|w| has && rover.reach.contains(w));
        possible.extend(near.map(|w| format!("communicated_{kind}_data waypoint{}", w + 1)));
    }
    for (o, from) in seen.iter().enumerate() {
        if from.iter().any(|w| rover.reach.contains(w)) {
            let images = modes.iter().map(|&m| MODES[m]);
            possible.extend(images.map(|m| format!("communicated_image_data objective{} {m}", o + 1)));
        }
    }
}
