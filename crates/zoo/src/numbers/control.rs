//! Worlds whose state is a few numbers, and the same in names.

use derrl_env::{BoxError, Outcome, Rng, Status, named};

/// A world of a few numbers.
pub(super) trait Control: Clone + Send + 'static {
    /// The numbers that it goes by.
    type State: AsMut<[f64]> + Clone + Default + Send;
    /// The values of the measures.
    type Seen: IntoIterator<Item = f64>;
    /// What is reported.
    const MEASURES: &'static [&'static str];
    /// What can be done. An action is its place here.
    const ACTIONS: &'static [&'static str];
    /// Steps after which an episode is cut off.
    const HORIZON: usize;
    /// Whether episodes that end by themselves have reached a goal, or never do.
    const HAS_GOAL: bool;

    /// Draws the start of an episode.
    fn start(rng: &mut Rng) -> Self::State;
    /// The value of each measure.
    fn seen(state: &Self::State) -> Self::Seen;
    /// Acts. The reward, and whether the goal is reached.
    fn act(state: &mut Self::State, action: usize) -> (f64, bool);
}

/// Such a world in names.
#[derive(Clone)]
pub(super) struct Controlled<C: Control> {
    state: C::State,
    won: bool,
}

impl<C: Control> Controlled<C> {
    pub(super) fn new() -> Controlled<C> {
        Controlled { state: C::State::default(), won: false }
    }
}

impl<C: Control> named::Env for Controlled<C> {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        *self = Controlled { state: C::start(rng), won: false };
        Ok(())
    }

    fn facts(&self, facts: &mut named::Facts) {
        for (measure, value) in C::MEASURES.iter().zip(C::seen(&self.state)) {
            facts.number(measure, &[], value);
        }
    }

    fn step(&mut self, action: &str, _: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        let action = C::ACTIONS.iter().position(|a| *a == action).ok_or("no such action")?;
        let (reward, won) = C::act(&mut self.state, action);
        self.won = won;
        Ok(Outcome { reward, status: if won { Status::Terminated } else { Status::Running } })
    }

    fn succeeded(&self) -> Option<bool> {
        C::HAS_GOAL.then_some(self.won)
    }

    fn has_goal(&self) -> bool {
        C::HAS_GOAL
    }

    fn horizon(&self) -> usize {
        C::HORIZON
    }

    fn copy(&self) -> Option<Box<dyn named::Env>> {
        Some(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{acrobot::Acrobot, mountaincar::MountainCar, pendulum::Pendulum};
    use super::*;

    /// Holds a world against what Gymnasium played in it. Each line begins where the one before ended for Gymnasium, since
    /// sine and cosine differ in the last bit from platform to platform.
    fn is_gymnasium<C: Control>(name: &str) {
        let (mut state, mut goes_on, mut lines) = (C::State::default(), false, 0);
        for line in include_str!("traces.txt").lines().filter(|line| !line.starts_with('%')) {
            let (first, rest) = line.split_once(' ').expect("a name or actions, then numbers");
            let numbers: Vec<f64> = rest.split(' ').map(|x| x.parse().expect("a number")).collect();
            if !first.starts_with(|c: char| c.is_ascii_digit()) {
                goes_on = first == name;
                if goes_on {
                    state.as_mut().copy_from_slice(&numbers);
                }
            } else if goes_on {
                let (mut total, mut won) = (0.0, false);
                for action in first.bytes() {
                    assert!(!won, "{name}: an end before Gymnasium's");
                    let reward;
                    (reward, won) = C::act(&mut state, usize::from(action - b'0'));
                    total += reward;
                }
                assert!((total - numbers[0]).abs() < 1e-12, "{name}: {total} for {}", numbers[0]);
                assert_eq!(won, numbers[1] == 1.0, "{name}: {line}");
                for (ours, theirs) in state.as_mut().iter().zip(&numbers[2..]) {
                    assert!((ours - theirs).abs() < 1e-12, "{name}: {ours} for {theirs}");
                }
                state.as_mut().copy_from_slice(&numbers[2..]);
                lines += 1;
            }
        }
        assert!(lines >= 15, "{name}: {lines} lines");
    }

    #[test]
    fn the_dynamics_are_those_of_gymnasium() {
        is_gymnasium::<MountainCar>("mountaincar");
        is_gymnasium::<Acrobot>("acrobot");
        is_gymnasium::<Pendulum>("pendulum");
    }

    /// The least and the most of each number at the start of an episode.
    fn starts<C: Control>() -> Vec<(f64, f64)> {
        let mut rng = Rng::new(0, 0);
        let mut all: Vec<(f64, f64)> = Vec::new();
        for _ in 0..4000 {
            let mut start = C::start(&mut rng);
            all.resize(start.as_mut().len(), (f64::INFINITY, f64::NEG_INFINITY));
            for (range, x) in all.iter_mut().zip(start.as_mut()) {
                *range = (range.0.min(*x), range.1.max(*x));
            }
        }
        all
    }

    #[test]
    fn episodes_start_where_those_of_gymnasium_do() {
        let within = |ranges: Vec<(f64, f64)>, bounds: &[(f64, f64)]| {
            assert_eq!(ranges.len(), bounds.len());
            for (found, bound) in ranges.iter().zip(bounds) {
                let slack = 0.01 * (bound.1 - bound.0);
                assert!(bound.0 <= found.0 && found.0 <= bound.0 + slack, "{found:?} for {bound:?}");
                assert!(bound.1 - slack <= found.1 && found.1 <= bound.1, "{found:?} for {bound:?}");
            }
        };
        let pi = std::f64::consts::PI;
        within(starts::<MountainCar>(), &[(-0.6, -0.4), (0.0, 0.0)]);
        // Gymnasium draws these as single-precision numbers: the bounds are those next to 0.1.
        within(starts::<Acrobot>(), &[(-f64::from(0.1_f32), f64::from(0.1_f32)); 4]);
        within(starts::<Pendulum>(), &[(-pi, pi), (-1.0, 1.0)]);
    }
}
