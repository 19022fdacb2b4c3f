//! CartPole: keep a pole upright on a cart by pushing the cart.
//!
//! The dynamics are those of Gymnasium's `CartPole-v1` (Barto, Sutton and Anderson, 1983), in the same order of operations.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};

use crate::binding::{Binding, Vocabulary};
use crate::env::{Env, Outcome};
use crate::error::Error;
use crate::rng::Rng;
use crate::scene::{Cart, Scene};
use crate::space::Exhaustive;
use crate::world::{Options, Task, World};

/// The row of the table of worlds.
pub fn world() -> World {
    let tasks = [Task::new("train", "a pole that is nearly upright, 500 steps")];
    World::built_in(NAME, include_str!("../domains/cartpole.pl"))
        .about("keep a pole upright on a cart by pushing the cart")
        .words(include_str!("../domains/cartpole.words"))
        .engine_tasks(tasks, CartPole::new)
        .vocabulary(VOCABULARY)
        .with_space(Exhaustive::Never(
            "its states are numbers, and there is no end of them; `derrl eval` plays as many episodes as you like".into(),
        ))
}

const NAME: &str = "cartpole";

const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[],
    measures: &[("position", 0), ("speed", 0), ("angle", 0), ("spin", 0)],
    actions: &[("left", 0), ("right", 0)],
};

/// Metres per second squared.
const GRAVITY: f64 = 9.8;
/// Kilograms.
const CART: f64 = 1.0;
const POLE: f64 = 0.1;
const BOTH: f64 = POLE + CART;
/// Half of the pole, in metres.
const LENGTH: f64 = 0.5;
const POLE_LENGTH: f64 = POLE * LENGTH;
/// Newtons.
const FORCE: f64 = 10.0;
/// Seconds per step.
const TAU: f64 = 0.02;
/// An episode is lost beyond these, in metres and radians.
const WIDEST: f64 = 2.4;
const STEEPEST: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;
/// An episode is won after so many steps.
const STEPS: u32 = 500;
/// Each number starts within this of 0.
const START: f64 = 0.05;

#[derive(Clone, Debug)]
struct CartPole {
    binding: Binding,
    universe: Arc<Universe>,
    start: [f64; 4],
    /// Position, speed, angle and spin.
    state: [f64; 4],
    steps: u32,
}

impl CartPole {
    fn new(alphabet: &Arc<Alphabet>, _task: &str, _options: &Options) -> Result<CartPole, Error> {
        Ok(CartPole {
            binding: Binding::new(NAME, &VOCABULARY, alphabet)?,
            universe: Arc::new(Universe::new(Vec::new())),
            start: [0.0; 4],
            state: [0.0; 4],
            steps: 0,
        })
    }

    fn is_lost(&self) -> bool {
        let [x, _, theta, _] = self.state;
        !(-WIDEST..=WIDEST).contains(&x) || !(-STEEPEST..=STEEPEST).contains(&theta)
    }
}

/// The state one step later.
fn pushed([x, x_dot, theta, theta_dot]: [f64; 4], force: f64) -> [f64; 4] {
    let (sin, cos) = (theta.sin(), theta.cos());
    let temp = (force + POLE_LENGTH * (theta_dot * theta_dot) * sin) / BOTH;
    let theta_acc = (GRAVITY * sin - cos * temp) / (LENGTH * (4.0 / 3.0 - POLE * (cos * cos) / BOTH));
    let x_acc = temp - POLE_LENGTH * theta_acc * cos / BOTH;
    [x + TAU * x_dot, x_dot + TAU * x_acc, theta + TAU * theta_dot, theta_dot + TAU * theta_acc]
}

impl Env for CartPole {
    fn reset(&mut self, rng: &mut Rng) {
        self.start = std::array::from_fn(|_| START * (2.0 * rng.unit() - 1.0));
        self.restart();
    }

    fn restart(&mut self) {
        self.state = self.start;
        self.steps = 0;
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        for (measure, &value) in self.state.iter().enumerate() {
            self.binding.report(facts, measure, &[], value);
        }
    }

    fn step(&mut self, action: Action, _args: &[Object], _rng: &mut Rng) -> Outcome {
        let force = if self.binding.action(action) == 1 { FORCE } else { -FORCE };
        self.state = pushed(self.state, force);
        self.steps += 1;
        if self.is_lost() || self.steps >= STEPS { Outcome::terminated(1.0) } else { Outcome::running(1.0) }
    }

    fn succeeded(&self) -> bool {
        self.steps >= STEPS && !self.is_lost()
    }

    fn scene(&self) -> Scene {
        let [at, _, angle, _] = self.state;
        Scene::Cart(Cart { at, track: WIDEST, angle })
    }

    fn best_return(&self) -> Option<f64> {
        Some(f64::from(STEPS))
    }

    fn copy(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts, actions (0 is left) and last states of Gymnasium 1.4.0.
    type Trace = ([f64; 4], &'static str, [f64; 4], bool);

    const TRACES: [Trace; 2] = [
        (
            [0.013696168732145436, -0.02302132862361297, -0.045902647606380534, -0.04834723644714709],
            "0101010100101100110010110011001100101101001100110011001100110011001100110011010011001100110100110011\
             0011010011010011001101001100110100110100110011010011010011010011010011010011001101010011001101010011",
            [-0.751403217028789, -0.014488926877780167, 0.00503368296502346, -0.23652143152125882],
            false,
        ),
        (
            [0.0011821624700256717, 0.045046369632593536, -0.03558403872803663, 0.04486494471372439],
            "01110011001001001100111110010",
            [0.07347967849415361, 0.27426268224040595, -0.22721045265681797, -1.0239938999344695],
            true,
        ),
    ];

    fn cartpole() -> (CartPole, [Action; 2]) {
        let alphabet = world().alphabet();
        let action = |name| alphabet.find_action(name, 0).expect("it is declared");
        let actions = [action("left"), action("right")];
        (CartPole::new(&alphabet, "train", &Options::default()).expect("it can be made"), actions)
    }

    #[test]
    fn the_dynamics_are_those_of_gymnasium() {
        let (mut env, actions) = cartpole();
        let mut rng = Rng::new(0, 0);
        for (start, pushes, end, lost) in TRACES {
            env.start = start;
            env.restart();
            for (at, push) in pushes.bytes().enumerate() {
                let outcome = env.step(actions[usize::from(push == b'1')], &[], &mut rng);
                assert_eq!(outcome.reward, 1.0);
                let last = at + 1 == pushes.len();
                assert_eq!(outcome.status != crate::Status::Running, lost && last);
            }
            // Sine and cosine differ in the last bit from platform to platform.
            for (ours, theirs) in env.state.iter().zip(end) {
                assert!((ours - theirs).abs() < 1e-9, "{:?}", env.state);
            }
        }
    }

    #[test]
    fn poles_start_nearly_upright_and_episodes_end_after_500_steps() {
        let (mut env, actions) = cartpole();
        let mut rng = Rng::new(1, 0);
        let mut longest = 0;
        for _ in 0..200 {
            env.reset(&mut rng);
            assert!(env.state.iter().all(|x| x.abs() <= START));
            loop {
                let [_, _, angle, spin] = env.state;
                let right = angle + 0.3 * spin > 0.0;
                if env.step(actions[usize::from(right)], &[], &mut rng).status != crate::Status::Running {
                    break;
                }
            }
            assert_eq!(env.succeeded(), env.steps == 500 && !env.is_lost());
            longest = longest.max(env.steps);
        }
        assert_eq!(longest, 500);
        let mean = (0..4000)
            .map(|_| {
                env.reset(&mut rng);
                env.start[2]
            })
            .sum::<f64>()
            / 4000.0;
        assert!(mean.abs() < 0.002, "{mean}");
    }
}
