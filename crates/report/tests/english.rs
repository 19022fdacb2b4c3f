//! Rules in English.

use derrl_env::{find, worlds};
use derrl_logic::{Alphabet, Policy, Source};
use derrl_report::English;
use std::sync::Arc;

fn read_out(alphabet: Alphabet, words: &str, rules: &str) -> Vec<String> {
    let (policy, alphabet) =
        Policy::read(&Source::new("policy.pl", rules), &Arc::new(alphabet)).expect("the rules are good");
    let english = English::new(&alphabet, words);
    policy.rules.iter().map(|rule| english.rule(rule)).collect()
}

fn of_world(name: &str, rules: &str) -> Vec<String> {
    let world = find(name).expect("there is such a world");
    read_out(Alphabet::clone(&world.alphabet()), world.wording(), rules)
}

#[test]
fn a_world_says_how_its_rules_read() {
    let rules = "move(X, Y) :- top(X), top(Y), goal_on(X, Y).\nmove(X, Y) :- top(X), on(X, Z), isFloor(Y).";
    assert_eq!(
        of_world("blocks", rules),
        [
            "Put a free block X on a free block Y if X should be on Y.",
            "Put a free block X on the floor if X is on a place."
        ]
    );
    assert_eq!(
        of_world("gridworld", "right :- curr(X, Y), east, succ(X, Z), \\+ obs(Z, Y)."),
        [
            "Go right if the agent is at (X, Y), the target is further right, Z is one more than X and no obstacle is at (Z, Y)."
        ]
    );
    assert_eq!(
        of_world("cartpole", "left :- angle =< -0.01, spin > 0.5."),
        ["Push the cart to the left if the angle is at most -0.01 and the spin is more than 0.5."]
    );
}

#[test]
fn what_does_not_hold_says_nothing_about_a_type() {
    // The floor is no block, and not bad either.
    let rules = ":- derived(bad(block)). bad(X) :- on(X, Y), \\+ goal_on(X, Y). \
                 move(X, Y) :- goal_on(X, Y), \\+ bad(Y).";
    assert_eq!(
        of_world("rearrange", rules),
        ["Put a block X on a place Y if X should be on Y and bad does not hold of Y."]
    );
}

#[test]
fn other_worlds_are_read_out_by_their_names() {
    let domain = Alphabet::parse(&Source::new(
        "d.pl",
        ":- action(board(car, port)). :- state(at_ferry(port)). :- state(at(car, port)). :- state(isFull(port)). \
         :- background(goal_at(car, port)). :- number(fee(port)).",
    ));
    let rules = "board(X, Y) :- at(X, Y), \\+ at_ferry(Y), goal_at(X, Z), isFull(Z).\n\
                 board(X, Y) :- isFull(Y), at(X, Y), least(fee(Y)).";
    assert_eq!(
        read_out(domain.expect("the domain is good"), "", rules),
        [
            "Board a car X with a port Y if X is at Y, the ferry is not at Y, X should be at another port Z and Z is full.",
            "Board a car X with a full port Y if X is at Y; of these, the one with the least fee of Y."
        ]
    );
}

#[test]
fn words_are_about_what_a_world_declares() {
    for world in worlds() {
        let alphabet = world.alphabet();
        for line in world.wording().lines() {
            let (left, _) = line.split_once(": ").expect("a line is `name(X, Y): words`");
            let (name, args) = left.split_once('(').unwrap_or((left, ""));
            let arity = args.split(',').filter(|a| !a.is_empty()).count();
            let measured = alphabet.measures.iter().any(|m| &*m.name == name && m.args.len() == arity);
            let known = measured
                || alphabet.find_predicate(name, arity).is_some()
                || alphabet.find_action(name, arity).is_some();
            assert!(known, "{}: {line}", world.name());
        }
        assert!(!world.wording().is_empty(), "{} has words", world.name());
    }
}
