//! A policy acts in large states as it does in small ones: following the journal of a world changes no decision.

use derrl_env::{Env, Options, Status, find};
use derrl_learn::{Actor, Ask, episode_streams, explain_episode};
use derrl_logic::{Alphabet, Policy, Source};

/// Rules that order, tie, negate, leave arguments open, name an object, and seldom or never fire.
const BLOCKS: &[&str] = &[
    "1.0::move(X, Y) :- top(X), top(Y), goal_on(X, Y). 0.8::move(X, Y) :- top(X), on(X, Z), isFloor(Y).",
    "move(X, Y) :- top(X), top(Y), goal_on(X, Y). move(X, Y) :- top(X), on(X, Z), isFloor(Y).",
    "0.9::move(X, Y) :- top(X), \\+ on(X, Y). 0.5::move(X, Y) :- top(X), top(Y).",
    "0.9::move(X, Y) :- goal_on(Y, Z), top(Z). 0.7::move(X, Y) :- on(X, a), \\+ on(Y, a).",
    "move(X, Y) :- on(X, Y), goal_on(Y, X), top(Y).",
    "move(X, Y) :- goal_on(Z, U), top(Z), \\+ top(U).",
];
const GRID: &[&str] = &[
    "up :- curr(X, Y), north, succ(Y, Z), \\+ obs(X, Z). right :- curr(X, Y), east, succ(X, Z), \\+ obs(Z, Y).",
    "0.9::down :- curr(X, Y), southwest, succ(Z, Y), \\+ obs(X, Z). 0.8::left :- west. 0.3::up :- obs(X, Y), target(X, Z).",
];

#[test]
fn following_a_journal_changes_no_decision() {
    for (domain, sizes, policies) in [("blocks", [2, 5, 40], BLOCKS), ("gridworld", [11, 14, 30], GRID)] {
        let spec = find(domain).expect("the table has it");
        let alphabet = spec.alphabet();
        for (size, text) in sizes.iter().flat_map(|size| policies.iter().map(move |text| (size, text))) {
            let options = Options { size: Some(*size), ..Options::default() };
            let policy = Policy::parse(&Source::new("policy.pl", *text), &alphabet).expect("it parses");
            let mut env = spec.make(&alphabet, "large", &options).expect("any size is possible");
            assert!(env.journal().is_some(), "large states are followed by journal");
            let mut actor = Actor::new(&policy, &alphabet);
            for episode in 0..4 {
                // Explanations join the rules with all facts, and draw ties from the same stream.
                let ask = Ask::default();
                let trace = explain_episode(&policy, &alphabet, env.as_mut(), (7, episode), STEPS, &ask);
                let trace = trace.expect("these worlds do not fail");
                let explained: Vec<String> =
                    trace.steps.into_iter().map(|step| step.explanation.action).collect();
                let acted = acted(env.as_mut(), &alphabet, &mut actor, episode);
                assert_eq!(acted, explained, "{domain} of size {size}, episode {episode}: {text}");
            }
        }
    }
}

/// How many steps of an episode are compared.
const STEPS: usize = 60;

/// The first actions of an episode, as text.
fn acted(env: &mut dyn Env, alphabet: &Alphabet, actor: &mut Actor<'_>, episode: u64) -> Vec<String> {
    let (mut world, mut ties) = episode_streams(7, episode);
    env.reset(&mut world);
    let mut actions = Vec::new();
    while actions.len() < STEPS {
        let action = actor.act(env, &mut ties);
        actions.push(env.universe().show_action(alphabet, action.action, &action.args));
        if env.step(action.action, &action.args, &mut world).status != Status::Running {
            break;
        }
    }
    actions
}

/// An actor that has not seen some of the steps still knows the state.
#[test]
fn steps_taken_by_others_are_followed() {
    let blocks = find("blocks").expect("the table has blocks");
    let alphabet = blocks.alphabet();
    let policy = Policy::parse(&Source::new("policy.pl", BLOCKS[0]), &alphabet).expect("it parses");
    let options = Options { size: Some(30), ..Options::default() };
    let mut env = blocks.make(&alphabet, "large", &options).expect("any size is possible");
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
