//! Planning domains in PDDL, with problems from our own generators.

use std::sync::Arc;

use derrl_env::{Env, Error, Task, World};
use derrl_logic::Alphabet;
use derrl_pddl::generate::Generator;
use derrl_pddl::{Domain, PddlEnv, Problems, Translation};

use crate::Animal;

/// The domains, with whether the learner's defaults were chosen with them in view.
const DOMAINS: [(&str, bool); 4] =
    [("gripper", true), ("ferry", true), ("miconic", false), ("spanner", false)];
/// Sizes trained on, and problems of each.
const TRAIN: [usize; 3] = [1, 2, 3];
const PROBLEMS: u64 = 10;
/// Sizes tested on, with problems of each. The last is scored on request.
const LARGE: (usize, u64) = (20, 10);
const HUGE: (usize, u64) = (500, 2);
/// Training problems have the first seeds, tests have those from here on.
const UNSEEN: u64 = 1000;
/// Sizes of training problems that can be asked for, at the most.
const MOST: usize = 12;

pub fn animals() -> Vec<Animal> {
    let known = DOMAINS.iter().filter_map(|&(name, tuned)| Some((Generator::find(name)?, tuned)));
    known.map(|(generator, tuned)| animal(generator, tuned)).collect()
}

fn animal(generator: &'static Generator, tuned: bool) -> Animal {
    let domain = generator.domain().expect("the domains of the generators parse: a test reads each");
    let of = |sizes: &[usize], seeds: std::ops::Range<u64>| -> Vec<(usize, u64)> {
        seeds.flat_map(|seed| sizes.iter().map(move |&size| (size, seed))).collect()
    };
    let train = of(&TRAIN, 0..PROBLEMS);
    let first = compiled(generator, &domain, &train).expect("problems of the generators parse");
    let translation = Translation::new(&domain, first.iter().map(AsRef::as_ref));
    let translation = Arc::new(translation.expect("the domains of the generators can be said in rules"));
    let world = World::new(generator.name, translation.text()).expect("translations parse");
    let test = |(size, count): (usize, u64)| of(&[size], UNSEEN..UNSEEN + count);
    let make = move |alphabet: &Arc<Alphabet>, problems: &[(usize, u64)]| -> Result<Box<dyn Env>, Error> {
        let tasks = compiled(generator, &domain, problems).map_err(Error::Language)?;
        let problems = Problems::new(&translation, alphabet, tasks, None).map_err(Error::Language)?;
        Ok(Box::new(PddlEnv::new(Arc::new(problems)).map_err(Error::Language)?))
    };
    let named = |name: &str, size: usize| Task::new(name, format!("{size} {}", generator.unit)).size(size);
    let (large, huge) = (test(LARGE), test(HUGE));
    let (a, b, c, d) = (make.clone(), make.clone(), make.clone(), make);
    let world = world
        .about(generator.summary)
        .engine_task(named("train", TRAIN[TRAIN.len() - 1]), move |alphabet, _| a(alphabet, &train))
        .engine_task(named("large", LARGE.0), move |alphabet, _| b(alphabet, &large))
        .engine_task(named("huge", HUGE.0).on_request(), move |alphabet, _| c(alphabet, &huge))
        .engine_sizes(generator.smallest..=MOST, move |alphabet, size, _| {
            let problems: Vec<(usize, u64)> = (0..PROBLEMS).map(|seed| (size, seed)).collect();
            d(alphabet, &problems)
        });
    Animal { world, by_hand: generator.policy.expect("those in the zoo have one"), tuned }
}

fn compiled(
    generator: &Generator,
    domain: &Arc<Domain>,
    problems: &[(usize, u64)],
) -> Result<Vec<Arc<derrl_pddl::Task>>, derrl_logic::Error> {
    problems.iter().map(|&(size, seed)| generator.task(domain, size, seed)).collect()
}
