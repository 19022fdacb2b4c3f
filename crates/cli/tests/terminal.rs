//! What a terminal of 80 columns shows: every line of every command fits, and what is piped keeps a rule per line.
#![cfg(unix)]

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

const GOOD: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
/// Rules that are longer than a line of a terminal.
const LONG: &str = "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y), \\+ isFloor(X), \\+ goal_on(Y, X), \\+ on(X, Y).\n\
                    0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y), \\+ goal_on(X, Y), \\+ goal_on(Y, X).\n";
const NEVER: &str =
    "0.9::move(X, Y) :- top(X), top(Y), goal_on(X, Y), on(X, Y), on(Y, X), isFloor(X), isFloor(Y).\n";
const WRONG: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y), top(X), top(Y), goal_onn(X, Y), top(X).\n";
const WALK: &str = "up :- north.\ndown :- south.\nleft :- west.\nright :- east.\n";
const KEYS: &str = "0.9::pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying.\n\
                    0.95::open(X) :- locked(X), samecolor(X, Y), carrying(Y).\n0.99::goto(X) :- goal(X), unlocked.\n";

/// Commands, as a person types them.
const COMMANDS: &str = "
    domains
    domains blockz
    train
    train --settings
    train blockz
    train blocks --set gama=1
    train blocks --set gamma=high
    train blocks --frobnicate
    train blocks --seeds 9..0
    train blocks --seed 1 --seeds 0..3
    train --resume nowhere blocks --seed 1
    train blocks --threads 100000
    train blocks --from long.pl --freeze 1,2 --config few.toml --out from-long
    train blocks --config few.toml --out short
    train gridworld --config few.toml --out unsolved
    train countdown --config few.toml --seeds 0..1 --out seeds
    eval short
    eval nowhere
    eval good.pl
    explain long.pl --domain blocks --why-not move(b,floor) --what-if move(b,floor)
    explain keys.pl --domain doorkey
    explain walk.pl --domain gridworld --steps 3
    explain good.pl --domain blocks --step 2
    explain good.pl --domain blocks --max-changes 1000
    verify good.pl --domain blocks --max-objects 4
    verify long.pl --domain blocks --max-objects 5
    verify walk.pl --domain gridworld --max-objects 3
    verify keys.pl --domain doorkey --max-objects 4
    verify good.pl --domain blocks --ties sometimes
    diff good.pl long.pl --domain blocks --max-objects 4
    diff walk.pl walk.pl --domain gridworld --max-objects 3
    simplify long.pl --domain blocks --max-objects 4
    check long.pl never.pl --domain blocks
    check wrong.pl --domain blocks
    check long.pl
    check nowhere.pl
    export good.pl --domain blocks
    export good.pl --domain blocks --to cobol
    report nowhere
    report good.pl
    serve nowhere
    serve --port 100000
    watch long.pl --domain blocks --seconds 0
    watch keys.pl --domain doorkey --seconds 0
    watch walk.pl --domain gridworld --seconds 0 --steps 5
    new gripper
    new Gripper
    plan good.pl gripper/test/p1.pddl --domain gripper/domain.pddl
    plan good.pl nowhere.pddl --domain nowhere/domain.pddl
    reproduce everything
    reproduce rules --quick --seeds 1 --domain countdown --budget 3000 --out again --verbose
    reproduce rules --quick --seeds 1 --domain countdown --budget 3000 --out again
    completions cobol
    frobnicate
    --frobnicate
    --version
";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let few = "updates = 5\nrestarts = 1\nwithout = [\"explore\", \"draw\", \"change\", \"try\"]\n";
    for (name, text) in [
        ("good.pl", GOOD),
        ("long.pl", LONG),
        ("never.pl", NEVER),
        ("wrong.pl", WRONG),
        ("walk.pl", WALK),
        ("keys.pl", KEYS),
        ("few.toml", few),
    ] {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

/// All that a command shows on a terminal of this width, standard error included.
fn on_terminal(folder: &Path, args: &[&str], columns: u16) -> String {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let keyboard = openpt(flags).expect("a pseudo-terminal");
    grantpt(&keyboard).expect("a pseudo-terminal");
    unlockpt(&keyboard).expect("a pseudo-terminal");
    let name = ptsname(&keyboard, Vec::new()).expect("its name").into_string().expect("in plain letters");
    let screen: File = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, rustix::fs::Mode::empty())
        .expect("its screen")
        .into();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&screen, size).expect("its size");
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).env("TERM", "xterm").stdin(Stdio::null());
    command.stdout(screen.try_clone().expect("a screen")).stderr(screen);
    let mut child = command.spawn().expect("the command starts");
    drop(command);
    let mut shown = Vec::new();
    // The end of a pseudo-terminal is an error on some systems.
    let _ = File::from(keyboard).read_to_end(&mut shown);
    child.wait().expect("the command ends");
    String::from_utf8_lossy(&shown).into_owned()
}

/// The lines as they stay on the screen, without colours.
fn lines(shown: &str) -> Vec<String> {
    let plain = |line: &str| {
        let mut text = String::new();
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            if c == '\x1b' {
                while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            } else {
                text.push(c);
            }
        }
        text
    };
    let last = |line: &str| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default().to_string();
    shown.split('\n').map(|line| plain(&last(line))).collect()
}

#[test]
fn every_line_fits_a_terminal_of_80_columns() {
    let folder = folder();
    let mut wide = Vec::new();
    for command in COMMANDS.lines().map(str::trim).filter(|c| !c.is_empty()) {
        let args: Vec<&str> = command.split(' ').collect();
        let shown = on_terminal(folder.path(), &args, 80);
        assert!(!shown.trim().is_empty(), "{command} shows nothing");
        let too_wide = lines(&shown).into_iter().filter(|line| line.chars().count() > 80);
        wide.extend(too_wide.map(|line| format!("{command}: {line}")));
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn a_rule_is_broken_between_atoms_and_whole_in_a_pipe() {
    let folder = folder();
    let args = ["simplify", "long.pl", "--domain", "blocks", "--max-objects", "3", "--out", "x.pl"];
    let removed = |text: &[String]| text.iter().position(|l| l.starts_with("removed: ")).expect("removed");
    let shown = lines(&on_terminal(folder.path(), &args, 60));
    let at = removed(&shown);
    assert!(shown[at].ends_with(','), "broken after a comma: {shown:?}");
    assert!(shown[at + 1].starts_with("    ") && !shown[at + 1].starts_with("     "), "moved in: {shown:?}");
    assert!(shown.iter().all(|l| l.chars().count() <= 60), "{shown:?}");
    // A wide terminal shows it whole, and so does a pipe.
    let shown = lines(&on_terminal(folder.path(), &args, 200));
    assert!(shown[removed(&shown)].ends_with('.'), "{shown:?}");
    let output = Command::new(env!("CARGO_BIN_EXE_derrl")).current_dir(folder.path()).args(args).output();
    let piped = String::from_utf8_lossy(&output.expect("the command starts").stderr).into_owned();
    assert!(piped.lines().filter(|l| l.starts_with("removed: ")).all(|l| l.ends_with('.')), "{piped}");
    assert!(!piped.contains("\n "), "{piped}");
}

/// A program that is copied off the screen still runs.
#[test]
fn programs_keep_their_lines_on_a_terminal() {
    let folder = folder();
    let args = ["export", "long.pl", "--domain", "blocks", "--to", "python"];
    let output = Command::new(env!("CARGO_BIN_EXE_derrl")).current_dir(folder.path()).args(args).output();
    let piped = String::from_utf8_lossy(&output.expect("the command starts").stdout).into_owned();
    assert!(piped.lines().any(|line| line.len() > 80), "a line to keep");
    let shown = on_terminal(folder.path(), &args, 80).replace("\r\n", "\n");
    assert_eq!(shown, piped);
}
