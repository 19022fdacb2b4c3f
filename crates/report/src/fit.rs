//! Lines that fit a terminal, however long they were.

/// The columns that a line is moved in where it goes on, if it is no rule.
const HANG: usize = 4;

/// The text with each line that is wider than `width` broken, and moved in where it goes on. Lines are broken at spaces, at best
/// outside the arguments of an atom, and the body of a rule goes on under its first atom. Three kinds of line are left as they are: a command to copy
/// (`derrl ...`), a line of a file with its number (`3 | ...`), and a word that is longer than a line. Colours take no room.
///
/// ```
/// let rule = "0.97::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n";
/// let fitted = derrl_report::fit(rule, 42);
/// assert_eq!(fitted, "0.97::move(X, Y) :- top(X), top(Y),\n                    goal_on(X, Y).\n");
/// ```
pub fn fit(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        fit_line(line, width, &mut out);
        out.push_str(end);
    }
    out
}

fn fit_line(line: &str, width: usize, out: &mut String) {
    let marks = marks(line);
    let room = |marks: &[Mark]| marks.iter().map(Mark::room).sum::<usize>();
    if room(&marks) <= width || is_kept(line) {
        out.push_str(line);
        return;
    }
    let first = marks.iter().position(|m| m.char.is_some_and(|c| c != ' ')).unwrap_or(marks.len());
    let body = line.find(":- ").map(|at| room(&marks[..marks.partition_point(|m| m.start < at + 3)]));
    let indent = room(&marks[..first]);
    // Where there is hardly any room, moving in would leave none.
    let hang = body.into_iter().chain([indent + HANG]).find(|hang| *hang <= width / 2).unwrap_or(0);
    let mut start = 0;
    let mut column = 0;
    let mut breaks = Break::default();
    for (at, mark) in marks.iter().enumerate() {
        column += mark.room();
        if column > width
            && let Some(found) = breaks.best()
        {
            out.push_str(shown(line, &marks, start, found).trim_end_matches(' '));
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            start = found + 1;
            // Spaces that stood beside the break are not wanted at the beginning of a line.
            while start < at && marks[start].char == Some(' ') {
                start += 1;
            }
            column = hang + room(&marks[start..=at]);
            breaks = Break::default();
            (start..at).for_each(|later| breaks.see(later, &marks));
        }
        if at >= first {
            breaks.see(at, &marks);
        }
    }
    out.push_str(shown(line, &marks, start, marks.len()));
}

/// Whether a line stays as it is, however long.
fn is_kept(line: &str) -> bool {
    let words = line.trim_start();
    let numbered = words.trim_start_matches(|c: char| c.is_ascii_digit());
    words.starts_with("derrl ") || numbered.starts_with(" | ")
}

/// A character, or a code that takes no room.
struct Mark {
    /// Where it begins in the line.
    start: usize,
    /// None for a code.
    char: Option<char>,
    /// How many arguments of atoms it stands in.
    depth: usize,
}

impl Mark {
    fn room(&self) -> usize {
        usize::from(self.char.is_some())
    }
}

fn marks(line: &str) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::with_capacity(line.len());
    // Whether each open bracket is that of an atom: `move(` is, the one of a remark is not.
    let mut open: Vec<bool> = Vec::new();
    let mut before = ' ';
    let mut chars = line.char_indices();
    while let Some((start, c)) = chars.next() {
        let depth = open.iter().filter(|atom| **atom).count();
        if c == '\x1b' {
            // ESC [ parameters letter
            while chars.next().is_some_and(|(_, c)| !c.is_ascii_alphabetic()) {}
            marks.push(Mark { start, char: None, depth });
            continue;
        }
        match c {
            '(' => open.push(before.is_alphanumeric() || before == '_'),
            ')' => drop(open.pop()),
            _ => {}
        }
        marks.push(Mark { start, char: Some(c), depth });
        before = c;
    }
    marks
}

fn shown<'l>(line: &'l str, marks: &[Mark], from: usize, to: usize) -> &'l str {
    let place = |at: usize| marks.get(at).map_or(line.len(), |mark| mark.start);
    &line[place(from)..place(to)]
}

/// The last spaces at which a line can be broken: any, and one that is in no atom.
#[derive(Default)]
struct Break {
    any: Option<usize>,
    outside: Option<usize>,
}

impl Break {
    fn see(&mut self, at: usize, marks: &[Mark]) {
        // A sign stays beside what it is about: `\+ top(X)`, `% a remark`, `- top(X)`.
        let sign = at >= 2
            && matches!(marks[at - 1].char, Some('+' | '-' | '%'))
            && matches!(marks[at - 2].char, Some(' ' | '\\'));
        if marks[at].char == Some(' ') && !sign {
            self.any = Some(at);
            if marks[at].depth == 0 {
                self.outside = Some(at);
            }
        }
    }

    fn best(&self) -> Option<usize> {
        self.outside.or(self.any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str =
        "  0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y), \\+ goal_on(X, Y), \\+ top(Z).  % gradient\n";

    fn bare(text: &str) -> String {
        marks(text).iter().filter_map(|m| m.char).collect()
    }

    #[test]
    fn lines_fit_and_lose_nothing_but_spaces() {
        let long = "x".repeat(50);
        let painted = format!(
            "\x1b[36m{}\x1b[0m  (one of 3 that tie, and a remark that is long enough)",
            RULE.trim_end()
        );
        for text in [
            RULE,
            &painted,
            "a b\n\n  c d e f\n",
            &format!("{long} {long} a"),
            "",
            "\n",
            "ä ö ü ß é ñ ø å œ ç",
        ] {
            for width in [8, 20, 40, 60, 80, 200] {
                let fitted = fit(text, width);
                let words = |t: &str| t.split_whitespace().map(str::to_string).collect::<Vec<_>>();
                assert_eq!(words(&fitted), words(text));
                assert_eq!(fitted.ends_with('\n'), text.ends_with('\n'));
                for line in fitted.lines().map(bare) {
                    let one =
                        |text: &str| !text.trim().trim_start_matches(['\\', '+', '%', ' ']).contains(' ');
                    assert!(line.chars().count() <= width || one(&line), "{width}: {fitted}");
                }
            }
        }
    }

    #[test]
    fn atoms_stay_whole_and_what_fits_stays() {
        assert_eq!(
            fit(RULE, 60),
            "  0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y),\n                      \\+ goal_on(X, Y), \\+ top(Z).\n\
             \x20                     % gradient\n"
        );
        assert!(fit(RULE, 30).starts_with(
            "  0.80::move(X, Y) :- top(X),\n      on(X, Z), isFloor(Y),\n      \\+ goal_on(X, Y)"
        ));
        assert_eq!(fit(RULE, 200), RULE);
        let kept = "3 | move(X, Y) :- top(X), top(Y)\n  derrl train --resume 'my folder of runs'\n";
        assert_eq!(fit(kept, 20), kept);
    }
}
