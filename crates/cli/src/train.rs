//! `derrl train`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use derrl_env::{Options, make};
use derrl_learn::{Config, Learned, Problem, Score, Search, UpdateStats};
use derrl_logic::Policy;
use serde_json::{Value, json};

use crate::args::Train;
use crate::domain::{Domain, another_policy};
use crate::domains::table;
use crate::progress::{Watch, catch_interrupts};
use crate::run_folder::{RunConfig, RunFolder, Start, next_free};
use crate::run_result::{RunResult, report_path};
use crate::style::Paint;
use crate::table::{WIDTH, columns, thousands, wrap};
use crate::{Failure, Outcome, eval, print, print_json, report};

/// Learns, scores, and leaves a folder for each run.
pub fn run(args: &Train) -> Outcome {
    if args.settings {
        print(&settings(Paint::stdout(args.color))?);
        return Ok(());
    }
    let (folders, top) = match &args.resume {
        Some(path) => (RunFolder::open_all(path)?, path.clone()),
        None => start(args)?,
    };
    let domain = folders[0].domain()?;
    let config = folders[0].config.settings.clone();
    if let Some(other) =
        folders.iter().find(|f| f.config.settings != config || f.config.domain != domain.name)
    {
        bail_input(format!(
            "{} is a run of another configuration: resume it by itself",
            other.path().display()
        ))?;
    }
    let seeds =
        folders.iter().map(|f| Ok((f.config.seed, f.checkpoint()?))).collect::<anyhow::Result<Vec<_>>>()?;

    catch_interrupts();
    let started = Instant::now();
    let task = folders[0].task(&domain)?.name;
    let make_env = || make(domain.spec, &domain.alphabet, task, &folders[0].config.options);
    let given = folders[0].start(&domain.alphabet)?;
    let problem = Arc::new(Problem::starting_from(&domain.alphabet, make_env()?.learners(), &given)?);
    let watch = Watch::new(&folders, config.updates);
    let learned = Search::new(&problem, &config, &make_env, &watch).run(seeds, threads(args));
    watch.finish()?;
    let learned = match learned {
        Err(derrl_learn::Error::World(reason)) => {
            let text = format!("{reason}\n  go on with: derrl train --resume {}", top.display());
            return Err(Failure::Broken(text));
        }
        other => other?,
    };
    if learned.iter().any(Option::is_none) {
        let text = format!("interrupted; go on with: derrl train --resume {}", top.display());
        return Err(Failure::Interrupted(text));
    }

    let seconds = started.elapsed().as_secs_f64() / folders.len() as f64;
    let mut results = Vec::new();
    for (folder, learned) in folders.iter().zip(learned.into_iter().flatten()) {
        let result = finish(folder, &domain, &learned, seconds)?;
        report::write(
            folder.path(),
            std::slice::from_ref(folder),
            &report_path(folder),
            report::Extent::of(1),
        )?;
        if args.quiet {
            print(&format!("{}\n", folder.policy_path().display()));
        } else if !args.json {
            print(&result.show(&domain, Paint::stdout(args.color)));
        }
        results.push(result);
    }
    if folders.len() > 1 {
        report::write(&top, &folders, &top.join(report::FILE), report::Extent::of(folders.len()))?;
    }
    if args.json {
        let mut documents: Vec<Value> = results.iter().map(|r| r.json.clone()).collect();
        match args.seeds {
            None if args.resume.is_none() || documents.len() == 1 => print_json(&documents.remove(0))?,
            _ => print_json(&json!({ "runs": documents }))?,
        }
    } else if results.len() > 1 && !args.quiet {
        print(&format!("{}\n  {}\n", summary(&results), top.join(report::FILE).display()));
    }
    Ok(())
}

fn bail_input(text: String) -> anyhow::Result<()> {
    bail!(text)
}

fn threads(args: &Train) -> usize {
    args.threads.map_or_else(derrl_learn::cores, usize::from)
}

/// Makes the folders of new runs, one a seed.
fn start(args: &Train) -> anyhow::Result<(Vec<RunFolder>, PathBuf)> {
    let Some(name) = args.domain.as_deref() else {
        bail!(
            "say which domain to train on, as in `derrl train blocks`. There are:\n\n{}",
            table(Paint::none())
        );
    };
    let domain = Domain::load(name, args.world.untyped)?;
    let mut config = match &args.config {
        None => Config::default(),
        Some(path) => from_file(path)?,
    };
    for setting in &args.set {
        config = with_setting(&config, setting)?;
    }
    config.check()?;
    let options = args.world.options();
    let first = domain.spec.tasks[0].name;
    let task = domain.spec.task(args.task.as_deref().unwrap_or(first))?;
    if task.scored && task.name != first {
        bail!(
            "--task {}: this task is kept for scores; train on `{first}` or on a task of free size",
            task.name
        );
    }
    make(domain.spec, &domain.alphabet, task.name, &options)?;
    let start =
        args.from.as_deref().map(|path| read_start(path, &args.freeze, &domain, &config)).transpose()?;
    if start.is_none() {
        Problem::new(&domain.alphabet, 1)?;
    }
    let top = args.out.clone().unwrap_or_else(|| next_free(name));
    let run_config = |seed| RunConfig {
        derrl: env!("CARGO_PKG_VERSION").to_string(),
        domain: name.to_string(),
        task: (task.name != first).then(|| task.name.to_string()),
        seed,
        episodes: args.episodes.map(|n| n as usize),
        untyped: args.world.untyped,
        start: start.clone(),
        options: options.clone(),
        settings: config.clone(),
    };
    let folders = match args.seeds {
        None => vec![RunFolder::create(&top, run_config(args.seed), &domain)?],
        Some(range) => (range.first..=range.last)
            .map(|seed| RunFolder::create(&top.join(format!("seed-{seed}")), run_config(seed), &domain))
            .collect::<anyhow::Result<_>>()?,
    };
    Ok((folders, top))
}

/// The rules to start from, if they are rules that can be learned. Says which of them constraints speak against.
fn read_start(path: &Path, freeze: &[usize], domain: &Domain, config: &Config) -> anyhow::Result<Start> {
    let policy = another_policy(path, domain)?;
    let file = path.display();
    let start = Start { policy: policy.display(&domain.alphabet).to_string(), freeze: freeze.to_vec() };
    let given = start.rules(&domain.alphabet).with_context(|| format!("--from {file}"))?;
    Problem::starting_from(&domain.alphabet, 1, &given).with_context(|| format!("--from {file}"))?;
    if !config.hidden.is_empty() && given.iter().any(|g| !g.frozen) {
        bail!(
            "--from {file}: with hidden layers only frozen rules can be given; add them to --freeze, or drop --set hidden"
        );
    }
    for rule in given.iter().map(|g| &g.rule) {
        if let Some((_, message)) = domain.alphabet.contradicts(rule) {
            eprintln!("warning: {}: {message}", rule.display(&domain.alphabet));
        }
    }
    Ok(start)
}

/// The settings of a file; those that it does not mention keep their defaults. The file of a run will do.
fn from_file(path: &Path) -> anyhow::Result<Config> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
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
fn with_setting(config: &Config, setting: &str) -> anyhow::Result<Config> {
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

struct Finished {
    seed: u64,
    scores: Vec<(String, Score)>,
    policy: Policy,
    steps: u64,
    restarts: usize,
    seconds: f64,
    paths: [PathBuf; 2],
    json: Value,
}

/// Scores what was learned and writes it down.
fn finish(folder: &RunFolder, domain: &Domain, learned: &Learned, seconds: f64) -> anyhow::Result<Finished> {
    let config = &folder.config;
    let checkpoint = folder.checkpoint()?;
    let score = |tasks: &[String], options: &Options| {
        eval::score(&learned.policy, domain, tasks, options, config.episodes, config.seed)
    };
    let mut scores = match &config.task {
        Some(task) => score(std::slice::from_ref(task), &config.options)?,
        None => Vec::new(),
    };
    scores.extend(score(&[], &config.options.of(&domain.spec.tasks[0]))?);
    let points = |curve: &[UpdateStats]| curve.iter().map(|p| (p.episodes as f64, p.mean_return)).collect();
    let result = RunResult {
        policy: &learned.policy,
        unsimplified: learned.unsimplified.display(&domain.alphabet).to_string(),
        scores: &scores,
        restarts: checkpoint.done.len(),
        restart: learned.restart,
        episodes: checkpoint.done.iter().map(|o| o.episodes).sum(),
        steps: checkpoint.done.iter().map(|o| o.steps).sum(),
        seconds,
        curves: checkpoint.done.iter().map(|o| (o.restart, points(&o.curve))).collect(),
    };
    Ok(Finished {
        seed: config.seed,
        policy: learned.policy.clone(),
        steps: result.steps,
        restarts: result.restarts,
        seconds,
        paths: [folder.policy_path(), report_path(folder)],
        json: result.keep(folder, domain)?,
        scores,
    })
}

impl Finished {
    fn show(&self, domain: &Domain, paint: Paint) -> String {
        let mut text = format!(
            "{}, seed {}: {} restarts, {} steps, {:.2} s\n\n",
            paint.strong(&domain.name),
            self.seed,
            self.restarts,
            thousands(self.steps),
            self.seconds
        );
        for rule in self.policy.display(&domain.alphabet).to_string().lines() {
            text = format!("{text}  {}\n", paint.rule(rule));
        }
        if self.policy.rules.is_empty() {
            let none = "  (no rule was found: the policy acts at random)";
            let _ = writeln!(text, "{}", paint.bad(none));
        }
        let [policy, report] = &self.paths;
        let scores = eval::show(&self.scores, "  ");
        format!("{text}\n{scores}\n  {}\n  {}\n\n", policy.display(), report.display())
    }
}

/// Over all seeds: the mean and the worst return on each task.
fn summary(results: &[Finished]) -> String {
    let mut rows = vec![["task", "mean", "worst", "worst seed", "best known"].map(String::from).to_vec()];
    for (i, (task, _)) in results[0].scores.iter().enumerate() {
        let of = |r: &Finished| r.scores[i].1.clone();
        let mean = results.iter().map(|r| of(r).mean).sum::<f64>() / results.len() as f64;
        let best = results.iter().map(|r| of(r).best_known).sum::<f64>() / results.len() as f64;
        let worst = results.iter().min_by(|a, b| of(a).mean.total_cmp(&of(b).mean));
        if let Some(worst) = worst {
            let cells = [
                format!("{mean:.3}"),
                format!("{:.3}", of(worst).mean),
                worst.seed.to_string(),
                format!("{best:.3}"),
            ];
            rows.push(std::iter::once(task.clone()).chain(cells).collect());
        }
    }
    format!("{} seeds\n{}", results.len(), columns(&rows, "  "))
}
