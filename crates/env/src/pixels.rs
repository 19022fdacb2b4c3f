//! Worlds that are seen: a state is a picture of cells, and what stands in a cell is to be found out.

use std::fmt;
use std::sync::Arc;

use derrl_logic::{Action, Object};

use crate::env::Env;

/// Numbers per cell of a frame: 8 x 8 pixels of red, green and blue, each from 0 to 1 but for the noise.
pub const PATCH: usize = 8 * 8 * 3;

/// An environment that shows its state as pixels.
pub trait Pixels: Env {
    /// Cells of the current instance.
    fn cells(&self) -> usize;

    /// Writes what is seen now, [`PATCH`] numbers per cell, in place of what `frame` held. The same state at the same step of an
    /// episode looks the same.
    fn frame(&self, frame: &mut Vec<f32>);

    /// The cell to which an action would take something that stands in a cell.
    fn onward(&self, action: Action, args: &[Object], cell: usize) -> usize;

    /// From now on facts are what this sight sees; the true ones where there is none.
    fn look_through(&mut self, sight: Option<Arc<dyn Sight>>);

    /// Writes what truly is in each cell in place of what `kinds` held: for scores, never for learning.
    fn truth(&self, kinds: &mut Vec<u8>);
}

/// What tells symbols in pixels.
pub trait Sight: fmt::Debug + Send + Sync {
    /// Writes the symbol of each cell of a frame in place of what `symbols` held.
    fn symbols(&self, frame: &[f32], symbols: &mut Vec<u8>);
}
