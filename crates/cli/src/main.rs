//! The `derrl` command: reads files, prints, exits. Everything else is in the libraries.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod bench;
mod chart;
mod check;
mod diff;
mod domain;
mod domains;
mod eval;
mod explain;
mod export;
mod extent;
mod failure;
mod lock;
mod manifest;
mod output;
mod picture;
mod progress;
mod provenance;
mod report;
mod reproduce;
mod run_folder;
mod run_result;
mod safe_file;
mod sealed;
mod shell;
mod simplify;
mod style;
mod table;
mod train;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::{Failure, Outcome};
use output::{print, print_json, print_usage, say};

fn main() -> ExitCode {
    failure::conclude(|| match Args::try_parse() {
        Ok(args) => run(args),
        Err(said) => {
            print_usage(&said);
            if said.use_stderr() { Err(Failure::Usage) } else { Ok(()) }
        }
    })
}

fn run(args: Args) -> Outcome {
    match args.command {
        Command::Domains(command) => domains::run(&command),
        Command::Train(command) => train::run(&command),
        Command::Eval(command) => eval::run(&command),
        Command::Explain(command) => explain::run(&command),
        Command::Verify(command) => verify::run(&command),
        Command::Diff(command) => diff::run(&command),
        Command::Simplify(command) => simplify::run(&command),
        Command::Export(command) => export::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Check(command) => check::run(&command),
        Command::Bench(command) => bench::run(&command),
        Command::Reproduce(command) => reproduce::run(&command),
    }
}
