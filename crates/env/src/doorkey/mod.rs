//! DoorKey.
pub mod grid;
pub mod layout;
pub mod numpy;
pub mod plan;
