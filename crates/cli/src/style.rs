//! Colour for terminals that show it.

use std::io::IsTerminal;

use clap::ValueEnum;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that shows it, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Paints text, or leaves it plain.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For standard output.
    pub fn stdout(color: Color) -> Paint {
        Paint::of(&std::io::stdout(), color)
    }

    /// For a stream. <https://no-color.org>: a NO_COLOR that is not empty means none.
    pub fn of(stream: &impl IsTerminal, color: Color) -> Paint {
        let unset = |name: &str| std::env::var_os(name).is_none_or(|v| v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        let auto = || unset("NO_COLOR") && !dumb && stream.is_terminal();
        Paint { on: color == Color::Always || (color == Color::Auto && auto()) }
    }

    /// Leaves all text plain.
    pub fn none() -> Paint {
        Paint { on: false }
    }

    /// Whether it paints.
    pub fn is_on(self) -> bool {
        self.on
    }

    fn code(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// What matters most.
    pub fn strong(self, text: &str) -> String {
        self.code("1", text)
    }

    /// What matters least.
    pub fn faint(self, text: &str) -> String {
        self.code("2", text)
    }

    /// What holds, or comes.
    pub fn good(self, text: &str) -> String {
        self.code("32", text)
    }

    /// What fails, or goes.
    pub fn bad(self, text: &str) -> String {
        self.code("31", text)
    }

    /// What is left to chance.
    pub fn unsure(self, text: &str) -> String {
        self.code("33", text)
    }

    /// A rule.
    pub fn rule(self, text: &str) -> String {
        self.code("36", text)
    }
}
