//! `derrl train`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use derrl_env::{Options, ShieldTally};
use derrl_learn::{Config, Learned, Origin, Problem, Score, UpdateStats, WideningStep};
use derrl_logic::{Alphabet, How, Policy, Role};
use derrl_report::English;
use serde_json::{Value, json};

use crate::args::{SeedRange, Train};
use crate::bounded::read_text;
use crate::cli::{Failure, Outcome, print, print_json};
use crate::domain::{Domain, another_policy};
use crate::domains::table;
use crate::lock::Lock;
use crate::manifest::Manifest;
use crate::progress::{Control, Watch, be_quiet, catch_interrupts, last_word};
use crate::run_folder::{MOST_CONFIG, RunConfig, RunFolder, Start, make_next_free};
use crate::run_result::{RunResult, report_path};
use crate::setup::Setup;
use crate::shell::quoted;
use crate::so_far::{Cut, SoFar};
use crate::style::Paint;
use crate::table::{WIDTH, columns, fixed, thousands, wrap};
use crate::{estimate, eval, report, say, tensorboard};

/// Learns, scores, and leaves a folder for each run.
pub fn run(args: &Train) -> Outcome {
    if args.settings {
        print(&settings(Paint::stdout(args.color))?);
        return Ok(());
    }
    if args.quiet {
        be_quiet();
    }
    // The lock is held to the end.
    let (mut folders, top, _lock) = match &args.resume {
        Some(path) if !path.is_dir() => {
            return Err(anyhow::anyhow!("--resume {}: there is no such folder", path.display()).into());
        }
        Some(path) => {
            let lock = RunFolder::lock(path)?;
            (RunFolder::open_all(path)?, path.clone(), lock)
        }
        None => start(args)?,
    };
    for folder in folders.iter_mut().filter(|_| args.max_seconds.is_some()) {
        folder.config.max_seconds = args.max_seconds;
    }
    catch_interrupts();
    last_word(format!("interrupted; {}", how_to_resume(&top)));
    let mut results = Vec::new();
    for group in alike(&folders) {
        results.extend(learn(args, &group, &top)?);
    }
    if folders.len() > 1 && !args.no_report {
        let extent = report::Extent::of(folders.len()).within(results.iter().map(|r| r.seconds).sum());
        report::write(&top, &folders, &top.join(report::FILE), extent)?;
    }
    if args.json {
        let mut documents: Vec<Value> = results.iter().map(|r| r.json.clone()).collect();
        match args.seeds {
            None if args.resume.is_none() || documents.len() == 1 => print_json(&documents.remove(0))?,
            _ => print_json(&json!({ "runs": documents }))?,
        }
    } else if results.len() > 1 && !args.quiet {
        let page = if args.no_report { top } else { top.join(report::FILE) };
        print(&format!("{}\n  {}\n", summary(&results), page.display()));
    }
    Ok(())
}

/// A planning problem takes some tens of steps, so that a smaller budget is meant for one problem.
const FEWEST_STEPS: u64 = 1000;
/// A run that took this share of its steps ended because of them.
const BUDGET_SPENT: f64 = 0.8;

/// The runs in groups that differ in nothing but the seed, each seed once.
fn alike(folders: &[RunFolder]) -> Vec<Vec<RunFolder>> {
    let mut groups: Vec<Vec<RunFolder>> = Vec::new();
    for folder in folders {
        // Runs whose time is limited come one after the other.
        let fits = |group: &&mut Vec<RunFolder>| {
            folder.config.max_seconds.is_none()
                && group[0].is_like(folder)
                && group.iter().all(|f| f.config.seed != folder.config.seed)
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(folder.clone()),
            None => groups.push(vec![folder.clone()]),
        }
    }
    groups
}

/// Learns and scores runs that differ in nothing but the seed.
fn learn(args: &Train, folders: &[RunFolder], top: &Path) -> Result<Vec<Finished>, Failure> {
    let mut domain = folders[0].domain()?;
    let seeds =
        folders.iter().map(|f| Ok((f.config.seed, f.checkpoint()?))).collect::<anyhow::Result<Vec<_>>>()?;
    let setup = Setup::of_run(&folders[0], &mut domain)?;
    let watch = Watch::new(folders, folders[0].config.settings.updates);
    let learned = setup.search(seeds, &watch, threads(args));
    let learned = or_best(learned, folders, &domain, &watch);
    let seconds = watch.finish()?;
    let resume = how_to_resume(top);
    let learned = match learned {
        Err(derrl_learn::Error::World(reason)) => {
            return Err(Failure::Broken(format!("{reason}\n  {resume}")));
        }
        other => other?,
    };
    if learned.iter().any(Option::is_none) {
        return Err(Failure::Interrupted(format!("interrupted; {resume}")));
    }
    let learned = learned.into_iter().flatten();
    let mut results = Vec::new();
    for ((folder, learned), seconds) in folders.iter().zip(learned).zip(seconds) {
        let Some(result) = finish(!args.no_report, folder, &domain, &learned, seconds, None)? else {
            return Err(Failure::Interrupted(format!("interrupted; {resume}")));
        };
        if !args.no_report {
            let extent = report::Extent::of(1).within(seconds);
            report::write(folder.path(), std::slice::from_ref(folder), &report_path(folder), extent)?;
        }
        if args.tensorboard {
            tensorboard::write(folder, &folder.path().join(tensorboard::FOLDER))?;
        }
        if args.quiet {
            print(&format!("{}\n", folder.policy_path().display()));
        } else if !args.json {
            print(&result.show(&domain, Paint::stdout(args.color)));
        }
        results.push(result);
    }
    Ok(results)
}

/// A run, with what ended it before its end, if anything did.
pub(crate) type Ended = (Learned, Option<Cut>);

/// What was learned: of a run that ends before its end, the best policy so far. `None` where somebody asked all to stop.
pub(crate) fn or_best(
    learned: Result<Vec<Option<Learned>>, derrl_learn::Error>,
    folders: &[RunFolder],
    domain: &Domain,
    watch: &Watch<'_>,
) -> Result<Vec<Option<Ended>>, derrl_learn::Error> {
    let cut = watch.cut().filter(|_| !watch.stopped());
    let ended = |(folder, learned): (&RunFolder, Option<Learned>)| match (learned, cut) {
        (Some(learned), _) => Ok(Some((learned, None))),
        (None, None) => Ok(None),
        (None, Some(cut)) => {
            let (best, steps) = watch.so_far(folder.config.seed);
            let learned = SoFar::learned(best.as_ref(), &domain.alphabet, steps);
            let learned = learned.map_err(|e| derrl_learn::Error::Policy(format!("{e:#}")))?;
            Ok(Some((learned, Some(cut))))
        }
    };
    folders.iter().zip(learned?).map(ended).collect()
}

fn how_to_resume(top: &Path) -> String {
    format!("resume with: derrl train --resume {}", quoted(top))
}

fn threads(args: &Train) -> usize {
    args.threads.map_or_else(derrl_learn::cores, usize::from)
}

/// Makes the folders of new runs, one per seed.
fn start(args: &Train) -> anyhow::Result<(Vec<RunFolder>, PathBuf, Lock)> {
    let Some(name) = args.domain.as_deref() else {
        bail!(
            "say which domain to train on, as in `derrl train blocks`. There are:\n\n{}",
            table(Paint::none())
        );
    };
    if !args.freeze.is_empty() && args.from.is_none() {
        bail!("--freeze names rules of --from: say which policy, as in --from policy.pl");
    }
    let domain = Domain::load_with(name, args.world.untyped, &args.problems)?;
    let mut config = match &args.config {
        None => Config::default(),
        Some(path) => from_file(path)?,
    };
    for setting in &args.set {
        config = with_setting(&config, setting)?;
    }
    config.check()?;
    let options = args.world.options();
    let first = domain.world.training_task()?.name.as_str();
    let task = domain.world.find_task(args.task.as_deref().unwrap_or(first))?;
    if task.scored && task.name != first {
        bail!(
            "--task {}: this task is kept for scores; train on `{first}` or on a task of free size",
            task.name
        );
    }
    let start =
        args.from.as_deref().map(|path| read_start(path, &args.freeze, &domain, &config)).transpose()?;
    let problem = Problem::new(&domain.alphabet, 1)?;
    // Of problems from files the largest decides, not the one that comes first.
    let largest = domain.pddl.as_ref().and_then(|pddl| pddl.largest(&domain.alphabet));
    let made = || domain.world.make(&domain.alphabet, &task.name, &options);
    let mut env = largest.map_or_else(made, Ok)?;
    estimate::check(env.as_mut(), &domain.alphabet, &problem, &config, threads(args), args.force)?;
    drop(env);
    if let Some(n) = args.max_steps.filter(|&n| n < FEWEST_STEPS && domain.pddl.is_some()) {
        bail!(
            "--max-steps {n}: the budget of a whole run, from {FEWEST_STEPS} for planning problems; the steps of a problem are \
             bounded by --horizon {n}"
        );
    }
    if let Some(pddl) = &domain.pddl {
        pddl.check_training()?.iter().for_each(|warning| say!("warning: {warning}"));
    }
    let top = args.out.clone().map_or_else(|| make_next_free(name), Ok)?;
    let lock = RunFolder::lock(&top)?;
    let run_config = |seed| RunConfig {
        derrl: env!("CARGO_PKG_VERSION").to_string(),
        domain: name.to_string(),
        task: (task.name != first).then(|| task.name.clone()),
        seed,
        episodes: args.episodes.map(|n| n as usize),
        untyped: args.world.untyped,
        start: start.clone(),
        options: options.clone(),
        pddl: domain.files.clone(),
        budget: args.max_steps,
        max_seconds: args.max_seconds,
        settings: config.clone(),
    };
    let folders = match args.seeds {
        None => vec![RunFolder::create(&top, run_config(args.seed), &domain.text)?],
        Some(SeedRange { first, last }) => {
            let manifest = Manifest { first, last, config: run_config(first), domain: domain.text.clone() };
            RunFolder::create_all(&top, &manifest)?
        }
    };
    Ok((folders, top, lock))
}

/// The rules to start from, if they are rules that can be learned. Says which of them constraints speak against.
fn read_start(path: &Path, freeze: &[usize], domain: &Domain, config: &Config) -> anyhow::Result<Start> {
    let mut spoken = domain.clone();
    let policy = another_policy(path, &mut spoken)?;
    let file = path.display();
    let start = Start { policy: policy.display(&spoken.alphabet).to_string(), freeze: freeze.to_vec() };
    let (given, alphabet) = start.rules(&domain.alphabet).with_context(|| format!("--from {file}"))?;
    Problem::starting_from(&alphabet, 1, &given).with_context(|| format!("--from {file}"))?;
    if !config.hidden.is_empty() && given.iter().any(|g| !g.frozen) {
        bail!(
            "--from {file}: with hidden layers only frozen rules can be given; add them to --freeze, or drop --set hidden"
        );
    }
    for rule in given.iter().map(|g| &g.rule) {
        if let Some((_, message)) = alphabet.contradicts(rule) {
            say!("warning: {}: {message}", rule.display(&alphabet));
        }
    }
    Ok(start)
}

/// The settings of a file; those that it does not mention keep their defaults. The file of a run will do.
pub fn from_file(path: &Path) -> anyhow::Result<Config> {
    let shown = path.display();
    let text = read_text(path, MOST_CONFIG).with_context(|| format!("cannot read {shown}"))?;
    let mut all: toml::Table =
        text.parse().map_err(|e: toml::de::Error| anyhow::anyhow!("{shown} is not TOML: {}", e.message()))?;
    // `config.toml` of a run has its settings in a table of their own.
    if let Some(toml::Value::Table(settings)) = all.remove("settings") {
        all = settings;
    }
    let known = toml::Table::try_from(Config::default())?;
    if let Some(key) = all.keys().find(|key| !known.contains_key(*key)) {
        let help = derrl_env::nearest(key, known.keys().map(String::as_str));
        bail!("{shown}: there is no setting `{key}`{help}");
    }
    for (key, value) in &mut all {
        if let (toml::Value::Integer(i), Some(toml::Value::Float(_))) = (&*value, known.get(key)) {
            *value = toml::Value::Float(*i as f64);
        }
    }
    let config: Config =
        all.try_into().map_err(|e: toml::de::Error| anyhow::anyhow!("{shown}: {}", in_words(e.message())))?;
    config.check().with_context(|| shown.to_string())?;
    Ok(config)
}

/// Every setting with its default, what it does and what it may be. The text is TOML: a file for `--config`.
fn settings(paint: Paint) -> anyhow::Result<String> {
    let defaults = toml::Table::try_from(Config::default())?;
    let mut text = String::new();
    for setting in derrl_learn::explained() {
        let Some(value) = defaults.get(&setting.name) else { continue };
        let about = wrap(&format!("{} Range: {}.", setting.about, setting.range), "# ", WIDTH);
        let line = format!("{} = {value}", setting.name);
        let _ = write!(text, "{}{}\n\n", paint.faint(&about), paint.strong(&line));
    }
    Ok(text)
}

/// The settings with one changed, as `key=value` says.
pub(crate) fn with_setting(config: &Config, setting: &str) -> anyhow::Result<Config> {
    let Some((key, value)) = setting.split_once('=') else {
        bail!("--set {setting}: write KEY=VALUE, as in --set updates=800");
    };
    let (key, value) = (key.trim(), value.trim());
    let mut table = toml::Table::try_from(config)?;
    if !table.contains_key(key) {
        let help = derrl_env::nearest(key, table.keys().map(String::as_str));
        bail!("--set {setting}: there is no setting `{key}`{help}");
    }
    // A value is read as TOML has it; a bare word is a name.
    let parsed = format!("v = {value}").parse::<toml::Table>().ok().and_then(|mut t| t.remove("v"));
    let mut parsed = parsed.unwrap_or_else(|| toml::Value::String(value.to_string()));
    if let (toml::Value::Integer(i), Some(toml::Value::Float(_))) = (&parsed, table.get(key)) {
        parsed = toml::Value::Float(*i as f64);
    }
    table.insert(key.to_string(), parsed);
    let changed: Config = table
        .try_into()
        .map_err(|e: toml::de::Error| anyhow::anyhow!("--set {setting}: {}", in_words(e.message())))?;
    changed.check().with_context(|| format!("--set {setting}"))?;
    Ok(changed)
}

/// What the reader of settings says, in words for people who do not know its types.
fn in_words(message: &str) -> String {
    let words = [
        ("usize", "a whole number from 0"),
        ("f64", "a number"),
        ("a sequence", "a list such as [32]"),
        ("invalid type: ", "not "),
    ];
    words.iter().fold(message.to_string(), |text, (from, to)| text.replace(from, to))
}

pub(crate) struct Finished {
    seed: u64,
    scores: Vec<(String, Score)>,
    policy: Policy,
    /// The alphabet that it speaks.
    alphabet: Arc<Alphabet>,
    origins: Vec<Origin>,
    widenings: Vec<WideningStep>,
    advice: Vec<String>,
    cut: Option<Cut>,
    steps: u64,
    restarts: usize,
    seconds: f64,
    paths: Vec<PathBuf>,
    pub(crate) json: Value,
}

/// Scores what was learned and writes it down; `None` if interrupted.
pub(crate) fn finish(
    has_report: bool,
    folder: &RunFolder,
    domain: &Domain,
    (learned, cut): &Ended,
    seconds: f64,
    control: Option<&Control>,
) -> anyhow::Result<Option<Finished>> {
    let unsimplified = learned.unsimplified.display(&learned.alphabet).to_string();
    // What the policy defines is part of what is spoken here.
    let domain = &Domain { alphabet: Arc::clone(&learned.alphabet), ..domain.clone() };
    let config = &folder.config;
    let checkpoint = folder.checkpoint()?;
    let score = |tasks: &[String], options: &Options| {
        eval::score(&learned.policy, domain, tasks, options, config.episodes, config.seed, control)
    };
    let trained = match &config.task {
        Some(task) => score(std::slice::from_ref(task), &config.options)?,
        None => Some(Vec::new()),
    };
    let others = score(&[], &config.options.of(&domain.world.tasks()[0]))?;
    let (Some(trained), Some(others)) = (trained, others) else { return Ok(None) };
    let scores = [trained, others].concat();
    // A task that asks for nothing that is reached or not is neither solved nor unsolved.
    let solved = scores.first().and_then(|(_, s)| s.solved());
    // A budget of steps is planned ahead: it counts as what ended a run that took most of it or did not get there.
    let spent = |most: &u64| solved == Some(false) || learned.steps as f64 >= BUDGET_SPENT * *most as f64;
    let cut = cut.or_else(|| config.budget.filter(spent).map(Cut::Steps));
    let points = |curve: &[UpdateStats]| curve.iter().map(|p| (p.episodes as f64, p.mean_return)).collect();
    let result = RunResult {
        policy: &learned.policy,
        unsimplified,
        scores: &scores,
        restarts: checkpoint.done.len(),
        restart: learned.restart,
        episodes: checkpoint.done.iter().map(|o| o.episodes).sum(),
        steps: learned.steps,
        selection_steps: learned.selection_steps,
        solved,
        cut,
        advice: scores.first().map_or_else(Vec::new, |(_, score)| advice(learned, score, &domain.alphabet)),
        origins: learned.origins.clone(),
        widenings: learned.widenings.clone(),
        seconds,
        curves: checkpoint.done.iter().map(|o| (o.restart, points(&o.curve))).collect(),
    };
    Ok(Some(Finished {
        advice: result.advice.clone(),
        origins: learned.origins.clone(),
        widenings: learned.widenings.clone(),
        cut,
        seed: config.seed,
        policy: learned.policy.clone(),
        alphabet: Arc::clone(&learned.alphabet),
        steps: result.steps,
        restarts: result.restarts,
        seconds,
        paths: if has_report {
            vec![folder.policy_path(), report_path(folder)]
        } else {
            vec![folder.policy_path()]
        },
        json: result.keep(folder, domain, has_report)?,
        scores,
    }))
}

/// What could be changed where the training task is not solved: the share of its episodes that succeed, then what the learner says.
fn advice(learned: &Learned, score: &Score, alphabet: &Alphabet) -> Vec<String> {
    let (Some(share), Some(false)) = (score.success_rate, score.solved()) else { return Vec::new() };
    let best = score.best_known.map_or_else(String::new, |best| format!(", best known {best:.3}"));
    let first = format!(
        "{:.0}% of the training episodes succeed: return {}{best}",
        100.0 * share,
        fixed(score.mean, 3)
    );
    let mut advice = vec![first];
    // The learner counts the episodes that it selected rules by; scores are of new ones.
    advice.extend(learned.advice(alphabet).into_iter().filter(|text| !text.starts_with("not solved")));
    let has_distance = alphabet.definitions().iter().any(|d| matches!(d.how, How::Distance { .. }));
    let mut background = alphabet.predicates.iter().filter(|p| p.role == Role::Background);
    if !has_distance && background.any(|p| matches!(p.args.as_slice(), [a, b] if a == b)) {
        let hint = "distances: `:- distance(nearer, STEP, TARGET).` in the domain file lets rules see which step leads nearer to a \
                    target, as in examples/derived/gridworld.pl";
        advice.insert(1, hint.to_string());
    }
    advice
}

/// From this share of successes on, a policy is good, if not perfect.
const GOOD: f64 = 0.5;

impl Finished {
    fn show(&self, domain: &Domain, paint: Paint) -> String {
        // Rules about numbers come from no restarts.
        let restarts = match self.restarts {
            0 => String::new(),
            1 => "1 restart, ".to_string(),
            n => format!("{n} restarts, "),
        };
        let mut text = format!(
            "{}, seed {}: {restarts}{} steps, {:.2} s\n\n",
            paint.strong(&domain.name),
            self.seed,
            thousands(self.steps),
            self.seconds
        );
        // Definitions of the policy's own, if any, stand before its rules.
        let shown = self.policy.display(&self.alphabet).to_string();
        let (mut origins, mut rules) = (self.origins.iter(), self.policy.rules.iter());
        let english = English::new(&self.alphabet, domain.world.wording());
        for line in shown.lines() {
            let origin = if line.contains("::") { origins.next() } else { None };
            let origin = origin.map_or_else(String::new, |origin| format!("  % {origin}"));
            let _ = writeln!(text, "  {}{origin}", paint.rule(line));
            if line.contains("::")
                && let Some(rule) = rules.next()
            {
                let _ = write!(text, "{}", paint.faint(&wrap(&english.rule(rule), "      ", WIDTH)));
            }
        }
        let kept: Vec<&WideningStep> = self.widenings.iter().filter(|w| w.kept).collect();
        for (i, WideningStep { to, before, after, .. }) in kept.into_iter().enumerate() {
            let mark = if i == 0 { "\n  wider language: " } else { "                  " };
            let brought = if after > before {
                // As many decimals as it takes to see what was gained.
                let differ = |digits: &usize| format!("{before:.digits$}") != format!("{after:.digits$}");
                let digits = (3..9).find(differ).unwrap_or(9);
                format!("training return {before:.digits$} before, {after:.digits$} with it")
            } else {
                "better in larger instances, or after wrong moves".to_string()
            };
            let _ = writeln!(text, "{mark}{to} ({brought})");
        }
        for (i, advice) in self.advice.iter().enumerate() {
            let mark = if i == 0 { "\n  ! " } else { "    " };
            let lines = wrap(advice, "      ", WIDTH);
            let is_good =
                self.scores.first().is_some_and(|(_, s)| s.success_rate.is_some_and(|share| share >= GOOD));
            let line = if is_good { paint.unsure(lines.trim()) } else { paint.bad(lines.trim()) };
            let _ = writeln!(text, "{mark}{line}");
        }
        if let Some(cut) = self.cut {
            let _ = writeln!(text, "\n  {}", paint.bad(&cut.to_string()));
        }
        if self.policy.rules.is_empty() {
            let none = "  (no rule was found: the policy acts at random)";
            let _ = writeln!(text, "{}", paint.bad(none));
        }
        let mut scores = eval::show(&self.scores, "  ");
        if let Some(tally) = eval::shield(domain, &ShieldTally::default()) {
            let _ = write!(scores, "\n{}", eval::show_shield(&tally, "  "));
        }
        let paths: Vec<String> = self.paths.iter().map(|path| format!("  {}", path.display())).collect();
        format!("{text}\n{scores}\n{}\n\n", paths.join("\n"))
    }
}

/// Over all seeds: the mean and the worst return on each task.
fn summary(results: &[Finished]) -> String {
    let mut rows = vec![["task", "mean", "worst", "worst seed", "best known"].map(String::from).to_vec()];
    // Runs that are resumed together may have been scored on different tasks.
    let mut tasks: Vec<&String> = Vec::new();
    for (task, _) in results.iter().flat_map(|r| &r.scores) {
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    for task in tasks {
        let of = |r: &Finished| Some((r.seed, r.scores.iter().find(|(name, _)| name == task)?.1.clone()));
        let scores: Vec<(u64, Score)> = results.iter().filter_map(of).collect();
        let n = scores.len() as f64;
        let mean = scores.iter().map(|(_, score)| score.mean).sum::<f64>() / n;
        let best = scores.iter().map(|(_, score)| score.best_known).sum::<Option<f64>>();
        if let Some((seed, worst)) = scores.iter().min_by(|a, b| a.1.mean.total_cmp(&b.1.mean)) {
            let cells = [
                fixed(mean, 3),
                fixed(worst.mean, 3),
                seed.to_string(),
                best.map_or_else(|| "-".to_string(), |sum| fixed(sum / n, 3)),
            ];
            rows.push(std::iter::once(task.clone()).chain(cells).collect());
        }
    }
    format!("{} seeds\n{}", results.len(), columns(&rows, "  "))
}
