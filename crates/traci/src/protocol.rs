//! The TraCI wire format: bytes in, bytes out, no sockets.
//!
//! A *message* is a big-endian `i32` with its whole length, then commands. A *command* is its length (one
//! byte, or a zero byte and an `i32` when it does not fit), a command id and its content. The answer to a
//! message is one message, which holds a *status* for each command in order and, behind the status of a command
//! that asks for something, a *response* of the same shape as a command. The ids are those of
//! `TraCIConstants.h`; the format is <https://sumo.dlr.de/docs/TraCI/Protocol.html>.
//!
//! Decoding trusts nothing: every length is checked against the bytes that are there, before anything is allocated.

/// The longest message we accept. Ours are a few kilobytes; a larger one is not an answer to us.
pub const MAX_MESSAGE: usize = 16 << 20;

/// How deep compound values may nest. SUMO's own stop at four.
const MAX_DEPTH: usize = 16;

/// The command ids that do not belong to a domain.
pub(crate) mod command {
    pub const GET_VERSION: u8 = 0x00;
    pub const LOAD: u8 = 0x01;
    pub const SIMULATION_STEP: u8 = 0x02;
    pub const CLOSE: u8 = 0x7f;
}

/// The type tags of values.
mod tag {
    pub const POSITION_2D: u8 = 0x01;
    pub const UBYTE: u8 = 0x07;
    pub const BYTE: u8 = 0x08;
    pub const INTEGER: u8 = 0x09;
    pub const DOUBLE: u8 = 0x0b;
    pub const STRING: u8 = 0x0c;
    pub const STRING_LIST: u8 = 0x0e;
    pub const COMPOUND: u8 = 0x0f;
    pub const DOUBLE_LIST: u8 = 0x10;
}

/// TraCI marks "from now" and "for ever" in a subscription by this value.
const UNBOUNDED: f64 = -1_073_741_824.0;

/// A family of objects in the simulator.
///
/// Its five commands (get, answer to get, set, subscribe, answer to subscribe) lie 0x10 apart, so one number
/// gives them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Traffic lights, by the id of the node they stand at.
    TrafficLight,
    /// Lanes, by edge id and lane index: `north_centre_0`.
    Lane,
    /// Vehicles on the road.
    Vehicle,
    /// Nodes of the network.
    Junction,
    /// Roads of one direction, of one or more lanes.
    Edge,
    /// The simulation itself; its object id is empty.
    Simulation,
}

impl Domain {
    /// The id of the command that asks for a variable.
    pub const fn get(self) -> u8 {
        match self {
            Self::TrafficLight => 0xa2,
            Self::Lane => 0xa3,
            Self::Vehicle => 0xa4,
            Self::Junction => 0xa9,
            Self::Edge => 0xaa,
            Self::Simulation => 0xab,
        }
    }

    /// The id of the command that subscribes to what is around an object.
    const fn around(self) -> u8 {
        self.get() - 0x20
    }

    const fn got(self) -> u8 {
        self.get() + 0x10
    }

    /// The id of the command that sets a variable.
    pub const fn set(self) -> u8 {
        self.get() + 0x20
    }

    /// The id of the command that subscribes to variables.
    pub const fn subscribe(self) -> u8 {
        self.get() + 0x30
    }

    const ALL: [Self; 6] =
        [Self::TrafficLight, Self::Lane, Self::Vehicle, Self::Junction, Self::Edge, Self::Simulation];

    fn of_update(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.get() + 0x40 == id)
    }
}

/// A variable of an object. The same number means different things in different domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub u8);

impl Variable {
    /// Ids of all objects of a domain: [`Value::Strings`].
    pub const IDS: Self = Self(0x00);
    /// The number of objects of a domain; the object id is empty: [`Value::Int`].
    pub const COUNT: Self = Self(0x01);
    /// Lane or edge: vehicles on it after the last step: [`Value::Int`].
    pub const VEHICLES: Self = Self(0x10);
    /// Lane or edge: the ids of the vehicles on it: [`Value::Strings`].
    pub const VEHICLE_IDS: Self = Self(0x12);
    /// Lane or edge: mean speed in m/s: [`Value::Double`].
    pub const MEAN_SPEED: Self = Self(0x11);
    /// Lane or edge: share of its length that is taken by vehicles: [`Value::Double`].
    pub const OCCUPANCY: Self = Self(0x13);
    /// Lane or edge: vehicles on it slower than 0.1 m/s, which is SUMO's notion of a queue: [`Value::Int`].
    pub const HALTING: Self = Self(0x14);
    /// Lane or edge: seconds that the vehicles on it have been halting for, summed; vehicle: seconds since it stood last:
    /// [`Value::Double`].
    pub const WAITING_TIME: Self = Self(0x7a);
    /// Vehicle: speed in m/s: [`Value::Double`].
    pub const SPEED: Self = Self(0x40);
    /// Vehicle: the id of its lane: [`Value::String`].
    pub const LANE: Self = Self(0x51);
    /// Vehicle: the traffic lights ahead on its route: [`Value::Compound`] of their number and, for each, its id, the number of
    /// the link, the distance in metres and the letter of the signal.
    pub const NEXT_LIGHTS: Self = Self(0x70);
    /// Vehicle: the vehicle ahead within some metres (a parameter), and the gap to it: [`Value::Compound`].
    pub const LEADER: Self = Self(0x68);
    /// Vehicle, set only: takes it off the road, for a reason given by number: [`Value::Byte`].
    pub const REMOVE: Self = Self(0x81);
    /// Vehicle: seconds lost so far by driving slower than it would like to: [`Value::Double`].
    pub const TIME_LOSS: Self = Self(0x8c);
    /// Vehicle: where its front is: [`Value::Position`].
    pub const POSITION: Self = Self(0x42);
    /// Vehicle: where it looks, in degrees clockwise from north: [`Value::Double`].
    pub const ANGLE: Self = Self(0x43);
    /// Traffic light: one letter a signal, `G`, `g`, `y` or `r`: [`Value::String`]. Setting it stops the program.
    pub const SIGNALS: Self = Self(0x20);
    /// Traffic light, set only: index of a phase of its program: [`Value::Int`].
    pub const SET_PHASE: Self = Self(0x22);
    /// Traffic light, set only: the id of the program to run: [`Value::String`].
    pub const SET_PROGRAM: Self = Self(0x23);
    /// Traffic light: index of the current phase: [`Value::Int`].
    pub const PHASE: Self = Self(0x28);
    /// Traffic light: id of the current program: [`Value::String`].
    pub const PROGRAM: Self = Self(0x29);
    /// Traffic light: the lane each signal controls: [`Value::Strings`].
    pub const CONTROLLED_LANES: Self = Self(0x26);
    /// Simulation: the value of the command-line option named as the object: [`Value::String`].
    pub const OPTION: Self = Self(0x32);
    /// Simulation: time in seconds: [`Value::Double`].
    pub const TIME: Self = Self(0x66);
    /// Simulation: vehicles that entered in the last step: [`Value::Int`].
    pub const DEPARTED: Self = Self(0x73);
    /// Simulation: vehicles that reached their goal in the last step: [`Value::Int`].
    pub const ARRIVED: Self = Self(0x79);
    /// Simulation: vehicles on the road or still to come: [`Value::Int`]. Zero means that all is over.
    pub const EXPECTED: Self = Self(0x7d);
    /// Simulation: ids of the vehicles that found no room to enter yet: [`Value::Strings`].
    pub const PENDING: Self = Self(0x94);
}

/// A typed value on the wire.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An unsigned byte.
    UByte(u8),
    /// A signed byte.
    Byte(i8),
    /// A whole number.
    Int(i32),
    /// A real number.
    Double(f64),
    /// A text.
    String(String),
    /// Several texts.
    Strings(Vec<String>),
    /// Several real numbers.
    Doubles(Vec<f64>),
    /// A point of the plane.
    Position(f64, f64),
    /// Several values.
    Compound(Vec<Value>),
}

impl Value {
    /// The number, if this is a whole number.
    pub fn as_int(&self) -> Option<i32> {
        if let Self::Int(n) = self { Some(*n) } else { None }
    }

    /// The number, if this is a real number.
    pub fn as_double(&self) -> Option<f64> {
        if let Self::Double(x) = self { Some(*x) } else { None }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(s) = self { Some(s) } else { None }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::UByte(n) => out.extend([tag::UBYTE, *n]),
            Self::Byte(n) => out.extend([tag::BYTE, *n as u8]),
            Self::Int(n) => {
                out.push(tag::INTEGER);
                out.extend(n.to_be_bytes());
            }
            Self::Double(x) => {
                out.push(tag::DOUBLE);
                out.extend(x.to_be_bytes());
            }
            Self::String(s) => {
                out.push(tag::STRING);
                put_string(out, s);
            }
            Self::Strings(all) => {
                out.push(tag::STRING_LIST);
                put_len(out, all.len());
                for s in all {
                    put_string(out, s);
                }
            }
            Self::Doubles(all) => {
                out.push(tag::DOUBLE_LIST);
                put_len(out, all.len());
                for x in all {
                    out.extend(x.to_be_bytes());
                }
            }
            Self::Position(x, y) => {
                out.push(tag::POSITION_2D);
                out.extend(x.to_be_bytes());
                out.extend(y.to_be_bytes());
            }
            Self::Compound(all) => {
                out.push(tag::COMPOUND);
                put_len(out, all.len());
                for v in all {
                    v.encode(out);
                }
            }
        }
    }
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.extend((len as i32).to_be_bytes());
}

fn put_string(out: &mut Vec<u8>, s: &str) {
    put_len(out, s.len());
    out.extend(s.as_bytes());
}

/// What one subscription reports after a step: an object and its variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The domain of the object.
    pub domain: Domain,
    /// The id of the object.
    pub object: String,
    /// The variables in the order subscribed.
    pub values: Vec<(Variable, Value)>,
}

impl Update {
    /// The value of a variable, if it was subscribed.
    pub fn get(&self, variable: Variable) -> Option<&Value> {
        self.values.iter().find(|(v, _)| *v == variable).map(|(_, value)| value)
    }
}

/// The answer to one command of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The command was obeyed and has nothing to tell.
    Done,
    /// The answer to a version request: protocol version and program.
    Version(i32, String),
    /// The answer to a get.
    Got(Value),
    /// The answer to a subscription: the values now.
    Subscribed(Update),
    /// The answer to a look around: the values of every object there now.
    Around(Vec<Update>),
    /// The answer to a step: the values of all subscriptions after it.
    Stepped(Vec<Update>),
}

/// What the answer to a command must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Done,
    Version,
    Got(Domain, Variable),
    Subscribed,
    Around(Domain, Domain),
    Stepped,
}

/// Several commands to be sent as one message, and answered by one.
///
/// SUMO reads the whole message before it simulates, so a step comes last: `step_to` and `load` consume the batch
/// in [`Client`](crate::Client).
#[derive(Debug, Clone, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    expected: Vec<(u8, Expect)>,
}

impl Batch {
    /// A batch with no commands.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of commands.
    pub fn len(&self) -> usize {
        self.expected.len()
    }

    /// Whether there are no commands.
    pub fn is_empty(&self) -> bool {
        self.expected.is_empty()
    }

    /// Adds the commands of another batch behind those of this one.
    pub fn append(&mut self, other: Self) -> &mut Self {
        self.bytes.extend(other.bytes);
        self.expected.extend(other.expected);
        self
    }

    /// Asks for a variable of an object; answered by [`Answer::Got`].
    pub fn get(&mut self, domain: Domain, variable: Variable, object: &str) -> &mut Self {
        let mut content = vec![variable.0];
        put_string(&mut content, object);
        self.push(domain.get(), &content, Expect::Got(domain, variable))
    }

    /// As [`get`](Self::get), for a variable that takes a parameter.
    pub fn get_with(&mut self, domain: Domain, variable: Variable, object: &str, by: &Value) -> &mut Self {
        let mut content = vec![variable.0];
        put_string(&mut content, object);
        by.encode(&mut content);
        self.push(domain.get(), &content, Expect::Got(domain, variable))
    }

    /// Sets a variable of an object; answered by [`Answer::Done`].
    pub fn set(&mut self, domain: Domain, variable: Variable, object: &str, value: &Value) -> &mut Self {
        let mut content = vec![variable.0];
        put_string(&mut content, object);
        value.encode(&mut content);
        self.push(domain.set(), &content, Expect::Done)
    }

    /// Subscribes to variables of an object (at most 255 of them), from now on and for ever; answered by
    /// [`Answer::Subscribed`] now and by an [`Update`] after every step.
    pub fn subscribe(&mut self, domain: Domain, variables: &[Variable], object: &str) -> &mut Self {
        let variables = &variables[..variables.len().min(255)];
        let mut content = Vec::new();
        content.extend(UNBOUNDED.to_be_bytes());
        content.extend(UNBOUNDED.to_be_bytes());
        put_string(&mut content, object);
        content.push(variables.len() as u8);
        content.extend(variables.iter().map(|v| v.0));
        self.push(domain.subscribe(), &content, Expect::Subscribed)
    }

    /// Asks once for variables (at most 255 of them) of all objects of a domain within `range` metres of a junction: one command
    /// whatever their number; answered by [`Answer::Around`].
    ///
    /// It is a subscription that ends at `now`, the present second.
    pub fn look_around(
        &mut self,
        junction: &str,
        range: f64,
        now: f64,
        (of, variables): (Domain, &[Variable]),
    ) -> &mut Self {
        let variables = &variables[..variables.len().min(255)];
        let mut content = Vec::new();
        content.extend(now.to_be_bytes());
        content.extend(now.to_be_bytes());
        put_string(&mut content, junction);
        content.push(of.get());
        content.extend(range.to_be_bytes());
        content.push(variables.len() as u8);
        content.extend(variables.iter().map(|v| v.0));
        self.push(Domain::Junction.around(), &content, Expect::Around(Domain::Junction, of))
    }

    /// Asks which program answers; answered by [`Answer::Version`].
    pub fn version(&mut self) -> &mut Self {
        self.push(command::GET_VERSION, &[], Expect::Version)
    }

    /// Simulates up to a time in seconds, or one step if it is 0; answered by [`Answer::Stepped`].
    pub(crate) fn step(&mut self, until: f64) -> &mut Self {
        self.push(command::SIMULATION_STEP, &until.to_be_bytes(), Expect::Stepped)
    }

    pub(crate) fn load(&mut self, arguments: &[String]) -> &mut Self {
        let mut content = Vec::new();
        Value::Strings(arguments.to_vec()).encode(&mut content);
        self.push(command::LOAD, &content, Expect::Done)
    }

    pub(crate) fn close(&mut self) -> &mut Self {
        self.push(command::CLOSE, &[], Expect::Done)
    }

    fn push(&mut self, id: u8, content: &[u8], expect: Expect) -> &mut Self {
        // The length counts itself and the id.
        if content.len() + 2 <= 255 {
            self.bytes.push((content.len() + 2) as u8);
        } else {
            self.bytes.push(0);
            put_len(&mut self.bytes, content.len() + 6);
        }
        self.bytes.push(id);
        self.bytes.extend(content);
        self.expected.push((id, expect));
        self
    }

    /// The message to send.
    pub fn message(&self) -> Vec<u8> {
        let mut message = Vec::with_capacity(self.bytes.len() + 4);
        put_len(&mut message, self.bytes.len() + 4);
        message.extend(&self.bytes);
        message
    }

    /// Reads the answer (without its length) to this batch: one [`Answer`] a command, in order.
    pub fn answers(&self, body: &[u8]) -> Result<Vec<Answer>, Malformed> {
        let mut reader = Reader::new(body);
        let mut answers = Vec::with_capacity(self.expected.len());
        for &(id, expect) in &self.expected {
            reader.status(id)?;
            answers.push(match expect {
                Expect::Done => Answer::Done,
                Expect::Version => {
                    reader.response(command::GET_VERSION)?;
                    Answer::Version(reader.i32()?, reader.string()?)
                }
                Expect::Got(domain, variable) => {
                    reader.response(domain.got())?;
                    let got = Variable(reader.u8()?);
                    if got != variable {
                        return Err(garbled(format!("variable {:#04x} for {:#04x}", got.0, variable.0)));
                    }
                    reader.string()?;
                    Answer::Got(reader.value(0)?)
                }
                Expect::Subscribed => Answer::Subscribed(reader.update()?),
                Expect::Around(centre, of) => Answer::Around(reader.around(centre, of)?),
                Expect::Stepped => {
                    let count = reader.count(1)?;
                    Answer::Stepped((0..count).map(|_| reader.update()).collect::<Result<_, _>>()?)
                }
            });
        }
        if reader.rest.is_empty() {
            Ok(answers)
        } else {
            Err(garbled(format!("{} bytes too many", reader.rest.len())))
        }
    }
}

/// Why an answer is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes are not TraCI, or not the answer to what was asked.
    #[error("{0}")]
    Garbled(String),
    /// A status says that a command failed, in these words.
    #[error("{0}")]
    Refused(String),
}

fn garbled(reason: impl Into<String>) -> Malformed {
    Malformed::Garbled(reason.into())
}

/// Reads values off the front of a message, and never past its end.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (front, rest) = self
            .rest
            .split_at_checked(n)
            .ok_or_else(|| garbled(format!("it ends {} bytes early", n - self.rest.len())))?;
        self.rest = rest;
        Ok(front)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    fn i32(&mut self) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    fn f64(&mut self) -> Result<f64, Malformed> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    /// A number of things that take at least `size` bytes each: more than could be there is refused before
    /// room is made for them.
    fn count(&mut self, size: usize) -> Result<usize, Malformed> {
        let n = self.i32()?;
        usize::try_from(n)
            .ok()
            .filter(|n| n.saturating_mul(size) <= self.rest.len())
            .ok_or_else(|| garbled(format!("a length of {n} with {} bytes left", self.rest.len())))
    }

    fn string(&mut self) -> Result<String, Malformed> {
        let n = self.count(1)?;
        Ok(String::from_utf8_lossy(self.take(n)?).into_owned())
    }

    /// The length of a command and of a response are of no use to a reader that knows what to expect.
    fn skip_length(&mut self) -> Result<(), Malformed> {
        if self.u8()? == 0 {
            self.i32()?;
        }
        Ok(())
    }

    fn status(&mut self, id: u8) -> Result<(), Malformed> {
        self.response(id)?;
        let result = self.u8()?;
        let description = self.string()?;
        match result {
            0x00 => Ok(()),
            0x01 => Err(Malformed::Refused(format!("not implemented: {description}"))),
            0xff => Err(Malformed::Refused(description)),
            other => Err(garbled(format!("status {other:#04x} of command {id:#04x}"))),
        }
    }

    fn response(&mut self, id: u8) -> Result<(), Malformed> {
        self.skip_length()?;
        let got = self.u8()?;
        if got == id { Ok(()) } else { Err(garbled(format!("command {got:#04x} in place of {id:#04x}"))) }
    }

    fn update(&mut self) -> Result<Update, Malformed> {
        self.skip_length()?;
        let id = self.u8()?;
        let domain = Domain::of_update(id).ok_or_else(|| garbled(format!("subscription {id:#04x}")))?;
        let object = self.string()?;
        let count = self.u8()?;
        self.values_of(domain, object, count)
    }

    /// Objects of a domain around one of another.
    fn around(&mut self, centre: Domain, of: Domain) -> Result<Vec<Update>, Malformed> {
        self.response(centre.around() + 0x10)?;
        self.string()?;
        let got = self.u8()?;
        if got != of.get() {
            return Err(garbled(format!("objects of domain {got:#04x} in place of {:#04x}", of.get())));
        }
        let variables = self.u8()?;
        let count = self.count(4)?;
        (0..count)
            .map(|_| {
                let object = self.string()?;
                self.values_of(of, object, variables)
            })
            .collect()
    }

    /// The values of so many variables of an object.
    fn values_of(&mut self, domain: Domain, object: String, count: u8) -> Result<Update, Malformed> {
        let mut values = Vec::with_capacity(usize::from(count).min(self.rest.len()));
        for _ in 0..count {
            let variable = Variable(self.u8()?);
            let status = self.u8()?;
            let value = self.value(0)?;
            if status != 0 {
                let why = value.as_str().unwrap_or("no reason given").to_owned();
                return Err(Malformed::Refused(format!("{:#04x} of {object:?}: {why}", variable.0)));
            }
            values.push((variable, value));
        }
        Ok(Update { domain, object, values })
    }

    fn value(&mut self, depth: usize) -> Result<Value, Malformed> {
        Ok(match self.u8()? {
            tag::UBYTE => Value::UByte(self.u8()?),
            tag::BYTE => Value::Byte(self.u8()? as i8),
            tag::INTEGER => Value::Int(self.i32()?),
            tag::DOUBLE => Value::Double(self.f64()?),
            tag::STRING => Value::String(self.string()?),
            tag::STRING_LIST => {
                let n = self.count(4)?;
                Value::Strings((0..n).map(|_| self.string()).collect::<Result<_, _>>()?)
            }
            tag::DOUBLE_LIST => {
                let n = self.count(8)?;
                Value::Doubles((0..n).map(|_| self.f64()).collect::<Result<_, _>>()?)
            }
            tag::POSITION_2D => Value::Position(self.f64()?, self.f64()?),
            tag::COMPOUND if depth < MAX_DEPTH => {
                let n = self.count(2)?;
                Value::Compound((0..n).map(|_| self.value(depth + 1)).collect::<Result<_, _>>()?)
            }
            other => return Err(garbled(format!("type {other:#04x}"))),
        })
    }
}

#[cfg(test)]
mod tests;
