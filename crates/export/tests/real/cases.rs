//! Policies, states and the decisions that programs have to reproduce.

use std::collections::BTreeMap;
use std::sync::Arc;

use derrl_env::{Options, Rng, Status, observe};
use derrl_logic::{
    Action, Alphabet, Arg, Constant, Decider, Decision, Facts, GroundAction, Literal, Object, Policy, Pred,
    Rule, Source, Type, Universe, Var,
};

/// A policy with states to decide in.
pub struct Case {
    pub name: String,
    pub alphabet: Arc<Alphabet>,
    pub policy: Policy,
    /// What exported programs call the predicate that lists objects.
    pub object: &'static str,
    pub states: Vec<State>,
}

/// A state with what our engine decides.
pub struct State {
    pub universe: Arc<Universe>,
    pub facts: Facts,
    pub decision: Decision,
    /// F of every action that some rule derives.
    pub values: BTreeMap<GroundAction, f64>,
}

impl Case {
    fn new(
        name: String,
        alphabet: &Arc<Alphabet>,
        policy: Policy,
        states: Vec<(Arc<Universe>, Facts)>,
    ) -> Case {
        let decide = |policy: &Policy, universe: &Universe, facts: &Facts| {
            Decider::new(policy, alphabet, universe).decide(facts, alphabet, universe)
        };
        let states = states
            .into_iter()
            .map(|(universe, facts)| {
                let mut values = BTreeMap::new();
                for rule in &policy.rules {
                    let alone = Policy { rules: vec![rule.clone()] };
                    let derived = decide(&alone, &universe, &facts);
                    for action in derived.ties.into_iter().filter(|_| derived.value > 0.0) {
                        let value: &mut f64 = values.entry(action).or_default();
                        *value = value.max(rule.weight);
                    }
                }
                let mut decision = decide(&policy, &universe, &facts);
                if decision.value == 0.0 {
                    // Programs say that no rule fires, not what is legal.
                    decision.ties.clear();
                }
                State { universe, facts, decision, values }
            })
            .collect();
        Case { name, alphabet: Arc::clone(alphabet), policy, object: "object", states }
    }
}

/// Every case: built-in worlds, domains that are awkward to export, and random policies over all of them.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (world, policies) in WORLDS {
        let alphabet = derrl_env::find(world).expect("the table has this world").alphabet();
        for (i, text) in policies.iter().enumerate() {
            let (policy, alphabet) = parse(text, &alphabet);
            let states = episodes(world, &alphabet, 600, i as u64);
            cases.push(Case::new(format!("{world}_{i}"), &alphabet, policy, states));
        }
        for i in 0..4 {
            let policy = random_policy(&alphabet, &mut Rng::new(i, 1));
            let states = episodes(world, &alphabet, 100, 10 + i);
            cases.push(Case::new(format!("{world}_random_{i}"), &alphabet, policy, states));
        }
    }
    for (domain, text, policies, object) in DOMAINS {
        let alphabet = Alphabet::parse(&Source::new(format!("{domain}.pl"), *text));
        let alphabet = Arc::new(alphabet.unwrap_or_else(|e| panic!("{e}")));
        for (i, text) in policies.iter().enumerate() {
            let (policy, alphabet) = parse(text, &alphabet);
            let states = random_states(&alphabet, 400, i as u64);
            let mut case = Case::new(format!("{domain}_{i}"), &alphabet, policy, states);
            case.object = object;
            cases.push(case);
        }
        for i in 0..8 {
            let policy = random_policy(&alphabet, &mut Rng::new(i, 2));
            let states = random_states(&alphabet, 60, 100 + i);
            let mut case = Case::new(format!("{domain}_random_{i}"), &alphabet, policy, states);
            case.object = object;
            cases.push(case);
        }
    }
    cases
}

/// Worlds and policies for them: learned ones, and ones with negation, constants, open heads and priorities.
const WORLDS: &[(&str, &[&str])] = &[
    (
        "countdown",
        &[
            "add :- acc(X), goal(Y), less(X, Y). sub :- acc(X), goal(Y), less(Y, X). null :- acc(X), goal(X).",
            "0.9::add :- acc(X), goal(Y), less(X, Y), curr(Z), \\+ last(Z).
             0.9::sub :- acc(-4). 0.8::null :- acc(X), curr(X). 0.5::sub :- goal(3), \\+ acc(3), next(X, Y).
             0.95::null :- next(X, X), \\+ goal(-1).",
            "",
        ],
    ),
    (
        "blocks",
        &[
            "0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).
             0.98::move(X, Y) :- top(X), top(Y), goal_on(X, Y).",
            "0.5::move(X, Y) :- top(X), goal_on(X, Z), \\+ on(X, floor).
             0.5::move(A, B) :- on(A, floor), \\+ goal_on(A, B).
             0.25::move(X, Y) :- isFloor(X).
             0.75::move(X, Y) :- on(Y, b), on(X, floor), \\+ top(b).",
            "move(X, Y) :- isFloor(Z). 0.3::move(X, Y) :- top(Y), \\+ top(X).",
            // A policy with definitions of its own: unstack what is above a goal, then build.
            ":- closure(above, on). :- derived(busy(block)). :- derived(inplace(block)).
             busy(X) :- goal_on(X, Y), \\+ on(X, Y). busy(X) :- goal_on(Y, X), \\+ on(Y, X).
             inplace(X) :- on(X, Y), isFloor(Y), \\+ busy(X). inplace(X) :- on(X, Y), goal_on(X, Y), inplace(Y).
             0.9::move(X, Y) :- top(X), above(X, Z), busy(Z), isFloor(Y). 0.8::move(X, Y) :- goal_on(X, Y), top(X), top(Y).
             0.7::move(X, Y) :- inplace(Y), top(X), \\+ above(X, Y).",
        ],
    ),
    (
        "gridworld",
        &[
            "up :- curr(X, Y), north, succ(Y, Z), \\+ obs(X, Z). down :- curr(X, Y), south, succ(Z, Y), \\+ obs(X, Z).
             left :- curr(X, Y), west, succ(Z, X), \\+ obs(Z, Y). right :- curr(X, Y), east, succ(X, Z), \\+ obs(Z, Y).",
            // The way over free cells.
            ":- derived(step(x, y, x, y)).
             step(X, Y, X, Z) :- succ(Y, Z), \\+ obs(X, Z). step(X, Z, X, Y) :- succ(Y, Z), \\+ obs(X, Y).
             step(X, Y, Z, Y) :- succ(X, Z), \\+ obs(Z, Y). step(Z, Y, X, Y) :- succ(X, Z), \\+ obs(X, Y).
             :- distance(nearer, step, target).
             up :- curr(X, Y), succ(Y, Z), nearer(X, Y, X, Z). down :- curr(X, Y), succ(Z, Y), nearer(X, Y, X, Z).
             left :- curr(X, Y), succ(Z, X), nearer(X, Y, Z, Y). right :- curr(X, Y), succ(X, Z), nearer(X, Y, Z, Y).",
            "0.9::up :- northeast, \\+ obs(x0, y1). 0.9::left :- curr(x1, Y), target(Z, Y). 0.7::right :- succ(X, Z), obs(Z, Y), curr(X, Y).",
        ],
    ),
    (
        "doorkey",
        &[
            "pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying. open(X) :- locked(X), samecolor(X, Y), carrying(Y).
             goto(X) :- goal(X), unlocked.",
            "0.7::goto(X) :- \\+ locked(X), \\+ notcarrying. 0.6::open(X) :- locked(d1), \\+ carrying(X). 0.6::pick(X) :- door(X)."
        ],
    ),
];

/// Traffic, whose states take a simulator, and domains with names that languages keep for themselves, types of all sorts, and predicates of many arities.
const DOMAINS: &[(&str, &str, &[&str], &str)] = &[
    (
        "traffic",
        include_str!("../../../env/domains/traffic.pl"),
        &["green(X) :- highest(X).", "0.8::green(X) :- between(X, Y, Z), \\+ intersection(Y). 0.9::green(X) :- highest(Y), between(Y, Z, home)."],
        "object",
    ),
    (
        "untyped",
        ":- action(go/2). :- action(stay). :- state(at/1). :- state(link/2). :- state(dark). :- state(tri/3).
         :- constant(home). :- constant(-7).",
        &[
            "0.9::go(X, Y) :- at(X), link(X, Y), \\+ dark. 0.9::stay :- dark. 0.4::go(X, Y) :- at(home), tri(X, Z, Y).
             0.6::go(X, Y) :- link(X, X), \\+ link(Y, Y). 0.6::stay :- at(-7), \\+ at(home).",
            "go(X, Y) :- dark. 0.5::stay :- \\+ dark. 0.5::go(Y, X) :- tri(X, X, Y), \\+ at(9999999999999).",
            "go(X, Y) :- tri(X, Y, Z), tri(Z, Y, X), link(U, V), \\+ link(V, U), \\+ at(nowhere).",
        ],
        "object",
    ),
    (
        "typed",
        ":- action(send(thing, place)). :- action(wait). :- state(on(thing, place)). :- state(heavy(box)). :- state(open(door)).
         :- state(loud). :- background(leads(door, room)). :- background(near/2). :- subtype(box, thing). :- subtype(thing, place).
         :- subtype(room, place). :- subtype(door, thing).",
        &[
            "0.9::send(X, Y) :- heavy(X), \\+ loud. 0.8::send(X, Y) :- near(X, Y). 0.8::wait :- open(X), leads(X, Y), loud.
             0.85::send(X, Y) :- on(X, Z), leads(Z, Y), \\+ heavy(X).",
            "send(X, Y) :- leads(X, Y), open(X). 0.1::wait :- on(X, Y), on(Y, Z).",
            "send(X, Y) :- on(Y, X). 0.99::wait :- near(X, X).",
        ],
        "object",
    ),
    // Actions with equal arguments, which are legal where the domain says so.
    (
        "repeated",
        ":- action(send(thing, place, thing)). :- action(move(place, place)). :- action(wait). :- action(send(X, Y, X)).
         :- action(send(X, X, Y)). :- action(move(X, X)). :- state(on(thing, place)). :- state(heavy(box)). :- state(near/2).
         :- subtype(box, thing). :- subtype(thing, place). :- legal(move/2).
         move(X, Y) :- near(X, Y), \\+ near(Y, X). move(X, X) :- near(X, X). move(X, X) :- heavy(X).",
        &[
            "0.9::send(X, Y, X) :- on(X, Y). 0.9::send(X, X, Y) :- near(Y, X), \\+ heavy(X). 0.8::move(X, X) :- on(X, Y).
             0.7::send(X, Y, Z) :- on(X, Y), on(Z, Y). 0.6::wait :- near(X, X).",
            "move(X, X) :- near(Y, X). move(X, Y) :- near(X, Z), heavy(Y). 0.5::send(X, Y, X) :- \\+ heavy(X).",
            ":- derived(far/2). far(X, Y) :- near(X, Z), near(Z, Y). far(X, X) :- near(X, X).
             0.9::send(X, X, Y) :- far(X, X), far(X, Y). 0.4::send(A, B, A) :- far(B, A).",
        ],
        "object",
    ),
    (
        "derived",
        ":- action(go(place, place)). :- action(rest). :- action(load(box)). :- state(at(place)). :- state(link(place, place)).
         :- state(held(box)). :- state(dark). :- background(goal(place)). :- subtype(box, place).
         :- derived(open(place, place)). :- derived(even(place, place)). :- derived(odd(place, place)). :- derived(lost(place)).
         :- derived(safe). :- derived(pair(box, place)). :- derived(home(place)).
         :- closure(reach, open). :- distance(closer, open). :- distance(nearer, link, goal).
         :- legal(go/2). :- legal(load/1).
         open(X, Y) :- link(X, Y), \\+ held(Y). open(X, Y) :- link(Y, X), dark.
         odd(X, Y) :- link(X, Y). odd(X, Y) :- link(X, Z), even(Z, Y). even(X, Y) :- link(X, Z), odd(Z, Y). even(X, X) :- at(X).
         lost(X) :- at(X), \\+ safe. safe :- at(X), goal(Y), reach(X, Y). safe :- at(X), goal(X).
         pair(X, Y). home(d). home(X) :- goal(X), \\+ link(X, home).
         go(X, Y) :- at(X), open(X, Y). go(X, Y) :- lost(X), goal(Y). load(X) :- \\+ held(X), \\+ dark.",
        &[
            "0.9::go(X, Y) :- at(X), closer(X, Y, Z), goal(Z). 0.8::go(X, Y) :- nearer(X, Y). 0.7::rest :- safe.
             0.6::load(X) :- pair(X, Y), lost(Y). 0.5::go(X, Y) :- even(X, Y), \\+ odd(X, Y). 0.4::rest :- home(d), \\+ home(a).",
            ":- derived(alone/1). :- closure(far, reach). alone(X) :- at(X), \\+ home(X). alone(X) :- held(X), \\+ lost(X).
             0.9::go(X, Y) :- alone(X), far(X, Y). 0.8::load(X) :- alone(X). 0.8::rest :- dark, \\+ safe.",
        ],
        "object",
    ),
    (
        "reserved",
        ":- action(open(value, value)). :- action(call). :- action('Not'). :- action(dynamic/1). :- state(succ(value, value)).
         :- state(between/3). :- state(call/1). :- state(atom/1). :- state(atom_/1). :- state(query/1). :- state(once/1).
         :- state(dynamic). :- state(object/2). :- state(best/1). :- state(level/1). :- state(is/0). :- state('Big Room'/1).
         :- state(name_x/1). :- state(lambda/1). :- state(fn/2). :- state(rule_for/2). :- state(append/3).",
        &[
            "0.9::open(X, Y) :- succ(X, Y), \\+ is, atom(X). 0.9::call :- call(X), once(X). 0.8::'Not' :- query(X), atom_(X), \\+ best(X).
             0.7::dynamic(X) :- between(X, Y, Z), object(Y, Z). 0.7::open(X, Y) :- 'Big Room'(X), level('Big Room').
             0.65::dynamic(X) :- fn(X, not), \\+ atom(is), lambda(dynamic).",
            "0.5::open(X, Y) :- dynamic, \\+ name_x(X). 0.5::call :- is, rule_for(X, 'it''s'). 'Not' :- append(X, Y, X), \\+ dynamic.
             0.45::dynamic(X) :- succ(-3, X), \\+ fn(X, '\"quo\\\\ted\"').",
        ],
        "object_",
    ),
];

fn parse(text: &str, alphabet: &Arc<Alphabet>) -> (Policy, Arc<Alphabet>) {
    Policy::read(&Source::new("policy.pl", text), alphabet).unwrap_or_else(|e| panic!("{e}"))
}

/// States of episodes under random actions, over all tasks of a world.
fn episodes(world: &str, alphabet: &Arc<Alphabet>, count: usize, seed: u64) -> Vec<(Arc<Universe>, Facts)> {
    let spec = derrl_env::find(world).expect("the table has this world");
    let mut rng = Rng::new(seed, 3);
    let mut states = Vec::new();
    for task in spec.tasks().iter().filter(|t| t.scored).cycle() {
        let mut env = spec.make(alphabet, &task.name, &Options::default()).expect("its tasks can be made");
        env.reset(&mut rng);
        let actions = env.universe().ground_actions(alphabet);
        loop {
            let mut facts = Facts::new(alphabet);
            observe(env.as_ref(), &mut facts);
            states.push((Arc::clone(env.universe()), facts));
            if states.len() == count {
                return states;
            }
            let action = &actions[rng.below(actions.len())];
            if env.step(action.action, &action.args, &mut rng).status != Status::Running {
                break;
            }
        }
    }
    states
}

/// Names and integers that objects of random states may have.
fn constants() -> Vec<Constant> {
    let names =
        ["home", "a", "not", "is", "dynamic", "Big Room", "it's", "\"quo\\ted\"", "d", "b_2", "é", "X"];
    let ints = [-7, -3, 0, 4, 9_999_999_999_999];
    names.iter().map(|n| Constant::name(n)).chain(ints.map(Constant::Int)).collect()
}

/// Random facts of the right types over random objects.
fn random_states(alphabet: &Arc<Alphabet>, count: usize, seed: u64) -> Vec<(Arc<Universe>, Facts)> {
    let mut rng = Rng::new(seed, 4);
    let mut universes: Vec<Arc<Universe>> = Vec::new();
    for _ in 0..count.div_ceil(10) {
        let mut names = constants();
        rng.shuffle(&mut names);
        names.truncate(1 + rng.below(6));
        let objects = names.into_iter().map(|n| (n, Type(rng.below(alphabet.types.len()) as u32))).collect();
        universes.push(Arc::new(Universe::new(objects)));
    }
    (0..count)
        .map(|i| {
            let universe = &universes[i / 10];
            let mut facts = Facts::new(alphabet);
            let density = 0.1 + 0.6 * rng.unit();
            for (p, decl) in alphabet.predicates.iter().enumerate().filter(|(_, p)| p.role.is_given()) {
                let mut tuples: Vec<Vec<Object>> = vec![Vec::new()];
                for &t in &decl.args {
                    let fits = |o: &Object| alphabet.types.is_subtype(universe.type_of(*o), t);
                    let objects: Vec<Object> = universe.objects().filter(fits).collect();
                    let longer = |tuple: Vec<Object>| {
                        objects.iter().map(move |&o| [tuple.clone(), vec![o]].concat()).collect::<Vec<_>>()
                    };
                    tuples = tuples.into_iter().flat_map(longer).collect();
                }
                let density = if decl.args.len() > 1 { density / 2.0 } else { density };
                for tuple in tuples {
                    if rng.unit() < density {
                        facts.push(Pred(p as u32), &tuple);
                    }
                }
            }
            facts.seal();
            facts.derive(universe);
            (Arc::clone(universe), facts)
        })
        .collect()
}

/// A few random rules, kept if the language's own check of types and safety lets them pass.
fn random_policy(alphabet: &Alphabet, rng: &mut Rng) -> Policy {
    let mut rules = Vec::new();
    while rules.len() < 5 {
        let action = Action(rng.below(alphabet.actions.len()) as u32);
        let arity = alphabet.action(action).args.len();
        let variables = arity + 2;
        let term = |rng: &mut Rng| {
            if rng.below(6) == 0 {
                let known = constants();
                Arg::Const(known[rng.below(known.len())].clone())
            } else {
                Arg::Var(Var(rng.below(variables) as u8))
            }
        };
        let body: Vec<Literal> = (0..=rng.below(3))
            .map(|_| {
                let pred = Pred(rng.below(alphabet.predicates.len()) as u32);
                let args = alphabet.predicate(pred).args.iter().map(|_| term(rng)).collect();
                Literal { positive: rng.below(3) > 0, pred, args }
            })
            .collect();
        let weight = (1 + rng.below(4)) as f64 / 4.0;
        let text = Rule::new(weight, action, body).display(alphabet).to_string();
        if let Ok(policy) = Policy::parse(&Source::new("random.pl", text), alphabet) {
            rules.extend(policy.rules);
        }
    }
    Policy { rules }
}
