//! Orders of the same rules, beside each other on the largest training instances.
//!
//! Small instances hardly tell orders apart: a robot that fetches every ball before it delivers any does well as long as there
//! are as many balls as grippers. So the rules that were found are moved, tied and left out once more, and judged where most
//! is to be done.

use super::draft::{Levels, Placed};

/// The orders that differ in the place of one rule: at another level, tied with another level, or left out. Those of the
/// strongest rules come first.
pub fn neighbours(levels: &Levels) -> Vec<Levels> {
    let mut all = Vec::new();
    for (l, level) in levels.iter().enumerate() {
        for (i, rule) in level.iter().enumerate().filter(|(_, rule)| rule.frozen.is_none()) {
            let mut rest = levels.clone();
            rest[l].remove(i);
            rest.retain(|l| !l.is_empty());
            let alone = |to: usize| with(&rest, |levels| levels.insert(to, vec![rule.clone()]));
            let tied = |to: usize| with(&rest, |levels| levels[to].push(rule.clone()));
            all.extend((0..=rest.len()).map(alone));
            all.extend((0..rest.len()).map(tied));
            all.push(rest.clone());
        }
    }
    all.retain(|other| !other.is_empty() && !is_same(other, levels));
    all
}

fn with(levels: &Levels, change: impl FnOnce(&mut Levels)) -> Levels {
    let mut changed = levels.clone();
    change(&mut changed);
    changed
}

/// Whether two orders differ in nothing but how rules of one level are listed.
fn is_same(a: &Levels, b: &Levels) -> bool {
    let has = |level: &[Placed], rule: &Placed| level.contains(rule);
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.len() == y.len() && x.iter().all(|r| has(y, r)))
}

#[cfg(test)]
mod tests {
    use super::super::draft::Draft;
    use super::*;

    fn rule(atom: usize, frozen: Option<f64>) -> Placed {
        Placed { draft: Draft { action: 0, atoms: vec![atom], choice: None }, frozen }
    }

    #[test]
    fn one_rule_is_moved_tied_or_left_out() {
        let levels = vec![vec![rule(0, None)], vec![rule(1, None)]];
        let all = neighbours(&levels);
        let swapped = vec![vec![rule(1, None)], vec![rule(0, None)]];
        assert_eq!(all.iter().filter(|l| **l == swapped).count(), 2, "either rule may be moved");
        assert!(all.contains(&vec![vec![rule(1, None), rule(0, None)]]));
        assert!(all.contains(&vec![vec![rule(0, None)]]) && all.contains(&vec![vec![rule(1, None)]]));
        assert!(!all.contains(&levels));
    }

    #[test]
    fn frozen_rules_stay() {
        let levels = vec![vec![rule(0, Some(0.9))], vec![rule(1, None)]];
        let all = neighbours(&levels);
        assert!(all.iter().all(|l| l.iter().flatten().any(|r| r.frozen.is_some())));
        assert_eq!(all.len(), 3, "the other one above it, tied with it, or gone");
    }
}
