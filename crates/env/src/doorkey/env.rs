//! DoorKey as a row of the table of worlds.

use std::sync::Arc;

use derrl_logic::{self as logic, Alphabet, Constant, Facts, Universe};

use super::grid::{Cell, Colour, DoorState, Outcome as Effect, Pos};
use super::layout::{self, Shape};
use super::level::{Action, Door, Fact, Key, Level, Object};
use super::world::{Walk, World};
use crate::binding::{Binding, Vocabulary, type_named};
use crate::env::{Env, Outcome, Status};
use crate::error::Error;
use crate::rng::Rng;
use crate::scene::{Grid, Scene, Thing, Walker};
use crate::space;
use crate::world::{Options, Task};

/// The row of the table of worlds.
pub fn world() -> crate::World {
    let tasks = [
        Task::new("train", "2 keys, 1 door, of 3 colours"),
        Task::new("dynamic-keys-doors", "2 to 6 keys and 1 to 5 doors, of 6 colours"),
        Task::new("minigrid-8x8", "Minigrid's own DoorKey-8x8").on_request(),
        Task::new("large", "--size keys, 1 door, of 6 colours").on_request(),
    ];
    crate::World::built_in(NAME, include_str!("../../domains/doorkey.pl"))
        .about("unlock doors with the keys of their colours and reach the goal")
        .words(include_str!("../../domains/doorkey.words"))
        .engine_tasks(tasks, DoorKey::new)
        .vocabulary(VOCABULARY)
        .takes(&["size"])
        .with_space(space::doorkey())
}

pub(crate) const NAME: &str = "doorkey";

pub(crate) const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[
        ("carrying", 1),
        ("notcarrying", 0),
        ("locked", 1),
        ("unlocked", 0),
        ("key", 1),
        ("door", 1),
        ("goal", 1),
        ("samecolor", 2),
    ],
    measures: &[],
    actions: &[("pick", 1), ("open", 1), ("goto", 1)],
};

/// The shapes of `dynamic-keys-doors`: at least as many keys as doors, and more of either than in training.
const SHAPES: &[(u8, u8)] = &[
    (3, 1),
    (4, 1),
    (5, 1),
    (6, 1),
    (2, 2),
    (3, 2),
    (4, 2),
    (5, 2),
    (6, 2),
    (3, 3),
    (4, 3),
    (5, 3),
    (6, 3),
    (4, 4),
    (5, 4),
    (6, 4),
    (5, 5),
    (6, 5),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draw {
    Train,
    Dynamic,
    Minigrid,
    Large(Shape),
}

#[derive(Clone, Debug)]
struct DoorKey {
    binding: Binding,
    alphabet: Arc<Alphabet>,
    draw: Draw,
    /// The universes made so far, by their numbers of keys and doors.
    universes: Vec<((u8, u8), Arc<Universe>)>,
    universe: Arc<Universe>,
    names: Names,
    world: World,
    steps: u32,
    horizon: u32,
    /// What was done since the start: the rooms decide what it does, but a picture needs the walk.
    done: Vec<Action>,
}

impl DoorKey {
    fn new(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<DoorKey, Error> {
        let draw = match task {
            "dynamic-keys-doors" => Draw::Dynamic,
            "minigrid-8x8" => Draw::Minigrid,
            "large" => {
                let keys = u8::try_from(options.size.unwrap_or(6)).ok();
                let shape = keys.and_then(|keys| Shape::new(keys, 1).ok());
                Draw::Large(
                    shape
                        .ok_or_else(|| Error::Option("--size is a number of keys from 1 to 6".to_string()))?,
                )
            }
            _ => Draw::Train,
        };
        if options.size.is_some() && !matches!(draw, Draw::Large(_)) {
            return Err(Error::Option(format!(
                "task `{task}` has its own keys and doors; --size is for task `large`"
            )));
        }
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        let level = layout::doorkey(8, 0)
            .map_err(|e| Error::Option(e.to_string()))
            .and_then(|grid| Level::new(grid).map_err(|e| Error::Option(e.to_string())))?;
        let mut env = DoorKey {
            binding,
            alphabet: Arc::clone(alphabet),
            draw,
            universes: Vec::new(),
            universe: Arc::new(Universe::new(Vec::new())),
            names: Names { keys: 1, doors: 1 },
            world: World::new(Arc::new(level)),
            steps: 0,
            horizon: 1,
            done: Vec::new(),
        };
        env.enter(1, 1);
        Ok(env)
    }

    /// Takes the universe of this many keys and doors, made once.
    fn enter(&mut self, keys: u8, doors: u8) {
        self.names = Names { keys, doors };
        if let Some((_, known)) = self.universes.iter().find(|(shape, _)| *shape == (keys, doors)) {
            self.universe = Arc::clone(known);
            return;
        }
        self.universe = Arc::new(self.names.universe(&self.alphabet));
        self.universes.push(((keys, doors), Arc::clone(&self.universe)));
    }
}

/// How the objects of levels with this many keys and doors are numbered: keys, doors, goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) keys: u8,
    pub(crate) doors: u8,
}

impl Names {
    /// `k1`, `k2`, ..., `d1`, `d2`, ..., `goal`.
    pub(crate) fn universe(self, alphabet: &Alphabet) -> Universe {
        let named =
            |object: Object, kind: &str| (Constant::name(&object.to_string()), type_named(alphabet, kind));
        let mut objects: Vec<_> = (0..self.keys).map(|k| named(Object::Key(Key(k)), "key")).collect();
        objects.extend((0..self.doors).map(|d| named(Object::Door(Door(d)), "door")));
        objects.push(named(Object::Goal, "goal"));
        Universe::new(objects)
    }

    fn object(self, object: Object) -> logic::Object {
        logic::Object(match object {
            Object::Key(Key(k)) => u32::from(k),
            Object::Door(Door(d)) => u32::from(self.keys + d),
            Object::Goal => u32::from(self.keys + self.doors),
        })
    }

    fn named(self, logic::Object(o): logic::Object) -> Object {
        let (keys, doors) = (u32::from(self.keys), u32::from(self.doors));
        if o < keys {
            Object::Key(Key(o as u8))
        } else if o < keys + doors {
            Object::Door(Door((o - keys) as u8))
        } else {
            Object::Goal
        }
    }

    /// Adds what holds in a world to some facts.
    pub(crate) fn say(self, world: &World, binding: &Binding, facts: &mut Facts) {
        let mut say = |predicate: usize, args: &[Object]| {
            let args: Vec<logic::Object> = args.iter().map(|&o| self.object(o)).collect();
            binding.say(facts, predicate, &args);
        };
        for fact in world.facts() {
            match fact {
                Fact::Carrying(k) => say(0, &[Object::Key(k)]),
                Fact::NotCarrying => say(1, &[]),
                Fact::Locked(d) => say(2, &[Object::Door(d)]),
                Fact::Unlocked => say(3, &[]),
                Fact::Key(k) => say(4, &[Object::Key(k)]),
                Fact::Door(d) => say(5, &[Object::Door(d)]),
                Fact::Goal => say(6, &[Object::Goal]),
                Fact::SameColor(a, b) => say(7, &[a, b]),
            }
        }
    }

    /// The action of a number and an object; none where it makes no sense: a door cannot be picked, nor a key opened.
    fn action(self, action: usize, object: logic::Object) -> Option<Action> {
        match (action, self.named(object)) {
            (0, Object::Key(key)) => Some(Action::Pick(key)),
            (1, Object::Door(door)) => Some(Action::Open(door)),
            (2, object) => Some(Action::Goto(object)),
            _ => None,
        }
    }

    /// Does an action, by the world's own number of it.
    pub(crate) fn act(self, world: &mut World, action: usize, object: logic::Object) -> Effect {
        self.action(action, object).map_or(Effect::Unchanged, |action| world.step(action))
    }
}

impl Env for DoorKey {
    fn reset(&mut self, rng: &mut Rng) {
        let shape = match self.draw {
            Draw::Train => Ok(Shape::TRAIN),
            Draw::Minigrid => Shape::new(1, 1),
            Draw::Large(shape) => Ok(shape),
            Draw::Dynamic => {
                let (keys, doors) = SHAPES[rng.below(SHAPES.len())];
                Shape::new(keys, doors)
            }
        };
        let shape = shape.unwrap_or(Shape::TRAIN);
        let grid = match self.draw {
            Draw::Minigrid => layout::doorkey(8, rng.bits() >> 32).ok(),
            _ => Some(layout::rooms(shape, |n| rng.below(n as usize) as u32)),
        };
        if let Some(level) = grid.and_then(|grid| Level::new(grid).ok()) {
            self.enter(shape.keys(), shape.doors());
            self.horizon = shape.horizon();
            self.world = World::new(Arc::new(level));
        }
        self.steps = 0;
        self.done.clear();
    }

    fn restart(&mut self) {
        self.world = World::new(Arc::clone(self.world.level()));
        self.steps = 0;
        self.done.clear();
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        self.names.say(&self.world, &self.binding, facts);
    }

    fn code(&self) -> Option<u128> {
        Some(self.world.code())
    }

    fn step(&mut self, action: logic::Action, args: &[logic::Object], _rng: &mut Rng) -> Outcome {
        self.steps += 1;
        let action = self.names.action(self.binding.action(action), args[0]);
        self.done.extend(action);
        let effect = action.map_or(Effect::Unchanged, |action| self.world.step(action));
        if effect == Effect::Goal {
            return Outcome { reward: 1.0, status: Status::Terminated };
        }
        let status = if self.steps >= self.horizon { Status::Truncated } else { Status::Running };
        Outcome { reward: 0.0, status }
    }

    fn succeeded(&self) -> bool {
        self.world.is_at_goal()
    }

    fn scene(&self) -> Scene {
        let level = self.world.level();
        let mut walk = Walk::new(Arc::clone(level));
        let mut trail = Vec::new();
        for &action in &self.done {
            let mut grid = walk.grid().clone();
            let (_, moves) = walk.step(action);
            trail = vec![square(grid.agent.pos)];
            for primitive in moves.into_iter().flatten() {
                grid.apply(primitive);
                if trail.last() != Some(&square(grid.agent.pos)) {
                    trail.push(square(grid.agent.pos));
                }
            }
        }
        let grid = walk.grid();
        let agent = grid.agent;
        let things = grid.cells().filter_map(|(pos, cell)| thing(level, pos, cell)).collect();
        let walker = Walker {
            at: square(agent.pos),
            facing: Some(agent.direction as u8),
            holds: agent.carrying.and_then(|colour| thing(level, agent.pos, Cell::Key(colour))),
        };
        Scene::Grid(picture(grid, things, walker, trail))
    }

    fn best_return(&self) -> Option<f64> {
        let start = World::new(Arc::clone(self.world.level()));
        let within = |plan: Vec<Action>| plan.len() as u32 <= self.horizon;
        Some(if start.solve().is_some_and(within) { 1.0 } else { 0.0 })
    }
}

/// A level with these things on its floor and this agent.
pub(crate) fn picture(
    grid: &super::grid::Grid,
    things: Vec<Thing>,
    agent: Walker,
    trail: Vec<(u32, u32)>,
) -> Grid {
    let is_wall = |(_, cell): (Pos, Cell)| if cell == Cell::Wall { '#' } else { '.' };
    let squares: Vec<char> = grid.cells().map(is_wall).collect();
    let rows = squares.chunks(usize::from(grid.width())).map(|row| row.iter().collect()).collect();
    Grid { rows, columns: Vec::new(), lines: Vec::new(), things, agent, trail }
}

/// The column and row of a square.
pub(crate) fn square(Pos { x, y }: Pos) -> (u32, u32) {
    (u32::from(x), u32::from(y))
}

/// What a cell shows, with its name in the level.
pub(crate) fn thing(level: &Level, pos: Pos, cell: Cell) -> Option<Thing> {
    let (object, kind, colour, state) = match cell {
        Cell::Empty | Cell::Wall => return None,
        Cell::Goal => (Some(Object::Goal), "goal", None, None),
        Cell::Key(colour) => {
            // Every key of a level has a colour of its own.
            let key = level.keys().map(Object::Key).find(|key| level.colour(*key) == Some(colour));
            (key, "key", Some(colour), None)
        }
        Cell::Door(colour, state) => {
            let door = level.doors().find(|door| level.door_pos(*door) == Some(pos)).map(Object::Door);
            let state = match state {
                DoorState::Open => "open",
                DoorState::Closed => "closed",
                DoorState::Locked => "locked",
            };
            (door, "door", Some(colour), Some(state))
        }
    };
    let colour = colour.map(Colour::name);
    Some(Thing { kind, name: object.map(|object| object.to_string()), at: square(pos), colour, state })
}
