//! Shields: what rules forbid is not done, in training, by any agent, or in acting. It is counted below the shield, by whoever
//! takes the steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use derrl_env::{
    Cost, Env, Extent, Journal, Options, Outcome, Rng, Scene, World, choices, list_legal, observe,
};
use derrl_learn::{
    AGENTS, Actor, Checkpoint, Config, Explainer, NoMonitor, Problem, Progress, Reason, Search, Setup,
    Silent, Subject, TrainingJob, cores, evaluate, verify,
};
use derrl_logic::{
    Action, Alphabet, Facts, GroundAction, Object, Policy, Shield, Source, Universe, parse_state,
};

/// Five worlds, and what is forbidden in them.
const SHIELDS: [(&str, &str); 5] = [
    (
        "blocks",
        "never(move(X, Y)) :- on(Z, X).\nnever(move(X, Y)) :- on(X, Y).\nnever(move(X, Y)) :- isFloor(X).\n",
    ),
    ("countdown", "never(sub) :- curr(X), goal(X).\nnever(null) :- acc(X), less(X, Y), goal(Y).\n"),
    (
        "gridworld",
        "never(up) :- curr(X, Y), succ(Y, Z), obs(X, Z).\nnever(down) :- curr(X, Y), succ(Z, Y), obs(X, Z).\n\
         never(left) :- curr(X, Y), succ(Z, X), obs(Z, Y).\nnever(right) :- curr(X, Y), succ(X, Z), obs(Z, Y).\n",
    ),
    ("doorkey", "never(goto(X)) :- door(X).\nnever(pick(X)) :- carrying(Y).\n"),
    ("rearrange", "never(move(X, Y)) :- on(X, Z), goal_on(X, Z), isFloor(Y).\n"),
];

/// Steps below the shield, and forbidden ones among them that could have been avoided.
#[derive(Default)]
struct Outside {
    steps: AtomicU64,
    wrong: AtomicU64,
}

/// A world that knows the rules of the shield above it, and checks them in a way of its own.
struct Watched {
    env: Box<dyn Env>,
    alphabet: Arc<Alphabet>,
    rules: Policy,
    outside: Arc<Outside>,
}

impl Watched {
    fn is_wrong(&self, action: &GroundAction) -> bool {
        let mut facts = Facts::new(&self.alphabet);
        observe(self.env.as_ref(), &mut facts);
        let explainer = Explainer::new(&self.rules, &self.alphabet);
        let forbidden = |a: &GroundAction| explainer.fired(a, &facts, self.env.universe()).is_some();
        forbidden(action) && !choices(self.env.as_ref(), &self.alphabet).iter().all(forbidden)
    }
}

impl Env for Watched {
    fn reset(&mut self, rng: &mut Rng) {
        self.env.reset(rng);
    }

    fn restart(&mut self) {
        self.env.restart();
    }

    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        let taken = GroundAction { action, args: args.to_vec() };
        self.outside.steps.fetch_add(1, Ordering::Relaxed);
        self.outside.wrong.fetch_add(u64::from(self.is_wrong(&taken)), Ordering::Relaxed);
        self.env.step(action, args, rng)
    }

    fn universe(&self) -> &Arc<Universe> {
        self.env.universe()
    }

    fn facts(&self, facts: &mut Facts) {
        self.env.facts(facts);
    }

    fn code(&self) -> Option<u128> {
        self.env.code()
    }

    fn legal(&self, actions: &mut Vec<GroundAction>) -> bool {
        self.env.legal(actions)
    }

    fn journal(&self) -> Option<&Journal> {
        self.env.journal()
    }

    fn succeeded(&self) -> bool {
        self.env.succeeded()
    }

    fn cost(&self) -> Cost {
        self.env.cost()
    }

    fn scene(&self) -> Scene {
        self.env.scene()
    }
}

/// A built-in world under a shield, with a count from outside.
fn shielded(name: &str, rules: &str) -> (World, Arc<Outside>) {
    let built_in = derrl_env::find(name).expect("it is built in").clone();
    let outside = Arc::new(Outside::default());
    let counted = Arc::clone(&outside);
    let text = format!("{}\n{rules}", built_in.domain());
    let world = World::new(name, text).expect("the rules can be read");
    let rules = Policy { rules: world.alphabet().shield.clone() };
    let world = world.engine_task("train", move |alphabet, options| {
        // The world below knows of no shield.
        let free = Arc::new(Alphabet { shield: Vec::new(), ..Alphabet::clone(alphabet) });
        let env = built_in.make(&free, "train", options)?;
        Ok(Box::new(Watched { env, alphabet: free, rules: rules.clone(), outside: Arc::clone(&counted) }))
    });
    (world, outside)
}

/// At least so many steps of training in each world: for more, `DERRL_SHIELD_STEPS=1000000`.
fn wanted() -> u64 {
    std::env::var("DERRL_SHIELD_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000)
}

fn agree(world: &World, outside: &Outside, what: &str) {
    let (steps, wrong) = (outside.steps.load(Ordering::Relaxed), outside.wrong.load(Ordering::Relaxed));
    let tally = world.shield_tally();
    assert_eq!((wrong, tally.violations), (0, 0), "{what}: {tally:?}");
    assert_eq!(tally.steps, steps, "{what}");
    assert!(tally.restricted > 0, "{what}: nothing was ever forbidden");
}

#[test]
fn nothing_forbidden_is_done_in_training() {
    for (name, rules) in SHIELDS {
        let (world, outside) = shielded(name, rules);
        let alphabet = world.alphabet();
        let make_env = || world.make(&alphabet, "train", &Options::default());
        let problem = Arc::new(Problem::new(&alphabet, 1).expect("there is something to reason with"));
        let mut seed = 0;
        while outside.steps.load(Ordering::Relaxed) < wanted() {
            let config = Config { updates: 4, restarts: 2, ..Config::default() };
            let search = Search::new(&problem, &config, &make_env, &Silent).within(20_000);
            let learned = search.run(vec![(seed, Checkpoint::default())], 2).expect("nothing fails");
            let learned = learned.into_iter().flatten().next().expect("it was not interrupted");
            let mut env = make_env().expect("it has the task");
            evaluate(&learned.policy, &learned.alphabet, env.as_mut(), 20, 1).expect("nothing fails");
            seed += 1;
        }
        agree(&world, &outside, name);
    }
}

#[test]
fn nothing_forbidden_is_done_by_baselines() {
    for (name, rules) in [SHIELDS[0], SHIELDS[4]] {
        for row in AGENTS.iter().filter(|a| a.name != "derrl" && a.name != "nlrl") {
            let (world, outside) = shielded(name, rules);
            let alphabet = world.alphabet();
            let make_env = || world.make(&alphabet, "train", &Options::default());
            let config = Config::default();
            let setup = Setup { alphabet: &alphabet, make_env: &make_env, config: &config, learning: None };
            let mut agent = (row.make)(&setup).unwrap_or_else(|e| panic!("{}: {e}", row.name));
            let training =
                TrainingJob { make_env: &make_env, decisions: 1000, seed: 0, threads: 1, watcher: &Silent };
            agent.train(&training).unwrap_or_else(|e| panic!("{}: {e}", row.name));
            let mut env = make_env().expect("it has the task");
            let (mut rng, mut ties) = (Rng::new(1, 0), Rng::new(1, 1));
            env.reset(&mut rng);
            for _ in 0..20 {
                let action = agent.act(env.as_ref(), &mut ties);
                if env.step(action.action, &action.args, &mut rng).status != derrl_env::Status::Running {
                    env.reset(&mut rng);
                }
            }
            drop(env);
            agree(&world, &outside, &format!("{} in {name}", row.name));
        }
    }
}

const TALL: &str = "never(move(X, Y)) :- goal_on(Z, X), isFloor(Y).\n";

fn blocks(shield: &str) -> Arc<Alphabet> {
    let text = format!("{}\n{shield}", derrl_env::find("blocks").expect("it is built in").domain());
    Arc::new(Alphabet::parse(&Source::new("blocks.pl", text)).expect("it can be read"))
}

fn policy(text: &str, alphabet: &Alphabet) -> Policy {
    Policy::parse(&Source::new("policy.pl", text), alphabet).expect("it can be read")
}

const UNSTACK: &str =
    "0.90::move(X, Y) :- top(X), goal_on(X, Y), top(Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";

#[test]
fn an_explanation_names_what_was_forbidden_and_by_which_rule() {
    let alphabet = blocks(TALL);
    let rules = policy(UNSTACK, &alphabet);
    let state = "top(a). on(a, b). on(b, floor). isFloor(floor). goal_on(b, a).";
    let (universe, facts) = parse_state(&Source::new("s.pl", state), &alphabet).expect("it can be read");
    let explainer = Explainer::new(&rules, &alphabet);
    let asked: Vec<GroundAction> = universe.ground_actions(&alphabet);
    let (action, e) =
        explainer.explain(&facts, &universe, &mut Rng::new(0, 0), &asked).expect("there are actions");
    // The policy alone would take a from b; the shield forbids to put on the floor what something is to stand on.
    assert_ne!(e.action, "move(a, floor)", "{e:?}");
    let shield = Shield::new(&alphabet, &universe).expect("there is one");
    assert!(shield.forbidding(&action, &facts, &universe).is_empty());
    assert_eq!(e.forbidden.len(), 1);
    assert_eq!(e.forbidden[0].action, "move(a, floor)");
    assert_eq!(e.forbidden[0].by.text, TALL.trim());
    assert_eq!(e.forbidden[0].by.body, ["goal_on(b, a)", "isFloor(floor)"]);
    let why = e.others.iter().find(|o| o.action == "move(a, floor)").expect("it was asked about");
    assert_eq!(why.reason, Reason::Forbidden);
    assert!(e.forced.is_none());
}

/// Whatever stands somewhere is clear, or under what is to go elsewhere, or under what it is to go on.
const EVERYTHING: &str =
    "never(move(X, Y)) :- top(X).\nnever(move(X, Y)) :- on(Z, X).\nnever(move(X, Y)) :- on(Y, X).\n";

#[test]
fn where_everything_is_forbidden_it_is_said() {
    let alphabet = blocks(&format!("never(move(X, Y)) :- isFloor(Y).\n{EVERYTHING}"));
    let rules = policy(UNSTACK, &alphabet);
    let state = "top(a). on(a, b). on(b, floor). isFloor(floor). goal_on(b, a).";
    let (universe, facts) = parse_state(&Source::new("s.pl", state), &alphabet).expect("it can be read");
    let (_, e) = Explainer::new(&rules, &alphabet)
        .explain(&facts, &universe, &mut Rng::new(0, 0), &[])
        .expect("actions");
    // The last rule is against nothing but b on a.
    assert_eq!(e.action, "move(b, a)");
    assert_eq!(e.forced.expect("it is said").rule, 4);
}

#[test]
fn never_violated_is_proved_apart_from_reaching_the_goal() {
    let world = derrl_env::find("blocks").expect("it is built in");
    let report = |shield: &str, rules: &str| {
        let alphabet = blocks(shield);
        let rules = policy(rules, &alphabet);
        let extent = Extent { largest: 3, ..Extent::default() };
        let subject = Subject { policy: &rules, alphabet: &alphabet, world, extent };
        let report =
            verify(&subject, cores(), Progress::default(), &mut NoMonitor).expect("it can be walked");
        report.expect("it was not interrupted")
    };
    let free = report("", UNSTACK);
    assert!(free.shield.is_none());
    // A rule that costs nothing: the policy keeps to it anyway.
    let idle = report("never(move(X, Y)) :- on(X, Y).\n", UNSTACK);
    let shield = idle.shield.expect("there is one");
    assert!(shield.never_violated && shield.corrected_states == 0);
    assert_eq!((idle.verdict, idle.sizes), (free.verdict, free.sizes));
    // One that the policy alone would break.
    let kept = report("never(move(X, Y)) :- isFloor(Y), goal_on(Z, X).\n", UNSTACK);
    let shield = kept.shield.expect("there is one");
    assert!(shield.never_violated && shield.corrected_states > 0, "{shield:?}");
    // One that cannot be kept.
    let broken = report(EVERYTHING, UNSTACK);
    let shield = broken.shield.expect("there is one");
    assert!(!shield.never_violated && shield.violation.is_some());
}

#[test]
fn acting_by_the_list_is_acting_under_the_shield() {
    let (world, outside) = shielded("blocks", SHIELDS[0].1);
    let alphabet = world.alphabet();
    // Rules that would break each of the rules.
    let rules = policy("0.90::move(X, Y) :- on(Z, X).\n0.80::move(X, Y) :- on(X, Y).\n", &alphabet);
    let mut actor = Actor::new(&rules, &alphabet);
    let mut env = world.env("train").expect("it has the task");
    let (mut rng, mut ties) = (Rng::new(3, 0), Rng::new(3, 1));
    for _ in 0..50 {
        env.reset(&mut rng);
        for _ in 0..10 {
            let mut facts = Facts::new(&alphabet);
            observe(env.as_ref(), &mut facts);
            let mut legal = Vec::new();
            assert!(list_legal(env.as_ref(), &alphabet, &facts, &mut legal));
            let action = actor.act(env.as_ref(), &mut ties);
            assert!(legal.contains(&action));
            if env.step(action.action, &action.args, &mut rng).status != derrl_env::Status::Running {
                break;
            }
        }
    }
    // What somebody does on purpose is counted.
    env.reset(&mut rng);
    let floor = env.universe().find(&derrl_logic::Constant::name("floor")).expect("there is a floor");
    let block = env.universe().objects().find(|o| *o != floor).expect("there is a block");
    env.step(Action(0), &[floor, block], &mut rng);
    drop(env);
    assert_eq!(world.shield_tally().violations, 1);
    assert_eq!(outside.wrong.load(Ordering::Relaxed), 1);
}
