//! Text to nested lists of words: the shape of every PDDL file.

use derrl_logic::syntax::Span;
use derrl_logic::{Error, Source};

/// The longest text that is read, in bytes.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// How deep lists may nest. Real files stay below 20; every walk over a file recurses at most this far.
const MAX_DEPTH: usize = 200;

/// The longest word that is read, in bytes: every message that repeats a name stays readable.
const MAX_WORD: usize = 255;

/// A word or a list, with its place.
#[derive(Debug)]
pub(crate) enum Sexp<'a> {
    /// A name, number, variable, keyword or `-`.
    Word(&'a str, Span),
    /// What stands between parentheses.
    List(Vec<Sexp<'a>>, Span),
}

impl<'a> Sexp<'a> {
    /// Its place, parentheses included.
    pub(crate) fn span(&self) -> Span {
        match self {
            Sexp::Word(_, span) | Sexp::List(_, span) => *span,
        }
    }

    /// The word, if it is one.
    pub(crate) fn word(&self) -> Option<&'a str> {
        match self {
            Sexp::Word(word, _) => Some(word),
            Sexp::List(..) => None,
        }
    }

    /// The items, if it is a list.
    pub(crate) fn list(&self) -> Option<&[Sexp<'a>]> {
        match self {
            Sexp::Word(..) => None,
            Sexp::List(items, _) => Some(items),
        }
    }

    /// Whether it is this word, in any case.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.word().is_some_and(|w| w.eq_ignore_ascii_case(word))
    }

    /// The first word of a list.
    pub(crate) fn head(&self) -> Option<&'a str> {
        self.list()?.first()?.word()
    }
}

/// The one list that a file holds, of the given kind (`domain` or `problem`).
pub(crate) fn read<'a>(source: &'a Source, kind: &str) -> Result<Sexp<'a>, Error> {
    if source.text.len() > MAX_BYTES {
        let message = format!("`{}` has more than {MAX_BYTES} bytes; no more are read", source.name);
        return Err(Error::new(message).with_help("is this the right file?"));
    }
    let text = source.text.as_str();
    let bytes = text.as_bytes();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    // Lists that are open, with the place of their parenthesis.
    let mut open: Vec<(Vec<Sexp<'a>>, usize)> = Vec::new();
    let mut whole: Option<Sexp<'a>> = None;
    while at < bytes.len() {
        match bytes[at] {
            b if b.is_ascii_whitespace() => at += 1,
            b';' => at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at),
            b'(' => {
                if whole.is_some() {
                    return Err(source
                        .error(Span::new(at, at + 1), format!("the {kind} has ended before this"))
                        .with_help(
                            "a file holds one `(define ...)`: is there a `)` too many before this place?",
                        ));
                }
                if open.len() >= MAX_DEPTH {
                    return Err(source
                        .error(Span::new(at, at + 1), format!("lists nest more than {MAX_DEPTH} deep"))
                        .with_help("is a `)` missing somewhere before?"));
                }
                open.push((Vec::new(), at));
                at += 1;
            }
            b')' => {
                let Some((items, start)) = open.pop() else {
                    return Err(source
                        .error(Span::new(at, at + 1), "this `)` closes nothing")
                        .with_help("remove it, or add the `(` that it belongs to"));
                };
                at += 1;
                let list = Sexp::List(items, Span::new(start, at));
                match open.last_mut() {
                    Some((outer, _)) => outer.push(list),
                    None => whole = Some(list),
                }
            }
            _ => {
                let length = bytes[at..]
                    .iter()
                    .position(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b')' | b';'))
                    .unwrap_or(bytes.len() - at);
                let span = Span::new(at, at + length);
                let word = &text[at..at + length];
                check_word(source, word, span)?;
                let Some((items, _)) = open.last_mut() else {
                    let message = format!("expected `(define ({kind} ...) ...)`, found `{word}`");
                    return Err(source
                        .error(span, message)
                        .with_help(format!("a PDDL {kind} is one list in parentheses")));
                };
                items.push(Sexp::Word(word, span));
                at += length;
            }
        }
    }
    if let Some((_, start)) = open.last() {
        return Err(source
            .error(Span::new(*start, start + 1), "this `(` is never closed")
            .with_help("add the `)` that it needs"));
    }
    whole.ok_or_else(|| {
        source
            .error(Span::new(0, 0), format!("`{}` holds no {kind}", source.name))
            .with_help(format!("a PDDL {kind} is written `(define ({kind} NAME) ...)`"))
    })
}

fn check_word(source: &Source, word: &str, span: Span) -> Result<(), Error> {
    if word.len() > MAX_WORD {
        let message = format!("a word of {} bytes; at most {MAX_WORD} are read", word.len());
        return Err(source.error(span, message));
    }
    if let Some(c) = word.chars().find(|c| c.is_control() || matches!(c, '"' | '\'' | '`' | '\\')) {
        let message = format!("`{}` cannot stand in a name", c.escape_default());
        return Err(source.error(span, message).with_help("names are letters, digits, `-` and `_`"));
    }
    Ok(())
}
