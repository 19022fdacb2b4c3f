//! `derrl verify`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use derrl::domain::{Domain, read_source};
use derrl::policies::load_policy_with;
use derrl::runs::PROOF;
use derrl::runs::RunFolder;
use derrl::shell::quoted;
use derrl_files::safe_file::{make_folder, write};
use derrl_files::sealed::{self, open, seal};
use derrl_learn::{
    Counterexample, Kind, Progress, Property, PropertyReport, Report, ShieldReport, Subject, Verdict,
    certify, check_property, verify,
};
use derrl_logic::{Alphabet, Policy, Pred};
use derrl_pages::{big, document, headline, pictures, pictures_of_property, remark, unit};
use derrl_report::table::{WIDTH, columns, list, thousands, wrap};
use derrl_report::{Theme, strip, strip_of_property};
use serde::{Deserialize, Serialize};

use crate::args::Verify;
use crate::explain::{show_substitution, show_why_not};
use crate::extent::Meter;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::picture::{self, Format};
use crate::progress::catch_interrupts;
use crate::say;
use crate::style::Paint;

/// Facts of a state that are shown, at the most: some worlds have long backgrounds that never differ.
pub const MOST_FACTS: usize = 40;

/// Proves a policy up to a size, or shows how it fails.
pub fn run(args: &Verify) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.extent.untyped, &args.problems.asked())?;
    let alphabet = &domain.alphabet;
    let extent = args.extent.extent(&domain, [&policy])?;
    let format =
        args.picture.as_ref().map(|path| Format::of(path, &[Format::Svg, Format::Png])).transpose()?;
    let made = domain.world.space(alphabet, &extent)?;
    args.extent.check(made.as_ref())?;
    let text = policy.display(alphabet).to_string();
    let kept = Kept::new(&domain, &format!("{:?}", policy.rules), &format!("{extent:?}"));
    let from = kept.read();

    catch_interrupts();
    let started = Instant::now();
    let mut failed = None;
    let mut save = |progress: &Progress| failed = kept.write(progress).err();
    let mut meter = Meter::saving(&mut save);
    let subject = Subject { policy: &policy, alphabet, world: &domain.world, extent };
    let report = verify(&subject, args.extent.threads(), from, &mut meter)?;
    meter.finish();
    let Some(report) = report else {
        return Err(match failed {
            Some(error) => error.into(),
            None => Failure::Interrupted("interrupted; the same command resumes here".to_string()),
        });
    };
    kept.remove();
    let seconds = started.elapsed().as_secs_f64();
    if let Some(path) = &args.certificate {
        write_certificate(path, &subject, &report)?;
    }
    let properties = check_properties(args, &subject)?;
    let drawn = report.counterexample.as_ref().map(strip).or_else(|| {
        properties.iter().find_map(|p| Some(strip_of_property(&p.property, p.counterexample.as_ref()?)))
    });
    if let (Some(path), Some(format), Some(drawn)) = (&args.picture, format, &drawn) {
        let theme = if args.dark { Theme::Dark } else { Theme::Light };
        picture::save(drawn, path, format, theme)?;
    }
    let mut document = document(&domain.name, &domain.world, &text, &subject.extent, &report, seconds)?;
    if !properties.is_empty() {
        document["properties"] = serde_json::to_value(&properties)?;
    }
    if args.json {
        print_json(&document)?;
    } else {
        let paint = Paint::stdout(args.color);
        print(&show(&report, &domain, paint));
        for property in &properties {
            print(&show_property(property, paint));
        }
        if args.picture.is_some() && drawn.is_none() {
            say!("there is no counterexample to draw");
        }
    }
    // A run is verified in its own domain; whatever else is asked of its policy is no part of the run.
    if args.policy.is_dir() && args.domain.is_none() {
        document["pictures"] = serde_json::to_value(pictures(&report))?;
        for (at, found) in properties.iter().enumerate() {
            let Some(found) = &found.counterexample else { continue };
            document["properties"][at]["counterexample"]["pictures"] =
                serde_json::to_value(pictures_of_property(found))?;
        }
        RunFolder::open(&args.policy)?.write(PROOF, &format!("{document}\n"))?;
        let shown = quoted(&args.policy);
        say!("kept in {}: `derrl report {shown}` shows it", args.policy.join(PROOF).display());
    }
    match report.verdict {
        _ if properties.iter().any(|p| !p.holds) => Err(Failure::No),
        Verdict::Proved => Ok(()),
        Verdict::ProvedIfTiesAreRandom if args.ties == "random" => Ok(()),
        Verdict::ProvedIfTiesAreRandom | Verdict::Refuted => Err(Failure::No),
    }
}

/// Whether what was asked for beside the goal holds.
fn check_properties(args: &Verify, subject: &Subject<'_>) -> Result<Vec<PropertyReport>, Failure> {
    let mut asked: Vec<Property> = args.within.map(Property::Within).into_iter().collect();
    let mut alphabet = Arc::clone(subject.alphabet);
    let mut waits = Vec::new();
    if let Some(path) = &args.property {
        let defined = Defined::read(path, &alphabet, args.served_within.is_some())?;
        asked.extend(defined.bad.into_iter().map(Property::Never));
        (waits, alphabet) = (defined.waits, defined.alphabet);
    }
    asked.extend(args.served_within.map(|within| Property::Served { within, waits }));
    let subject = Subject { alphabet: &alphabet, extent: subject.extent.clone(), ..*subject };
    let mut meter = Meter::new(false);
    let mut reports = Vec::new();
    for property in &asked {
        let Some(report) = check_property(&subject, property, &mut meter)? else {
            return Err(Failure::Interrupted("interrupted".to_string()));
        };
        reports.push(report);
    }
    meter.finish();
    Ok(reports)
}

/// What a file of properties defines.
struct Defined {
    bad: Vec<Pred>,
    waits: Vec<Pred>,
    alphabet: Arc<Alphabet>,
}

impl Defined {
    /// Reads a file. With `served`, it may define what waits; else only what is bad matters.
    fn read(path: &Path, alphabet: &Arc<Alphabet>, served: bool) -> anyhow::Result<Defined> {
        let (rules, extended) = Policy::read(&read_source(path)?, alphabet)?;
        let new = alphabet.predicates.len() as u32..extended.predicates.len() as u32;
        let called = |start: &str| -> Vec<Pred> {
            new.clone().map(Pred).filter(|p| extended.predicate(*p).name.starts_with(start)).collect()
        };
        let (bad, waits) = (called("bad"), called("waiting"));
        let file = path.display();
        if !rules.rules.is_empty() {
            bail!(
                "{file} holds rules for actions\n  write what must never hold, as in `:- derived(bad).` and `bad :- on(X, Y), on(Y, X).`"
            );
        }
        if bad.is_empty() && (waits.is_empty() || !served) {
            bail!(
                "{file} defines nothing whose name begins with `bad`\n  write what must never hold, as in `:- derived(bad).` and \
                 `bad :- on(X, Y), on(Y, X).`"
            );
        }
        if !waits.is_empty() && !served {
            bail!("{file} defines what waits\n  say how long it may: --served-within N");
        }
        if let Some(wide) = waits.iter().map(|p| extended.predicate(*p)).find(|p| p.args.len() != 1) {
            bail!("{file}: `{}/{}` is not about one object, which is what waits", wide.name, wide.args.len());
        }
        Ok(Defined { bad, waits, alphabet: extended })
    }
}

fn show_property(report: &PropertyReport, paint: Paint) -> String {
    let name = &report.property;
    let Some(found) = &report.counterexample else {
        let states = thousands(report.states);
        return format!("\n{}: in all {states} states that can be reached\n", paint.good(name));
    };
    let mut text =
        format!("\n{}", paint.bad(&wrap(&format!("not {name}, in {}", found.instance), "", WIDTH)));
    if let Some(starved) = &found.starved {
        text.push_str(&wrap(&format!("{starved} is left out"), "  ", WIDTH));
    }
    text.push_str(&wrap(&format!("background: {}", list(&found.background, 12)), "  ", WIDTH));
    for (i, (facts, action)) in found.steps.iter().enumerate() {
        let facts = wrap(&format!("{}. {}", i + 1, list(facts, MOST_FACTS)), "     ", WIDTH);
        let _ = write!(text, "  {}", facts.trim_start());
        if let Some(action) = action {
            let _ = writeln!(text, "     {action}");
        }
    }
    text
}

/// Writes what somebody else needs to check a report.
fn write_certificate(path: &Path, subject: &Subject<'_>, report: &Report) -> Outcome {
    let mut text = String::new();
    let mut failed = None;
    let mut meter = Meter::new(false);
    let done = certify(subject, report, &mut meter, &mut |line| match serde_json::to_string(line) {
        Ok(line) => {
            text.push_str(&line);
            text.push('\n');
        }
        Err(error) => failed = Some(error),
    })?;
    meter.finish();
    if let Some(error) = failed {
        return Err(anyhow::Error::from(error).into());
    }
    if !done {
        return Err(Failure::Interrupted("interrupted; no certificate was written".to_string()));
    }
    write(path, &text)?;
    say!("the certificate is in {}; checker/check.py checks it", path.display());
    Ok(())
}

fn show(report: &Report, domain: &Domain, paint: Paint) -> String {
    let headline = headline(report, &domain.world);
    let (verdict, rest) = headline.split_once(':').unwrap_or((&headline, ""));
    let verdict = match report.verdict {
        Verdict::Proved => paint.good(verdict),
        Verdict::ProvedIfTiesAreRandom => paint.unsure(verdict),
        Verdict::Refuted => paint.bad(verdict),
    };
    let mut text = format!("{verdict}:\n{}", wrap(rest.trim(), "  ", WIDTH));
    let luck = report.sizes.iter().any(|s| s.failing_by_bad_luck_only > 0);
    let titles = ["", "instances", "states", "failing", "luck", "longest", "excess", "mean", "optimal"];
    let keep = |column: &usize| luck || *column != 4;
    let row = |cells: [String; 9]| -> Vec<String> {
        (0..9).filter(keep).map(|column| cells[column].clone()).collect()
    };
    let mut rows: Vec<Vec<String>> = vec![row(titles.map(str::to_string))];
    for s in &report.sizes {
        let solved = s.failing < s.instances;
        let if_solved = |text: String| if solved { text } else { "-".to_string() };
        rows.push(row([
            s.size.to_string(),
            big(s.instances),
            thousands(s.states),
            big(s.failing - s.failing_by_bad_luck_only),
            big(s.failing_by_bad_luck_only),
            if_solved(s.longest_run.to_string()),
            if_solved(format!("+{}", s.excess.worst)),
            if_solved(format!("+{:.2}", s.excess.mean)),
            format!("{:.1}%", 100.0 * s.excess.optimal),
        ]));
    }
    let _ = write!(
        text,
        "\n  {}\n{}",
        paint.faint(&format!("by {}:", unit(&domain.world))),
        columns(&rows, "  ")
    );
    let legend = "longest: most actions of a run; excess and mean: actions beyond the fewest possible, at worst and on average, \
                  with the worst ties, where it does not fail; optimal: the share of all instances solved in the fewest actions";
    let luck = if luck { "; luck: instances that fail only if an adversary breaks ties" } else { "" };
    text.push_str(&paint.faint(&wrap(&format!("({legend}{luck})"), "  ", WIDTH)));
    if let Some(worst) = &report.worst_case {
        let head = format!(
            "worst case: {} actions where {} would do, in {}",
            worst.actions, worst.fewest, worst.instance
        );
        let _ = write!(text, "\n{}", wrap(&head, "", WIDTH));
        text.push_str(&wrap(&list(&worst.facts, MOST_FACTS), "  ", WIDTH));
    }
    if let Some(found) = &report.counterexample {
        text.push_str(&show_counterexample(found, report.verdict));
    }
    if let Some(shield) = &report.shield {
        let _ = write!(text, "\n{}", show_shield(shield, paint));
    }
    if let Some(remark) = remark(report) {
        let _ = write!(text, "\n{}", wrap(&remark, "", WIDTH));
    }
    text
}

/// Whether what is forbidden is ever done, asked apart from whether the goal is reached.
fn show_shield(shield: &ShieldReport, paint: Paint) -> String {
    let kept = match shield.corrected_states {
        0 => "the policy alone would not do what is forbidden either".to_string(),
        n => format!("in {} states the policy alone could do what is forbidden", thousands(n)),
    };
    match &shield.violation {
        None => format!("{}: {kept}\n", paint.good("never violated")),
        Some(found) => {
            let states = thousands(shield.forced_states);
            let head =
                format!("violated: every action is forbidden in {states} states, as in {}", found.instance);
            let facts = wrap(&list(&found.facts, MOST_FACTS), "  ", WIDTH);
            format!("{}{facts}", paint.bad(&wrap(&head, "", WIDTH)))
        }
    }
}

fn show_counterexample(found: &Counterexample, verdict: Verdict) -> String {
    let (what, how) = match (found.kind, verdict) {
        (Kind::Loop, Verdict::Refuted) => {
            ("a loop", "it comes back to where it was, and no way of breaking ties leads out")
        }
        (Kind::Loop, _) => {
            ("a loop", "an adversary who breaks ties can repeat this for ever; chance ends it")
        }
        (Kind::DeadEnd, _) => ("a dead end", "no actions lead from there to the goal"),
    };
    let name = if verdict == Verdict::Refuted { "counterexample" } else { "unlucky run" };
    let shortest = if found.is_shortest { "shortest " } else { "" };
    let mut text =
        format!("\n{}", wrap(&format!("{shortest}{name}: {what} in {}", found.instance), "", WIDTH));
    text.push_str(&wrap(&format!("background: {}", list(&found.background, 12)), "  ", WIDTH));
    for (i, step) in found.steps.iter().enumerate() {
        let ties = if step.ties > 1 { format!("   (one of {} that tie)", step.ties) } else { String::new() };
        let fewest = step.fewest.map_or_else(String::new, |n| format!("   {n} to go at best"));
        let mark = if i + 1 == found.wrong_step { ">" } else { " " };
        let facts = wrap(&format!("{}. {}{fewest}", i + 1, list(&step.facts, MOST_FACTS)), "     ", WIDTH);
        let _ = write!(text, "{mark} {}", facts.trim_start());
        let _ = writeln!(text, "     {}{ties}", step.action);
    }
    match found.back_to {
        Some(step) => {
            text.push_str(&wrap(&format!("back to step {step}: {how}"), "  ", WIDTH));
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
        None => text.push_str("  because no rule fires there: any action may be chosen\n"),
    }
    if let Some(instead) = &found.instead {
        let _ = writeln!(text, "  {} would have come nearer", instead.action);
        text.push_str(&show_why_not(instead, Paint::none()));
    }
    text
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
