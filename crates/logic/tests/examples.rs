//! The engine on examples small enough to check by eye.

use std::ops::ControlFlow;

use derrl_logic::{
    Action, Alphabet, Constant, Decider, Facts, GroundAction, Grounder, Literal, Policy, Query, Shield,
    Source, Types, Universe, Var, candidates, legal_actions, parse_facts, parse_ground_action,
};

/// A domain, objects and what holds of them.
struct World {
    alphabet: Alphabet,
    universe: Universe,
    facts: Facts,
}

impl World {
    /// `objects` is a list such as `a: block, floor: place`; an object without a type has type `any`.
    fn new(domain: &str, objects: &str, facts: &str) -> World {
        let alphabet = Alphabet::parse(&Source::new("domain.pl", domain)).expect("the domain is well-formed");
        let object = |text: &str| {
            let (name, t) = text.split_once(": ").unwrap_or((text, "any"));
            (Constant::name(name), alphabet.types.find(t).expect("the type is declared"))
        };
        let objects = objects.split(", ").filter(|o| !o.is_empty()).map(object).collect();
        let universe = Universe::new(objects);
        let atoms =
            parse_facts(&Source::new("state.pl", facts), &alphabet).expect("the facts are well-formed");
        let facts = Facts::of(&atoms, &alphabet, &universe).expect("the facts are about the objects");
        World { alphabet, universe, facts }
    }

    /// Blocks a, b and c.
    fn blocks(facts: &str) -> World {
        let facts = format!("isFloor(floor). goal_on(a, b). {facts}");
        World::new(include_str!("blocks.pl"), "a: block, b: block, c: block, floor: place", &facts)
    }

    fn policy(&self, text: &str) -> Policy {
        Policy::parse(&Source::new("policy.pl", text), &self.alphabet).expect("the policy is well-formed")
    }

    /// The value and the names of the actions that a policy chooses from.
    fn decide(&self, policy: &str) -> (f64, Vec<String>) {
        let decider = Decider::new(&self.policy(policy), &self.alphabet, &self.universe);
        let decision = decider.decide(&self.facts, &self.alphabet, &self.universe);
        let show = |a: &GroundAction| self.universe.show_action(&self.alphabet, a.action, &a.args);
        (decision.value, decision.ties.iter().map(show).collect())
    }

    /// What the variables of a body stand for where it holds, `_` for none.
    fn solve(&self, rule: &str) -> Vec<String> {
        let body = &self.policy(rule).rules[0].body;
        let variables = body.iter().flat_map(Literal::vars).map(|v| usize::from(v.0) + 1).max().unwrap_or(0);
        let name = |o: &Option<_>| o.map_or("_".to_string(), |o| self.universe.name(o).to_string());
        let mut found = Vec::new();
        let query = Query::new(body, &[], &self.universe);
        let _ = query.solve(&self.facts, &self.universe, &mut vec![None; variables], &mut |phi| {
            found.push(phi.iter().map(name).collect::<Vec<_>>().join(" "));
            ControlFlow::Continue(())
        });
        found.sort();
        found
    }

    /// The masks of every ground action, as text.
    fn masks(&self) -> Vec<String> {
        let grounder = Grounder::new(&self.alphabet);
        let actions = self.universe.ground_actions(&self.alphabet);
        let grounding = grounder.ground(&actions, &self.facts, &self.universe);
        let mut all = Vec::new();
        for (a, action) in actions.iter().enumerate() {
            let name = self.universe.show_action(&self.alphabet, action.action, &action.args);
            let atoms = grounder.atoms(action.action);
            for mask in grounding.masks(a) {
                let holds = |j: &usize| mask[j / 64] >> (j % 64) & 1 == 1;
                let atom = |j: usize| atoms[j].display(&self.alphabet).to_string();
                let true_atoms: Vec<String> = (0..atoms.len()).filter(holds).map(atom).collect();
                all.push(format!("{name}: {}", true_atoms.join(" ")));
            }
        }
        all
    }
}

/// A tower of two, c on b, beside a.
const TOWER: &str = "on(a, floor). on(b, floor). on(c, b). top(a). top(c).";

/// Under object identity Z = Y = floor is excluded, so a block on the floor is not moved to the floor.
#[test]
fn a_block_on_the_floor_is_not_unstacked() {
    let world = World::blocks(TOWER);
    let unstack = "0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).";
    assert_eq!(world.solve(unstack), ["c floor b"]);
    assert_eq!(world.decide(unstack), (0.99, vec!["move(c, floor)".to_string()]));
    let flat = World::blocks("on(a, floor). on(b, floor). on(c, floor). top(a). top(b). top(c).");
    assert_eq!(flat.decide(unstack), (0.0, vec![]));
}

#[test]
fn the_strongest_rule_that_fires_decides() {
    let policy = "0.98::move(X, Y) :- top(X), top(Y), goal_on(X, Y).
                  0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).";
    assert_eq!(World::blocks(TOWER).decide(policy).1, ["move(c, floor)"]);
    let flat = World::blocks("on(a, floor). on(b, floor). on(c, floor). top(a). top(b). top(c).");
    assert_eq!(flat.decide(policy), (0.98, vec!["move(a, b)".to_string()]));
    let equal = policy.replace("0.98", "0.99").replace("top(Y)", "on(Y, Z)");
    assert_eq!(World::blocks(TOWER).decide(&equal).1, ["move(a, b)", "move(c, floor)"]);
}

/// A head variable that the body does not mention stands for every object of its type, but for none that
/// another term stands for.
#[test]
fn open_head_variables_range_over_their_type() {
    let world = World::blocks(TOWER);
    assert_eq!(world.decide("move(X, Y) :- on(X, b).").1, ["move(c, a)", "move(c, floor)"]);
    assert_eq!(world.decide("move(X, Y) :- on(Z, b), isFloor(Y).").1, ["move(a, floor)"]);
    assert_eq!(world.decide("move(X, Y) :- on(X, Z), top(U), goal_on(U, Z).").1, ["move(c, floor)"]);
}

#[test]
fn a_variable_stands_for_no_object_that_the_rule_names() {
    let world = World::blocks(TOWER);
    assert_eq!(world.solve("move(X, Y) :- on(X, Y)."), ["a floor", "b floor", "c b"]);
    assert_eq!(world.solve("move(X, Y) :- on(X, Y), on(c, b)."), ["a floor"]);
    assert_eq!(world.solve("move(X, Y) :- on(X, Y), \\+ top(floor)."), ["c b"]);
}

#[test]
fn an_atom_about_an_absent_object_is_false() {
    let world = World::blocks(TOWER);
    assert_eq!(world.decide("move(X, Y) :- top(X), on(X, table).").1, [""; 0]);
    assert_eq!(world.decide("move(X, Y) :- on(X, Y), \\+ on(X, table).").1.len(), 3);
    // The objects named beside it still count.
    assert_eq!(world.decide("move(X, Y) :- on(X, Y), \\+ on(table, b).").1, ["move(a, floor)"]);
}

#[test]
fn candidates_in_the_order_of_the_alphabet() {
    let domain = ":- action(open(door)). :- state(locked(door)). :- state(has(key)). :- state(rain).
        :- background(fits(key, door)). :- variables(2). :- negation(has/1). :- constant(gold).";
    let alphabet = World::new(domain, "", "").alphabet;
    let atoms = candidates(&alphabet, Action(0));
    let shown: Vec<String> = atoms.iter().map(|l| l.display(&alphabet).to_string()).collect();
    let expected =
        "locked(X) locked(Y) has(Y) rain fits(Y, X) fits(Y, gold) fits(gold, X) fits(gold, Y) \\+ has(Y)";
    assert_eq!(shown.join(" "), expected);
}

/// Here Z can only be the third object, so that every action has one mask.
#[test]
fn masks_are_the_atoms_that_are_true_together() {
    let domain = ":- action(go/2). :- state(p/1). :- state(e/2). :- variables(3).";
    let world = World::new(domain, "a, b, c", "p(a). p(c). e(a, b). e(b, b).");
    assert_eq!(
        world.masks(),
        [
            "go(a, b): p(X) p(Z) e(X, Y) e(Y, Y)",
            "go(a, c): p(X) p(Y) e(X, Z) e(Z, Z)",
            "go(b, a): p(Y) p(Z) e(X, X) e(Y, X)",
            "go(b, c): p(Y) p(Z) e(X, X) e(Z, X)",
            "go(c, a): p(X) p(Y) e(Y, Z) e(Z, Z)",
            "go(c, b): p(X) p(Z) e(Y, Y) e(Z, Y)",
        ]
    );
}

#[test]
fn only_the_variables_of_a_rule_need_objects() {
    let domain = ":- action(go). :- state(p/1). :- state(q/1). :- variables(3).";
    let one = World::new(domain, "a", "p(a). q(a).");
    assert_eq!(one.masks(), ["go: p(X) q(X)", "go: p(Y) q(Y)", "go: p(Z) q(Z)"]);
    assert_eq!(one.decide("go :- p(X), q(X).").1, ["go"]);
    assert_eq!(one.decide("go :- p(X), q(Y).").1, [""; 0]);
    let none = World::new(domain, "", "");
    assert_eq!(none.masks(), ["go: "]);
}

/// A constant that a body mentions is no object for its variables; bodies that do not mention it are free.
#[test]
fn masks_with_constants() {
    let domain = ":- action(go). :- state(e/2). :- variables(1). :- constant(a).";
    let world = World::new(domain, "a, b", "e(a, a). e(a, b).");
    assert_eq!(world.masks(), ["go: e(X, X)", "go: e(a, X)"]);
    let alone = World::new(domain, "a", "e(a, a).");
    assert_eq!(alone.masks(), ["go: e(X, X)"]);
}

#[test]
fn variables_that_are_known_guide_a_query() {
    let world = World::blocks(TOWER);
    let body = &world.policy("move(X, Y) :- on(Z, Y), top(Z), \\+ top(X).").rules[0].body;
    let query = Query::new(body, &[Var(0)], &world.universe);
    let b = world.universe.find(&Constant::name("b"));
    let mut binding = [b, None, None];
    assert!(query.holds(&world.facts, &world.universe, &mut binding));
    assert_eq!(binding, [b, None, None]);
    let a = world.universe.find(&Constant::name("a"));
    assert!(!query.holds(&world.facts, &world.universe, &mut [a, None, None]));
}

#[test]
fn facts_are_shown_as_they_are_read() {
    let domain = ":- action('Go'/1). :- state('is at'/2). :- state(north).";
    let alphabet = Alphabet::parse(&Source::new("d.pl", domain)).expect("the domain is well-formed");
    let names = ["a", "Big Room", "it's", "Ä"].map(|n| (Constant::name(n), Types::ANY));
    let objects = names.into_iter().chain([(Constant::Int(-3), Types::ANY)]).collect();
    let universe = Universe::new(objects);
    let text = "'is at'(a, 'Big Room'). 'is at'('it\\'s', -3). 'is at'('Ä', a). north.";
    let atoms = parse_facts(&Source::new("s.pl", text), &alphabet).expect("the facts are well-formed");
    let facts = Facts::of(&atoms, &alphabet, &universe).expect("the facts are about the objects");
    assert_eq!(facts.show(&alphabet, &universe).join(". ") + ".", text);
    let action = &universe.ground_actions(&alphabet)[1];
    assert_eq!(universe.show_action(&alphabet, action.action, &action.args), "'Go'('Big Room')");
    let elsewhere = parse_facts(&Source::new("s.pl", "'is at'(a, moon)."), &alphabet).expect("well-formed");
    assert_eq!(Facts::of(&elsewhere, &alphabet, &universe), None);
}

/// An action with equal arguments is one of its own: written as it is, legal by its own clauses, derived by its own rules.
#[test]
fn equal_arguments_are_an_action_of_their_own() {
    let domain = ":- action(send(spot, any, spot)).\n:- action(send(X, Y, X)).\n:- state(at(spot)).\n:- state(near/2).\n\
        :- subtype(spot, thing).\n:- legal(send/3).\n\
        send(X, Y, Z) :- at(X), near(X, Z).\nsend(X, Y, X) :- at(X), near(X, Y).\nnever(send(X, Y, X)) :- near(Y, X).\n";
    let world =
        World::new(domain, "a: spot, b: spot, c: thing", "at(a). near(a, b). near(a, c). near(c, a).");
    let again =
        Alphabet::parse(&Source::new("again.pl", world.alphabet.to_string())).expect("it is well-formed");
    assert_eq!(again, world.alphabet, "it is written and read again:\n{}", world.alphabet);
    assert_eq!(world.alphabet.actions[1].args.len(), 2);

    let text = "1.00::send(X, Y, X) :- at(X).\n";
    assert_eq!(world.policy("send(B, A, B) :- at(B).").display(&world.alphabet).to_string(), text);
    assert_eq!(world.decide(text).1, ["send(a, b, a)", "send(a, c, a)"]);
    assert_eq!(
        world.decide("send(X, Y, Z) :- at(X).").1,
        ["send(a, c, b)"],
        "distinct variables are distinct objects"
    );
    let legal = legal_actions(&world.facts, &world.alphabet, &world.universe).expect("it says what is legal");
    let shown = |a: &GroundAction| world.universe.show_action(&world.alphabet, a.action, &a.args);
    assert_eq!(
        legal.iter().map(shown).collect::<Vec<_>>(),
        ["send(a, c, b)", "send(a, b, a)", "send(a, c, a)"]
    );
    let shield = Shield::new(&world.alphabet, &world.universe).expect("there is one");
    let forbidden = legal.iter().filter(|a| !shield.forbidding(a, &world.facts, &world.universe).is_empty());
    assert_eq!(forbidden.map(shown).collect::<Vec<_>>(), ["send(a, c, a)"]);

    let (action, names) =
        parse_ground_action("send(a, b, a)", &world.alphabet).expect("there is such an action");
    assert_eq!((action, names.len()), (Action(1), 2));
    let atoms = candidates(&world.alphabet, action);
    assert!(atoms.iter().all(|l| l.vars().all(|v| usize::from(v.0) < world.alphabet.variables)));
}
