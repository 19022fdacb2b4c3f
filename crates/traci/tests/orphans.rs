//! No SUMO outlives what it was started for. Unix only, because that is where processes can be looked at by number.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use derrl_traci::{DemandSpec, Error, Fault, Layout, Network, Options, Patience, Process, Simulation, Sumo};

fn start() -> Simulation {
    let sumo = Sumo::find().unwrap_or_else(|error| panic!("{error}"));
    let network = Network::build(&sumo, &Layout::five()).unwrap();
    let patience = Patience { answer: Duration::from_secs(3), ..Patience::default() };
    let options = Options { patience, ..Options::default() };
    Simulation::start_with(&sumo, &network, &DemandSpec::default(), 0, options).unwrap()
}

fn signal(signal: &str, process: u32) -> bool {
    Command::new("kill")
        .args([signal, &process.to_string()])
        .stderr(Stdio::null())
        .status()
        .expect("every Unix has kill")
        .success()
}

/// Whether a process ends within some seconds. One that is dead but not waited for counts as ended.
fn ends(process: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let state = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).output();
        let state = state.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
        let alive = match state {
            Ok(state) => !state.is_empty() && !state.starts_with('Z'),
            Err(_) => signal("-0", process),
        };
        if !alive {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_dropped_simulation_takes_its_process_along() {
    let mut simulation = start();
    let process = simulation.process().id();
    assert!(signal("-0", process), "it runs");
    drop(simulation);
    assert!(!signal("-0", process), "it is gone, and waited for, when drop returns");
}

#[test]
fn a_panic_takes_its_process_along() {
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut simulation = start();
        tell.send(simulation.process().id()).unwrap();
        panic!("on purpose");
    });
    let process = told.recv().unwrap();
    assert!(thread.join().is_err());
    assert!(!signal("-0", process));
}

#[test]
fn a_killed_sumo_is_an_error_that_names_the_step_and_a_restart_helps() {
    let mut simulation = start();
    simulation.advance().unwrap();
    simulation.advance().unwrap();
    let process = simulation.process().id();
    assert!(signal("-KILL", process));
    let error = simulation.advance().unwrap_err();
    assert!(matches!(error, Error::Simulator { fault: Fault::Closed, step: 20, .. }), "{error}");
    assert!(error.to_string().contains("at step 20 (simulating to step 21)"), "{error}");
    assert!(simulation.advance().is_err(), "still lost");
    simulation.restart(0).unwrap();
    assert_ne!(simulation.process().id(), process);
    simulation.advance().unwrap();
    assert_eq!(simulation.time(), 10);
}

#[test]
fn a_sumo_that_hangs_is_an_error_that_names_the_step() {
    let mut simulation = start();
    simulation.advance().unwrap();
    let process = simulation.process().id();
    assert!(signal("-STOP", process));
    let started = Instant::now();
    let error = simulation.advance().unwrap_err();
    assert!(matches!(error, Error::Simulator { fault: Fault::TimedOut(_), step: 10, .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20));
    drop(simulation);
    assert!(!signal("-0", process), "one that hangs is ended too");
}

/// A program in place of SUMO.
fn pretender(program: &Path) -> Sumo {
    Sumo { home: "/".into(), sumo: program.into(), netconvert: "/bin/false".into(), version: String::new() }
}

/// Writes a program, by way of a shell: were it ever open for writing here, another test that forks in that
/// moment would keep it "busy".
fn write_program(path: &Path, text: &str) {
    let script = "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let status = Command::new("sh").args(["-c", script, "sh"]).arg(path).arg(text).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_start_that_takes_too_long_is_an_error() {
    let arguments = ["-c", "echo patience >&2; exec sleep 60", "sh"].map(str::to_owned);
    let patience = Patience { start: Duration::from_millis(500), ..Patience::default() };
    let started = Instant::now();
    let error = Process::start(&pretender(Path::new("/bin/sh")), &arguments, patience).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(error.to_string().contains("not within 0.5 s"), "{error}");
    assert!(error.to_string().contains("it said: patience"), "{error}");
}

#[test]
fn a_port_that_was_taken_in_between_is_given_up_for_another() {
    let real = Sumo::find().unwrap_or_else(|error| panic!("{error}"));
    let network = Network::build(&real, &Layout::five()).unwrap();
    let folder = std::env::temp_dir().join(format!("derrl-traci-ports-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // Fails twice as SUMO does when it cannot listen, then is SUMO.
    let script = format!(
        "#!/bin/sh\ncd '{}' || exit\nif mkdir first || mkdir second\n\
         then echo Unable to create listening socket >&2; exit 1\nelse exec '{}' \"$@\"\nfi\n",
        folder.display(),
        real.sumo.display()
    );
    let program = folder.join("sumo");
    write_program(&program, &script);
    let unlucky = Sumo { sumo: program, ..real };
    let mut simulation = Simulation::start(&unlucky, &network, &DemandSpec::default(), 0).unwrap();
    simulation.advance().unwrap();
    assert!(folder.join("second").exists(), "it was tried three times");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Not a test: what the tests below run in a process of its own, to be killed. Does what the variable says.
#[test]
fn victim() {
    let Ok(what) = std::env::var("DERRL_TRACI_VICTIM") else { return };
    if what == "connected" {
        let mut simulation = start();
        println!("\nSUMO {}", simulation.process().id());
        std::thread::sleep(Duration::from_secs(10));
    } else {
        // A program in place of SUMO that never listens, so that the start never ends.
        let sumo = pretender(Path::new("/bin/sh"));
        let arguments = ["-c", "echo $$ > \"$0\"; exec sleep 600", &what].map(str::to_owned);
        let patience = Patience { start: Duration::from_secs(60), ..Patience::default() };
        let _ = Process::start(&sumo, &arguments, patience);
    }
}

fn victim_process(what: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture", "--test-threads", "1"])
        .env("DERRL_TRACI_VICTIM", what)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_sumo_ends_when_we_are_killed() {
    for how in ["-KILL", "-TERM", "-INT"] {
        let mut victim = victim_process("connected");
        let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let process: u32 = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("SUMO ")?.parse().ok())
            .expect("the victim tells the process of its SUMO");
        assert!(signal("-0", process), "it runs");
        assert!(signal(how, victim.id()));
        victim.wait().unwrap();
        assert!(ends(process), "SUMO {process} outlives a client ended by {how}");
    }
}

#[test]
fn a_sumo_that_waits_for_us_ends_when_we_are_killed() {
    let file = std::env::temp_dir().join(format!("derrl-traci-victim-{}", std::process::id()));
    let mut victim = victim_process(file.to_str().unwrap());
    let process = wait_for_number(&file);
    assert!(signal("-0", process), "it runs");
    assert!(signal("-KILL", victim.id()));
    victim.wait().unwrap();
    assert!(ends(process), "{process} outlives a client killed before it connected");
    std::fs::remove_file(file).unwrap();
}

fn wait_for_number(file: &Path) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Ok(number) = text.trim().parse() {
            return number;
        }
        assert!(Instant::now() < deadline, "nothing in {}", file.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}
