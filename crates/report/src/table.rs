//! Plain text tables and numbers for people.

use std::fmt::Write as _;

/// Rows of text in columns as wide as their widest cell; the first column to the left, the others to the right. The first row
/// holds titles; a row of one cell is a heading among rows.
///
/// The table fits [`WIDTH`]. Where it would not, columns move closer, then titles take several lines, then columns that are
/// left over follow below, beside the first column.
pub fn columns(rows: &[Vec<String>], indent: &str) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let all: Vec<usize> = (0..count).collect();
    let room = WIDTH.saturating_sub(indent.chars().count());
    for (gap, titles) in [(3, Titles::Whole), (2, Titles::Whole), (2, Titles::Broken)] {
        let table = Table { rows, widths: widths(rows, count, titles), gap, indent };
        if table.width(&all) <= room {
            return table.draw(&all);
        }
    }
    let table = Table { rows, widths: widths(rows, count, Titles::Broken), gap: 2, indent };
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for column in 1..count {
        match parts.last_mut() {
            Some(part) if table.width(&[part.as_slice(), &[column]].concat()) <= room => part.push(column),
            _ => parts.push(vec![0, column]),
        }
    }
    parts.iter().map(|part| table.draw(part)).collect::<Vec<_>>().join("\n")
}

/// Whether titles may take several lines.
#[derive(Clone, Copy, PartialEq)]
enum Titles {
    Whole,
    Broken,
}

fn widths(rows: &[Vec<String>], count: usize, titles: Titles) -> Vec<usize> {
    let longest_word = |title: &String| title.split(' ').map(|w| w.chars().count()).max().unwrap_or(0);
    let width = |column: usize| {
        let cell = |(i, row): (usize, &Vec<String>)| match row.get(column)? {
            // It may run across the columns beside it.
            _ if row.len() == 1 && count > 1 => None,
            title if i == 0 && titles == Titles::Broken => Some(longest_word(title)),
            cell => Some(cell.chars().count()),
        };
        rows.iter().enumerate().filter_map(cell).max().unwrap_or(0)
    };
    (0..count).map(width).collect()
}

struct Table<'a> {
    rows: &'a [Vec<String>],
    widths: Vec<usize>,
    gap: usize,
    indent: &'a str,
}

impl Table<'_> {
    fn width(&self, columns: &[usize]) -> usize {
        let gaps = self.gap * columns.len().saturating_sub(1);
        columns.iter().map(|c| self.widths[*c]).sum::<usize>() + gaps
    }

    fn draw(&self, columns: &[usize]) -> String {
        let mut text = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            if i > 0 {
                self.line(columns, row, &mut text);
                continue;
            }
            let broken: Vec<Vec<String>> = row.iter().zip(&self.widths).map(|(t, w)| lines(t, *w)).collect();
            let shown = columns.iter().filter_map(|c| broken.get(*c));
            let height = shown.map(Vec::len).max().unwrap_or(0);
            for level in (0..height).rev() {
                // Titles stand on the first row, so that short ones begin lower.
                let cell = |lines: &Vec<String>| {
                    lines.len().checked_sub(level + 1).map_or_else(String::new, |at| lines[at].clone())
                };
                self.line(columns, &broken.iter().map(cell).collect::<Vec<_>>(), &mut text);
            }
        }
        text
    }

    fn line(&self, columns: &[usize], row: &[String], text: &mut String) {
        let mut line = String::new();
        for column in columns {
            let Some(cell) = row.get(*column) else { continue };
            let pad = " ".repeat(self.widths[*column].saturating_sub(cell.chars().count()));
            if *column == 0 {
                line = format!("{cell}{pad}");
            } else {
                let _ = write!(line, "{}{pad}{cell}", " ".repeat(self.gap));
            }
        }
        let _ = writeln!(text, "{}{}", self.indent, line.trim_end());
    }
}

/// A title in lines of at most this width, if no word is longer. An empty one is an empty line.
fn lines(title: &str, width: usize) -> Vec<String> {
    wrap(&format!("{title}\n"), "", width).lines().map(String::from).collect()
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

/// A number with this many decimals. What rounds to zero has no sign.
pub fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_string(),
        _ => text,
    }
}

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
        let pieces = if words.starts_with("derrl ") { vec![words] } else { words_of(words) };
        for word in pieces {
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

/// The words of a text; what stands between backquotes is one word, if it is short.
fn words_of(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('`').and_then(|text| text.find('`')).map(|at| at + 2);
        let from = quoted.filter(|end| *end <= MOST_QUOTED).unwrap_or(0);
        let end = rest[from..].find(' ').map_or(rest.len(), |at| from + at);
        words.push(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    words
}

/// The longest text between backquotes that is kept on one line.
const MOST_QUOTED: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn table(count: usize, cell: &str) -> Vec<Vec<String>> {
        let titles = (0..count).map(|c| if c == 0 { "world".into() } else { format!("title of {c}") });
        let row = |name: &str| {
            (0..count).map(|c| if c == 0 { name.into() } else { format!("{cell}{c}") }).collect()
        };
        vec![
            titles.collect(),
            row("blocks"),
            vec!["a heading that is longer than the column".into()],
            row("doorkey"),
        ]
    }

    #[test]
    fn a_table_fits_and_loses_nothing() {
        for (count, cell) in [(1, ""), (3, "1,000"), (7, "10,00"), (9, "1"), (12, "100"), (30, "1,000,00")] {
            let rows = table(count, cell);
            for indent in ["", "    "] {
                let text = columns(&rows, indent);
                assert!(text.lines().all(|l| l.chars().count() <= WIDTH && l.trim_end() == l), "{text}");
                let words = rows.iter().flatten().flat_map(|cell| cell.split(' '));
                for word in words {
                    assert!(text.split_whitespace().any(|w| w == word), "{word} is missing in\n{text}");
                }
            }
        }
    }

    #[test]
    fn titles_break_before_tables_do() {
        let text = columns(&table(11, "100"), "");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].trim().starts_with("title  title") && lines[1].starts_with("world"), "{text}");
        assert_eq!(lines.len(), 5, "{text}");
        // What is left over follows below, beside the same names.
        let text = columns(&table(30, "1,000,00"), "");
        assert!(text.matches("doorkey").count() > 1 && text.contains("\n\n"), "{text}");
    }

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
        assert_eq!(wrap("or `--set restarts=N`, so", "", 20), "or\n`--set restarts=N`,\nso\n");
        assert_eq!(wrap("an odd ` stays  as it is", "", 80), "an odd ` stays  as it is\n");
    }

    #[test]
    fn zero_has_no_sign() {
        let all = [(-0.004, 2), (-0.006, 2), (0.0, 3), (-0.0, 1), (-10.0, 0)]
            .map(|(value, digits)| fixed(value, digits));
        assert_eq!(all, ["0.00", "-0.01", "0.000", "0.0", "-10"]);
    }
}
