//! Small worlds in numbers of objects, and the same in names.

use derrl_env::{BoxError, Outcome, Rng, Status, Task, World, named};

/// Receives facts: a predicate and the numbers of its objects.
pub type Say<'a> = &'a mut dyn FnMut(&str, &[usize]);

/// A world whose objects are numbered.
pub trait Small: Send {
    /// Draws an instance and begins an episode.
    fn draw(&mut self, rng: &mut Rng);
    /// The objects of the instance, by name and type. A fact or action says their places in this list.
    fn objects(&self) -> Vec<(String, &'static str)>;
    /// Says what holds now.
    fn facts(&self, say: Say<'_>);
    /// Acts. The reward, and whether the episode is over.
    fn act(&mut self, action: &str, args: &[usize], rng: &mut Rng) -> (f64, bool);
    /// Whether the goal is reached.
    fn won(&self) -> bool;
    /// Steps after which an episode is cut off.
    fn horizon(&self) -> usize;
}

/// A small world in names.
pub(crate) struct Named<S> {
    small: S,
    objects: Vec<(String, &'static str)>,
}

impl<S> Named<S> {
    pub(crate) fn new(small: S) -> Named<S> {
        Named { small, objects: Vec::new() }
    }
}

impl<S: Small> named::Env for Named<S> {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        self.small.draw(rng);
        self.objects = self.small.objects();
        Ok(())
    }

    fn facts(&self, facts: &mut named::Facts) {
        for (name, of_type) in &self.objects {
            facts.object(name, of_type);
        }
        let mut names = Vec::new();
        self.small.facts(&mut |predicate, args| {
            names.clear();
            names.extend(args.iter().map(|&i| self.objects[i].0.as_str()));
            facts.say(predicate, &names);
        });
    }

    fn step(&mut self, action: &str, args: &[&str], rng: &mut Rng) -> Result<Outcome, BoxError> {
        let number = |name: &&str| self.objects.iter().position(|o| o.0 == **name).ok_or("no such object");
        let args: Vec<usize> = args.iter().map(number).collect::<Result<_, _>>()?;
        let (reward, over) = self.small.act(action, &args, rng);
        Ok(Outcome { reward, status: if over { Status::Terminated } else { Status::Running } })
    }

    fn succeeded(&self) -> Option<bool> {
        Some(self.small.won())
    }

    fn horizon(&self) -> usize {
        self.small.horizon()
    }
}

/// How large the instances of a world are.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// What is counted.
    pub unit: &'static str,
    /// Sizes trained on, from and to.
    pub train: (usize, usize),
    /// Sizes tested on, from and to.
    pub large: (usize, usize),
    /// A size far beyond these to test on, too.
    pub huge: Option<usize>,
}

/// The world with a task to train on, one with large instances, and training instances of every size between.
pub(crate) fn with_tasks<S, F>(world: World, extent: Extent, make: F) -> World
where
    S: Small + 'static,
    F: Fn(usize, usize) -> S + Clone + Send + Sync + 'static,
{
    let Extent { unit, train, large, huge } = extent;
    let summary = |(low, high): (usize, usize)| {
        if low == high { format!("{low} {unit}") } else { format!("{low} to {high} {unit}") }
    };
    let task = |name: &str, range: (usize, usize)| Task::new(name, summary(range)).size(range.1);
    let of = |make: &F, low: usize, high: usize| Named::new(make(low, high));
    let (first, second, third, sized) = (make.clone(), make.clone(), make.clone(), make);
    let world = world
        .task(task("train", train), move || of(&first, train.0, train.1))
        .task(task("large", large), move || of(&second, large.0, large.1))
        .sizes(train.0..large.0, move |size| of(&sized, size, size));
    match huge {
        Some(n) => world.task(task("huge", (n, n)).on_request(), move || of(&third, n, n)),
        None => world,
    }
}

/// A number between two, both included.
pub(crate) fn between((low, high): (usize, usize), rng: &mut Rng) -> usize {
    low + rng.below(high - low + 1)
}

/// `name0`, `name1`, ... of one type.
pub(crate) fn numbered(
    name: &str,
    count: usize,
    of_type: &'static str,
) -> impl Iterator<Item = (String, &'static str)> {
    (0..count).map(move |i| (format!("{name}{i}"), of_type))
}
