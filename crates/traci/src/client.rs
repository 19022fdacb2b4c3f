//! A conversation with a simulator: one message out, one message back.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::error::{Error, Fault, Result, Said};
use crate::protocol::{Answer, Batch, Domain, MAX_MESSAGE, Malformed, Update, Value, Variable};

/// The most messages sent ahead of their answers: far below what the sockets' buffers hold, so that neither side ever
/// blocks on a write that the other does not read.
const AHEAD: usize = 32;

/// A connection to a TraCI server, which knows the step the simulation has reached.
///
/// Every call either gets its answers, or ends with an error that names the step and what was being done; an
/// answer that is not complete after the timeout (or twice that, if it drips) is one. After a failure of the connection (anything but a refused command) the two sides may be out of step
/// with each other, so every later call fails at once.
///
/// ```no_run
/// use std::time::Duration;
/// use derrl_traci::{Batch, Client, Domain, Value, Variable};
///
/// # fn main() -> derrl_traci::Result<()> {
/// let mut client = Client::connect(([127, 0, 0, 1], 8813).into(), Duration::from_secs(10))?;
/// let mut batch = Batch::new();
/// batch.subscribe(Domain::Lane, &[Variable::HALTING], "north_0");
/// batch.set(Domain::TrafficLight, Variable::SIGNALS, "centre", &Value::String("Grr".into()));
/// client.send(&batch, "setting up")?;
/// for update in client.step_to(Batch::new(), 10)? {
///     println!("{}: {:?} vehicles wait", update.object, update.get(Variable::HALTING));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    timeout: Duration,
    step: u64,
    broken: bool,
    messages: u64,
    buffer: Vec<u8>,
}

impl Client {
    /// A connection to the server at `address`; `timeout` bounds the connecting and each later answer.
    pub fn connect(address: SocketAddr, timeout: Duration) -> Result<Self> {
        let open = || {
            let stream = TcpStream::connect_timeout(&address, timeout)?;
            // A message is written at once and waits for its answer: delaying it would cost 40 ms a step.
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.set_write_timeout(Some(timeout))?;
            Ok(stream)
        };
        match open() {
            Ok(stream) => {
                Ok(Self { stream, timeout, step: 0, broken: false, messages: 0, buffer: Vec::new() })
            }
            Err(e) => Err(failed(&format!("connecting to {address}"), 0, Fault::Io(e))),
        }
    }

    /// The last step known to be complete. A step is one second of simulated time.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The number of messages sent so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The protocol version and the program at the other end, as it names itself.
    pub fn version(&mut self) -> Result<(i32, String)> {
        let doing = "asking for the version";
        let mut batch = Batch::new();
        match self.send(batch.version(), doing)?.pop() {
            Some(Answer::Version(api, program)) => Ok((api, program)),
            other => Err(self.unexpected(doing, other.as_ref())),
        }
    }

    /// The value of a variable now. To watch a variable, subscribe: polling costs a round trip a value.
    pub fn get(&mut self, domain: Domain, variable: Variable, object: &str) -> Result<Value> {
        let doing = format!("asking for {:#04x} of {domain:?} {object:?}", variable.0);
        let mut batch = Batch::new();
        match self.send(batch.get(domain, variable, object), &doing)?.pop() {
            Some(Answer::Got(value)) => Ok(value),
            other => Err(self.unexpected(&doing, other.as_ref())),
        }
    }

    /// Sets a variable. Several are cheaper in one [`Batch`].
    pub fn set(&mut self, domain: Domain, variable: Variable, object: &str, value: &Value) -> Result<()> {
        let doing = format!("setting {:#04x} of {domain:?} {object:?}", variable.0);
        self.send(Batch::new().set(domain, variable, object, value), &doing).map(drop)
    }

    /// The answers to the commands of a batch, in order. `doing` says in an error what the batch is for.
    pub fn send(&mut self, batch: &Batch, doing: &str) -> Result<Vec<Answer>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.exchange(batch).map_err(|fault| failed(doing, self.step, fault))
    }

    /// Obeys the commands of `batch`, simulates up to second `until`, and returns what the subscriptions report
    /// there: one message whatever the number of commands and steps. An `until` in the past simulates nothing.
    pub fn step_to(&mut self, batch: Batch, until: u64) -> Result<Vec<Update>> {
        Ok(self.step_through(vec![(batch, until)])?.pop().unwrap_or_default())
    }

    /// As [`step_to`](Self::step_to) for each element in turn, and returns what the subscriptions report at each. The messages are
    /// sent ahead without waiting for answers: SUMO goes from one to the next without a pause, which makes
    /// looking at every second nearly as fast as looking at the last.
    pub fn step_through(&mut self, stops: Vec<(Batch, u64)>) -> Result<Vec<Vec<Update>>> {
        let mut messages = Vec::with_capacity(stops.len());
        for (batch, until) in stops {
            let doing = format!("simulating to step {until}");
            // SUMO takes the target 0 for "one step".
            if until == 0 {
                return Err(failed(&doing, self.step, Fault::Refused("step 0 is the start".into())));
            }
            // In a message of their own: SUMO forgets the answers to what precedes a step of several seconds.
            if !batch.is_empty() {
                messages.push((batch, None));
            }
            let mut step = Batch::new();
            step.step(until as f64);
            messages.push((step, Some(until)));
        }
        let mut reports = Vec::with_capacity(messages.len());
        for ahead in messages.chunks(AHEAD) {
            let target = ahead.iter().find_map(|(_, until)| *until).unwrap_or(self.step);
            let doing = |until: Option<u64>| format!("simulating to step {}", until.unwrap_or(target));
            self.write(ahead.iter().map(|(batch, _)| batch))
                .map_err(|fault| failed(&doing(None), self.step, fault))?;
            let mut refused = None;
            for (batch, until) in ahead {
                match self.read(batch) {
                    Ok(mut answers) => match (until, answers.pop()) {
                        (Some(until), Some(Answer::Stepped(updates))) => {
                            self.step = self.step.max(*until);
                            reports.push(updates);
                        }
                        (None, _) => {}
                        (Some(_), other) => return Err(self.unexpected(&doing(*until), other.as_ref())),
                    },
                    // The answers to the messages sent ahead are still to come, and must be read.
                    Err(fault @ Fault::Refused(_)) => {
                        refused.get_or_insert(failed(&doing(*until), self.step, fault));
                    }
                    Err(fault) => return Err(failed(&doing(*until), self.step, fault)),
                }
            }
            if let Some(error) = refused {
                return Err(error);
            }
        }
        Ok(reports)
    }

    /// Starts the simulator afresh with these command-line arguments, in the same process and on the same connection.
    /// Subscriptions are gone afterwards.
    pub fn load(&mut self, arguments: &[String]) -> Result<()> {
        self.send(Batch::new().load(arguments), "loading another simulation")?;
        self.step = 0;
        Ok(())
    }

    /// Tells the simulator to end.
    pub fn close(mut self) -> Result<()> {
        self.close_in_place()
    }

    /// Tells the simulator to end: no later call succeeds.
    pub(crate) fn close_in_place(&mut self) -> Result<()> {
        self.send(Batch::new().close(), "closing").map(drop)
    }

    fn exchange(&mut self, batch: &Batch) -> Result<Vec<Answer>, Fault> {
        self.write(std::iter::once(batch))?;
        self.read(batch)
    }

    /// Sends one message a batch.
    fn write<'a>(&mut self, batches: impl Iterator<Item = &'a Batch>) -> Result<(), Fault> {
        if self.broken {
            return Err(Fault::Closed);
        }
        let bytes: Vec<u8> = batches.flat_map(Batch::message).collect();
        self.messages += 1;
        let sent = self.stream.write_all(&bytes).map_err(|e| self.fault(e));
        self.broken = sent.is_err();
        sent
    }

    /// Reads the answer to a batch that was sent.
    fn read(&mut self, batch: &Batch) -> Result<Vec<Answer>, Fault> {
        let mut body = std::mem::take(&mut self.buffer);
        let complete = self.read_message(&mut body);
        let answers = complete.and_then(|()| {
            batch.answers(&body).map_err(|error| match error {
                Malformed::Refused(why) => Fault::Refused(why),
                Malformed::Garbled(why) => Fault::Garbled(why),
            })
        });
        self.buffer = body;
        // A refusal is a complete message, after which the conversation can go on.
        self.broken = !matches!(answers, Ok(_) | Err(Fault::Refused(_)));
        answers
    }

    fn read_message(&mut self, body: &mut Vec<u8>) -> Result<(), Fault> {
        let deadline = Instant::now() + self.timeout;
        let mut header = [0; 4];
        self.fill(&mut header, deadline)?;
        let length = i32::from_be_bytes(header);
        let length = usize::try_from(length)
            .ok()
            .and_then(|n| n.checked_sub(header.len()))
            .filter(|n| *n <= MAX_MESSAGE)
            .ok_or_else(|| Fault::Garbled(format!("a message of {length} bytes")))?;
        body.resize(length, 0);
        self.fill(body, deadline)
    }

    /// Reads exactly `into`, however slowly it drips, but not past the deadline.
    fn fill(&mut self, into: &mut [u8], deadline: Instant) -> Result<(), Fault> {
        let mut done = 0;
        while done < into.len() {
            match self.stream.read(&mut into[done..]) {
                Ok(0) => return Err(Fault::Closed),
                Ok(n) => done += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.fault(e)),
            }
            if done < into.len() && Instant::now() >= deadline {
                return Err(Fault::TimedOut(self.timeout));
            }
        }
        Ok(())
    }

    fn fault(&self, error: std::io::Error) -> Fault {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        // Which of the two a timeout is depends on the platform.
        if matches!(error.kind(), TimedOut | WouldBlock) {
            Fault::TimedOut(self.timeout)
        } else {
            error.into()
        }
    }

    fn unexpected(&mut self, doing: &str, answer: Option<&Answer>) -> Error {
        self.broken = true;
        failed(doing, self.step, Fault::Garbled(format!("{answer:?} is no answer to this")))
    }
}

fn failed(doing: &str, step: u64, fault: Fault) -> Error {
    Error::Simulator { doing: doing.to_owned(), step, fault, stderr: Said::default() }
}
