//! The `derrl` command.

fn main() {}
