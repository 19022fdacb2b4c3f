//! The random streams of a run, by what they are for.
//!
//! No two purposes share a stream, so that scores are out of sample: neither training nor selection ever draws from the
//! streams that scores are drawn from.

use derrl_env::Rng;

/// What a random stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// All of a restart's training: initial parameters, instances, rules and actions.
    Restart(u64),
    /// The instance of a scored episode, by its number.
    Score(u64),
    /// How ties are broken in a scored episode.
    ScoreTies(u64),
    /// The instance of an episode by which policies are selected.
    Selection(u64),
    /// How ties are broken in such an episode.
    SelectionTies(u64),
    /// The actions at random before an episode that starts astray.
    Stray(u64),
    /// All of a restart's training of an agent that is not DERRL.
    Baseline(u64),
    /// An exploration, by its number.
    Explore(u64),
    /// An episode in which rules for numbers are raced, tried or last compared: instance, ties, and what is astray.
    Race(u64),
    /// What a move of the search for rules about numbers draws.
    Move(u64),
    /// The instances from which an agent of fixed size takes the objects of a task.
    Objects,
}

impl Purpose {
    /// The stream of this purpose for a seed, from its start.
    pub fn rng(self, seed: u64) -> Rng {
        let (space, number) = match self {
            Purpose::Restart(n) => (0, n),
            Purpose::Score(n) => (1, n),
            Purpose::ScoreTies(n) => (2, n),
            Purpose::Selection(n) => (4, n),
            Purpose::SelectionTies(n) => (6, n),
            Purpose::Baseline(n) => (3, n),
            Purpose::Objects => (7, 0),
            Purpose::Explore(n) => (8, n),
            Purpose::Stray(n) => (9, n),
            Purpose::Race(n) => (10, n),
            Purpose::Move(n) => (11, n),
        };
        Rng::new(seed, (space << 32) + number)
    }
}
