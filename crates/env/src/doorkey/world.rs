//! Episodes: the same high-level actions decided in nanoseconds, or walked move by move.
//!
//! [`World`] knows rooms instead of squares: what a high-level action does depends only on which doors are locked and
//! which key is carried, and it is decided from those two bytes. [`Walk`] does every action on the grid by
//! [planning](super::plan) Minigrid's moves for it. Both always agree; a property test holds them to it.

use std::sync::Arc;

use super::grid::{Cell, Grid, Move, Outcome};
use super::level::{Action, Door, Fact, Key, Level, Object, Rooms, State};
use super::plan::{Task, plan};

/// An episode of a level, as the policy sees it.
///
/// A clone costs a reference count. A step is a few comparisons; only opening a door looks at every door.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use derrl_env::doorkey::grid::Outcome;
/// use derrl_env::doorkey::{layout, level::Level, world::World};
///
/// let level = Arc::new(Level::new(layout::doorkey(8, 0)?)?);
/// let mut world = World::new(level);
/// let facts: Vec<String> = world.facts().map(|fact| fact.to_string()).collect();
/// assert_eq!(
///     facts.join(". "),
///     "notcarrying. locked(d1). key(k1). door(d1). goal(goal). samecolor(k1, d1). samecolor(d1, k1)"
/// );
/// let solution = world.solve().ok_or("no way to the goal")?;
/// let names: Vec<String> = solution.iter().map(|action| action.to_string()).collect();
/// assert_eq!(names, ["pick(k1)", "open(d1)", "goto(goal)"]);
/// let outcomes: Vec<Outcome> = solution.into_iter().map(|action| world.step(action)).collect();
/// assert_eq!(outcomes, [Outcome::Changed, Outcome::Changed, Outcome::Goal]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct World {
    level: Arc<Level>,
    state: State,
    /// The rooms that the agent can walk to.
    reached: Rooms,
    at_goal: bool,
}

impl World {
    /// The start of an episode.
    pub fn new(level: Arc<Level>) -> Self {
        let state = level.initial();
        Self { state, reached: level.reach(state.locked), at_goal: false, level }
    }

    /// An episode in the midst of it.
    pub fn at(level: Arc<Level>, state: State) -> Self {
        Self { state, reached: level.reach(state.locked), at_goal: false, level }
    }

    /// The level.
    pub fn level(&self) -> &Arc<Level> {
        &self.level
    }

    /// What has changed since the start.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the agent is on the goal. Then nothing changes any more.
    pub fn is_at_goal(&self) -> bool {
        self.at_goal
    }

    /// The facts that hold: those that may change, then the background.
    pub fn facts(&self) -> impl Iterator<Item = Fact> + '_ {
        self.level.state_facts(self.state).chain(self.level.background())
    }

    /// The [code](Level::code) of the facts that hold.
    pub fn code(&self) -> u128 {
        self.level.code(self.state)
    }

    /// Does an action. If its preconditions fail, nothing changes.
    #[inline]
    pub fn step(&mut self, action: Action) -> Outcome {
        match action {
            _ if self.at_goal => Outcome::Unchanged,
            Action::Pick(key) => self.pick(key),
            Action::Open(door) => self.open(door),
            Action::Goto(Object::Goal) if self.level.goal_room & self.reached != 0 => {
                self.at_goal = true;
                Outcome::Goal
            }
            // Walking up to something changes no fact.
            Action::Goto(_) => Outcome::Unchanged,
        }
    }

    /// Needs a key within reach that is not in hand already, nor spent.
    fn pick(&mut self, key: Key) -> Outcome {
        let Some(place) = self.level.keys.get(usize::from(key.0)) else { return Outcome::Unchanged };
        let is_spent = place.fits != 0 && place.fits & self.state.locked == 0;
        if place.room & self.reached == 0 || is_spent || self.state.carried == Some(key) {
            return Outcome::Unchanged;
        }
        self.state.carried = Some(key);
        Outcome::Changed
    }

    /// Needs a locked door within reach, and its key in hand.
    fn open(&mut self, Door(door): Door) -> Outcome {
        let (Some(place), Some(key)) = (self.level.doors.get(usize::from(door)), self.state.carried) else {
            return Outcome::Unchanged;
        };
        let fits = self.level.keys.get(usize::from(key.0)).map_or(0, |key| key.fits);
        if fits & self.state.locked & (1 << door) == 0 || place.rooms & self.reached == 0 {
            return Outcome::Unchanged;
        }
        self.state.locked &= !(1 << door);
        self.state.carried = None;
        self.reached = self.level.reach(self.state.locked);
        Outcome::Changed
    }

    /// The fewest actions from here to the goal, if there is a way. Searches at most 448 states.
    pub fn solve(&self) -> Option<Vec<Action>> {
        let id = |state: State| {
            usize::from(state.locked) * 7 + state.carried.map_or(0, |key| usize::from(key.0) + 1)
        };
        let mut seen = [false; 7 << Level::MAX_DOORS];
        *seen.get_mut(id(self.state))? = true;
        // Every world found, with the action that led to it and the place of the one before.
        let mut found: Vec<(Self, Option<(Action, usize)>)> = vec![(self.clone(), None)];
        let mut next = 0;
        while let Some((world, _)) = found.get(next) {
            let world = world.clone();
            for action in self.level.actions() {
                let mut after = world.clone();
                match after.step(action) {
                    Outcome::Unchanged => {}
                    Outcome::Changed => {
                        if !std::mem::replace(seen.get_mut(id(after.state))?, true) {
                            found.push((after, Some((action, next))));
                        }
                    }
                    Outcome::Goal => {
                        let mut actions = vec![action];
                        while let (_, Some((action, before))) = found[next] {
                            actions.push(action);
                            next = before;
                        }
                        actions.reverse();
                        return Some(actions);
                    }
                }
            }
            next += 1;
        }
        None
    }
}

/// An episode of a level, walked on its grid by Minigrid's moves.
#[derive(Clone, Debug)]
pub struct Walk {
    level: Arc<Level>,
    grid: Grid,
}

impl Walk {
    /// The start of an episode.
    pub fn new(level: Arc<Level>) -> Self {
        Self { grid: level.grid().clone(), level }
    }

    /// The grid as it is now.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The state as it is now.
    pub fn state(&self) -> State {
        self.level.read(&self.grid)
    }

    /// Does an action, and says with which moves: `None` if its preconditions fail, and then nothing changes at all.
    ///
    /// The outcome is that of [`World::step`]: walking up to something counts as no change.
    pub fn step(&mut self, action: Action) -> (Outcome, Option<Vec<Move>>) {
        let moves = self.task(action).and_then(|task| plan(&self.grid, task));
        let before = self.state();
        let mut arrived = false;
        for &primitive in moves.iter().flatten() {
            arrived |= self.grid.apply(primitive) == Outcome::Goal;
        }
        let outcome = match self.state() {
            _ if arrived => Outcome::Goal,
            after if after == before => Outcome::Unchanged,
            _ => Outcome::Changed,
        };
        (outcome, moves)
    }

    /// The action in terms of the grid. On the goal, the episode is over and there is nothing to do.
    fn task(&self, action: Action) -> Option<Task> {
        if self.grid.agent.pos == self.level.goal() {
            return None;
        }
        let level = &self.level;
        match action {
            Action::Pick(key) => level.colour(Object::Key(key)).map(Task::Pick),
            Action::Open(door) => level.door_pos(door).map(Task::Open),
            Action::Goto(Object::Goal) => Some(Task::Goto(level.goal())),
            Action::Goto(Object::Door(door)) => level.door_pos(door).map(Task::Goto),
            Action::Goto(Object::Key(key)) => {
                let colour = level.colour(Object::Key(key))?;
                self.grid.find(Cell::Key(colour)).map(Task::Goto)
            }
        }
    }
}
