//! A policy acts in large states as it does in small ones: following the journal of a world changes no decision.

use derrl_env::{Env, Options, Status, find, make};
use derrl_learn::{Actor, Ask, episode_streams, explain_episode};
use derrl_logic::{Policy, Source};

/// Rules that order, tie, negate, leave arguments open, name an object, and seldom or never fire.
const POLICIES: [&str; 6] = [
    "1.0::move(X, Y) :- top(X), top(Y), goal_on(X, Y). 0.8::move(X, Y) :- top(X), on(X, Z), isFloor(Y).",
    "move(X, Y) :- top(X), top(Y), goal_on(X, Y). move(X, Y) :- top(X), on(X, Z), isFloor(Y).",
    "0.9::move(X, Y) :- top(X), \\+ on(X, Y). 0.5::move(X, Y) :- top(X), top(Y).",
    "0.9::move(X, Y) :- goal_on(Y, Z), top(Z). 0.7::move(X, Y) :- on(X, a), \\+ on(Y, a).",
    "move(X, Y) :- on(X, Y), goal_on(Y, X), top(Y).",
    "move(X, Y) :- goal_on(Z, U), top(Z), \\+ top(U).",
];

/// The actions of an episode, as text.
fn acted(
    policy: &Policy,
    env: &mut dyn Env,
    actor: &mut Actor<'_>,
    episode: u64,
    steps: usize,
) -> Vec<String> {
    let alphabet = find("blocks").expect("the table has blocks").alphabet();
    let (mut world, mut ties) = episode_streams(7, episode);
    env.reset(&mut world);
    let mut actions = Vec::new();
    while actions.len() < steps {
        let action = actor.act(env, &mut ties);
        actions.push(env.universe().show_action(&alphabet, action.action, &action.args));
        if env.step(action.action, &action.args, &mut world).status != Status::Running {
            break;
        }
    }
    assert!(!policy.rules.is_empty());
    actions
}

#[test]
fn following_a_journal_changes_no_decision() {
    let blocks = find("blocks").expect("the table has blocks");
    let alphabet = blocks.alphabet();
    for size in [2, 5, 40] {
        let options = Options { size: Some(size), ..Options::default() };
        for text in POLICIES {
            let policy = Policy::parse(&Source::new("policy.pl", text), &alphabet).expect("it parses");
            let mut env = make(blocks, &alphabet, "large", &options).expect("any size is possible");
            assert!(env.journal().is_some(), "large states are followed by journal");
            let mut actor = Actor::new(&policy, &alphabet);
            for episode in 0..4 {
                let acted = acted(&policy, env.as_mut(), &mut actor, episode, 60);
                // Explanations join the rules with all facts, and draw ties from the same stream.
                let ask = Ask::default();
                let trace = explain_episode(&policy, &alphabet, env.as_mut(), (7, episode), 60, &ask);
                let trace = trace.expect("blocks do not fail");
                let explained: Vec<String> =
                    trace.steps.into_iter().map(|step| step.explanation.action).collect();
                assert_eq!(acted, explained, "{size} blocks, episode {episode}: {text}");
            }
        }
    }
}

/// An actor that has not seen some of the steps still knows the state.
#[test]
fn steps_taken_by_others_are_followed() {
    let blocks = find("blocks").expect("the table has blocks");
    let alphabet = blocks.alphabet();
    let policy = Policy::parse(&Source::new("policy.pl", POLICIES[0]), &alphabet).expect("it parses");
    let options = Options { size: Some(30), ..Options::default() };
    let mut env = make(blocks, &alphabet, "large", &options).expect("any size is possible");
    let (mut world, mut ties) = episode_streams(1, 0);
    env.reset(&mut world);
    let mut always = Actor::new(&policy, &alphabet);
    let mut sometimes = Actor::new(&policy, &alphabet);
    for step in 0..40 {
        let action = always.act(env.as_ref(), &mut ties.clone());
        if step % 5 == 3 {
            assert_eq!(sometimes.act(env.as_ref(), &mut ties.clone()), action, "step {step}");
        }
        ties.bits();
        if env.step(action.action, &action.args, &mut world).status != Status::Running {
            env.restart();
        }
    }
}
