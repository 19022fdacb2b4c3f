//! Domains of our own with problems of any size, drawn from a seed: to train on, to test on and to start from.

mod blocks;
mod grid;
mod roads;
mod snack;
mod space;
mod transport;

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::{Alphabet, Error, Source};

use crate::domain::Domain;
use crate::task::Task;

/// A domain with a generator of problems, each of which can be solved.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// The name of the domain.
    pub name: &'static str,
    /// In one line, what it is about.
    pub summary: &'static str,
    /// What sizes are counted in: `cars`.
    pub unit: &'static str,
    /// The smallest size in which there is something to do.
    pub smallest: usize,
    /// The largest size, where the number of objects grows with its square.
    pub largest: usize,
    /// The text of `domain.pddl`.
    pub domain: &'static str,
    /// A policy written by hand that solves every problem, where we know one.
    pub policy: Option<&'static str>,
    /// What the numbers of a problem count, in order.
    pub counts: &'static [&'static str],
    /// The numbers of a problem of a size.
    usual: fn(usize, &mut Rng) -> Numbers,
    make: fn(Numbers, &mut Rng) -> Text,
}

/// How many there are of what: as many as the `counts` of a generator say, the rest is 0.
pub type Numbers = [usize; 5];

/// The largest size of a problem, and of one whose objects are the cells of a grid.
const LARGEST: usize = 1000;
const WIDEST: usize = 100;

/// The generators, one per domain.
pub const GENERATORS: &[Generator] = &[
    Generator {
        name: "gripper",
        summary: "a robot with two grippers carries balls from room to room",
        unit: "balls",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/gripper/domain.pddl"),
        policy: Some(include_str!("../../worlds/gripper/policy.pl")),
        counts: &["balls", "rooms"],
        usual: transport::usual_gripper,
        make: transport::gripper,
    },
    Generator {
        name: "ferry",
        summary: "a ferry carries one car at a time",
        unit: "cars",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/ferry/domain.pddl"),
        policy: Some(include_str!("../../worlds/ferry/policy.pl")),
        counts: &["cars", "locations"],
        usual: transport::usual_ferry,
        make: transport::ferry,
    },
    Generator {
        name: "miconic",
        summary: "a lift takes passengers where they want to go",
        unit: "passengers",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/miconic/domain.pddl"),
        policy: Some(include_str!("../../worlds/miconic/policy.pl")),
        counts: &["passengers", "floors"],
        usual: transport::usual_miconic,
        make: transport::miconic,
    },
    Generator {
        name: "spanner",
        summary: "spanners that work once are collected on a path of no return",
        unit: "nuts",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/spanner/domain.pddl"),
        policy: Some(include_str!("../../worlds/spanner/policy.pl")),
        counts: &["nuts", "spanners", "locations"],
        usual: transport::usual_spanner,
        make: transport::spanner,
    },
    Generator {
        name: "blocksworld",
        summary: "a hand stacks blocks: four actions",
        unit: "blocks",
        smallest: 2,
        largest: LARGEST,
        domain: include_str!("../../worlds/blocksworld/domain.pddl"),
        policy: Some(include_str!("../../worlds/blocksworld/policy.pl")),
        counts: &["blocks", "1 to ask for the whole state"],
        usual: blocks::usual,
        make: blocks::with_hand,
    },
    Generator {
        name: "blocks-move",
        summary: "blocks are moved from place to place: three actions",
        unit: "blocks",
        smallest: 2,
        largest: LARGEST,
        domain: include_str!("../../worlds/blocks-move/domain.pddl"),
        policy: Some(include_str!("../../worlds/blocks-move/policy.pl")),
        counts: &["blocks", "1 to ask for the whole state"],
        usual: blocks::usual,
        make: blocks::without_hand,
    },
    Generator {
        name: "childsnack",
        summary: "sandwiches are made and served, some without gluten",
        unit: "children",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/childsnack/domain.pddl"),
        policy: Some(include_str!("../../worlds/childsnack/policy.pl")),
        counts: &["children", "allergic ones", "trays", "tables", "sandwiches"],
        usual: snack::usual,
        make: snack::childsnack,
    },
    Generator {
        name: "transport",
        summary: "vehicles that hold only so much carry packages along roads",
        unit: "packages",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/transport/domain.pddl"),
        policy: Some(include_str!("../../worlds/transport/policy.pl")),
        counts: &["packages", "vehicles", "locations", "capacity"],
        usual: transport::usual_transport,
        make: transport::transport,
    },
    Generator {
        name: "logistics",
        summary: "trucks carry packages within cities, airplanes between them",
        unit: "packages",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/logistics/domain.pddl"),
        policy: Some(include_str!("../../worlds/logistics/policy.pl")),
        counts: &["packages", "cities", "airplanes"],
        usual: transport::usual_logistics,
        make: transport::logistics,
    },
    Generator {
        name: "satellite",
        summary: "satellites take images with instruments that need preparation",
        unit: "satellites",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/satellite/domain.pddl"),
        policy: Some(include_str!("../../worlds/satellite/policy.pl")),
        counts: &["satellites", "instruments", "modes", "directions", "images"],
        usual: space::usual_satellite,
        make: space::satellite,
    },
    Generator {
        name: "rovers",
        summary: "rovers sample soil and rock, take images and send what they found",
        unit: "goals",
        smallest: 1,
        largest: LARGEST,
        domain: include_str!("../../worlds/rovers/domain.pddl"),
        policy: Some(include_str!("../../worlds/rovers/policy.pl")),
        counts: &["goals", "rovers", "waypoints", "objectives"],
        usual: space::usual_rovers,
        make: space::rovers,
    },
    Generator {
        name: "floortile",
        summary: "robots paint tiles and cannot walk on what is painted",
        unit: "rows",
        smallest: 1,
        largest: WIDEST,
        domain: include_str!("../../worlds/floortile/domain.pddl"),
        policy: Some(include_str!("../../worlds/floortile/policy.pl")),
        counts: &["rows", "columns", "robots"],
        usual: grid::usual_floortile,
        make: grid::floortile,
    },
    Generator {
        name: "visitall",
        summary: "a robot visits cells of a grid",
        unit: "rows",
        smallest: 2,
        largest: WIDEST,
        domain: include_str!("../../worlds/visitall/domain.pddl"),
        policy: Some(include_str!("../../worlds/visitall/policy.pl")),
        counts: &["rows", "columns"],
        usual: grid::usual_visitall,
        make: grid::visitall,
    },
    Generator {
        name: "sokoban",
        summary: "a robot pushes boxes to where they belong",
        unit: "boxes",
        smallest: 1,
        largest: WIDEST,
        domain: include_str!("../../worlds/sokoban/domain.pddl"),
        policy: None,
        counts: &["boxes", "rows"],
        usual: grid::usual_sokoban,
        make: grid::sokoban,
    },
];

/// The parts of a problem, as text.
pub(crate) struct Text {
    /// Each type with its objects.
    objects: Vec<(&'static str, Vec<String>)>,
    init: Vec<String>,
    goal: Vec<String>,
}

/// `car1`, `car2`, ...
fn numbered(name: &str, count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("{name}{i}")).collect()
}

/// So many different numbers below `of`, in a random order.
fn some(count: usize, of: usize, rng: &mut Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..of).collect();
    rng.shuffle(&mut all);
    all.truncate(count);
    all
}

/// How predicates and actions of these domains read, a line each.
const WORDS: &[&str] = &[
    include_str!("../../worlds/ferry/words"),
    include_str!("../../worlds/gripper/words"),
    include_str!("../../worlds/miconic/words"),
    include_str!("../../worlds/spanner/words"),
    include_str!("../../worlds/blocksworld/words"),
    include_str!("../../worlds/blocks-move/words"),
    include_str!("../../worlds/visitall/words"),
];

/// How the predicates and actions of a domain read that is one of ours, whatever it is called; else nothing.
pub fn words(alphabet: &Alphabet) -> &'static str {
    let is_known = |line: &str| {
        let (left, _) = line.split_once(": ").unwrap_or((line, ""));
        let (name, args) = left.split_once('(').unwrap_or((left, ""));
        let arity = if args.is_empty() { 0 } else { args.split(',').count() };
        // Not every set of problems has all goals.
        name.starts_with("goal_")
            || alphabet.find_predicate(name, arity).is_some()
            || alphabet.find_action(name, arity).is_some()
    };
    WORDS.iter().find(|words| words.lines().all(is_known)).copied().unwrap_or_default()
}

impl Generator {
    /// The generator of that name.
    pub fn find(name: &str) -> Option<&'static Generator> {
        GENERATORS.iter().find(|g| g.name == name)
    }

    /// The text of a problem of that size: the same for the same seed. Sizes below the smallest are the smallest, sizes
    /// above the largest the largest.
    ///
    /// ```
    /// use derrl_pddl::generate::Generator;
    /// let ferry = Generator::find("ferry").expect("it is one of the generators");
    /// assert_eq!(ferry.problem(2, 7), ferry.problem(2, 7));
    /// assert_ne!(ferry.problem(2, 7), ferry.problem(2, 8));
    /// ```
    pub fn problem(&self, size: usize, seed: u64) -> String {
        let size = size.clamp(self.smallest, self.largest);
        let mut rng = Rng::new(seed, size as u64);
        let numbers = (self.usual)(size, &mut rng);
        self.write(&format!("{size}-{seed}"), &(self.make)(numbers, &mut rng))
    }

    /// The text of a problem with these numbers of objects, one per name in `counts`; numbers that no problem can have
    /// are taken for the nearest.
    ///
    /// ```
    /// use derrl_pddl::generate::Generator;
    /// let ferry = Generator::find("ferry").expect("it is one of the generators");
    /// assert_eq!(ferry.counts, ["cars", "locations"]);
    /// assert!(ferry.problem_of([1, 7, 0, 0, 0], 3).contains("loc7"));
    /// ```
    pub fn problem_of(&self, numbers: Numbers, seed: u64) -> String {
        let stream = numbers.iter().fold(0, |all: u64, &n| all.wrapping_mul(10_007).wrapping_add(n as u64));
        let shown: Vec<String> = numbers[..self.counts.len()].iter().map(usize::to_string).collect();
        let text = (self.make)(numbers, &mut Rng::new(seed, stream));
        self.write(&format!("{}-{seed}", shown.join("-")), &text)
    }

    /// A problem as PDDL.
    fn write(&self, title: &str, text: &Text) -> String {
        let mut out =
            format!("(define (problem {}-{title})\n  (:domain {})\n  (:objects", self.name, self.name);
        for (t, names) in text.objects.iter().filter(|(_, names)| !names.is_empty()) {
            for line in names.chunks(12) {
                out.push_str("\n    ");
                out.push_str(&line.join(" "));
            }
            out.push_str(" - ");
            out.push_str(t);
        }
        out.push_str(")\n  (:init");
        for fact in &text.init {
            out.push_str("\n    (");
            out.push_str(fact);
            out.push(')');
        }
        out.push_str(")\n  (:goal (and");
        for fact in &text.goal {
            out.push_str("\n    (");
            out.push_str(fact);
            out.push(')');
        }
        out.push_str(")))\n");
        out
    }

    /// The domain, parsed.
    pub fn domain(&self) -> Result<Arc<Domain>, Error> {
        Domain::parse(&Source::new(format!("{}/domain.pddl", self.name), self.domain)).map(Arc::new)
    }

    /// A problem of the domain, compiled.
    pub fn task(&self, domain: &Arc<Domain>, size: usize, seed: u64) -> Result<Arc<Task>, Error> {
        let name = format!("{}-{size}-{seed}.pddl", self.name);
        Task::parse(&Source::new(name, self.problem(size, seed)), domain).map(Arc::new)
    }
}
