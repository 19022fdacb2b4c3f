//! What a network file says about its traffic lights: green phases, links, the lanes before, inside and behind a junction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use roxmltree::{Document, Node as Element};

use crate::error::{Error, Result};
use crate::network::{number, text};
use crate::scratch::read;

/// How far the neighbours of a light are looked for, in metres of road.
const NEIGHBOURHOOD: f64 = 1000.0;

/// A road network with traffic lights, as read from a `.net.xml` file.
#[derive(Debug, Clone, PartialEq)]
pub struct City {
    /// The traffic lights, in the order of the file.
    pub lights: Vec<Light>,
    /// All lanes, those inside junctions included.
    pub lanes: Vec<Road>,
    /// Some junction, to look around from.
    pub(crate) centre: String,
    numbers: HashMap<String, usize>,
}

/// A lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Road {
    /// Its id.
    pub id: String,
    /// Its length in metres.
    pub length: f64,
    /// Its middle line, in metres to the east and north.
    pub shape: Vec<(f64, f64)>,
    /// Whether it lies inside a junction.
    pub inside: bool,
    /// Whether it is for those who walk: a crossing, or a corner where they turn.
    pub walks: bool,
}

/// A traffic light.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// Its id in the simulator.
    pub id: String,
    /// The green phases of its program. A light with fewer than two has nothing to decide.
    pub phases: Vec<Phase>,
    /// Its program: a state, with seconds, after the other.
    pub program: Vec<(String, f64)>,
    /// Seconds for which the program gives crossings red before vehicles get yellow, so that those who walk get across.
    pub walks_clear: u64,
    /// What each letter of a state is about; none where it is about nothing.
    pub links: Vec<Option<Link>>,
    /// The middle of its stop lines, in metres to the east and north.
    pub at: (f64, f64),
}

/// A green phase of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// A letter per link: `G` (go), `g` (go, but give way), `r` and others (stop).
    pub state: String,
    /// The links that may go, each with what a vehicle on it counts: 0.5 where it has to give way here and another phase
    /// protects it, else 1.
    pub green: Vec<(usize, f64)>,
    /// The lanes that have green, without doubles.
    pub lanes: Vec<usize>,
    /// The lights to which it sends vehicles, by number.
    pub leads: Vec<usize>,
}

/// A way across a junction, from a lane to a lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The lane before the stop line.
    pub from: usize,
    /// The lane behind the junction.
    pub to: usize,
    /// The lanes inside the junction.
    pub inside: Vec<usize>,
    /// Whether it is one for pedestrians.
    pub crossing: bool,
    /// Whether some phase gives it green without having to give way.
    pub protected: bool,
}

/// Whether a letter of a state lets vehicles go. A green arrow at which one has to stop first (`s`) counts as red.
pub(crate) fn goes(letter: u8) -> bool {
    matches!(letter, b'G' | b'g')
}

impl Light {
    /// Whether there is anything to decide: a choice of phases, about vehicles.
    pub fn decides(&self) -> bool {
        self.phases.len() > 1 && self.links.iter().any(Option::is_some)
    }

    /// The state between two phases: yellow for what loses its green. None where nothing does.
    pub fn yellow(&self, from: usize, to: usize) -> Option<String> {
        let (from, to) = (self.phases.get(from)?.state.as_str(), self.phases.get(to)?.state.as_str());
        let letters = from.bytes().zip(to.bytes()).enumerate().map(|(i, (a, b))| {
            let loses = goes(a) && matches!(b, b'r' | b's');
            let walks = self.links.get(i).and_then(Option::as_ref).is_some_and(|l| l.crossing);
            match (loses, walks) {
                (true, true) => 'r',
                (true, false) => 'y',
                (false, _) => char::from(a),
            }
        });
        let between: String = letters.collect();
        (between != from).then_some(between)
    }

    /// The state before that in which crossings that lose their green have red already. None where there are none.
    pub fn walks_stop(&self, from: usize, to: usize) -> Option<String> {
        let from = self.phases.get(from)?.state.as_str();
        let letters = from.bytes().enumerate().map(|(i, letter)| {
            let walks = self.links[i].as_ref().is_some_and(|l| l.crossing);
            if walks && !self.is_green(to, i) { 'r' } else { char::from(letter) }
        });
        let before: String = letters.collect();
        (self.walks_clear > 0 && before != from).then_some(before)
    }

    /// Whether a link has green in a phase.
    pub fn is_green(&self, phase: usize, link: usize) -> bool {
        self.letter(phase, link).is_some_and(goes)
    }

    /// The letter of a link in a phase.
    pub fn letter(&self, phase: usize, link: usize) -> Option<u8> {
        self.phases.get(phase)?.state.as_bytes().get(link).copied()
    }
}

impl City {
    /// Reads a network file, and the traffic-light programs of further files, which take the place of those of the network.
    pub fn read(net: &Path, additional: &[std::path::PathBuf]) -> Result<Self> {
        let text = read_xml(net)?;
        let wrong = |path: &Path, reason: String| Error::Network { path: path.into(), reason };
        let document = Document::parse(&text).map_err(|e| wrong(net, e.to_string()))?;
        let mut programs = programs(document.root_element(), false).map_err(|e| wrong(net, e))?;
        for file in additional {
            let text = read_xml(file)?;
            let document = Document::parse(&text).map_err(|e| wrong(file, e.to_string()))?;
            let others = self::programs(document.root_element(), true).map_err(|e| wrong(file, e))?;
            for (id, program) in others {
                if let Some(known) = programs.iter_mut().find(|(known, _)| *known == id) {
                    known.1 = program;
                }
            }
        }
        city(document.root_element(), programs).map_err(|reason| wrong(net, reason))
    }

    /// The number of a lane.
    pub fn lane(&self, id: &str) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    /// The number of a light.
    pub fn light(&self, id: &str) -> Option<usize> {
        self.lights.iter().position(|l| l.id == id)
    }
}

/// The text of an XML file that is not packed.
pub(crate) fn read_xml(path: &Path) -> Result<String> {
    if path.extension().is_some_and(|end| end == "gz") {
        return Err(Error::Invalid(format!(
            "{} is packed: unpack it (gunzip), and name the unpacked file in its place",
            path.display()
        )));
    }
    read(path)
}

type Program = Vec<(String, f64)>;

/// The programs of a file by light, in its order. Of several programs for a light, SUMO starts with the first of a network
/// file, and with the last of an additional file.
fn programs(root: Element, last: bool) -> Result<Vec<(String, Program)>, String> {
    let mut all: Vec<(String, Program)> = Vec::new();
    for logic in root.children().filter(|e| e.has_tag_name("tlLogic")) {
        let id = text(logic, "id")?.to_owned();
        let phases = logic.children().filter(|e| e.has_tag_name("phase"));
        let program = phases
            .map(|p| Ok((text(p, "state")?.to_owned(), number(p, "duration")?)))
            .collect::<Result<_, String>>()?;
        match all.iter_mut().find(|(known, _)| *known == id) {
            Some(known) if last => known.1 = program,
            Some(_) => {}
            None => all.push((id, program)),
        }
    }
    Ok(all)
}

/// All lanes, and the edges on which people walk across or turn.
fn lanes<'a>(root: Element<'a, 'a>) -> Result<(Vec<Road>, BTreeSet<&'a str>), String> {
    let mut lanes = Vec::new();
    let mut walks = BTreeSet::new();
    for edge in root.children().filter(|e| e.has_tag_name("edge")) {
        let function = edge.attribute("function").unwrap_or_default();
        if matches!(function, "crossing" | "walkingarea") {
            walks.insert(text(edge, "id")?);
        }
        for lane in edge.children().filter(|e| e.has_tag_name("lane")) {
            let shape = lane.attribute("shape").map(points).transpose()?.unwrap_or_default();
            let (id, length) = (text(lane, "id")?.to_owned(), number(lane, "length")?);
            let walks = matches!(function, "crossing" | "walkingarea")
                || lane.attribute("allow").is_some_and(|allow| allow == "pedestrian");
            lanes.push(Road { id, length, shape, inside: !function.is_empty(), walks });
        }
    }
    Ok((lanes, walks))
}

fn city(root: Element, programs: Vec<(String, Program)>) -> Result<City, String> {
    let (lanes, walks) = lanes(root)?;
    let numbers: HashMap<String, usize> = lanes.iter().enumerate().map(|(n, l)| (l.id.clone(), n)).collect();
    let lane = |id: &str| numbers.get(id).copied().ok_or_else(|| format!("the lane {id} is missing"));
    let connections: Vec<Element> = root.children().filter(|e| e.has_tag_name("connection")).collect();
    // Behind a stop inside a junction the way goes on.
    let mut onward: HashMap<String, &str> = HashMap::new();
    for c in connections.iter().filter(|c| c.attribute("from").is_some_and(|f| f.starts_with(':'))) {
        if let Some(via) = c.attribute("via") {
            onward.insert(format!("{}_{}", text(*c, "from")?, text(*c, "fromLane")?), via);
        }
    }
    let mut lights: Vec<Light> = Vec::new();
    for (id, program) in programs {
        let letters = program.first().map_or(0, |(state, _)| state.len());
        if let Some((state, _)) =
            program.iter().find(|(state, _)| state.len() != letters || !state.is_ascii())
        {
            return Err(format!(
                "the program of light {id} has states of different lengths, such as {state:?}"
            ));
        }
        lights.push(Light {
            id,
            phases: Vec::new(),
            program,
            walks_clear: 0,
            links: vec![None; letters],
            at: (0.0, 0.0),
        });
    }
    let by_id: HashMap<String, usize> = lights.iter().enumerate().map(|(n, l)| (l.id.clone(), n)).collect();
    for c in connections.iter().filter(|c| c.has_attribute("tl")) {
        let Some(&n) = by_id.get(text(*c, "tl")?) else { continue };
        let index: usize = number(*c, "linkIndex")?;
        let Some(place) = lights[n].links.get_mut(index) else {
            return Err(format!("light {} has no letter for its link {index}", lights[n].id));
        };
        let mut inside = Vec::new();
        let mut via = c.attribute("via");
        while let Some(id) = via {
            let number = lane(id)?;
            if inside.contains(&number) {
                break;
            }
            inside.push(number);
            via = onward.get(id).copied();
        }
        if let Some(link) = place {
            // Several connections share a signal: the first is the one by which its queue is told.
            inside.retain(|v| !link.inside.contains(v));
            link.inside.extend(inside);
            continue;
        }
        let from = lane(&format!("{}_{}", text(*c, "from")?, text(*c, "fromLane")?))?;
        let to = lane(&format!("{}_{}", text(*c, "to")?, text(*c, "toLane")?))?;
        let crossing = walks.contains(text(*c, "from")?);
        *place = Some(Link { from, to, inside, crossing, protected: false });
    }
    for light in &mut lights {
        finish(light, &lanes);
    }
    connect(&mut lights, &lanes, &connections)?;
    let centre =
        root.children().find(|e| e.has_tag_name("junction") && e.attribute("type") != Some("internal"));
    let centre = centre.map_or(Err("it has no junction".to_owned()), |j| text(j, "id"))?.to_owned();
    Ok(City { lights, lanes, centre, numbers })
}

/// Finds the green phases of a light, and what they let go.
fn finish(light: &mut Light, lanes: &[Road]) {
    let mut states: Vec<&str> = Vec::new();
    for (state, _) in &light.program {
        let green = state.bytes().any(goes) && !state.bytes().any(|c| matches!(c, b'y' | b'Y' | b'u'));
        if green && !states.contains(&state.as_str()) {
            states.push(state);
        }
    }
    for (i, link) in light.links.iter_mut().enumerate() {
        if let Some(link) = link {
            link.protected = states.iter().any(|state| state.as_bytes()[i] == b'G');
        }
    }
    let links = &light.links;
    // A phase that differs from another only in crossings that have red lets them clear: it is no choice.
    let clears = |state: &str, other: &str| {
        let mut letters = state.bytes().zip(other.bytes()).zip(links);
        let stops = |a: u8, b: u8, link: &Option<Link>| {
            a == b || !goes(a) && goes(b) && link.as_ref().is_some_and(|l| l.crossing)
        };
        state != other && letters.all(|((a, b), link)| stops(a, b, link))
    };
    let clearing = |state: &str| states.iter().any(|other| clears(state, other));
    let longest = light.program.iter().filter(|(state, _)| clearing(state)).map(|(_, seconds)| *seconds);
    light.walks_clear = longest.fold(0.0, f64::max).clamp(0.0, 60.0).ceil() as u64;
    let phases = states.iter().filter(|state| !clearing(state)).map(|state| {
        let green = state.bytes().enumerate().filter_map(|(i, letter)| {
            let link = links[i].as_ref().filter(|_| goes(letter))?;
            Some((i, if letter == b'g' && link.protected { 0.5 } else { 1.0 }))
        });
        let green: Vec<(usize, f64)> = green.collect();
        let mut lanes: Vec<usize> =
            green.iter().filter_map(|&(i, _)| Some(links[i].as_ref()?.from)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        Phase { state: (*state).to_owned(), green, lanes, leads: Vec::new() }
    });
    light.phases = phases.collect();
    let ends: Vec<(f64, f64)> = light
        .links
        .iter()
        .flatten()
        .filter(|l| !l.crossing)
        .filter_map(|l| lanes[l.from].shape.last().copied())
        .collect();
    let n = ends.len().max(1) as f64;
    light.at = (ends.iter().map(|p| p.0).sum::<f64>() / n, ends.iter().map(|p| p.1).sum::<f64>() / n);
}

/// Finds the lights that each phase sends vehicles to: the next ones along the roads behind the junction.
fn connect(lights: &mut [Light], lanes: &[Road], connections: &[Element]) -> Result<(), String> {
    let edge = |lane: usize| lanes[lane].id.rsplit_once('_').map_or("", |(edge, _)| edge);
    let mut length: HashMap<&str, f64> = HashMap::new();
    for (n, lane) in lanes.iter().enumerate() {
        length.insert(edge(n), lane.length);
    }
    // Where the light at the end of an edge is, and which edges follow it.
    let mut at_end: HashMap<&str, usize> = HashMap::new();
    for (n, light) in lights.iter().enumerate() {
        for link in light.links.iter().flatten().filter(|l| !l.crossing) {
            at_end.insert(edge(link.from), n);
        }
    }
    let mut next: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for c in connections.iter().filter(|c| !c.attribute("from").is_some_and(|f| f.starts_with(':'))) {
        next.entry(text(*c, "from")?).or_default().insert(text(*c, "to")?);
    }
    let mut found: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
    for (n, light) in lights.iter().enumerate() {
        for (p, phase) in light.phases.iter().enumerate() {
            let starts = phase.green.iter().filter_map(|&(i, _)| light.links[i].as_ref());
            let mut open: Vec<(&str, f64)> =
                starts.filter(|l| !l.crossing).map(|l| (edge(l.to), 0.0)).collect();
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            while let Some((here, far)) = open.pop() {
                if !seen.insert(here) {
                    continue;
                }
                if let Some(&other) = at_end.get(here) {
                    if other != n {
                        found.entry((n, p)).or_default().insert(other);
                    }
                    continue;
                }
                let far = far + length.get(here).copied().unwrap_or_default();
                if far < NEIGHBOURHOOD {
                    open.extend(next.get(here).into_iter().flatten().map(|&edge| (edge, far)));
                }
            }
        }
    }
    for ((n, p), others) in found {
        lights[n].phases[p].leads = others.into_iter().collect();
    }
    Ok(())
}

fn points(text: &str) -> Result<Vec<(f64, f64)>, String> {
    let point = |word: &str| {
        let mut numbers = word.split(',').map(str::parse::<f64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(x)), Some(Ok(y))) => Ok((x, y)),
            _ => Err(format!("{word:?} is no point")),
        }
    };
    text.split_whitespace().map(point).collect()
}
