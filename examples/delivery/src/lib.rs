//! Delivery: a robot carries balls, one at a time, to the rooms where they belong.

use derrl::{Actions, BoxError, Env, Facts, Outcome, Rng, Task, World};

const DOMAIN: &str = "
    :- action(pick(ball)).
    :- action(drop(ball)).
    :- action(move(room)).
    :- state(at(ball, room)).
    :- state(robot(room)).
    :- state(holding(ball)).
    :- background(goal(ball, room)).
    :- negation(goal/2).
    :- variables(3).
";

/// Balls in rooms, and the robot.
pub struct Delivery {
    rooms: usize,
    /// Where each ball is; none for one that is carried.
    balls: Vec<Option<usize>>,
    goals: Vec<usize>,
    robot: usize,
}

impl Delivery {
    /// So many balls and rooms.
    pub fn new(balls: usize, rooms: usize) -> Delivery {
        Delivery { rooms, balls: vec![None; balls], goals: vec![0; balls], robot: 0 }
    }

    fn held(&self) -> Option<usize> {
        self.balls.iter().position(Option::is_none)
    }

    fn done(&self) -> bool {
        self.balls.iter().zip(&self.goals).all(|(at, goal)| *at == Some(*goal))
    }
}

fn number(name: &str) -> Result<usize, BoxError> {
    Ok(name.trim_start_matches(char::is_alphabetic).parse()?)
}

impl Env for Delivery {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        self.robot = rng.below(self.rooms);
        self.goals.fill_with(|| rng.below(self.rooms));
        loop {
            self.balls.fill_with(|| Some(rng.below(self.rooms)));
            if !self.done() {
                return Ok(());
            }
        }
    }

    fn facts(&self, facts: &mut Facts) {
        (0..self.rooms).for_each(|r| facts.object(&format!("room{r}"), "room"));
        facts.say("robot", &[&format!("room{}", self.robot)]);
        for (b, at) in self.balls.iter().enumerate() {
            let ball = format!("ball{b}");
            match at {
                Some(room) => facts.say("at", &[&ball, &format!("room{room}")]),
                None => facts.say("holding", &[&ball]),
            }
            facts.say("goal", &[&ball, &format!("room{}", self.goals[b])]);
        }
    }

    fn legal(&self, actions: &mut Actions) -> bool {
        for r in (0..self.rooms).filter(|&r| r != self.robot) {
            actions.allow("move", &[&format!("room{r}")]);
        }
        match self.held() {
            Some(ball) => actions.allow("drop", &[&format!("ball{ball}")]),
            None => {
                for b in (0..self.balls.len()).filter(|&b| self.balls[b] == Some(self.robot)) {
                    actions.allow("pick", &[&format!("ball{b}")]);
                }
            }
        }
        true
    }

    fn step(&mut self, action: &str, args: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        let object = number(args[0])?;
        match action {
            "move" => self.robot = object,
            "pick" => self.balls[object] = None,
            _ => self.balls[object] = Some(self.robot),
        }
        Ok(if self.done() { Outcome::terminated(1.0) } else { Outcome::running(-0.01) })
    }

    fn horizon(&self) -> usize {
        10 * self.balls.len() + 10
    }
}

/// The world: it is trained on two balls and three rooms.
pub fn world() -> Option<World> {
    let world = World::new("delivery", DOMAIN).ok()?.about("carry balls to the rooms where they belong");
    Some(
        world
            .task(Task::new("train", "2 balls, 3 rooms"), || Delivery::new(2, 3))
            .task(Task::new("large", "20 balls, 10 rooms"), || Delivery::new(20, 10)),
    )
}
