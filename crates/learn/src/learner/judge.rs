//! Which of two lists is better. Returns are compared here and nowhere else.

use std::cmp::Ordering;

use super::limits::{BEHIND, NOTHING, PRICE};
use super::play::Play;
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

/// What returns and lengths are measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// What the best list earns beyond acting at random. A success counts as much again.
    pub span: f64,
    /// How widely differences between two lists usually spread on an instance.
    pub noise: f64,
    /// What each rule and each atom of a list has to be worth. See [`Scale::of`].
    pub word: f64,
}

impl Scale {
    /// The scale of these lists, the best first, by how each went in the same instances.
    ///
    /// A word is worth what the best list and its nearest rival differ by in one instance where they differ, spread over all instances: each
    /// word has to be of use in one of them. What helps in fewer is a coincidence more often than not; and the more is known, the finer are
    /// the differences that count. It never falls to nothing, since the best lists become alike.
    pub fn of(span: f64, noise: f64, lists: &[&[Play]]) -> Scale {
        let scale = Scale { span, noise, word: PRICE * span };
        let Some((best, others)) = lists.split_first() else { return scale };
        let usual = |other: &&[Play]| {
            let gaps = best.iter().zip(*other).map(|(a, b)| (scale.worth(*a) - scale.worth(*b)).abs());
            let gaps: Vec<f64> = gaps.filter(|gap| *gap > NOTHING).collect();
            (!gaps.is_empty()).then(|| mean(gaps.into_iter()))
        };
        let nearest = others.iter().filter_map(usual).reduce(f64::min).unwrap_or(0.0);
        Scale { word: scale.word.max(nearest / best.len().max(1) as f64), ..scale }
    }

    /// What a play is worth.
    fn worth(self, play: Play) -> f64 {
        play.earned + if play.success { self.span } else { 0.0 }
    }

    /// What a list has to be worth more for each word that it is longer.
    fn price(self, length: usize) -> f64 {
        self.word * length as f64
    }

    /// What a list is worth on average, less its price.
    pub fn net(self, plays: &[Play], length: usize) -> f64 {
        mean(plays.iter().map(|&play| self.worth(play))) - self.price(length)
    }

    /// How a challenger does against the list to beat, by how both went in the same instances, of so many, and by their lengths.
    pub fn lead(self, plays: &[(Play, Play)], lengths: (usize, usize), of: usize) -> Lead {
        let at_the_end = plays.len() >= of;
        let gap = |&(own, other): &(Play, Play)| self.worth(own) - self.worth(other);
        let gaps: Vec<f64> = plays.iter().map(gap).collect();
        let dearer = self.price(lengths.0) - self.price(lengths.1);
        if gaps.iter().all(|gap| *gap == 0.0) {
            return Lead::Level;
        }
        let (mean, stderr) = mean_stderr(&gaps);
        let allowed = if at_the_end {
            0.0
        } else if gaps.len() > 1 {
            BEHIND * stderr
        } else {
            BEHIND * self.noise
        };
        let hopeless = !at_the_end && tells(gaps.len(), of) && mean - dearer + stderr < self.price(1);
        if hopeless || mean - dearer < -allowed { Lead::Behind } else { Lead::Open }
    }

    /// Whether a list is still in question beside the leader on the same instances.
    pub fn keeps_up(self, leader: (&[Play], usize), other: (&[Play], usize)) -> bool {
        let gap = |(a, b): (&Play, &Play)| self.worth(*a) - self.worth(*b);
        let (gap, noise) = mean_stderr(&leader.0.iter().zip(other.0).map(gap).collect::<Vec<_>>());
        gap - self.price(leader.1) + self.price(other.1) <= noise
    }
}

/// Whether so many of the instances of a race tell lists apart: two that differ in none of them differ in few of all.
pub fn tells(played: usize, of: usize) -> bool {
    played * played >= of
}

/// Whether a list wins against one that earns the same: by getting around more where nothing has been earned yet, by being shorter elsewhere.
pub fn wins_tie(challenger: (f64, usize), to_beat: (f64, usize), flat: bool) -> bool {
    if flat { challenger.0 > to_beat.0 } else { challenger.1 < to_beat.1 }
}

/// What the best lists are ordered by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merit {
    /// What it is worth, less its price.
    pub net: f64,
    /// How far its episodes got around.
    pub around: f64,
    /// How long it is to read.
    pub length: usize,
}

/// The order of the best lists: those that are worth more come first, then as [`wins_tie`] has it.
pub fn better_first(a: Merit, b: Merit, flat: bool) -> Ordering {
    let by_tie = if flat { b.around.total_cmp(&a.around) } else { a.length.cmp(&b.length) };
    b.net.total_cmp(&a.net).then(by_tie)
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
        let play = |earned, success| Play { earned, success, steps: 1 };
        of.iter().map(|&(a, won, b, other)| (play(a, won), play(b, other))).collect()
    }

    #[test]
    fn a_challenger_is_dropped_once_it_is_behind_by_more_than_noise() {
        let gaps = |of: &[f64]| plays(&of.iter().map(|&gap| (gap, true, 0.0, true)).collect::<Vec<_>>());
        let noisy = Scale { span: 1.0, noise: 1.0, word: 0.0 };
        let lead = |of: &[f64], end| noisy.lead(&gaps(of), (3, 3), if end { of.len() } else { 64 });
        assert_eq!(lead(&[0.0, 0.0], false), Lead::Level);
        assert_eq!(lead(&[-0.4], false), Lead::Open);
        assert_eq!(lead(&[-0.6], false), Lead::Behind);
        assert_eq!(lead(&[-3.0, 2.9], false), Lead::Open);
        assert_eq!(lead(&[-3.0, 2.9], true), Lead::Behind);
        assert!(wins_tie((2.0, 9), (1.0, 3), true) && !wins_tie((2.0, 9), (1.0, 3), false));
    }

    #[test]
    fn a_success_counts_as_much_as_all_that_is_earned() {
        let scale = Scale { span: 1.0, noise: 0.0, word: 0.0 };
        let twice = plays(&[(0.1, true, 0.9, false), (0.1, true, 0.9, false)]);
        assert_eq!(scale.lead(&twice, (3, 3), 64), Lead::Open);
        let other_way: Vec<(Play, Play)> = twice.iter().map(|&(a, b)| (b, a)).collect();
        assert_eq!(scale.lead(&other_way, (3, 3), 64), Lead::Behind);
    }

    #[test]
    fn a_longer_list_has_to_earn_its_length() {
        let plays_of = |of: &[f64]| plays(&of.iter().map(|&own| (own, true, 1.0, true)).collect::<Vec<_>>());
        let all = |of: &[f64]| plays_of(of).into_iter().map(|(own, _)| own).collect::<Vec<Play>>();
        // The two lists differ by 0.5 where they differ: a word has to be worth that in one of the four instances.
        let scale = Scale::of(1.0, 0.0, &[&all(&[1.0, 1.0, 1.0, 1.0]), &all(&[1.0, 0.5, 1.0, 1.0])]);
        assert_eq!(scale.word, 0.125);
        let once = plays_of(&[1.0, 1.5, 1.0, 1.0]);
        assert_eq!(scale.lead(&once, (4, 3), 4), Lead::Open);
        assert_eq!(scale.lead(&once, (5, 3), 4), Lead::Behind);
        assert_eq!(scale.lead(&once, (2, 3), 4), Lead::Open);
    }
}
