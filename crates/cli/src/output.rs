//! The only way to standard output and standard error. No call panics, whoever holds the other end.
//!
//! | what is lost | what happens |
//! |---|---|
//! | a result, to a full disk or a broken device | the first error is kept, and the command ends with exit code 1 |
//! | a result, to a reader that went away (`derrl ... \| head`) | nothing: the reader has what it wanted |
//! | a message on standard error | nothing: there is nowhere left to say it |

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use derrl_report::fit;
use derrl_report::table::WIDTH;
use terminal_size::{Width, terminal_size};

use crate::style::{Color, Paint};

/// The first error of standard output.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints a result to standard output at once. What cannot be written is told in the end, and is an error. On a terminal, lines that are wider
/// are broken; a program or a file gets them whole, a rule per line.
pub fn print(text: &str) {
    print_file(&fitted(text, io::stdout().is_terminal()));
}

/// The same, and not a line is broken: what is printed is a file of some language.
pub fn print_file(text: &str) {
    let mut out = io::stdout().lock();
    keep(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Prints one JSON document.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_file(&format!("{}\n", serde_json::to_string_pretty(value)?));
    Ok(())
}

/// Prints what the command line parser has to say: help and versions are results, mistakes are messages.
pub fn print_usage(said: &clap::Error) {
    if said.use_stderr() {
        let paint = Paint::of(&io::stderr(), Color::Auto);
        let text = said.render();
        let text = if paint.is_on() { text.ansi().to_string() } else { text.to_string() };
        message(format_args!("{}", fit(text.trim_end(), WIDTH)));
    } else {
        keep(said.print().and_then(|()| io::stdout().flush()));
    }
}

/// The text as a terminal shows it best, or as it is.
fn fitted(text: &str, on_terminal: bool) -> Cow<'_, str> {
    if !on_terminal {
        return Cow::Borrowed(text);
    }
    let width = terminal_size().map_or(WIDTH, |(Width(columns), _)| usize::from(columns));
    Cow::Owned(fit(text, width))
}

/// Prints a message for the person who waits, a line on standard error. Use it by `say!`.
pub fn message(text: fmt::Arguments) {
    // One write, so that lines of several threads do not mix.
    let line = format!("{text}\n");
    let line = fitted(&line, io::stderr().is_terminal());
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// Prints a formatted line on standard error; unlike `say!`, it never panics.
macro_rules! say {
    ($($words:tt)*) => { $crate::output::message(format_args!($($words)*)) };
}
pub(crate) use say;

/// The reason why results were lost, if they were. A closed pipe loses nothing that anybody waits for.
pub fn lost() -> Option<String> {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
    lost.as_ref().map(|error| format!("cannot write to standard output: {error}"))
}

fn keep(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}
