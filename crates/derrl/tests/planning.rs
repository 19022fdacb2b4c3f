//! A PDDL domain is a world like any other: what scores worlds scores its problems, each once.

use std::fs;

use derrl::{Planning, Policy, Problems};
use derrl_pddl::generate::Generator;

#[test]
fn each_problem_is_scored_once_also_where_nothing_is_to_be_done() {
    let ferry = Generator::find("ferry").expect("a built-in domain");
    let folder = tempfile::tempdir().expect("there is room");
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| fs::write(at(name), text).expect("it can be written");
    for name in ["train", "test"] {
        fs::create_dir(at(name)).expect("it can be made");
    }
    write("domain.pddl", ferry.domain);
    write("train/p1.pddl", &ferry.problem(3, 1));
    write("test/p1.pddl", &ferry.problem(4, 2));
    write("test/p2.pddl", &ferry.problem(8, 3));
    // The goal holds at first: nothing is asked for.
    let (before, _) =
        ferry.problem(3, 4).split_once("(:goal").map(|(a, b)| (a.to_string(), b.len())).unwrap();
    write("test/p3.pddl", &format!("{before}(:goal (and)))"));

    let planning = Planning::load(folder.path(), &Problems::default()).unwrap();
    assert_eq!(planning.check_training().unwrap(), Vec::<String>::new());
    let policy = Policy::parse(planning.world(), ferry.policy.expect("rules by hand")).unwrap();
    let score = policy.score(planning.world(), "test", 200, 0).unwrap();
    assert_eq!((score.episodes, score.success_rate), (3, Some(1.0)), "{score:#?}");
    let steps: Vec<usize> = score.problems.iter().map(|p| p.steps).collect();
    assert!(steps[0] > 0 && steps[1] > steps[0] && steps[2] == 0, "{steps:?}");
    assert!(score.problems[1].file.ends_with("p2.pddl"), "{score:#?}");
    // What writes plans agrees with what scores.
    let solved = planning.solve(&policy, &at("test/p2.pddl"), None, 0).unwrap();
    assert!(solved.solved && solved.steps.len() > solved.cost as usize / 2);
    let again = planning.score(&policy, "test", 0).unwrap();
    assert_eq!((again.mean, again.stderr, again.episodes), (score.mean, score.stderr, score.episodes));
}
