//! Properties beyond the goal: what never holds, how many actions a run takes at the most, and whether anything is starved.

use std::sync::Arc;

use derrl_env::{Family, Next, Scene, Space, observe_state};
use derrl_logic::{Alphabet, Facts, GroundAction, Object, Pred, Role};
use serde::Serialize;

use super::reached::Reached;
use super::served::{Followed, Run, Starved};
use super::walk::Walker;
use super::{Monitor, Subject};
use crate::error::Error;

/// Something that has to be so in every instance, however ties are broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// A predicate holds in no state that is reached, of no objects.
    Never(Pred),
    /// The goal is reached after so many actions at the most.
    Within(u32),
    /// Of so many actions in a row, one names each object that waits all the while: of which one of these predicates holds, or, where
    /// there are none, that actions can name.
    Served {
        /// How many actions.
        within: u32,
        /// Predicates of one object.
        waits: Vec<Pred>,
    },
}

/// Whether a property holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyReport {
    /// The property in words.
    pub property: String,
    /// Whether it holds.
    pub holds: bool,
    /// How many states were looked at: all that can be reached, where it holds.
    pub states: u64,
    /// A shortest run that shows that it does not, from an instance of the smallest size that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Violating>,
}

/// A run that violates a property.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Violating {
    /// What the family is called.
    pub instance: String,
    /// What holds throughout.
    pub background: Vec<String>,
    /// The object that is starved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starved: Option<String>,
    /// What holds before each action, and the action; the last state has none.
    pub steps: Vec<(Vec<String>, Option<String>)>,
    /// What each of these states looks like.
    #[serde(skip)]
    pub scenes: Vec<Scene>,
}

impl Property {
    fn in_words(&self, alphabet: &Alphabet) -> String {
        match self {
            Property::Never(pred) => format!("never {}", alphabet.predicate(*pred).name),
            Property::Within(most) => format!("the goal within {most} actions"),
            Property::Served { within, waits } => {
                let names: Vec<&str> = waits.iter().map(|p| alphabet.predicate(*p).name.as_str()).collect();
                let which = if names.is_empty() {
                    "every object".to_string()
                } else {
                    format!("all that is {}", names.join(" or "))
                };
                format!("{which} served within {within} actions")
            }
        }
    }
}

/// Looks at every state that can be reached in every instance. `None` if the monitor stopped it.
pub fn check_property(
    subject: &Subject<'_>,
    property: &Property,
    monitor: &mut dyn Monitor,
) -> Result<Option<PropertyReport>, Error> {
    let space = subject.world.space(subject.alphabet, &subject.extent)?;
    let mut walker = Walker::new(subject);
    let mut report = PropertyReport {
        property: property.in_words(subject.alphabet),
        holds: true,
        states: 0,
        counterexample: None,
    };
    for (size, entry) in space.sizes().iter().enumerate() {
        // The shortest run of the size, and its family.
        let mut found: Option<(Found, u64)> = None;
        for i in 0..entry.families {
            monitor.walked(entry, i);
            if monitor.interrupted() {
                return Ok(None);
            }
            let (states, run) = look(subject, property, &mut walker, space.as_ref(), (size, i))?;
            report.states += states;
            if let Some(run) = run
                && found.as_ref().is_none_or(|(shortest, _)| run.length() < shortest.length())
            {
                found = Some((run, i));
            }
        }
        if let Some((run, family)) = found {
            report.holds = false;
            let family = space.family(size, family);
            let (run, starved) = match run {
                Found::UpToNames(run) => (replay(&mut walker, family.as_ref(), &run), None),
                Found::Starved(Starved { run, object }) => (run, Some(object)),
            };
            report.counterexample = Some(tell(subject, family.as_ref(), &run, starved));
            break;
        }
    }
    Ok(Some(report))
}

/// A run that violates a property.
enum Found {
    /// Its states, up to names that are not told apart.
    UpToNames(Vec<u128>),
    Starved(Starved),
}

impl Found {
    fn length(&self) -> usize {
        match self {
            Found::UpToNames(run) => run.len(),
            Found::Starved(starved) => starved.run.len(),
        }
    }
}

/// How many states of a family can be reached, and a shortest run that violates a property.
fn look(
    subject: &Subject<'_>,
    property: &Property,
    walker: &mut Walker<'_>,
    space: &dyn Space,
    (size, i): (usize, u64),
) -> Result<(u64, Option<Found>), Error> {
    if let Property::Served { within, waits } = property {
        let followed = Followed::new(walker, subject.alphabet, space, (size, i), waits)?;
        return Ok((followed.states(), followed.starved(*within).map(Found::Starved)));
    }
    let mut mark = |facts: &Facts| match property {
        Property::Never(pred) => facts.tuples(*pred).next().is_some(),
        _ => false,
    };
    let reached = Reached::new(walker, space, size, i, &mut mark);
    let run = match property {
        Property::Within(most) => reached.longer_than(*most),
        _ => reached.way_to_marked(),
    };
    Ok((reached.codes.len() as u64, run.map(Found::UpToNames)))
}

impl Reached {
    /// A shortest run from a start to a state that was looked for.
    fn way_to_marked(&self) -> Option<Vec<u128>> {
        let end = self.marked.iter().position(|marked| *marked)?;
        // States come in the order of their distance from a start, and each was first met from the first state before it.
        let is_start = |state: usize| self.starts.iter().any(|s| s.0 as usize == state);
        let mut way = vec![end];
        while let Some(&at) = way.last()
            && !is_start(at)
        {
            way.push(self.after.iter().position(|next| next.contains(&(at as u32)))?);
        }
        Some(way.into_iter().rev().map(|state| self.codes[state]).collect())
    }

    /// A run from a start that has not reached the goal after so many actions, but could not be told so earlier.
    fn longer_than(&self, most: u32) -> Option<Vec<u128>> {
        let longest = self.longest();
        let is_longer = |state: u32, left: u32| longest[state as usize].is_none_or(|l| l > left);
        let (mut at, _) = *self.starts.iter().find(|s| is_longer(s.0, most))?;
        let mut run = vec![self.codes[at as usize]];
        for left in (0..most).rev() {
            let Some(next) = self.after[at as usize].iter().find(|&&next| is_longer(next, left)) else {
                break;
            };
            at = *next;
            run.push(self.codes[at as usize]);
        }
        Some(run)
    }
}

/// A run with all names kept from one state to the next.
fn replay(walker: &mut Walker<'_>, family: &dyn Family, run: &[u128]) -> Run {
    let mut told = Vec::new();
    let mut state = run[0];
    for next in &run[1..] {
        let (ties, all) = walker.decide(family, state);
        let choices = if ties.is_empty() { all.as_ref() } else { ties.as_slice() };
        let taken = choices.iter().find_map(|a| match family.exact_step(state, a.action, &a.args) {
            Next::State(after) if family.representative(after) == *next => Some((a, after)),
            _ => None,
        });
        let Some((action, after)) = taken else { break };
        told.push((state, Some(action.clone())));
        state = after;
    }
    told.push((state, None));
    told
}

fn tell(subject: &Subject<'_>, family: &dyn Family, run: &Run, starved: Option<Object>) -> Violating {
    let alphabet: &Arc<Alphabet> = subject.alphabet;
    let universe = family.universe();
    let mut facts = Facts::new(alphabet);
    let mut shown = |state: u128, is_background: bool| -> Vec<String> {
        observe_state(family, state, &mut facts);
        let of_role =
            facts.iter().filter(|(p, _)| (alphabet.predicate(*p).role == Role::Background) == is_background);
        of_role.map(|(p, args)| universe.show(&alphabet.predicate(p).name, args)).collect()
    };
    let named = |a: &GroundAction| universe.show_action(alphabet, a.action, &a.args);
    Violating {
        instance: family.title(),
        background: run.first().map_or_else(Vec::new, |(state, _)| shown(*state, true)),
        starved: starved.map(|o| universe.name(o).to_string()),
        steps: run.iter().map(|(state, action)| (shown(*state, false), action.as_ref().map(named))).collect(),
        scenes: run.iter().map(|(state, _)| family.scene(*state)).collect(),
    }
}
