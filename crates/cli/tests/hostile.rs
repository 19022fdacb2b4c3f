//! The command in the hands of a hostile user: full disks, closed pipes, planted links, flipped bits, kills, crowds.
#![cfg(unix)]

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const POLICY: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
const QUICK: [&str; 7] = ["--set", "updates=40", "--set", "restarts=2", "--episodes", "20", "--no-report"];
/// No command of these tests takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

fn derrl(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null()).args(args);
    command
}

fn quick<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().chain(QUICK).collect()
}

fn run(folder: &Path, args: &[&str]) -> Output {
    derrl(folder, args).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn place() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("policy.pl"), POLICY).expect("a file can be written");
    folder
}

/// Waits for a command; one that hangs is killed, and fails the test.
fn wait(child: &mut Child, what: &str) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("the command can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("{what} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").expect("a full device").into()
}

/// Every command that prints a result.
const PRINTING: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["domains"],
    &["domains", "--json"],
    &["train", "--settings"],
    &["export", "policy.pl", "--domain", "blocks", "--to", "python"],
    &["check", "policy.pl", "--domain", "blocks"],
    &["eval", "policy.pl", "--domain", "blocks", "--episodes", "2"],
    &["explain", "policy.pl", "--domain", "blocks"],
    &["verify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
    &["simplify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
];

#[test]
fn a_result_that_is_lost_is_an_error() {
    let folder = place();
    for args in PRINTING {
        let output = derrl(folder.path(), args).stdout(full()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(
            said.contains("cannot write to standard output: No space left on device"),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn a_closed_pipe_is_silent() {
    let folder = place();
    for args in PRINTING {
        let mut child =
            derrl(folder.path(), args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = child.stderr.take().unwrap();
        let status = wait(&mut child, &format!("{args:?}"));
        let mut said = String::new();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(status.code(), Some(0), "{args:?}: {said}");
        assert!(!said.contains("error") && !said.contains("panick"), "{args:?}: {said}");
    }
}

#[test]
fn messages_that_are_lost_change_nothing() {
    let folder = place();
    let messages: &[&[&str]] = &[
        &["train", "blocks", "--seeds", "0..3"],
        &["eval", "policy.pl", "--domain", "blocks"],
        &["simplify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
        &["verify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
    ];
    for args in messages {
        let args = if args[0] == "train" { quick(args) } else { args.to_vec() };
        let mut child = derrl(folder.path(), &args).stdout(Stdio::null()).stderr(full()).spawn().unwrap();
        assert_eq!(wait(&mut child, "training with a full error stream").code(), Some(0), "{args:?}");
    }
    // A mistake keeps its exit code when nobody can be told about it.
    let status =
        derrl(folder.path(), &["eval", "nowhere.pl", "--domain", "blocks"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

/// `derrl train ... 2>&1 | head -1`: worker threads find nobody to talk to, and train on.
#[test]
fn training_outlives_the_reader_of_its_messages() {
    let folder = place();
    for attempt in 0..3 {
        let mut child = derrl(folder.path(), &quick(&["train", "blocks", "--seeds", "0..3"]))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains("seed"), "{line}");
        drop(stderr);
        assert_eq!(wait(&mut child, "training without a reader").code(), Some(0), "attempt {attempt}");
    }
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON document")
}

/// A finished run in the folder `run`.
fn trained() -> TempDir {
    let folder = place();
    json(&run(folder.path(), &quick(&["train", "blocks", "--out", "run", "--json"])));
    folder
}

/// The same by the gradient alone: it has curves.
fn trained_by_gradient() -> TempDir {
    let folder = place();
    let args = ["train", "blocks", "--out", "run", "--json", "--set", "without=explore,draw,change,try"];
    json(&run(folder.path(), &quick(&args)));
    folder
}

/// A link in the place of every file that a command writes, under its own name and under that of the old temporary files: what it
/// points to stays as it is, and the link becomes a file.
#[test]
fn planted_links_are_not_followed() {
    let folder = trained();
    let precious = folder.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let plant = |name: &str| {
        let path = folder.path().join(name);
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(&precious, &path).unwrap();
    };
    let verify = ["verify", "run", "--max-objects", "3", "--picture", "p.svg"];
    let cases: &[(&[&str], &[&str])] = &[
        (&["report", "run"], &["run/report.html", "run/.report.html.partial"]),
        (&verify, &["run/verify.json", "run/.verify.json.partial", "p.svg"]),
        (&["explain", "run", "--picture", "p.png"], &["p.png", ".p.png.partial"]),
        (&["report", "run", "--gif", "film.gif"], &["film.gif"]),
        (&["export", "run", "--to", "python", "-o", "out.py"], &["out.py", ".out.py.partial"]),
        (&["simplify", "run", "--max-objects", "3", "-o", "out.pl"], &["out.pl", ".out.pl.partial"]),
        (
            &["train", "--resume", "run"],
            &[
                "run/result.json",
                "run/metrics.jsonl.partial",
                "run/policy.pl",
                "run/curve.svg",
                "run/time.json",
            ],
        ),
    ];
    for (args, links) in cases {
        links.iter().for_each(|link| plant(link));
        let output = run(folder.path(), args);
        assert_ne!(output.status.code(), Some(101), "{args:?}: {}", text(&output.stderr));
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious", "{args:?}");
        for link in links.iter().filter(|l| !l.ends_with(".partial") && **l != "p.svg") {
            assert!(fs::symlink_metadata(folder.path().join(link)).unwrap().is_file(), "{args:?}: {link}");
        }
    }
    // A lock that is a link to somewhere else is no lock.
    plant("run/.lock");
    let output = run(folder.path(), &["train", "--resume", "run"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

/// Runs a command on a disk that is full: files may grow to no more than this many half kilobytes.
fn on_full_disk(folder: &Path, blocks: usize, args: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_derrl")]).args(args);
    command.current_dir(folder).stdin(Stdio::null()).output().expect("a shell")
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let folder = trained();
    fs::write(folder.path().join("old.pl"), "old").unwrap();
    let before = fs::read_to_string(folder.path().join("run/report.html")).unwrap_or_default();
    let cases: &[&[&str]] = &[
        &["simplify", "run", "--max-objects", "3", "-o", "old.pl"],
        &["simplify", "run", "--max-objects", "3", "-o", "new.pl"],
        &["export", "run", "--to", "rust", "-o", "old.pl"],
        &["report", "run"],
        &["train", "--resume", "run"],
        &["train", "blocks", "--out", "other", "--set", "updates=40"],
        &["train", "blocks", "--seeds", "0..1", "--out", "several", "--set", "updates=40"],
        &[
            "reproduce",
            "rules",
            "--quick",
            "--seeds",
            "1",
            "--domain",
            "blocks",
            "--budget",
            "500",
            "--out",
            "r",
        ],
    ];
    for args in cases {
        let output = on_full_disk(folder.path(), 0, args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("cannot write"), "{args:?}: {said}");
        assert!(said.contains("File too large"), "{args:?}: {said}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("old.pl")).unwrap(), "old");
    assert!(!folder.path().join("new.pl").exists());
    assert_eq!(fs::read_to_string(folder.path().join("run/report.html")).unwrap_or_default(), before);
    // When there is room again, the run goes on.
    json(&run(folder.path(), &["train", "--resume", "run", "--json"]));
    assert_eq!(leftovers(folder.path()), Vec::<String>::new());
}

/// Files that were being written, anywhere below a folder.
fn leftovers(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(leftovers(&path));
        } else if path.to_string_lossy().ends_with(".partial") {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Runs as a user without rights, where there is one to become: root may write everywhere.
fn powerless(folder: &Path, args: &[&str]) -> Option<Output> {
    let probe = folder.join("probe");
    fs::create_dir(&probe).unwrap();
    let mut shut = fs::metadata(&probe).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut shut, 0o555);
    fs::set_permissions(&probe, shut).unwrap();
    let is_powerless = fs::write(probe.join("x"), "").is_err();
    let _ = fs::remove_dir_all(&probe);
    if is_powerless {
        return Some(run(folder, args));
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_derrl")])
        .args(args);
    command.current_dir(folder).stdin(Stdio::null()).output().ok()
}

#[test]
fn a_folder_that_may_not_be_written_is_an_error_of_the_surroundings() {
    let folder = trained();
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(folder.path(), 0o755);
    mode(&folder.path().join("run"), 0o555);
    let cases: &[&[&str]] = &[
        &["report", "run"],
        &["train", "--resume", "run"],
        &["train", "blocks", "--out", "run/below"],
        &["export", "run", "--to", "python", "-o", "run/out.py"],
    ];
    for args in cases {
        let Some(output) = powerless(folder.path(), args) else { continue };
        let said = text(&output.stderr);
        if said.contains("setpriv") {
            continue; // this user can neither write nor become another
        }
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("Permission denied"), "{args:?}: {said}");
    }
    mode(&folder.path().join("run"), 0o755);
}

/// Every flipped bit of a checkpoint or its curves is noticed, or changes nothing.
#[test]
fn flipped_bits_are_noticed() {
    let folder = trained_by_gradient();
    let whole = json(&run(folder.path(), &["train", "--resume", "run", "--json", "--no-report"]));
    let mut seed = 1_u64;
    for file in ["checkpoint.json", "metrics.jsonl"] {
        let path = folder.path().join("run").join(file);
        let good = fs::read(&path).unwrap();
        for _ in 0..20 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (seed >> 33) as usize % good.len();
            let mut bad = good.clone();
            bad[at] ^= 1 << (seed >> 60 & 7);
            fs::write(&path, &bad).unwrap();
            let output = run(folder.path(), &["train", "--resume", "run", "--json", "--no-report"]);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "byte {at} of {file}: {said}");
            assert!(said.contains(file) && said.contains("damaged") && said.contains("rm "), "{said}");
        }
        fs::write(&path, &good).unwrap();
    }
    let again = json(&run(folder.path(), &["train", "--resume", "run", "--json", "--no-report"]));
    for key in ["policy", "scores", "steps", "episodes"] {
        assert_eq!(again[key], whole[key], "{key}");
    }
    // The time is that of the training, however often it is looked at.
    let seconds = |result: &serde_json::Value| result["seconds"].as_f64().unwrap();
    assert!(seconds(&whole) > 0.0 && (seconds(&again) - seconds(&whole)).abs() < 0.5);
}

#[test]
fn eight_starts_at_once_never_clash() {
    let folder = place();
    let start = |args: &[&str]| {
        let mut command = derrl(folder.path(), &quick(args));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut free: Vec<Child> = (0..8).map(|_| start(&["train", "blocks"])).collect();
    for child in &mut free {
        assert_eq!(wait(child, "one of eight").code(), Some(0));
    }
    for n in 1..=8 {
        assert!(folder.path().join(format!("runs/blocks-{n}/policy.pl")).is_file(), "run {n}");
    }
    assert!(!folder.path().join("runs/blocks-9").exists());
    // Of eight that ask for the same folder one gets it.
    let same: Vec<Child> =
        (0..8).map(|_| start(&["train", "blocks", "--seeds", "0..1", "--out", "same"])).collect();
    let mut winners = 0;
    for child in same {
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        match output.status.code() {
            Some(0) => winners += 1,
            Some(1) => assert!(said.contains("another derrl is writing same"), "{said}"),
            Some(2) => assert!(said.contains("holds a run already"), "{said}"),
            other => panic!("{other:?}: {said}"),
        }
    }
    assert_eq!(winners, 1);
}

#[test]
fn a_run_folder_has_one_writer() {
    let folder = place();
    let long =
        ["train", "blocks", "--seeds", "0..1", "--out", "top", "--max-steps", "1000000000", "--no-report"];
    let gradient =
        ["--set", "without=explore,draw,change,try", "--set", "updates=1000000", "--set", "doubling=false"];
    let long = [&long[..], &gradient].concat();
    let mut child = derrl(folder.path(), &long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !folder.path().join("top/seed-1/config.toml").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    for path in ["top", "top/seed-1"] {
        let second = run(folder.path(), &["train", "--resume", path]);
        assert_eq!(second.status.code(), Some(1), "{}", text(&second.stderr));
        assert!(text(&second.stderr).contains("another derrl is writing"), "{}", text(&second.stderr));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock goes with the process, however it ends.
    let mut third =
        derrl(folder.path(), &["train", "--resume", "top/seed-1"]).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    Command::new("kill").args(["-INT", &third.id().to_string()]).status().unwrap();
    assert_eq!(wait(&mut third, "a resumed run").code(), Some(130));
}

/// Killed at once, a run of many seeds has few folders; resumed, it has all of them, each as if it had been run alone.
#[test]
fn a_killed_run_of_many_seeds_loses_none() {
    let folder = place();
    let args = quick(&["train", "countdown", "--seeds", "0..29", "--out", "all"]);
    let mut child = derrl(folder.path(), &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.path().join("all/seeds.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the list of seeds is written first");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // A kill in the middle of writing leaves this.
    let half_written = folder.path().join("all/seed-3/.checkpoint.json.x1.partial");
    std::fs::create_dir_all(half_written.parent().unwrap()).unwrap();
    std::fs::write(&half_written, "{").unwrap();
    let resumed = json(&run(folder.path(), &["train", "--resume", "all", "--json", "--no-report"]));
    assert!(!half_written.exists());
    let runs = resumed["runs"].as_array().unwrap();
    let seeds: Vec<u64> = runs.iter().filter_map(|r| r["seed"].as_u64()).collect();
    assert_eq!(seeds, (0..30).collect::<Vec<_>>());
    let alone =
        json(&run(folder.path(), &quick(&["train", "countdown", "--seed", "17", "--out", "one", "--json"])));
    for key in ["policy", "scores", "steps"] {
        assert_eq!(runs[17][key], alone[key], "{key}");
    }
}

/// Runs in one folder that differ in options, task, start rules or domain text are each resumed by their own.
#[test]
fn each_run_resumes_by_its_own_configuration() {
    let folder = place();
    let domains = json(&run(folder.path(), &["domains", "--json"]));
    let blocks = domains["domains"].as_array().unwrap().iter().find(|d| d["name"] == "blocks").unwrap();
    let own = blocks["domain_file"].as_str().unwrap().replace(":- rules(move/2, 2).", ":- rules(move/2, 1).");
    fs::write(folder.path().join("own.pl"), own).unwrap();
    let variants: &[(&str, &[&str])] = &[
        ("plain", &["blocks"]),
        ("options", &["countdown", "--noise", "0.1"]),
        ("task", &["blocks", "--task", "large", "--size", "4"]),
        ("start", &["blocks", "--from", "policy.pl", "--freeze", "1"]),
        ("domain", &["./own.pl"]),
        ("settings", &["blocks", "--set", "gamma=0.9"]),
    ];
    let keys = ["policy", "unsimplified", "scores", "steps", "episodes"];
    for (name, args) in variants {
        let out = format!("all/{name}");
        let args = [&["train"], *args, &["--out", &out, "--json"]].concat();
        let alone = json(&run(folder.path(), &quick(&args)));
        fs::write(folder.path().join(format!("{name}.json")), alone.to_string()).unwrap();
        // As if it had been killed before anything was saved.
        for file in ["checkpoint.json", "metrics.jsonl", "policy.pl", "result.json"] {
            fs::remove_file(folder.path().join(&out).join(file)).unwrap();
        }
    }
    json(&run(folder.path(), &["train", "--resume", "all", "--json", "--no-report"]));
    for (name, _) in variants {
        let read = |path: String| -> serde_json::Value {
            serde_json::from_str(&fs::read_to_string(folder.path().join(path)).unwrap()).unwrap()
        };
        let (alone, resumed) = (read(format!("{name}.json")), read(format!("all/{name}/result.json")));
        for key in keys {
            assert_eq!(resumed[key], alone[key], "{name}: {key}");
        }
    }
}

/// The curve is in metrics.jsonl alone: twice the updates, the same checkpoint but for a few digits.
#[test]
fn the_checkpoint_does_not_grow_with_the_curve() {
    let folder = place();
    let size = |updates: &str| {
        let set = format!("updates={updates}");
        let args = ["train", "countdown", "--out", updates, "--no-report", "--episodes", "5", "--set", &set];
        let few = ["--set", "restarts=1", "--set", "doubling=false", "--set", "batch=64"];
        // What is explored is noted: more where there are more steps.
        let alone = ["--set", "without=explore,draw,change,try"];
        let output = run(folder.path(), &[&args[..], &few, &alone].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let length = |file: &str| fs::metadata(folder.path().join(updates).join(file)).unwrap().len();
        (length("checkpoint.json"), length("metrics.jsonl"))
    };
    let ((short, few), (long, many)) = (size("40"), size("800"));
    assert!(many > 2 * few, "{few} {many}");
    assert!(long < short + 400, "{short} {long}");
}

/// What would take all memory or an hour is refused, with the reason, or done in seconds.
#[test]
fn oversized_requests_are_refused() {
    let folder = place();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let body = |atoms: Vec<String>| format!("move(X, Y) :- top(X), {}.\n", atoms.join(", "));
    write("deep.pl", &body((0..100_000).map(|i| format!("on(X, c{i})")).collect()));
    write("again.pl", &body(vec!["on(X, Y)".to_string(); 5_000]));
    write("apart.pl", &body((0..12).map(|i| format!("top(A{i})")).collect()));
    let eval = |file| ["eval", file, "--domain", "blocks"];
    let large = |domain, size| ["train", domain, "--task", "large", "--size", size];
    let refused: &[(&[&str], &str)] = &[
        (&eval("deep.pl"), "a body of 100001 literals; at most 1000 are read"),
        (&eval("again.pl"), "a body of 5001 literals; at most 1000 are read"),
        (&eval("apart.pl"), "falls into 12 parts that share no variable"),
        (&large("blocks", "30000"), "--force"),
        (&large("blocks", "3000"), "of memory and"),
        (&large("blocks", "-1"), "write a whole number from 0"),
        (&["train", "countdown", "--noise", "-1"], "noise"),
        (
            &["verify", "policy.pl", "--domain", "blocks", "--max-objects", "-1"],
            "write a whole number from 0",
        ),
    ];
    for (args, reason) in refused {
        let begun = Instant::now();
        let output = run(folder.path(), args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(reason), "{args:?}: {said}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{args:?} takes {:?}", begun.elapsed());
    }
    assert!(!folder.path().join("runs").exists(), "nothing was started");

    let domain = ":- action(move/2).\n:- state(on/2).\n:- variables(3).\n";
    write("many.pl", &format!("{domain}{}", "false :- on(X, Y), on(Y, X).\n".repeat(100_000)));
    let named: Vec<String> = (0..5_000).map(|i| format!(":- constant(c{i}).")).collect();
    let named = named.join("\n");
    write("named.pl", &format!("{domain}{named}"));
    for (file, reason) in
        [("many.pl", "99899 more constraints have no effect"), ("named.pl", "too many to train")]
    {
        let begun = Instant::now();
        let output = run(folder.path(), &["check", file]);
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(reason), "{file}: {}", text(&output.stdout));
        assert!(begun.elapsed() < Duration::from_secs(30), "{file} takes {:?}", begun.elapsed());
    }
}

#[test]
fn lines_may_end_as_on_old_macs() {
    let folder = place();
    fs::write(folder.path().join("mac.pl"), format!("% a comment\r{}", POLICY.replace('\n', "\r"))).unwrap();
    let score =
        |file| json(&run(folder.path(), &["eval", file, "--domain", "blocks", "--episodes", "5", "--json"]));
    assert_eq!(score("mac.pl"), score("policy.pl"));
    fs::write(folder.path().join("bad.pl"), "% a comment\rmove(X, Y) :- tpo(X).\r").unwrap();
    let said = text(&run(folder.path(), &["eval", "bad.pl", "--domain", "blocks"]).stderr);
    assert!(said.contains("bad.pl:2:15"), "{said}");
}

/// A hint can be pasted into a shell, whatever the folder is called.
#[test]
fn commands_in_hints_are_quoted() {
    let folder = place();
    let name = "it's $HOME; my run";
    json(&run(folder.path(), &quick(&["train", "blocks", "--json", "--out", name])));
    assert!(!folder.path().join(name).join("report.html").exists(), "--no-report");
    fs::remove_file(folder.path().join(name).join("result.json")).unwrap();
    let said = text(&run(folder.path(), &["report", name]).stderr);
    let command = said.split_once("resume it with").unwrap().1.trim().replacen("derrl", "\"$0\"", 1);
    let status = Command::new("sh")
        .args(["-c", &command, env!("CARGO_BIN_EXE_derrl")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(status.status.success(), "{command}: {}", text(&status.stderr));
    assert!(folder.path().join(name).join("result.json").exists());
}

/// A simulator that is missing is no mistake of the user's.
#[test]
fn a_missing_simulator_is_an_error_of_the_surroundings() {
    let folder = place();
    fs::write(folder.path().join("traffic.pl"), "green(X) :- highest(X).\n").unwrap();
    for args in [&["train", "traffic"][..], &["eval", "traffic.pl", "--domain", "traffic"]] {
        let mut command = derrl(folder.path(), args);
        command.env_remove("DERRL_TOOLS").env_remove("SUMO_HOME").env("PATH", "/nowhere");
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("SUMO was not found"), "{args:?}: {said}");
    }
}
