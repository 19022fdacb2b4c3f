//! Reading no more of a file than its reader takes: a file given by mistake, or `/dev/zero`, fills no memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The bytes of a file. Of a longer one `most + 1` are read, so that its reader sees that it is too long.
pub fn read_up_to(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file. A longer one is an error, and so is one that is not UTF-8.
pub fn read_text(path: &Path, most: usize) -> io::Result<String> {
    let bytes = read_up_to(path, most)?;
    if bytes.len() > most {
        let problem = format!("it has more than {most} bytes: is this the right file?");
        return Err(io::Error::new(ErrorKind::InvalidData, problem));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text (UTF-8)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        assert_eq!(read_text(&path, 4).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(read_up_to(&path, 2).unwrap(), b"123");
        #[cfg(unix)]
        assert_eq!(read_up_to(Path::new("/dev/zero"), 1000).unwrap().len(), 1001);
    }
}
