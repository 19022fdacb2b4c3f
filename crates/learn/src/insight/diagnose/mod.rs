//! What is missing where a policy was not learned: found from outside the learner, by playing and comparing states.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the diagnosis |
//! | `survey.rs` | instances walked in all directions |
//! | `worth.rs` | which actions are right in a state |
//! | `language.rs` | languages a step wider than that of the domain file, and states in them |
//! | `lists.rs` | whether a short list of rules can be right everywhere, in a language |
//! | `pair.rs` | two states that look alike and need different actions |
//! | `failing.rs` | which larger instances fail, and the rule that is to blame |

mod failing;
mod language;
mod lists;
mod pair;
mod survey;
mod worth;

use std::sync::Arc;

use derrl_env::{Env, Options, Rng, World, choices};
use derrl_logic::{Alphabet, Decider, GroundAction, Grounder, Policy};
use serde::Serialize;

pub use failing::FirstFailure;
pub use language::Missing;
pub use pair::{Pair, Shown};

use self::language::{Projection, Wider, negated, unspoken, wider, with_lines};
use self::lists::{List, Sighted};
use self::survey::{Limits, Survey};
use self::worth::Worth;
use crate::act::actor::Actor;
use crate::act::score::{SOLVED, episode_streams, run_episode};
use crate::error::Error;
use crate::experience::counted::Counted;

/// What is to be diagnosed: a policy that does not reach the goal of a task.
pub struct Patient<'a> {
    /// The world.
    pub world: &'a World,
    /// The language in which rules were looked for.
    pub language: &'a Arc<Alphabet>,
    /// The policy.
    pub policy: &'a Policy,
    /// What it speaks: the language, with what it defines for itself.
    pub alphabet: &'a Arc<Alphabet>,
    /// The task that was trained on.
    pub task: &'a str,
    /// Options of the world.
    pub options: &'a Options,
    /// The seed: instances are drawn by it.
    pub seed: u64,
    /// The training curve: episodes so far, and the mean return.
    pub curve: &'a [(f64, f64)],
    /// Whether the learner may widen the language by itself.
    pub widens: bool,
    /// Whether a budget ended the run.
    pub was_cut: bool,
}

/// What is missing, and by what this is known.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// What is missing.
    pub missing: Missing,
    /// The same in a sentence.
    pub summary: String,
    /// What to write into the domain file, or to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// By what this is known.
    pub evidence: Vec<String>,
    /// Two states that look alike and need different actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// The smallest instances that fail, and the rule that is to blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails_first: Option<FirstFailure>,
    /// The share of episodes in which the policy reaches the goal.
    pub success: f64,
    /// The share in which actions by chance reach it.
    pub success_by_chance: f64,
    /// Whether the return still rose when training ended; none where there is no curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub still_rises: Option<bool>,
    /// Steps of the world that the diagnosis took.
    pub steps: u64,
}

/// Episodes that are played to see whether the goal is ever reached.
const EPISODES: u64 = 200;
/// Instances of the training task, and of each larger size, that are walked.
const INSTANCES: u64 = 8;
const LARGER: u64 = 3;
/// Larger sizes that are walked.
const SIZES: usize = 3;
/// How far an instance is walked.
const LIMITS: Limits = Limits { states: 1500, steps: 60_000 };
/// States that are compared, at the most.
const COMPARED: usize = 240;
/// A language is missing something if one a step wider says the same with this share of the atoms and rules.
const MUCH_SHORTER: f64 = 0.6;
/// A list that takes no more can be found.
const SHORT: f64 = 16.0;
/// Where so many states are left without a right rule, the language does not suffice.
const HARDLY: f64 = 0.3;
/// A wider language is preferred to a simpler step only if it says the same with this share.
const CLEARLY: f64 = 0.8;

/// What is missing. `None` if somebody asked to stop, or where the world asks for nothing that is reached or not.
pub fn diagnose(patient: &Patient<'_>, stop: &dyn Fn() -> bool) -> Result<Option<Diagnosis>, Error> {
    let Patient { world, language, .. } = *patient;
    // The world reports all that it can; languages are parts of that.
    let lines: Vec<String> = unspoken(world, language).into_iter().map(|(_, line)| line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let full = Arc::new(with_lines(language, &lines).unwrap_or_else(|| (**language).clone()));
    let mut env = world.make(&full, patient.task, patient.options)?;
    env.reset(&mut Rng::new(0, 0));
    if !env.has_goal() || env.agents() > 1 {
        return Ok(None);
    }
    let success_by_chance = play_by_chance(env.as_mut(), &full, patient.seed, stop)?;
    let mut own = world.make(patient.alphabet, patient.task, patient.options)?;
    let (success, horizon) = play(patient, own.as_mut(), stop)?;
    let mut survey = Survey::new(&full);
    walk(patient, &full, &mut survey, env.as_mut(), stop)?;
    let ties = ties(patient, &survey, &full);
    let worth = Worth::new(&survey, &ties, horizon);
    let fails_first = failing::find(patient, stop)?;
    if stop() {
        return Ok(None);
    }
    let mut found = Diagnosis {
        missing: Missing::Unknown,
        summary: "what is missing was not found".to_string(),
        remedy: None,
        evidence: Vec::new(),
        pair: None,
        fails_first,
        success,
        success_by_chance,
        still_rises: still_rises(patient.curve),
        steps: survey.steps,
    };
    let doctor = Doctor { patient, survey: &survey, worth: &worth, ties: &ties, full: &full, stop };
    doctor.decide(&mut found);
    Ok((!stop()).then_some(found))
}

/// The share of episodes in which actions by chance reach the goal.
fn play_by_chance(
    env: &mut dyn Env,
    alphabet: &Alphabet,
    seed: u64,
    stop: &dyn Fn() -> bool,
) -> Result<f64, Error> {
    let mut env = Counted::new(env);
    let mut act = |env: &dyn Env, rng: &mut Rng| -> GroundAction {
        let all = choices(env, alphabet);
        all[rng.below(all.len())].clone()
    };
    let mut reached = 0;
    for i in (0..EPISODES).take_while(|_| !stop()) {
        reached += usize::from(run_episode(&mut act, &mut env, episode_streams(seed, i))?.success);
    }
    Ok(reached as f64 / EPISODES as f64)
}

/// The share of episodes in which the policy reaches the goal, and the most steps of one.
fn play(patient: &Patient<'_>, env: &mut dyn Env, stop: &dyn Fn() -> bool) -> Result<(f64, usize), Error> {
    let mut actor = Actor::new(patient.policy, patient.alphabet);
    let mut env = Counted::new(env);
    let (mut reached, mut longest) = (0, 0);
    for i in (0..EPISODES).take_while(|_| !stop()) {
        let played =
            run_episode(&mut |env, rng| actor.act(env, rng), &mut env, episode_streams(patient.seed, i))?;
        reached += usize::from(played.success);
        longest = longest.max(played.steps as usize);
    }
    Ok((reached as f64 / EPISODES as f64, longest))
}

/// Walks instances of the training task, and some of larger sizes.
fn walk(
    patient: &Patient<'_>,
    full: &Arc<Alphabet>,
    survey: &mut Survey,
    env: &mut dyn Env,
    stop: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let Patient { world, seed, .. } = *patient;
    for i in 0..INSTANCES {
        survey.walk(env, episode_streams(seed, i).0, LIMITS, stop)?;
    }
    let own = world.find_task(patient.task)?.size.unwrap_or(0);
    for &size in world.sized().iter().filter(|&&s| s > own).take(SIZES) {
        let Some(made) = world.make_sized(full, size, patient.options) else { continue };
        let mut env = made?;
        for i in 0..LARGER {
            survey.walk(env.as_mut(), episode_streams(seed, i).0, LIMITS, stop)?;
            if survey.is_whole.last() == Some(&false) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The actions that the policy chooses among in each state of a survey.
fn ties(patient: &Patient<'_>, survey: &Survey, full: &Alphabet) -> Vec<Vec<usize>> {
    let mut projection = Projection::new(full, patient.alphabet);
    let of = |state: &survey::State| {
        let universe = projection.universe(&state.universe);
        let facts = projection.facts(&state.facts, &state.universe);
        let decider = Decider::new(patient.policy, patient.alphabet, &universe);
        let chosen = decider.decide_among(&facts, patient.alphabet, &universe, Some(&state.actions)).ties;
        let place = |a: &GroundAction| state.actions.iter().position(|b| a == b);
        let places: Vec<usize> = chosen.iter().filter_map(place).collect();
        if places.is_empty() { (0..state.actions.len()).collect() } else { places }
    };
    survey.states.iter().map(of).collect()
}

/// Points of a curve below which it says nothing.
const FEW_POINTS: usize = 12;

/// Whether a curve still rises: its last quarter lies above the one before by more than two standard errors.
fn still_rises(curve: &[(f64, f64)]) -> Option<bool> {
    if curve.len() < FEW_POINTS {
        return None;
    }
    let values: Vec<f64> = curve.iter().map(|p| p.1).collect();
    let quarter = values.len() / 4;
    let (before, last) = values[values.len() - 2 * quarter..].split_at(quarter);
    let ((a, e), (b, f)) = (crate::act::score::mean_stderr(before), crate::act::score::mean_stderr(last));
    Some(b - a > 2.0 * e.hypot(f))
}

/// Compares states and languages.
struct Doctor<'a> {
    patient: &'a Patient<'a>,
    survey: &'a Survey,
    worth: &'a Worth,
    ties: &'a [Vec<usize>],
    full: &'a Alphabet,
    stop: &'a dyn Fn() -> bool,
}

/// States in a language, with what can be said of them.
struct Tried {
    sighted: Vec<Sighted>,
    list: List,
}

impl Tried {
    fn said(&self) -> String {
        let List { rules, left, states, .. } = &self.list;
        let how =
            if rules.len() == 1 { "1 rule is".to_string() } else { format!("{} rules are", rules.len()) };
        match *left {
            0 => format!("{how} right in all {states} states that matter"),
            n => format!("{how} right in {} of {states} states that matter", states - n),
        }
    }
}

impl Doctor<'_> {
    fn decide(&self, found: &mut Diagnosis) {
        if let Some(hidden) = self.survey.hidden {
            found.missing = Missing::Memory;
            found.summary =
                "what an action does depends on what happened earlier, and the world does not report that"
                    .into();
            found.remedy = Some("report what happened earlier as a fact".into());
            let state = &self.survey.states[hidden.state];
            let action = self.show_action(state, hidden.action);
            found
                .evidence
                .push(format!("`{action}` has different outcomes in one state, by the way that led there"));
            return;
        }
        if let Some((a, b)) = self.same_facts() {
            let (missing, summary, remedy) = self.memory_or_unreported(a, b);
            found.missing = missing;
            found.summary = summary;
            found.remedy = Some(remedy);
            found.pair = Some(self.pair_of(
                a,
                self.first_right(a),
                b,
                self.first_right(b),
                "every fact that the world reports",
                None,
            ));
            return;
        }
        let states = self.compared();
        let known = !states.is_empty();
        if known && let Some((language, base)) = self.spoken(&states) {
            let steps = wider(self.patient.world, &language, self.patient.widens);
            let best =
                self.best_step(&base, &steps, &states).or_else(|| self.all_steps(&base, &language, &states));
            found.evidence.push(base.said());
            if let Some((step, tried)) = best {
                if !(step.is_free && self.patient.was_cut) {
                    found.missing = step.missing;
                    found.summary = format!("the language lacks {}", step.what);
                    found.remedy = Some(step.line.clone());
                    found.evidence.push(format!("with {}: {}", step.what, tried.said()));
                    found.pair = self.pair(&base, &tried, &states, &step);
                    return;
                }
            } else if base.list.left as f64 > HARDLY * states.len() as f64 {
                // Something is missing in the language, and no step that is known here brings it.
                found.pair = self.pair_of_rules(&states);
                return;
            }
        }
        self.not_the_language(found, known);
    }

    /// What is missing where rules could say what to do.
    fn not_the_language(&self, found: &mut Diagnosis, known: bool) {
        let episodes = EPISODES;
        if found.success_by_chance == 0.0 && found.success < 1.0 - SOLVED {
            found.missing = Missing::Exploration;
            found.summary = "the goal was never reached, so there was nothing to learn from".into();
            found.remedy = Some("train on smaller instances first, or reward steps on the way".into());
            found.evidence.push(format!(
                "actions by chance reach the goal in none of {episodes} episodes, and so does the policy"
            ));
            if let Some(least) = self.shortest() {
                found.evidence.push(format!("the shortest way to it takes {least} actions"));
            }
        } else if self.survey.by_chance && known && self.best_by_luck() < SOLVED {
            found.missing = Missing::Luck;
            found.summary = "chance decides here: no policy always reaches the goal".into();
        } else {
            found.missing = Missing::Budget;
            found.summary = if known {
                "the language suffices, and the goal was reached: more steps may find the rules".into()
            } else {
                "the goal was reached: more steps may find the rules".into()
            };
            found.remedy =
                Some("a larger budget: `--max-steps`, `--set restarts=N`, `--set updates=N`".into());
            found.evidence.push(format!(
                "actions by chance reach the goal in {:.0}% of {episodes} episodes",
                100.0 * found.success_by_chance
            ));
        }
    }

    /// How many actions the shortest way to the goal takes, from the start that is farthest from it.
    fn shortest(&self) -> Option<usize> {
        let survey = self.survey;
        let mut far = vec![usize::MAX; survey.states.len()];
        loop {
            let mut changed = false;
            for s in (0..far.len()).rev() {
                let of = |o: &survey::Seen| match o.next {
                    None if o.success => Some(1),
                    None => None,
                    Some(next) => far[next].checked_add(1),
                };
                let least = survey.states[s].seen.iter().flatten().filter_map(of).min();
                if let Some(least) = least.filter(|l| *l < far[s]) {
                    far[s] = least;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        survey.starts.iter().map(|&s| far[s]).filter(|&f| f < usize::MAX).max()
    }

    /// A bound on how often any policy reaches the goal: the share of starts from which it can be reached.
    fn best_by_luck(&self) -> f64 {
        let starts = self.survey.starts.iter().zip(&self.survey.is_whole).filter(|(_, whole)| **whole);
        let starts: Vec<usize> = starts.map(|(&s, _)| s).collect();
        let can = starts.iter().filter(|&&s| self.worth.right[s].contains(&true)).count();
        can as f64 / starts.len().max(1) as f64
    }

    /// Two states of which the world reports the same, and that have no right action in common.
    fn same_facts(&self) -> Option<(usize, usize)> {
        let mut by_sight: Vec<usize> = self.worth.needed.clone();
        by_sight.sort_by_key(|&s| (self.survey.states[s].sight, s));
        let alike = by_sight.windows(2).find(|two| {
            let (a, b) = (&self.survey.states[two[0]], &self.survey.states[two[1]]);
            let (right, other) = (&self.worth.right[two[0]], &self.worth.right[two[1]]);
            a.sight == b.sight
                && a.actions == b.actions
                && right.contains(&true)
                && other.contains(&true)
                && !right.iter().zip(other).any(|(x, y)| *x && *y)
        })?;
        Some((alike[0], alike[1]))
    }

    /// Whether what told two states apart was reported earlier, or never.
    fn memory_or_unreported(&self, a: usize, b: usize) -> (Missing, String, String) {
        let facts = |s: usize| {
            let state = &self.survey.states[s];
            state.facts.show(self.full, &state.universe)
        };
        let (now, ways) = (facts(a), [self.survey.way_to(a), self.survey.way_to(b)]);
        let earlier: Vec<Vec<String>> = ways.iter().map(|way| facts(way[0])).collect();
        let told = earlier[0].iter().find(|f| !earlier[1].contains(f) && !now.contains(f));
        match told {
            Some(fact) => (
                Missing::Memory,
                format!(
                    "two states look the same and need different actions: `{fact}` held earlier in one of them"
                ),
                "report as a fact what was the case earlier".into(),
            ),
            None => (
                Missing::Unreported,
                "the world reports the same facts in two states that need different actions".into(),
                "report a fact that tells them apart".into(),
            ),
        }
    }

    /// States that are compared: all that are needed, or an even sample of them.
    fn compared(&self) -> Vec<usize> {
        let mut seen = std::collections::HashSet::new();
        let needed: Vec<usize> =
            self.worth.needed.iter().copied().filter(|&s| seen.insert(self.survey.states[s].sight)).collect();
        let step = needed.len().div_ceil(COMPARED).max(1);
        needed.into_iter().step_by(step).collect()
    }

    /// The language, with negation where the learner may negate by itself and much less is to be said then.
    fn spoken(&self, states: &[usize]) -> Option<(Arc<Alphabet>, Tried)> {
        let plain = self.patient.language;
        let base = self.try_language(plain, states)?;
        let negated = negated(plain).filter(|_| self.patient.widens && base.list.cost() > SHORT);
        if let Some(negated) = negated.map(Arc::new) {
            let wide = self.try_language(&negated, states)?;
            if wide.list.cost() < base.list.cost() {
                return Some((negated, wide));
            }
        }
        Some((Arc::clone(plain), base))
    }

    /// What can be said of states in a language. `None` if somebody asked to stop.
    fn try_language(&self, alphabet: &Arc<Alphabet>, states: &[usize]) -> Option<Tried> {
        let grounder = Grounder::new(alphabet);
        let mut projection = Projection::new(self.full, alphabet);
        let sighted: Option<Vec<Sighted>> = states
            .iter()
            .map(|&s| {
                let state = &self.survey.states[s];
                let universe = projection.universe(&state.universe);
                let facts = projection.facts(&state.facts, &state.universe);
                Sighted::new(&grounder, &state.actions, &self.worth.right[s], &facts, &universe, self.stop)
            })
            .collect();
        let sighted = sighted?;
        let list = List::new(&sighted, &grounder, alphabet, self.stop);
        Some(Tried { sighted, list })
    }

    /// The step after which much less has to be said, the simplest of those that are nearly as good.
    fn best_step(&self, base: &Tried, steps: &[Wider], states: &[usize]) -> Option<(Wider, Tried)> {
        let cost = base.list.cost();
        if cost <= SHORT {
            return None;
        }
        let mut best: Option<(Wider, Tried)> = None;
        for step in steps {
            if (self.stop)() {
                return None;
            }
            let Some(tried) = self.try_language(&step.alphabet, states) else { continue };
            let ahead = best.as_ref().map_or(MUCH_SHORTER * cost, |(_, b)| CLEARLY * b.list.cost());
            if tried.list.cost() <= ahead {
                best = Some((step.clone(), tried));
            }
        }
        best
    }

    /// All that the world reports and the language leaves out, together; and one step more where that is not enough.
    fn all_steps(&self, base: &Tried, language: &Arc<Alphabet>, states: &[usize]) -> Option<(Wider, Tried)> {
        let missing = unspoken(self.patient.world, language);
        if base.list.cost() <= SHORT || missing.len() < 2 {
            return None;
        }
        let lines: Vec<&str> = missing.iter().map(|(_, line)| line.as_str()).collect();
        let what: Vec<&str> = missing.iter().map(|(what, _)| what.as_str()).collect();
        let all = Wider {
            missing: Missing::Predicate,
            what: what.join(" and "),
            line: lines.join(" "),
            alphabet: Arc::new(with_lines(language, &lines)?),
            is_free: false,
        };
        let tried = self.try_language(&all.alphabet, states)?;
        let steps = wider(self.patient.world, &all.alphabet, self.patient.widens);
        if let Some((step, better)) = self.best_step(&tried, &steps, states) {
            let what = format!("{} and {}", all.what, step.what);
            let line = format!("{} {}", all.line, step.line);
            return Some((Wider { missing: all.missing, what, line, ..step }, better));
        }
        (tried.list.cost() <= MUCH_SHORTER * base.list.cost()).then_some((all, tried))
    }

    fn first_right(&self, state: usize) -> usize {
        self.worth.right[state].iter().position(|r| *r).unwrap_or(0)
    }

    fn show_action(&self, state: &survey::State, action: usize) -> String {
        let action = &state.actions[action];
        state.universe.show_action(self.full, action.action, &action.args)
    }
}
