//! Plain text tables and numbers for people.

use std::fmt::Write as _;

/// Rows of text in columns as wide as their widest cell; the first column to the left, the others to the right.
pub fn columns(rows: &[Vec<String>], indent: &str) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c] - cell.chars().count());
            let (cell, gap) =
                if c == 0 { (format!("{cell}{pad}"), "") } else { (format!("{pad}{cell}"), "   ") };
            line.push_str(gap);
            line.push_str(&cell);
        }
        text.push_str(indent);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `1234567` as `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// The first few items, and how many more there are.
pub fn list(items: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<&str> = items.iter().take(most).map(AsRef::as_ref).collect();
    let more = if items.len() > most { format!(", ... {} more", items.len() - most) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Columns of a terminal that is as narrow as they come.
pub const WIDTH: usize = 80;

/// Text in lines of at most `width` columns, broken at spaces; each line begins with `indent`, and with the spaces that its paragraph
/// begins with. A word that is longer than a line has a line of its own.
pub fn wrap(text: &str, indent: &str, width: usize) -> String {
    let mut out = String::new();
    for paragraph in text.lines() {
        let words = paragraph.trim_start();
        let indent = format!("{indent}{}", &paragraph[..paragraph.len() - words.len()]);
        let room = width.saturating_sub(indent.chars().count());
        let mut line = String::new();
        // A command on a line of its own stays in one piece, so that it can be copied.
        let pieces = if words.starts_with("derrl ") { 1 } else { usize::MAX };
        for word in words.splitn(pieces, ' ') {
            let long = line.chars().count() + 1 + word.chars().count() > room;
            if !line.is_empty() && long {
                let _ = writeln!(out, "{indent}{}", line.trim_end());
                line.clear();
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        let _ = writeln!(out, "{indent}{}", line.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_text_fits_and_loses_nothing() {
        let text = "on(a, b), on(b, floor), and a_word_that_is_longer_than_any_line_could_hold_here, end";
        for width in [12, 20, 40, 80] {
            let wrapped = wrap(text, "  ", width);
            let words = |t: &str| t.split_whitespace().map(str::to_string).collect::<Vec<_>>();
            assert_eq!(words(&wrapped), words(text));
            let fits = |line: &str| line.chars().count() <= width || line.trim().split(' ').count() == 1;
            assert!(wrapped.lines().all(fits), "{wrapped}");
        }
        let hint = "this run is not finished: resume it with\n  derrl train --resume 'my folder of runs'";
        assert!(wrap(hint, "", 20).ends_with("\n  derrl train --resume 'my folder of runs'\n"));
    }
}
