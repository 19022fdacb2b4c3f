//! How many environment steps each restart takes, and with which settings it is trained.
//!
//! A run starts small: pairs of short restarts, whose updates double in size from pair to pair, come before the whole ones.
//! Many worlds are solved by the first, at a thirtieth of the steps. Restarts also differ in discount, temperature and
//! the length of bodies they start with, since no one setting suits every world: far-sighted ones cross a plain beside a
//! cliff, near-sighted ones learn long errands sooner.
//!
//! All of this depends on the number of the restart alone, so that no restart depends on how fast another one runs, and a
//! resumed run does what an uninterrupted one does.

use crate::settings::config::Config;

/// The steps that a run may take, selection included, and how its restarts share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps of the whole run.
    pub total: u64,
    /// The most restarts, the short ones included.
    pub restarts: usize,
    /// Steps of the last restart, where it is cut short.
    last: Option<u64>,
    /// Whether whole restarts have limits too.
    limited: bool,
}

/// How one restart is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its settings.
    pub config: Config,
    /// Its steps, selection included, at the most.
    pub steps: u64,
    /// Of these, steps of training.
    pub training: u64,
}

/// Short restarts of one size.
pub const PAIR: usize = 2;
/// The first short restarts have updates of this share of a whole one's, and the next ones twice as large.
const SHORTEST: usize = 32;
/// Small updates are noisy: they take smaller steps, and compare fewer episodes from one instance.
const SHORT_RATE: f64 = 2.0 / 3.0;
const SHORT_GROUP: usize = 4;
/// Steps of training for each step of selection that a whole restart may take, and a short one.
const TRAINING_TO_SELECTION: u64 = 8;
const SHORT_TRAINING_TO_SELECTION: u64 = 4;
/// The share of a budget that is kept for what follows the restarts, and that of one too small to grow rules.
const GROWTH_SHARE: u64 = 4;
const SMALL_GROWTH_SHARE: u64 = 16;
/// A budget is small below so many steps.
const SMALL: u64 = 80_000;
/// The share of a budget that a scout may take, and that of a small one.
const SCOUT_SHARE: u64 = 3;
const SMALL_SCOUT_SHARE: u64 = 2;

/// How many restarts come before the whole ones.
pub fn short_restarts(config: &Config) -> usize {
    PAIR * config.short_waves
}

/// The settings of restart number `restart`.
fn settings(config: &Config, restart: usize) -> Config {
    let mut settings = config.clone();
    let short = short_restarts(config);
    if restart < short {
        settings.batch = (config.batch / (SHORTEST >> (restart / PAIR))).max(1);
        settings.learning_rate = config.learning_rate * SHORT_RATE;
        settings.group = (config.group / SHORT_GROUP).max(1);
    }
    if config.vary {
        vary(&mut settings, restart, short);
    }
    settings
}

/// The first of each pair and the first whole wave keep the settings given. Once a search has failed, most restarts differ.
fn vary(config: &mut Config, restart: usize, short: usize) {
    // The horizon that a discount stands for, five times as far.
    let far = 1.0 - (1.0 - config.gamma) / 5.0;
    let hot = (2.0 * config.temperature).min(1000.0);
    let Some(whole) = restart.checked_sub(short) else {
        if restart % PAIR == 1 {
            config.gamma = far;
        }
        return;
    };
    if whole < config.wave {
        return;
    }
    match whole % 4 {
        1 => (config.gamma, config.temperature) = (far, hot),
        2 => (config.gamma, config.body_prior) = (far, config.body_prior + 1.0),
        3 => config.gamma = far,
        _ => {}
    }
}

/// Steps of a restart with these settings: of training, and in all.
fn cost(config: &Config, restart: usize) -> (u64, u64) {
    let settings = settings(config, restart);
    let training = (settings.batch as u64).saturating_mul(settings.updates as u64);
    let to_selection =
        if restart < short_restarts(config) { SHORT_TRAINING_TO_SELECTION } else { TRAINING_TO_SELECTION };
    (training, training.saturating_add(training / to_selection).max(1))
}

impl Budget {
    /// No limit but the number of restarts, and the size of short ones.
    pub fn unlimited(config: &Config) -> Budget {
        let restarts = short_restarts(config) + config.restarts;
        Budget { total: u64::MAX, restarts, last: None, limited: false }
    }

    /// As many restarts as fit into a total, the last one cut to what is left of it if that is at least half of it. Where
    /// rules may be grown in the end, a quarter of the total is kept for that, and what the restarts leave is added.
    pub fn within(config: &Config, total: u64, may_grow: bool) -> Budget {
        let most = short_restarts(config) + config.restarts;
        let mut budget = Budget { total, restarts: 0, last: None, limited: true };
        let growth = total / if total < SMALL { SMALL_GROWTH_SHARE } else { GROWTH_SHARE };
        let mut left = if may_grow { total - growth - budget.scout(config) } else { total };
        while budget.restarts < most {
            let (_, whole) = cost(config, budget.restarts);
            if whole > left {
                if left >= whole.div_ceil(2) || budget.restarts == 0 {
                    budget.restarts += 1;
                    budget.last = Some(left);
                }
                break;
            }
            left -= whole;
            budget.restarts += 1;
        }
        budget
    }

    /// The steps that a scout may take, about: no more than the first pair of restarts.
    pub fn scout(&self, config: &Config) -> u64 {
        let pair = PAIR as u64 * cost(config, 0).1;
        let share = if self.total < SMALL { SMALL_SCOUT_SHARE } else { SCOUT_SHARE };
        if self.limited { pair.min(self.total / share) } else { pair }
    }

    /// The steps that a second scout may take, about: no more than the first whole restart. None where steps are limited.
    pub fn second_scout(&self, config: &Config) -> Option<u64> {
        (!self.limited).then(|| cost(config, short_restarts(config)).1)
    }

    /// How a whole restart is trained that tries a wider language: with the settings given, so that it differs in nothing else.
    pub fn trial(&self, config: &Config) -> Plan {
        self.plan(config, short_restarts(config) as u64)
    }

    /// How restart number `restart` is trained.
    pub fn plan(&self, config: &Config, restart: u64) -> Plan {
        let restart = usize::try_from(restart).unwrap_or(usize::MAX);
        let (training, steps) = cost(config, restart);
        let settings = settings(config, restart);
        let is_last = restart + 1 == self.restarts;
        match self.last.filter(|_| is_last) {
            Some(last) => {
                let training = last - last / (TRAINING_TO_SELECTION + 1);
                Plan { config: settings, steps: last, training }
            }
            None if self.limited || restart < short_restarts(config) => {
                Plan { config: settings, steps, training }
            }
            None => Plan { config: settings, steps: u64::MAX, training: u64::MAX },
        }
    }

    /// The number of restarts begun when the next look is taken, with `done` of them done. So many trials of wider languages make
    /// a wave after the first.
    pub fn next_look(&self, config: &Config, done: usize, wave: usize, trials: usize) -> usize {
        let short = short_restarts(config);
        let end = match done.checked_sub(short) {
            // A scout may agree with the very first.
            None if done == 0 => 1,
            None => (done / PAIR + 1) * PAIR,
            Some(whole) if whole < wave => short + wave,
            Some(whole) => {
                let later = whole - wave;
                let more = later.checked_sub(trials).map_or(0, |after| (after / wave + 1) * wave);
                short + wave + trials + more
            }
        };
        end.min(self.restarts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_no_more_than_the_total() {
        for config in [Config::default(), Config { short_waves: 0, ..Config::default() }] {
            for total in [1, 10, 5000, 20_000, 153_600, 1_228_800, 100_000_000, u64::MAX] {
                for may_grow in [false, true] {
                    let budget = Budget::within(&config, total, may_grow);
                    let plans: Vec<Plan> =
                        (0..budget.restarts as u64).map(|r| budget.plan(&config, r)).collect();
                    assert!(!plans.is_empty() && plans.iter().all(|p| p.training <= p.steps));
                    let sum: u128 = plans.iter().map(|p| u128::from(p.steps)).sum();
                    assert!(
                        sum + u128::from(budget.scout(&config)) * u128::from(may_grow) <= u128::from(total)
                    );
                }
            }
        }
        let config = Config::default();
        let ample = Budget::within(&config, 1 << 40, true);
        assert_eq!(ample.restarts, short_restarts(&config) + config.restarts);
        assert_eq!(
            ample.plan(&config, short_restarts(&config) as u64).training,
            153_600,
            "restarts are whole"
        );
    }

    #[test]
    fn short_restarts_double_and_whole_ones_keep_their_size() {
        let config = Config::default();
        let budget = Budget::unlimited(&config);
        let batches: Vec<usize> = (0..10).map(|r| budget.plan(&config, r).config.batch).collect();
        assert_eq!(batches, [32, 32, 64, 64, 128, 128, 256, 256, 1024, 1024]);
        let looks: Vec<usize> = (0..10).map(|done| budget.next_look(&config, done, 8, 0)).collect();
        assert_eq!(looks, [1, 2, 4, 4, 6, 6, 8, 8, 16, 16]);
        let looks: Vec<usize> =
            [8, 15, 16, 27, 28, 39].map(|done| budget.next_look(&config, done, 8, 12)).to_vec();
        assert_eq!(looks, [16, 16, 28, 28, 36, 40]);
    }

    #[test]
    fn pairs_and_late_waves_hold_far_sighted_restarts_and_settings_stay_in_range() {
        for gamma in [0.0, 0.95, 1.0] {
            let config = Config { gamma, temperature: 1000.0, ..Config::default() };
            let budget = Budget::unlimited(&config);
            let plans: Vec<Config> =
                (0..budget.restarts as u64).map(|r| budget.plan(&config, r).config).collect();
            assert!(plans.iter().all(|c| c.check().is_ok()));
            for wave in [&plans[..2], &plans[2..4], &plans[16..24]] {
                assert!(wave.iter().any(|c| c.gamma == gamma));
                assert!(wave.iter().any(|c| c.gamma > gamma || gamma == 1.0));
            }
        }
        let plain = Config { vary: false, short_waves: 0, ..Config::default() };
        assert!((0..32).all(|r| Budget::unlimited(&plain).plan(&plain, r).config == plain));
    }
}
