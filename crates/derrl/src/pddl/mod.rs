//! Folders of PDDL as domains: which files, the world they make, and how a policy does in every problem.

mod space;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use anyhow::{Context, bail};
use derrl_env::{Env, Exhaustive, Rng, ShieldCounts, Shielded, Status, World};
use derrl_learn::{Actor, episode_streams};
use derrl_logic::{Alphabet, Policy};
use derrl_pddl::{PddlEnv, Plan, Problems, Simulator, Solvability, Task, Translation};
use serde::{Deserialize, Serialize};

use derrl_files::bounded::read_up_to;
use derrl_files::sealed::fingerprint;

use crate::asked::Asked;

/// States at the most by which a problem is searched for a plan, to tell why it was not solved.
const SEARCHED: usize = 20_000;
/// Variants of each problem by which policies are compared, and the states searched to see that one can be solved.
const VARIANTS: usize = 8;
const VARIANT_STATES: usize = 20_000;

/// Larger problems: so many are made of one of the largest each, about so many times as large or less, and so many are composed of
/// several. None has more objects than this: in larger ones comparing policies takes long.
const ENLARGED: usize = 8;
const COMPOSED: usize = 8;
const TIMES: usize = 4;
const MOST_OBJECTS: usize = 80;

/// Bytes of a PDDL file that are looked at to tell whether it has changed: what is longer is refused anyway.
const MOST_PDDL: usize = 256 << 20;

/// The task of the problems to train on.
const TRAIN: &str = "train";

/// The files of a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// The domain.
    pub domain: PathBuf,
    /// Problems to train on: files and folders.
    pub train: Vec<PathBuf>,
    /// Problems to test on: a task each, by name and path.
    pub test: Vec<(String, PathBuf)>,
    /// Steps of an episode at the most, where it was said.
    #[serde(default, alias = "max_steps", skip_serializing_if = "Option::is_none")]
    pub horizon: Option<usize>,
    /// What the domain and the problems said when they were asked for: a sum for each file, by its path.
    #[serde(default)]
    pub sums: BTreeMap<String, String>,
}

/// The domain file that a name stands for, if it stands for one: itself, or that of a folder.
pub fn domain_file(name: &Path) -> Option<PathBuf> {
    if name.is_dir() && name.join("domain.pddl").is_file() {
        return Some(name.join("domain.pddl"));
    }
    name.extension().is_some_and(|e| e.eq_ignore_ascii_case("pddl")).then(|| name.to_path_buf())
}

impl Files {
    /// The domain with the problems asked for. A folder brings its own: those in `train/`, and those in each other subfolder.
    pub fn find(name: &Path, domain: &Path, asked: &Asked) -> anyhow::Result<Files> {
        let absolute = |path: &Path| {
            std::path::absolute(path).with_context(|| format!("cannot tell where {} is", path.display()))
        };
        let (mut train, mut test) = (asked.train.clone(), asked.test.clone());
        let beside = domain.parent().unwrap_or(Path::new("."));
        if train.is_empty() && beside.join("train").is_dir() {
            train.push(beside.join("train"));
        }
        if test.is_empty() && name.is_dir() {
            let below = std::fs::read_dir(name)
                .with_context(|| format!("cannot read the folder {}", name.display()))?;
            test.extend(below.flatten().map(|e| e.path()).filter(|p| {
                p.is_dir()
                    && p.file_name().is_some_and(|n| n != "train")
                    && derrl_pddl::problem_files(p).is_ok()
            }));
            test.sort();
        }
        if train.is_empty() && test.is_empty() {
            bail!(
                "{}: say which problems, as in --train {}/train --test {0}/test",
                domain.display(),
                beside.display()
            );
        }
        let mut files = Files {
            domain: absolute(domain)?,
            train: train.iter().map(|p| absolute(p)).collect::<anyhow::Result<_>>()?,
            test: test
                .iter()
                .map(|p| Ok((task_name(p, name), absolute(p)?)))
                .collect::<anyhow::Result<_>>()?,
            horizon: asked.horizon,
            sums: BTreeMap::new(),
        };
        files.sums = files.sums_now()?;
        Ok(files)
    }

    /// A sum for each file that is read.
    fn sums_now(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let mut all = vec![self.domain.clone()];
        for path in self.train.iter().chain(self.test.iter().map(|(_, path)| path)) {
            all.extend(derrl_pddl::problem_files(path)?);
        }
        let sum = |path: PathBuf| {
            let shown = path.display().to_string();
            let bytes = read_up_to(&path, MOST_PDDL).with_context(|| format!("cannot read {shown}"))?;
            Ok((shown, fingerprint(bytes.into_iter())))
        };
        all.into_iter().map(sum).collect()
    }

    /// An error where a file is not what it was when it was asked for: a run that went on would mix the two.
    pub fn check(&self) -> anyhow::Result<()> {
        let now = self.sums_now()?;
        let changed = now.iter().find(|(path, sum)| self.sums.get(*path) != Some(sum));
        let gone = self.sums.keys().find(|path| !now.contains_key(*path));
        let remedy = "restore it, or start a new run by another --out";
        match (changed, gone) {
            (None, None) => Ok(()),
            (_, Some(path)) => bail!("{path} is gone since this run began: {remedy}"),
            (Some((path, _)), None) if self.sums.contains_key(path) => {
                bail!("{path} has changed since this run began: {remedy}")
            }
            (Some((path, _)), None) => {
                bail!("{path} was not there when this run began: remove it, or start a new run")
            }
        }
    }
}

/// The name of a test: its path as given; in a folder that is a domain, below that folder.
fn task_name(path: &Path, domain: &Path) -> String {
    let short = if domain.is_dir() { path.strip_prefix(domain).unwrap_or(path) } else { path };
    short.display().to_string()
}

/// A domain of PDDL, loaded.
pub struct Pddl {
    /// Its files.
    pub files: Files,
    /// How it is said in our language.
    pub translation: Arc<Translation>,
    /// The problems of each task, by name, in order.
    tasks: Vec<(String, Vec<Arc<Task>>)>,
    varied: OnceLock<Vec<Arc<Task>>>,
    larger: OnceLock<Vec<Arc<Task>>>,
    /// The problems bound to the alphabet in use: making environments is then cheap.
    bound: Mutex<BTreeMap<String, Bound>>,
    /// How often shields took part.
    counts: Arc<ShieldCounts>,
}

/// Problems bound to an alphabet.
type Bound = (Arc<Alphabet>, Arc<Problems>);

impl Pddl {
    /// Reads all files.
    pub fn load(files: &Files) -> anyhow::Result<Arc<Pddl>> {
        let domain = derrl_pddl::load_domain(&files.domain)?;
        let mut tasks = Vec::new();
        if !files.train.is_empty() {
            tasks.push((TRAIN.to_string(), derrl_pddl::load_problems(&files.train, &domain)?));
        }
        for (name, path) in &files.test {
            if tasks.iter().any(|(known, _)| known == name) {
                bail!("two tasks would be called `{name}`: give each path once");
            }
            tasks.push((name.clone(), derrl_pddl::load_problems(&[path], &domain)?));
        }
        // Rules speak of goals that training has; without training, of those that the tests have.
        let about = if files.train.is_empty() { &tasks[..] } else { &tasks[..1] };
        let about = about.iter().flat_map(|(_, tasks)| tasks.iter().map(Arc::as_ref));
        // Actions with equal arguments are offered where they change something in training.
        let train = if files.train.is_empty() { &[][..] } else { &tasks[0].1 };
        let translation = Translation::new(&domain, about)?.with_repeated(&derrl_pddl::repeated(train))?;
        let translation = Arc::new(translation);
        Ok(Arc::new(Pddl {
            translation,
            tasks,
            files: files.clone(),
            varied: OnceLock::new(),
            larger: OnceLock::new(),
            bound: Mutex::default(),
            counts: Arc::default(),
        }))
    }

    /// The world that they make.
    pub fn world(self: &Arc<Pddl>) -> anyhow::Result<World> {
        let name = derrl_pddl::plain(&self.translation.domain.name);
        let about = format!("the PDDL domain {}", self.translation.domain.name);
        let world = World::new(name, self.translation.text())?.about(about);
        let words = derrl_pddl::generate::words(&world.alphabet());
        let world = world.words(words);
        // Policies for it may speak of goals that its problems lack; what is learned does not.
        let translation = Arc::clone(&self.translation);
        let open = move |text: &str, heads: &[(String, Vec<u8>)]| {
            translation.open_text(text, heads).map_err(derrl_env::Error::Language)
        };
        let own = Arc::clone(self);
        let mut world = world.policies_say(open)?.checked_by(move || own.check_training());
        for (task, problems) in &self.tasks {
            let (own, name) = (Arc::clone(self), task.clone());
            let sizes: Vec<usize> = problems.iter().map(|t| t.size()).collect();
            let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
            let summary = match problems.len() {
                1 => format!("1 problem of {most} objects"),
                n => format!("{n} problems of {least} to {most} objects"),
            };
            let row = derrl_env::Task::new(task.clone(), summary).size(*most);
            world = world.engine_task(row, move |alphabet, _| {
                let problems = own.problems(&name, alphabet).map_err(derrl_env::Error::Language)?;
                // Training draws problems in which something is to be done; of the others each is played.
                let env = if name == TRAIN { PddlEnv::new(problems) } else { PddlEnv::of_any(problems) };
                Ok(Box::new(env.map_err(derrl_env::Error::Language)?))
            });
        }
        // Problems to train on come in sizes: the learner begins with the small ones.
        if let Some((_, train)) = self.tasks.first().filter(|(name, _)| name == TRAIN) {
            // Of a size in which nothing is to be done nothing is learned.
            let is_open = |t: &&Arc<Task>| !Simulator::new(Arc::clone(t)).reached();
            let mut sizes: Vec<usize> = train.iter().filter(is_open).map(|t| t.size()).collect();
            sizes.sort_unstable();
            sizes.dedup();
            let own = Arc::clone(self);
            world = world.engine_sizes(sizes, move |alphabet, size, _| {
                let of_size = own.varied().iter().filter(|t| t.size() == size).cloned().collect();
                own.sized(alphabet, of_size)
            });
            let own = Arc::clone(self);
            world = world.making_up(move |alphabet, _| {
                let larger = own.larger();
                let larger = (!larger.is_empty()).then(|| own.sized(alphabet, larger.to_vec()));
                larger.into_iter().collect()
            });
        }
        let own = Arc::clone(self);
        Ok(world.with_space(
            Exhaustive::sizes("sets of problems", (1, self.tasks.len().max(1)), move |alphabet, extent| {
                space::space(&own, alphabet, extent)
            })
            .of_chosen(),
        ))
    }

    /// The problems to train on.
    fn train(&self) -> &[Arc<Task>] {
        self.tasks.first().filter(|(name, _)| name == TRAIN).map_or(&[], |(_, train)| train)
    }

    /// The problems to train on, each with variants of it.
    fn varied(&self) -> &[Arc<Task>] {
        let with_variants = |t: &Arc<Task>| {
            let more = derrl_pddl::variants(t, VARIANTS, VARIANT_STATES);
            std::iter::once(Arc::clone(t)).chain(more)
        };
        self.varied.get_or_init(|| self.train().iter().flat_map(with_variants).collect())
    }

    /// Larger problems made of these.
    fn larger(&self) -> &[Arc<Task>] {
        self.larger.get_or_init(|| {
            // The largest ones are the least alike.
            let mut bases = self.varied().to_vec();
            bases.sort_by_key(|t| std::cmp::Reverse(t.size()));
            bases.truncate(ENLARGED);
            let most = bases.first().map_or(1, |t| t.size().max(1));
            let times = TIMES.min(MOST_OBJECTS / most);
            let mut larger =
                if times < 2 { Vec::new() } else { derrl_pddl::enlarged(self.train(), &bases, times) };
            larger.extend(derrl_pddl::composed(self.train(), self.varied(), COMPOSED, MOST_OBJECTS));
            larger
        })
    }

    /// Episodes in some of the problems.
    fn sized(
        &self,
        alphabet: &Arc<Alphabet>,
        tasks: Vec<Arc<Task>>,
    ) -> Result<Box<dyn Env>, derrl_env::Error> {
        let problems = Problems::new(&self.translation, alphabet, tasks, self.files.horizon);
        let problems = Arc::new(problems.map_err(derrl_env::Error::Language)?);
        Ok(Box::new(PddlEnv::new(problems).map_err(derrl_env::Error::Language)?))
    }

    /// The problems of a task, bound to an alphabet.
    pub fn problems(
        &self,
        task: &str,
        alphabet: &Arc<Alphabet>,
    ) -> Result<Arc<Problems>, derrl_logic::Error> {
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, problems)) = bound.get(task)
            && Arc::ptr_eq(known, alphabet)
        {
            return Ok(Arc::clone(problems));
        }
        let tasks = self.tasks.iter().find(|(name, _)| name == task).map(|(_, tasks)| tasks.clone());
        let problems =
            Problems::new(&self.translation, alphabet, tasks.unwrap_or_default(), self.files.horizon)
                .map(Arc::new)?;
        bound.insert(task.to_string(), (Arc::clone(alphabet), Arc::clone(&problems)));
        Ok(problems)
    }

    /// The names of the tasks.
    pub fn task_names(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().map(|(name, _)| name.as_str())
    }

    /// An error if none of the problems to train on can be solved; else warnings of those that cannot.
    fn check_training(&self) -> Result<Vec<String>, derrl_env::Error> {
        let Some((_, train)) = self.tasks.first().filter(|(name, _)| name == TRAIN) else {
            let wanted = "say which problems to train on, as in --train PATH";
            return Err(derrl_env::Error::Option(wanted.to_string()));
        };
        let mut unsolvable = Vec::new();
        for task in train {
            if let Solvability::Unsolvable { states } = derrl_pddl::solvability(task, SEARCHED) {
                unsolvable.push(format!(
                    "{} cannot be solved: none of the {states} states that can be reached is a goal",
                    task.problem.file
                ));
            }
        }
        if unsolvable.len() == train.len() {
            return Err(derrl_env::Error::Option(unsolvable.join("\n")));
        }
        Ok(unsolvable)
    }

    /// What a policy does in the only problem of a task.
    pub fn play_one(
        &self,
        policy: &Policy,
        alphabet: &Arc<Alphabet>,
        task: &str,
        seed: u64,
    ) -> anyhow::Result<(Arc<Task>, Played)> {
        let problems = self.problems(task, alphabet)?;
        if problems.len() != 1 {
            bail!("{task} holds {} problems: name one of them", problems.len());
        }
        let mut actor = Actor::new(policy, alphabet);
        let (_, played) = play(&mut actor, (alphabet, &self.counts), &problems, 0, seed)?;
        Ok((Arc::clone(problems.task(0)), played))
    }
}

/// What a policy did in a problem.
#[derive(Clone, Debug)]
pub struct Played {
    /// Whether it reached the goal.
    pub solved: bool,
    /// What it did.
    pub plan: Plan,
    /// What that cost.
    pub cost: f64,
    /// Seconds until its first decision: later ones look at changes only.
    pub first_decision: f64,
}

/// Plays the `i`-th problem to its end, under the shield of the alphabet. The return, and what was done.
pub fn play(
    actor: &mut Actor<'_>,
    (alphabet, counts): (&Arc<Alphabet>, &Arc<ShieldCounts>),
    problems: &Arc<Problems>,
    i: usize,
    seed: u64,
) -> anyhow::Result<(f64, Played)> {
    let begun = Instant::now();
    let mut played = Played { solved: false, plan: Plan::default(), cost: 0.0, first_decision: 0.0 };
    if !problems.drawn().contains(&i) {
        // Nothing is to be done, or nothing can be.
        played.solved = Simulator::new(Arc::clone(problems.task(i))).reached();
        return Ok((if played.solved { 1.0 } else { 0.0 }, played));
    }
    let mut env = PddlEnv::new(Arc::clone(problems))?;
    env.start(i);
    let streams = episode_streams(seed, i as u64);
    if alphabet.shield.is_empty() {
        let value = to_the_end(actor, &mut env, (problems, begun), streams, &mut played);
        played.cost = PddlEnv::cost(&env);
        return Ok((value, played));
    }
    let mut env = Shielded::new(env, alphabet, counts);
    let value = to_the_end(actor, &mut env, (problems, begun), streams, &mut played);
    played.cost = PddlEnv::cost(env.inner());
    Ok((value, played))
}

/// Plays an episode that has begun. Its return.
fn to_the_end(
    actor: &mut Actor<'_>,
    env: &mut dyn Env,
    (problems, begun): (&Problems, Instant),
    (mut world, mut ties): (Rng, Rng),
    played: &mut Played,
) -> f64 {
    let mut value = 0.0;
    loop {
        let action = actor.act(env, &mut ties);
        if played.plan.steps.is_empty() {
            played.first_decision = begun.elapsed().as_secs_f64();
        }
        played.plan.steps.push(problems.ground(action.action, &action.args));
        let outcome = env.step(action.action, &action.args, &mut world);
        value += outcome.reward;
        if outcome.status != Status::Running {
            break;
        }
    }
    played.solved = env.succeeded();
    value
}

/// Why a problem was not solved, as far as a search tells.
pub fn why_unsolved(task: &Arc<Task>, steps: usize) -> String {
    let steps = if steps == 1 { "1 step".to_string() } else { format!("{steps} steps") };
    match derrl_pddl::solvability(task, SEARCHED) {
        Solvability::Unsolvable { states } => {
            format!("it cannot be: none of the {states} states that can be reached is a goal")
        }
        Solvability::Solvable(plan) => {
            format!("the policy did not reach the goal in {steps}; there is a plan of {}", plan.steps.len())
        }
        Solvability::Unknown { .. } => format!("the policy did not reach the goal in {steps}"),
    }
}
