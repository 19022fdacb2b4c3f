//! The worlds.
//! Tuned on: unstack, on, gripper, taxi, cliff2, ferry. Reported apart: lamps, stack, cliff1, recycling, miconic, spanner, lock, slippery, distractor.

use derrl_env::Rng;

use crate::adapter::{Say, Small};

const STEP: f64 = -0.02;
const FLOOR: usize = usize::MAX;

// ---------------------------------------------------------------- blocks: unstack, stack, on
pub enum Goal {
    Unstack,
    Stack,
    On,
}
pub struct Tower {
    n: (usize, usize),
    goal: Goal,
    k: usize,
    start: Vec<usize>,
    on: Vec<usize>,
    want: (usize, usize),
}
impl Tower {
    pub fn new(goal: Goal, low: usize, high: usize) -> Tower {
        Tower { n: (low, high), goal, k: 0, start: vec![], on: vec![], want: (0, 1) }
    }
    fn clear(&self, x: usize) -> bool {
        !self.on.contains(&x)
    }
    fn done(&self) -> bool {
        match self.goal {
            Goal::Unstack => self.on.iter().all(|&o| o == FLOOR),
            Goal::Stack => self.on.iter().filter(|&&o| o == FLOOR).count() == 1,
            Goal::On => self.on[self.want.0] == self.want.1,
        }
    }
}
pub const TOWER: &str = ":- action(move(block, place)). :- state(top(block)). :- state(on(block, place)).
 :- background(isFloor(place)). :- subtype(block, place). :- variables(3).";
pub const ON: &str = ":- action(move(block, place)). :- state(top(block)). :- state(on(block, place)).
 :- background(isFloor(place)). :- background(goal_on(block, block)). :- subtype(block, place). :- variables(3).";
impl Small for Tower {
    fn draw(&mut self, rng: &mut Rng) {
        loop {
            let n = self.n.0 + rng.below(self.n.1 - self.n.0 + 1);
            self.k = n;
            let mut order: Vec<usize> = (0..n).collect();
            rng.shuffle(&mut order);
            self.start = vec![FLOOR; n];
            for i in 1..n {
                if rng.unit() < 0.5 {
                    self.start[order[i]] = order[i - 1];
                }
            }
            let x = rng.below(n);
            let y = (x + 1 + rng.below(n - 1)) % n;
            self.want = (x, y);
            self.on = self.start.clone();
            if !self.done() {
                break;
            }
        }
    }
    fn begin(&mut self) {
        self.on = self.start.clone();
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.k).map(|i| (format!("b{i}"), "block")).chain([("floor".to_string(), "place")]).collect()
    }
    fn facts(&self, say: Say) {
        for x in 0..self.k {
            if self.clear(x) {
                say("top", &[x]);
            }
            say("on", &[x, if self.on[x] == FLOOR { self.k } else { self.on[x] }]);
        }
        say("isFloor", &[self.k]);
        if matches!(self.goal, Goal::On) {
            say("goal_on", &[self.want.0, self.want.1]);
        }
    }
    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        let (x, y) = (args[0], args[1]);
        if x < self.k && self.clear(x) && (y == self.k || self.clear(y)) {
            self.on[x] = if y == self.k { FLOOR } else { y };
        }
        if self.done() { (1.0, true) } else { (STEP, false) }
    }
    fn won(&self) -> bool {
        self.done()
    }
    fn horizon(&self) -> usize {
        4 * self.k
    }
}

// ---------------------------------------------------------------- lamps
pub struct Lamps {
    n: (usize, usize),
    want: Vec<bool>,
    start: Vec<bool>,
    lit: Vec<bool>,
}
impl Lamps {
    pub fn new(a: usize, b: usize) -> Lamps {
        Lamps { n: (a, b), want: vec![], start: vec![], lit: vec![] }
    }
}
pub const LAMPS: &str =
    ":- action(toggle(lamp)). :- state(lit(lamp)). :- background(wanted(lamp)). :- variables(3).";
impl Small for Lamps {
    fn draw(&mut self, rng: &mut Rng) {
        loop {
            let n = self.n.0 + rng.below(self.n.1 - self.n.0 + 1);
            self.want = (0..n).map(|_| rng.unit() < 0.5).collect();
            self.start = (0..n).map(|_| rng.unit() < 0.5).collect();
            if self.want != self.start {
                break;
            }
        }
    }
    fn begin(&mut self) {
        self.lit = self.start.clone();
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.want.len()).map(|i| (format!("l{i}"), "lamp")).collect()
    }
    fn facts(&self, say: Say) {
        for i in 0..self.lit.len() {
            if self.lit[i] {
                say("lit", &[i]);
            }
            if self.want[i] {
                say("wanted", &[i]);
            }
        }
    }
    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        self.lit[args[0]] ^= true;
        if self.won() { (1.0, true) } else { (STEP, false) }
    }
    fn won(&self) -> bool {
        self.lit == self.want
    }
    fn horizon(&self) -> usize {
        4 * self.want.len()
    }
}

// ---------------------------------------------------------------- gripper
pub struct Gripper {
    balls: (usize, usize),
    rooms: (usize, usize),
    r: usize,
    goal: Vec<usize>,
    start: (usize, Vec<usize>),
    at: usize,
    ball: Vec<usize>,
    carry: [Option<usize>; 2],
}
impl Gripper {
    pub fn new(balls: (usize, usize), rooms: (usize, usize)) -> Gripper {
        Gripper {
            balls,
            rooms,
            r: 0,
            goal: vec![],
            start: (0, vec![]),
            at: 0,
            ball: vec![],
            carry: [None; 2],
        }
    }
}
pub const GRIPPER: &str = ":- action(pick(ball)). :- action(drop(ball)). :- action(move(room)). :- state(at(ball, room)). :- state(robot(room)).
 :- state(carry(ball)). :- state(full). :- background(goal(ball, room)). :- variables(3).";
impl Small for Gripper {
    fn draw(&mut self, rng: &mut Rng) {
        let b = self.balls.0 + rng.below(self.balls.1 - self.balls.0 + 1);
        self.r = self.rooms.0 + rng.below(self.rooms.1 - self.rooms.0 + 1);
        let at: Vec<usize> = (0..b).map(|_| rng.below(self.r)).collect();
        self.goal = at.iter().map(|&a| (a + 1 + rng.below(self.r - 1)) % self.r).collect();
        self.start = (rng.below(self.r), at);
    }
    fn begin(&mut self) {
        (self.at, self.ball) = self.start.clone();
        self.carry = [None; 2];
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.goal.len())
            .map(|i| (format!("b{i}"), "ball"))
            .chain((0..self.r).map(|i| (format!("r{i}"), "room")))
            .collect()
    }
    fn facts(&self, say: Say) {
        let b = self.goal.len();
        for i in 0..b {
            if self.carry.contains(&Some(i)) {
                say("carry", &[i]);
            } else {
                say("at", &[i, b + self.ball[i]]);
            }
            say("goal", &[i, b + self.goal[i]]);
        }
        say("robot", &[b + self.at]);
        if self.carry.iter().all(Option::is_some) {
            say("full", &[]);
        }
    }
    fn act(&mut self, action: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        let x = args[0];
        match action {
            "pick" => {
                let free = self.carry.iter().position(Option::is_none);
                if self.ball[x] == self.at
                    && !self.carry.contains(&Some(x))
                    && let Some(f) = free
                {
                    self.carry[f] = Some(x);
                }
            }
            "drop" => {
                if let Some(f) = self.carry.iter().position(|c| *c == Some(x)) {
                    self.carry[f] = None;
                    self.ball[x] = self.at;
                }
            }
            _ => self.at = x - self.goal.len(),
        }
        if self.won() { (1.0, true) } else { (STEP, false) }
    }
    fn won(&self) -> bool {
        self.carry == [None; 2] && self.ball == self.goal
    }
    fn horizon(&self) -> usize {
        8 * self.goal.len() + 4
    }
}

// ---------------------------------------------------------------- taxi
pub struct Taxi {
    n: (usize, usize),
    k: usize,
    from: (usize, usize),
    to: (usize, usize),
    start: (usize, usize),
    at: (usize, usize),
    inside: bool,
    done: bool,
}
impl Taxi {
    pub fn new(a: usize, b: usize) -> Taxi {
        Taxi {
            n: (a, b),
            k: 0,
            from: (0, 0),
            to: (0, 0),
            start: (0, 0),
            at: (0, 0),
            inside: false,
            done: false,
        }
    }
}
pub const TAXI: &str = ":- action(up). :- action(down). :- action(left). :- action(right). :- action(pick). :- action(drop).
 :- state(at(x, y)). :- state(waiting(x, y)). :- state(inside). :- background(dest(x, y)). :- background(xless(x, x)). :- background(yless(y, y)). :- variables(4).";
impl Small for Taxi {
    fn draw(&mut self, rng: &mut Rng) {
        self.k = self.n.0 + rng.below(self.n.1 - self.n.0 + 1);
        let mut p = || (rng.below(self.k), rng.below(self.k));
        self.start = p();
        self.from = p();
        self.to = p();
        while self.to == self.from {
            self.to = p();
        }
    }
    fn begin(&mut self) {
        self.at = self.start;
        self.inside = false;
        self.done = false;
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.k)
            .map(|i| (format!("x{i}"), "x"))
            .chain((0..self.k).map(|i| (format!("y{i}"), "y")))
            .collect()
    }
    fn facts(&self, say: Say) {
        let k = self.k;
        say("at", &[self.at.0, k + self.at.1]);
        if self.inside {
            say("inside", &[]);
        } else if !self.done {
            say("waiting", &[self.from.0, k + self.from.1]);
        }
        say("dest", &[self.to.0, k + self.to.1]);
        for i in 0..k {
            for j in i + 1..k {
                say("xless", &[i, j]);
                say("yless", &[k + i, k + j]);
            }
        }
    }
    fn act(&mut self, action: &str, _: &[usize], _: &mut Rng) -> (f64, bool) {
        let (x, y) = self.at;
        match action {
            "up" => self.at.1 = (y + 1).min(self.k - 1),
            "down" => self.at.1 = y.saturating_sub(1),
            "right" => self.at.0 = (x + 1).min(self.k - 1),
            "left" => self.at.0 = x.saturating_sub(1),
            "pick" => {
                if !self.inside && self.at == self.from {
                    self.inside = true;
                }
            }
            _ => {
                if self.inside && self.at == self.to {
                    self.inside = false;
                    self.done = true;
                    return (1.0, true);
                }
            }
        }
        (STEP, false)
    }
    fn won(&self) -> bool {
        self.done
    }
    fn horizon(&self) -> usize {
        8 * self.k
    }
}

// ---------------------------------------------------------------- cliff
pub struct Cliff {
    n: (usize, usize),
    one: bool,
    w: usize,
    h: usize,
    at: (usize, usize),
    start: (usize, usize),
    won: bool,
}
impl Cliff {
    pub fn new(one: bool, a: usize, b: usize) -> Cliff {
        Cliff { n: (a, b), one, w: 0, h: 0, at: (0, 0), start: (0, 0), won: false }
    }
}
pub const CLIFF2: &str = ":- action(up). :- action(down). :- action(left). :- action(right). :- state(at(x, y)).
 :- background(succx(x, x)). :- background(succy(y, y)). :- background(firstx(x)). :- background(firsty(y)). :- background(lastx(x)). :- background(lasty(y)). :- variables(3).";
pub const CLIFF1: &str =
    ":- action(up). :- action(down). :- action(left). :- action(right). :- state(at(c, c)).
 :- background(succ(c, c)). :- background(first(c)). :- background(last(c)). :- variables(3).";
impl Small for Cliff {
    fn draw(&mut self, rng: &mut Rng) {
        let d = self.n.1 - self.n.0 + 1;
        self.w = self.n.0 + rng.below(d);
        self.h = if self.one { self.w } else { self.n.0 + rng.below(d) };
        self.start = (0, 0);
        if rng.unit() < 0.5 {
            self.start = (rng.below(self.w), 1 + rng.below(self.h - 1));
        }
    }
    fn begin(&mut self) {
        self.at = self.start;
        self.won = false;
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        if self.one {
            return (0..self.w).map(|i| (format!("c{i}"), "c")).collect();
        }
        (0..self.w)
            .map(|i| (format!("x{i}"), "x"))
            .chain((0..self.h).map(|i| (format!("y{i}"), "y")))
            .collect()
    }
    fn facts(&self, say: Say) {
        if self.one {
            say("at", &[self.at.0, self.at.1]);
            say("first", &[0]);
            say("last", &[self.w - 1]);
            for i in 1..self.w {
                say("succ", &[i - 1, i]);
            }
            return;
        }
        let w = self.w;
        say("at", &[self.at.0, w + self.at.1]);
        say("firstx", &[0]);
        say("lastx", &[w - 1]);
        say("firsty", &[w]);
        say("lasty", &[w + self.h - 1]);
        for i in 1..w {
            say("succx", &[i - 1, i]);
        }
        for i in 1..self.h {
            say("succy", &[w + i - 1, w + i]);
        }
    }
    fn act(&mut self, action: &str, _: &[usize], _: &mut Rng) -> (f64, bool) {
        let (x, y) = self.at;
        match action {
            "up" => self.at.1 = (y + 1).min(self.h - 1),
            "down" => self.at.1 = y.saturating_sub(1),
            "right" => self.at.0 = (x + 1).min(self.w - 1),
            _ => self.at.0 = x.saturating_sub(1),
        }
        if self.at == (self.w - 1, 0) {
            self.won = true;
            return (1.0, true);
        }
        if self.at.1 == 0 && self.at.0 > 0 {
            return (-1.0, true);
        }
        (STEP, false)
    }
    fn won(&self) -> bool {
        self.won
    }
    fn horizon(&self) -> usize {
        50
    }
}

// ---------------------------------------------------------------- recycling
pub struct Recycling {
    n: (usize, usize),
    kind: Vec<usize>,
    gone: Vec<bool>,
}
impl Recycling {
    pub fn new(a: usize, b: usize) -> Recycling {
        Recycling { n: (a, b), kind: vec![], gone: vec![] }
    }
}
pub const RECYCLING: &str = ":- action(put(item, bin)). :- state(waiting(item)). :- background(glass(item)). :- background(paper(item)). :- background(metal(item)). :- background(food(item)).
 :- background(green(bin)). :- background(blue(bin)). :- background(yellow(bin)). :- background(brown(bin)). :- variables(3).";
impl Small for Recycling {
    fn draw(&mut self, rng: &mut Rng) {
        let n = self.n.0 + rng.below(self.n.1 - self.n.0 + 1);
        self.kind = (0..n).map(|_| rng.below(4)).collect();
    }
    fn begin(&mut self) {
        self.gone = vec![false; self.kind.len()];
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.kind.len())
            .map(|i| (format!("i{i}"), "item"))
            .chain((0..4).map(|i| (format!("bin{i}"), "bin")))
            .collect()
    }
    fn facts(&self, say: Say) {
        let n = self.kind.len();
        for i in 0..n {
            if !self.gone[i] {
                say("waiting", &[i]);
            }
            say(["glass", "paper", "metal", "food"][self.kind[i]], &[i]);
        }
        for (b, name) in ["green", "blue", "yellow", "brown"].iter().enumerate() {
            say(name, &[n + b]);
        }
    }
    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        let (i, b) = (args[0], args[1] - self.kind.len());
        let mut r = STEP;
        if !self.gone[i] {
            self.gone[i] = true;
            r += if self.kind[i] == b { 1.0 } else { -1.0 } / self.kind.len() as f64;
            if self.kind[i] != b {
                return (r - 1.0, true);
            }
        }
        (r, self.gone.iter().all(|g| *g))
    }
    fn won(&self) -> bool {
        self.gone.iter().all(|g| *g)
    }
    fn horizon(&self) -> usize {
        4 * self.kind.len()
    }
}

// ---------------------------------------------------------------- lock: press the digits of a code in their order; a wrong one starts anew
pub struct Lock {
    n: (usize, usize),
    code: Vec<usize>,
    done: usize,
}
impl Lock {
    pub fn new(a: usize, b: usize) -> Lock {
        Lock { n: (a, b), code: vec![], done: 0 }
    }
}
pub const LOCK: &str = ":- action(press(button)). :- state(pressed(button)). :- background(first(button)). :- background(after(button, button)). :- variables(3).";
impl Small for Lock {
    fn draw(&mut self, rng: &mut Rng) {
        let n = self.n.0 + rng.below(self.n.1 - self.n.0 + 1);
        self.code = (0..n).collect();
        rng.shuffle(&mut self.code);
    }
    fn begin(&mut self) {
        self.done = 0;
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.code.len()).map(|i| (format!("b{i}"), "button")).collect()
    }
    fn facts(&self, say: Say) {
        for &b in &self.code[..self.done] {
            say("pressed", &[b]);
        }
        say("first", &[self.code[0]]);
        for w in self.code.windows(2) {
            say("after", &[w[1], w[0]]);
        }
    }
    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        if args[0] == self.code[self.done] {
            self.done += 1;
        } else {
            self.done = 0;
        }
        if self.won() { (1.0, true) } else { (STEP, false) }
    }
    fn won(&self) -> bool {
        self.done == self.code.len()
    }
    fn horizon(&self) -> usize {
        6 * self.code.len()
    }
}

// ---------------------------------------------------------------- slippery: fetch things; picking fails by chance, wet floor drops what is carried
pub struct Slippery {
    n: (usize, usize),
    places: usize,
    start: Vec<usize>,
    at: usize,
    thing: Vec<Option<usize>>,
    carry: Option<usize>,
}
impl Slippery {
    pub fn new(a: usize, b: usize) -> Slippery {
        Slippery { n: (a, b), places: 0, start: vec![], at: 0, thing: vec![], carry: None }
    }
}
pub const SLIPPERY: &str = ":- action(go(place)). :- action(grab(thing)). :- action(deliver). :- state(here(place)). :- state(lies(thing, place)). :- state(holds(thing)).
 :- background(home(place)). :- variables(3).";
impl Small for Slippery {
    fn draw(&mut self, rng: &mut Rng) {
        let n = self.n.0 + rng.below(self.n.1 - self.n.0 + 1);
        self.places = n + 1;
        self.start = (0..n).map(|_| 1 + rng.below(self.places - 1)).collect();
    }
    fn begin(&mut self) {
        self.at = 0;
        self.thing = self.start.iter().map(|&p| Some(p)).collect();
        self.carry = None;
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.start.len())
            .map(|i| (format!("t{i}"), "thing"))
            .chain((0..self.places).map(|i| (format!("p{i}"), "place")))
            .collect()
    }
    fn facts(&self, say: Say) {
        let n = self.start.len();
        say("here", &[n + self.at]);
        say("home", &[n]);
        for i in 0..n {
            if let Some(p) = self.thing[i] {
                say("lies", &[i, n + p]);
            }
        }
        if let Some(t) = self.carry {
            say("holds", &[t]);
        }
    }
    fn act(&mut self, action: &str, args: &[usize], rng: &mut Rng) -> (f64, bool) {
        let n = self.start.len();
        match action {
            "go" => {
                self.at = args[0] - n;
                if let Some(t) = self.carry
                    && rng.unit() < 0.1
                {
                    self.carry = None;
                    self.thing[t] = Some(self.at);
                }
            }
            "grab" => {
                if self.carry.is_none() && self.thing[args[0]] == Some(self.at) && rng.unit() < 0.7 {
                    self.thing[args[0]] = None;
                    self.carry = Some(args[0]);
                }
            }
            _ => {
                if self.at == 0 && self.carry.is_some() {
                    self.carry = None;
                }
            }
        }
        if self.won() { (1.0, true) } else { (STEP, false) }
    }
    fn won(&self) -> bool {
        self.carry.is_none() && self.thing.iter().all(Option::is_none)
    }
    fn horizon(&self) -> usize {
        12 * self.start.len() + 8
    }
}

// ---------------------------------------------------------------- distractor: eat ripe fruit among irrelevant predicates and objects
pub struct Fruit {
    n: (usize, usize),
    kind: Vec<[bool; 6]>,
    near: Vec<(usize, usize)>,
    eaten: Vec<bool>,
    dead: bool,
    start_noise: u64,
    noise: u64,
}
impl Fruit {
    pub fn new(a: usize, b: usize) -> Fruit {
        Fruit { n: (a, b), kind: vec![], near: vec![], eaten: vec![], dead: false, start_noise: 0, noise: 0 }
    }
}
pub const FRUIT: &str = ":- action(eat(fruit)). :- state(there(fruit)). :- state(sunny). :- state(windy). :- background(ripe(fruit)). :- background(sweet(fruit)). :- background(red(fruit)). :- background(large(fruit)).
 :- background(near(fruit, fruit)). :- background(striped(fruit)). :- background(round(fruit)). :- background(stone(rock)). :- state(bird(rock)). :- variables(3).";
impl Small for Fruit {
    fn draw(&mut self, rng: &mut Rng) {
        loop {
            let n = self.n.0 + rng.below(self.n.1 - self.n.0 + 1);
            self.kind = (0..n).map(|_| std::array::from_fn(|_| rng.unit() < 0.5)).collect();
            self.near = (0..n).map(|_| (rng.below(n), rng.below(n))).filter(|(a, b)| a != b).collect();
            self.near.sort_unstable();
            self.near.dedup();
            self.start_noise = rng.bits();
            if self.kind.iter().any(|k| k[0] && k[1]) {
                break;
            }
        }
    }
    fn begin(&mut self) {
        self.eaten = vec![false; self.kind.len()];
        self.dead = false;
        self.noise = self.start_noise;
    }
    fn objects(&self) -> Vec<(String, &'static str)> {
        (0..self.kind.len())
            .map(|i| (format!("f{i}"), "fruit"))
            .chain((0..2).map(|i| (format!("r{i}"), "rock")))
            .collect()
    }
    fn facts(&self, say: Say) {
        let n = self.kind.len();
        for i in 0..n {
            if !self.eaten[i] {
                say("there", &[i]);
            }
            for (j, name) in ["ripe", "sweet", "red", "large", "striped", "round"].iter().enumerate() {
                if self.kind[i][j] {
                    say(name, &[i]);
                }
            }
        }
        for &(a, b) in &self.near {
            say("near", &[a, b]);
        }
        say("stone", &[n]);
        say("stone", &[n + 1]);
        if self.noise & 1 == 1 {
            say("sunny", &[]);
        }
        if self.noise & 2 == 2 {
            say("windy", &[]);
        }
        say("bird", &[n + (self.noise >> 2 & 1) as usize]);
    }
    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        self.noise = self.noise.rotate_right(3);
        let k = self.kind[args[0]];
        if !(k[0] && k[1]) {
            self.dead = true;
            return (-1.0, true);
        }
        self.eaten[args[0]] = true;
        if self.won() { (1.0, true) } else { (STEP, false) }
    }
    fn won(&self) -> bool {
        !self.dead && (0..self.kind.len()).all(|i| self.eaten[i] || !(self.kind[i][0] && self.kind[i][1]))
    }
    fn horizon(&self) -> usize {
        4 * self.kind.len()
    }
}
