//! The learner for worlds with numbers.
//!
//! Five parts, each of which knows one thing:
//!
//! | part | knows |
//! |---|---|
//! | *record* ([`record`]) | what was found: the best lists of rules and what they earned, states seen, regrets tried |
//! | *plan* ([`plan`]) | what comes next: a pure function of the record and the steps taken |
//! | *moves* ([`draw`], [`trying`] with [`fit`]) | where new lists come from: drawn, changed, or fitted to regrets |
//! | *judge* ([`judge`]) | which of two lists is better: the only place that compares returns |
//! | *ledger* ([`ledger`]) | what everything cost, and the random streams of episodes |
//!
//! Whatever a move proposes is raced against the weakest of the best lists, on common instances, and dropped as soon as it is
//! behind ([`run`]). In the end the best few are compared on instances that nobody has seen, and the best one is written as shortly as it
//! can be without losing anything ([`shorten`]). How numbers are compared is up to the [`vocabulary`].

mod draw;
mod fit;
mod judge;
mod ledger;
mod limits;
mod list;
mod plan;
mod play;
mod record;
mod run;
mod saved;
mod seen;
mod shorten;
mod trying;
mod vocabulary;

pub use run::Run;
pub use saved::Saved;
