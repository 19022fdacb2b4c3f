//! The world keeps the contract, is learned, and its policy can be asked.

use derrl::{Rng, Settings, State};

#[test]
fn it_keeps_the_contract() {
    let world = delivery::world().expect("its domain file is well-formed");
    derrl::contract::check(&world).unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn it_is_learned_and_the_policy_delivers() -> Result<(), derrl::Error> {
    let world = delivery::world().expect("its domain file is well-formed");
    let run = derrl::train(&world, &Settings::default(), 0)?;
    assert_eq!(run.scores["train"].solved(), Some(true), "{}\n{:?}", run.policy, run.scores);

    let mut state = State::new();
    state.say("robot", &["kitchen"]).say("holding", &["b"]).say("goal", &["b", "hall"]);
    state.allow("move", &["hall"]).allow("drop", &["b"]);
    let action = run.policy.act(&state, &mut Rng::new(0, 0))?;
    assert_eq!(action.to_string(), "move(hall)", "{}", run.policy);
    assert_eq!(run.policy.why_not(&state, "move", &["kitchen"])?.reason, derrl::learner::Reason::Illegal);
    Ok(())
}
