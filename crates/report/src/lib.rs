//! Pictures of states, charts and films, drawn without a browser.
//!
//! There is one renderer. A world says what a state looks like (`derrl_env::Scene`); [`Picture::new`] turns that into pieces, each a few
//! SVG elements at a place. A page moves the pieces from step to step; [`Document`] writes them into a file, and [`raster`]
//! turns that into PNG and GIF. Charts are made of the same elements.
//!
//! | module | holds |
//! |---|---|
//! | `node.rs` | SVG elements as data |
//! | `theme.rs` | the colours, light and dark |
//! | `picture/` | one file per kind of scene, and a graph of facts for worlds that have no scene |
//! | `film.rs` | a step with its caption, and a run as states side by side |
//! | `raster.rs` | PNG and GIF, with letters of our own |
//! | `chart.rs`, `axis.rs` | line charts |
//! | `english.rs` | rules in English |
//! | `table.rs`, `fit.rs` | tables as text, lines that fit a terminal |
//!
//! Nothing here prints or reads files.

mod axis;
mod chart;
mod english;
mod film;
mod fit;
mod node;
mod picture;
pub mod raster;
pub mod table;
mod theme;

pub use axis::superscript;
pub use chart::{Chart, Plot, Scale, Series, Stroke};
pub use english::English;
pub use film::{Caption, Frame, film, frames, stills, strip, strip_of_property};
pub use fit::fit;
pub use node::{Document, Node, escape};
pub use picture::{Marks, Picture, Piece, in_letters, towers};
pub use theme::{Theme, css};
