//! `derrl train`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use derrl::domain::Domain;
use derrl::policies::another_policy;
use derrl::runs::{self, End, Finished, How, Manifest, Request, RunFolder, Start, make_next_free, page};
use derrl::score::shield;
use derrl::settings::{from_file, with_setting};
use derrl::shell::quoted;
use derrl_env::ShieldTally;
use derrl_files::lock::Lock;
use derrl_learn::{Config, Problem, Score, WideningStep};
use derrl_pages::Extent;
use derrl_report::English;
use derrl_report::table::{WIDTH, columns, fixed, thousands, wrap};
use serde_json::{Value, json};

use crate::args::{SeedRange, Train};
use crate::domains::table;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::{Terminal, be_quiet, catch_interrupts, last_word};
use crate::style::Paint;
use crate::{eval, say};

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
        let extent = Extent::of(folders.len()).within(results.iter().map(|r| r.seconds).sum());
        page::write(&top, &folders, &top.join(runs::PAGE), extent)?;
    }
    if args.json {
        let mut documents: Vec<Value> = results.iter().map(|r| r.json.clone()).collect();
        match args.seeds {
            None if args.resume.is_none() || documents.len() == 1 => print_json(&documents.remove(0))?,
            _ => print_json(&json!({ "runs": documents }))?,
        }
    } else if results.len() > 1 && !args.quiet {
        let page = if args.no_report { top } else { top.join(runs::PAGE) };
        print(&format!("{}\n  {}\n", summary(&results), page.display()));
    }
    Ok(())
}

/// A planning problem takes some tens of steps, so that a smaller budget is meant for one problem.
const FEWEST_STEPS: u64 = 1000;
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
    let how = How { threads: threads(args), page: !args.no_report, tensorboard: args.tensorboard };
    let mut results = Vec::new();
    let end = runs::learn(folders, how, &Terminal::new(), &mut |folder, domain, finished| {
        if args.quiet {
            print(&format!("{}\n", folder.policy_path().display()));
        } else if !args.json {
            let page = how.page.then(|| folder.page_path());
            let paths: Vec<PathBuf> = std::iter::once(folder.policy_path()).chain(page).collect();
            print(&show(&finished, domain, &paths, Paint::stdout(args.color)));
        }
        results.push(finished);
    })?;
    match end {
        End::Done => Ok(results),
        End::Stopped => Err(Failure::Interrupted(format!("interrupted; {}", how_to_resume(top)))),
        End::Failed(fault) => Err(Failure::Broken(format!("{fault}\n  {}", how_to_resume(top)))),
    }
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
    let domain = Domain::load_with(name, args.world.untyped, &args.problems.asked())?;
    let mut config = match &args.config {
        None => Config::default(),
        Some(path) => from_file(path)?,
    };
    for setting in &args.set {
        config = with_setting(&config, setting)?;
    }
    let start =
        args.from.as_deref().map(|path| read_start(path, &args.freeze, &domain, &config)).transpose()?;
    let request = Request {
        domain,
        untyped: args.world.untyped,
        task: args.task.clone(),
        seed: args.seeds.map_or(args.seed, |seeds| seeds.first),
        episodes: args.episodes.map(|n| n as usize),
        options: args.world.options(),
        settings: config,
        start,
        max_steps: args.max_steps,
        max_seconds: args.max_seconds,
    };
    let config = request.config()?;
    if let Some(notice) = request.estimate(threads(args), args.force)? {
        say!("{notice}");
    }
    let domain = &request.domain;
    if let Some(n) = args.max_steps.filter(|&n| n < FEWEST_STEPS && domain.world.is_chosen()) {
        bail!(
            "--max-steps {n}: the budget of a whole run, from {FEWEST_STEPS} for planning problems; the steps of a problem are \
             bounded by --horizon {n}"
        );
    }
    domain.world.check_training()?.iter().for_each(|warning| say!("warning: {warning}"));
    let top = args.out.clone().map_or_else(|| make_next_free(name), Ok)?;
    let lock = RunFolder::lock(&top)?;
    let folders = match args.seeds {
        None => vec![RunFolder::create(&top, config, &domain.text)?],
        Some(SeedRange { first, last }) => {
            let manifest = Manifest { first, last, config, domain: domain.text.clone() };
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

/// From this share of successes on, a policy is good, if not perfect.
const GOOD: f64 = 0.5;

/// What came of a run, for people.
fn show(of: &Finished, domain: &Domain, paths: &[PathBuf], paint: Paint) -> String {
    // Rules about numbers come from no restarts.
    let restarts = match of.restarts {
        0 => String::new(),
        1 => "1 restart, ".to_string(),
        n => format!("{n} restarts, "),
    };
    let mut text = format!(
        "{}, seed {}: {restarts}{} steps, {:.2} s\n\n",
        paint.strong(&domain.name),
        of.seed,
        thousands(of.steps),
        of.seconds
    );
    if let Some(sight) = &of.sight {
        text.push_str(&symbols(sight, paint));
    }
    // Definitions of the policy's own, if any, stand before its rules.
    for line in of.policy.display_definitions(&of.alphabet, true).to_string().lines() {
        let _ = writeln!(text, "  {}", paint.rule(line));
    }
    let english = English::new(&of.alphabet, domain.world.wording());
    let mut origins = of.origins.iter();
    for rule in of.policy.written() {
        let origin = origins.next().map_or_else(String::new, |origin| format!("  % {origin}"));
        let _ = writeln!(text, "  {}{origin}", paint.rule(&rule.display(&of.alphabet).to_string()));
        let _ = write!(text, "{}", paint.faint(&wrap(&english.rule(rule), "      ", WIDTH)));
    }
    let kept: Vec<&WideningStep> = of.widenings.iter().filter(|w| w.kept).collect();
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
    for (i, advice) in of.advice.iter().enumerate() {
        let mark = if i == 0 { "\n  ! " } else { "    " };
        let lines = wrap(advice, "      ", WIDTH);
        let is_good =
            of.scores.first().is_some_and(|(_, s)| s.success_rate.is_some_and(|share| share >= GOOD));
        let line = if is_good { paint.unsure(lines.trim()) } else { paint.bad(lines.trim()) };
        let _ = writeln!(text, "{mark}{line}");
    }
    if let Some(cut) = of.cut {
        let _ = writeln!(text, "\n  {}", paint.bad(&cut.to_string()));
    }
    if of.policy.rules.is_empty() {
        let none = "  (no rule was found: the policy acts at random)";
        let _ = writeln!(text, "{}", paint.bad(none));
    }
    let mut scores = eval::show(&of.scores, "  ");
    if let Some(tally) = shield(domain, &ShieldTally::default()) {
        let _ = write!(scores, "\n{}", eval::show_shield(&tally, "  "));
    }
    let paths: Vec<String> = paths.iter().map(|path| format!("  {}", path.display())).collect();
    format!("{text}\n{scores}\n{}\n\n", paths.join("\n"))
}

/// What symbols were found in pixels, for people.
fn symbols(sight: &Value, paint: Paint) -> String {
    let percent = |key: &str| format!("{:.1}%", 100.0 * sight[key].as_f64().unwrap_or_default());
    let mut lines =
        vec![format!("s0  oneself: it moved as the action says in {} of new steps", percent("moves"))];
    for (i, brings) in sight["brings"].as_array().into_iter().flatten().enumerate() {
        let reward = fixed(brings["reward"].as_f64().unwrap_or_default(), 2);
        let ends = if brings["ends"] == true { " and ends the episode" } else { "" };
        lines.push(format!("s{}  entering it gives {reward}{ends}", i + 1));
    }
    let steps = thousands(sight["steps"].as_u64().unwrap_or_default());
    let foretold =
        format!("symbols foretell {} of new steps; learned from {steps} steps", percent("foretells"));
    let known = format!(
        "{} of all cells are told apart right (the truth is used for this line only)",
        percent("right")
    );
    let both = format!(
        "training episodes that succeed: crisp {}, soft (symbols drawn by their probabilities) {}",
        percent("crisp"),
        percent("soft")
    );
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "  {}", paint.rule(&line));
    }
    for line in [foretold, known, both] {
        text.push_str(&paint.faint(&wrap(&line, "      ", WIDTH)));
    }
    text.push('\n');
    text
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
