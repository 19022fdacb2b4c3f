//! Lists that fit what came of trying actions.

use std::borrow::Cow;
use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::{Action, Alphabet, Arg, Choice, Comparison, Extreme, Facts, Linear, Object, Op};
use rustc_hash::FxHashSet;

use super::limits::{
    BEAM, MASK_WORDS, MOST_ATOMS, MOST_RULES, NEIGHBOURS, POOL, PRICES, QUANTILES, RATIOS, SINGLES,
};
use super::list::{Atom, Line, RuleList};
use super::record::Record;
use super::seen::Spread;
use super::trying::Label;
use super::vocabulary::{Vocabulary, rounded};
use super::words::{Lexicon, Words};
use crate::error::Error;
use crate::fit::{Draft, Edited, Levels, Placed, Reach, Regrets, Sample, edit, levels_of};
use crate::language::problem::Problem;

/// Lists that lose little of what is known: `parent` edited, and new ones at several prices.
pub fn lists(
    record: &Record,
    parent: &RuleList,
    lexicon: &Lexicon,
    rng: &mut Rng,
    stop: &dyn Fn() -> bool,
) -> Result<(Vec<RuleList>, u64), Error> {
    let nothing = (Vec::new(), 0);
    let words = Words { sums: record.words.sums, ..parent.words.clone() };
    let alphabet = lexicon.alphabet(&words);
    let vocabulary = Vocabulary::new(&alphabet, &words, &record.seen);
    let pool = pool(parent, &vocabulary, rng);
    let plain;
    let numbers;
    // Too many atoms for this search: races go on without it.
    let problem: &Problem = if pool.is_empty() {
        let Some(known) = lexicon.problem(&words)? else { return Ok(nothing) };
        plain = known;
        &plain
    } else {
        let wider = Arc::new(alphabet.with_comparisons(&pool).0);
        let actions = || (0..alphabet.actions.len() as u32).map(Action);
        let Ok(problem) = Problem::new(&wider, 1) else { return Ok(nothing) };
        numbers = problem.with_choices(actions().map(|a| vocabulary.choices(a)).collect());
        &numbers
    };
    let mut masks: Vec<(&Label, Masks)> = Vec::new();
    let mut words_used = 0;
    for label in record.labels.iter().rev() {
        let of = Masks::of(label, problem);
        words_used += of.bits.len();
        masks.push((label, of));
        if words_used > MASK_WORDS || stop() {
            break;
        }
    }
    let samples: Vec<Sample<'_>> = masks.iter().map(|(label, masks)| masks.sample(label, problem)).collect();
    let mut regrets = Regrets::of(problem, &samples, 1.0);
    if regrets.is_empty() {
        return Ok(nothing);
    }
    let at_random = regrets.price;
    let longest = if pool.is_empty() { words.longest } else { MOST_ATOMS };
    let longest = alphabet.max_body.unwrap_or(longest).min(longest);
    let reach = Reach { longest, singles: SINGLES, beam: BEAM };
    let mut found = Vec::new();
    let mut fit = |levels: Levels, price: f64| {
        regrets.price = price * at_random;
        let Edited { first, all } = edit(&regrets, levels, reach, stop);
        for levels in [first, all] {
            let list = RuleList { words: words.clone(), ..list_of(&levels, problem) };
            if list.rules() <= MOST_RULES && !stop() {
                found.push(list);
            }
        }
    };
    if let Some(levels) = levels(parent, &alphabet, problem) {
        fit(levels, PRICES[0]);
    }
    let frozen = levels_of(&lexicon.given.frozen(), problem).unwrap_or_default();
    for price in PRICES {
        let mut start = frozen.clone();
        if !pool.is_empty() {
            start.push(vec![everywhere(rng.below(alphabet.actions.len()) as u32)]);
        }
        fit(start, price);
    }
    let looked = regrets.looked.get();
    Ok((found, looked))
}

/// A rule without a body.
fn everywhere(action: u32) -> Placed {
    Placed { draft: Draft { action, atoms: Vec::new(), choice: None }, frozen: None }
}

/// The levels of a list, what is done elsewhere on the last; `None` where an atom of it is not among the candidates.
fn levels(list: &RuleList, alphabet: &Alphabet, problem: &Problem) -> Option<Levels> {
    let rules = RuleList { otherwise: None, ..list.clone() };
    let (policy, own) = rules.policy(alphabet);
    // The list's own comparisons have other numbers than those of the problem.
    let mut policy = policy;
    let body = policy.rules.iter().flat_map(|rule| &rule.body);
    let comparisons: Vec<Comparison> = body.filter_map(|l| own.comparison(l.pred)).cloned().collect();
    let mut known = problem.alphabet.with_comparisons(&comparisons).1.into_iter();
    for literal in policy.rules.iter_mut().flat_map(|rule| &mut rule.body) {
        if own.comparison(literal.pred).is_some() {
            literal.pred = known.next()?;
        }
    }
    let mut levels = levels_of(&policy, problem)?;
    levels.extend(list.otherwise.map(|action| vec![everywhere(action.0)]));
    Some(levels)
}

/// The list of these levels: a rule without a body is what is done elsewhere.
pub fn list_of(levels: &Levels, problem: &Problem) -> RuleList {
    let mut list = RuleList::default();
    for level in levels {
        if let Some(all) = level.iter().find(|p| p.draft.length() == 0) {
            list.otherwise = Some(Action(all.draft.action));
            break;
        }
        let line = |placed: &Placed| {
            let line = Line::of(&placed.draft.rule(problem, 1.0), &problem.alphabet);
            Line { frozen: placed.frozen, ..line }
        };
        list.levels.push(level.iter().map(line).collect());
    }
    list
}

/// Comparisons to look at: those of the list and near ones, and thresholds spread over what was seen.
fn pool(parent: &RuleList, vocabulary: &Vocabulary<'_>, rng: &mut Rng) -> Vec<Comparison> {
    let mut own: Vec<Comparison> = Vec::new();
    for atom in parent.levels.iter().flatten().flat_map(|line| &line.body) {
        let Atom::Compare { comparison, .. } = atom else { continue };
        own.push(comparison.clone());
        let Some(spread) = vocabulary.spread(&comparison.left, rng) else { continue };
        for by in NEIGHBOURS {
            let threshold = rounded(comparison.threshold + by * spread.width(), spread.width());
            own.push(Comparison { threshold, ..comparison.clone() });
        }
    }
    let (plain, pairs) = vocabulary.forms();
    let mut forms: Vec<Linear> = plain.to_vec();
    for pair in pairs {
        for times in RATIOS {
            let mut left = pair.clone();
            if let Some(factor) = vocabulary.ratio(pair, times, rng) {
                left.terms[1].factor = factor;
                forms.push(left);
            }
        }
    }
    let mut others = Vec::new();
    for left in forms {
        let values = vocabulary.seen.values(&left, rng);
        let Some(spread) = Spread::of(&values) else { continue };
        let at = |k: usize| rounded(values[values.len() * k / QUANTILES], spread.width());
        let mut thresholds: Vec<f64> = (1..QUANTILES).map(at).collect();
        thresholds.extend(spread.has_zero().then_some(0.0));
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let both =
            |threshold| [Op::Greater, Op::AtMost].map(|op| Comparison::new(left.clone(), op, threshold));
        others.extend(thresholds.into_iter().flat_map(both));
    }
    rng.shuffle(&mut others);
    others.truncate(POOL.saturating_sub(own.len()));
    own.extend(others);
    own
}

/// The masks of a state, for each action end to end, with what choices are worth under each.
struct Masks {
    bits: Vec<u64>,
    values: Vec<f64>,
    /// Where those of each action end, in masks.
    ends: Vec<usize>,
}

impl Masks {
    fn of(label: &Label, problem: &Problem) -> Masks {
        let state = &label.state;
        let facts = match state.facts.in_alphabet(&problem.alphabet, &state.universe) {
            Cow::Owned(derived) => derived,
            Cow::Borrowed(given) => {
                let mut facts = given.clone();
                facts.derive(&state.universe);
                facts
            }
        };
        let facts = &facts;
        let words = problem.grounder.words();
        let mut masks = Masks { bits: Vec::new(), values: Vec::new(), ends: vec![0; state.actions.len()] };
        let mut known: FxHashSet<(Vec<u64>, Vec<u64>)> = FxHashSet::default();
        let mut of = usize::MAX;
        problem.grounder.each_substitution(&state.actions, facts, &state.universe, &mut |a, mask, phi| {
            if a != of {
                known.clear();
                of = a;
            }
            let choices = problem.choices(state.actions[a].action);
            let values: Vec<f64> =
                choices.iter().map(|c| worth(c, facts, phi, state.universe.len())).collect();
            if known.insert((mask.to_vec(), values.iter().map(|v| v.to_bits()).collect())) {
                masks.bits.extend_from_slice(mask);
                masks.values.extend(values);
            }
            masks.ends[a] = masks.bits.len() / words;
        });
        for a in 1..masks.ends.len() {
            masks.ends[a] = masks.ends[a].max(masks.ends[a - 1]);
        }
        masks
    }

    fn sample<'s>(&'s self, label: &'s Label, problem: &Problem) -> Sample<'s> {
        let words = problem.grounder.words();
        let actions = label.state.actions.as_ref();
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let spans: Vec<(usize, usize)> = starts.zip(self.ends.iter().copied()).collect();
        let masks = spans.iter().map(|&(from, to)| &self.bits[from * words..to * words]).collect();
        let mut at = 0;
        let mut values = Vec::new();
        for (action, &(from, to)) in actions.iter().zip(&spans) {
            let n = problem.choices(action.action).len() * (to - from);
            values.push(&self.values[at..at + n]);
            at += n;
        }
        // Lists are shared between states where nothing is chosen.
        if self.values.is_empty() {
            values.clear();
        }
        Sample { weight: 1.0, regrets: &label.regrets, mean: label.mean, actions, masks, values }
    }
}

/// What a choice is worth under a substitution: the greater the better. Not a number where it has no value.
fn worth(choice: &Choice, facts: &Facts, phi: &[usize], objects: usize) -> f64 {
    let object = |arg: &Arg| match arg {
        Arg::Var(v) => phi.get(usize::from(v.0)).filter(|&&o| o < objects).map(|&o| Object(o as u32)),
        Arg::Const(_) => None,
    };
    let args: Option<Vec<Object>> = choice.args.iter().map(object).collect();
    let value = args.and_then(|args| facts.value(&choice.of, &args)).unwrap_or(f64::NAN);
    if choice.extreme == Extreme::Most { value } else { -value }
}
