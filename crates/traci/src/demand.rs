//! Who drives from where to where, and when: drawn from a seed, the same on every machine.

use std::collections::VecDeque;
use std::fmt::Write as _;

use crate::error::{Error, Result};
use crate::layout::{Layout, Node, Road};

/// How much traffic there is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemandSpec {
    /// Vehicles an hour that want to enter for each intersection of the layout, so that a larger network is not an emptier
    /// one. They enter at the places of the fringe.
    pub vehicles_per_hour: f64,
    /// How much busier some places are than others, from 0 (all alike) to 1 (anything between no traffic and
    /// twice the average). Which ones are busy depends on the seed.
    pub unevenness: f64,
    /// Seconds during which vehicles enter: the length of an episode.
    pub horizon: u32,
}

impl Default for DemandSpec {
    /// Ten minutes of 240 vehicles an hour for each intersection, chosen so that random decisions earn about what they do in the
    /// paper. Mean queues with SUMO 1.28.0 over seeds 0 to 9, on `five` and `eight`: random decisions 1.57 and 1.82 vehicles a
    /// lane, SUMO's fixed-time program 0.60 and 0.81, longest-queue-first 0.48 and 0.62. More traffic favours fixed-time, which
    /// lets opposite lanes go together: on `eight` it overtakes longest-queue-first at about 330.
    fn default() -> Self {
        Self { vehicles_per_hour: 240.0, unevenness: 0.5, horizon: 600 }
    }
}

/// One vehicle's journey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// The second in which it wants to enter.
    pub depart: u32,
    /// The roads it takes, from one place of the fringe to another.
    pub route: Vec<Road>,
}

/// All journeys of an episode, in order of departure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    trips: Vec<Trip>,
}

impl Demand {
    /// The demand of a seed.
    ///
    /// In every second a vehicle wants to enter at a place with a probability fixed for the episode, which makes
    /// arrivals irregular as in life. Its goal is any other place, its route a shortest one (any of them, where
    /// there are several). Comparisons of exact numbers decide, so that no rounding differs between machines.
    pub fn new(spec: &DemandSpec, layout: &Layout, seed: u64) -> Result<Self> {
        let DemandSpec { vehicles_per_hour, unevenness, horizon } = *spec;
        let places = layout.fringe();
        let average = vehicles_per_hour * layout.len() as f64 / places.max(1) as f64;
        // A lane takes in one vehicle in two seconds at best, and a busy place has twice the average.
        if !(0.0..=900.0).contains(&average) || !(0.0..=1.0).contains(&unevenness) {
            return Err(Error::Invalid(format!(
                "a demand needs 0 to 900 vehicles an hour at each place of the fringe and an unevenness of 0 to 1, \
                 not {average} and {unevenness}"
            )));
        }
        let roads = layout.roads();
        let mut draw = SplitMix64(seed);
        let chances: Vec<f64> =
            (0..places).map(|_| average / 3600.0 * (1.0 + unevenness * (2.0 * draw.unit() - 1.0))).collect();
        let mut trips = Vec::new();
        for depart in 0..horizon {
            for (place, chance) in chances.iter().enumerate() {
                if draw.unit() < *chance && places > 1 {
                    let other = draw.below(places - 1);
                    let goal = if other < place { other } else { other + 1 };
                    if let Some(route) = route(&roads, layout.len(), place, goal, &mut draw) {
                        trips.push(Trip { depart, route });
                    }
                }
            }
        }
        Ok(Self { trips })
    }

    /// The journeys, in order of departure.
    pub fn trips(&self) -> &[Trip] {
        &self.trips
    }

    /// The route file that SUMO reads. Vehicles are SUMO's default car, spelled out so that a change of the
    /// defaults does not change our traffic.
    pub fn to_xml(&self) -> String {
        let mut xml = String::from(
            "<routes>\n  <vType id=\"car\" length=\"5\" minGap=\"2.5\" accel=\"2.6\" decel=\"4.5\" sigma=\"0.5\" \
             tau=\"1\" maxSpeed=\"55.56\" speedFactor=\"normc(1,0.1,0.2,2)\"/>\n",
        );
        for (n, Trip { depart, route }) in self.trips.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(
                xml,
                "  <vehicle id=\"v{n}\" type=\"car\" depart=\"{depart}\" departSpeed=\"max\"><route edges=\""
            );
            for (k, road) in route.iter().enumerate() {
                let _ = write!(xml, "{}{road}", if k > 0 { " " } else { "" });
            }
            xml.push_str("\"/></vehicle>\n");
        }
        xml + "</routes>\n"
    }
}

/// A shortest route between two places of the fringe; at every fork that leads there equally fast, a coin decides.
fn route(
    roads: &[Road],
    intersections: usize,
    start: usize,
    goal: usize,
    draw: &mut SplitMix64,
) -> Option<Vec<Road>> {
    let goal = Node::Fringe(goal);
    // distances[n]: roads from intersection n to the goal.
    let mut distances = vec![usize::MAX; intersections];
    let mut queue = VecDeque::from([(goal, 0)]);
    while let Some((node, distance)) = queue.pop_front() {
        for road in roads.iter().filter(|road| road.to == node) {
            if let Node::Intersection(n) = road.from
                && distances[n] == usize::MAX
            {
                distances[n] = distance + 1;
                queue.push_back((road.from, distance + 1));
            }
        }
    }
    let distance = |node: Node| match node {
        Node::Intersection(n) => distances[n],
        Node::Fringe(_) if node == goal => 0,
        Node::Fringe(_) => usize::MAX,
    };
    let mut route = vec![*roads.iter().find(|road| road.from == Node::Fringe(start))?];
    loop {
        let here = route.last()?.to;
        if here == goal {
            return Some(route);
        }
        let left = distance(here);
        if left == usize::MAX {
            return None;
        }
        let nearer: Vec<_> =
            roads.iter().filter(|road| road.from == here && distance(road.to) < left).collect();
        route.push(**nearer.get(draw.below(nearer.len().max(1)))?);
    }
}

/// Steele, Lea and Flood's generator: three lines, no dependency, the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix64(pub u64);

impl SplitMix64 {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below `n`, which is not 0. The bias is below 2^-50 for the few choices we draw from.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn splitmix_gives_its_published_numbers() {
        let mut draw = SplitMix64(1234567);
        let got: Vec<_> = (0..3).map(|_| draw.next()).collect();
        assert_eq!(got, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn the_rate_is_the_rate_asked_for() {
        let layout = Layout::five();
        let spec = DemandSpec { vehicles_per_hour: 252.0, unevenness: 0.0, horizon: 100_000 };
        let trips = Demand::new(&spec, &layout, 1).unwrap().trips().len();
        // 5 intersections, 0.07 vehicles a second for each: 35,000, with a standard deviation of 180.
        assert!((34_000..36_000).contains(&trips), "{trips}");
    }

    #[test]
    fn nonsense_is_refused() {
        for spec in [
            DemandSpec { vehicles_per_hour: -1.0, ..DemandSpec::default() },
            DemandSpec { vehicles_per_hour: f64::NAN, ..DemandSpec::default() },
            DemandSpec { unevenness: 1.5, ..DemandSpec::default() },
        ] {
            assert!(matches!(Demand::new(&spec, &Layout::five(), 0), Err(Error::Invalid(_))));
        }
    }

    proptest! {
        #[test]
        fn every_journey_leads_from_fringe_to_fringe_without_detour(seed: u64, eight: bool) {
            let layout = if eight { Layout::eight() } else { Layout::five() };
            let spec = DemandSpec { horizon: 60, ..DemandSpec::default() };
            let demand = Demand::new(&spec, &layout, seed).unwrap();
            prop_assert_eq!(&demand, &Demand::new(&spec, &layout, seed).unwrap());
            let roads = layout.roads();
            for Trip { depart, route } in demand.trips() {
                prop_assert!(*depart < 60);
                prop_assert!(route.len() >= 2);
                prop_assert!(route.iter().all(|road| roads.contains(road)));
                prop_assert!(route.windows(2).all(|w| w[0].to == w[1].from && w[0].from != w[1].to));
                let (start, goal) = (route[0].from, route[route.len() - 1].to);
                prop_assert!(matches!((start, goal), (Node::Fringe(a), Node::Fringe(b)) if a != b));
            }
        }
    }
}
