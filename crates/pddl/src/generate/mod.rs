//! Domains of our own with problems of any size, drawn from a seed: to train on, to test on and to start from.

mod blocks;
mod transport;

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::{Error, Source};

use crate::domain::Domain;
use crate::task::Task;

/// A domain with a generator of problems and a policy that solves all of them.
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
    /// The text of `domain.pddl`.
    pub domain: &'static str,
    /// A policy written by hand that solves every problem.
    pub policy: &'static str,
    make: fn(usize, &mut Rng) -> Text,
}

/// The generators, one per domain.
pub const GENERATORS: &[Generator] = &[
    Generator {
        name: "gripper",
        summary: "a robot with two grippers carries balls from room to room",
        unit: "balls",
        smallest: 1,
        domain: include_str!("../../worlds/gripper/domain.pddl"),
        policy: include_str!("../../worlds/gripper/policy.pl"),
        make: transport::gripper,
    },
    Generator {
        name: "ferry",
        summary: "a ferry carries one car at a time",
        unit: "cars",
        smallest: 1,
        domain: include_str!("../../worlds/ferry/domain.pddl"),
        policy: include_str!("../../worlds/ferry/policy.pl"),
        make: transport::ferry,
    },
    Generator {
        name: "miconic",
        summary: "a lift takes passengers where they want to go",
        unit: "passengers",
        smallest: 1,
        domain: include_str!("../../worlds/miconic/domain.pddl"),
        policy: include_str!("../../worlds/miconic/policy.pl"),
        make: transport::miconic,
    },
    Generator {
        name: "spanner",
        summary: "spanners that work once are collected on a path of no return",
        unit: "nuts",
        smallest: 1,
        domain: include_str!("../../worlds/spanner/domain.pddl"),
        policy: include_str!("../../worlds/spanner/policy.pl"),
        make: transport::spanner,
    },
    Generator {
        name: "blocksworld",
        summary: "a hand stacks blocks: four actions",
        unit: "blocks",
        smallest: 2,
        domain: include_str!("../../worlds/blocksworld/domain.pddl"),
        policy: include_str!("../../worlds/blocksworld/policy.pl"),
        make: blocks::with_hand,
    },
    Generator {
        name: "blocks-move",
        summary: "blocks are moved from place to place: three actions",
        unit: "blocks",
        smallest: 2,
        domain: include_str!("../../worlds/blocks-move/domain.pddl"),
        policy: include_str!("../../worlds/blocks-move/policy.pl"),
        make: blocks::without_hand,
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

impl Generator {
    /// The generator of that name.
    pub fn find(name: &str) -> Option<&'static Generator> {
        GENERATORS.iter().find(|g| g.name == name)
    }

    /// The text of a problem of that size: the same for the same seed. Sizes below the smallest are the smallest.
    ///
    /// ```
    /// use derrl_pddl::generate::Generator;
    /// let ferry = Generator::find("ferry").expect("it is one of the generators");
    /// assert_eq!(ferry.problem(2, 7), ferry.problem(2, 7));
    /// assert_ne!(ferry.problem(2, 7), ferry.problem(2, 8));
    /// ```
    pub fn problem(&self, size: usize, seed: u64) -> String {
        let size = size.max(self.smallest);
        let text = (self.make)(size, &mut Rng::new(seed, size as u64));
        let mut out =
            format!("(define (problem {}-{size}-{seed})\n  (:domain {})\n  (:objects", self.name, self.name);
        for (t, names) in &text.objects {
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
