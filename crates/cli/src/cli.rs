//! The `derrl` command: reads files, prints, exits. Everything else is in the libraries.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ErrorKind};
use derrl_env::World;

use crate::args::{Args, Command};
use crate::failure::{Failure, Outcome};
use crate::output::print_usage;
#[cfg(feature = "sumo")]
use crate::signals;
use crate::{
    check, diff, domains, eval, explain, export, failure, log, manual, new, plan, report, reproduce, say,
    serve, simplify, train, verify, watch,
};

/// Runs the `derrl` command with these worlds beside the built-in ones, on the arguments of this process. A world takes the place
/// of a built-in one of the same name. This is all that the `main` of a crate with worlds of its own has to call:
///
/// ```no_run
/// # fn my_world() -> derrl::World { unimplemented!() }
/// fn main() -> std::process::ExitCode {
///     derrl_cli::main_with([my_world()])
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
    derrl::worlds::bring(worlds);
    failure::conclude(|| match Args::try_parse_from(args) {
        Ok(args) => run(args),
        Err(said) => {
            print_usage(&said);
            let unknown = said.get(ContextKind::InvalidArg).map(ToString::to_string);
            if said.kind() == ErrorKind::UnknownArgument && unknown.as_deref() == Some("--max-steps") {
                say!(
                    "\n  --horizon bounds the steps of a planning problem; --max-steps is the budget of `derrl train`"
                );
            }
            if said.use_stderr() { Err(Failure::Usage) } else { Ok(()) }
        }
    })
}

fn run(args: Args) -> Outcome {
    match args.command {
        Command::Domains(command) => domains::run(&command),
        Command::Train(command) => train::run(&command),
        Command::Eval(command) => eval::run(&command),
        Command::Plan(command) => plan::run(&command),
        Command::New(command) => new::run(&command),
        Command::Explain(command) => explain::run(&command),
        Command::Replay(command) => log::replay(&command),
        Command::Verify(command) => verify::run(&command),
        Command::Diff(command) => diff::run(&command),
        Command::Simplify(command) => simplify::run(&command),
        Command::Export(command) => export::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Serve(command) => serve::run(&command),
        Command::Watch(command) => watch::run(&command),
        Command::Completions(command) => {
            manual::completions(&command);
            Ok(())
        }
        Command::Man => manual::manual(),
        Command::Check(command) => check::run(&command),
        #[cfg(feature = "sumo")]
        Command::Reproduce(command) if command.part == crate::args::Part::Signals => {
            signals::reproduce(&command)
        }
        Command::Reproduce(command) => reproduce::run(&command),
        #[cfg(feature = "sumo")]
        Command::Run(command) => signals::run(&command),
    }
}
