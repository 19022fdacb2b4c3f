//! DoorKey.
pub mod numpy;
