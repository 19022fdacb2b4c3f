//! Which intersections there are and how roads join them, before any simulator is involved.
//!
//! Two layouts come with the crate. Letters are intersections, dashes and bars are roads of one lane a direction,
//! and a road that leads nowhere ends at the fringe, where vehicles enter and leave.
//!
//! ```text
//!     five                eight
//!          |                   |       |
//!    --i0--i1--i2--      --i0--i1--i2--i3--
//!      |   |   |           |   |   |   |
//!    --i3--i4            --i4--i5--i6--i7--
//!      |   |               |       |
//! ```

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;

use crate::error::{Error, Result};

/// A direction on the map, in the order in which lanes are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compass {
    /// Up.
    North,
    /// Right.
    East,
    /// Down.
    South,
    /// Left.
    West,
}

impl Compass {
    /// All directions, clockwise from north.
    pub const ALL: [Self; 4] = [Self::North, Self::East, Self::South, Self::West];

    const fn delta(self) -> (i32, i32) {
        match self {
            Self::North => (0, 1),
            Self::East => (1, 0),
            Self::South => (0, -1),
            Self::West => (-1, 0),
        }
    }

    fn from(self, (x, y): (i32, i32)) -> (i32, i32) {
        let (dx, dy) = self.delta();
        (x + dx, y + dy)
    }
}

/// A place where roads meet or end. Shows as `i3` or `f3`, its name in the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// An intersection with traffic lights, by its index.
    Intersection(usize),
    /// The end of a road at the fringe, by its index; it has no lights.
    Fringe(usize),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Intersection(n) => write!(f, "i{n}"),
            Self::Fringe(n) => write!(f, "f{n}"),
        }
    }
}

/// One direction of a road. Shows as `i0_i1`, its name in the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Road {
    /// Where it starts.
    pub from: Node,
    /// Where it leads.
    pub to: Node,
}

impl fmt::Display for Road {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.from, self.to)
    }
}

/// A grid of intersections.
///
/// ```
/// use derrl_traci::{Compass, Layout};
///
/// // Two intersections side by side, the left one with four legs and the right one with three.
/// use Compass::{East, North, South, West};
/// let arms = [(0, North), (0, South), (0, West), (1, North), (1, East)];
/// let layout = Layout::new("pair", &[(0, 0), (1, 0)], &arms)?;
/// assert_eq!(layout.legs(0).len(), 4);
/// assert_eq!(layout.legs(1).len(), 3);
/// # Ok::<(), derrl_traci::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    name: String,
    crossings: Vec<(i32, i32)>,
    arms: Vec<(usize, Compass)>,
    block: u32,
}

impl Layout {
    /// A grid with intersections at the given points of the map, a road between any two neighbours, and *arms*: roads from an
    /// intersection to the fringe. Every intersection must end up with three or four legs, and every arm must point
    /// away from the others.
    pub fn new(name: &str, crossings: &[(i32, i32)], arms: &[(usize, Compass)]) -> Result<Self> {
        let invalid = |why: String| Err(Error::Invalid(format!("the layout {name:?} {why}")));
        let taken: BTreeSet<_> = crossings.iter().collect();
        if taken.len() < crossings.len() {
            return invalid("has two intersections at one point".into());
        }
        let mut ends = BTreeSet::new();
        for &(crossing, direction) in arms {
            let Some(&point) = crossings.get(crossing) else {
                return invalid(format!("has an arm at i{crossing}, which is not there"));
            };
            let end = direction.from(point);
            // Two arms that end at one point would lie on each other.
            if taken.contains(&end) || !ends.insert(end) {
                return invalid(format!("has no room for the arm {direction:?} of i{crossing}"));
            }
        }
        let layout = Self { name: name.into(), crossings: crossings.into(), arms: arms.into(), block: 200 };
        for i in 0..crossings.len() {
            let legs = layout.legs(i).len();
            if !(3..=4).contains(&legs) {
                return invalid(format!("gives i{i} {legs} legs; it needs three or four"));
            }
        }
        Ok(layout)
    }

    /// The five intersections to train on: three 3-way, two 4-way.
    pub fn five() -> Self {
        use Compass::{East, North, South, West};
        let crossings = [(0, 1), (1, 1), (2, 1), (0, 0), (1, 0)];
        let arms = [(0, West), (1, North), (2, East), (2, South), (3, West), (3, South), (4, South)];
        Self::new("five", &crossings, &arms).expect("a layout of this crate is valid, as its tests check")
    }

    /// The eight intersections to transfer to: four 3-way, four 4-way.
    pub fn eight() -> Self {
        use Compass::{East, North, South, West};
        let crossings = [(0, 1), (1, 1), (2, 1), (3, 1), (0, 0), (1, 0), (2, 0), (3, 0)];
        let arms =
            [(0, West), (1, North), (3, North), (3, East), (4, West), (4, South), (6, South), (7, East)];
        Self::new("eight", &crossings, &arms).expect("a layout of this crate is valid, as its tests check")
    }

    /// So many intersections in two rows, 3-way and 4-way in turn; at least one.
    pub fn rows(intersections: usize) -> Result<Self> {
        let crossings: Vec<(i32, i32)> =
            (0..intersections.max(1)).map(|i| ((i / 2) as i32, 1 - (i % 2) as i32)).collect();
        let mut arms = Vec::new();
        let mut taken: BTreeSet<(i32, i32)> = crossings.iter().copied().collect();
        for (i, point) in crossings.iter().enumerate() {
            let neighbours = Compass::ALL.iter().filter(|d| crossings.contains(&d.from(*point))).count();
            let wanted = (3 + i % 2).saturating_sub(neighbours);
            let free = Compass::ALL.into_iter().filter(|d| !taken.contains(&d.from(*point)));
            let new: Vec<Compass> = free.take(wanted).collect();
            taken.extend(new.iter().map(|d| d.from(*point)));
            arms.extend(new.into_iter().map(|d| (i, d)));
        }
        Self::new(&format!("rows-{}", crossings.len()), &crossings, &arms)
    }

    /// The same layout with roads of another length, in metres; 200 unless told. A vehicle in a queue takes 7.5 m.
    #[must_use]
    pub fn with_block(mut self, metres: u32) -> Self {
        self.block = metres.max(50);
        self
    }

    /// The name of the layout.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of intersections.
    pub fn len(&self) -> usize {
        self.crossings.len()
    }

    /// Whether there are no intersections.
    pub fn is_empty(&self) -> bool {
        self.crossings.is_empty()
    }

    /// The number of places where vehicles enter and leave.
    pub fn fringe(&self) -> usize {
        self.arms.len()
    }

    /// Where a node is on the map, x to the right and y upwards, in blocks.
    pub fn point(&self, node: Node) -> Option<(i32, i32)> {
        match node {
            Node::Intersection(i) => self.crossings.get(i).copied(),
            Node::Fringe(f) => self.arms.get(f).map(|&(i, direction)| direction.from(self.crossings[i])),
        }
    }

    /// What lies at the other end of each leg of an intersection, clockwise from north.
    pub fn legs(&self, intersection: usize) -> Vec<(Compass, Node)> {
        let Some(&point) = self.crossings.get(intersection) else { return Vec::new() };
        Compass::ALL
            .into_iter()
            .filter_map(|direction| {
                let there = direction.from(point);
                let crossing = self.crossings.iter().position(|&p| p == there).map(Node::Intersection);
                let arm = || self.arms.iter().position(|&a| a == (intersection, direction)).map(Node::Fringe);
                Some((direction, crossing.or_else(arm)?))
            })
            .collect()
    }

    /// All roads, each direction on its own: first those that leave intersections, then those that enter from
    /// the fringe.
    pub fn roads(&self) -> Vec<Road> {
        let out = (0..self.len()).flat_map(|i| {
            self.legs(i).into_iter().map(move |(_, to)| Road { from: Node::Intersection(i), to })
        });
        let into = self
            .arms
            .iter()
            .enumerate()
            .map(|(f, &(i, _))| Road { from: Node::Fringe(f), to: Node::Intersection(i) });
        out.chain(into).collect()
    }

    /// The file of nodes that netconvert reads.
    pub fn nodes_xml(&self) -> String {
        let mut xml = String::from("<nodes>\n");
        let mut node = |node: Node, (x, y): (i32, i32), kind: &str| {
            let (x, y) = (i64::from(x) * i64::from(self.block), i64::from(y) * i64::from(self.block));
            // Writing to a string cannot fail.
            let _ = writeln!(xml, r#"  <node id="{node}" x="{x}" y="{y}" type="{kind}"/>"#);
        };
        for (i, &point) in self.crossings.iter().enumerate() {
            node(Node::Intersection(i), point, "traffic_light");
        }
        for (f, &(i, direction)) in self.arms.iter().enumerate() {
            node(Node::Fringe(f), direction.from(self.crossings[i]), "dead_end");
        }
        xml + "</nodes>\n"
    }

    /// The file of edges that netconvert reads: one lane a direction, 50 km/h.
    pub fn edges_xml(&self) -> String {
        let mut xml = String::from("<edges>\n");
        for road in self.roads() {
            let Road { from, to } = road;
            let _ =
                writeln!(xml, r#"  <edge id="{road}" from="{from}" to="{to}" numLanes="1" speed="13.89"/>"#);
        }
        xml + "</edges>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layouts_have_the_intersections_they_claim() {
        for (layout, size, three_way) in [(Layout::five(), 5, 3), (Layout::eight(), 8, 4)] {
            assert_eq!(layout.len(), size);
            assert_eq!((0..size).filter(|&i| layout.legs(i).len() == 3).count(), three_way);
            let roads: BTreeSet<_> = layout.roads().into_iter().collect();
            assert_eq!(roads.len(), layout.roads().len());
            for road in &roads {
                assert!(roads.contains(&Road { from: road.to, to: road.from }), "{road} is one-way");
            }
        }
    }

    #[test]
    fn two_rows_of_any_length_have_both_kinds_of_intersections() {
        assert_eq!(Layout::rows(1).unwrap().len(), 1);
        for n in 2..40 {
            let layout = Layout::rows(n).unwrap();
            assert_eq!(layout.len(), n);
            let three_way = (0..n).filter(|&i| layout.legs(i).len() == 3).count();
            assert!((n / 2..=n.div_ceil(2)).contains(&three_way), "{three_way} of {n}");
        }
    }

    #[test]
    fn legs_are_listed_clockwise_from_north() {
        let legs = Layout::five().legs(1);
        let names: Vec<_> = legs.iter().map(|(d, n)| format!("{d:?} {n}")).collect();
        assert_eq!(names, ["North f1", "East i2", "South i4", "West i0"]);
    }

    #[test]
    fn a_layout_that_makes_no_sense_is_refused() {
        use Compass::{East, North, South};
        for (crossings, arms, why) in [
            (vec![(0, 0)], vec![(0, North)], "1 legs"),
            (vec![(0, 0), (0, 0)], vec![], "two intersections"),
            (vec![(0, 0)], vec![(1, North)], "i1"),
            (vec![(0, 0), (1, 0)], vec![(0, East)], "no room"),
            (vec![(0, 0), (2, 0)], vec![(0, East), (0, North), (0, South), (1, Compass::West)], "no room"),
        ] {
            let error = Layout::new("odd", &crossings, &arms).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
