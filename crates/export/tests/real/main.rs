//! Exported programs decide as our engine does: every program is run by the real tool for its language, on thousands
//! of states, and every decision (the value and the whole set of best actions) is compared.
//!
//! A tool that is missing is a failure, not a reason to skip.

mod cases;
mod tools;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use derrl_export::{asp_constant, asp_name, export, find, problog_name, prolog_name};
use derrl_logic::syntax::Quoted;
use derrl_logic::{Constant, GroundAction, Object, Pred};

use cases::{Case, State};
use tools::{python, run, swipl};

const UNIT: char = '\x1f';
const RECORD: char = '\x1e';

/// How a language names predicates (by arity) and actions, and writes constants.
struct Spelling {
    predicate: fn(&str, usize) -> String,
    action: fn(&str) -> String,
    constant: fn(&Constant) -> String,
}

const PLAIN: Spelling = Spelling { predicate: |n, _| n.to_string(), action: str::to_string, constant: plain };
const PROLOG: Spelling = Spelling {
    predicate: |n, a| Quoted(&prolog_name(n, a).unwrap_or_else(|| n.to_string())).to_string(),
    action: str::to_string,
    constant: ToString::to_string,
};
const PROBLOG: Spelling = Spelling {
    predicate: |n, a| Quoted(&problog_name(n, a).unwrap_or_else(|| n.to_string())).to_string(),
    action: str::to_string,
    constant: ToString::to_string,
};
const ASP: Spelling = Spelling {
    predicate: |n, _| asp_name(n).unwrap_or_else(|| n.to_string()),
    action: |n| asp_name(n).unwrap_or_else(|| n.to_string()),
    constant: asp_constant,
};

/// `i:3`, `n:floor`: what all drivers print.
fn plain(constant: &Constant) -> String {
    match constant {
        Constant::Int(i) => format!("i:{i}"),
        Constant::Name(n) => format!("n:{n}"),
    }
}

/// The facts that the world gives.
fn given<'s>(case: &'s Case, state: &'s State) -> impl Iterator<Item = (Pred, &'s [Object])> {
    state.facts.iter().filter(|(p, _)| case.alphabet.predicate(*p).role.is_given())
}

/// The facts and objects of a state as facts of a logic program.
fn logic_facts(case: &Case, state: &State, spelling: &Spelling, object: &str) -> Vec<String> {
    let constant = |o| (spelling.constant)(state.universe.name(o));
    let mut facts = Vec::new();
    for (p, args) in given(case, state) {
        let name = (spelling.predicate)(&case.alphabet.predicate(p).name, args.len());
        let args: Vec<String> = args.iter().map(|&o| constant(o)).collect();
        facts.push(if args.is_empty() { name } else { format!("{name}({})", args.join(", ")) });
    }
    for o in state.universe.objects() {
        let t = Constant::name(case.alphabet.types.name(state.universe.type_of(o)));
        facts.push(format!("{object}({}, {})", constant(o), (spelling.constant)(&t)));
    }
    facts
}

/// A text for every state, one after the other.
fn each_state(case: &Case, text: impl Fn(&State) -> String) -> String {
    case.states.iter().map(text).collect()
}

/// The states of a case as the drivers for Python and Rust read them.
fn plain_states(case: &Case) -> String {
    let mut text = String::new();
    for state in &case.states {
        let constant = |o| plain(state.universe.name(o));
        for (p, args) in given(case, state) {
            let _ = write!(text, "fact{UNIT}{}", case.alphabet.predicate(p).name);
            for &o in args {
                let _ = write!(text, "{UNIT}{}", constant(o));
            }
            text.push('\n');
        }
        for o in state.universe.objects() {
            let t = case.alphabet.types.name(state.universe.type_of(o));
            let _ = writeln!(text, "object{UNIT}{}{UNIT}{t}", constant(o));
        }
        text.push_str("end\n");
    }
    text
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the temporary folder can be written");
}

fn program(target: &str, case: &Case) -> String {
    export(find(target).expect("the table has this target"), &case.policy, &case.alphabet)
        .expect("the language says all")
}

/// An action as the drivers print it.
fn shown(case: &Case, state: &State, action: &GroundAction, spelling: &Spelling) -> String {
    let decl = case.alphabet.action(action.action);
    let mut text = (spelling.action)(&decl.name);
    for o in decl.written(&action.args) {
        let _ = write!(text, "{UNIT}{}", plain(state.universe.name(o)));
    }
    text
}

/// Compares what a tool decided, one line per state, with what our engine decides. How many states there were.
fn compare(case: &Case, lines: &[&str], spelling: &Spelling) -> usize {
    assert_eq!(lines.len(), case.states.len(), "{}: an answer a state", case.name);
    for (i, (state, line)) in case.states.iter().zip(lines).enumerate() {
        let mut fields = line.split('\t');
        let value = fields.next().unwrap_or_default();
        let actions: BTreeSet<&str> =
            fields.next().unwrap_or_default().split(RECORD).filter(|a| !a.is_empty()).collect();
        let ours: BTreeSet<String> =
            state.decision.ties.iter().map(|a| shown(case, state, a, spelling)).collect();
        let describe = || {
            format!(
                "case {}, state {i}: {}\npolicy:\n{}",
                case.name,
                state.facts.show(&case.alphabet, &state.universe).join(", "),
                case.policy.display(&case.alphabet)
            )
        };
        assert_eq!(actions, ours.iter().map(String::as_str).collect(), "{}", describe());
        if value != "-" {
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("no value in {line:?}"));
            assert_eq!(value, state.decision.value, "{}", describe());
        }
    }
    case.states.len()
}

/// The lines that a driver printed for each case.
fn by_case(output: &str) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for line in output.lines() {
        match all.last_mut() {
            Some(lines) if !line.starts_with("case ") => lines.push(line),
            _ => all.push(Vec::new()),
        }
    }
    all
}

/// Runs the Python driver over all cases at once.
fn run_driver(mode: &str, folder: &Path, cases: &[Case]) -> String {
    write(folder, "driver.py", include_str!("driver.py"));
    let mut command = Command::new(python());
    command.current_dir(folder).env("PYTHONIOENCODING", "utf-8").arg("driver.py").arg(mode);
    run(command.args(cases.iter().map(|c| &c.name)))
}

#[test]
fn prolog_decides_as_we_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), "driver.pl", include_str!("driver.pl"));
    let mut states = 0;
    for case in cases::all() {
        let program = program("prolog", &case);
        // The domain may have a predicate `best` of its own.
        let best = if program.contains("\nbest_(Value") { "best_" } else { "best" };
        let object = case.object;
        let driven = format!("{program}\n:- dynamic {object}/2.\ndecided(V, As) :- {best}(V, As).\n");
        write(folder.path(), "policy.pl", &driven);
        let facts = each_state(&case, |s| {
            format!("state([{}]).\n", logic_facts(&case, s, &PROLOG, object).join(", "))
        });
        write(folder.path(), "states", &facts);
        let mut command = Command::new(swipl());
        command.current_dir(folder.path()).args([
            "-g",
            "main",
            "-t",
            "halt",
            "policy.pl",
            "driver.pl",
            "--",
            "states",
        ]);
        let output = run(&mut command);
        states += compare(&case, &output.lines().collect::<Vec<_>>(), &PROLOG);
    }
    assert!(states > 5000, "{states} states are not thousands");
}

#[test]
fn problog_decides_as_we_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut cases = cases::all();
    // Distances over the cells of a grid take it seconds per state: the other tools check these.
    cases.retain(|case| case.name != "gridworld_1");
    // A state takes it ten milliseconds; a tenth of them is still a thousand.
    for case in &mut cases {
        let mut at = 0;
        case.states.retain(|_| {
            at += 1;
            at % 10 == 0
        });
    }
    for case in &cases {
        write(folder.path(), &format!("{}.problog", case.name), &program("problog", case));
        let facts = each_state(case, |s| {
            format!("{}.{RECORD}\n", logic_facts(case, s, &PROBLOG, case.object).join(". "))
        });
        write(folder.path(), &format!("{}.problog-facts", case.name), &facts);
    }
    let output = run_driver("problog", folder.path(), &cases);
    let mut states = 0;
    for (case, lines) in cases.iter().zip(by_case(&output)) {
        states += compare(case, &lines, &PROBLOG);
        // The probability of an action is its value.
        for (state, line) in case.states.iter().zip(lines) {
            let values = line.split('\t').nth(2).unwrap_or_default();
            let mut left: Vec<&str> = values.split(RECORD).filter(|v| !v.is_empty()).collect();
            for (action, value) in &state.values {
                let action = shown(case, state, action, &PROBLOG);
                let at =
                    left.iter().position(|v| v.strip_prefix(&action).is_some_and(|v| v.starts_with('=')));
                let at = at.unwrap_or_else(|| panic!("{}: no value of {action} in {values}", case.name));
                let given: f64 = left.remove(at)[action.len() + 1..].parse().expect("a probability");
                assert!(
                    (given - value).abs() < 1e-9,
                    "{}: {action} has value {value}, not {given}",
                    case.name
                );
            }
            assert!(left.is_empty(), "{}: more is derived: {left:?}", case.name);
        }
    }
    assert!(states > 1000, "{states} states are not a thousand");
}

#[test]
fn answer_sets_decide_as_we_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases = cases::all();
    for case in &cases {
        write(folder.path(), &format!("{}.lp", case.name), &program("asp", case));
        let facts = each_state(case, |s| {
            format!("{}.{RECORD}\n", logic_facts(case, s, &ASP, case.object).join(". "))
        });
        write(folder.path(), &format!("{}.lp-facts", case.name), &facts);
    }
    let output = run_driver("asp", folder.path(), &cases);
    let states: usize =
        cases.iter().zip(by_case(&output)).map(|(case, lines)| compare(case, &lines, &ASP)).sum();
    assert!(states > 5000, "{states} states are not thousands");
}

#[test]
fn python_decides_as_we_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases = cases::all();
    for case in &cases {
        write(folder.path(), &format!("{}.py", case.name), &program("python", case));
        write(folder.path(), &format!("{}.states", case.name), &plain_states(case));
    }
    let output = run_driver("python", folder.path(), &cases);
    let states: usize =
        cases.iter().zip(by_case(&output)).map(|(case, lines)| compare(case, &lines, &PLAIN)).sum();
    assert!(states > 5000, "{states} states are not thousands");
}

#[test]
fn rust_decides_as_we_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases = cases::all();
    let mut main = format!("#![deny(warnings)]\n{}", include_str!("driver.rs"));
    for case in &cases {
        write(folder.path(), &format!("{}.rs", case.name), &program("rust", case));
        write(folder.path(), &format!("{}.states", case.name), &plain_states(case));
        let _ = writeln!(main, "mod {};", case.name);
    }
    main.push_str("fn main() {\n");
    for case in &cases {
        let _ = writeln!(main, "    decide!({0}, \"{0}\");", case.name);
    }
    main.push_str("}\n");
    write(folder.path(), "main.rs", &main);
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    // The oldest edition that people still start projects in, and in which less is inferred.
    run(rustc.current_dir(folder.path()).args(["--edition", "2021", "-o", "decide", "main.rs"]));
    let output = run(Command::new(folder.path().join("decide")).current_dir(folder.path()));
    let states: usize =
        cases.iter().zip(by_case(&output)).map(|(case, lines)| compare(case, &lines, &PLAIN)).sum();
    assert!(states > 5000, "{states} states are not thousands");
}
