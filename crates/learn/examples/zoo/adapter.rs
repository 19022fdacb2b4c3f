//! Small worlds by names: facts, objects and actions as text, turned into what the learner asks for.

use std::sync::Arc;

use derrl_env::{Env, Outcome, Rng, Status};
use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Source, Universe};

pub type Say<'a> = &'a mut dyn FnMut(&str, &[usize]);

pub trait Small: Send {
    fn draw(&mut self, rng: &mut Rng);
    fn begin(&mut self);
    fn objects(&self) -> Vec<(String, &'static str)>;
    fn facts(&self, say: Say);
    /// Reward, and whether it is over.
    fn act(&mut self, action: &str, args: &[usize], rng: &mut Rng) -> (f64, bool);
    fn legal(&self, _action: &str, _args: &[usize]) -> bool {
        true
    }
    fn has_legal(&self) -> bool {
        false
    }
    fn won(&self) -> bool;
    fn horizon(&self) -> usize;
}

pub struct Adapter {
    pub small: Box<dyn Small>,
    alphabet: Arc<Alphabet>,
    universe: Arc<Universe>,
    all: Vec<Arc<Universe>>,
    steps: usize,
}

pub fn alphabet(text: &str) -> Arc<Alphabet> {
    match Alphabet::parse(&Source::new("world.pl", text)) {
        Ok(a) => Arc::new(a),
        Err(e) => panic!("{e}"),
    }
}

impl Adapter {
    pub fn new(small: Box<dyn Small>, alphabet: &Arc<Alphabet>) -> Adapter {
        Adapter {
            small,
            alphabet: Arc::clone(alphabet),
            universe: Arc::new(Universe::new(Vec::new())),
            all: Vec::new(),
            steps: 0,
        }
    }
}

impl Env for Adapter {
    fn reset(&mut self, rng: &mut Rng) {
        self.small.draw(rng);
        self.small.begin();
        self.steps = 0;
        let objects = self.small.objects();
        let objects = objects
            .into_iter()
            .map(|(n, t)| (Constant::name(&n), self.alphabet.types.find(t).expect("type")))
            .collect();
        let universe = Universe::new(objects);
        let known = self.all.iter().find(|u| ***u == universe).cloned();
        self.universe = known.unwrap_or_else(|| {
            let u = Arc::new(universe);
            self.all.push(Arc::clone(&u));
            u
        });
    }
    fn restart(&mut self) {
        self.small.begin();
        self.steps = 0;
    }
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }
    fn facts(&self, facts: &mut Facts) {
        self.small.facts(&mut |p, args| {
            let pred = self.alphabet.find_predicate(p, args.len()).unwrap_or_else(|| panic!("{p}"));
            let args: Vec<Object> = args.iter().map(|&o| Object(o as u32)).collect();
            facts.push(pred, &args);
        });
    }
    fn code(&self) -> Option<u128> {
        let (mut a, mut b) = (1u64, 2u64);
        self.small.facts(&mut |p, args| {
            let mut h = 7u64;
            for v in p.bytes().map(u64::from).chain(args.iter().map(|&x| x as u64 + 1000)) {
                h = (h.rotate_left(7) ^ v).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
            a = a.wrapping_add(h ^ (h >> 31));
            b = b.wrapping_add((h ^ 0x5555).wrapping_mul(0xd1b5_4a32_d192_ed03).rotate_left(29));
        });
        Some(u128::from(a) << 64 | u128::from(b))
    }
    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        let args: Vec<usize> = args.iter().map(|o| o.0 as usize).collect();
        let name = self.alphabet.action(action).name.clone();
        let (reward, over) = self.small.act(&name, &args, rng);
        self.steps += 1;
        let status = if over {
            Status::Terminated
        } else if self.steps >= self.small.horizon() {
            Status::Truncated
        } else {
            Status::Running
        };
        Outcome { reward, status }
    }
    fn succeeded(&self) -> bool {
        self.small.won()
    }
}
