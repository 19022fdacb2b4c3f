//! What networks of one's own may hold, on a small crossing that netconvert builds, in every SUMO of this machine: the pinned one,
//! and another in the folder `DERRL_OTHER_SUMO`, or that of Debian's package.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use derrl_traci::scenario::{Drive, Hands, Look, Manner, Measures, Outcome, Rival, Scenario};
use derrl_traci::{Domain, Sumo, Surroundings, Variable};

/// All of this machine.
fn sumos() -> Vec<Sumo> {
    let pinned = Sumo::find().unwrap_or_else(|error| panic!("{error}"));
    let other = std::env::var_os("DERRL_OTHER_SUMO").map_or_else(|| PathBuf::from("/usr/bin"), PathBuf::from);
    let place = Surroundings { sumo_home: None, tools: None, path: Some(other.clone().into()) };
    let other = other.join("sumo").is_file().then(|| Sumo::find_in(&place).unwrap());
    let mut all = vec![pinned];
    all.extend(other.filter(|other| other.version != all[0].version));
    all
}

/// A program in which north and south go (with right turns at an arrow while they have red), and then east and west.
const ARROWS: &str = "<tlLogic id=\"c\" type=\"static\" programID=\"arrows\" offset=\"0\">\
    <phase duration=\"20\" state=\"GGgsrrGGgsrr\"/><phase duration=\"3\" state=\"yyysrryyysrr\"/>\
    <phase duration=\"20\" state=\"srrGGgsrrGGg\"/><phase duration=\"3\" state=\"srryyysrryyy\"/></tlLogic>";
/// Green for north and south, for ever.
const ALWAYS: &str = "<tlLogic id=\"c\" type=\"static\" programID=\"always\" offset=\"0\">\
    <phase duration=\"90\" state=\"GGgrrrGGgrrr\"/></tlLogic>";

/// A crossing and, 200 m to the east, another; `programs` are of an additional file. Returns the configuration.
fn crossings(folder: &Path, sumo: &Sumo, programs: &str, time: &str) -> PathBuf {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let node = |id: &str, x: i32, y: i32| {
        let kind = if matches!(id, "c" | "d") { "traffic_light" } else { "priority" };
        format!("<node id=\"{id}\" x=\"{x}\" y=\"{y}\" type=\"{kind}\"/>")
    };
    let nodes = [
        ("c", 0, 0),
        ("d", 200, 0),
        ("n", 0, 200),
        ("s", 0, -200),
        ("w", -200, 0),
        ("e", 400, 0),
        ("m", 200, 200),
        ("t", 200, -200),
    ];
    write("my.nod.xml", &format!("<nodes>{}</nodes>", nodes.map(|(id, x, y)| node(id, x, y)).concat()));
    let road = |from: &str, to: &str| {
        format!("<edge id=\"{from}{to}\" from=\"{from}\" to=\"{to}\" numLanes=\"1\" speed=\"13.9\"/>")
    };
    let pairs = [("n", "c"), ("s", "c"), ("w", "c"), ("d", "c"), ("e", "d"), ("m", "d"), ("t", "d")];
    let edges = pairs.map(|(a, b)| road(a, b) + &road(b, a)).concat();
    write("my.edg.xml", &format!("<edges>{edges}</edges>"));
    let built = Command::new(&sumo.netconvert)
        .args(["-n", "my.nod.xml", "-e", "my.edg.xml", "-o", "my.net.xml", "--no-turnarounds"])
        .args(["--xml-validation", "never"])
        .current_dir(folder)
        .env("SUMO_HOME", &sumo.home)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let flow = |id: &str, from: &str, to: &str| {
        format!("<flow id=\"{id}\" from=\"{from}\" to=\"{to}\" begin=\"0\" end=\"300\" vehsPerHour=\"300\"/>")
    };
    let flows =
        [("a", "nc", "cs"), ("b", "wc", "de"), ("c", "sc", "cd"), ("d", "md", "dc"), ("e", "nc", "cw")];
    write("my.rou.xml", &format!("<routes>{}</routes>", flows.map(|(id, a, b)| flow(id, a, b)).concat()));
    write("my.add.xml", &format!("<additional>{programs}</additional>"));
    write(
        "my.sumocfg",
        &format!(
            "<configuration><input><net-file value=\"my.net.xml\"/><route-files value=\"my.rou.xml\"/>\
             <additional-files value=\"my.add.xml\"/></input>\
             <time><begin value=\"0\"/><end value=\"300\"/>{time}</time></configuration>"
        ),
    );
    folder.join("my.sumocfg")
}

/// Drives to the end by what is near, and checks that what is measured makes sense.
fn drive(sumo: &Sumo, scenario: &Arc<Scenario>) -> Outcome {
    let mut drive = Drive::start(sumo, scenario, 1, &Manner::default()).unwrap();
    while !drive.is_over() {
        for light in 0..drive.city().lights.len() {
            if drive.may_decide(light) {
                let measures = Measures::of(&drive, light);
                let phases = 0..drive.city().lights[light].phases.len();
                let near = |p: usize| measures.near(p);
                let fullest = phases.max_by(|&a, &b| near(a).total_cmp(&near(b))).unwrap();
                drive.switch(light, fullest).unwrap();
            }
        }
        drive.advance().unwrap();
    }
    Outcome::of(drive).unwrap()
}

/// Calls a test with each SUMO, and the crossings with these programs.
fn with_each(programs: &str, time: &str, test: impl Fn(&Sumo, Arc<Scenario>)) {
    for sumo in sumos() {
        let folder = tempfile::tempdir().unwrap();
        let config = crossings(folder.path(), &sumo, programs, time);
        let scenario = Scenario::read(&config).unwrap_or_else(|error| panic!("{}: {error}", sumo.version));
        test(&sumo, Arc::new(scenario));
    }
}

#[test]
fn plain_crossings_are_driven_by_us_and_by_all_programs() {
    with_each("", "", |sumo, scenario| {
        let ours = drive(sumo, &scenario);
        assert_eq!((ours.stuck, ours.towed), (0, 0), "SUMO {}", sumo.version);
        for rival in Rival::ALL {
            let outcome = rival.run(sumo, &scenario, 1, &Manner::default());
            let outcome = outcome.unwrap_or_else(|error| panic!("SUMO {}, {rival}: {error}", sumo.version));
            assert_eq!(outcome.trips.vehicles, ours.trips.vehicles, "SUMO {}, {rival}", sumo.version);
        }
    });
}

/// Of several programs, ours are the phases of the one that SUMO runs; an arrow at which one has to stop is red.
#[test]
fn of_several_programs_the_one_that_runs_counts_and_arrows_are_red() {
    with_each(&[ALWAYS, ARROWS].concat(), "", |sumo, scenario| {
        let at = scenario.city().light("c").unwrap();
        let light = &scenario.city().lights[at];
        assert_eq!(light.phases.len(), 2, "{:?}", light.program);
        assert!(!light.is_green(0, 3) && light.is_green(1, 3), "an arrow is red");
        assert_eq!(light.yellow(1, 0).as_deref(), Some("srryyysrryyy"));
        let manner = Manner { hands: Hands::Programs, ..Manner::default() };
        let mut watched = Drive::start(sumo, &scenario, 1, &manner).unwrap();
        while !watched.is_over() {
            watched.advance().unwrap();
            let client = watched.process().client();
            let shown = client.get(Domain::TrafficLight, Variable::SIGNALS, "c").unwrap();
            let known = light.program.iter().any(|(state, _)| Some(state.as_str()) == shown.as_str());
            assert!(known, "SUMO {} shows {shown:?}", sumo.version);
        }
        assert_eq!(drive(sumo, &scenario).stuck, 0);
    });
}

/// A light with one phase runs its own program, and one that controls nothing is left alone.
#[test]
fn lights_without_a_choice_are_left_alone() {
    with_each(ALWAYS, "", |sumo, scenario| {
        let city = scenario.city();
        assert!(!city.lights[city.light("c").unwrap()].decides());
        let outcome = drive(sumo, &scenario);
        assert_eq!(outcome.stuck, 0, "SUMO {}", sumo.version);
    });
    for sumo in sumos() {
        let folder = tempfile::tempdir().unwrap();
        let config = crossings(folder.path(), &sumo, "", "");
        let net = folder.path().join("my.net.xml");
        let text = std::fs::read_to_string(&net).unwrap();
        let ghost = "<tlLogic id=\"ghost\" type=\"static\" programID=\"0\" offset=\"0\">\
            <phase duration=\"20\" state=\"Gr\"/><phase duration=\"20\" state=\"rG\"/></tlLogic>";
        let at = text.find("<tlLogic").unwrap();
        std::fs::write(&net, [&text[..at], ghost, &text[at..]].concat()).unwrap();
        let scenario = Arc::new(Scenario::read(&config).unwrap());
        let city = scenario.city();
        assert!(!city.lights[city.light("ghost").unwrap()].decides(), "it controls nothing");
        assert_eq!(drive(&sumo, &scenario).stuck, 0);
    }
}

/// Steps of less than a second, and times that are no whole seconds.
#[test]
fn steps_of_half_a_second_are_driven() {
    let time = "<step-length value=\"0.5\"/>";
    with_each("", time, |sumo, scenario| {
        let outcome = drive(sumo, &scenario);
        assert!(outcome.trips.vehicles > 100 && outcome.stuck == 0, "SUMO {}: {outcome:?}", sumo.version);
    });
}

#[test]
fn recording_changes_nothing_and_follows_every_vehicle() {
    with_each("", "", |sumo, scenario| {
        let plain = Manner { look: Look::Always, ..Manner::default() };
        let recorded = Manner { look: Look::Recorded, ..plain };
        let (outcome, film) = Rival::Greedy.record(sumo, &scenario, 1, &recorded).unwrap();
        assert_eq!(outcome, Rival::Greedy.run(sumo, &scenario, 1, &plain).unwrap());
        let film = film.unwrap();
        let entered = outcome.trips.vehicles - outcome.trips.undeparted;
        assert!(film.ways.len().abs_diff(entered) <= 2, "{} of {entered}", film.ways.len());
        assert!(film.shown.iter().all(|shown| shown.len() > 5), "{:?}", film.shown);
    });
}
