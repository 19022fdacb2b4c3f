//! Invention: where rules over what the world reports do not suffice, the learner defines predicates itself.

use std::sync::Arc;

use derrl_env::{Env, Options, find};
use derrl_learn::{Improved, Improver, Problem, Widening, evaluate};
use derrl_logic::{Alphabet, Policy, Source};

fn improve(seed: u64) -> (Arc<Alphabet>, Improved) {
    let world = find("rearrange").expect("the world exists");
    let alphabet = world.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let options = Options::default();
    let sized = |n| world.make_sized(&alphabet, n, &options).expect("the size exists").expect("it is made");
    let sizes: Vec<Box<dyn Env>> = (3..=5).map(sized).collect();
    let improver = Improver::new(&problem, sizes, seed, 100, &|| false);
    (alphabet, improver.run(None).expect("the world does not fail"))
}

/// From reward on 3 and 4 blocks, with nothing given, to a recursive definition that holds for 50.
#[test]
fn rearranging_blocks_needs_a_predicate_and_gets_it() {
    let (domain, improved) = improve(0);
    let kept = improved.widenings.iter().filter(|w| w.kept && matches!(w.to, Widening::Invented(_)));
    assert_eq!(kept.count(), 1, "what was invented is said");
    let text = improved.policy.display(&improved.alphabet).to_string();
    let world = find("rearrange").expect("the world exists");
    for task in ["train", "10-blocks", "50-blocks"] {
        let mut env = world.make(&improved.alphabet, task, &Options::default()).expect("the task exists");
        let score = evaluate(&improved.policy, &improved.alphabet, env.as_mut(), 20, 1).expect("it runs");
        assert_eq!(score.success_rate, Some(1.0), "{task}:\n{text}");
        // At most 1.1 times the moves of the simple strategy; a return is 1 less what the moves cost.
        let simple = 1.0 - score.references["table first"];
        assert!(1.0 - score.mean <= 1.1 * simple, "{task}: {} and {simple}\n{text}", 1.0 - score.mean);
    }
    // The text is the policy: whoever reads it with the domain alone has all of it.
    let (again, alphabet) = Policy::read(&Source::new("again", text.as_str()), &domain).expect("it reads");
    assert_eq!(again.display(&alphabet).to_string(), text);
}
