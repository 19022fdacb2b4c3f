//! Sources, and the diagnostics that point into them with a line, a column and a caret.
//!
//! A message is worded where the mistake is found; this file only places and draws it. Everything a
//! diagnostic shows is copied out of the source when it is made, so it outlives the text.

use std::fmt;
use std::ops::Deref;

use crate::syntax::Span;

/// A text to read, with the name that messages give it (usually a path).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// The longest text that is read, in bytes. Domains and policies are a few kilobytes; the cap keeps
    /// a file given by mistake from filling the memory with syntax trees.
    pub const MAX_BYTES: usize = 4 << 20;

    /// A source of that name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: with_newlines(text.into()) }
    }

    /// The source held by raw bytes; an error that shows the place if they are too many or not UTF-8.
    ///
    /// ```
    /// use derrl_logic::Source;
    /// let error = Source::from_bytes("policy.pl", b"move(X,\n\xff".to_vec()).unwrap_err();
    /// assert_eq!(error.to_string().lines().nth(1), Some(" --> policy.pl:2:1"));
    /// ```
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Source, Error> {
        let name = name.into();
        if bytes.len() > Source::MAX_BYTES {
            return Err(Source::new(name, "").too_long());
        }
        String::from_utf8(bytes).map(|text| Source::new(name.clone(), text)).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            let byte = e.as_bytes()[at];
            let lossy = Source::new(name, String::from_utf8_lossy(e.as_bytes()));
            let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
            lossy
                .error(Span::new(at, end), format!("byte 0x{byte:02x} is not valid UTF-8"))
                .with_help("save the file as UTF-8 text")
        })
    }

    /// An error if the text is longer than [`Source::MAX_BYTES`].
    pub(crate) fn check_length(&self) -> Result<(), Error> {
        if self.text.len() > Source::MAX_BYTES { Err(self.too_long()) } else { Ok(()) }
    }

    fn too_long(&self) -> Error {
        Error::new(format!("`{}` has more than {} bytes; no more are read", self.name, Source::MAX_BYTES))
            .with_help("a domain, policy or state is a few kilobytes of text: is this the right file?")
    }

    /// An error about the part of the text that `span` covers.
    pub fn error(&self, span: Span, message: impl Into<String>) -> Error {
        Error(Box::new(self.diagnostic(Severity::Error, span, message)))
    }

    /// A warning about the part of the text that `span` covers.
    pub fn warning(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.diagnostic(Severity::Warning, span, message)
    }

    fn diagnostic(&self, severity: Severity, span: Span, message: impl Into<String>) -> Diagnostic {
        let place = Some(Place::new(self, span));
        Diagnostic { severity, message: message.into(), place, help: None }
    }

    /// The line of a byte offset, counted from 1.
    pub fn line(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        1 + self.text.bytes().take(offset).filter(|&b| b == b'\n').count()
    }
}

/// The text with `\n` for each `\r` that ends a line by itself, as old Macs had it. No byte changes its place.
fn with_newlines(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    let mut next = text.chars().skip(1);
    text.chars().map(|c| if next.next() != Some('\n') && c == '\r' { '\n' } else { c }).collect()
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The text cannot be used.
    Error,
    /// The text can be used, but part of it probably does not do what was meant.
    Warning,
}

/// Where in a source a diagnostic points, with the line to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the source.
    pub source: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The bytes of the source it is about.
    pub span: Span,
    excerpt: Excerpt,
}

impl Place {
    fn new(source: &Source, span: Span) -> Place {
        let text = &source.text;
        let start = floor_char_boundary(text, span.start);
        let end = floor_char_boundary(text, span.end).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let line = text[line_start..line_end].trim_end_matches('\r');
        let within = |at: usize| (at - line_start).min(line.len());
        Place {
            source: source.name.clone(),
            line: source.line(start),
            column: 1 + text[line_start..start].chars().count(),
            span,
            excerpt: Excerpt::new(line, within(start), within(end)),
        }
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The part of a line that is shown, and where the caret stands under it, in terminal cells.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    indent: usize,
    carets: usize,
}

impl Excerpt {
    /// Cells of a line that is shown whole, at the most: with the number of the line it fits 80 columns.
    const WHOLE: usize = 75;
    /// Cells that stay of a longer line, beside the dots.
    const WIDTH: usize = 68;
    /// How many of them stand before the span.
    const BEFORE: usize = 30;

    fn new(line: &str, start: usize, end: usize) -> Excerpt {
        let cells = |s: &str| s.chars().map(|c| Cell::of(c).width).sum::<usize>();
        let (mut from, mut until) = (0, line.len());
        if cells(line) > Excerpt::WHOLE {
            let mut room = Excerpt::BEFORE;
            let fits = |room: &mut usize, c: char| {
                let width = Cell::of(c).width;
                let ok = width <= *room;
                *room = room.saturating_sub(width);
                ok
            };
            let head = line[..start].char_indices().rev().take_while(|&(_, c)| fits(&mut room, c));
            from = head.last().map_or(start, |(i, _)| i);
            room += Excerpt::WIDTH - Excerpt::BEFORE;
            let tail = line[start..].char_indices().take_while(|&(_, c)| fits(&mut room, c));
            until = tail.last().map_or(start, |(i, c)| start + i + c.len_utf8());
        }
        let mut text = String::new();
        if from > 0 {
            text.push_str("...");
        }
        let indent = text.len() + cells(&line[from..start]);
        text.extend(line[from..until].chars().flat_map(|c| Cell::of(c).shown));
        if until < line.len() {
            text.push_str("...");
        }
        Excerpt { text, indent, carets: cells(&line[start..end.clamp(start, until)]).max(1) }
    }
}

/// What stands on a terminal for one character of a source.
struct Cell {
    shown: std::iter::RepeatN<char>,
    width: usize,
}

impl Cell {
    /// A tab is four spaces, so that it has one width everywhere; a control or direction character,
    /// which could disturb the terminal or the reading order, is drawn as a replacement character.
    fn of(c: char) -> Cell {
        let (shown, count, width) = match c {
            '\t' => (' ', 4, 4),
            c if is_disruptive(c) => (char::REPLACEMENT_CHARACTER, 1, 1),
            c => (c, 1, width(c)),
        };
        Cell { shown: std::iter::repeat_n(shown, count), width }
    }
}

/// Whether a character could disturb a terminal or the order in which a line is read.
pub(crate) fn is_disruptive(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The terminal cells of a printable character: the blocks of Unicode's East Asian Width and of its
/// combining marks that occur in practice. A wrong guess moves a caret, nothing else.
fn width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5bd}'
        | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{200b}'..='\u{200d}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}'
        | '\u{feff}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// A message about a text: what is wrong, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where, if it is about a place in a text.
    pub place: Option<Place>,
    /// What would be right.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A warning that points nowhere.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, message: message.into(), place: None, help: None }
    }

    /// The same diagnostic with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.message)?;
        let mut gutter = 1;
        if let Some(Place { source, line, column, excerpt, .. }) = &self.place {
            gutter = line.to_string().len();
            let Excerpt { text, indent, carets } = excerpt;
            write!(f, "\n{:gutter$}--> {source}:{line}:{column}", "")?;
            write!(f, "\n{:gutter$} |", "")?;
            write!(f, "\n{line} | {text}")?;
            write!(f, "\n{:gutter$} | {:indent$}{:^<carets$}", "", "", "")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{:gutter$} = help: {help}", "")?;
        }
        Ok(())
    }
}

/// The error of this crate: one [`Diagnostic`], usually with a place in a text.
///
/// `Display` draws it as a compiler would: the message, the place, the line with a caret, the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(Box<Diagnostic>);

impl Error {
    /// An error that points nowhere.
    pub fn new(message: impl Into<String>) -> Error {
        let message = message.into();
        Error(Box::new(Diagnostic { severity: Severity::Error, message, place: None, help: None }))
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Error {
        self.0.help = Some(help.into());
        self
    }
}

impl Deref for Error {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0
    }
}

/// The candidate nearest to a misspelt name, if one is near enough to be what was meant.
///
/// ```
/// use derrl_logic::diagnostic::nearest;
/// assert_eq!(nearest("onn", ["top", "on"]), Some("on"));
/// assert_eq!(nearest("elephant", ["top", "on"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong; a difference of case or underscores alone is always near.
    let allowed = (name.chars().count() / 3).max(1);
    let folded = fold(name);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            if fold(candidate) == folded {
                return Some((0, candidate));
            }
            if candidate.len().abs_diff(name.len()) > 4 * allowed {
                return None;
            }
            let distance = strsim::damerau_levenshtein(name, candidate);
            (distance <= allowed && distance < name.chars().count()).then_some((distance, candidate))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, part: &str) -> Vec<String> {
        let start = text.find(part).expect("the part is in the text");
        let error = Source::new("t.pl", text).error(Span::new(start, start + part.len()), "m");
        error.to_string().lines().map(str::to_string).collect()
    }

    #[test]
    fn the_caret_lines_up_with_tabs_and_wide_characters() {
        let lines = drawn("a\n\tp('東京', bad).", "bad");
        assert_eq!(lines[1], " --> t.pl:2:10");
        assert_eq!(lines[3], "2 |     p('東京', bad).");
        // The wide characters take two cells each: 4 + `p('` 3 + 4 + `', ` 3.
        assert_eq!(lines[4], format!("  | {}^^^", " ".repeat(14)));
    }

    #[test]
    fn combining_marks_take_no_room() {
        let lines = drawn("p('e\u{301}', bad).", "bad");
        assert_eq!(lines[1], " --> t.pl:1:9");
        assert_eq!(lines[4], format!("  | {}^^^", " ".repeat(7)));
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let text = format!("{}, bad, {}", "x".repeat(5000), "y".repeat(5000));
        let lines = drawn(&text, "bad");
        assert_eq!(lines[1], " --> t.pl:1:5003");
        assert!(lines[3].starts_with("1 | ...xxx") && lines[3].ends_with("yyy..."), "{}", lines[3]);
        assert_eq!(lines[3].len(), 4 + 3 + Excerpt::WIDTH + 3);
        assert_eq!(lines[3].find("bad"), lines[4].find('^'));
    }

    #[test]
    fn a_span_longer_than_the_window_or_the_line_stays_inside_it() {
        let long = "x".repeat(500);
        let lines = drawn(&long, &long);
        assert_eq!(lines[3], format!("1 | {}...", "x".repeat(68)));
        assert_eq!(lines[4], format!("  | {}", "^".repeat(68)));
        let lines = drawn("one(\ntwo", "(\ntwo");
        assert_eq!(lines[4], "  |    ^");
    }

    #[test]
    fn terminal_escapes_are_not_passed_on() {
        let lines = drawn("p \u{1b}[31m bad\r\n", "bad");
        assert_eq!(lines[3], "1 | p \u{fffd}[31m bad");
    }

    #[test]
    fn a_span_outside_the_text_is_harmless() {
        let error = Source::new("t.pl", "é").error(Span::new(1, 99), "m");
        assert_eq!((error.place.as_ref().unwrap().line, error.place.as_ref().unwrap().column), (1, 1));
    }

    #[test]
    fn case_and_underscores_are_near() {
        assert_eq!(nearest("goalOn", ["top", "goal_on"]), Some("goal_on"));
        assert_eq!(nearest("tpo", ["top", "goal_on"]), Some("top"));
        assert_eq!(nearest("p", ["q"]), None);
    }
}
