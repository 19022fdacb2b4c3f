//! Runs against masks: both say which actions a body derives.

use std::sync::Arc;

use derrl_env::{Options, Rng, Status, World, worlds};
use derrl_logic::{Alphabet, Source};

use super::*;
use crate::language::body::Body;

/// Looks at the states of random episodes under random bodies.
fn check(spec: &'static World, alphabet: &Arc<Alphabet>, task: &str, options: &Options) {
    let problem = Problem::new(alphabet, 1).unwrap();
    let mut env = spec.make(alphabet, task, options).unwrap();
    let mut rng = Rng::new(3, 0);
    let mut states = States::new(&problem);
    let words = problem.grounder.words();
    let (mut looks, mut derivations) = (0, 0);
    for _ in 0..20 {
        env.reset(&mut rng);
        for _ in 0..8 {
            let state = states.look_up(&problem, env.as_ref(), Learner::FIRST, &|| false).unwrap();
            let actions = Arc::clone(states.actions(state));
            for chance in states.meeting(state).chances {
                let atoms = problem.slots[chance.rank as usize].atoms;
                let Body(body) =
                    Body::of((0..rng.below(4)).map(|_| rng.below(atoms)).collect::<Vec<_>>(), words);
                let meeting = states.meeting(state);
                let derived = meeting.derived(chance, &body);
                let own = actions[chance.first as usize].action;
                let run = actions[chance.first as usize..].iter().take(RUN).take_while(|a| a.action == own);
                for (bit, _) in run.enumerate() {
                    let place = chance.first as usize + bit;
                    let expected =
                        body.iter().any(|&b| b != 0) && states.grounding(state).derives(place, &body);
                    assert_eq!(
                        derived >> bit & 1 == 1,
                        expected,
                        "{}: {body:?}, action {place}",
                        spec.name()
                    );
                    looks += 1;
                    derivations += u32::from(expected);
                }
                assert!(derived == 0 || meeting.may_derive(chance, body[0]) == 1);
            }
            let action = &actions[rng.below(actions.len())];
            if env.step(action.action, &action.args, &mut rng).status != Status::Running {
                break;
            }
        }
    }
    assert!(derivations > 0 && derivations < looks, "{}: {derivations} of {looks} derived", spec.name());
}

#[test]
fn runs_derive_what_masks_do() {
    for spec in worlds().iter().filter(|s| s.name() != "traffic" && s.alphabet().measures.is_empty()) {
        check(spec, &spec.alphabet(), "train", &Options::default());
    }
}

#[test]
fn runs_derive_what_masks_do_with_many_actions_and_many_atoms() {
    let spec = derrl_env::find("blocks").unwrap();
    let large = Options { size: Some(9), ..Options::default() };
    check(spec, &spec.alphabet(), "large", &large);
    let wide = format!(
        "{}\n:- variables(4).\n:- negation(on/2).\n:- negation(top/1).\n:- negation(goal_on/2).\n",
        spec.domain().replace(":- variables(3).", "")
    );
    let wide = Arc::new(Alphabet::parse(&Source::new("wide.pl", wide)).unwrap());
    assert!(Problem::new(&wide, 1).unwrap().grounder.words() > 1);
    check(spec, &wide, "train", &Options::default());
}

/// What is legal in each state is kept with it, and counts as much as masks do: memory stays within its bound.
#[test]
fn legal_actions_count_as_what_is_kept() {
    struct Doors;
    impl derrl_env::named::Env for Doors {
        fn reset(&mut self, _: &mut Rng) -> Result<(), derrl_env::BoxError> {
            Ok(())
        }
        fn facts(&self, facts: &mut derrl_env::named::Facts) {
            (0..50).for_each(|i| facts.say("shut", &[&i.to_string()]));
        }
        fn step(
            &mut self,
            _: &str,
            _: &[&str],
            _: &mut Rng,
        ) -> Result<derrl_env::Outcome, derrl_env::BoxError> {
            Ok(derrl_env::Outcome::running(0.0))
        }
        fn legal(&self, actions: &mut derrl_env::named::Actions) -> bool {
            (0..50).for_each(|i| actions.allow("open", &[&i.to_string()]));
            true
        }
    }
    let world = World::new("doors", ":- action(open/1). :- state(shut/1).").unwrap().task("train", || Doors);
    let problem = Problem::new(&world.alphabet(), 1).unwrap();
    let mut states = States::new(&problem);
    let mut env = world.env("train").unwrap();
    env.reset(&mut Rng::new(0, 0));
    let state = states.look_up(&problem, env.as_ref(), Learner::FIRST, &|| false).unwrap();
    let masks = states.grounding(state).len();
    assert!(states.words >= masks + 50 * ACTION_WORDS, "{} words", states.words);
    states.words = MOST_WORDS + 1;
    states.trim();
    assert!(states.is_empty() && states.words == 0);
}
