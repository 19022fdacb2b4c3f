//! Worlds that were made unlearnable by taking one thing away, by which diagnosis is measured.

use derrl_env::World;

use crate::{lamps, lock, pipes, zoo};

/// A world with one thing missing.
#[derive(Clone, Debug)]
pub struct Deprived {
    /// What is missing: `predicate`, `negation`, `variable`, `derived`, `exploration` or `budget`.
    pub missing: &'static str,
    /// The same, precisely.
    pub what: &'static str,
    /// The world without it.
    pub world: World,
    /// The domain file with it, where that is what was changed.
    pub whole: Option<String>,
    /// Steps that training may take.
    pub budget: Option<u64>,
    /// Whether the learner may edit rules by what it has explored, and widen its language.
    pub improves: bool,
}

/// A line that says which predicate may be negated, so that the learner negates no other.
const TAKEN: &str = ":- negation";

/// All of them.
pub fn deprived() -> Vec<Deprived> {
    let mut all = Vec::new();
    let without = |name: &str, line: &str| change(&animal(name), &[(line, "")]);
    for (name, line, what) in [
        ("fruit", ":- background(sweet(fruit)).\n", "sweet"),
        ("welding", ":- background(pair(left, right)).\n", "pair"),
        ("recycling", ":- background(metal(item)).\n:- background(food(item)).\n", "metal and food"),
        ("lock", ":- background(after(button, button)).\n", "after"),
        ("taxi", ":- background(dest(x, y)).\n", "dest"),
    ] {
        all.push(Deprived::new("predicate", what, without(name, line)));
    }
    for (name, from, to, what) in [
        ("parcels", ":- variables(5).", ":- variables(4).", "the fifth variable"),
        ("taxi", ":- variables(4).", ":- variables(2).", "the third and fourth variable"),
        (
            "lock",
            ":- state(pressed(button)).",
            ":- state(pressed(button)).\n:- variables(1).",
            "the second variable",
        ),
        (
            "slippery",
            ":- state(holds(thing)).",
            ":- state(holds(thing)).\n:- variables(1).",
            "the second variable",
        ),
    ] {
        all.push(Deprived::new("variable", what, change(&animal(name), &[(from, to)])));
    }
    for (name, taken, what) in [
        ("lamps", "wanted/1", "the negation of lit"),
        ("lamps", "lit/1", "the negation of wanted"),
        ("lock", "first/1", "the negation of pressed"),
        ("gridworld", "target/2", "the negation of obs"),
    ] {
        let world = animal(name);
        let end = format!("{TAKEN}({taken}).\n");
        let text = world.domain().lines().filter(|l| !l.starts_with(TAKEN)).collect::<Vec<_>>().join("\n");
        let world = with(&world, &format!("{text}\n{end}"));
        all.push(Deprived { whole: None, ..Deprived::new("negation", what, (world, None)) });
    }
    for (world, line, what) in [
        (animal("maze"), ":- distance(nearer, beside, berry).\n", "the distance to a berry"),
        (pipes::world_of_pipes(), ":- closure(leads, feeds).\n", "the closure of feeds"),
    ] {
        let whole = Some(format!("{}{line}", world.domain()));
        all.push(Deprived { improves: false, ..Deprived::new("derived", what, (world, whole)) });
    }
    let budgets = [("recycling", 60), ("ferry", 40), ("taxi", 200)];
    for (name, budget) in budgets {
        let world = animal(name);
        all.push(Deprived {
            budget: Some(budget),
            ..Deprived::new("budget", "all but a few steps", (world, None))
        });
    }
    for world in [lock::long(), lamps::many()] {
        all.push(Deprived::new("exploration", "smaller instances", (world, None)));
    }
    all
}

impl Deprived {
    fn new(missing: &'static str, what: &'static str, (world, whole): (World, Option<String>)) -> Deprived {
        Deprived { missing, what, world, whole, budget: None, improves: true }
    }
}

/// A world of the zoo, or a built-in one.
fn animal(name: &str) -> World {
    let of_zoo = zoo().into_iter().map(|a| a.world).find(|w| w.name() == name);
    of_zoo.or_else(|| derrl_env::find(name).ok().cloned()).expect("a test makes each")
}

/// The world with its domain file changed, and the text before.
fn change(world: &World, changes: &[(&str, &str)]) -> (World, Option<String>) {
    let text = changes.iter().fold(world.domain().to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is no part of {text}");
        text.replacen(from, to, 1)
    });
    (with(world, &text), Some(world.domain().to_string()))
}

fn with(world: &World, text: &str) -> World {
    world.clone().with_domain("domain.pl", text).expect("what is left is a domain: a test makes each")
}
