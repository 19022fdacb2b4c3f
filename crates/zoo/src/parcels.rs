//! Parcels: a van may only take a parcel that it can deliver. Needs a body of six atoms and five variables.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(load(parcel, van)).
:- state(waiting(parcel)).
:- background(sound(van)).
:- background(to(parcel, person)).
:- background(lives(person, house)).
:- background(in(house, street)).
:- background(serves(van, street)).
:- background(large(parcel)).
:- background(friend(person, person)).
:- variables(5).
";

const BY_HAND: &str =
    "0.90::load(A, B) :- waiting(A), sound(B), to(A, C), lives(C, D), in(D, E), serves(B, E).\n";

const VANS: usize = 3;
const STREETS: usize = 2;

struct Parcels {
    n: (usize, usize),
    waiting: Vec<bool>,
    /// By parcel: its person; by person: their house; by house: its street.
    to: Vec<usize>,
    lives: Vec<usize>,
    street: Vec<usize>,
    /// By van: whether it is sound, and the street that it serves.
    sound: Vec<bool>,
    serves: Vec<usize>,
    /// What does not matter.
    large: Vec<bool>,
}

pub fn animal() -> Animal {
    let world = world("parcels", DOMAIN, "a van takes the parcels of its street: a body of six atoms");
    let extent = Extent { unit: "parcels", train: (1, 3), large: (6, 9), huge: None };
    let make = |low, high| Parcels {
        n: (low, high),
        waiting: Vec::new(),
        to: Vec::new(),
        lives: Vec::new(),
        street: Vec::new(),
        sound: Vec::new(),
        serves: Vec::new(),
        large: Vec::new(),
    };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

impl Small for Parcels {
    fn draw(&mut self, rng: &mut Rng) {
        let n = between(self.n, rng);
        self.waiting = vec![true; n];
        let mut any = |count: usize, of: usize| -> Vec<usize> { (0..count).map(|_| rng.below(of)).collect() };
        (self.to, self.lives, self.street) = (any(n, n), any(n, n), any(n, STREETS));
        self.serves = any(VANS, STREETS);
        self.large = any(n, 2).iter().map(|&l| l == 1).collect();
        // One van per street is sound; the last may be or not.
        self.sound = vec![true; VANS];
        (self.serves[0], self.serves[1]) = (0, 1);
        self.sound[2] = false;
        // Names tell nothing: vans change places.
        let turn = rng.below(VANS);
        self.serves.rotate_left(turn);
        self.sound.rotate_left(turn);
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        let n = self.to.len();
        let things = numbered("p", n, "parcel").chain(numbered("v", VANS, "van"));
        let homes = numbered("q", n, "person").chain(numbered("h", n, "house"));
        things.chain(homes).chain(numbered("s", STREETS, "street")).collect()
    }

    fn facts(&self, say: Say<'_>) {
        let n = self.to.len();
        let (people, houses, streets) = (n + VANS, 2 * n + VANS, 3 * n + VANS);
        for i in 0..n {
            if self.waiting[i] {
                say("waiting", &[i]);
            }
            if self.large[i] {
                say("large", &[i]);
            }
            say("to", &[i, people + self.to[i]]);
            say("lives", &[people + i, houses + self.lives[i]]);
            say("in", &[houses + i, streets + self.street[i]]);
            if n > 1 {
                say("friend", &[people + i, people + (i + 1) % n]);
            }
        }
        for v in 0..VANS {
            if self.sound[v] {
                say("sound", &[n + v]);
            }
            say("serves", &[n + v, streets + self.serves[v]]);
        }
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        let (parcel, van) = (args[0], args[1] - self.to.len());
        let street = self.street[self.lives[self.to[parcel]]];
        if self.sound[van] && self.serves[van] == street {
            self.waiting[parcel] = false;
        }
        if self.won() { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        self.waiting.iter().all(|w| !w)
    }

    fn horizon(&self) -> usize {
        12 * self.to.len() + 12
    }
}
