//! A world as a value: its name, alphabet, tasks, and how to make an environment of each.

use std::fmt;
use std::sync::Arc;

use derrl_logic::syntax::Quoted;
use derrl_logic::{Alphabet, Source, repeated_heads};

use crate::binding::{Binding, Vocabulary};
use crate::env::Env;
use crate::error::{Error, nearest};
use crate::named;
use crate::pixels::{Pixels, Sight};
use crate::shield::{ShieldCounts, ShieldTally, Shielded, ShieldedSpace};
use crate::space::{Exhaustive, Extent, Space};

/// A world: what can be said in it, its tasks, and how episodes are made. Cheap to clone.
///
/// ```
/// use derrl_env::{Outcome, Rng, World, named};
///
/// /// A lamp that should be lit.
/// struct Lamp { lit: bool }
///
/// impl named::Env for Lamp {
///     fn reset(&mut self, _: &mut Rng) -> Result<(), derrl_env::BoxError> {
///         self.lit = false;
///         Ok(())
///     }
///     fn facts(&self, facts: &mut named::Facts) {
///         facts.say("lamp", &["l1"]);
///         if self.lit {
///             facts.say("lit", &["l1"]);
///         }
///     }
///     fn step(&mut self, _: &str, _: &[&str], _: &mut Rng) -> Result<Outcome, derrl_env::BoxError> {
///         self.lit = !self.lit;
///         Ok(Outcome::terminated(1.0))
///     }
/// }
///
/// let domain = ":- action(toggle(lamp)). :- state(lit(lamp)). :- background(lamp(lamp)).";
/// let world = World::new("lamps", domain)?.task("train", || Lamp { lit: false });
/// let mut env = world.env("train")?;
/// env.reset(&mut Rng::new(0, 0));
/// assert_eq!(env.universe().ground_actions(&world.alphabet()).len(), 1);
/// # Ok::<(), derrl_env::Error>(())
/// ```
#[derive(Clone)]
pub struct World(Arc<Parts>);

#[derive(Clone)]
// Wide: each field is set by a method of its own.
struct Parts {
    name: String,
    summary: String,
    words: String,
    domain: String,
    alphabet: Arc<Alphabet>,
    /// All that the world itself reports: what its own domain file declares.
    own: Arc<Alphabet>,
    /// What policies may speak of, where that is more than what rules are learned with.
    wider: Option<(Arc<Alphabet>, Arc<Wider>)>,
    vocabulary: Option<Vocabulary<'static>>,
    tasks: Vec<Task>,
    /// How to make each task.
    makes: Vec<Make>,
    /// Sizes of training instances, ascending, and how to make those of one.
    sizes: Option<(Vec<usize>, MakeSized)>,
    /// How to make up instances larger than any that are given.
    made_up: Option<MakeUp>,
    check: Option<Arc<Check>>,
    options: Vec<&'static str>,
    exhaustive: Exhaustive,
    seeing: Option<Seeing>,
    counts: Arc<ShieldCounts>,
}

/// Makes an environment of a task for an alphabet and options.
pub type Make = Arc<dyn Fn(&Arc<Alphabet>, &Options) -> Result<Box<dyn Env>, Error> + Send + Sync>;

/// Makes an environment of training instances of a size.
pub type MakeSized =
    Arc<dyn Fn(&Arc<Alphabet>, usize, &Options) -> Result<Box<dyn Env>, Error> + Send + Sync>;

/// Makes up environments of larger training instances, smaller ones first.
pub type MakeUp = Arc<dyn Fn(&Arc<Alphabet>, &Options) -> Result<Vec<Box<dyn Env>>, Error> + Send + Sync>;

/// Makes an environment that is seen.
pub type MakePixels = fn(&Arc<Alphabet>, &str, &Options) -> Result<Box<dyn Pixels>, Error>;

/// How a world is seen.
#[derive(Clone, Copy)]
pub struct Seeing {
    /// Makes environments of a task.
    pub make: MakePixels,
    /// The same world with facts as this sight sees them.
    pub through: fn(Arc<dyn Sight>) -> World,
    /// The names of what [`Pixels::truth`] tells.
    pub kinds: &'static [&'static str],
}

/// A distribution of instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// One line on what it draws.
    pub summary: String,
    /// Whether it is scored by default (tasks of a free size are scored on request).
    pub scored: bool,
    /// How large its instances are, where that is known: an order of difficulty.
    pub size: Option<usize>,
}

impl Task {
    /// A task that is scored by default.
    pub fn new(name: impl Into<String>, summary: impl Into<String>) -> Task {
        Task { name: name.into(), summary: summary.into(), scored: true, size: None }
    }

    /// The same task, scored on request only.
    #[must_use]
    pub fn on_request(mut self) -> Task {
        self.scored = false;
        self
    }

    /// The same task, of this size.
    #[must_use]
    pub fn size(mut self, size: usize) -> Task {
        self.size = Some(size);
        self
    }
}

impl From<&str> for Task {
    fn from(name: &str) -> Task {
        Task::new(name, "")
    }
}

impl From<String> for Task {
    fn from(name: String) -> Task {
        Task::new(name, "")
    }
}

/// What can be asked of a world beyond its task. A world refuses what it does not take.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The probability that a chosen action is replaced by doing nothing (`--noise`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// How many objects (or cells per side) an instance of a free-size task has (`--size`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// How many obstacles an instance of a free-size task has (`--obstacles`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacles: Option<usize>,
    /// How many numbers there are in a free-size task (`--range`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<usize>,
    /// One learner for all agents of a kind, instead of one per agent (`--shared`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The scenarios of traffic: SUMO's configuration files, or names of known ones (`--sumocfg`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sumocfg: Vec<String>,
    /// Seconds at the most for which a junction is cleared before another phase gets green (`--clearance`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clearance: Option<usize>,
    /// The true facts of a world that is seen as pixels, instead of what is seen (`--facts`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub facts: bool,
}

impl Options {
    /// What of these options a task takes: one of fixed size takes no size.
    #[must_use]
    pub fn of(&self, task: &Task) -> Options {
        let all = self.clone();
        if task.scored { Options { size: None, obstacles: None, range: None, ..all } } else { all }
    }

    fn check(&self, world: &World) -> Result<(), Error> {
        let given = [
            ("noise", self.noise.is_some()),
            ("size", self.size.is_some()),
            ("obstacles", self.obstacles.is_some()),
            ("range", self.range.is_some()),
            ("shared", self.shared),
            ("sumocfg", !self.sumocfg.is_empty()),
            ("clearance", self.clearance.is_some()),
            ("facts", self.facts),
        ];
        for (name, is_given) in given {
            if is_given && !world.options().contains(&name) {
                let taken: Vec<String> = world.options().iter().map(|o| format!("--{o}")).collect();
                let taken = if taken.is_empty() { "none".to_string() } else { taken.join(", ") };
                return Err(Error::Option(format!(
                    "domain `{}` takes no --{name}; of the world's options it takes: {taken}",
                    world.name()
                )));
            }
        }
        match self.noise {
            Some(p) if !(0.0..=1.0).contains(&p) => {
                Err(Error::Option(format!("--noise is a probability from 0 to 1, not {p}")))
            }
            _ => Ok(()),
        }
    }
}

/// The domain file for policies with these heads.
type Wider = dyn Fn(&str, &[(String, Vec<u8>)]) -> Result<String, Error> + Send + Sync;

/// Looks at the instances to train on: see [`World::check_training`].
type Check = dyn Fn() -> Result<Vec<String>, Error> + Send + Sync;

/// Why a world of which nothing else is known cannot be walked.
const NO_SPACE: &str = "the world does not offer its states one by one";

/// How a world is made.
impl World {
    /// A world without tasks, from the text of its domain file. The text need not say `:- environment(...)`; if it does, it
    /// says this name.
    pub fn new(name: impl Into<String>, domain: impl Into<String>) -> Result<World, Error> {
        let (name, mut domain) = (name.into(), domain.into());
        let alphabet = Alphabet::parse(&Source::new(format!("{name}.pl"), domain.clone()))?;
        let alphabet = match alphabet.environment.as_deref() {
            Some(same) if same == name => alphabet,
            Some(other) => {
                return Err(Error::Option(format!(
                    "the domain file of world `{name}` says `:- environment({other}).`: the names must be the same"
                )));
            }
            None => {
                domain = format!(":- environment({}).\n{domain}", Quoted(&name));
                Alphabet { environment: Some(name.clone()), ..alphabet }
            }
        };
        let alphabet = Arc::new(alphabet);
        Ok(World(Arc::new(Parts {
            name,
            summary: String::new(),
            words: String::new(),
            domain,
            own: Arc::clone(&alphabet),
            alphabet,
            wider: None,
            vocabulary: None,
            tasks: Vec::new(),
            makes: Vec::new(),
            sizes: None,
            made_up: None,
            check: None,
            options: Vec::new(),
            exhaustive: Exhaustive::Never(NO_SPACE.into()),
            seeing: None,
            counts: Arc::default(),
        })))
    }

    /// The same for a world of the table, whose domain file is known to be right.
    pub(crate) fn built_in(name: &str, domain: &str) -> World {
        World::new(name, domain).expect("built-in domain files parse: a test reads each")
    }

    fn edit(mut self, change: impl FnOnce(&mut Parts)) -> World {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// The same world with another domain file, which is named in errors: another choice of what rules may say.
    pub fn with_domain(self, file: &str, domain: impl Into<String>) -> Result<World, Error> {
        let domain = domain.into();
        let alphabet = Alphabet::parse(&Source::new(file, domain.clone()))?;
        self.check(&alphabet)?;
        Ok(self.edit(|w| (w.domain, w.alphabet, w.wider) = (domain, Arc::new(alphabet), None)))
    }

    /// The world whose policies may say more than what rules are learned with: all that is declared by what this makes of a domain
    /// file. Environments are made for either.
    ///
    /// It depends on which actions a policy takes with equal arguments: see [`repeated_heads`].
    pub fn policies_say<F>(self, domain: F) -> Result<World, Error>
    where
        F: Fn(&str, &[(String, Vec<u8>)]) -> Result<String, Error> + Send + Sync + 'static,
    {
        let usual = self.parse(&domain, &[])?;
        Ok(self.edit(|w| {
            w.own = Arc::clone(&usual);
            w.wider = Some((usual, Arc::new(domain)));
        }))
    }

    fn parse(&self, domain: &Wider, heads: &[(String, Vec<u8>)]) -> Result<Arc<Alphabet>, Error> {
        let text = domain(self.domain(), heads)?;
        Ok(Arc::new(Alphabet::parse(&Source::new(format!("{}.pl", self.name()), text))?))
    }

    /// The world with one line on what it is about.
    #[must_use]
    pub fn about(self, summary: impl Into<String>) -> World {
        self.edit(|w| w.summary = summary.into())
    }

    /// The world with words for its predicates, actions and measures, a line each: `top(X): X is free`, `move(X, Y): put X on Y`. Rules
    /// are read out with them. What has no line is read out by its name.
    #[must_use]
    pub fn words(self, words: impl Into<String>) -> World {
        self.edit(|w| w.words = words.into())
    }

    /// The world with one more task, whose environments speak in names. The first task is the one trained on.
    #[must_use]
    pub fn task<E, F>(self, task: impl Into<Task>, make: F) -> World
    where
        E: named::Env + 'static,
        F: Fn() -> E + Send + Sync + 'static,
    {
        self.named_task(task, move || Ok(Box::new(make())))
    }

    /// The same where making an environment can fail, or its type is only known at run time.
    #[must_use]
    pub fn named_task<F>(self, task: impl Into<Task>, make: F) -> World
    where
        F: Fn() -> Result<Box<dyn named::Env>, Error> + Send + Sync + 'static,
    {
        let own = self.alphabet();
        self.engine_task(task, move |alphabet, _| Ok(Box::new(named::Named::new(make()?, &own, alphabet))))
    }

    /// The world with one more task, whose environments are those of the engine.
    #[must_use]
    pub fn engine_task<F>(self, task: impl Into<Task>, make: F) -> World
    where
        F: Fn(&Arc<Alphabet>, &Options) -> Result<Box<dyn Env>, Error> + Send + Sync + 'static,
    {
        let task = task.into();
        self.edit(|w| {
            w.tasks.push(task);
            w.makes.push(Arc::new(make));
        })
    }

    /// The world with these tasks, made by one function that is given the name of the task.
    #[must_use]
    pub fn engine_tasks<F, E>(self, tasks: impl IntoIterator<Item = Task>, make: F) -> World
    where
        E: Env + 'static,
        F: Fn(&Arc<Alphabet>, &str, &Options) -> Result<E, Error> + Clone + Send + Sync + 'static,
    {
        tasks.into_iter().fold(self, |world, task| {
            let (name, make) = (task.name.clone(), make.clone());
            world.engine_task(task, move |alphabet, options| Ok(Box::new(make(alphabet, &name, options)?)))
        })
    }

    /// The world with training instances of every one of these sizes, ascending. The learner may then begin with small ones, and
    /// may look at one size more before it chooses. They are never scored.
    #[must_use]
    pub fn sizes<E, F>(self, sizes: impl IntoIterator<Item = usize>, make: F) -> World
    where
        E: named::Env + 'static,
        F: Fn(usize) -> E + Send + Sync + 'static,
    {
        let own = self.alphabet();
        self.engine_sizes(sizes, move |alphabet, size, _| {
            Ok(Box::new(named::Named::new(Box::new(make(size)), &own, alphabet)))
        })
    }

    /// The same with environments of the engine.
    #[must_use]
    pub fn engine_sizes<F>(self, sizes: impl IntoIterator<Item = usize>, make: F) -> World
    where
        F: Fn(&Arc<Alphabet>, usize, &Options) -> Result<Box<dyn Env>, Error> + Send + Sync + 'static,
    {
        let sizes = sizes.into_iter().collect();
        self.edit(|w| w.sizes = Some((sizes, Arc::new(make))))
    }

    /// The world with instances made up for training, larger than any that are given. The learner tells policies apart by them; it
    /// does not rely on it that they can be solved.
    #[must_use]
    pub fn making_up<F>(self, make: F) -> World
    where
        F: Fn(&Arc<Alphabet>, &Options) -> Result<Vec<Box<dyn Env>>, Error> + Send + Sync + 'static,
    {
        self.edit(|w| w.made_up = Some(Arc::new(make)))
    }

    /// The world with a look at the instances to train on, for [`World::check_training`].
    #[must_use]
    pub fn checked_by<F>(self, check: F) -> World
    where
        F: Fn() -> Result<Vec<String>, Error> + Send + Sync + 'static,
    {
        self.edit(|w| w.check = Some(Arc::new(check)))
    }

    /// The world with what its code calls predicates and actions, where that is more than its domain file says.
    #[must_use]
    pub fn vocabulary(self, vocabulary: Vocabulary<'static>) -> World {
        self.edit(|w| w.vocabulary = Some(vocabulary))
    }

    /// The world with the [`Options`] that it takes, by name.
    #[must_use]
    pub fn takes(self, options: &[&'static str]) -> World {
        self.edit(|w| w.options = options.to_vec())
    }

    /// The world whose states are seen as pixels.
    #[must_use]
    pub fn seen_as(self, seeing: Seeing) -> World {
        self.edit(|w| w.seeing = Some(seeing))
    }

    /// The world with all its instances up to a size, or the reason why they cannot be listed.
    #[must_use]
    pub fn with_space(self, exhaustive: Exhaustive) -> World {
        self.edit(|w| w.exhaustive = exhaustive)
    }
}

/// What a world offers.
impl World {
    /// Its name on the command line and in `:- environment(...)`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Words for its predicates, actions and measures ([`World::words`]).
    pub fn wording(&self) -> &str {
        &self.0.words
    }

    /// One line on what it is about.
    pub fn summary(&self) -> &str {
        &self.0.summary
    }

    /// The text of its domain file.
    pub fn domain(&self) -> &str {
        &self.0.domain
    }

    /// What its domain file declares.
    pub fn alphabet(&self) -> Arc<Alphabet> {
        Arc::clone(&self.0.alphabet)
    }

    /// All that the world itself reports: what its own domain file declares, whatever [`World::with_domain`] has left out of it.
    pub fn own_alphabet(&self) -> Arc<Alphabet> {
        Arc::clone(&self.0.own)
    }

    /// What a policy may speak of: what rules are learned with, unless [`World::policies_say`] says more.
    pub fn widest_alphabet(&self) -> Arc<Alphabet> {
        Arc::clone(self.0.wider.as_ref().map_or(&self.0.alphabet, |(usual, _)| usual))
    }

    /// What this policy may speak of.
    pub fn alphabet_for(&self, policy: &Source) -> Result<Arc<Alphabet>, Error> {
        let heads = repeated_heads(policy);
        match &self.0.wider {
            Some((_, domain)) if !heads.is_empty() => self.parse(&**domain, &heads),
            _ => Ok(self.widest_alphabet()),
        }
    }

    /// This domain file, one of this world, with all that these policies may say.
    pub fn domain_for(&self, domain: &str, policies: &[&Source]) -> Result<String, Error> {
        let heads: Vec<(String, Vec<u8>)> = policies.iter().flat_map(|p| repeated_heads(p)).collect();
        self.0.wider.as_ref().map_or_else(|| Ok(domain.to_string()), |(_, wider)| wider(domain, &heads))
    }

    /// Whether its tasks are lists of instances that somebody chose.
    pub fn is_chosen(&self) -> bool {
        matches!(self.0.exhaustive, Exhaustive::Sizes { chosen: true, .. })
    }

    /// An error if nothing can be learned from the instances to train on; else what is wrong with some of them.
    pub fn check_training(&self) -> Result<Vec<String>, Error> {
        self.training_task()?;
        self.0.check.as_ref().map_or_else(|| Ok(Vec::new()), |check| check())
    }

    /// Its tasks; the first is the one trained on.
    pub fn tasks(&self) -> &[Task] {
        &self.0.tasks
    }

    /// The options it takes, by name.
    pub fn options(&self) -> &[&'static str] {
        &self.0.options
    }

    /// All its instances up to a size, or why they cannot be listed.
    pub fn exhaustive(&self) -> &Exhaustive {
        &self.0.exhaustive
    }

    /// How it is seen, where its states are pixels.
    pub fn seeing(&self) -> Option<&Seeing> {
        self.0.seeing.as_ref()
    }

    /// The sizes of training instances that can be asked for with [`World::make_sized`], ascending.
    pub fn sized(&self) -> &[usize] {
        self.0.sizes.as_ref().map_or(&[], |(sizes, _)| sizes)
    }

    /// The task that is trained on.
    pub fn training_task(&self) -> Result<&Task, Error> {
        self.0.tasks.first().ok_or_else(|| Error::NoTask { domain: self.name().to_string() })
    }

    /// The task of that name, or an error that suggests the nearest one.
    pub fn find_task(&self, name: &str) -> Result<&Task, Error> {
        Ok(&self.0.tasks[self.place(name)?])
    }

    fn place(&self, name: &str) -> Result<usize, Error> {
        let tasks = &self.0.tasks;
        tasks.iter().position(|t| t.name == name).ok_or_else(|| Error::UnknownTask {
            domain: self.name().to_string(),
            name: name.to_string(),
            help: nearest(name, tasks.iter().map(|t| t.name.as_str())),
        })
    }

    /// An error if an alphabet names what this world does not have. It may leave out what the world has.
    pub fn check(&self, alphabet: &Alphabet) -> Result<(), Error> {
        match &self.0.vocabulary {
            Some(vocabulary) => Binding::new(self.name(), vocabulary, alphabet).map(|_| ()),
            None => named::check(self.name(), &self.0.own, alphabet),
        }
    }

    /// An environment of a task, with options checked.
    pub fn make(
        &self,
        alphabet: &Arc<Alphabet>,
        task: &str,
        options: &Options,
    ) -> Result<Box<dyn Env>, Error> {
        let at = self.place(task)?;
        options.check(self)?;
        if self.0.vocabulary.is_none() {
            named::check(self.name(), &self.0.own, alphabet)?; // the others find out as they bind names
        }
        self.0.makes[at](alphabet, options).map(|env| self.shielded(env, alphabet))
    }

    /// The environment, under the shield of the alphabet if that has one.
    fn shielded(&self, env: Box<dyn Env>, alphabet: &Arc<Alphabet>) -> Box<dyn Env> {
        if alphabet.shield.is_empty() {
            return env;
        }
        Box::new(Shielded::new(env, alphabet, &self.0.counts))
    }

    /// How often a shield took part in this world so far, in this process.
    pub fn shield_tally(&self) -> ShieldTally {
        self.0.counts.tally()
    }

    /// An environment of a task, with the world's own alphabet and no options.
    pub fn env(&self, task: &str) -> Result<Box<dyn Env>, Error> {
        self.make(&self.0.alphabet, task, &Options::default())
    }

    /// An environment of training instances of a size; `None` where the world offers no such size.
    pub fn make_sized(
        &self,
        alphabet: &Arc<Alphabet>,
        size: usize,
        options: &Options,
    ) -> Option<Result<Box<dyn Env>, Error>> {
        let (sizes, make) = self.0.sizes.as_ref()?;
        sizes.contains(&size).then(|| Ok(self.shielded(make(alphabet, size, options)?, alphabet)))
    }

    /// Training instances by size for a task that is trained on, the smallest first: some sizes below that of the task, the
    /// task, the next size, and the largest up to twice and four times that of the task. Empty where the world has no sizes.
    pub fn training_sizes(
        &self,
        alphabet: &Arc<Alphabet>,
        task: &str,
        options: &Options,
    ) -> Result<Vec<Box<dyn Env>>, Error> {
        let Some(own) = self.find_task(task)?.size else { return Ok(Vec::new()) };
        let all = self.sized();
        if all.iter().all(|&s| s == own) {
            return Ok(Vec::new()); // there is nothing smaller or larger than the task
        }
        let within = |most: usize| all.iter().copied().rfind(|&s| s > own && s <= most);
        let next = all.iter().copied().find(|&s| s > own);
        let mut above: Vec<usize> = next.into_iter().chain(within(2 * own)).chain(within(4 * own)).collect();
        above.dedup();
        let below: Vec<usize> =
            all.iter().copied().filter(|&s| s < own || s == own && above.is_empty()).collect();
        let sized = |size: usize| self.make_sized(alphabet, size, options);
        let most = if above.is_empty() { 4 } else { 2 };
        let lower = spread(&below, most).into_iter().filter_map(sized);
        let task = self.make(alphabet, task, options);
        lower.chain([task]).chain(above.into_iter().filter_map(sized)).collect()
    }

    /// Training instances that are made up, larger than any that are given, smaller ones first.
    pub fn made_up(&self, alphabet: &Arc<Alphabet>, options: &Options) -> Result<Vec<Box<dyn Env>>, Error> {
        let made = self.0.made_up.as_ref().map_or(Ok(Vec::new()), |make| make(alphabet, options))?;
        Ok(made.into_iter().map(|env| self.shielded(env, alphabet)).collect())
    }

    /// All instances within an extent, or why there is no such list.
    pub fn space(&self, alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Box<dyn Space>, Error> {
        match &self.0.exhaustive {
            Exhaustive::Never(reason) => Err(Error::Option(format!(
                "domain `{}` cannot be walked exhaustively: {reason}",
                self.name()
            ))),
            Exhaustive::Sizes { unit, range: (least, most), make, .. } => {
                if !(least..=most).contains(&&extent.largest) {
                    return Err(Error::Option(format!(
                        "--max-objects counts {unit} in domain `{}`: a number from {least} to {most}, not {}",
                        self.name(),
                        extent.largest
                    )));
                }
                if extent.obstacles.is_some() && !self.options().contains(&"obstacles") {
                    return Err(Error::Option(format!("domain `{}` takes no --obstacles", self.name())));
                }
                // Definitions tell objects apart, too.
                let mut extent = extent.clone();
                extent.named.extend(alphabet.defining_constants());
                extent.named.sort();
                extent.named.dedup();
                let space = make(alphabet, &extent)?;
                if alphabet.shield.is_empty() {
                    return Ok(space);
                }
                Ok(Box::new(ShieldedSpace { space, alphabet: Arc::clone(alphabet) }))
            }
        }
    }
}

/// Some of these sizes, with the first and the last, evenly spread.
fn spread(sizes: &[usize], most: usize) -> Vec<usize> {
    if sizes.len() <= most || most < 2 {
        return sizes.iter().copied().take(most).collect();
    }
    (0..most).map(|i| sizes[i * (sizes.len() - 1) / (most - 1)]).collect()
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("name", &self.0.name)
            .field("tasks", &self.0.tasks)
            .finish_non_exhaustive()
    }
}
