//! The domains of this crate: their problems, their policies written by hand, and the laws of every environment.

use std::sync::Arc;

use derrl_env::{Env, Rng, Status, observe};
use derrl_logic::{Alphabet, Decider, Facts, GroundAction, Policy, Source, legal_actions};
use derrl_pddl::generate::{GENERATORS, Generator};
use derrl_pddl::{PddlEnv, Plan, Problems, Solvability, Task, Translation, solvability};

/// The environment of some problems of a generator, with its alphabet.
fn environment(generator: &Generator, sizes: &[(usize, u64)]) -> (Arc<Alphabet>, PddlEnv) {
    let domain = generator.domain().expect("the domain is well-formed");
    let tasks: Vec<Arc<Task>> = sizes
        .iter()
        .map(|&(size, seed)| generator.task(&domain, size, seed).expect("the problem is well-formed"))
        .collect();
    let translation = Translation::new(&domain, tasks.iter().map(Arc::as_ref)).expect("names do not clash");
    let policy = Source::new("policy.pl", generator.policy.unwrap_or_default());
    let alphabet = translation.alphabet_for(&policy);
    let alphabet = Arc::new(alphabet.unwrap_or_else(|e| panic!("{e}\n{}", translation.text())));
    let problems = Problems::new(&translation, &alphabet, tasks, None).expect("the problems fit the domain");
    (alphabet, PddlEnv::new(Arc::new(problems)).expect("there is something to do"))
}

fn legal(env: &dyn Env) -> Vec<GroundAction> {
    let mut actions = Vec::new();
    assert!(env.legal(&mut actions), "problems list what is legal");
    actions
}

#[test]
fn policies_written_by_hand_solve_every_problem() {
    for (generator, rules) in GENERATORS.iter().filter_map(|g| Some((g, g.policy?))) {
        // Those on grids have as many objects as others of the square of their size.
        let most = if generator.largest < 1000 { 8 } else { 20 };
        let sizes = [1, 2, 3, 5, 8, 13, 20].into_iter().filter(|n| *n <= most);
        let sizes: Vec<(usize, u64)> = sizes.flat_map(|n| [(n, 0), (n, 1)]).collect();
        let (alphabet, mut env) = environment(generator, &sizes);
        let source = Source::new(format!("{}/policy.pl", generator.name), rules);
        let (policy, alphabet) = Policy::read(&source, &alphabet).unwrap_or_else(|e| panic!("{e}"));
        let mut rng = Rng::new(1, 1);
        let mut facts = Facts::new(&alphabet);
        for (i, size) in sizes.iter().enumerate() {
            env.start(i);
            let decider = Decider::new(&policy, &alphabet, env.universe());
            let (mut total, mut plan) = (0.0, Plan::default());
            loop {
                observe(&env, &mut facts);
                let ties = decider.decide(&facts, &alphabet, env.universe()).ties;
                assert!(
                    !ties.is_empty(),
                    "{}: no rule acts in {:?}",
                    generator.name,
                    facts.show(&alphabet, env.universe())
                );
                let chosen = &ties[rng.below(ties.len())];
                plan.steps.push(env.problems().ground(chosen.action, &chosen.args));
                let outcome = env.step(chosen.action, &chosen.args, &mut rng);
                total += outcome.reward;
                if outcome.status != Status::Running {
                    break;
                }
            }
            let shown = plan.show(env.state().task(), env.cost());
            assert!(env.succeeded() && total > 0.5, "{} {:?}: {total}\n{shown}", generator.name, size);
            // The plan reads back as it was written and reaches the goal.
            let task = env.state().task().clone();
            let read = Plan::parse(&Source::new("plan", shown), &task).expect("plans round-trip");
            assert_eq!(read, plan);
            let checked = plan.check(&task).expect("the simulator took it");
            assert_eq!((checked.steps, checked.cost), (env.steps(), env.cost()));
        }
    }
}

#[test]
fn the_text_says_what_the_simulator_does() {
    for generator in GENERATORS {
        let (alphabet, mut env) = environment(generator, &[(1, 3), (2, 4), (4, 5)]);
        let mut rng = Rng::new(2, 2);
        let (mut facts, mut before) = (Facts::new(&alphabet), Facts::new(&alphabet));
        for _ in 0..12 {
            env.reset(&mut rng);
            let mut codes = std::collections::BTreeMap::new();
            observe(&env, &mut before);
            let mut read = 0;
            loop {
                observe(&env, &mut facts);
                // Legality by the clauses is legality by the simulator.
                let actions = legal(&env);
                let by_text =
                    legal_actions(&facts, &alphabet, env.universe()).expect("the text says what is legal");
                assert_eq!(by_text, actions, "{}", generator.name);
                // Equal codes mean equal facts.
                let code = env.code().expect("problems have codes");
                let shown = facts.show(&alphabet, env.universe());
                assert_eq!(codes.entry(code).or_insert_with(|| shown.clone()), &shown);
                // The first facts with the journal's changes are the current ones.
                let journal = env.journal().expect("problems keep a journal");
                for (pred, args, holds) in journal.since(read) {
                    assert_ne!(before.holds(pred, args), holds);
                    before.flip(pred, args);
                }
                read = journal.len();
                before.seal();
                before.derive(env.universe());
                assert_eq!(before.show(&alphabet, env.universe()), shown);
                let action = &actions[rng.below(actions.len())];
                if env.step(action.action, &action.args, &mut rng).status != Status::Running {
                    break;
                }
            }
            let distinct: std::collections::BTreeSet<_> = codes.values().collect();
            assert_eq!(distinct.len(), codes.len(), "equal facts have equal codes");
        }
    }
}

#[test]
fn failures_return_less_than_successes() {
    for generator in GENERATORS {
        let (_, mut env) = environment(generator, &[(2, 0), (3, 1)]);
        let mut rng = Rng::new(3, 3);
        for _ in 0..40 {
            env.reset(&mut rng);
            let mut total = 0.0;
            let status = loop {
                let actions = legal(&env);
                let action = &actions[rng.below(actions.len())];
                let outcome = env.step(action.action, &action.args, &mut rng);
                total += outcome.reward;
                if outcome.status != Status::Running {
                    break outcome.status;
                }
            };
            let horizon = env.problems().horizon(env.current()) as f64;
            if env.succeeded() {
                let expected = 1.0 - env.steps() as f64 / (2.0 * horizon);
                assert!((total - expected).abs() < 1e-9 && status == Status::Terminated);
            } else {
                assert!((total + 0.5).abs() < 1e-9, "{}: a failure returned {total}", generator.name);
            }
        }
    }
}

#[test]
fn small_problems_are_searched_completely() {
    let spanner = Generator::find("spanner").unwrap();
    let domain = spanner.domain().unwrap();
    let solvable = spanner.task(&domain, 2, 0).unwrap();
    let Solvability::Solvable(plan) = solvability(&solvable, 100_000) else { panic!("spanners suffice") };
    plan.check(&solvable).expect("a found plan is a plan");
    // A nut more than there are spanners.
    let text = spanner.problem(1, 0).replace("(usable s1)", "");
    let unsolvable = Arc::new(Task::parse(&Source::new("p.pddl", text), &domain).unwrap());
    assert!(matches!(solvability(&unsolvable, 100_000), Solvability::Unsolvable { .. }));
    let large = spanner.task(&domain, 30, 0).unwrap();
    assert_eq!(solvability(&large, 500), Solvability::Unknown { states: 500 });
}
