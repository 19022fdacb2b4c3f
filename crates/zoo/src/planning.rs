//! The ten domains of the learning track of the planning competition of 2023, and gripper, visitall and logistics.
//!
//! Each comes with small problems to train on and with problems to test on, up to the largest sizes of the competition.
//! Problems are drawn from a seed and can be solved, most by construction.
//!
//! ```
//! let satellite = derrl_zoo::planning::find("satellite").expect("it is one of the domains");
//! let (size, seed) = satellite.training()[0];
//! assert_eq!(size, 1);
//! assert!(satellite.text().contains("(:action turn_to"));
//! assert!(satellite.problem(size, seed).contains("(:goal"));
//! ```

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::Error;
use derrl_pddl::generate::{Generator, Numbers};
use derrl_pddl::{self as pddl, Task};

/// Problems of each size that is trained on, and of each that is tested.
const TRAINING: u64 = 4;
const TESTING: u64 = 3;
/// Training problems have the first seeds, tests have those from here on.
const UNSEEN: u64 = 1000;

/// A planning domain with its problems.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// Its name.
    pub name: &'static str,
    /// Whether it was looked at when the learner was designed. The others say how well it does elsewhere.
    pub development: bool,
    /// The sizes of the problems that are trained on and tested.
    train: &'static [usize],
    test: &'static [usize],
    /// How many objects of what there are in a problem of a size.
    numbers: fn(usize, &mut Rng) -> Numbers,
}

/// All domains.
pub const DOMAINS: &[Domain] = &[
    Domain {
        name: "blocksworld",
        development: true,
        train: &[2, 3, 4, 5, 6],
        test: &[10, 20, 40, 90, 150, 300, 488],
        // The whole final state is asked for, as in the competition.
        numbers: |blocks, _| [blocks, 1, 0, 0, 0],
    },
    Domain {
        name: "childsnack",
        development: true,
        train: &[1, 2, 3, 4, 5, 6],
        test: &[8, 12, 25, 50, 100, 200, 292],
        numbers: |children, rng| {
            let allergic = match children {
                0..=8 => rng.below(children + 1),
                _ => children / 2 + children % 2,
            };
            let trays = 1 + rng.below(children.min(if children > 100 { 10 } else { 4 }));
            [children, allergic, trays, 3, children + rng.below(children + 1)]
        },
    },
    Domain {
        name: "ferry",
        development: true,
        train: &[1, 2, 3, 4, 5, 6],
        test: &[10, 20, 50, 100, 200, 500, 974],
        numbers: |cars, rng| [cars, if cars > 10 { cars / 2 } else { 2 + rng.below(5) }, 0, 0, 0],
    },
    Domain {
        name: "floortile",
        development: false,
        train: &[1, 2, 3, 4],
        test: &[5, 7, 10, 16, 22, 28, 34],
        numbers: |rows, rng| {
            let columns = if rows < 5 { 2 + rng.below(3) } else { rows - rows / 6 - rng.below(2) };
            let robots = if rows < 5 { 1 + rng.below(3) } else { columns - rng.below(1 + columns / 2) };
            [rows, if rows == 34 { 28 } else { columns }, if rows == 34 { 28 } else { robots }, 0, 0]
        },
    },
    Domain {
        name: "miconic",
        development: false,
        train: &[1, 2, 3, 4, 5, 6],
        test: &[10, 20, 50, 100, 200, 400, 485],
        numbers: |people, rng| {
            let floors = if people < 10 { 2 + rng.below(2 * people) } else { 10 + people * 186 / 485 };
            [people, floors, 0, 0, 0]
        },
    },
    Domain {
        name: "rovers",
        development: false,
        train: &[1, 2, 3, 4, 5, 6],
        test: &[8, 12, 20, 40, 80, 120],
        numbers: |goals, rng| {
            let waypoints = 3 + goals * 2 / 3 + rng.below(2);
            let rovers = if goals < 8 { 1 + rng.below(1 + goals.div_ceil(4)) } else { goals / 4 };
            [goals, rovers, waypoints, 1 + rng.below(1 + goals.div_ceil(3)), 0]
        },
    },
    Domain {
        name: "satellite",
        development: true,
        train: &[1, 2, 3],
        test: &[4, 6, 10, 20, 40, 70, 99],
        numbers: |satellites, rng| {
            let instruments = satellites + rng.below(satellites + 1);
            let directions = if satellites < 4 { 2 + rng.below(3 * satellites) } else { satellites.max(6) };
            let modes = 1 + rng.below(2 * satellites.min(5));
            let images = 1 + rng.below((directions * modes).min(200));
            match satellites {
                99 => [99, 195, 10, 98, images],
                _ => [satellites, instruments, modes, directions, images],
            }
        },
    },
    Domain {
        name: "sokoban",
        development: false,
        train: &[1, 2, 3],
        test: &[4, 6, 10, 20, 40, 79],
        numbers: |boxes, rng| {
            let side = if boxes < 4 { 4 + boxes + rng.below(2) } else { 5 + boxes * 94 / 79 };
            [boxes, side, 0, 0, 0]
        },
    },
    Domain {
        name: "spanner",
        development: false,
        train: &[1, 2, 3, 4, 5],
        test: &[7, 15, 30, 50, 100, 200, 244],
        numbers: |nuts, rng| {
            let locations = if nuts < 6 { 2 + rng.below(5) } else { (4 + nuts).min(100) };
            [nuts, if nuts == 244 { 487 } else { nuts + rng.below(nuts + 1) }, locations, 0, 0]
        },
    },
    Domain {
        name: "transport",
        development: true,
        train: &[1, 2, 3, 4, 5],
        test: &[7, 12, 25, 50, 100, 150, 194],
        numbers: |packages, rng| {
            let vehicles = if packages < 6 { 1 + rng.below(packages) } else { packages.div_ceil(4).min(50) };
            let locations =
                if packages < 6 { 2 + rng.below(2 * packages) } else { (5 + packages / 2).min(99) };
            let vehicles = if packages == 194 { 50 } else { vehicles };
            [packages, vehicles, locations, 1 + rng.below(if packages < 6 { 3 } else { 10 }), 0]
        },
    },
    Domain {
        name: "gripper",
        development: true,
        train: &[1, 2, 3, 4, 5, 6],
        test: &[10, 20, 50, 100, 200, 500],
        numbers: |balls, rng| [balls, 2 + rng.below(2 + balls.isqrt()), 0, 0, 0],
    },
    Domain {
        name: "visitall",
        development: false,
        train: &[2, 3, 4, 5],
        test: &[6, 8, 12, 20, 35, 50],
        numbers: |rows, rng| [rows, rows.max(3) - 1 + rng.below(3), 0, 0, 0],
    },
    Domain {
        name: "logistics",
        development: false,
        train: &[1, 2, 3, 4, 5],
        test: &[7, 12, 25, 50, 100, 200],
        numbers: |packages, rng| {
            let cities = 2 + rng.below(1 + packages.div_ceil(3));
            [packages, cities, 1 + rng.below(1 + packages.div_ceil(8)), 0, 0]
        },
    },
];

/// The domain of that name.
pub fn find(name: &str) -> Option<&'static Domain> {
    DOMAINS.iter().find(|d| d.name == name)
}

impl Domain {
    fn generator(&self) -> &'static Generator {
        Generator::find(self.name).expect("each domain has a generator: a test looks")
    }

    /// The text of `domain.pddl`.
    pub fn text(&self) -> &'static str {
        self.generator().domain
    }

    /// A policy written by hand, where we know one.
    pub fn by_hand(&self) -> Option<&'static str> {
        self.generator().policy
    }

    /// What sizes are counted in.
    pub fn unit(&self) -> &'static str {
        self.generator().counts[0]
    }

    /// The text of a problem of that size: the same for the same seed.
    pub fn problem(&self, size: usize, seed: u64) -> String {
        let numbers = (self.numbers)(size, &mut Rng::new(seed, size as u64));
        self.generator().problem_of(numbers, seed)
    }

    /// The domain, parsed.
    pub fn domain(&self) -> Result<Arc<pddl::Domain>, Error> {
        self.generator().domain()
    }

    /// A problem of the domain, compiled.
    pub fn task(&self, domain: &Arc<pddl::Domain>, size: usize, seed: u64) -> Result<Arc<Task>, Error> {
        let name = format!("{}-{size}-{seed}.pddl", self.name);
        let source = derrl_logic::Source::new(name, self.problem(size, seed));
        Task::parse(&source, domain).map(Arc::new)
    }

    /// The problems to train on, small ones first: sizes and seeds.
    pub fn training(&self) -> Vec<(usize, u64)> {
        of(self.train, 0..TRAINING)
    }

    /// The problems to test on, small ones first: sizes and seeds.
    pub fn testing(&self) -> Vec<(usize, u64)> {
        of(self.test, UNSEEN..UNSEEN + TESTING)
    }
}

fn of(sizes: &[usize], seeds: std::ops::Range<u64>) -> Vec<(usize, u64)> {
    sizes.iter().flat_map(|&size| seeds.clone().map(move |seed| (size, seed))).collect()
}
