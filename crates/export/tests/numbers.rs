//! Programs in C and Python decide by numbers as our engine does: compiled and run, in hundreds of random states.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use derrl_env::Rng;
use derrl_export::{export, find};
use derrl_logic::{
    Alphabet, Constant, Decider, Facts, Measure, Number, Object, Policy, Pred, Source, Universe,
};

const DOMAIN: &str = "
    :- action(left). :- action(green(phase)). :- action(assign(taxi, rider)).
    :- state(current(phase)). :- state(idle(taxi)). :- state(calm). :- state(near_by(taxi, rider)).
    :- number(angle). :- number(spin). :- number(queue(phase), cars). :- number(wait(phase), second).
    :- number(dist(taxi, rider), metre). :- number(fuel(any)).
    :- derived(urgent(phase)). urgent(P) :- wait(P) > 1. urgent(P) :- queue(P) >= 1.5, \\+ calm.
    :- legal(assign/2). assign(T, R) :- idle(T), dist(T, R) < 1.75.
    :- constant(p1).";

const POLICIES: [&str; 6] = [
    "0.9::left :- angle > 0.02, spin =< 0. 0.8::left :- angle + 0.3*spin < -0.5, \\+ calm. 0.5::green(P) :- current(P).",
    "0.9::green(P) :- queue(P) > queue(Q) + 0.5, current(Q). 0.8::green(P) :- most(wait(P)).",
    "assign(T, R) :- idle(T), least(dist(T, R)), most(fuel(T)). 0.5::assign(T, R) :- near_by(T, R), fuel(R) > -1.",
    "0.9::green(P) :- urgent(P), \\+ current(P), least(queue(P)), most(wait(P) - 0.5*queue(P)). 0.4::green(P) :- current(Q), wait(Q) > 0.",
    "0.9::green(P) :- queue(p1) > 1.2*queue(P) + 0.25. 0.9::left :- queue(p1) =< -1. 0.2::green(P) :- most(queue(P) - 2*wait(p1)).",
    "left :- queue(P) > 0, wait(Q) < 1.0e-9, dist(T, R) >= 2, calm. 0.1::assign(T, R) :- dist(T, R) - fuel(T) >= 0, most(dist(T, P) + 0.1*queue(p1)), near_by(T, P).",
];

const OBJECTS: [(&str, &str); 7] = [
    ("p1", "phase"),
    ("p2", "phase"),
    ("p3", "phase"),
    ("t1", "taxi"),
    ("t2", "taxi"),
    ("r1", "rider"),
    ("r2", "rider"),
];

const STATES: u64 = 60;

struct Case {
    policy: Policy,
    alphabet: Arc<Alphabet>,
}

fn cases() -> Vec<Case> {
    let domain = Arc::new(Alphabet::parse(&Source::new("d.pl", DOMAIN)).unwrap_or_else(|e| panic!("{e}")));
    let read = |text: &&str| {
        let (policy, alphabet) =
            Policy::read(&Source::new("p.pl", *text), &domain).unwrap_or_else(|e| panic!("{e}"));
        Case { policy, alphabet }
    };
    POLICIES.iter().map(read).collect()
}

/// Some objects, and random facts and numbers of them.
fn state(alphabet: &Alphabet, seed: u64) -> (Universe, Facts) {
    let mut rng = Rng::new(seed, 0);
    let typed =
        |(name, t): (&str, &str)| (Constant::name(name), alphabet.types.find(t).expect("it is a type"));
    let present: Vec<_> = OBJECTS.into_iter().filter(|_| rng.below(6) > 0).map(typed).collect();
    let universe = Universe::new(present);
    let mut facts = Facts::new(alphabet);
    let mut each = |types: &[derrl_logic::Type], take: &mut dyn FnMut(&[Object], &mut Rng)| {
        let mut tuples: Vec<Vec<Object>> = vec![Vec::new()];
        for &t in types {
            let fits = |o: &Object| alphabet.types.is_subtype(universe.type_of(*o), t);
            let longer = |tuple: &Vec<Object>| {
                universe.objects().filter(fits).map(|o| [tuple.as_slice(), &[o]].concat()).collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        for tuple in tuples {
            if rng.below(4) > 0 {
                take(&tuple, &mut rng);
            }
        }
    };
    for (i, p) in alphabet.predicates.iter().enumerate().filter(|(_, p)| p.role.is_given()) {
        each(&p.args, &mut |tuple, _| facts.push(Pred(i as u32), tuple));
    }
    for (i, m) in alphabet.measures.iter().enumerate() {
        each(&m.args, &mut |tuple, rng| {
            facts.set(Measure(i as u32), tuple, (rng.below(17) as f64 - 8.0) / 4.0);
        });
    }
    facts.seal();
    facts.derive(&universe);
    (universe, facts)
}

/// What our engine decides: the value and the actions, as the drivers print them.
fn decided(case: &Case, universe: &Universe, facts: &Facts) -> String {
    let decision =
        Decider::new(&case.policy, &case.alphabet, universe).decide(facts, &case.alphabet, universe);
    let fires = decision.value > 0.0;
    let ties = decision.ties.iter().filter(|_| fires);
    let shown: BTreeSet<String> =
        ties.map(|a| universe.show_action(&case.alphabet, a.action, &a.args).replace(", ", ",")).collect();
    format!("{} {}", decision.value, shown.into_iter().collect::<Vec<_>>().join(" ")).trim_end().to_string()
}

fn program(target: &str, case: &Case) -> String {
    let target = find(target).expect("the table has this target");
    export(target, &case.policy, &case.alphabet).unwrap_or_else(|e| panic!("{e}"))
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("cannot run {command:?}: {e}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.trim().is_empty(), "{command:?}:\n{errors}");
    String::from_utf8(output.stdout).expect("it prints text")
}

fn compare(case: &Case, output: &str) {
    assert_eq!(output.lines().count(), STATES as usize);
    let mut fired = 0;
    for (seed, line) in (0..STATES).zip(output.lines()) {
        let (universe, facts) = state(&case.alphabet, seed);
        let ours = decided(case, &universe, &facts);
        fired += u64::from(ours != "0");
        let shown = || {
            format!(
                "{}\n{}",
                facts.show(&case.alphabet, &universe).join(". "),
                case.policy.display(&case.alphabet)
            )
        };
        assert_eq!(line.trim_end(), ours, "state {seed}: {}", shown());
    }
    assert!(fired > 3, "{fired}: {}", case.policy.display(&case.alphabet));
}

/// What stands before a function `show(value, actions)`, and calls of it.
fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the temporary folder can be written");
}

#[test]
fn python_decides_by_numbers_as_we_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for case in cases() {
        let mut text = program("python", &case);
        text.push_str(
            "\ndef shown(a):\n    return a[0] + (\"(\" + \",\".join(a[1:]) + \")\" if a[1:] else \"\")\n\
             def show(value, actions):\n    print(f\"{value:g}\", *sorted(map(shown, actions)))\n",
        );
        for seed in 0..STATES {
            let (universe, facts) = state(&case.alphabet, seed);
            let name = |o: &Object| format!("'{}', ", universe.name(*o));
            let mut all = String::new();
            for (p, args) in facts.iter().filter(|(p, _)| case.alphabet.predicate(*p).role.is_given()) {
                let args: String = args.iter().map(name).collect();
                let _ = write!(all, "('{}', {args}), ", case.alphabet.predicate(p).name);
            }
            for (m, args, value) in facts.all_numbers() {
                let args: String = args.iter().map(name).collect();
                // An integer is a number, too, where the domain says so.
                let _ = write!(all, "('{}', {args}{}), ", case.alphabet.measure(m).name, Number(value));
            }
            let types = &case.alphabet.types;
            let mut objects = String::new();
            for o in universe.objects() {
                let _ = write!(objects, "('{}', '{}'), ", universe.name(o), types.name(universe.type_of(o)));
            }
            let _ = writeln!(text, "show(*best_actions([{all}], [{objects}]))");
        }
        write(folder.path(), "policy.py", &text);
        compare(&case, &run(Command::new("python3").arg(folder.path().join("policy.py"))));
    }
}

/// A state as an initialiser in C: tables for the fields that the program has.
fn c_state(seed: u64, program: &str, case: &Case, universe: &Universe, facts: &Facts) -> String {
    let (n, alphabet) = (universe.len(), &case.alphabet);
    let mut tables = String::new();
    let mut fields = format!(".objects = {n}, .type = type_{seed}");
    let types: Vec<String> = universe
        .objects()
        .map(|o| format!("DERRL_TYPE_{}", alphabet.types.name(universe.type_of(o)).to_uppercase()))
        .collect();
    let _ = writeln!(tables, "static const unsigned char type_{seed}[] = {{ {} }};", types.join(", "));
    let index = |args: &[Object]| args.iter().fold(0, |at, o| at * n + o.0 as usize);
    for (i, p) in alphabet.predicates.iter().enumerate().filter(|(_, p)| p.role.is_given()) {
        let pred = Pred(i as u32);
        if p.args.is_empty() {
            if program.contains(&format!("unsigned char {};", p.name)) {
                let _ = write!(fields, ", .{} = {}", p.name, facts.count(pred));
            }
        } else if program.contains(&format!("unsigned char *{};", p.name)) {
            let mut table = vec![0; n.pow(p.args.len() as u32)];
            facts.tuples(pred).for_each(|args| table[index(args)] = 1);
            let _ = writeln!(tables, "static const unsigned char {}_{seed}[] = {{ {table:?} }};", p.name);
            let _ = write!(fields, ", .{0} = {0}_{seed}", p.name);
        }
    }
    for (i, m) in alphabet.measures.iter().enumerate() {
        let mut table = vec!["NAN".to_string(); n.pow(m.args.len() as u32)];
        facts.numbers(Measure(i as u32)).for_each(|(args, value)| table[index(args)] = format!("{value:?}"));
        if m.args.is_empty() && program.contains(&format!("double {};", m.name)) {
            let _ = write!(fields, ", .{} = {}", m.name, table[0]);
        } else if program.contains(&format!("double *{};", m.name)) {
            let _ = writeln!(tables, "static const double {}_{seed}[] = {{ {} }};", m.name, table.join(", "));
            let _ = write!(fields, ", .{0} = {0}_{seed}", m.name);
        }
    }
    if program.contains("    int p1;") {
        let _ = write!(fields, ", .p1 = {}", universe.find(&Constant::name("p1")).map_or(-1, |o| o.0 as i32));
    }
    let tables = tables.replace("{ [", "{ ").replace("] }", " }");
    let names: Vec<String> = universe.objects().map(|o| format!("\"{}\"", universe.name(o))).collect();
    format!(
        "{tables}static const struct derrl_state s_{seed} = {{ {fields} }};\nstatic const char *names_{seed}[] = {{ {} }};\n",
        names.join(", ")
    )
}

#[test]
fn c_decides_by_numbers_as_we_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for case in cases() {
        let mut text = program("c", &case);
        let own = text.clone();
        assert!(!own.contains("malloc") && !own.contains("#include <math.h>"));
        text.push_str(
            r#"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static void show(const struct derrl_state *s, const char **names)
{
    static const char *called[] = { "left", "green", "assign" };
    static const int arity[] = { 0, 1, 2 };
    static char texts[200][80];
    struct derrl_action best[200];
    char *sorted[200];
    double value;
    int n = derrl_decide(s, best, 200, &value);
    for (int i = 0; i < n; i++) {
        int at = sprintf(texts[i], "%s", called[best[i].name]);
        for (int j = 0; j < arity[best[i].name]; j++)
            at += sprintf(texts[i] + at, "%s%s", j ? "," : "(", names[best[i].args[j]]);
        sprintf(texts[i] + at, "%s", arity[best[i].name] ? ")" : "");
        sorted[i] = texts[i];
    }
    qsort(sorted, n, sizeof *sorted, by_text);
    printf("%g", value);
    for (int i = 0; i < n; i++) printf(" %s", sorted[i]);
    printf("\n");
}
"#,
        );
        let mut calls = String::new();
        for seed in 0..STATES {
            let (universe, facts) = state(&case.alphabet, seed);
            assert!(!universe.is_empty(), "C has no empty tables");
            text.push_str(&c_state(seed, &own, &case, &universe, &facts));
            let _ = writeln!(calls, "    show(&s_{seed}, names_{seed});");
        }
        let _ = write!(text, "int main(void)\n{{\n{calls}    return 0;\n}}\n");
        write(folder.path(), "policy.c", &text);
        let flags = [
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
            "-O1",
            "-o",
            "policy",
            "policy.c",
            "-lm",
        ];
        run(Command::new("gcc").current_dir(folder.path()).args(flags));
        compare(&case, &run(&mut Command::new(folder.path().join("policy"))));
    }
}

#[test]
fn languages_without_numbers_say_so() {
    let case = cases().remove(0);
    let recursive = ":- action(go(a)). :- state(on(a, a)). :- closure(above, on).";
    let recursive = Alphabet::parse(&Source::new("d.pl", recursive)).expect("it is well-formed");
    let climb =
        Policy::parse(&Source::new("p.pl", "go(X) :- above(X, Y)."), &recursive).expect("it is well-formed");
    let error = |target: &str, policy: &Policy, alphabet: &Alphabet| {
        export(find(target).expect("it is in the table"), policy, alphabet)
            .expect_err("it cannot be said")
            .to_string()
    };
    let message = error("asp", &case.policy, &case.alphabet);
    assert!(message.contains("cannot be exported to asp: it compares numbers"), "{message}");
    let message = error("c", &climb, &recursive);
    assert!(message.contains("`above`") && message.contains("would need a store"), "{message}");
}
