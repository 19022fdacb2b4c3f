//! Text to tokens, one at a time and in one pass: no token is stored, so reading is linear in the text.

use std::borrow::Cow;
use std::fmt;

use crate::diagnostic::{Error, Source};
use crate::syntax::{Op, Quoted, Span};

/// The longest name that is read, in characters: every message that repeats a name stays readable.
const MAX_NAME: usize = 255;

/// A token of the language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A predicate or constant, quotes and escapes undone.
    Name(Cow<'a, str>),
    /// A variable.
    Var(&'a str),
    /// An integer.
    Int(i64),
    /// A number with a fraction or an exponent.
    Decimal(f64),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `.` with white space, a comment or nothing after it.
    End,
    /// `:-`, `<-` or `←`
    If,
    /// `::`
    Weight,
    /// `/`
    Slash,
    /// `\+`
    Not,
    /// `>`, `>=`, `<` or `=<`
    Compare(Op),
    /// `=`
    Equals,
    /// `+`
    Plus,
    /// `-` that is not the sign of a number.
    Minus,
    /// `*`
    Times,
    /// The end of the text.
    Eof,
}

impl fmt::Display for Token<'_> {
    /// How a message calls the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => write!(f, "`{}`", Quoted(name)),
            Token::Var(name) => write!(f, "variable `{name}`"),
            Token::Int(i) => write!(f, "number `{i}`"),
            Token::Decimal(_) => f.write_str("a decimal number"),
            Token::Open => f.write_str("`(`"),
            Token::Close => f.write_str("`)`"),
            Token::Comma => f.write_str("`,`"),
            Token::End => f.write_str("`.`"),
            Token::If => f.write_str("`:-`"),
            Token::Weight => f.write_str("`::`"),
            Token::Slash => f.write_str("`/`"),
            Token::Not => f.write_str("`\\+`"),
            Token::Compare(op) => write!(f, "`{op}`"),
            Token::Equals => f.write_str("`=`"),
            Token::Plus => f.write_str("`+`"),
            Token::Minus => f.write_str("`-`"),
            Token::Times => f.write_str("`*`"),
            Token::Eof => f.write_str("the end of the text"),
        }
    }
}

/// What Prolog has and this language has not, by how it starts: the text, what it is, what to do instead.
const NOT_IN_THE_LANGUAGE: &[(&str, &str, &str)] = &[
    (";", "`;` (or)", "write one rule for each alternative"),
    ("-->", "`-->`", "rules are written `head :- body.`"),
    ("->", "`->` (if-then-else)", "write one rule for each case"),
    ("!", "`!` (cut)", "rules are ordered by their weights, as in `0.90::move(X, Y) :- top(X), top(Y).`"),
    ("[", "`[` (a list)", "arguments are variables and constants only"),
    ("{", "`{`", "arguments are variables and constants only"),
    ("|", "`|`", "write one rule for each alternative"),
    (
        "\"",
        "`\"` (a string)",
        "a name with capitals or spaces is written in single quotes, as in `'Big Room'`",
    ),
    ("\\=", "`\\=`", "leave it out: distinct variables always stand for distinct objects"),
    (
        "==",
        "`==`",
        "leave it out: use the same variable in both places; numbers are compared with `>`, `>=`, `<` and `=<`",
    ),
    ("=:=", "`=:=`", "numbers are compared with `>`, `>=`, `<` and `=<`"),
    ("=>", "`=>`", "at least is written `>=`, as in `queue(X) >= 3`"),
    ("<=", "`<=`", "at most is written `=<`, as in `queue(X) =< 3`; a rule is written `head :- body.`"),
    ("\\", "`\\`", "negation is written `\\+ p(X)`"),
    ("¬", "`¬`", "negation is written `\\+ p(X)`"),
    (":", "`:`", "a rule is written `head :- body.`, a weight `0.99::head :- body.`"),
    ("?-", "`?-` (a query)", "a text holds directives, rules and facts only"),
    ("#", "`#`", "a comment starts with `%`"),
    ("\0", "a NUL byte", "is this a text file?"),
];

/// Reads tokens off a source from left to right.
#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    source: &'a Source,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a Source) -> Lexer<'a> {
        // A byte-order mark is an encoding's business, not the text's.
        let at = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer { source, at }
    }

    fn rest(&self) -> &'a str {
        &self.source.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Moves past the characters that satisfy `keep` and returns them.
    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !keep(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn skip_blanks(&mut self) -> Result<(), Error> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with('%') {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let Some(length) = self.rest()[2..].find("*/") else {
                    let open = Span::new(self.at, self.at + 2);
                    return Err(self
                        .source
                        .error(open, "this comment is never closed")
                        .with_help("close it with `*/`"));
                };
                self.at += 2 + length + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// The next token and where it stands.
    pub(crate) fn next(&mut self) -> Result<(Token<'a>, Span), Error> {
        self.skip_blanks()?;
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok((Token::Eof, Span::new(start, start)));
        };
        let token = match first {
            '(' => self.symbol(1, Token::Open),
            ')' => self.symbol(1, Token::Close),
            ',' => self.symbol(1, Token::Comma),
            '/' => self.symbol(1, Token::Slash),
            '←' => self.symbol('←'.len_utf8(), Token::If),
            '.' => self.end()?,
            '\'' => Token::Name(self.quoted()?),
            _ if self.rest().starts_with(":-") || self.rest().starts_with("<-") => self.symbol(2, Token::If),
            _ if self.rest().starts_with("::") => self.symbol(2, Token::Weight),
            _ if self.rest().starts_with("\\+") => self.symbol(2, Token::Not),
            '>' if self.rest().starts_with(">=") => self.symbol(2, Token::Compare(Op::AtLeast)),
            '>' => self.symbol(1, Token::Compare(Op::Greater)),
            '=' if self.rest().starts_with("=<") => self.symbol(2, Token::Compare(Op::AtMost)),
            '=' if !self.rest()[1..].starts_with(['=', ':', '>']) => self.symbol(1, Token::Equals),
            '<' if !self.rest().starts_with("<=") => self.symbol(1, Token::Compare(Op::Less)),
            '+' => self.symbol(1, Token::Plus),
            '*' => self.symbol(1, Token::Times),
            c if c.is_ascii_digit() => self.number()?,
            '-' if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            '-' if !self.rest().starts_with("-->") && !self.rest().starts_with("->") => {
                self.symbol(1, Token::Minus)
            }
            c if is_word(c) => self.word()?,
            c => return Err(self.unexpected(c)),
        };
        Ok((token, Span::new(start, self.at)))
    }

    fn symbol(&mut self, bytes: usize, token: Token<'a>) -> Token<'a> {
        self.at += bytes;
        token
    }

    fn unexpected(&self, c: char) -> Error {
        for (prefix, what, instead) in NOT_IN_THE_LANGUAGE {
            if self.rest().starts_with(prefix) {
                let span = Span::new(self.at, self.at + prefix.len());
                return self
                    .source
                    .error(span, format!("{what} is not part of the language"))
                    .with_help(*instead);
            }
        }
        let span = Span::new(self.at, self.at + c.len_utf8());
        let shown = if c.is_control() { format!("U+{:04X}", u32::from(c)) } else { c.to_string() };
        self.source
            .error(span, format!("unexpected character `{shown}`"))
            .with_help("a name with such characters is written in single quotes, as in `'a-b'`")
    }

    /// The `.` that ends a sentence.
    fn end(&mut self) -> Result<Token<'a>, Error> {
        let span = Span::new(self.at, self.at + 1);
        self.at += 1;
        match self.peek() {
            None | Some('%') => Ok(Token::End),
            Some(c) if c.is_whitespace() => Ok(Token::End),
            Some(_) => Err(self
                .source
                .error(span, "a `.` that ends a sentence needs white space after it")
                .with_help("start the next sentence on a new line")),
        }
    }

    /// A variable (upper-case letter or `_` first) or a plain name.
    fn word(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at;
        let word = self.take_while(is_word);
        self.check_name(word, start)?;
        let variable = word.starts_with(|c: char| c == '_' || c.is_uppercase());
        Ok(if variable { Token::Var(word) } else { Token::Name(Cow::Borrowed(word)) })
    }

    fn check_name(&self, name: &str, start: usize) -> Result<(), Error> {
        if name.len() <= MAX_NAME || name.chars().count() <= MAX_NAME {
            return Ok(());
        }
        let span = Span::new(start, self.at);
        Err(self
            .source
            .error(span, format!("a name of more than {MAX_NAME} characters"))
            .with_help("shorten it"))
    }

    /// `3`, `-3`, `0.99`, `1e-3`.
    fn number(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at;
        let digit = |c: char| c.is_ascii_digit();
        self.at += usize::from(self.rest().starts_with('-'));
        self.take_while(digit);
        let mut decimal = false;
        if self.rest().starts_with('.') && self.rest()[1..].starts_with(digit) {
            decimal = true;
            self.at += 1;
            self.take_while(digit);
        }
        if self.rest().starts_with(['e', 'E']) {
            let exponent = self.rest()[1..].trim_start_matches(['+', '-']);
            if exponent.starts_with(digit) && self.rest().len() - exponent.len() <= 2 {
                decimal = true;
                self.at = self.source.text.len() - exponent.len();
                self.take_while(digit);
            }
        }
        let text = &self.source.text[start..self.at];
        if self.peek().is_some_and(is_word) {
            self.take_while(is_word);
            let span = Span::new(start, self.at);
            let error = self.source.error(span, "a number may not run into a name");
            return Err(
                error.with_help("a name that starts with a digit is written in single quotes, as in `'3d'`")
            );
        }
        let span = Span::new(start, self.at);
        if decimal {
            return match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Token::Decimal(value)),
                _ => Err(self.source.error(span, "this number is too large")),
            };
        }
        text.parse().map(Token::Int).map_err(|_| {
            let range = format!("integers go from {} to {}", i64::MIN, i64::MAX);
            self.source.error(span, "this integer is too large").with_help(range)
        })
    }

    /// A name in single quotes, with Prolog's escapes.
    fn quoted(&mut self) -> Result<Cow<'a, str>, Error> {
        let start = self.at;
        self.at += 1;
        let mut name = Cow::Borrowed("");
        loop {
            let plain = self.take_while(|c| !matches!(c, '\'' | '\\' | '\n' | '\0'));
            if name.is_empty() {
                name = Cow::Borrowed(plain);
            } else {
                name.to_mut().push_str(plain);
            }
            match self.peek() {
                Some('\'') if self.rest().starts_with("''") => {
                    self.at += 2;
                    name.to_mut().push('\'');
                }
                Some('\'') => {
                    self.at += 1;
                    self.check_name(&name, start)?;
                    return Ok(name);
                }
                Some('\\') => {
                    if let Some(c) = self.escape()? {
                        name.to_mut().push(c);
                    }
                }
                Some('\0') => return Err(self.unexpected('\0')),
                _ => {
                    let span = Span::new(start, self.at);
                    let error = self.source.error(span, "this quoted name is not closed on its line");
                    return Err(
                        error.with_help("close it with `'`; a line break inside a name is written `\\n`")
                    );
                }
            }
        }
    }

    /// The character that an escape stands for; none for a line continuation.
    fn escape(&mut self) -> Result<Option<char>, Error> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return Err(self.bad_escape(start));
        };
        let hex = |c: char| c.is_ascii_hexdigit();
        let code = match c {
            'x' => {
                self.at += 1;
                let digits = self.take_while(hex);
                // ISO closes the digits with a backslash; SWI-Prolog lets it be left out.
                self.at += usize::from(self.rest().starts_with('\\'));
                u32::from_str_radix(digits, 16).ok()
            }
            '0'..='7' => {
                let digits = self.take_while(|c| ('0'..='7').contains(&c));
                self.at += usize::from(self.rest().starts_with('\\'));
                u32::from_str_radix(digits, 8).ok()
            }
            'u' | 'U' => {
                self.at += 1;
                let length = if c == 'u' { 4 } else { 8 };
                let digits = self.rest().get(..length).filter(|d| d.chars().all(hex));
                self.at += digits.map_or(0, str::len);
                digits.and_then(|d| u32::from_str_radix(d, 16).ok())
            }
            _ => {
                self.at += c.len_utf8();
                match c {
                    '\n' => return Ok(None),
                    'n' => Some(10),
                    't' => Some(9),
                    'r' => Some(13),
                    'a' => Some(7),
                    'b' => Some(8),
                    'f' => Some(12),
                    'v' => Some(11),
                    'e' => Some(27),
                    's' => Some(32),
                    '\\' | '\'' | '"' | '`' => Some(u32::from(c)),
                    _ => None,
                }
            }
        };
        match code.filter(|&code| code != 0).and_then(char::from_u32) {
            Some(c) => Ok(Some(c)),
            None => Err(self.bad_escape(start)),
        }
    }

    fn bad_escape(&self, start: usize) -> Error {
        self.source
            .error(Span::new(start, self.at), "this escape stands for no character")
            .with_help("a backslash is written `\\\\`, a quote `\\'`, a character by its code `\\x41\\`")
    }
}

/// Letters of any script, digits and `_`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let source = Source::new("t.pl", text);
        let mut lexer = Lexer::new(&source);
        let mut all = Vec::new();
        loop {
            match lexer.next() {
                Ok((Token::Eof, _)) => return all,
                Ok((token, _)) => all.push(format!("{token:?}")),
                Err(error) => {
                    all.push(error.message.clone());
                    return all;
                }
            }
        }
    }

    #[test]
    fn escapes_are_undone() {
        let source = Source::new("t.pl", r"'it''s \x41\\101\B\u0043 \\ \n'");
        let (token, _) = Lexer::new(&source).next().unwrap();
        assert_eq!(token, Token::Name("it's AAB\u{43} \\ \n".into()));
    }

    #[test]
    fn numbers_end_where_sentences_do() {
        assert_eq!(tokens("3."), ["Int(3)", "End"]);
        assert_eq!(tokens("-4.5e1 1e3"), ["Decimal(-45.0)", "Decimal(1000.0)"]);
        assert_eq!(tokens("1e--3"), ["a number may not run into a name"]);
        assert_eq!(tokens("9223372036854775808"), ["this integer is too large"]);
        assert_eq!(tokens("-9223372036854775808"), ["Int(-9223372036854775808)"]);
    }

    #[test]
    fn all_three_arrows_are_one_token() {
        assert_eq!(tokens(":- <- ←"), ["If", "If", "If"]);
    }

    #[test]
    fn letters_of_other_scripts_are_letters() {
        assert_eq!(
            tokens("größe Élan 積 _x"),
            ["Name(\"größe\")", "Var(\"Élan\")", "Name(\"積\")", "Var(\"_x\")"]
        );
    }
}
