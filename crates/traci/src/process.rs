//! A running simulator: started on a port of its own, and gone when its owner is.
//!
//! # Who may talk to it
//!
//! SUMO has no option for the address it listens on, and takes all of them. So it listens as shortly as can be: we try to connect every few
//! milliseconds from its start on, to the loopback address, and SUMO stops listening when its one client is there. Whoever connects
//! before us, from wherever, has us end that SUMO at once, because it does not answer us with the secret that we gave it, and start another.
//!
//! # No process is left behind
//!
//! - Dropping a [`Process`], also by an error or a panic, kills SUMO and waits for it.
//! - If we end without dropping (a signal, `exit`, an abort, `kill -9`), the operating system closes our end of the
//!   connection, and SUMO ends by itself when its only client is gone.
//! - Between its start and our connection SUMO waits for a client for ever. For those milliseconds a tiny guard
//!   (a shell that waits on a pipe from us) kills SUMO if we disappear.
//! - SUMO runs in a process group of its own: Ctrl-C at a terminal reaches us only, so that a run can be wound up in
//!   order, and not fail because its simulator died first.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::error::{Error, Fault, Result, Said};
use crate::find::Sumo;
use crate::program::{Capture, wait};
use crate::protocol::{Domain, Value, Variable};

/// How often to try another port or another process before giving up.
const ATTEMPTS: usize = 5;

/// The option that carries the secret by which we tell our SUMO from another: the file of a kind of device that a scenario may have
/// and ours do not. It changes nothing else, unlike a prefix of all files that SUMO writes.
const SECRET: &str = "device.ssm.file";

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// From the start of the process to the first answer.
    pub start: Duration,
    /// From a message to its answer. Covers the simulation of a whole interval and the loading of a new episode,
    /// milliseconds on an idle machine.
    pub answer: Duration,
}

impl Default for Patience {
    /// Half a minute each: far more than ever needed, far less than a night.
    fn default() -> Self {
        Self { start: Duration::from_secs(30), answer: Duration::from_secs(30) }
    }
}

/// A SUMO of our own, with the connection to it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    client: Client,
    said: Capture,
    // Kept for as long as the process may listen on it.
    _port: Port,
}

impl Process {
    /// Starts SUMO with these arguments (the port is added) and connects to it.
    ///
    /// The operating system picks the port. Should another program take it between our asking and SUMO's binding, or should we
    /// reach a simulator that is not ours, another port is tried.
    pub fn start(sumo: &Sumo, arguments: &[String], patience: Patience) -> Result<Self> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match Self::attempt(sumo, arguments, patience) {
                Ok(process) => return Ok(process),
                Err(Attempt::Final(error)) => return Err(error),
                Err(Attempt::Again(error)) => last = Some(error),
            }
        }
        Err(last.expect("there is at least one attempt, and each that fails leaves an error"))
    }

    fn attempt(sumo: &Sumo, arguments: &[String], patience: Patience) -> Result<Self, Attempt> {
        let deadline = Instant::now() + patience.start;
        let port = Port::reserve().map_err(Attempt::Final)?;
        let token = token();
        let mut command = sumo.command(&sumo.sumo);
        command
            .args(arguments)
            .arg("--remote-port")
            .arg(port.0.to_string())
            .args([format!("--{SECRET}"), token.clone()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = Started(Some(command.spawn().map_err(|e| {
            Attempt::Final(Error::Program {
                program: sumo.sumo.clone(),
                reason: format!("cannot be run: {e}"),
                stderr: Said::default(),
            })
        })?));
        let guard = Guard::over(child.get());
        let said = Capture::of(child.get().stderr.take());

        let mut client = child.connect(&port, deadline, patience, &said)?;
        // The answer comes when SUMO has read its files, or never if they are wrong.
        if let Err(error) = identify(&mut client, &token) {
            let ended = matches!(wait(child.get(), Duration::from_millis(200)), Ok(Some(_)));
            let stderr = Said(if ended { said.finish() } else { said.so_far() });
            let error = Error::Start { reason: error.to_string(), stderr };
            // Wrong input is wrong on every port; a lost connection may be another's doing.
            let wrong_input = ended && !port_taken(&said.so_far());
            return Err(if wrong_input { Attempt::Final(error) } else { Attempt::Again(error) });
        }
        drop(guard);
        Ok(Self { child: child.release(), client, said, _port: port })
    }

    /// The connection, for what needs no explanation should it fail.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// The last step known to be complete.
    pub fn step(&self) -> u64 {
        self.client.step()
    }

    /// The process id of the simulator.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The last of what SUMO wrote to its error stream: warnings of collisions, emergency stops and the like.
    pub fn said(&self) -> String {
        self.said.so_far()
    }

    /// Has the simulator end by itself, so that it writes its last files, and waits for that.
    pub fn close(mut self, patience: Duration) -> Result<()> {
        let step = self.client.step();
        self.ask(Client::close_in_place)?;
        let failed = |fault| Error::Simulator {
            doing: "closing".to_owned(),
            step,
            fault,
            stderr: Said(self.said.so_far()),
        };
        match wait(&mut self.child, patience) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(failed(Fault::TimedOut(patience))),
            Err(error) => Err(failed(Fault::Io(error))),
        }
    }

    /// The result of `talk`; should it fail, the error quotes what SUMO wrote to its error stream.
    pub fn ask<T>(&mut self, talk: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        talk(&mut self.client).map_err(|error| match error {
            Error::Simulator { doing, step, fault, .. } => {
                // The reason a dying SUMO gives may arrive after its connection is gone.
                if matches!(fault, Fault::Closed) {
                    let _ = wait(&mut self.child, Duration::from_millis(500));
                }
                Error::Simulator { doing, step, fault, stderr: Said(self.said.so_far()) }
            }
            other => other,
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended already, which is what we want: neither failure matters.
    let _ = child.kill();
    let _ = child.wait();
}

/// Why an attempt failed, and whether another may succeed.
enum Attempt {
    Final(Error),
    Again(Error),
}

/// A child that is ended unless it is released.
struct Started(Option<Child>);

impl Started {
    fn get(&mut self) -> &mut Child {
        self.0.as_mut().expect("a child is there until it is released, which consumes self")
    }

    fn release(mut self) -> Child {
        self.0.take().expect("a child is there until it is released, which consumes self")
    }

    /// Tries to connect until SUMO listens, ends, or the deadline passes.
    fn connect(
        &mut self,
        port: &Port,
        deadline: Instant,
        patience: Patience,
        said: &Capture,
    ) -> Result<Client, Attempt> {
        let address = (Ipv4Addr::LOCALHOST, port.0).into();
        let mut pause = Duration::from_millis(1);
        loop {
            let refused = match Client::connect(address, patience.answer) {
                Ok(client) => return Ok(client),
                Err(error) => error,
            };
            if let Ok(Some(status)) = self.get().try_wait() {
                let stderr = said.finish();
                let again = port_taken(&stderr);
                let reason = format!("it ended at once ({status})");
                let error = Error::Start { reason, stderr: Said(stderr) };
                return Err(if again { Attempt::Again(error) } else { Attempt::Final(error) });
            }
            if Instant::now() >= deadline {
                let reason = format!("not within {} s: {refused}", patience.start.as_secs_f64());
                return Err(Attempt::Final(Error::Start { reason, stderr: Said(said.so_far()) }));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            end(child);
        }
    }
}

fn port_taken(stderr: &str) -> bool {
    stderr.contains("listening socket") || stderr.contains("in use")
}

/// Makes sure that the simulator at the other end is the one we started.
fn identify(client: &mut Client, token: &str) -> Result<()> {
    client.version()?;
    match client.get(Domain::Simulation, Variable::OPTION, SECRET) {
        Ok(Value::String(prefix)) if prefix == token => Ok(()),
        Ok(other) => Err(Error::Invalid(format!("another simulator ({other:?}) listens on its port"))),
        // An old SUMO cannot tell its options; then the port has to be enough.
        Err(Error::Simulator { fault: Fault::Refused(_), .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A text that no other process uses, and that none can guess.
fn token() -> String {
    use std::hash::{BuildHasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The keys of a hasher are the operating system's random numbers.
    let secret = RandomState::new().hash_one(count);
    format!("derrl-{}-{count}-{secret:016x}-", std::process::id())
}

/// A port that no other simulation of this process has.
#[derive(Debug)]
struct Port(u16);

static PORTS: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

impl Port {
    fn reserve() -> Result<Self> {
        // Listeners that are not ours to use are held until the search ends, so that it cannot find them again.
        let mut held = Vec::new();
        loop {
            let found = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))
                .and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
            let (port, listener) = found.map_err(|e| Error::Start {
                reason: format!("no free port: {e}"),
                stderr: Said::default(),
            })?;
            if PORTS.lock().unwrap_or_else(PoisonError::into_inner).insert(port) {
                return Ok(Self(port));
            }
            held.push(listener);
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        PORTS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Kills a process should we be gone before the guard is dropped.
struct Guard(Option<Child>);

impl Guard {
    fn over(child: &Child) -> Self {
        // The shell reads from a pipe whose other end is ours: a line dismisses it, the end of the pipe means
        // that we died. Without a shell there is no guard, and all else still works.
        let mut command = Command::new("sh");
        command
            .args(["-c", "read -r line || kill -9 \"$1\"", "sh", &child.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Self(cfg!(unix).then(|| command.spawn().ok()).flatten())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        use std::io::Write;
        if let Some(shell) = &mut self.0 {
            // Should it be gone already, there is nothing to dismiss.
            let _ = shell.stdin.take().map(|mut pipe| pipe.write_all(b"dismissed\n"));
            let _ = shell.wait();
        }
    }
}
