//! What can go wrong, worded so that a user can act on it.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The command that installs the pinned version.
pub const INSTALL: &str = "pip install eclipse-sumo==1.28.0";

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure, with what was being done when it happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no SUMO on this machine that we know how to find.
    #[error("SUMO was not found; install it with `{INSTALL}` (looked in {searched})")]
    NotFound {
        /// The places looked at, in order, separated by commas.
        searched: String,
    },

    /// A program of SUMO's could not be run, or ended with an error.
    #[error("{} {reason}{stderr}", .program.display())]
    Program {
        /// The program run.
        program: PathBuf,
        /// What went wrong with it.
        reason: String,
        /// The last lines it wrote to its error stream.
        stderr: Said,
    },

    /// The simulator did not come up, in spite of retries.
    #[error("SUMO did not start: {reason}{stderr}")]
    Start {
        /// What went wrong with the last attempt.
        reason: String,
        /// The last lines SUMO wrote to its error stream.
        stderr: Said,
    },

    /// A running simulator failed, or refused a command.
    #[error("SUMO failed at step {step} ({doing}): {fault}{stderr}")]
    Simulator {
        /// What was asked of the simulator.
        doing: String,
        /// The last simulation step known to be complete; a step is one second of simulated time.
        step: u64,
        /// What went wrong.
        fault: Fault,
        /// The last lines SUMO wrote to its error stream.
        stderr: Said,
    },

    /// A file could not be written or read.
    #[error("cannot {doing} {}: {source}", .path.display())]
    File {
        /// "write" or "read".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason the operating system gives.
        source: io::Error,
    },

    /// A layout, a demand or a request makes no sense, for the reason given.
    #[error("{0}")]
    Invalid(String),

    /// netconvert built a network that is not what the layout describes.
    #[error("the network file {} is not as expected: {reason}", .path.display())]
    Network {
        /// The network file.
        path: PathBuf,
        /// What was expected of it.
        reason: String,
    },
}

/// How a conversation with the simulator failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The other side closed the connection: SUMO ended or was killed.
    #[error("the connection was closed")]
    Closed,
    /// No complete answer came in time: SUMO hangs, or the machine is overloaded.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The answer is not TraCI, for the reason given.
    #[error("the answer is garbled: {0}")]
    Garbled(String),
    /// SUMO understood the command and says why it did not obey.
    #[error("refused: {0}")]
    Refused(String),
    /// The operating system reports an error on the connection.
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

/// The tail of a program's error stream; shows as nothing when there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said(pub String);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.trim();
        if text.is_empty() { Ok(()) } else { write!(f, "; it said: {text}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_step_and_what_was_being_done() {
        let error = Error::Simulator {
            doing: "simulating to step 130".into(),
            step: 120,
            fault: Fault::TimedOut(Duration::from_millis(1500)),
            stderr: Said("Error: out of fuel\n".into()),
        };
        assert_eq!(
            error.to_string(),
            "SUMO failed at step 120 (simulating to step 130): no answer within 1.5 s; it said: Error: out of fuel"
        );
    }

    #[test]
    fn a_silent_program_is_not_quoted() {
        assert_eq!(Said(" \n".into()).to_string(), "");
    }
}
