//! The moves: where new lists come from, and what else a run does.
//!
//! | move | what it does | costs steps of |
//! |---|---|---|
//! | `look` | plays at random, to see what there is | a few episodes |
//! | `explore` | tries what was tried least in small instances, and follows the best list | thousands |
//! | `fit` | fits lists to what actions lose on what was explored, from the best one and from nothing | races |
//! | `widen` | the same in wider words: one more variable, negation, longer bodies | races |
//! | `invent` | the same with a predicate of its own | races |
//! | `raise` | takes in larger instances | races |
//! | `gradient` | trains the rule generator, as the paper does | a restart |
//! | `draw` | draws a list from nothing | a race |
//! | `change` | changes one of the best lists | a race |
//! | `try` | tries every action in copies of states that a list comes to, and fits lists to what came of it | thousands |
//! | `sums` | compares sums of two numbers | none |
//! | `shorten` | leaves out, moves or ties what the best list may do without | races |
//! | `confirm` | plays new instances; one in which the best list fails joins the races | up to a hundred episodes |
//!
//! Each can be switched off: `--set without=invent,widen`.

mod explore;
mod fit;
mod gradient;
mod invent;
mod look;
mod sample;
mod shorten;

use serde::{Deserialize, Serialize};

use super::ledger::Source;
use crate::settings::named::named;

/// What a run can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[expect(missing_docs, reason = "the table above says what each does")]
pub enum Move {
    Look,
    Explore,
    Fit,
    Widen,
    Invent,
    Raise,
    Gradient,
    Draw,
    Change,
    Try,
    Sums,
    Shorten,
    Confirm,
}

/// Every move with its name.
pub const MOVES: [(Move, &str); Move::Confirm as usize + 1] = [
    (Move::Look, "look"),
    (Move::Explore, "explore"),
    (Move::Fit, "fit"),
    (Move::Widen, "widen"),
    (Move::Invent, "invent"),
    (Move::Raise, "raise"),
    (Move::Gradient, "gradient"),
    (Move::Draw, "draw"),
    (Move::Change, "change"),
    (Move::Try, "try"),
    (Move::Sums, "sums"),
    (Move::Shorten, "shorten"),
    (Move::Confirm, "confirm"),
];

named!(Move, "move", MOVES);

impl Move {
    /// Who takes its steps.
    pub(super) fn source(self) -> Source {
        match self {
            Move::Look => Source::Look,
            Move::Explore | Move::Fit | Move::Widen | Move::Invent | Move::Raise => Source::Table,
            Move::Gradient => Source::Gradient,
            Move::Draw | Move::Change | Move::Shorten | Move::Sums => Source::Change,
            Move::Try => Source::Try,
            Move::Confirm => Source::End,
        }
    }

    /// What a person is told while it goes on.
    pub fn phase(self) -> &'static str {
        match self {
            Move::Look => "looking around",
            Move::Explore => "exploring",
            Move::Fit => "fitting rules",
            Move::Widen => "trying a wider language",
            Move::Invent => "inventing predicates",
            Move::Raise => "taking in larger instances",
            Move::Gradient => "training the rule generator",
            Move::Draw | Move::Change => "racing rules",
            Move::Try => "trying actions",
            Move::Sums => "comparing sums of two numbers",
            Move::Shorten => "shortening the rules",
            Move::Confirm => "confirming the rules",
        }
    }
}
