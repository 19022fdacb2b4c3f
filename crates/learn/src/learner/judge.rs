//! Which of two lists is better. Returns are compared here and nowhere else.

use std::cmp::Ordering;

use super::limits::{BEHIND, SHORTENING, SHORTER};
use super::play::Play;
use super::record::Elite;
use crate::act::score::mean_stderr;

/// What a challenger has shown so far against the list to beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// It is behind.
    Behind,
    /// They earned the same on every instance.
    Level,
    /// It may be ahead: in the end, it is.
    Open,
}

/// How a challenger does against the list to beat, by how both went in the same instances. Success counts before what is earned. Where
/// there is but one instance, `noise` is what differences usually spread.
pub fn lead(plays: &[(Play, Play)], noise: f64, at_the_end: bool) -> Lead {
    let gaps: Vec<f64> = plays.iter().map(|(own, other)| own.earned - other.earned).collect();
    let won = plays.iter().filter(|(own, other)| own.success && !other.success).count() as f64;
    let lost = plays.iter().filter(|(own, other)| !own.success && other.success).count() as f64;
    if won == lost && gaps.iter().all(|gap| *gap == 0.0) {
        return Lead::Level;
    }
    let by_chance = if at_the_end { 0.0 } else { (won + lost).sqrt() };
    if (won - lost).abs() > by_chance {
        return if won > lost { Lead::Open } else { Lead::Behind };
    }
    let (mean, stderr) = mean_stderr(&gaps);
    let allowed = if at_the_end {
        0.0
    } else if gaps.len() > 1 {
        BEHIND * stderr
    } else {
        BEHIND * noise
    };
    if mean < -allowed { Lead::Behind } else { Lead::Open }
}

/// Whether a list wins against one that earns the same: by getting around more where nothing has been earned yet, by being shorter elsewhere.
pub fn wins_tie(challenger: (f64, usize), to_beat: (f64, usize), flat: bool) -> bool {
    if flat { challenger.0 > to_beat.0 } else { challenger.1 < to_beat.1 }
}

/// The order of the best lists: those that succeed more often come first, then those that earn more, then as [`wins_tie`] has it.
pub fn better_first(a: &Elite, b: &Elite, flat: bool) -> Ordering {
    let by_tie = if flat { b.around.total_cmp(&a.around) } else { a.list.length().cmp(&b.list.length()) };
    let by_success = b.successes().cmp(&a.successes());
    by_success.then(b.mean().total_cmp(&a.mean())).then(by_tie)
}

/// Whether a list earns as much as the leader on the same instances, within noise.
pub fn keeps_up(leader: &[f64], other: &[f64]) -> bool {
    let gaps: Vec<f64> = leader.iter().zip(other).map(|(a, b)| a - b).collect();
    let (gap, noise) = mean_stderr(&gaps);
    gap <= noise
}

/// How much less a shorter list may earn on the instances in which the best one earned this.
pub fn allowance(best: &[f64], random: f64) -> f64 {
    let (mean, stderr) = mean_stderr(best);
    (SHORTENING * (mean - random).abs()).max(SHORTER * stderr)
}

/// What is earned on average.
pub fn mean(returns: impl Iterator<Item = f64>) -> f64 {
    mean_stderr(&returns.collect::<Vec<_>>()).0
}

/// How widely gaps spread.
pub fn spread(plays: &[(Play, Play)]) -> f64 {
    let gaps: Vec<f64> = plays.iter().map(|(own, other)| own.earned - other.earned).collect();
    mean_stderr(&gaps).1 * (gaps.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays of a challenger and of the list to beat: what is earned and whether that is a success.
    fn plays(of: &[(f64, bool, f64, bool)]) -> Vec<(Play, Play)> {
        let play = |earned, success| Play { earned, success };
        of.iter().map(|&(a, won, b, other)| (play(a, won), play(b, other))).collect()
    }

    #[test]
    fn a_challenger_is_dropped_once_it_is_behind_by_more_than_noise() {
        let gaps = |of: &[f64]| plays(&of.iter().map(|&gap| (gap, true, 0.0, true)).collect::<Vec<_>>());
        assert_eq!(lead(&gaps(&[0.0, 0.0]), 1.0, false), Lead::Level);
        assert_eq!(lead(&gaps(&[-0.4]), 1.0, false), Lead::Open);
        assert_eq!(lead(&gaps(&[-0.6]), 1.0, false), Lead::Behind);
        assert_eq!(lead(&gaps(&[-3.0, 2.9]), 0.0, false), Lead::Open);
        assert_eq!(lead(&gaps(&[-3.0, 2.9]), 0.0, true), Lead::Behind);
        assert!(wins_tie((2.0, 9), (1.0, 3), true) && !wins_tie((2.0, 9), (1.0, 3), false));
    }

    #[test]
    fn success_counts_before_what_is_earned() {
        let twice = plays(&[(0.1, true, 0.9, false), (0.1, true, 0.9, false)]);
        assert_eq!(lead(&twice, 0.0, false), Lead::Open);
        let other_way: Vec<(Play, Play)> = twice.iter().map(|&(a, b)| (b, a)).collect();
        assert_eq!(lead(&other_way, 0.0, false), Lead::Behind);
        let once = plays(&[(0.9, false, 0.1, true), (0.9, true, 0.1, true)]);
        assert_eq!((lead(&once, 0.0, false), lead(&once, 0.0, true)), (Lead::Open, Lead::Behind));
    }
}
