//! Perception from reward alone: a network that tells the symbol of each cell, learned from what actions do and what they bring.
//!
//! Nobody says what stands in a cell. Two laws teach it, which are rules with soft facts in their bodies:
//!
//! ```prolog
//! s0(X) at t + 1   :- s0(C) at t, the action taken leads from C to X.     % oneself is what moves as one acts
//! brings(O)        :- s0(C), the action taken leads from C to X, s_O(X).  % a symbol is what entering it brings
//! ```
//!
//! O is an outcome: a reward, and whether the episode ended by itself. So there are as many symbols as outcomes, and oneself. They
//! are numbered by outcome, the best first, so that the same number means the same in every run.

mod frames;
mod gallery;
mod laws;
mod learner;
mod network;
mod outcome;
mod sight;

pub use gallery::Gallery;
pub use learner::{Looking, perceive};
pub use outcome::Brings;
pub use sight::{Drawn, Perception};
