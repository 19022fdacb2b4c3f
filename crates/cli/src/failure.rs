//! What went wrong, and the exit code it deserves.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | the answer is no, or something around the program failed: a full disk, a folder that may not be written, a simulator |
//! | 2 | what the user gave is wrong |
//! | 130 | interrupted |

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

use derrl_report::table::{WIDTH, wrap};

use crate::output::lost;
use crate::say;

/// What went wrong, by the exit code it deserves.
#[derive(Debug)]
pub enum Failure {
    /// The request or its input is wrong: exit code 2.
    Input(anyhow::Error),
    /// The command line is wrong, and that has been said: exit code 2.
    Usage,
    /// The answer to what was asked is no, and has been printed: exit code 1.
    No,
    /// Something outside the program broke in the middle: exit code 1. What to do next is said.
    Broken(String),
    /// Ctrl-C: exit code 130, as shells expect. What to do next is said.
    Interrupted(String),
}

/// The result of a command.
pub type Outcome = Result<(), Failure>;

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        let error = error.into();
        if is_from_around(&error) { Failure::Broken(format!("{error:#}")) } else { Failure::Input(error) }
    }
}

/// Whether an error comes from the machine or from another program, and not from what the user gave.
fn is_from_around(error: &anyhow::Error) -> bool {
    use derrl_env::Error as World;
    use derrl_learn::Error as Learning;
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().is_some_and(|e| {
            !matches!(
                e.kind(),
                ErrorKind::NotFound
                    | ErrorKind::NotADirectory
                    | ErrorKind::IsADirectory
                    | ErrorKind::AlreadyExists
                    | ErrorKind::InvalidInput
                    | ErrorKind::InvalidData
                    | ErrorKind::InvalidFilename
            )
        });
        let world = matches!(cause.downcast_ref(), Some(World::Simulator(_)));
        let learning =
            matches!(cause.downcast_ref(), Some(Learning::World(_) | Learning::Env(World::Simulator(_))));
        io || world || learning || is_of_simulator(cause)
    })
}

/// Whether the traffic simulator failed, and not what was asked of it.
#[cfg(feature = "sumo")]
fn is_of_simulator(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref().is_some_and(|e| !matches!(e, derrl_traci::Error::Invalid(_)))
}

/// Whether the traffic simulator failed: there is none in this build.
#[cfg(not(feature = "sumo"))]
fn is_of_simulator(_cause: &(dyn std::error::Error + 'static)) -> bool {
    false
}

/// Runs a command, says what went wrong, and returns the exit code. A fault of ours is said too, instead of a panic.
pub fn conclude(command: impl FnOnce() -> Outcome) -> u8 {
    std::panic::set_hook(Box::new(|fault| {
        let place = fault.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        let payload = fault.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let what = text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown");
        say!("error: a fault in derrl {}{place}: {what}\n  please report it", env!("CARGO_PKG_VERSION"));
    }));
    // What the command has changed is not looked at any more.
    let outcome = catch_unwind(AssertUnwindSafe(command)).unwrap_or(Err(Failure::No));
    let code = match outcome {
        Ok(()) => 0,
        Err(Failure::Input(error)) => {
            // Errors of the language are drawn in full and begin with `error:` themselves.
            let text = format!("{error:#}");
            if text.starts_with("error") {
                say!("{text}");
            } else {
                say!("{}", wrap(&format!("error: {text}"), "", WIDTH).trim_end());
            }
            2
        }
        Err(Failure::Usage) => 2,
        Err(Failure::No) => 1,
        Err(Failure::Broken(text)) => {
            say!("error: {text}");
            1
        }
        Err(Failure::Interrupted(text)) => {
            say!("{text}");
            130
        }
    };
    match lost() {
        Some(reason) if code == 0 || code == 1 => {
            say!("error: {reason}");
            1
        }
        _ => code,
    }
}
