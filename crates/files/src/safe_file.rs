//! The one way to write a file: whole or not at all, and through no link that somebody has planted.
//!
//! What is written goes to a new file of an unpredictable name in the same folder (opened so that it cannot exist already), is synced, and takes the
//! place of the old file by renaming; then the folder is synced. A reader sees the old text or the new one, also after a crash, and a
//! full disk leaves the old one. A link that stands in the place of the file is replaced, not followed.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::Context;

/// How the names of files end that are being written.
const PARTIAL: &str = ".partial";

/// Writes a file of ours: a file, link or pipe in its place is replaced.
pub fn write(path: &Path, content: &(impl AsRef<[u8]> + ?Sized)) -> anyhow::Result<()> {
    replace(path, content.as_ref()).with_context(|| cannot_write(path))
}

/// Writes a file that the user named. A device or pipe such as `/dev/stdout` is written to and stays what it is.
pub fn write_named(path: &Path, content: &(impl AsRef<[u8]> + ?Sized)) -> anyhow::Result<()> {
    if is_stream(path) {
        let written =
            OpenOptions::new().write(true).open(path).and_then(|mut f| f.write_all(content.as_ref()));
        return written.with_context(|| cannot_write(path));
    }
    write(path, content)
}

/// Adds a line to a file that the user named. Where it cannot be written whole, the file is as it was.
pub fn append_line(path: &Path, line: &str) -> anyhow::Result<()> {
    let add = || {
        let mut file = no_follow(OpenOptions::new().create(true).append(true)).open(path)?;
        // Two processes take turns, so that one does not cut off the line of the other.
        let _ = file.lock();
        let before = file.metadata()?.len();
        let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = file.set_len(before);
        }
        written
    };
    add().with_context(|| cannot_write(path))
}

/// Makes a folder and those above it.
pub fn make_folder(path: &Path) -> anyhow::Result<()> {
    let made = fs::create_dir_all(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            io::Error::new(ErrorKind::NotADirectory, "a file of this name is in the way")
        }
        _ => error,
    });
    made.with_context(|| format!("cannot make the folder {}", path.display()))
}

/// Removes what a process that was killed has left half-written in a folder. Only for whoever holds the lock of the folder.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(PARTIAL) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Opens a file only if its name is no link.
pub fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::IsADirectory, "it is a folder"))?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(PARTIAL);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        // A file keeps its permissions; a new one has the usual ones, less those that the user never gives.
        let kept = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|m| m.mode() & 0o777);
        builder.permissions(fs::Permissions::from_mode(kept.unwrap_or(0o666)));
    }
    let mut partial = builder.tempfile_in(folder).map_err(|e| plain(&e))?;
    partial.as_file_mut().write_all(content)?;
    partial.as_file().sync_all()?;
    partial.persist(path).map_err(|e| e.error)?;
    sync_folder(folder)
}

/// The error without the name of the temporary file, which tells the user nothing.
fn plain(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}

/// Makes a renaming last. Not all systems can: then it lasts as soon as they please.
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|f| f.sync_all()) {
        Err(error)
            if cfg!(unix)
                && error.raw_os_error() != Some(22)
                && error.kind() != ErrorKind::PermissionDenied =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Whether a path is a device, a pipe or the like. What the system keeps below `/dev` and `/proc` is, whatever it points to.
fn is_stream(path: &Path) -> bool {
    let of_the_system = path.is_absolute() && ["/dev", "/proc"].iter().any(|top| path.starts_with(top));
    let special = |m: fs::Metadata| !m.is_file() && !m.is_dir() && !m.is_symlink();
    (of_the_system && path.exists()) || fs::symlink_metadata(path).is_ok_and(special)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn links_are_replaced_and_permissions_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "precious").unwrap();
        symlink(&target, &link).unwrap();
        write_named(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
        assert_eq!(fs::read_to_string(&link).unwrap(), "new");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        write(&target, "secret").unwrap();
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left over");
    }

    #[test]
    fn devices_are_written_to() {
        write_named(Path::new("/dev/null"), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = write_named(Path::new("/dev/full"), "lost").unwrap_err();
        assert!(format!("{full:#}").starts_with("cannot write /dev/full: No space left"), "{full:#}");
    }

    #[test]
    fn what_cannot_be_written_is_said_without_the_name_of_the_temporary_file() {
        let error = write(Path::new("/no/such/folder/file"), "").unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot write /no/such/folder/file: No such file or directory (os error 2)"
        );
    }

    #[test]
    fn lines_are_added_but_through_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("record"), folder.path().join("link"));
        append_line(&file, "one").unwrap();
        append_line(&file, "two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo\n");
        symlink(&file, &link).unwrap();
        assert!(append_line(&link, "three").is_err());
    }

    #[test]
    fn leftovers_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".checkpoint.json.x1.partial", "mine.partial", ".lock"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        sweep(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
