//! The worlds of `derrl`.
