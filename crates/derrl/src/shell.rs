//! Words of commands that we tell people to type.

use std::path::Path;

/// A path as a shell takes it for one word: in quotes where it needs them.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if text.starts_with('-') {
        return quoted(&Path::new(".").join(path));
    }
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_back_the_path() {
        for path in [
            "runs/blocks-1",
            "my runs/a",
            "it's",
            "a\nb",
            "$(rm -rf x)",
            "`x`",
            "a;b",
            "*",
            "~",
            "",
            "ü",
            "a\\b",
            "\"",
            "!x",
        ] {
            let script = format!("printf %s {}", quoted(Path::new(path)));
            let said = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&said.stdout), path);
        }
        assert_eq!(quoted(Path::new("runs/blocks-1")), "runs/blocks-1");
        assert_eq!(quoted(Path::new("-x")), "./-x");
    }
}
