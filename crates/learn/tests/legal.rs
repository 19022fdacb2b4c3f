//! Legal actions: a world that lists them is never asked for another, in training or in acting, and decisions are those of
//! the policy's text among what is legal.

use std::sync::Arc;

use derrl_env::named::{Actions, Env, Facts as Said};
use derrl_env::{BoxError, Options, Outcome, Rng, World, choices, list_legal, observe};
use derrl_learn::{
    AGENTS, Actor, Checkpoint, Config, Explainer, Problem, Reason, Search, Setup, Silent, TrainingJob,
    evaluate,
};
use derrl_logic::{Facts, GroundAction, Policy, Source};

/// Coins on a line of squares, which can be taken only where one stands. Illegal actions are an error.
struct Coins {
    squares: usize,
    here: usize,
    lying: Vec<bool>,
}

const DOMAIN: &str = "
    :- action(walk(square)).
    :- action(take(square)).
    :- state(here(square)).
    :- state(coin(square)).
    :- background(next(square, square)).
    :- variables(2).
";

impl Coins {
    fn new(squares: usize) -> Coins {
        Coins { squares, here: 0, lying: vec![false; squares] }
    }

    fn list(&self) -> Vec<(&'static str, usize)> {
        let near = [self.here.checked_sub(1), Some(self.here + 1).filter(|s| *s < self.squares)];
        let walks = near.into_iter().flatten().map(|s| ("walk", s));
        walks.chain(self.lying[self.here].then_some(("take", self.here))).collect()
    }
}

impl Env for Coins {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        self.here = rng.below(self.squares);
        self.lying.fill_with(|| rng.below(2) == 0);
        let sure = rng.below(self.squares);
        self.lying[sure] = true;
        Ok(())
    }

    fn facts(&self, facts: &mut Said) {
        facts.say("here", &[&self.here.to_string()]);
        for s in 0..self.squares {
            if self.lying[s] {
                facts.say("coin", &[&s.to_string()]);
            }
            if s > 0 {
                facts.say("next", &[&(s - 1).to_string(), &s.to_string()]);
                facts.say("next", &[&s.to_string(), &(s - 1).to_string()]);
            }
        }
    }

    fn legal(&self, actions: &mut Actions) -> bool {
        self.list().iter().for_each(|(name, s)| actions.allow(name, &[&s.to_string()]));
        true
    }

    fn step(&mut self, action: &str, args: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        let square: usize = args[0].parse()?;
        if !self.list().iter().any(|&(name, s)| name == action && s == square) {
            return Err(format!("{action}({square}) is not legal").into());
        }
        match action {
            "walk" => self.here = square,
            _ => self.lying[square] = false,
        }
        let done = self.lying.iter().all(|c| !c);
        Ok(if done { Outcome::terminated(1.0) } else { Outcome::running(-0.01) })
    }

    fn horizon(&self) -> usize {
        10 * self.squares
    }
}

fn world() -> World {
    let world = World::new("coins", DOMAIN).expect("it is well-formed");
    world.task("train", || Coins::new(3)).task("large", || Coins::new(12))
}

#[test]
fn it_keeps_the_contract() {
    derrl_env::contract::check(&world()).unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn training_takes_legal_actions_only_and_learns() {
    let world = world();
    let alphabet = world.alphabet();
    let make_env = || world.make(&alphabet, "train", &Options::default());
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("there is something to reason with"));
    let config = Config { updates: 60, restarts: 4, ..Config::default() };
    let search = Search::new(&problem, &config, &make_env, &Silent);
    let learned = search.run(vec![(0, Checkpoint::default())], 2).expect("no illegal action was taken");
    let policy = learned.into_iter().flatten().next().expect("it was not interrupted").policy;
    let mut env = world.env("large").expect("it has the task");
    let score = evaluate(&policy, &alphabet, env.as_mut(), 50, 1).expect("no illegal action is taken");
    // `take` is legal only where there is a coin, so that taking whenever it is legal is half of the solution.
    assert!(score.success_rate.is_some_and(|share| share > 0.5), "{}: {score:?}", policy.display(&alphabet));
}

#[test]
fn baselines_take_legal_actions_only() {
    let world = world();
    let alphabet = world.alphabet();
    let make_env = || world.make(&alphabet, "train", &Options::default());
    let config = Config::default();
    for row in AGENTS.iter().filter(|a| a.name != "derrl" && a.name != "nlrl") {
        let setup = Setup { alphabet: &alphabet, make_env: &make_env, config: &config, learning: None };
        let mut agent = (row.make)(&setup).unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let training =
            TrainingJob { make_env: &make_env, decisions: 2000, seed: 0, threads: 1, watcher: &Silent };
        agent.train(&training).unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let mut env = make_env().expect("it has the task");
        for seed in 0..20 {
            let (mut rng, mut ties) = (Rng::new(seed, 0), Rng::new(seed, 1));
            env.reset(&mut rng);
            for _ in 0..20 {
                let action = agent.act(env.as_ref(), &mut ties);
                if env.step(action.action, &action.args, &mut rng).status != derrl_env::Status::Running {
                    break;
                }
            }
            assert_eq!(env.fault(), None, "{}", row.name);
        }
    }
}

/// The best legal actions by the text of a policy, in the plainest way: the highest value of a rule that derives the action.
fn plain(
    policy: &Policy,
    facts: &Facts,
    env: &dyn derrl_env::Env,
    legal: &[GroundAction],
) -> Vec<GroundAction> {
    let world = world();
    let alphabet = world.alphabet();
    let explainer = Explainer::new(policy, &alphabet);
    let value = |a: &GroundAction| {
        let fired = explainer.fired(a, facts, env.universe());
        fired.map_or(0.0, |m| policy.rules[m.rule - 1].weight)
    };
    let best = legal.iter().map(value).fold(0.0, f64::max);
    legal.iter().filter(|a| value(a) == best).cloned().collect()
}

#[test]
fn decisions_are_those_of_the_text_among_legal_actions() {
    let world = world();
    let alphabet = world.alphabet();
    let mut env = world.env("large").expect("it has the task");
    for text in [
        "0.9::take(X) :- coin(X).\n0.8::walk(X) :- coin(X).",
        "0.9::walk(X) :- coin(X).\n0.9::take(X) :- here(X).",
        "0.9::walk(X) :- here(X).\n0.5::walk(X) :- next(X, Y), here(Y).",
        "0.9::walk(X) :- here(X).",
    ] {
        let policy = Policy::parse(&Source::new("policy.pl", text), &alphabet).expect("it is well-formed");
        let mut actor = Actor::new(&policy, &alphabet);
        let mut facts = Facts::new(&alphabet);
        let (mut rng, mut ties) = (Rng::new(1, 0), Rng::new(1, 1));
        for _ in 0..20 {
            env.reset(&mut rng);
            for _ in 0..20 {
                observe(env.as_ref(), &mut facts);
                let mut legal = Vec::new();
                assert!(list_legal(env.as_ref(), &alphabet, &facts, &mut legal));
                assert_eq!(legal, choices(env.as_ref(), &alphabet));
                let best = plain(&policy, &facts, env.as_ref(), &legal);
                let action = actor.act(env.as_ref(), &mut ties);
                assert!(best.contains(&action), "{text}");
                let explainer = Explainer::new(&policy, &alphabet).among(Some(&legal));
                let (_, explained) = explainer
                    .explain(&facts, env.universe(), &mut ties.clone(), &legal)
                    .expect("there is something to do");
                assert_eq!(explained.ties.len(), best.len(), "{text}");
                assert!(explained.others.iter().all(|o| o.reason != Reason::Illegal));
                let far = env.universe().ground_actions(&alphabet).into_iter().find(|a| !legal.contains(a));
                let why = explainer.why_not(&far.expect("not all is legal"), 0.5, &facts, env.universe());
                assert_eq!(why.reason, Reason::Illegal);
                if env.step(action.action, &action.args, &mut rng).status != derrl_env::Status::Running {
                    break;
                }
            }
        }
    }
}
