//! The worlds of `derrl`.

pub mod doorkey;
