//! A layout built by netconvert, and what its traffic lights control.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roxmltree::{Document, Node as Element};

use crate::error::{Error, Result, Said};
use crate::find::Sumo;
use crate::layout::{Layout, Node, Road};
use crate::program::run;
use crate::scratch::{Scratch, read};

/// What a vehicle takes of a lane in a queue: five metres of car and the gap before it.
pub(crate) const VEHICLE_SPACE: f64 = 7.5;

/// Who operates the traffic lights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lights {
    /// We do, by [`Simulation::decide`](crate::Simulation::decide).
    Ours,
    /// SUMO's fixed-time program, as netconvert makes it: opposite directions together, 90 s a cycle.
    FixedTime,
    /// SUMO's actuated program: the same phases, prolonged while detectors see vehicles coming.
    Actuated,
}

/// How many legs an intersection has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Three.
    ThreeWay,
    /// Four.
    FourWay,
}

/// A lane that leads to an intersection.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingLane {
    /// Its id in the simulator, such as `i0_i1_0`; also a Prolog atom.
    pub id: String,
    /// The road it belongs to, which tells the two places it lies between.
    pub road: Road,
    /// Its length in metres.
    pub length: f64,
    /// The indices of the signals for its movements.
    pub signals: Vec<usize>,
    /// The signals of the whole intersection when this lane has green for all its movements and all others red.
    pub green: String,
}

impl IncomingLane {
    /// The number of vehicles that fit on the lane, and so the longest queue there can be.
    pub fn capacity(&self) -> u32 {
        (self.length / VEHICLE_SPACE).ceil() as u32
    }
}

/// An intersection with traffic lights: an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Intersection {
    /// Its id in the simulator and that of its traffic light, such as `i0`.
    pub id: String,
    /// How many legs it has.
    pub kind: Kind,
    /// The lanes that lead to it, clockwise from north: the choices of the agent.
    pub lanes: Vec<IncomingLane>,
    /// The number of signals, one for each movement from an incoming lane to an outgoing one.
    pub signals: usize,
}

impl Intersection {
    /// The signals on the way from one state to another: yellow for what loses its green, green for what keeps it, red for all
    /// else.
    pub fn yellow(before: &str, after: &str) -> String {
        let go = |c: char| c.eq_ignore_ascii_case(&'g');
        before
            .chars()
            .zip(after.chars())
            .map(|(b, a)| match (go(b), go(a)) {
                (true, true) => b,
                (true, false) => 'y',
                _ => 'r',
            })
            .collect()
    }

    /// The signals that let nobody go.
    pub fn all_red(&self) -> String {
        "r".repeat(self.signals)
    }
}

/// A network that SUMO can simulate. Cloning is cheap; the files go away with the last clone.
#[derive(Debug, Clone)]
pub struct Network {
    layout: Layout,
    intersections: Vec<Intersection>,
    fixed: PathBuf,
    actuated: PathBuf,
    _files: Arc<Scratch>,
}

impl Network {
    /// Builds a layout with netconvert (twice, because the fixed-time and the actuated programs are part of the file; 0.1 s
    /// together), and reads back what the lights control.
    pub fn build(sumo: &Sumo, layout: &Layout) -> Result<Self> {
        let files = Scratch::new()?;
        let nodes = files.write("nodes.nod.xml", &layout.nodes_xml())?;
        let edges = files.write("edges.edg.xml", &layout.edges_xml())?;
        let convert = |name: &str, kind: &str| -> Result<PathBuf> {
            let out = files.path(name);
            let mut command = sumo.command(&sumo.netconvert);
            command
                .arg("--node-files")
                .arg(&nodes)
                .arg("--edge-files")
                .arg(&edges)
                .arg("--output-file")
                .arg(&out)
                .args(["--tls.default-type", kind])
                // A vehicle that turns around would be counted in two queues of one intersection.
                .args(["--no-turnarounds", "true"])
                .args(["--offset.disable-normalization", "true"])
                .args(["--xml-validation", "never"]);
            let failed = |reason: String, stderr: String| Error::Program {
                program: sumo.netconvert.clone(),
                reason,
                stderr: Said(stderr),
            };
            let output =
                run(&mut command, Duration::from_secs(60)).map_err(|reason| failed(reason, String::new()))?;
            if output.success {
                Ok(out)
            } else {
                Err(failed(format!("could not build the network {:?}", layout.name()), output.stderr))
            }
        };
        let fixed = convert("fixed.net.xml", "static")?;
        let actuated = convert("actuated.net.xml", "actuated")?;
        let intersections = intersections(layout, &fixed)?;
        if self::intersections(layout, &actuated)? != intersections {
            let reason = "its lights control other lanes than those of the fixed-time network".to_owned();
            return Err(Error::Network { path: actuated, reason });
        }
        Ok(Self { layout: layout.clone(), intersections, fixed, actuated, _files: Arc::new(files) })
    }

    /// The layout this was built from.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The intersections, in the order of the layout.
    pub fn intersections(&self) -> &[Intersection] {
        &self.intersections
    }

    /// The network file for the given operator of the lights.
    pub fn file(&self, lights: Lights) -> &Path {
        match lights {
            Lights::Ours | Lights::FixedTime => &self.fixed,
            Lights::Actuated => &self.actuated,
        }
    }
}

/// Reads a network file for what the lights of a layout control.
fn intersections(layout: &Layout, path: &Path) -> Result<Vec<Intersection>> {
    let text = read(path)?;
    parse(layout, &text).map_err(|reason| Error::Network { path: path.into(), reason })
}

fn parse(layout: &Layout, text: &str) -> Result<Vec<Intersection>, String> {
    let document = Document::parse(text).map_err(|e| e.to_string())?;
    let root = document.root_element();
    let lengths = lane_lengths(root)?;
    let mut signals = signals_by_lane(root)?;
    let result = (0..layout.len()).map(|i| {
        let node = Node::Intersection(i);
        let id = node.to_string();
        let legs = layout.legs(i);
        let lanes = legs
            .iter()
            .map(|&(_, from)| {
                let road = Road { from, to: node };
                let id = format!("{road}_0");
                let length = *lengths.get(&id).ok_or_else(|| format!("the lane {id} is missing"))?;
                let signals = signals
                    .remove(&(node.to_string(), id.clone()))
                    .ok_or_else(|| format!("no light for {id}"))?;
                Ok((road, id, length, signals))
            })
            .collect::<Result<Vec<_>, String>>()?;
        let all: usize = lanes.iter().map(|(.., signals)| signals.len()).sum();
        let mut seen: Vec<usize> = lanes.iter().flat_map(|(.., signals)| signals).copied().collect();
        seen.sort_unstable();
        // Each movement has a signal of its own, so a state has as many letters as there are movements.
        if !seen.iter().copied().eq(0..all) {
            return Err(format!("the signals of {id} are {seen:?}"));
        }
        let lanes = lanes
            .into_iter()
            .map(|(road, id, length, signals)| {
                let green = (0..all).map(|s| if signals.contains(&s) { 'G' } else { 'r' }).collect();
                IncomingLane { id, road, length, signals, green }
            })
            .collect();
        let kind = if legs.len() == 3 { Kind::ThreeWay } else { Kind::FourWay };
        Ok(Intersection { id, kind, lanes, signals: all })
    });
    let result = result.collect::<Result<_, _>>()?;
    match signals.into_keys().next() {
        None => Ok(result),
        Some((light, lane)) => Err(format!("{light} controls {lane}, which is not in the layout")),
    }
}

/// The length of every lane outside intersections.
fn lane_lengths(root: Element) -> Result<BTreeMap<String, f64>, String> {
    let lanes = root
        .children()
        .filter(|e| e.has_tag_name("edge") && e.attribute("function") != Some("internal"))
        .flat_map(|edge| edge.children().filter(|e| e.has_tag_name("lane")));
    lanes.map(|lane| Ok((text(lane, "id")?.to_owned(), number(lane, "length")?))).collect()
}

/// The signals that each (traffic light, lane) has, in order.
fn signals_by_lane(root: Element) -> Result<BTreeMap<(String, String), Vec<usize>>, String> {
    let mut signals: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for link in root.children().filter(|e| e.has_tag_name("connection") && e.has_attribute("tl")) {
        let lane = format!("{}_{}", text(link, "from")?, text(link, "fromLane")?);
        signals.entry((text(link, "tl")?.to_owned(), lane)).or_default().push(number(link, "linkIndex")?);
    }
    for indices in signals.values_mut() {
        indices.sort_unstable();
    }
    Ok(signals)
}

pub(crate) fn text<'a>(element: Element<'a, '_>, name: &str) -> Result<&'a str, String> {
    element.attribute(name).ok_or_else(|| format!("a {} has no {name}", element.tag_name().name()))
}

pub(crate) fn number<T: std::str::FromStr>(element: Element, name: &str) -> Result<T, String> {
    let text = text(element, name)?;
    text.parse().map_err(|_| format!("{name}={text:?} of a {} is no number", element.tag_name().name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Compass::{East, North, South};

    /// One intersection with three legs, as netconvert writes it, reduced to what is read.
    const NET: &str = r#"<net>
        <edge id=":i0_0" function="internal"><lane id=":i0_0_0" length="9.0"/></edge>
        <edge id="f0_i0"><lane id="f0_i0_0" length="192.80"/></edge>
        <edge id="f1_i0"><lane id="f1_i0_0" length="192.80"/></edge>
        <edge id="f2_i0"><lane id="f2_i0_0" length="192.80"/></edge>
        <connection from="f0_i0" to="i0_f2" fromLane="0" toLane="0" tl="i0" linkIndex="0"/>
        <connection from="f0_i0" to="i0_f1" fromLane="0" toLane="0" tl="i0" linkIndex="1"/>
        <connection from="f1_i0" to="i0_f0" fromLane="0" toLane="0" tl="i0" linkIndex="2"/>
        <connection from="f1_i0" to="i0_f2" fromLane="0" toLane="0" tl="i0" linkIndex="3"/>
        <connection from="f2_i0" to="i0_f1" fromLane="0" toLane="0" tl="i0" linkIndex="4"/>
        <connection from="f2_i0" to="i0_f0" fromLane="0" toLane="0" tl="i0" linkIndex="5"/>
        <connection from=":i0_0" to="i0_f2" fromLane="0" toLane="0"/>
    </net>"#;

    fn layout() -> Layout {
        Layout::new("one", &[(0, 0)], &[(0, North), (0, East), (0, South)]).unwrap()
    }

    #[test]
    fn each_lane_gets_green_for_all_its_movements_and_for_no_other() {
        let all = parse(&layout(), NET).unwrap();
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((one.id.as_str(), one.kind, one.signals), ("i0", Kind::ThreeWay, 6));
        let greens: Vec<_> = one.lanes.iter().map(|l| (l.id.as_str(), l.green.as_str())).collect();
        assert_eq!(greens, [("f0_i0_0", "GGrrrr"), ("f1_i0_0", "rrGGrr"), ("f2_i0_0", "rrrrGG")]);
        assert_eq!(one.lanes[0].capacity(), 26);
        assert_eq!(one.all_red(), "rrrrrr");
    }

    #[test]
    fn yellow_lies_between_two_greens() {
        for (before, after, between) in [
            ("GGrrrr", "rrGGrr", "yyrrrr"),
            ("GGrrrr", "GGrrrr", "GGrrrr"),
            ("Ggrr", "rGGr", "ygrr"),
            ("rrrr", "GGrr", "rrrr"),
        ] {
            assert_eq!(Intersection::yellow(before, after), between);
        }
    }

    #[test]
    fn a_file_that_does_not_fit_the_layout_is_refused() {
        for (from, to, why) in [
            ("<net>", "", "unexpected"),
            ("\"f2_i0_0\" length", "\"f9_i0_0\" length", "the lane f2_i0_0 is missing"),
            ("192.80", "long", "no number"),
            ("linkIndex=\"5\"", "linkIndex=\"7\"", "the signals of i0"),
            ("tl=\"i0\" linkIndex=\"5\"", "tl=\"i7\" linkIndex=\"5\"", "i7 controls"),
            ("fromLane=\"0\"", "", "has no fromLane"),
        ] {
            let error = parse(&layout(), &NET.replace(from, to)).unwrap_err();
            assert!(error.contains(why) || why == "unexpected", "{error}");
        }
    }
}
