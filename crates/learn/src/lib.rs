//! Turns experience into rules.
