//! Worlds that speak in names, as the engine sees them.

use std::sync::Arc;

use derrl_env::named::{Actions, Env, Facts};
use derrl_env::{BoxError, Outcome, Rng, Status, World, contract, observe};
use derrl_logic::{Facts as EngineFacts, GroundAction, Object};

type Said = fn(u64, &mut Facts);

/// A world that says what it is told to say, by the number of resets and steps.
struct Script {
    say: Said,
    count: u64,
    fails_at: Option<u64>,
}

impl Env for Script {
    fn reset(&mut self, _: &mut Rng) -> Result<(), BoxError> {
        self.count = 0;
        Ok(())
    }

    fn facts(&self, facts: &mut Facts) {
        (self.say)(self.count, facts);
    }

    fn step(&mut self, _: &str, _: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        self.count += 1;
        match self.fails_at {
            Some(n) if n == self.count => Err(std::io::Error::other("the disk is full").into()),
            _ => Ok(Outcome::running(0.0)),
        }
    }

    fn horizon(&self) -> usize {
        5
    }
}

const DOMAIN: &str = "
    :- action(go(place)).
    :- state(at(thing, place)).
    :- state(on(block, place)).
    :- state(marked(thing)).
    :- number(angle).
    :- number(size(thing), metre).
    :- subtype(block, thing).
    :- subtype(block, place).
    :- variables(2).
";

fn scripted(say: Said, fails_at: Option<u64>) -> World {
    let world = World::new("scripted", DOMAIN).expect("it is well-formed");
    world.task("train", move || Script { say, count: 0, fails_at })
}

fn begun(say: Said) -> Box<dyn derrl_env::Env> {
    let mut env = scripted(say, None).env("train").expect("it has the task");
    env.reset(&mut Rng::new(0, 0));
    env
}

fn fault(say: Said) -> String {
    begun(say).fault().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn objects_have_the_most_specific_type_of_their_places() {
    let world = scripted(|_, _| {}, None);
    let alphabet = world.alphabet();
    let env = begun(|_, facts| {
        facts.say("at", &["b", "p"]);
        facts.say("on", &["b", "p"]);
        facts.say("marked", &["10"]);
        facts.object("far", "place");
    });
    let universe = env.universe();
    let shown: Vec<String> = universe
        .objects()
        .map(|o| format!("{} {}", universe.name(o), alphabet.types.name(universe.type_of(o))))
        .collect();
    // Integers come before names.
    assert_eq!(shown, ["10 thing", "b block", "far place", "p place"]);
    let mut facts = EngineFacts::new(&alphabet);
    observe(env.as_ref(), &mut facts);
    assert_eq!(facts.show(&alphabet, universe), ["at(b, p)", "on(b, p)", "marked(10)"]);
}

#[test]
fn a_common_subtype_is_found() {
    let env = begun(|_, facts| {
        facts.say("at", &["x", "y"]);
        facts.say("marked", &["y"]);
    });
    let alphabet = scripted(|_, _| {}, None).alphabet();
    // A thing that is a place is a block.
    assert_eq!(alphabet.types.name(env.universe().type_of(Object(1))), "block");
}

#[test]
fn equal_objects_share_a_universe_and_equal_facts_a_code() {
    let mut env = begun(|count, facts| {
        let pair = if count % 2 == 0 { [["a", "p"], ["b", "q"]] } else { [["b", "q"], ["a", "p"]] };
        for args in &pair {
            facts.say("at", args);
        }
        if count == 3 {
            facts.say("marked", &["a"]);
        }
    });
    let (universe, code) = (Arc::clone(env.universe()), env.code());
    let go = env.universe().ground_actions(&scripted(|_, _| {}, None).alphabet())[0].clone();
    let mut step = || {
        env.step(go.action, &go.args, &mut Rng::new(0, 0));
        (Arc::ptr_eq(&universe, env.universe()), env.code() == code)
    };
    assert_eq!(step(), (true, true), "the order of facts is of no matter");
    assert_eq!(step(), (true, true));
    assert_eq!(step(), (true, false), "another fact, another code");
}

#[test]
fn numbers_are_reported_and_tell_states_apart() {
    let world = scripted(|_, _| {}, None);
    let alphabet = world.alphabet();
    let mut env = begun(|count, facts| {
        facts.say("at", &["b1", "floor"]);
        facts.number("size", &["b1"], 2.5);
        facts.number("size", &["b2"], 0.5);
        if count != 2 {
            facts.number("angle", &[], if count == 1 { 0.25 } else { -0.0 });
        }
    });
    let mut codes = Vec::new();
    let shown = |env: &dyn derrl_env::Env| {
        let mut facts = EngineFacts::new(&alphabet);
        observe(env, &mut facts);
        facts.show(&alphabet, env.universe())
    };
    let sizes = ["at(b1, floor)", "size(b1) = 2.5", "size(b2) = 0.5"];
    for angle in [Some("angle = 0"), Some("angle = 0.25"), None, Some("angle = 0")] {
        let mut expected: Vec<&str> = sizes.to_vec();
        if let Some(angle) = angle {
            expected.insert(1, angle);
        }
        assert_eq!(shown(env.as_ref()), expected);
        codes.push(env.code().expect("states that speak in names have codes"));
        let go = env.universe().ground_actions(&alphabet).remove(0);
        env.step(go.action, &go.args, &mut Rng::new(0, 0));
    }
    assert_eq!(codes[0], codes[3]);
    assert!(codes[0] != codes[1] && codes[1] != codes[2] && codes[0] != codes[2], "{codes:?}");
    assert_eq!(env.universe().len(), 3, "b2 is an object for its size alone");
}

#[test]
fn wrong_numbers_are_faults_that_name_them() {
    let nan = fault(|_, facts| facts.number("size", &["b1"], f64::NAN));
    assert!(nan.contains("`size(b1)` is not a number"), "{nan}");
    let infinite = fault(|_, facts| facts.number("angle", &[], f64::INFINITY));
    assert!(infinite.contains("`angle` is infinite"), "{infinite}");
    let unknown = fault(|_, facts| facts.number("angel", &[], 1.0));
    assert!(unknown.contains("number `angel/0`") && unknown.contains("`angle/0`"), "{unknown}");
}

#[test]
fn an_episode_is_cut_off_at_its_horizon() {
    let mut env = begun(|_, facts| facts.say("at", &["a", "p"]));
    let go = env.universe().ground_actions(&scripted(|_, _| {}, None).alphabet())[0].clone();
    let status: Vec<Status> =
        (0..5).map(|_| env.step(go.action, &go.args, &mut Rng::new(0, 0)).status).collect();
    assert_eq!(status[..4], [Status::Running; 4]);
    assert_eq!(status[4], Status::Truncated);
}

#[test]
fn what_a_world_says_wrong_is_a_fault() {
    let unknown = fault(|_, facts| facts.say("marked", &["a", "b"]));
    assert!(unknown.contains("`marked/2`") && unknown.contains("did you mean `marked/1`?"), "{unknown}");
    let mut facts = EngineFacts::new(&scripted(|_, _| {}, None).alphabet());
    observe(begun(|_, facts| facts.say("marked", &["a", "b"])).as_ref(), &mut facts);
    assert_eq!(facts.iter().count(), 0, "a world that failed says nothing");
    let untyped = fault(|_, facts| facts.object("a", "plase"));
    assert!(untyped.contains("`a` is said to be a `plase`") && untyped.contains("`place`?"), "{untyped}");
    let world =
        World::new("two", ":- action(go(a)). :- state(p(a)). :- state(q(b)).").expect("it is well-formed");
    let say: Said = |_, facts| {
        facts.say("p", &["x"]);
        facts.say("q", &["x"]);
    };
    let mut env = world
        .task("train", move || Script { say, count: 0, fails_at: None })
        .env("train")
        .expect("it has the task");
    env.reset(&mut Rng::new(0, 0));
    let clash = env.fault().map(ToString::to_string).unwrap_or_default();
    assert_eq!(clash, "object `x` is a `a` in one place and a `b` in another, and no type is both");
    let nothing = fault(|_, facts| facts.say("marked", &["a"]));
    assert!(nothing.starts_with("no action can be taken"), "{nothing}");
}

/// A world whose first step ends the episode.
struct Once {
    last: Outcome,
    has_goal: bool,
}

impl Env for Once {
    fn reset(&mut self, _: &mut Rng) -> Result<(), BoxError> {
        Ok(())
    }

    fn facts(&self, facts: &mut Facts) {
        facts.say("at", &["a", "p"]);
    }

    fn step(&mut self, _: &str, _: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        Ok(self.last)
    }

    fn has_goal(&self) -> bool {
        self.has_goal
    }
}

fn ended(last: Outcome, has_goal: bool) -> Box<dyn derrl_env::Env> {
    let world = World::new("once", DOMAIN).expect("it is well-formed");
    let world = world.task("train", move || Once { last, has_goal });
    let mut env = world.env("train").expect("it has the task");
    env.reset(&mut Rng::new(0, 0));
    let go = env.universe().ground_actions(&world.alphabet())[0].clone();
    env.step(go.action, &go.args, &mut Rng::new(0, 0));
    env
}

#[test]
fn only_a_world_with_a_goal_can_miss_it() {
    for (last, reached) in [
        (Outcome { reward: 1.0, status: Status::Terminated }, true),
        (Outcome { reward: -1.0, status: Status::Terminated }, false),
        (Outcome { reward: 1.0, status: Status::Truncated }, false),
    ] {
        assert_eq!((ended(last, true).has_goal(), ended(last, true).succeeded()), (true, reached));
        assert_eq!((ended(last, false).has_goal(), ended(last, false).succeeded()), (false, true));
    }
}

#[test]
fn rewards_are_numbers_that_can_be_summed() {
    for (reward, works) in
        [(1e100, true), (-1e100, true), (1e101, false), (f64::NAN, false), (f64::NEG_INFINITY, false)]
    {
        let env = ended(Outcome { reward, status: Status::Terminated }, true);
        assert_eq!(env.fault().is_none(), works, "{reward}");
    }
}

#[test]
fn an_error_of_a_world_arrives_whole() {
    let mut env =
        scripted(|_, facts| facts.say("at", &["a", "p"]), Some(2)).env("train").expect("it has the task");
    env.reset(&mut Rng::new(0, 0));
    let go = env.universe().ground_actions(&scripted(|_, _| {}, None).alphabet())[0].clone();
    assert_eq!(env.step(go.action, &go.args, &mut Rng::new(0, 0)).status, Status::Running);
    assert_eq!(env.step(go.action, &go.args, &mut Rng::new(0, 0)).status, Status::Truncated);
    let fault = env.fault().expect("it failed");
    assert_eq!(fault.to_string(), "the disk is full");
    assert!(fault.error().downcast_ref::<std::io::Error>().is_some());
    env.reset(&mut Rng::new(0, 0));
    assert_eq!(env.fault(), None, "another episode is another chance");
}

#[test]
fn a_broken_law_is_named() {
    let world = scripted(|count, facts| facts.say("at", &["a", if count > 2 { "q" } else { "p" }]), Some(4));
    let broken = contract::check(&world).expect_err("it fails in the fourth step");
    assert_eq!(broken.task, "train");
    assert!(broken.found.contains("the disk is full"), "{broken}");
}

/// Legal actions are sorted, each once, on distinct objects; with none left the episode has ended.
#[test]
fn legal_actions_are_put_in_order() {
    struct Shrinking(usize);
    impl Env for Shrinking {
        fn reset(&mut self, _: &mut Rng) -> Result<(), BoxError> {
            self.0 = 3;
            Ok(())
        }
        fn facts(&self, facts: &mut Facts) {
            (0..3).for_each(|i| facts.say("spot", &[&i.to_string()]));
        }
        fn step(&mut self, _: &str, _: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
            self.0 -= 1;
            Ok(Outcome::running(0.0))
        }
        fn legal(&self, actions: &mut Actions) -> bool {
            for i in (0..self.0).rev() {
                actions.allow("hop", &[&i.to_string(), "2"]);
                actions.allow("hop", &[&i.to_string(), "2"]);
            }
            true
        }
    }
    let world = World::new("hops", ":- action(hop/2). :- state(spot/1).").expect("it is well-formed");
    let world = world.task("train", || Shrinking(3));
    let (mut env, legal, shown) = at_the_start(&world);
    assert_eq!(shown, ["hop(0, 2)", "hop(1, 2)"], "hop(2, 2) names an object twice");
    let status: Vec<Status> =
        (0..3).map(|_| env.step(legal[0].action, &legal[0].args, &mut Rng::new(0, 0)).status).collect();
    assert_eq!(status, [Status::Running, Status::Running, Status::Terminated]);
}

/// An environment at its start, with its legal actions as they are and as they are written.
fn at_the_start(world: &World) -> (Box<dyn derrl_env::Env>, Vec<GroundAction>, Vec<String>) {
    let alphabet = world.alphabet();
    let mut env = world.env("train").expect("it has the task");
    env.reset(&mut Rng::new(0, 0));
    let mut legal = Vec::new();
    assert!(env.legal(&mut legal));
    let shown = legal.iter().map(|a| env.universe().show_action(&alphabet, a.action, &a.args)).collect();
    (env, legal, shown)
}

/// A world says and takes actions with equal arguments where its domain declares them.
#[test]
fn actions_with_equal_arguments_are_told_by_the_domain() {
    struct Echo(Vec<String>);
    impl Env for Echo {
        fn reset(&mut self, _: &mut Rng) -> Result<(), BoxError> {
            Ok(())
        }
        fn facts(&self, facts: &mut Facts) {
            facts.say("spot", &["a"]);
            facts.say("spot", &["b"]);
        }
        fn step(&mut self, action: &str, args: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
            self.0 = args.iter().map(ToString::to_string).collect();
            Ok(Outcome::running(if (action, args) == ("send", &["a", "b", "a"][..]) { 7.0 } else { 0.0 }))
        }
        fn legal(&self, actions: &mut Actions) -> bool {
            actions.allow("send", &["a", "b", "a"]);
            actions.allow("send", &["a", "a", "b"]);
            actions.allow("wait", &[]);
            true
        }
    }
    let domain = ":- action(send/3). :- action(wait). :- action(send(X, Y, X)). :- state(spot/1).";
    let world = World::new("echo", domain).expect("it is well-formed").task("train", || Echo(Vec::new()));
    let (mut env, legal, shown) = at_the_start(&world);
    assert_eq!(shown, ["wait", "send(a, b, a)"], "send(a, a, b) is not declared");
    assert_eq!(env.step(legal[1].action, &legal[1].args, &mut Rng::new(0, 0)).reward, 7.0);
    contract::check(&world).expect("it keeps the laws of worlds");
}
