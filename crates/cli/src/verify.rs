//! `derrl verify`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use derrl_env::{Exhaustive, Extent};
use derrl_learn::{Counterexample, Kind, Progress, Report, Subject, Ties, Verdict, verify};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::args::Verify;
use crate::cli::{Failure, Outcome, print, print_json};
use crate::domain::{Domain, load_policy_with};
use crate::explain::{show_substitution, show_why_not};
use crate::extent::Meter;
use crate::picture::film;
use crate::progress::catch_interrupts;
use crate::run_folder::RunFolder;
use crate::safe_file::{make_folder, write, write_named};
use crate::say;
use crate::sealed::{self, open, seal};
use crate::shell::quoted;
use crate::style::Paint;
use crate::table::{columns, list, thousands};

/// Facts of a state that are shown, at the most: some worlds have long backgrounds that never differ.
pub const MOST_FACTS: usize = 40;
/// What `derrl verify` leaves in the folder of a run.
pub const FILE: &str = "verify.json";

/// Proves a policy up to a size, or shows how it fails.
pub fn run(args: &Verify) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.extent.untyped, &args.problems)?;
    let alphabet = &domain.alphabet;
    let extent = args.extent.extent(&domain, [&policy])?;
    if let Some(path) = &args.picture {
        check_writable(path)?;
    }
    let made = domain.world.space(alphabet, &extent)?;
    args.extent.check(made.as_ref())?;
    let text = policy.display(alphabet).to_string();
    let ties = if args.ties == "random" { Ties::Random } else { Ties::Worst };
    let kept = Kept::new(&domain, &format!("{:?}", policy.rules), &format!("{extent:?} {ties:?}"));
    let from = kept.read();

    catch_interrupts();
    let started = Instant::now();
    let mut failed = None;
    let mut save = |progress: &Progress| failed = kept.write(progress).err();
    let mut meter = Meter::saving(&mut save);
    let subject = Subject { policy: &policy, alphabet, world: &domain.world, extent, ties };
    let report = verify(&subject, args.extent.threads(), from, &mut meter)?;
    meter.finish();
    let Some(report) = report else {
        return Err(match failed {
            Some(error) => error.into(),
            None => Failure::Interrupted("interrupted; the same command goes on from here".to_string()),
        });
    };
    kept.remove();
    if let (Some(path), Some(found)) = (&args.picture, &report.counterexample) {
        write_named(path, &film(found))?;
    }
    let document = document(&domain, &text, &subject.extent, &report, started.elapsed().as_secs_f64())?;
    if args.json {
        print_json(&document)?;
    } else {
        print(&show(&report, &domain));
        if args.picture.is_some() && report.counterexample.is_none() {
            say!("there is no counterexample to draw");
        }
    }
    // A run is verified in its own domain; whatever else is asked of its policy is no part of the run.
    if args.policy.is_dir() && args.domain.is_none() {
        RunFolder::open(&args.policy)?.write(FILE, &format!("{document:#}\n"))?;
        let shown = quoted(&args.policy);
        say!("kept in {}: `derrl report {shown}` shows it", args.policy.join(FILE).display());
    }
    match report.verdict {
        Verdict::Proved => Ok(()),
        Verdict::Refuted => Err(Failure::No),
    }
}

/// Says at once, and not after an hour of work, that there is no place for a picture.
fn check_writable(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("cannot write {}: there is no folder {}", path.display(), folder.display());
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    Ok(())
}

/// All that was found, as `--json` prints it.
pub fn document(
    domain: &Domain,
    policy: &str,
    extent: &Extent,
    report: &Report,
    seconds: f64,
) -> anyhow::Result<Value> {
    let mut all = json!({
        "domain": domain.name,
        "policy": policy,
        "max_objects": extent.largest,
        "obstacles": extent.obstacles,
        "seconds": seconds,
        "summary": headline(report, domain),
        "remark": remark(report),
        "picture": report.counterexample.as_ref().map(film),
    });
    if let (Some(all), Value::Object(report)) = (all.as_object_mut(), serde_json::to_value(report)?) {
        all.extend(report);
    }
    Ok(all)
}

/// The verdict in a sentence.
fn headline(report: &Report, domain: &Domain) -> String {
    let unit = match domain.world.exhaustive() {
        Exhaustive::Sizes { unit, .. } => unit,
        Exhaustive::Never(_) => "objects",
    };
    let largest = report.sizes.last().map_or(0, |s| s.size);
    let instances = report.sizes.iter().fold(0u128, |sum, s| sum.saturating_add(s.instances));
    match report.verdict {
        Verdict::Proved => format!(
            "proved: in all {} instances of up to {largest} {unit} the policy gets there{}",
            big(instances),
            match report.ties {
                Ties::Worst => ", however ties are broken",
                Ties::Random => " with probability 1 if ties are broken at random",
            }
        ),
        Verdict::Refuted => "refuted: the policy does not always get there".to_string(),
    }
}

/// How often a refuted policy fails, and whether bad luck is to blame.
fn remark(report: &Report) -> Option<String> {
    let last = report.sizes.last().filter(|s| s.failing > 0 && report.verdict == Verdict::Refuted)?;
    let luck = match last.failing_by_bad_luck_only {
        0 => String::new(),
        n if n == last.failing => {
            ", all of them only if ties are broken badly for ever: at random, it gets there in the end"
                .to_string()
        }
        n => format!(", {} of them only if ties are broken badly for ever", big(n)),
    };
    let (failing, instances) = (big(last.failing), big(last.instances));
    Some(format!("{failing} of {instances} instances of {} fail{luck}", last.title))
}

fn show(report: &Report, domain: &Domain) -> String {
    let mut text = format!("{}\n", headline(report, domain));
    // Where chance breaks ties, a loop that it ends is no failure.
    let failing = if report.ties == Ties::Random { "luck needed" } else { "failing" };
    let titles =
        ["", "instances", "states", failing, "longest run", "worst excess", "mean", "random ties", "optimal"];
    let mut rows: Vec<Vec<String>> = vec![titles.map(str::to_string).to_vec()];
    for s in &report.sizes {
        let solved = s.failing < s.instances;
        let if_solved = |text: String| if solved { text } else { "-".to_string() };
        rows.push(vec![
            s.title.clone(),
            big(s.instances),
            thousands(s.states),
            big(s.failing),
            if_solved(s.longest_run.to_string()),
            if_solved(format!("+{}", s.excess.worst)),
            if_solved(format!("+{:.2}", s.excess.mean)),
            if_solved(format!("+{:.2}", s.excess.mean_random_ties)),
            if_solved(format!("{:.1}%", 100.0 * s.excess.optimal)),
        ]);
    }
    let _ = write!(text, "\n{}", columns(&rows, "  "));
    text.push_str("  (excess: actions beyond the fewest possible, with the worst ties, on average, and with random ties)\n");
    if let Some(worst) = &report.worst_case {
        let _ = write!(
            text,
            "\nworst case: {} actions where {} would do, in {}\n  {}\n",
            worst.actions,
            worst.fewest,
            worst.instance,
            list(&worst.facts, MOST_FACTS)
        );
    }
    if let Some(found) = &report.counterexample {
        text.push_str(&show_counterexample(found, report.ties));
    }
    if let Some(remark) = remark(report) {
        let _ = writeln!(text, "\n{remark}");
    }
    text
}

fn show_counterexample(found: &Counterexample, ties: Ties) -> String {
    let (what, how) = match (found.kind, ties) {
        (Kind::Loop, Ties::Worst) => ("a loop", "it comes back to where it was and can go on so for ever"),
        (Kind::Loop, Ties::Random) => {
            ("a loop", "it comes back to where it was, and no way of breaking ties leads out")
        }
        (Kind::DeadEnd, _) => ("a dead end", "there is no way from there to what is asked for"),
    };
    let shortest = if found.is_shortest { "shortest " } else { "" };
    let mut text = format!("\n{shortest}counterexample: {what} in {}\n", found.instance);
    let _ = writeln!(text, "  background: {}", list(&found.background, 12));
    for (i, step) in found.steps.iter().enumerate() {
        let ties = if step.ties > 1 { format!("   (one of {} that tie)", step.ties) } else { String::new() };
        let fewest = step.fewest.map_or_else(String::new, |n| format!("   {n} to go at best"));
        let mark = if i + 1 == found.wrong_step { ">" } else { " " };
        let _ = writeln!(text, "{mark} {}. {}{fewest}", i + 1, list(&step.facts, MOST_FACTS));
        let _ = writeln!(text, "     {}{ties}", step.action);
    }
    match found.back_to {
        Some(step) => {
            let _ = writeln!(text, "  back to step {step}: {how}");
        }
        None => {
            let _ = writeln!(text, "  {how}");
        }
    }
    let wrong = &found.steps[found.wrong_step - 1];
    let _ = writeln!(text, "\nit goes wrong at step {}, with {}", found.wrong_step, wrong.action);
    match &found.why {
        Some(m) => {
            let _ = writeln!(text, "  because {}{}", m.text, show_substitution(m));
        }
        None => text.push_str("  because no rule fires there: any action will do\n"),
    }
    if let Some(instead) = &found.instead {
        let _ = writeln!(text, "  {} would have come nearer", instead.action);
        text.push_str(&show_why_not(instead, Paint::none()));
    }
    text
}

/// A count in words that fit a line.
fn big(n: u128) -> String {
    match u64::try_from(n) {
        Ok(n) if n < 1_000_000_000_000_000 => thousands(n),
        _ => format!("{:.2e}", n as f64),
    }
}

/// What is kept of a verification under way, in the working folder.
struct Kept {
    path: PathBuf,
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    fingerprint: String,
    progress: Progress,
}

impl Kept {
    fn new(domain: &Domain, policy: &str, extent: &str) -> Kept {
        let version = env!("CARGO_PKG_VERSION");
        let fingerprint = [version, domain.world.name(), &domain.text, policy, extent].join("\0");
        let hash = sealed::fingerprint(fingerprint.bytes());
        let path = PathBuf::from("runs").join(format!("verify-{hash}.json"));
        Kept { path, fingerprint }
    }

    /// Where the last run of the same verification stopped; the beginning if it did not, or if nothing can be read.
    fn read(&self) -> Progress {
        let saved: Option<Saved> = std::fs::read_to_string(&self.path).ok().and_then(|text| open(&text).ok());
        match saved {
            Some(saved) if saved.fingerprint == self.fingerprint => {
                say!("going on from where the last run stopped ({})", self.path.display());
                saved.progress
            }
            _ => Progress::default(),
        }
    }

    /// There as a whole or not at all.
    fn write(&self, progress: &Progress) -> anyhow::Result<()> {
        let saved = Saved { fingerprint: self.fingerprint.clone(), progress: progress.clone() };
        let text = seal(&saved)?;
        make_folder(Path::new("runs"))?;
        write(&self.path, &text)
    }

    fn remove(&self) {
        // It is not there unless the work took long.
        let _ = std::fs::remove_file(&self.path);
    }
}
