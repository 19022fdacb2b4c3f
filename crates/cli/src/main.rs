//! The `derrl` command: reads files, prints, exits. Everything else is in the libraries.

mod args;
mod bench;
mod check;
mod diff;
mod domain;
mod domains;
mod eval;
mod explain;
mod export;
mod extent;
mod picture;
mod progress;
mod provenance;
mod report;
mod reproduce;
mod run_folder;
mod run_result;
mod serve;
mod shell;
mod simplify;
mod style;
mod table;
mod train;
mod verify;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// What went wrong, by the exit code it deserves.
#[derive(Debug)]
enum Failure {
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

type Outcome = Result<(), Failure>;

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match args.command {
        Command::Domains(command) => domains::run(&command),
        Command::Train(command) => train::run(&command),
        Command::Eval(command) => eval::run(&command),
        Command::Explain(command) => explain::run(&command),
        Command::Verify(command) => verify::run(&command),
        Command::Diff(command) => diff::run(&command),
        Command::Simplify(command) => simplify::run(&command),
        Command::Export(command) => export::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Serve(command) => serve::run(&command),
        Command::Watch(command) => watch::run(&command),
        Command::Completions(command) => {
            shell::completions(&command);
            Ok(())
        }
        Command::Man => shell::manual(),
        Command::Check(command) => check::run(&command),
        Command::Bench(command) => bench::run(&command),
        Command::Reproduce(command) => reproduce::run(&command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(error)) => {
            // Errors of the language are drawn in full and begin with `error:` themselves.
            let text = format!("{error:#}");
            if text.starts_with("error") {
                eprintln!("{text}");
            } else {
                eprint!("{}", table::wrap(&format!("error: {text}"), "", table::WIDTH));
            }
            ExitCode::from(2)
        }
        Err(Failure::No) => ExitCode::from(1),
        Err(Failure::Broken(text)) => {
            eprintln!("error: {text}");
            ExitCode::from(1)
        }
        Err(Failure::Interrupted(text)) => {
            eprintln!("{text}");
            ExitCode::from(130)
        }
    }
}

/// Prints to standard output; a reader that went away (a closed pipe) is no error of ours.
fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints one JSON document.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?));
    Ok(())
}
