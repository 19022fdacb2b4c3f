//! One process at a time writes a run folder. The lock is the system's: it goes when the process goes, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use anyhow::Context;

use crate::safe_file::{make_folder, no_follow, sweep};

/// The file that is locked. It is empty, and stays.
const FILE: &str = ".lock";

/// A folder that only we write, for as long as this lives.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "held, never read")] Vec<File>);

impl Lock {
    /// The lock of a folder, which is made where it is missing. An error where another process holds it.
    pub fn of(folder: &Path) -> anyhow::Result<Lock> {
        make_folder(folder)?;
        let file = open(folder)?;
        held(folder, file.try_lock())?;
        sweep(folder);
        Ok(Lock(vec![file]))
    }

    /// The lock of a folder that belongs to a folder of several: whoever writes all of those holds the lock of the upper one.
    pub fn below(upper: &Path, folder: &Path) -> anyhow::Result<Lock> {
        let shared = open(upper)?;
        held(upper, shared.try_lock_shared())?;
        let Lock(mut files) = Lock::of(folder)?;
        files.push(shared);
        Ok(Lock(files))
    }
}

fn open(folder: &Path) -> anyhow::Result<File> {
    let path = folder.join(FILE);
    let file = no_follow(OpenOptions::new().create(true).truncate(false).read(true).write(true)).open(&path);
    file.with_context(|| format!("cannot open {}", path.display()))
}

fn held(folder: &Path, locked: Result<(), TryLockError>) -> anyhow::Result<()> {
    let shown = folder.display();
    match locked {
        Ok(()) => Ok(()),
        // Some network disks have no locks; runs there are as safe as they were without.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {shown}")),
        Err(TryLockError::WouldBlock) => Err(io::Error::from(io::ErrorKind::ResourceBusy)).with_context(|| {
            format!("another derrl is writing {shown}: wait until it has ended, or choose another folder by --out")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let (top, run) = (folder.path().join("top"), folder.path().join("top/seed-1"));
        let held = Lock::of(&top).unwrap();
        assert!(Lock::of(&top).is_err());
        assert!(Lock::below(&top, &run).is_err());
        drop(held);
        let first = Lock::below(&top, &run).unwrap();
        let second = Lock::below(&top, &folder.path().join("top/seed-2")).unwrap();
        assert!(Lock::below(&top, &run).is_err());
        assert!(Lock::of(&top).is_err(), "somebody writes one of its runs");
        drop((first, second));
        Lock::of(&top).unwrap();
    }
}
