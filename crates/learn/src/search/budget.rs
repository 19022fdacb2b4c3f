//! How a budget of environment steps is shared out between training and selection.

use crate::settings::config::Config;

/// The steps that a run may take, selection included, and how its restarts share them.
///
/// Shares are fixed before the run starts, so that no restart depends on how fast another one runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps of the whole run.
    pub total: u64,
    /// The most restarts.
    pub restarts: usize,
    /// Steps of one restart, selection included.
    pub restart: u64,
    /// Of these, steps of training.
    pub training: u64,
}

/// Steps of training for each step of selection that a restart may take.
const TRAINING_TO_SELECTION: u64 = 8;
/// The share of a budget that is kept for what follows the restarts.
const GROWTH_SHARE: u64 = 4;

impl Budget {
    /// No limit but the number of restarts.
    pub fn unlimited(config: &Config) -> Budget {
        Budget { total: u64::MAX, restarts: config.restarts, restart: u64::MAX, training: u64::MAX }
    }

    /// As many restarts as fit into a total, cut short by a third at the most, or one that is. Where rules may be grown in the end, a
    /// quarter of the total is kept for that, and what the restarts leave is added.
    pub fn within(config: &Config, total: u64, may_grow: bool) -> Budget {
        let all = total - if may_grow { total / GROWTH_SHARE } else { 0 };
        let training = (config.batch as u64).saturating_mul(config.updates as u64);
        let whole = training.saturating_add(training / TRAINING_TO_SELECTION).max(1);
        let rounded = (all / whole).saturating_add(u64::from(all % whole >= whole / 2));
        let restarts = rounded.clamp(1, config.restarts as u64);
        let restart = whole.min(all / restarts);
        let training = restart - restart / (TRAINING_TO_SELECTION + 1);
        Budget { total, restarts: restarts as usize, restart, training }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_no_more_than_the_total() {
        let config = Config::default();
        for total in [1, 10, 5000, 153_600, 1_228_800, 100_000_000, u64::MAX] {
            for may_grow in [false, true] {
                let budget = Budget::within(&config, total, may_grow);
                assert!(budget.training <= budget.restart && budget.restarts >= 1);
                assert!(u128::from(budget.restart) * budget.restarts as u128 <= u128::from(total));
            }
        }
        let ample = Budget::within(&config, 1 << 40, true);
        assert_eq!((ample.restarts, ample.training), (config.restarts, 153_600), "restarts are whole");
    }
}
