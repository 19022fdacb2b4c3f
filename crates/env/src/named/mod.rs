//! Worlds that speak in names: all that a world of one's own has to say, and how the engine reads it.
//!
//! A world implements [`Env`]: `reset`, `facts` and `step`. [`Named`] turns it into the engine's
//! [`Env`](crate::Env): objects and their types come from the facts, and states are told apart by a hash of their facts.

mod adapter;
mod said;

use derrl_logic::Alphabet;

pub use adapter::Named;
pub use said::{Actions, Atom, Atoms, Facts};

use crate::binding::{Vocabulary, check_signatures};
use crate::env::{Cost, Outcome};
use crate::error::Error;
use crate::fault::BoxError;
use crate::rng::Rng;
use crate::scene::Scene;

/// A world that speaks in names: asked for are `reset`, `facts` and `step`.
///
/// The same generator gives the same instance and, for the same actions, the same facts and rewards. Numbers of objects may
/// differ between episodes, and within one.
pub trait Env: Send {
    /// Draws an instance and starts an episode in it. What it draws depends on `rng` alone: for another episode in the same
    /// instance it is called with the same generator again.
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError>;

    /// Says what holds now, state and background: `facts.say("at", &["ball1", "room2"])`; and what numbers are:
    /// `facts.number("queue", &["p1"], 7.0)`.
    fn facts(&self, facts: &mut Facts);

    /// Acts: `step("pick", &["ball1"], rng)`. Where [`Env::legal`] lists actions, it is one of them; else it is any action of
    /// the domain file on distinct objects of its types. One whose preconditions fail changes nothing and costs the same.
    fn step(&mut self, action: &str, args: &[&str], rng: &mut Rng) -> Result<Outcome, BoxError>;

    /// Lists the actions that are legal now, `actions.allow("pick", &["ball1"])`, and returns true; or returns false: then any
    /// may be tried. An episode in which nothing is legal any more has ended.
    fn legal(&self, _actions: &mut Actions) -> bool {
        false
    }

    /// Whether the episode has reached what the task asks for; `None` leaves it to the last outcome: it has if that ended the
    /// episode with a reward above 0. Where there is no goal, `None` means that returns alone tell policies apart.
    fn succeeded(&self) -> Option<bool> {
        None
    }

    /// Whether the task asks for anything that is reached or not. Where it does not, no share of successes is reported.
    fn has_goal(&self) -> bool {
        true
    }

    /// The best-known return from the start of the current instance, where it is known.
    fn best_return(&self) -> Option<f64> {
        None
    }

    /// After how many steps an episode is cut off, if the world has not done so before.
    fn horizon(&self) -> usize {
        1000
    }

    /// What an episode costs.
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    /// What the current state looks like; by default the facts are shown.
    fn scene(&self) -> Scene {
        Scene::Facts
    }

    /// A copy in the same state that goes its own way, where the world can be copied: then `verify` can walk its states.
    fn copy(&self) -> Option<Box<dyn Env>> {
        None
    }
}

/// An error if an alphabet names what the world's own one does not.
pub(crate) fn check(world: &str, own: &Alphabet, alphabet: &Alphabet) -> Result<(), Error> {
    let predicates: Vec<_> = own.predicates.iter().map(|p| (p.name.as_str(), p.args.len())).collect();
    let measures: Vec<_> = own.measures.iter().map(|m| (m.name.as_str(), m.args.len())).collect();
    let actions: Vec<_> = own.actions.iter().map(|a| (a.name.as_str(), a.arity())).collect();
    let known = Vocabulary { predicates: &predicates, measures: &measures, actions: &actions };
    check_signatures(world, &known, alphabet)
}
