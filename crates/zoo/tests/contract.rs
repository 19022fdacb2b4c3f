//! Every world of the zoo keeps the contract, and the rules written by hand solve it.

use derrl_env::{Options, Rng};
use derrl_learn::evaluate;
use derrl_logic::{Policy, Source};
use derrl_zoo::zoo;

#[test]
fn rules_written_by_hand_solve_every_world() {
    for animal in zoo() {
        let (world, name) = (&animal.world, animal.world.name());
        let (policy, alphabet) =
            Policy::read(&Source::new(name, animal.by_hand), &world.alphabet()).expect("the rules parse");
        for task in world.tasks().iter().filter(|t| t.scored) {
            let mut env = world.env(&task.name).expect("the task exists");
            let score = evaluate(&policy, &alphabet, env.as_mut(), 50, 0).expect("it runs");
            let share = score.success_rate.expect("these worlds have goals");
            assert!(share >= 0.97, "{name}, {}: {share}", task.name);
        }
    }
}

#[test]
fn names_differ_and_every_world_has_a_task_to_train_on_and_a_larger_one() {
    let all = zoo();
    assert!(all.len() >= 12);
    for (i, animal) in all.iter().enumerate() {
        let tasks = animal.world.tasks();
        assert!(all[..i].iter().all(|a| a.world.name() != animal.world.name()));
        assert!(tasks[0].name == "train" && tasks[1].name == "large" && tasks[0].size < tasks[1].size);
    }
}

#[test]
fn training_instances_of_a_size_are_smaller_than_those_of_the_test() {
    for animal in zoo() {
        let world = &animal.world;
        let large = world.tasks()[1].size.expect("sizes are known");
        assert!(world.sized().iter().all(|&s| s < large), "{}", world.name());
        let sizes = world.training_sizes(&world.alphabet(), "train", &Options::default());
        assert!(sizes.expect("sizes can be made").len() >= 3, "{}", world.name());
    }
}

#[test]
fn the_same_generator_gives_the_same_instance() {
    for animal in zoo() {
        let alphabet = animal.world.alphabet();
        let facts = |seed| {
            let mut env = animal.world.env("train").expect("the task exists");
            env.reset(&mut Rng::new(seed, 0));
            let mut facts = derrl_logic::Facts::new(&alphabet);
            derrl_env::observe(env.as_ref(), &mut facts);
            let all = facts.iter().map(|(p, args)| (p, args.to_vec())).collect::<Vec<_>>();
            (env.code(), all)
        };
        assert_eq!(facts(3), facts(3), "{}", animal.world.name());
    }
}
