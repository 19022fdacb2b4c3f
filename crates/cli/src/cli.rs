//! The `derrl` command: reads files, prints, exits. Everything else is in the libraries.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::Parser;

use derrl_env::World;

use crate::args::{Args, Command};
use crate::{
    bench, check, diff, domains, eval, explain, export, new, plan, report, reproduce, simplify, train, verify,
};

/// What went wrong, by the exit code it deserves.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request or its input is wrong: exit code 2.
    Input(anyhow::Error),
    /// The answer to what was asked is no, and has been printed: exit code 1.
    No,
    /// Something outside the program broke in the middle: exit code 1. What to do next is said.
    Broken(String),
    /// Ctrl-C: exit code 130, as shells expect. What to do next is said.
    Interrupted(String),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Input(error.into())
    }
}

pub(crate) type Outcome = Result<(), Failure>;

/// Every world that this command line knows: its own, and those it was given.
static WORLDS: OnceLock<Vec<World>> = OnceLock::new();

/// Every world that the command line knows.
pub(crate) fn worlds() -> &'static [World] {
    WORLDS.get().map_or_else(derrl_env::worlds, Vec::as_slice)
}

/// Runs the `derrl` command with these worlds beside the built-in ones, on the arguments of this process. A world takes the place
/// of a built-in one of the same name. This is all that the `main` of a crate with worlds of its own has to call:
///
/// ```no_run
/// # fn my_world() -> derrl::World { unimplemented!() }
/// fn main() -> std::process::ExitCode {
///     derrl::cli::main_with([my_world()])
/// }
/// ```
pub fn main_with(worlds: impl IntoIterator<Item = World>) -> ExitCode {
    run_with(worlds, std::env::args_os())
}

/// Runs the `derrl` command with these worlds on these arguments, of which the first is the name of the program. The worlds of the
/// first call in a process stay.
pub fn run_with<I, A>(worlds: impl IntoIterator<Item = World>, args: I) -> ExitCode
where
    I: IntoIterator<Item = A>,
    A: Into<OsString> + Clone,
{
    ExitCode::from(status_with(worlds, args))
}

/// The same, and returns the exit code as a number.
pub fn status_with<I, A>(worlds: impl IntoIterator<Item = World>, args: I) -> u8
where
    I: IntoIterator<Item = A>,
    A: Into<OsString> + Clone,
{
    WORLDS.get_or_init(|| {
        let mut all: Vec<World> = worlds.into_iter().collect();
        let built_in = derrl_env::worlds().iter().filter(|b| all.iter().all(|w| w.name() != b.name()));
        let built_in: Vec<World> = built_in.cloned().collect();
        all.extend(built_in);
        all
    });
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print(); // a reader that went away is no error of ours
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let outcome = match args.command {
        Command::Domains(command) => domains::run(&command),
        Command::Train(command) => train::run(&command),
        Command::Eval(command) => eval::run(&command),
        Command::Plan(command) => plan::run(&command),
        Command::New(command) => new::run(&command),
        Command::Explain(command) => explain::run(&command),
        Command::Verify(command) => verify::run(&command),
        Command::Diff(command) => diff::run(&command),
        Command::Simplify(command) => simplify::run(&command),
        Command::Export(command) => export::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Check(command) => check::run(&command),
        Command::Bench(command) => bench::run(&command),
        Command::Reproduce(command) => reproduce::run(&command),
    };
    match outcome {
        Ok(()) => 0,
        Err(Failure::Input(error)) => {
            // Errors of the language are drawn in full and begin with `error:` themselves.
            let text = format!("{error:#}");
            let prefix = if text.starts_with("error") { "" } else { "error: " };
            eprintln!("{prefix}{text}");
            2
        }
        Err(Failure::No) => 1,
        Err(Failure::Broken(text)) => {
            eprintln!("error: {text}");
            1
        }
        Err(Failure::Interrupted(text)) => {
            eprintln!("{text}");
            130
        }
    }
}

/// Prints to standard output; a reader that went away (a closed pipe) is no error of ours.
pub(crate) fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints one JSON document.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?));
    Ok(())
}
