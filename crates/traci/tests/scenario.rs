//! Real scenarios in the real program. Without it these tests fail, and say how to install it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use derrl_traci::scenario::{Drive, GRIDS, Hands, Look, Manner, Measures, Outcome, Rival, Safety, Scenario};
use derrl_traci::{Domain, Sumo, Variable};

fn sumo() -> Sumo {
    Sumo::find().unwrap_or_else(|error| panic!("{error}"))
}

fn find(sumo: &Sumo, name: &str) -> Arc<Scenario> {
    Arc::new(Scenario::find(sumo, name).unwrap_or_else(|error| panic!("{error}")))
}

/// Drives to the end; `choose` says the phase of each light that may decide.
fn drive(mut drive: Drive, mut choose: impl FnMut(&Drive, usize) -> usize) -> Outcome {
    while !drive.is_over() {
        for light in 0..drive.city().lights.len() {
            if drive.may_decide(light) {
                let phase = choose(&drive, light);
                drive.switch(light, phase).unwrap();
            }
        }
        drive.advance().unwrap();
    }
    Outcome::of(drive).unwrap()
}

/// What is measured, decided and suffered on a real network agrees with an independent implementation to the last digit.
#[test]
fn measures_and_delays_are_those_of_an_independent_implementation() {
    let sumo = sumo();
    let scenario = find(&sumo, "cologne1");
    let recorded = include_str!("fixtures/cologne1.txt").lines().filter(|line| !line.starts_with('#'));
    let mut recorded = recorded.peekable();
    let chosen = recorded.next().unwrap().as_bytes();
    let mut at = 0;
    let outcome = drive(Drive::start(&sumo, &scenario, 11, &Manner::default()).unwrap(), |drive, light| {
        let measures = Measures::of(drive, light);
        let phases = drive.city().lights[light].phases.len();
        if let Some(line) = recorded.next_if(|line| line.split(' ').next() == Some(&at.to_string())) {
            let numbers: Vec<f64> = line.split(' ').skip(1).map(|word| word.parse().unwrap()).collect();
            let mut ours = vec![drive.now() as f64, measures.green_for()];
            let of: [fn(&Measures, usize) -> f64; 7] = [
                |m, p| m.queue(p),
                |m, p| m.near(p),
                |m, p| m.arriving(p),
                |m, p| m.flow(p),
                |m, p| m.max_wait(p),
                |m, p| m.red_for(p),
                |m, p| m.blocked(p),
            ];
            ours.extend(of.iter().flat_map(|of| (0..phases).map(|p| of(&measures, p))));
            assert_eq!(ours, numbers, "at decision {at}");
        }
        at += 1;
        usize::from(chosen[at - 1] - b'0')
    });
    assert_eq!((at, recorded.next()), (chosen.len(), None));
    let trips = outcome.trips;
    assert_eq!((trips.vehicles, trips.unfinished, trips.undeparted, outcome.stuck), (2015, 12, 1, 0));
    assert!((trips.delay - 16.633151364764284).abs() < 1e-9, "{trips:?}");
}

/// Delays of the known controllers, without clearance, as an independent implementation measured them with the same seed.
#[test]
fn known_controllers_lose_what_they_lose_elsewhere() {
    let sumo = sumo();
    let scenario = find(&sumo, "cologne1");
    let safety = Safety { clearance: 0, ..Safety::default() };
    let manner = Manner { safety, ..Manner::default() };
    for (rival, delay) in [
        (Rival::OwnProgram, 42.906437),
        (Rival::Actuated, 58.342883),
        (Rival::DelayBased, 56.355980),
        (Rival::LongestQueue, 25.958159),
        (Rival::Greedy, 19.629409),
        (Rival::MaxPressure, 21.787692),
        (Rival::MaxPressureStanding, 25.958159),
        (Rival::SelfOrganising, 24.911767),
    ] {
        let ours = rival.run(&sumo, &scenario, 11, &manner).unwrap().trips.delay;
        assert!((ours - delay).abs() < 1e-5, "{rival}: {ours} in place of {delay}");
    }
}

/// Random decisions on a grid of our own: no light goes from green to red without yellow, or stays green too shortly.
#[test]
fn yellow_and_minimum_green_are_kept_whoever_decides() {
    let sumo = sumo();
    let scenario = find(&sumo, GRIDS[0]);
    let safety = Safety { every: 1, ..Safety::default() };
    let mut drive = Drive::start(&sumo, &scenario, 3, &Manner { safety, ..Manner::default() }).unwrap();
    let city = Arc::clone(drive.city());
    let mut shown: Vec<Vec<String>> = vec![Vec::new(); city.lights.len()];
    let mut number = 1_u32;
    while drive.now() < scenario.begin() + 300 {
        for light in 0..city.lights.len() {
            if drive.may_decide(light) {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                drive.switch(light, (number >> 16) as usize % city.lights[light].phases.len()).unwrap();
            }
        }
        drive.advance().unwrap();
        for (light, shown) in shown.iter_mut().enumerate() {
            let id = &city.lights[light].id;
            let state = drive.process().client().get(Domain::TrafficLight, Variable::SIGNALS, id).unwrap();
            shown.push(state.as_str().unwrap().to_owned());
        }
    }
    let goes = |letter: u8| matches!(letter, b'G' | b'g');
    let mut changes = 0;
    for states in &shown {
        for link in 0..states[0].len() {
            let letters: Vec<u8> = states.iter().map(|state| state.as_bytes()[link]).collect();
            // The first and the last stretch are cut off.
            let runs: Vec<&[u8]> =
                letters.chunk_by(|a, b| goes(*a) == goes(*b) && (*a == b'y') == (*b == b'y')).collect();
            for (n, run) in runs.iter().enumerate().take(runs.len() - 1).skip(1) {
                let after = runs[n + 1][0];
                if goes(run[0]) {
                    assert!(run.len() >= 7, "green for {} s", run.len());
                    assert_eq!(after, b'y', "green is followed by yellow");
                    changes += 1;
                } else if run[0] == b'y' {
                    assert_eq!(run.len(), 3, "yellow takes 3 s");
                }
            }
        }
    }
    assert!(changes > 50, "{changes} changes");
}

#[test]
fn the_same_seed_and_decisions_give_the_same_hour() {
    let sumo = sumo();
    let scenario = find(&sumo, "eight");
    let once = |seed| {
        let start = Drive::start(&sumo, &scenario, seed, &Manner::default()).unwrap();
        drive(start, |drive, light| {
            let phases = drive.city().lights[light].phases.len();
            (drive.now() / 10) as usize % phases
        })
    };
    let first = once(5);
    assert_eq!(first, once(5));
    assert_ne!(first.trips, once(6).trips);
    assert!(
        first.trips.vehicles.abs_diff(scenario.vehicles()) < scenario.vehicles() / 3,
        "{}",
        scenario.vehicles()
    );
}

#[test]
fn what_is_lost_on_the_way_is_nearly_what_is_lost_in_the_end() {
    let sumo = sumo();
    let scenario = find(&sumo, "five");
    let manner = Manner { look: Look::Always, ..Manner::default() };
    let mut drive = Drive::start(&sumo, &scenario, 1, &manner).unwrap();
    while !drive.is_over() {
        drive.advance().unwrap();
    }
    let lost = drive.lost();
    let trips = Outcome::of(drive).unwrap().trips;
    let all = trips.delay * trips.vehicles as f64;
    assert!((lost - all).abs() < 0.05 * all, "{lost} of {all}");
}

/// A crossing of two roads with sidewalks, of our own.
fn crossing(folder: &Path, sumo: &Sumo) -> PathBuf {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "my.nod.xml",
        "<nodes><node id=\"c\" x=\"0\" y=\"0\" type=\"traffic_light\"/><node id=\"n\" x=\"0\" y=\"150\"/>\
         <node id=\"e\" x=\"150\" y=\"0\"/><node id=\"s\" x=\"0\" y=\"-150\"/><node id=\"w\" x=\"-150\" y=\"0\"/></nodes>",
    );
    let road = |from: &str, to: &str| {
        format!(
            "<edge id=\"{from}{to}\" from=\"{from}\" to=\"{to}\" numLanes=\"2\" speed=\"13.9\" sidewalkWidth=\"2\"/>"
        )
    };
    let edges = ["n", "e", "s", "w"].map(|end| road(end, "c") + &road("c", end)).concat();
    write("my.edg.xml", &format!("<edges>{edges}</edges>"));
    let built = Command::new(&sumo.netconvert)
        .args([
            "-n",
            "my.nod.xml",
            "-e",
            "my.edg.xml",
            "-o",
            "my.net.xml",
            "--crossings.guess",
            "--no-turnarounds",
        ])
        .current_dir(folder)
        .env("SUMO_HOME", &sumo.home)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    write(
        "my.rou.xml",
        "<routes><flow id=\"ns\" from=\"nc\" to=\"cs\" begin=\"0\" end=\"300\" vehsPerHour=\"400\"/>\
         <flow id=\"ew\" from=\"ec\" to=\"cw\" begin=\"0\" end=\"300\" period=\"9\"/>\
         <personFlow id=\"walkers\" begin=\"0\" end=\"300\" period=\"30\"><walk from=\"nc\" to=\"ce\"/></personFlow></routes>",
    );
    write(
        "my.sumocfg",
        "<configuration><input><net-file value=\"my.net.xml\"/><route-files value=\"my.rou.xml\"/></input>\
         <output><summary-output value=\"summary.xml\"/></output>\
         <time><begin value=\"0\"/><end value=\"0:05:00\"/></time></configuration>",
    );
    folder.join("my.sumocfg")
}

/// Sidewalks and crossings, flows instead of vehicles, times of day, and files that the configuration would have written.
#[test]
fn a_network_of_ones_own_with_crossings_is_driven() {
    let sumo = sumo();
    let folder = tempfile::tempdir().unwrap();
    let config = crossing(folder.path(), &sumo);
    let scenario = Arc::new(Scenario::read(&config).unwrap());
    assert_eq!((scenario.name(), scenario.begin(), scenario.end()), ("my", 0, 300));
    assert_eq!(scenario.vehicles(), 66);
    let light = &scenario.city().lights[0];
    assert!(light.links.iter().flatten().any(|l| l.crossing), "there are crossings");
    assert_eq!(light.phases.len(), 2, "clearing the crossings is no choice: {:?}", light.program);
    assert!(light.walks_clear > 0, "{:?}", light.program);
    // Who walks gets red first, and never yellow.
    for (from, to) in [(0, 1), (1, 0)] {
        let (before, between) = (light.walks_stop(from, to).unwrap(), light.yellow(from, to).unwrap());
        assert!(!before.contains('y') && before != light.phases[from].state, "{before}");
        for (link, letter) in light.links.iter().zip(between.bytes()) {
            assert!(letter != b'y' || link.as_ref().is_some_and(|l| !l.crossing), "{between}");
        }
    }
    let mut longest = 0.0_f64;
    let outcome =
        self::drive(Drive::start(&sumo, &scenario, 1, &Manner::default()).unwrap(), |drive, light| {
            let measures = Measures::of(drive, light);
            longest = longest.max(measures.max_wait(1 - drive.signal(light).phase));
            drive.signal(light).phase
        });
    assert!(longest > 250.0, "a crossing that never gets green waits: {longest}");
    // Changes take the time that those who walk need.
    let mut drive = Drive::start(&sumo, &scenario, 1, &Manner::default()).unwrap();
    while !drive.may_decide(0) {
        drive.advance().unwrap();
    }
    drive.switch(0, 1 - drive.signal(0).phase).unwrap();
    let change = light.walks_clear + Safety::default().yellow;
    assert_eq!(drive.signal(0).next, Some((1, drive.now() + change)));
    let switched = drive.now();
    while drive.signal(0).next.is_some() {
        drive.advance().unwrap();
    }
    assert!((change..=change + Safety::default().clearance).contains(&(drive.signal(0).since - switched)));
    assert!(outcome.trips.vehicles >= 60, "{outcome:?}");
    assert!(!folder.path().join("summary.xml").exists(), "training writes no files beside the scenario");
    let manner = Manner { outputs: true, hands: Hands::Programs, ..Manner::default() };
    let mut shown = Drive::start(&sumo, &scenario, 1, &manner).unwrap();
    while !shown.is_over() {
        shown.advance().unwrap();
    }
    shown.finish().unwrap();
    assert!(folder.path().join("summary.xml").exists(), "and does where that is wanted");
}

#[test]
fn a_simulator_that_dies_is_an_error_that_names_the_second() {
    let sumo = sumo();
    let scenario = find(&sumo, "five");
    let mut drive = Drive::start(&sumo, &scenario, 1, &Manner::default()).unwrap();
    (0..4).for_each(|_| drive.advance().unwrap());
    let killed = Command::new("kill").args(["-9", &drive.process().id().to_string()]).status().unwrap();
    assert!(killed.success());
    let error = (0..4).find_map(|_| drive.advance().err()).unwrap().to_string();
    assert!(error.contains("SUMO failed at step 20") && error.contains("closed"), "{error}");
}
