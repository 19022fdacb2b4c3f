//! A folder for files that live no longer than what they are for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};

/// The start of the names of our folders.
const PREFIX: &str = "derrl-traci-";

/// The file in each folder that its owner keeps locked. The operating system unlocks it when the owner dies.
const LOCK: &str = "lock";

/// A folder without a locked file is left alone for this long: its owner may be about to lock it.
const YOUNG: Duration = Duration::from_mins(1);

/// A new folder in the system's folder for temporary files, removed on drop.
///
/// What a killed process could not remove, the next one does.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    // Locked for as long as it is open.
    _lock: File,
}

impl Scratch {
    pub fn new() -> Result<Self> {
        static SWEEP: Once = Once::new();
        let parent = std::env::temp_dir();
        SWEEP.call_once(|| sweep(&parent, YOUNG));
        Self::create_in(&parent)
    }

    fn create_in(parent: &Path) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = parent.join(format!("{PREFIX}{}-{count}", std::process::id()));
            match std::fs::create_dir(&folder) {
                Ok(()) => {}
                // Left by a process of the same number that was killed.
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(Error::File { doing: "create", path: folder, source }),
            }
            let path = folder.join(LOCK);
            let lock = File::create(&path).and_then(|file| file.lock().map(|()| file));
            return match lock {
                Ok(lock) => Ok(Self { folder, _lock: lock }),
                Err(source) => Err(Error::File { doing: "lock", path, source }),
            };
        }
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file in the folder and returns its path.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path(name);
        match std::fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::File { doing: "write", path, source }),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed is litter, not a failure.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|source| Error::File { doing: "read", path: path.into(), source })
}

/// Removes the folders of processes that are no more. Best effort: what fails now may succeed next time.
fn sweep(parent: &Path, young: Duration) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && abandoned(&entry.path(), young) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn abandoned(folder: &Path, young: Duration) -> bool {
    let Ok(file) = File::open(folder.join(LOCK)) else { return false };
    let age = file.metadata().and_then(|m| m.modified()).ok().and_then(|written| written.elapsed().ok());
    age.is_some_and(|age| age >= young) && file.try_lock().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_distinct_and_go_away() {
        let (a, b) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        let file = a.write("x", "1").unwrap();
        assert_ne!(a.folder, b.folder);
        assert_eq!(read(&file).unwrap(), "1");
        drop(a);
        assert!(read(&file).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn what_a_killed_process_left_is_swept_and_nothing_else() {
        let room = Scratch::new().unwrap();
        let live = Scratch::create_in(&room.folder).unwrap();
        let dead = room.path("derrl-traci-1-0");
        let other = room.path("somebody-else");
        for folder in [&dead, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(LOCK), "").unwrap();
        }
        sweep(&room.folder, YOUNG);
        assert!(dead.exists(), "too young");
        sweep(&room.folder, Duration::ZERO);
        assert!(!dead.exists() && other.exists() && live.folder.exists());
    }
}
