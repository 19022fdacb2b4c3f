//! An episode of a scenario: who decides says which phase comes next, and the drive keeps what is safe.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Fault, Result, Said};
use crate::find::Sumo;
use crate::process::{Patience, Process};
use crate::protocol::{Answer, Batch, Domain, Value, Variable};
use crate::scenario::files::Scenario;
use crate::scenario::film::Film;
use crate::scenario::net::{City, Light};
use crate::scenario::sight::{Placed, Sight, Watch, places};
use crate::scenario::trips::Trips;
use crate::scratch::Scratch;

/// What is kept whoever decides, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safety {
    /// From one look at the traffic to the next.
    pub every: u64,
    /// Yellow for what loses its green.
    pub yellow: u64,
    /// A phase has green for as long at least.
    pub least_green: u64,
    /// All that lost its green stays red, and nothing new gets green, while vehicles are held up inside the junction: at the most
    /// for as long; 0 for never.
    pub clearance: u64,
}

impl Default for Safety {
    /// Those of the benchmark RESCO (a decision after 7 s of green, 3 s of yellow), with up to 10 s of clearance.
    fn default() -> Self {
        Self { every: 5, yellow: 3, least_green: 7, clearance: 10 }
    }
}

/// Vehicles inside a junction that are slower than this will not be out of it in time, in m/s.
const HELD_UP: f64 = 3.0;

/// Seconds from one picture of a recording to the next.
const FRAME: u64 = 2;

/// Who operates the lights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hands {
    /// We do, by [`Drive::switch`].
    Ours,
    /// The programs of the network.
    Programs,
    /// SUMO's actuated programs with the phases of the network: green is prolonged while vehicles come, up to so many seconds.
    Actuated {
        /// Seconds of green at the most.
        longest: u32,
    },
    /// SUMO's programs that prolong green while those who come would lose time.
    DelayBased,
}

/// How closely the traffic of an episode is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// Where somebody may decide.
    Needed,
    /// Also where nobody may, so that queues are means over the whole time.
    Always,
    /// And recorded, so that the episode can be watched afterwards.
    Recorded,
}

/// How an episode runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Who operates the lights.
    pub hands: Hands,
    /// What is kept whoever decides.
    pub safety: Safety,
    /// How long to wait for SUMO.
    pub patience: Patience,
    /// Whether SUMO writes the files that its configuration asks for.
    pub outputs: bool,
    /// Whether to show the traffic in SUMO's window.
    pub window: bool,
    /// How closely the traffic is looked at.
    pub look: Look,
}

impl Default for Manner {
    fn default() -> Self {
        let patience = Patience { start: Duration::from_secs(120), answer: Duration::from_secs(120) };
        Self {
            hands: Hands::Ours,
            safety: Safety::default(),
            patience,
            outputs: false,
            window: false,
            look: Look::Needed,
        }
    }
}

/// What a light shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// The green phase it is in, or comes from.
    pub phase: usize,
    /// The second at which that got green.
    pub since: u64,
    /// The phase it is on the way to, and the second at which yellow ends.
    pub next: Option<(usize, u64)>,
    /// What it shows on the way, and from when on, where crossings have red before vehicles have yellow.
    pub then: Option<(u64, String)>,
    /// When each phase last had green.
    pub last: Vec<u64>,
}

/// A running episode. Its simulator ends when it is dropped.
#[derive(Debug)]
pub struct Drive {
    scenario: Arc<Scenario>,
    manner: Manner,
    process: Process,
    files: Scratch,
    now: u64,
    signals: Vec<Signal>,
    commands: Batch,
    watch: Watch,
    sight: Sight,
    /// The second of the last look.
    looked: Option<u64>,
    /// Vehicle-seconds waited for room to enter, by the looks so far.
    waited: f64,
    standing: f64,
    looks: u64,
    film: Option<Film>,
}

impl Drive {
    /// Starts an episode with the traffic of a seed. The same scenario, seed, manner and decisions give the same traffic.
    pub fn start(sumo: &Sumo, scenario: &Arc<Scenario>, seed: u64, manner: &Manner) -> Result<Self> {
        let Safety { every, .. } = manner.safety;
        if every == 0 {
            return Err(Error::Invalid(
                "lights look at the traffic every second at the most, not every 0".into(),
            ));
        }
        let city = Arc::clone(scenario.city());
        let files = Scratch::new()?;
        let program =
            programs(&city, manner).map(|text| files.write("programs.add.xml", &text)).transpose()?;
        let trips = files.path("trips.xml");
        let arguments = scenario.arguments(seed, &trips, program.as_deref(), &files, manner.outputs)?;
        let process = if manner.window {
            let window = Sumo { sumo: sumo.window()?, ..sumo.clone() };
            Process::start(&window, &[arguments, vec!["--start".into()]].concat(), manner.patience)?
        } else {
            Process::start(sumo, &arguments, manner.patience)?
        };
        let now = scenario.begin();
        let signals = city.lights.iter().map(|light| Signal {
            phase: 0,
            since: now,
            next: None,
            then: None,
            last: vec![now; light.phases.len()],
        });
        let signals = signals.collect();
        let mut drive = Self {
            scenario: Arc::clone(scenario),
            manner: *manner,
            process,
            files,
            now,
            signals,
            commands: Batch::new(),
            watch: Watch::new(&city),
            sight: Sight::default(),
            looked: None,
            waited: 0.0,
            standing: 0.0,
            looks: 0,
            film: (manner.look == Look::Recorded).then(|| Film::new(&city)),
        };
        if manner.hands == Hands::Ours {
            for light in city.lights.iter().filter(|l| l.decides()) {
                drive.show(&light.id, light.phases[0].state.clone());
            }
        }
        drive.look()?;
        drive.shoot()?;
        Ok(drive)
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// Its network.
    pub fn city(&self) -> &Arc<City> {
        self.scenario.city()
    }

    /// What is kept whoever decides.
    pub fn safety(&self) -> Safety {
        self.manner.safety
    }

    /// The second reached.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Whether the scenario is over.
    pub fn is_over(&self) -> bool {
        self.now >= self.scenario.end()
    }

    /// What a light shows.
    pub fn signal(&self, light: usize) -> &Signal {
        &self.signals[light]
    }

    /// Whether a light may decide now: it has a choice, and its phase has had green for long enough.
    pub fn may_decide(&self, light: usize) -> bool {
        let signal = &self.signals[light];
        self.manner.hands == Hands::Ours
            && self.city().lights[light].decides()
            && signal.next.is_none()
            && self.now - signal.since >= self.manner.safety.least_green
    }

    /// The traffic at the last look: now, if any light may decide.
    pub fn sight(&self) -> &Sight {
        &self.sight
    }

    /// Vehicle-seconds lost so far, on the road and before it, by the last look.
    pub fn lost(&self) -> f64 {
        self.watch.lost + self.waited
    }

    /// The mean number of vehicles that stand before a light, over the looks so far.
    pub fn mean_queue(&self) -> f64 {
        self.standing / self.looks.max(1) as f64 / self.city().lights.len().max(1) as f64
    }

    /// Switches a light to a phase, which gets its green after yellow and clearance. Nothing happens if it has it.
    pub fn switch(&mut self, light: usize, phase: usize) -> Result<()> {
        let city = Arc::clone(self.city());
        let Some(of) = city.lights.get(light).filter(|l| phase < l.phases.len()) else {
            return Err(Error::Invalid(format!("there is no phase {phase} of light {light}")));
        };
        if !self.may_decide(light) {
            return Err(Error::Invalid(format!("light {} may not switch at second {}", of.id, self.now)));
        }
        let from = self.signals[light].phase;
        if from == phase {
            return Ok(());
        }
        self.signals[light].last[from] = self.now;
        if let Some(between) = of.yellow(from, phase) {
            let mut yellow = self.now;
            if let Some(before) = of.walks_stop(from, phase) {
                yellow += of.walks_clear;
                self.show(&of.id, before);
                self.signals[light].then = Some((yellow, between));
            } else {
                self.show(&of.id, between);
            }
            self.signals[light].next = Some((phase, yellow + self.manner.safety.yellow));
        } else {
            self.go(light, phase);
        }
        Ok(())
    }

    /// Gives a phase its green.
    fn go(&mut self, light: usize, phase: usize) {
        let city = Arc::clone(self.city());
        let signal = &mut self.signals[light];
        (signal.phase, signal.since, signal.next) = (phase, self.now, None);
        self.show(&city.lights[light].id, city.lights[light].phases[phase].state.clone());
    }

    fn show(&mut self, light: &str, state: String) {
        self.commands.set(Domain::TrafficLight, Variable::SIGNALS, light, &Value::String(state));
    }

    /// Simulates up to the next look, or the end. The traffic is looked at if somebody may decide then, or at the end; and in any
    /// case if the manner says so.
    pub fn advance(&mut self) -> Result<()> {
        let target = (self.now + self.manner.safety.every).min(self.scenario.end());
        while self.now < target {
            self.change()?;
            // Changes come at whole seconds: where yellow ends, and each second of clearance.
            let ends = self.signals.iter().filter_map(|s| s.next.map(|(_, at)| at));
            let due = ends.chain(self.signals.iter().filter_map(|s| s.then.as_ref().map(|(at, _)| *at)));
            let film = self.film.as_ref().map(|_| self.now - self.now % FRAME + FRAME);
            let due = due.map(|at| at.max(self.now + 1)).chain(film);
            let stop = due.min().unwrap_or(target).min(target);
            let commands = std::mem::take(&mut self.commands);
            self.process.ask(|client| client.step_to(commands, stop))?;
            self.now = stop;
            self.shoot()?;
        }
        if self.manner.look >= Look::Always
            || self.is_over()
            || (0..self.signals.len()).any(|light| self.may_decide(light))
        {
            self.look()?;
        }
        Ok(())
    }

    /// Gives green to the phases whose yellow is over, unless somebody stands in their way.
    fn change(&mut self) -> Result<()> {
        let city = Arc::clone(self.city());
        for (light, of) in city.lights.iter().enumerate() {
            let now = self.now;
            if let Some((_, state)) = self.signals[light].then.take_if(|(at, _)| *at <= now) {
                self.show(&of.id, state);
            }
        }
        let due = self.signals.iter().enumerate().filter_map(|(light, s)| {
            let (phase, at) = s.next.filter(|&(_, at)| at <= self.now)?;
            Some((light, phase, at))
        });
        let due: Vec<(usize, usize, u64)> = due.collect();
        let asked = due.iter().filter(|(.., at)| self.now < at + self.manner.safety.clearance);
        let asked: Vec<(usize, usize)> = asked.map(|&(light, phase, _)| (light, phase)).collect();
        let occupied = self.occupied(&city, &asked)?;
        for (light, phase, at) in due {
            if occupied.contains(&light) {
                if self.now == at {
                    let of = &city.lights[light];
                    let between = of.yellow(self.signals[light].phase, phase).unwrap_or_default();
                    self.show(&of.id, between.replace('y', "r"));
                }
            } else {
                self.go(light, phase);
            }
        }
        Ok(())
    }

    /// The lights, of those that are to go to a phase, inside whose junction somebody is still held up who lost their green.
    ///
    /// Who has only just started counts: two that are in each other's way and roll at walking pace when the others get green are
    /// the seed of a deadlock.
    fn occupied(&mut self, city: &City, asked: &[(usize, usize)]) -> Result<Vec<usize>> {
        let doing = "looking into junctions";
        let (mut batch, mut owners) = (Batch::new(), Vec::new());
        for &(light, phase) in asked {
            let (of, from) = (&city.lights[light], self.signals[light].phase);
            for &(link, _) in of.phases[from].green.iter().filter(|(i, _)| !of.is_green(phase, *i)) {
                for &lane in of.links[link].iter().flat_map(|l| &l.inside) {
                    batch.get(Domain::Lane, Variable::VEHICLE_IDS, &city.lanes[lane].id);
                    owners.push(light);
                }
            }
        }
        let answers = self.process.ask(|client| client.send(&batch, doing))?;
        let (mut batch, mut lights) = (Batch::new(), Vec::new());
        for (light, answer) in owners.into_iter().zip(answers) {
            let Answer::Got(Value::Strings(vehicles)) = answer else {
                return Err(self.garbled(&format!("the vehicles inside a junction are told as {answer:?}")));
            };
            for vehicle in vehicles {
                batch.get(Domain::Vehicle, Variable::SPEED, &vehicle);
                lights.push(light);
            }
        }
        let answers = self.process.ask(|client| client.send(&batch, doing))?;
        let mut occupied = Vec::new();
        for (light, answer) in lights.into_iter().zip(answers) {
            match answer {
                Answer::Got(Value::Double(speed)) if speed < HELD_UP => occupied.push(light),
                Answer::Got(Value::Double(_)) => {}
                other => return Err(self.garbled(&format!("a speed is told as {other:?}"))),
            }
        }
        Ok(occupied)
    }

    fn look(&mut self) -> Result<()> {
        if self.looked == Some(self.now) {
            return Ok(());
        }
        let city = Arc::clone(self.city());
        self.watch.look(&city, &mut self.process, self.now, &mut self.sight)?;
        let elapsed = self.looked.map_or(0, |before| self.now - before);
        self.waited += (elapsed * self.sight.pending as u64) as f64;
        self.standing += self.sight.standing as f64;
        self.looks += 1;
        self.looked = Some(self.now);
        Ok(())
    }

    /// Takes a picture where one is due.
    fn shoot(&mut self) -> Result<()> {
        let city = Arc::clone(self.city());
        match &mut self.film {
            Some(film) if self.now.is_multiple_of(FRAME) => film.shoot(&city, &mut self.process, self.now),
            _ => Ok(()),
        }
    }

    /// What was recorded so far, if anything was to be; recording ends.
    pub fn film(&mut self) -> Option<Film> {
        self.film.take().map(Film::end)
    }

    /// Where all vehicles are now.
    pub fn places(&mut self) -> Result<Vec<Placed>> {
        let city = Arc::clone(self.city());
        places(&city, &mut self.process, self.now)
    }

    /// The process of the simulator, to ask for what is not covered here. Do not step it.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Ends the simulator, and returns how all journeys went.
    pub fn finish(self) -> Result<Trips> {
        let trips: PathBuf = self.files.path("trips.xml");
        self.process.close(self.manner.patience.answer)?;
        Trips::read(&trips)
    }

    fn garbled(&self, why: &str) -> Error {
        let fault = Fault::Garbled(why.to_owned());
        Error::Simulator {
            doing: "looking into junctions".into(),
            step: self.now,
            fault,
            stderr: Said::default(),
        }
    }
}

/// Programs for the lights that SUMO operates in another way than the network says.
fn programs(city: &City, manner: &Manner) -> Option<String> {
    let (kind, longest) = match manner.hands {
        Hands::Ours | Hands::Programs => return None,
        Hands::Actuated { longest } => ("actuated", longest),
        Hands::DelayBased => ("delay_based", 50),
    };
    let phase = |light: &Light, (state, seconds): &(String, f64)| {
        if light.phases.iter().any(|p| p.state == *state) {
            return format!(
                "<phase duration=\"{seconds}\" minDur=\"5\" maxDur=\"{longest}\" state=\"{state}\"/>\n"
            );
        }
        let seconds = if state.contains('y') { manner.safety.yellow as f64 } else { *seconds };
        format!("<phase duration=\"{seconds}\" state=\"{state}\"/>\n")
    };
    let hidden = if kind == "actuated" { "<param key=\"show-detectors\" value=\"false\"/>\n" } else { "" };
    let of_light = |light: &Light| {
        let phases: String = light.program.iter().map(|step| phase(light, step)).collect();
        let id = escape(&light.id);
        format!(
            "<tlLogic id=\"{id}\" type=\"{kind}\" programID=\"derrl\" offset=\"0\">\n{hidden}{phases}</tlLogic>\n"
        )
    };
    let lights: String = city.lights.iter().map(of_light).collect();
    Some(format!("<additional>\n{lights}</additional>\n"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
