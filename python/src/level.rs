//! Levels of Minigrid as the engine walks them, to be set beside the real Minigrid.

use std::sync::{Mutex, MutexGuard, PoisonError};

use derrl::engine::doorkey::grid::{Grid, Move, Outcome};
use derrl::engine::doorkey::layout;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::{Error, raise};

/// A level of the doorkey world, moved by Minigrid's primitive actions.
#[pyclass(frozen, module = "derrl._derrl")]
pub struct Level {
    grid: Mutex<Grid>,
}

impl Level {
    fn lock(&self) -> MutexGuard<'_, Grid> {
        self.grid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Level {
    /// The level of `MiniGrid-DoorKey-{size}x{size}-v0` after `reset(seed=seed)`.
    #[staticmethod]
    fn doorkey(size: u8, seed: u64) -> PyResult<Level> {
        Ok(Level { grid: Mutex::new(layout::doorkey(size, seed).map_err(raise)?) })
    }

    /// Does a primitive action by Minigrid's number, and returns whether it stepped on the goal.
    fn step(&self, action: u8) -> PyResult<bool> {
        let primitive = Move::from_id(action)
            .ok_or_else(|| Error::new_err(format!("action {action}: there are 0 to 6")))?;
        Ok(self.lock().apply(primitive) == Outcome::Goal)
    }

    /// The bytes of Minigrid's `grid.encode()`.
    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock().encode())
    }

    /// The agent: column, row, direction, and the number of the colour of the key in its hand.
    fn agent(&self) -> (u8, u8, u8, Option<u8>) {
        let agent = self.lock().agent;
        (agent.pos.x, agent.pos.y, agent.direction as u8, agent.carrying.map(|colour| colour as u8))
    }
}
