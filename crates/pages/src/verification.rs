//! What is proved or refuted about the policy of a run: what `derrl verify` left in its folder, else what can be found out at once.

use std::sync::Arc;
use std::time::Instant;

use derrl_env::{Exhaustive, Extent, World};
use derrl_learn::{Monitor, NoMonitor, Progress, Verdict, constants, cores, estimate, verify};
use derrl_logic::{Alphabet, Policy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::findings::{document, pictures};
use crate::record::{Record, Subject};

/// A verification as the page has it.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Verification {
    /// It was done.
    Done {
        /// Whether it was done for the page, up to a small size.
        quick: bool,
        /// The command that finds the same, or more.
        command: String,
        /// What was found.
        #[serde(flatten)]
        found: Box<Document>,
    },
    /// It cannot be done, and this is why.
    Never {
        /// The reason.
        reason: String,
    },
}

/// What the page shows of a document that `derrl verify --json` prints.
#[derive(Serialize, Deserialize)]
pub struct Document {
    #[serde(skip_serializing)]
    policy: String,
    #[serde(skip_serializing)]
    max_objects: usize,
    #[serde(skip_serializing)]
    obstacles: Option<usize>,
    verdict: Verdict,
    summary: String,
    remark: Option<String>,
    sizes: Vec<Row>,
    worst_case: Option<WorstCase>,
    counterexample: Option<Counterexample>,
    /// The states of the counterexample, drawn.
    #[serde(default)]
    pictures: Vec<Value>,
    /// What was asked for beside the goal.
    #[serde(default)]
    properties: Vec<Asked>,
}

#[derive(Serialize, Deserialize)]
struct Asked {
    property: String,
    holds: bool,
    states: u64,
    counterexample: Option<Violating>,
}

/// A run that violates a property.
#[derive(Serialize, Deserialize)]
struct Violating {
    instance: String,
    starved: Option<String>,
    steps: Vec<(Vec<String>, Option<String>)>,
    #[serde(default)]
    left_out: usize,
    #[serde(default)]
    pictures: Vec<Value>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    title: String,
    instances: Count,
    states: u64,
    failing: Count,
    failing_by_bad_luck_only: Count,
    longest_run: u32,
    excess: Excess,
}

/// A count; beyond 64 bits, its digits.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Count {
    Small(u64),
    Large(String),
}

#[derive(Serialize, Deserialize)]
struct Excess {
    worst: u32,
    mean: f64,
    optimal: f64,
}

#[derive(Serialize, Deserialize)]
struct WorstCase {
    instance: String,
    facts: Vec<String>,
    actions: u32,
    fewest: u32,
}

#[derive(Serialize, Deserialize)]
struct Counterexample {
    instance: String,
    kind: String,
    steps: Vec<Step>,
    /// Steps that are not on the page.
    #[serde(default)]
    left_out: usize,
    back_to: Option<usize>,
    wrong_step: usize,
    why: Option<Why>,
    instead: Option<Instead>,
    is_shortest: bool,
}

#[derive(Serialize, Deserialize)]
struct Step {
    facts: Vec<String>,
    action: String,
    ties: usize,
}

#[derive(Serialize, Deserialize)]
struct Why {
    text: String,
    substitution: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct Instead {
    action: String,
}

/// States that a page looks at by itself, at the most: some hundredths of a second.
const MOST_STATES: f64 = 20_000.0;
/// Steps of a counterexample on a page, at the most.
const MOST_STEPS: usize = 40;

impl Verification {
    /// What is known about the policy of a run: what was kept of it, if that is about this policy, else what can be found out at
    /// once.
    pub fn of_run(record: &Record<'_>, notes: &mut Vec<String>) -> Verification {
        let subject = &record.subject;
        if let Exhaustive::Never(reason) = subject.world.exhaustive() {
            return Verification::Never { reason: reason.to_string() };
        }
        let which = if subject.world.is_chosen() { "--test" } else { "--max-objects" };
        let again = format!("derrl verify {} {which}", subject.place);
        let text = subject.policy.display(subject.alphabet).to_string();
        let kept =
            match record.verified.map(|kept| kept.ok().and_then(|kept| Document::read(kept.clone()).ok())) {
                None => None,
                Some(Some(found)) if found.policy == text => Some(found),
                Some(Some(_)) => {
                    notes.push(format!(
                        "verify.json is about another policy and left out: run `{again} N` again"
                    ));
                    None
                }
                Some(None) => {
                    notes.push(format!(
                        "verify.json is not what `derrl verify` writes and left out: run `{again} N` again"
                    ));
                    None
                }
            };
        let quick = kept.is_none();
        let Some(found) = kept else {
            return match Verification::of_policy(subject, &mut NoMonitor) {
                Verification::Done { found, .. } => {
                    Verification::Done { quick, command: format!("{again} N"), found }
                }
                Verification::Never { .. } if subject.world.is_chosen() => Verification::Never {
                    reason: format!("run `{again} PATH` to look at every state of problems that you choose"),
                },
                never @ Verification::Never { .. } => never,
            };
        };
        let which = if subject.world.is_chosen() { "PATH".to_string() } else { found.options() };
        Verification::Done { quick, command: format!("{again} {which}"), found: Box::new(found) }
    }

    /// What can be found out about a policy at once, unless the monitor stops it.
    pub fn of_policy(subject: &Subject<'_>, monitor: &mut dyn Monitor) -> Verification {
        let reason = match subject.world.exhaustive() {
            Exhaustive::Never(reason) => reason.to_string(),
            Exhaustive::Sizes { .. } => match at_once(subject, monitor) {
                Ok(Some(found)) => {
                    let command = "derrl verify POLICY".to_string();
                    return Verification::Done { quick: true, command, found: Box::new(found) };
                }
                Ok(None) => "it takes too long here".to_string(),
                Err(problem) => problem.to_string(),
            },
        };
        Verification::Never { reason }
    }
}

/// The largest extent that takes next to no time for these policies; none for worlds that cannot be walked.
pub fn small(world: &World, alphabet: &Arc<Alphabet>, policies: &[&Policy]) -> Result<Option<Extent>, Error> {
    let &Exhaustive::Sizes { range: (least, most), .. } = world.exhaustive() else { return Ok(None) };
    let named = constants(policies.iter().copied());
    let extent = |largest| Extent { largest, named: named.clone(), ..Extent::default() };
    let mut largest = least;
    while largest < most {
        let space = world.space(alphabet, &extent(largest + 1))?;
        if estimate(space.as_ref(), cores()).states > MOST_STATES {
            break;
        }
        largest += 1;
    }
    Ok(Some(extent(largest)))
}

/// Verifies up to the largest size that takes next to no time. `None` if the monitor stopped it.
fn at_once(subject: &Subject<'_>, monitor: &mut dyn Monitor) -> Result<Option<Document>, Error> {
    let Subject { policy, alphabet, world, .. } = *subject;
    // The states of a problem are not counted before they are walked, and may be many.
    let small = if subject.world.is_chosen() { None } else { small(world, alphabet, &[policy])? };
    let extent = small.ok_or(Error::NoSpace)?;
    let asked = derrl_learn::Subject { policy, alphabet, world, extent };
    let started = Instant::now();
    let Some(report) = verify(&asked, cores(), Progress::default(), monitor)? else { return Ok(None) };
    let seconds = started.elapsed().as_secs_f64();
    let text = policy.display(alphabet).to_string();
    let mut found = document(subject.domain, world, &text, &asked.extent, &report, seconds)?;
    found["pictures"] = serde_json::to_value(pictures(&report))?;
    Document::read(found).map(Some)
}

impl Document {
    /// Which instances, as the command line has it.
    fn options(&self) -> String {
        let obstacles = self.obstacles.map(|n| format!(" --obstacles {n}")).unwrap_or_default();
        format!("{}{obstacles}", self.max_objects)
    }

    /// A document of `derrl verify --json`, without what would make the page long.
    fn read(document: Value) -> Result<Document, Error> {
        let mut found: Document = serde_json::from_value(document)?;
        if let Some(example) = &mut found.counterexample {
            example.left_out = example.steps.len().saturating_sub(MOST_STEPS);
            example.steps.truncate(MOST_STEPS);
        }
        for example in found.properties.iter_mut().filter_map(|p| p.counterexample.as_mut()) {
            example.left_out = example.steps.len().saturating_sub(MOST_STEPS);
            example.steps.truncate(MOST_STEPS);
        }
        Ok(found)
    }
}
