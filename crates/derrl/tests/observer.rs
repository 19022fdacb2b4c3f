//! Who watches training in one call is told what the learner tells.

use std::collections::BTreeSet;
use std::sync::Mutex;

use derrl::Settings;
use derrl::learner::{Best, Checkpoint, Learned, Observer, UpdateStats};

#[derive(Default)]
struct Heard(Mutex<BTreeSet<&'static str>>);

impl Heard {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().insert(what);
    }
}

impl Observer for Heard {
    fn begins(&self, _: u64) {
        self.note("begins");
    }

    fn updated(&self, _: u64, _: u64, _: &UpdateStats) {
        self.note("updated");
    }

    fn phase(&self, _: u64, _: &str) {
        self.note("phase");
    }

    fn decided(&self, _: u64, _: u64) {
        self.note("decided");
    }

    fn best(&self, _: u64, best: &Best<'_>) {
        assert!(!best.policy.is_empty());
        self.note("best");
    }

    fn finished(&self, _: u64, _: &Checkpoint, _: &Learned) {
        self.note("finished");
    }
}

#[test]
fn the_observer_hears_all_that_a_search_tells() {
    let world = derrl::engine::find("blocks").expect("a built-in world");
    // A search by itself, and one within a call that trains and scores.
    let (alone, within) = (Heard::default(), Heard::default());
    let (settings, options) = (Settings::default(), derrl::Options::default());
    let setup = derrl::setup::Setup::of_world(world, &options, &settings).unwrap();
    setup.search(vec![(0, Checkpoint::default())], &alone, 1).unwrap();
    derrl::train_observed(world, &settings, 0, 1, &within).unwrap();
    let (alone, within) = (alone.0.into_inner().unwrap(), within.0.into_inner().unwrap());
    assert_eq!(alone, within);
    for what in ["begins", "phase", "decided", "best", "finished"] {
        assert!(within.contains(what), "{what}: {within:?}");
    }
}
