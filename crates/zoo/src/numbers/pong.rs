//! Pong: keep a ball in play with a paddle at the bottom of a square.

use derrl_env::{BoxError, Outcome, Rng, Task, named};

use super::{uniform, world};
use crate::Animal;

const DOMAIN: &str = ":- action(left).
:- action(stay).
:- action(right).
:- number(ball_x, metre).                 % the square is one metre wide and high
:- number(ball_y, metre).                 % 0 at the bottom
:- number(ball_speed_x, metre_per_step).
:- number(ball_speed_y, metre_per_step).  % below 0: towards the paddle
:- number(paddle, metre).                 % its middle; it reaches 0.1 to both sides
";

const BY_HAND: &str = "0.90::right :- ball_x > paddle.
0.80::left :- ball_x =< paddle.
";

/// Half of the paddle, in metres.
const HALF: f64 = 0.1;
/// Metres per step, of the paddle and at the most of the ball to the side.
const STRIDE: f64 = 0.03;
const FASTEST: f64 = 0.035;
/// How much a ball that meets the paddle off its middle is turned aside, and by how much more at random.
const SPIN: f64 = 0.2;
const CHANCE: f64 = 0.01;

#[derive(Clone, Default)]
struct Pong {
    ball: [f64; 2],
    speed: [f64; 2],
    paddle: f64,
}

pub fn animal() -> Animal {
    let world = world("pong", DOMAIN, "keep a ball in play with a paddle at the bottom of a square")
        .task(Task::new("train", "a ball in the upper half, 500 steps"), Pong::default);
    Animal { world, by_hand: BY_HAND, tuned: false }
}

impl named::Env for Pong {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        *self = Pong {
            ball: [rng.unit(), uniform(0.5, 1.0, rng)],
            speed: [uniform(-FASTEST, FASTEST, rng), -uniform(0.02, 0.03, rng)],
            paddle: 0.5,
        };
        Ok(())
    }

    fn facts(&self, facts: &mut named::Facts) {
        facts.number("ball_x", &[], self.ball[0]);
        facts.number("ball_y", &[], self.ball[1]);
        facts.number("ball_speed_x", &[], self.speed[0]);
        facts.number("ball_speed_y", &[], self.speed[1]);
        facts.number("paddle", &[], self.paddle);
    }

    fn step(&mut self, action: &str, _: &[&str], rng: &mut Rng) -> Result<Outcome, BoxError> {
        let by = match action {
            "left" => -STRIDE,
            "right" => STRIDE,
            _ => 0.0,
        };
        self.paddle = (self.paddle + by).clamp(HALF, 1.0 - HALF);
        let ([x, y], [to_side, up]) = (&mut self.ball, &mut self.speed);
        *x += *to_side;
        *y += *up;
        if !(0.0..=1.0).contains(x) {
            *x = if *x < 0.0 { -*x } else { 2.0 - *x };
            *to_side = -*to_side;
        }
        if *y > 1.0 {
            *y = 2.0 - *y;
            *up = -*up;
        }
        if *y >= 0.0 {
            return Ok(Outcome::running(0.0));
        }
        let off = *x - self.paddle;
        if off.abs() > HALF {
            return Ok(Outcome::terminated(-1.0));
        }
        *y = -*y;
        *up = -*up;
        *to_side = (*to_side + SPIN * off + uniform(-CHANCE, CHANCE, rng)).clamp(-FASTEST, FASTEST);
        Ok(Outcome::running(1.0))
    }

    fn has_goal(&self) -> bool {
        false
    }

    fn horizon(&self) -> usize {
        500
    }

    fn copy(&self) -> Option<Box<dyn named::Env>> {
        Some(Box::new(self.clone()))
    }
}
