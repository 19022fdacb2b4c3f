//! One episode of any learner: acting, what each agent is paid, and returns.

use derrl_env::{Outcome, Rng, Status};

use crate::experience::counted::Counted;

/// A decision of an episode, as returns see it.
pub trait Decision {
    /// The agent that acted.
    fn agent(&self) -> usize;
    /// Its reward, and later G_t.
    fn g(&mut self) -> &mut f64;
}

/// Runs an episode that has begun: `turn` decides and acts, until the episode ends or `turn` gives up.
/// Appends the decisions with their G_t, and returns the undiscounted return.
#[inline]
pub fn play<D: Decision>(
    env: &mut Counted<'_>,
    rng: &mut Rng,
    gamma: f64,
    steps: &mut Vec<D>,
    mut turn: impl FnMut(&mut Counted<'_>, &mut Rng) -> Option<(D, Outcome)>,
) -> f64 {
    let from = steps.len();
    let agents = env.world().agents();
    let mut earned = 0.0;
    // A world that fails later ends the episode.
    while steps.len() > from || env.world().fault().is_none() {
        let Some((mut step, outcome)) = turn(env, rng) else { break };
        earned += outcome.reward;
        *step.g() = outcome.reward;
        steps.push(step);
        if agents > 1 {
            pay(&mut steps[from..], env.world().round_rewards());
        }
        if outcome.status != Status::Running {
            break;
        }
    }
    discount(&mut steps[from..], gamma, agents);
    earned
}

/// Gives each agent what it earned in the round that the last step, and those of the others, completed.
fn pay<D: Decision>(steps: &mut [D], rewards: &[f64]) {
    let round = steps.len().saturating_sub(rewards.len());
    for step in &mut steps[round..] {
        *step.g() = rewards.get(step.agent()).copied().unwrap_or(0.0);
    }
}

/// G_t = r_t + gamma G_{t+1}, for each agent by itself.
fn discount<D: Decision>(steps: &mut [D], gamma: f64, agents: usize) {
    if agents == 1 {
        let mut next = 0.0;
        for step in steps.iter_mut().rev() {
            next = *step.g() + gamma * next;
            *step.g() = next;
        }
        return;
    }
    let mut next = vec![0.0; agents];
    for step in steps.iter_mut().rev() {
        let agent = step.agent();
        next[agent] = *step.g() + gamma * next[agent];
        *step.g() = next[agent];
    }
}
