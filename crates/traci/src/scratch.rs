//! A folder for files that live no longer than what they are for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use tempfile::TempDir;

use crate::error::{Error, Result};

/// The start of the names of our folders.
const PREFIX: &str = "derrl-traci-";

/// The file in each folder that its owner keeps locked. The operating system unlocks it when the owner dies.
const LOCK: &str = "lock";

/// A folder without a locked file is left alone for this long: its owner may be about to lock it.
const YOUNG: Duration = Duration::from_secs(60);

/// A new folder in the system's folder for temporary files, removed on drop. Its name cannot be foreseen, and only its owner may look into it.
///
/// What a killed process could not remove, the next one does.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    // Locked for as long as it is open.
    _lock: File,
}

impl Scratch {
    pub fn new() -> Result<Self> {
        static SWEEP: Once = Once::new();
        let parent = std::env::temp_dir();
        let made = Self::create_in(&parent)?;
        SWEEP.call_once(|| sweep(&parent, YOUNG, made.folder.path()));
        Ok(made)
    }

    fn create_in(parent: &Path) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(parent);
        let folder = folder.map_err(|source| Error::File {
            doing: "make a folder in",
            path: parent.into(),
            source,
        })?;
        let path = folder.path().join(LOCK);
        match File::create_new(&path).and_then(|file| file.lock().map(|()| file)) {
            Ok(lock) => Ok(Self { folder, _lock: lock }),
            Err(source) => Err(Error::File { doing: "lock", path, source }),
        }
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
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

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|source| Error::File { doing: "read", path: path.into(), source })
}

/// Removes the folders of processes that are no more, of those that belong to whom `ours` belongs. Best effort: what fails now may succeed
/// next time.
fn sweep(parent: &Path, young: Duration, ours: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let folder = || entry.file_type().is_ok_and(|kind| kind.is_dir()) && same_owner(&entry.path(), ours);
        if named && folder() && abandoned(&entry.path(), young) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether two folders belong to one user. What others put there is not ours to open: it may be a trap.
fn same_owner(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let owner = |path: &Path| std::fs::symlink_metadata(path).map(|m| m.uid()).ok();
        owner(a).is_some() && owner(a) == owner(b)
    }
    #[cfg(not(unix))]
    {
        let _ = (a, b);
        true
    }
}

fn abandoned(folder: &Path, young: Duration) -> bool {
    let path = folder.join(LOCK);
    // Not a pipe, which would have us wait for ever.
    if !std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file()) {
        return false;
    }
    let Ok(file) = File::open(&path) else { return false };
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
        assert_ne!(a.folder.path(), b.folder.path());
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let mode = std::fs::metadata(a.folder.path()).unwrap().mode() & 0o777;
            assert_eq!(mode, 0o700, "nobody else may look into it");
        }
        assert_eq!(read(&file).unwrap(), "1");
        drop(a);
        assert!(read(&file).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn what_a_killed_process_left_is_swept_and_nothing_else() {
        let room = Scratch::new().unwrap();
        let live = Scratch::create_in(room.folder.path()).unwrap();
        let dead = room.path("derrl-traci-1-0");
        let other = room.path("somebody-else");
        for folder in [&dead, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(LOCK), "").unwrap();
        }
        sweep(room.folder.path(), YOUNG, live.folder.path());
        assert!(dead.exists(), "too young");
        sweep(room.folder.path(), Duration::ZERO, live.folder.path());
        assert!(!dead.exists() && other.exists() && live.folder.path().exists());
    }
}
