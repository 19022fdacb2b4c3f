//! All stacks of the Countdown Game, with all goals and all numbers to start from.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};

use super::{Exhaustive, Extent, Family, Next, Size, Space};
use crate::binding::Binding;
use crate::countdown::{
    ACC, CURR, GOAL, HIGH, LAST, LESS, LOW, NAME, NEXT, VOCABULARY, clamp, object, universe,
};
use crate::error::Error;
use crate::scene::{Numbers, Scene};

/// The row's entry.
pub(crate) fn countdown() -> Exhaustive {
    Exhaustive::sizes("numbers on the stack", (1, 30), |alphabet, extent| {
        Ok(Box::new(Countdown::new(alphabet, extent)?))
    })
}

/// How many numbers acc and the goal may be.
const NUMBERS: u64 = (HIGH - LOW + 1) as u64;
/// The numbers on a stack: 1 to this.
const VALUES: u64 = 3;

struct Countdown {
    binding: Binding,
    universe: Arc<Universe>,
    sizes: Vec<Size>,
}

impl Countdown {
    fn new(alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Countdown, Error> {
        let sizes = (1..=extent.largest)
            .map(|length| {
                let families = VALUES.pow(length as u32).saturating_mul(NUMBERS);
                let widest = length as f64 * NUMBERS as f64;
                let title = if length == 1 { "1 number".to_string() } else { format!("{length} numbers") };
                Size { size: length, title, families, states: families as f64 * widest, widest }
            })
            .collect();
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        Ok(Countdown { binding, universe: Arc::new(universe(alphabet)), sizes })
    }
}

impl Space for Countdown {
    fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    fn family(&self, size: usize, i: u64) -> Box<dyn Family> {
        let goal = LOW + (i % NUMBERS) as i8;
        let mut rest = i / NUMBERS;
        let mut stack = vec![0; self.sizes[size].size];
        for value in stack.iter_mut().rev() {
            *value = 1 + (rest % VALUES) as i8;
            rest /= VALUES;
        }
        // solvable[taken][acc]: whether some choice for the numbers left leads to the goal.
        let all = (LOW..=HIGH).map(|acc| acc == goal).collect::<Vec<bool>>();
        let mut solvable = vec![all; stack.len() + 1];
        for taken in (0..stack.len()).rev() {
            for acc in LOW..=HIGH {
                let ways = [acc, clamp(acc + stack[taken]), clamp(acc - stack[taken])];
                let some = ways.iter().any(|&a| solvable[taken + 1][(a - LOW) as usize]);
                solvable[taken][(acc - LOW) as usize] = some;
            }
        }
        Box::new(Game {
            binding: self.binding.clone(),
            universe: Arc::clone(&self.universe),
            stack,
            goal,
            solvable,
        })
    }
}

/// One stack and one goal. A state is how many numbers were taken, and acc.
struct Game {
    binding: Binding,
    universe: Arc<Universe>,
    /// The stack, top first.
    stack: Vec<i8>,
    goal: i8,
    solvable: Vec<Vec<bool>>,
}

fn encode(taken: usize, acc: i8) -> u128 {
    ((taken as u128) << 4) | (acc - LOW) as u128
}

fn decode(state: u128) -> (usize, i8) {
    ((state >> 4) as usize, (state & 15) as i8 + LOW)
}

impl Family for Game {
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn title(&self) -> String {
        let stack: Vec<String> = self.stack.iter().map(ToString::to_string).collect();
        format!("stack {} (top first), goal({})", stack.join(", "), self.goal)
    }

    fn label(&self, state: u128) -> Option<String> {
        let (taken, acc) = decode(state);
        Some(format!("{taken} {acc}"))
    }

    /// The goal is acc plus or minus the sum of the first numbers of the stack, at least one of them.
    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        for acc in LOW..=HIGH {
            let mut sum = 0i32;
            let asked = self.stack.iter().any(|&n| {
                sum += i32::from(n);
                (i32::from(self.goal) - i32::from(acc)).abs() == sum
            });
            if asked {
                visit(encode(0, acc), 1);
            }
        }
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        let (taken, acc) = decode(state);
        let rest = &self.stack[taken..];
        if let (Some(&top), Some(&bottom)) = (rest.first(), rest.last()) {
            self.binding.say(facts, CURR, &[object(top)]);
            self.binding.say(facts, LAST, &[object(bottom)]);
        }
        if let [top, below, ..] = *rest {
            self.binding.say(facts, NEXT, &[object(top), object(below)]);
        }
        self.binding.say(facts, ACC, &[object(acc)]);
        self.binding.say(facts, GOAL, &[object(self.goal)]);
        for x in LOW..=HIGH {
            for y in x + 1..=HIGH {
                self.binding.say(facts, LESS, &[object(x), object(y)]);
            }
        }
    }

    fn step(&self, state: u128, action: Action, _args: &[Object]) -> Next {
        let (taken, acc) = decode(state);
        let top = self.stack[taken];
        let acc = match self.binding.action(action) {
            0 => clamp(acc + top),
            1 => clamp(acc - top),
            _ => acc,
        };
        match taken + 1 == self.stack.len() {
            true if acc == self.goal => Next::Reached,
            true => Next::Lost,
            false => Next::State(encode(taken + 1, acc)),
        }
    }

    fn shortest(&self, state: u128) -> Option<u32> {
        let (taken, acc) = decode(state);
        self.solvable[taken][(acc - LOW) as usize].then_some((self.stack.len() - taken) as u32)
    }

    fn scene(&self, state: u128) -> Scene {
        let (taken, acc) = decode(state);
        Scene::Numbers(Numbers {
            numbers: self.stack.iter().map(|&n| i64::from(n)).collect(),
            taken,
            acc: i64::from(acc),
            goal: i64::from(self.goal),
            range: (i64::from(LOW), i64::from(HIGH)),
        })
    }
}
