//! What is said of files that are wrong, and that nothing whatever makes the reader panic.

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::Source;
use derrl_pddl::generate::GENERATORS;
use derrl_pddl::{Domain, Plan, Task, Translation, load_domain, load_problems};

const DOMAIN: &str = "(define (domain d)
  (:requirements :adl)
  (:types car - thing place)
  (:constants home - place)
  (:predicates (at ?c - car ?p - place) (far ?p - place))
  (:action go :parameters (?c - car ?p - place)
    :precondition (not (at ?c ?p))
    :effect (at ?c ?p)))";

const PROBLEM: &str = "(define (problem p) (:domain d)
  (:objects a - car x - place)
  (:init (at a x))
  (:goal (at a home)))";

/// A part of the text replaced: the line, the column, the message and the help that come of it.
fn mistake(text: &str, from: &str, to: &str, problem: bool) -> String {
    assert!(text.contains(from), "{from}");
    let changed = Source::new("f.pddl", text.replacen(from, to, 1));
    let error = if problem {
        let domain = Arc::new(Domain::parse(&Source::new("d.pddl", DOMAIN)).unwrap());
        Task::parse(&changed, &domain).err()
    } else {
        Domain::parse(&changed).err()
    };
    let error = error.unwrap_or_else(|| panic!("`{to}` for `{from}` is no mistake"));
    let place = error.place.as_ref().map_or("nowhere".to_string(), |p| format!("{}:{}", p.line, p.column));
    assert!(error.help.is_some(), "{error}");
    format!("{place} {}", error.message)
}

#[test]
fn mistakes_in_domains_are_shown_with_their_place() {
    let mut wrong = Vec::new();
    for (from, to, said) in [
        ("(domain d)", "(problem d)", "1:9 this file is a problem, not a domain"),
        (":adl", ":adll", "2:18 unknown requirement `:adll`"),
        ("?p - place) (far", "?p - plce) (far", "5:34 unknown type `plce`"),
        ("(not (at ?c ?p))", "(not (att ?c ?p))", "7:25 unknown predicate `att`"),
        ("(not (at ?c ?p))", "(not (at ?c))", "7:24 predicate `at` takes 2 arguments, not 1"),
        (
            "(not (at ?c ?p))",
            "(not (at ?p ?c))",
            "7:28 `?p` is of type `place`, but `at` is about `car` here",
        ),
        (
            "(?c - car ?p - place)\n    :precondition (not (at ?c ?p))",
            "(?c ?p)\n    :precondition (and (at ?c ?p) (or (far ?c) (far ?p)) (and (far ?c)))",
            "7:68 `?c` is a `car` in `at`, but a `place` in `far`",
        ),
        ("(not (at ?c ?p))", "(at ?c hom)", "7:26 unknown constant `hom`"),
        ("(not (at ?c ?p))", "(at ?c ?q)", "7:26 unknown variable `?q`"),
        ("(not (at ?c ?p))", "(>= (fuel) 3)", "7:19 a comparison of numbers is not supported"),
        ("(not (at ?c ?p))", "(or", "1:1 this `(` is never closed"),
        (":effect (at ?c ?p)))", ":effect (at ?c ?p))))", "8:25 this `)` closes nothing"),
        (
            ":effect (at ?c ?p)",
            ":effect (increase (fuel) 3)",
            "8:13 changing a number other than `total-cost` is not supported",
        ),
        (
            ":effect (at ?c ?p)",
            ":effect (probabilistic 0.5 (at ?c ?p))",
            "8:13 an effect left to chance is not supported",
        ),
        (":effect", ":efect", "8:5 expected a part of the action, found `:efect`"),
        ("(:action go", "(:durative-action go", "6:3 `:durative-action` is not supported"),
        ("car - thing", "car - thing thing - car", "3:11 type `thing` is above itself"),
        ("(far ?p - place)", "(at ?p - place)", "5:42 predicate `at` is declared twice"),
        ("?c - car ?p - place)\n", "?c - car ?c - place)\n", "6:37 variable `?c` is declared twice"),
    ] {
        let found = mistake(DOMAIN, from, to, false);
        if found != said {
            wrong.push(format!("{found}\n  not {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mistakes_in_problems_are_shown_with_their_place() {
    let mut wrong = Vec::new();
    for (from, to, said) in [
        ("(:domain d)", "(:domain e)", "1:30 this is a problem of domain `e`, not of `d`"),
        ("(:domain d)", "", "1:1 the problem does not say which domain it belongs to"),
        ("a - car", "a - cra", "2:17 unknown type `cra`"),
        ("(at a x)", "(at a y)", "3:16 unknown object `y`"),
        ("(at a x)", "(at x a)", "3:14 `x` is of type `place`, but `at` is about `car` here"),
        ("(at a x)", "(at 5 (at a x))", "3:10 a fact that becomes true at a time is not supported"),
        ("(:goal (at a home))", "", "1:1 the problem has no goal"),
        (
            "(:goal (at a home))",
            "(:goal (at a home)) (:metric maximize (x))",
            "4:23 this metric is not supported",
        ),
        (
            "(:goal (at a home))",
            "(:goal (at a home)) (:constraints (x))",
            "4:23 `:constraints` is not supported in a problem",
        ),
    ] {
        let found = mistake(PROBLEM, from, to, true);
        if found != said {
            wrong.push(format!("{found}\n  not {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Names that the language gives a meaning of its own get an underscore, and plans the name that the file has.
#[test]
fn actions_may_have_any_name() {
    for name in ["not", "false", "True", "fail"] {
        let text = DOMAIN.replace("(:action go", &format!("(:action {name}"));
        let domain = Arc::new(Domain::parse(&Source::new("d.pddl", text)).unwrap());
        let translation = Translation::new(&domain, []).unwrap();
        let wanted = format!("{}_", name.to_lowercase());
        assert!(translation.alphabet().unwrap().find_action(&wanted, 2).is_some(), "{}", translation.text());
        assert_eq!(domain.schemas[0].name, name);
    }
}

/// A mistake that only the translation finds is not said of a file that nobody wrote.
#[test]
fn no_message_points_into_the_translation() {
    // Whatever holds here would have to be a car and a place.
    let text = DOMAIN.replace("(not (at ?c ?p))", "(or (far ?p) (exists (?x) (and (far ?x) (at ?x ?p))))");
    let domain = Arc::new(Domain::parse(&Source::new("d.pddl", text)).unwrap());
    let error = Translation::new(&domain, []).unwrap_err();
    assert!(error.place.is_none() && error.message.starts_with("domain `d`: "), "{error}");
    assert!(error.help.is_some());
}

#[test]
fn clashing_names_folders_and_plans_are_refused() {
    let clash = DOMAIN.replace("(far ?p - place)", "(far ?p - place) (is-far ?c - car) (is_far ?c - car)");
    let domain = Arc::new(Domain::parse(&Source::new("d.pddl", clash)).unwrap());
    let error = Translation::new(&domain, []).unwrap_err();
    assert_eq!(error.message, "predicate `is-far` and predicate `is_far` would both be called `is_far/1`");

    let domain = Arc::new(Domain::parse(&Source::new("d.pddl", DOMAIN)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let error = load_problems(&[folder.path()], &domain).unwrap_err();
    assert!(error.message.ends_with("holds no problem"), "{error}");
    assert!(load_domain(folder.path()).unwrap_err().message.starts_with("cannot read"));

    let task = Arc::new(Task::parse(&Source::new("p.pddl", PROBLEM), &domain).unwrap());
    let said = |plan: &str| match Plan::parse(&Source::new("plan", plan), &task) {
        Err(e) => e.message.clone(),
        Ok(plan) => plan.check(&task).err().map_or("fine".to_string(), |e| e.message.clone()),
    };
    assert_eq!(said("(go a home)\n; cost = 1\n"), "fine");
    assert_eq!(said(""), "the plan's 0 steps do not reach the goal");
    assert_eq!(said("(go a x)"), "step 1 of the plan, (go a x), is not applicable");
    assert_eq!(said("(fly a x)"), "unknown action `fly`");
    assert_eq!(said("(go a)"), "action `go` takes 2 objects, not 1");
    assert_eq!(said("go a x"), "expected an action such as `(board car1 loc2)`");
}

/// 20,000 texts: real ones with bytes, words or parts changed, doubled, moved or cut off.
#[test]
fn no_text_makes_the_reader_panic() {
    let ipc = |name: &str, file: &str| {
        let path = format!("{}/tests/ipc/{name}/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    let mut pairs = vec![
        (ipc("elevators-adl", "domain.pddl"), ipc("elevators-adl", "p1.pddl")),
        (ipc("transport", "domain.pddl"), ipc("transport", "p1.pddl")),
        (DOMAIN.to_string(), PROBLEM.to_string()),
    ];
    pairs.extend(GENERATORS.iter().map(|g| (g.domain.to_string(), g.problem(2, 0))));
    let words = [
        "(",
        ")",
        "-",
        "?x",
        "and",
        "not",
        "forall",
        "(either a b)",
        "=",
        ":init",
        "5",
        "1e99",
        "\u{e9}",
        "either",
        ";",
        "when",
    ];
    let mut rng = Rng::new(8, 8);
    let (mut read, mut refused) = (0, 0);
    for round in 0..20_000 {
        let (domain, problem) = &pairs[round % pairs.len()];
        let mutate = |text: &str, rng: &mut Rng| {
            let mut parts: Vec<String> =
                text.split_inclusive([' ', '(', ')', '\n']).map(str::to_string).collect();
            for _ in 0..=rng.below(3) {
                let (a, b) = (rng.below(parts.len()), rng.below(parts.len()));
                match rng.below(6) {
                    0 => parts.swap(a, b),
                    1 => parts[a] = words[rng.below(words.len())].to_string() + " ",
                    2 => parts.truncate(a.max(1)),
                    3 => {
                        let copy = parts[a.min(b)..a.max(b).min(a.min(b) + 20)].to_vec();
                        parts.splice(a..a, copy);
                    }
                    4 => {
                        parts.remove(a);
                        if parts.is_empty() {
                            parts.push("(".into());
                        }
                    }
                    _ => {
                        let at = (0..=parts[a].len())
                            .rev()
                            .find(|&i| parts[a].is_char_boundary(i) && i <= b)
                            .unwrap_or(0);
                        parts[a].insert(at, char::from(32 + rng.below(95) as u8));
                    }
                }
            }
            parts.concat()
        };
        let in_domain = rng.below(2) == 0;
        let domain_text = if in_domain { mutate(domain, &mut rng) } else { domain.clone() };
        let problem_text = if in_domain { problem.clone() } else { mutate(problem, &mut rng) };
        let result = Domain::parse(&Source::new("d.pddl", domain_text)).and_then(|d| {
            let d = Arc::new(d);
            let task = Task::parse(&Source::new("p.pddl", problem_text), &d)?;
            let translation = Translation::new(&d, [&task])?;
            let mut simulator = derrl_pddl::Simulator::new(Arc::new(task));
            let mut actions = derrl_pddl::Actions::new();
            simulator.legal(&mut actions);
            if let Some((action, args)) = actions.iter().next() {
                simulator.apply(action, args);
            }
            translation.alphabet()
        });
        match result {
            Ok(_) => read += 1,
            Err(e) => {
                let said = e.to_string();
                assert!(!said.is_empty() && !said.contains(".pl:"), "{said}");
                refused += 1;
            }
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
    let deep = "(".repeat(100_000);
    assert!(Domain::parse(&Source::new("d.pddl", deep)).is_err());
}
