//! Python bindings of `derrl`: thin, typed in `derrl/_derrl.pyi`; what people import is in `derrl/`.
//!
//! | file | holds |
//! |---|---|
//! | `atoms.rs` | facts and actions between Python tuples and names |
//! | `player.rs` | a world written in Python, as the engine sees it |
//! | `turns.rs` | who plays a Python object: one at a time |
//! | `world.rs` | worlds as Python objects, and episodes of built-in worlds |
//! | `level.rs` | levels of Minigrid, to be set beside the real one |
//! | `policy.rs` | policies: acting, explaining, proving, exporting |
//! | `soft.rs` | policies over soft facts, with gradients |
//! | `training.rs` | training in a folder, with Ctrl-C and progress |
//! | `signals.rs` | Ctrl-C while Rust works on the calling thread |
//! | `failure.rs` | errors as exceptions |
//!
//! Structured results cross the boundary as JSON, which the Python side reads.

mod atoms;
mod failure;
mod level;
mod player;
mod policy;
mod signals;
mod soft;
mod training;
mod turns;
mod world;

use pyo3::prelude::*;

/// Runs the `derrl` command on these arguments, the name of the program first, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<String>) -> u8 {
    py.detach(|| derrl_cli::status_with([], args))
}

/// The module `derrl._derrl`.
#[pymodule]
fn _derrl(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("Error", m.py().get_type::<failure::Error>())?;
    m.add("Outside", m.py().get_type::<failure::Outside>())?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<world::World>()?;
    m.add_class::<world::Episodes>()?;
    m.add_class::<level::Level>()?;
    m.add_class::<policy::Policy>()?;
    m.add_class::<soft::Soft>()?;
    m.add_class::<training::Request>()?;
    m.add_function(wrap_pyfunction!(main, m)?)?;
    m.add_function(wrap_pyfunction!(world::builtin, m)?)?;
    m.add_function(wrap_pyfunction!(training::learn, m)?)?;
    m.add_function(wrap_pyfunction!(training::report, m)?)?;
    m.add_function(wrap_pyfunction!(training::tensorboard, m)?)?;
    m.add_function(wrap_pyfunction!(training::pending, m)?)?;
    m.add_function(wrap_pyfunction!(training::restart, m)?)?;
    m.add_function(wrap_pyfunction!(training::absorb, m)?)?;
    m.add_function(wrap_pyfunction!(training::result, m)?)?;
    m.add_function(wrap_pyfunction!(training::so_far, m)?)?;
    m.add_function(wrap_pyfunction!(training::seconds_left, m)?)?;
    m.add_function(wrap_pyfunction!(training::settings, m)?)?;
    Ok(())
}
