//! A failing run, told: the instance, each action, the step where it goes wrong and why.

use derrl_env::{Family, Next, Scene, Space, observe_state};
use derrl_logic::{Decider, Facts, GroundAction, Role};
use serde::Serialize;

use super::Subject;
use super::failure::Failure;
use crate::insight::choices::family_choices;
use crate::insight::explain::{Explainer, Match, WhyNot};

/// An instance and a way of breaking ties in which the policy does not reach the goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counterexample {
    /// The instance in words.
    pub instance: String,
    /// What holds throughout.
    pub background: Vec<String>,
    /// How it fails.
    pub kind: Kind,
    /// The run.
    pub steps: Vec<RunStep>,
    /// For a loop: the step whose state the last action leads back to, from 1.
    pub back_to: Option<usize>,
    /// The step where it goes wrong, from 1: for a dead end the one that leads there, for a loop its first step that comes
    /// no nearer to what is asked for.
    pub wrong_step: usize,
    /// The rule that chose the action of that step; `None` where no rule fires.
    pub why: Option<Match>,
    /// An action of that step that would have come nearer, and why it was not chosen.
    pub instead: Option<WhyNot>,
    /// Whether no shorter run fails in an instance of this size.
    pub is_shortest: bool,
    /// What each state of the run looks like; for a dead end that leads to a state, that state too.
    #[serde(skip)]
    pub scenes: Vec<Scene>,
}

/// How a run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It comes back to a state where it was, and can go on so for ever.
    Loop,
    /// It comes to an end, or to a state, from which there is no way to what is asked for.
    DeadEnd,
}

/// A step of a failing run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunStep {
    /// What holds before it, apart from the background.
    pub facts: Vec<String>,
    /// The action taken.
    pub action: String,
    /// How many actions tie for the best, this one included.
    pub ties: usize,
    /// The fewest actions from here to what is asked for.
    pub fewest: Option<u32>,
}

/// Steps at the most until a run that is a loop up to names comes back to the very same state.
const LONGEST: usize = 10_000;

/// A state and the action taken there.
struct Taken {
    state: u128,
    action: GroundAction,
    ties: usize,
    next: Next,
}

/// Tells a failure found in the `size`-th size of a space.
pub(super) fn explain(
    subject: &Subject<'_>,
    space: &dyn Space,
    size: usize,
    failure: &Failure,
) -> Counterexample {
    let family = space.family(size, failure.family);
    let family = family.as_ref();
    let (alphabet, universe) = (subject.alphabet.as_ref(), family.universe().as_ref());
    let (run, back_to) = replay(subject, family, failure);

    let nearer = |taken: &Taken| match (family.shortest(taken.state), taken.next) {
        (_, Next::Reached) => true,
        (Some(before), Next::State(next)) => family.shortest(next).is_some_and(|after| after < before),
        _ => false,
    };
    let from = back_to.unwrap_or(run.len().saturating_sub(1));
    let wrong = (from..run.len()).find(|&i| !nearer(&run[i])).unwrap_or(from);

    let mut facts = Facts::new(alphabet);
    let shown = |state: u128, facts: &mut Facts, role: Role| -> Vec<String> {
        observe_state(family, state, facts);
        let of_role = facts.iter().filter(|(p, _)| alphabet.predicate(*p).role == role);
        of_role.map(|(p, args)| universe.show(&alphabet.predicate(p).name, args)).collect()
    };
    let background = run.first().map_or_else(Vec::new, |t| shown(t.state, &mut facts, Role::Background));
    let steps: Vec<RunStep> = run
        .iter()
        .map(|t| RunStep {
            facts: shown(t.state, &mut facts, Role::State),
            action: universe.show_action(alphabet, t.action.action, &t.action.args),
            ties: t.ties,
            fewest: family.shortest(t.state),
        })
        .collect();

    let (mut why, mut instead) = (None, None);
    if let Some(taken) = run.get(wrong) {
        observe_state(family, taken.state, &mut facts);
        let choices = family_choices(family, taken.state, alphabet);
        let legal = choices.is_legal.then_some(choices.actions.as_slice());
        let explainer = Explainer::new(subject.policy, alphabet).among(legal);
        why = explainer.fired(&taken.action, &facts, universe);
        let decider = Decider::new(subject.policy, alphabet, universe);
        let decision = decider.decide_among(&facts, alphabet, universe, legal);
        let better = choices.actions.iter().find(|a| {
            let next = family.exact_step(taken.state, a.action, &a.args);
            nearer(&Taken { state: taken.state, action: (*a).clone(), ties: 0, next })
        });
        instead = better.map(|a| explainer.why_not(a, decision.value, &facts, universe));
    }
    let mut scenes: Vec<Scene> = run.iter().map(|t| family.scene(t.state)).collect();
    if let (None, Some(Taken { next: Next::State(end), .. })) = (back_to, run.last()) {
        scenes.push(family.scene(*end));
    }
    Counterexample {
        instance: family.title(),
        background,
        kind: if back_to.is_some() { Kind::Loop } else { Kind::DeadEnd },
        steps,
        back_to: back_to.map(|i| i + 1),
        wrong_step: wrong + 1,
        why,
        instead,
        is_shortest: failure.is_shortest,
        scenes,
    }
}

/// The run with all names, and for a loop the place that the last action leads back to. A run that is a loop up to names
/// goes round until it is one.
fn replay(subject: &Subject<'_>, family: &dyn Family, failure: &Failure) -> (Vec<Taken>, Option<usize>) {
    let (alphabet, universe) = (subject.alphabet.as_ref(), family.universe().as_ref());
    let decider = Decider::new(subject.policy, alphabet, universe);
    let mut facts = Facts::new(alphabet);
    let mut run: Vec<Taken> = Vec::new();
    let (mut at, mut state) = (0, failure.states[0]);
    while run.len() < LONGEST {
        observe_state(family, state, &mut facts);
        let all = family_choices(family, state, alphabet);
        let legal = all.is_legal.then_some(all.actions.as_slice());
        let ties = decider.decide_among(&facts, alphabet, universe, legal).ties;
        let choices = if ties.is_empty() { &all.actions } else { &ties };
        let following = if at + 1 < failure.states.len() { Some(at + 1) } else { failure.back_to };
        let leads_on = |next: Next| match (next, following) {
            (Next::State(s), Some(i)) => family.representative(s) == failure.states[i],
            (Next::State(s), None) => family.shortest(s).is_none(),
            (Next::Lost, following) => following.is_none(),
            (Next::Reached, _) => false,
        };
        let choice = choices
            .iter()
            .map(|a| (a, family.exact_step(state, a.action, &a.args)))
            .find(|(_, next)| leads_on(*next));
        let Some((action, next)) = choice else { break };
        run.push(Taken { state, action: action.clone(), ties: choices.len(), next });
        let (Next::State(after), Some(i)) = (next, following) else { return (run, None) };
        if let Some(back) = run.iter().position(|t| t.state == after) {
            return (run, Some(back));
        }
        (at, state) = (i, after);
    }
    let last = run.len().saturating_sub(1);
    (run, Some(last))
}
