//! Files that survive what happens to them.
//!
//! | module | holds |
//! |---|---|
//! | [`safe_file`] | the one way to write a file: whole or not at all, and through no planted link |
//! | [`sealed`] | text with a checksum, so that a flipped bit is noticed |
//! | [`bounded`] | reading no more of a file than its reader takes |
//! | [`lock`] | one process writes a folder at a time |
//! | [`provenance`] | where figures come from: date, commit and machine |
//!
//! Nothing here knows what the files say.

pub mod bounded;
pub mod lock;
pub mod provenance;
pub mod safe_file;
pub mod sealed;
