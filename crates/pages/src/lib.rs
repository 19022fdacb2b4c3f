//! Pages about runs: one HTML file that needs nothing but itself.
//!
//! Everything that a page shows is computed here and saved in it as JSON; the files in `web/` only draw. Nothing is read from
//! or written to files: whoever asks for a page says what its run left ([`Record`]), and writes the text down.
//!
//! | file | holds |
//! |---|---|
//! | `record.rs` | what a run left: the input of a page |
//! | `extent.rs` | how much of each run goes onto a page |
//! | `run.rs` | a run as the page has it: rules, scores, advice |
//! | `curves.rs` | training curves, of one run and of several |
//! | `episodes.rs` | which episodes are shown, and their explanations |
//! | `writer.rs` | an explained episode, written briefly |
//! | `answers.rs` | why other actions were not chosen, and what would have to change |
//! | `pictures.rs` | pictures, written briefly |
//! | `uses.rs` | what is lost without each rule |
//! | `findings.rs` | what a verification found, in words, JSON and pictures |
//! | `verification.rs` | what is proved or refuted about the policy of a run |
//! | `hour.rs` | an hour of traffic that can be watched |
//! | `html.rs` | the HTML around all this |

mod answers;
mod curves;
mod episodes;
mod error;
mod extent;
mod findings;
mod hour;
mod html;
mod pictures;
mod record;
mod run;
mod uses;
mod verification;
mod writer;

pub use curves::{of_bests, training_curve};
pub use episodes::showpiece;
pub use error::Error;
pub use extent::Extent;
pub use findings::{big, document, headline, pictures, pictures_of_property, remark, unit};
pub use hour::{Hour, Light, Situation, Stop, Told};
pub use html::{Live, Served, hour_page, live, page, served_page};
pub use record::{Record, Subject};
pub use run::{Run, glance, try_out};
pub use verification::{Verification, small};
