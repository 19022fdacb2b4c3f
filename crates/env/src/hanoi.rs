//! The Towers of Hanoi: bring all disks to the last peg, never a larger one onto a smaller one.

use crate::env::Outcome;
use crate::fault::BoxError;
use crate::named::{Env, Facts};
use crate::rng::Rng;
use crate::world::{Task, World};

const DOMAIN: &str = "
    :- action(move(disk, place)).
    :- state(on(disk, place)).
    :- state(clear(place)).
    :- background(smaller(disk, place)).
    :- background(target(place)).
    :- subtype(disk, place).
    :- variables(3).
";

/// The row of the table of worlds.
pub fn world() -> World {
    World::built_in("hanoi", DOMAIN)
        .about("move a tower, a disk at a time")
        .task(Task::new("train", "2 disks"), || Hanoi::new(2))
        .task(Task::new("three", "3 disks"), || Hanoi::new(3))
}

/// `pegs[p]` holds the disks of a peg from the bottom up; larger numbers are larger disks.
struct Hanoi {
    disks: usize,
    pegs: [Vec<usize>; 3],
}

impl Hanoi {
    fn new(disks: usize) -> Hanoi {
        Hanoi { disks, pegs: Default::default() }
    }

    fn place(&self, peg: usize) -> String {
        self.pegs[peg].last().map_or_else(|| format!("peg{peg}"), |disk| format!("disk{disk}"))
    }
}

impl Env for Hanoi {
    fn reset(&mut self, _: &mut Rng) -> Result<(), BoxError> {
        self.pegs = [(0..self.disks).rev().collect(), Vec::new(), Vec::new()];
        Ok(())
    }

    fn facts(&self, facts: &mut Facts) {
        facts.say("target", &["peg2"]);
        for (p, peg) in self.pegs.iter().enumerate() {
            let mut below = format!("peg{p}");
            facts.object(&below, "place");
            for disk in peg {
                let name = format!("disk{disk}");
                facts.say("on", &[&name, &below]);
                below = name;
            }
            facts.say("clear", &[&below]);
        }
        for disk in 0..self.disks {
            let name = format!("disk{disk}");
            (0..3).for_each(|p| facts.say("smaller", &[&name, &format!("peg{p}")]));
            (disk + 1..self.disks).for_each(|d| facts.say("smaller", &[&name, &format!("disk{d}")]));
        }
    }

    fn step(&mut self, _move: &str, args: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        let from = (0..3).find(|&p| !self.pegs[p].is_empty() && self.place(p) == args[0]);
        let to = (0..3).find(|&p| self.place(p) == args[1]);
        if let (Some(from), Some(to)) = (from, to)
            && let Some(&disk) = self.pegs[from].last()
            && self.pegs[to].last().is_none_or(|&top| disk < top)
        {
            self.pegs[from].pop();
            self.pegs[to].push(disk);
        }
        let done = self.pegs[2].len() == self.disks;
        Ok(if done { Outcome::terminated(1.0) } else { Outcome::running(-0.02) })
    }

    fn horizon(&self) -> usize {
        10 << self.disks
    }
}

#[cfg(test)]
mod tests {
    /// CONTRIBUTING.md shows this very file, indented as in a list.
    #[test]
    fn it_is_what_contributing_shows_and_keeps_the_contract() {
        let own = include_str!("hanoi.rs");
        let own = own[..own.find("\n#[cfg(test)]").expect("this test")].trim_end();
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CONTRIBUTING.md");
        let page = std::fs::read_to_string(page).expect("a clone has it");
        let shown: Vec<&str> = page.lines().map(|line| line.strip_prefix("   ").unwrap_or(line)).collect();
        assert!(shown.join("\n").contains(own), "CONTRIBUTING.md shows another hanoi.rs");
        crate::contract::check(&super::world()).unwrap_or_else(|broken| panic!("{broken}"));
    }
}
