//! What a verification found, in words, JSON and pictures.

use derrl_env::{Exhaustive, Extent, Scene, World};
use derrl_learn::{Report, SizeReport, Verdict, Violating};
use derrl_report::table::thousands;
use derrl_report::{Document, Marks, Picture, superscript};
use serde_json::{Value, json};

use crate::error::Error;

/// The states of the counterexample, drawn, for a page.
pub fn pictures(report: &Report) -> Vec<Document> {
    let Some(found) = &report.counterexample else { return Vec::new() };
    let drawn = |(i, scene): (usize, &Scene)| {
        let facts = found.steps.get(i).map_or(&[][..], |step| step.facts.as_slice());
        let marks = Marks::of(found.why.as_ref().filter(|_| i + 1 == found.wrong_step));
        Picture::new(scene, facts, &marks).document()
    };
    found.scenes.iter().take(MOST_PICTURES).enumerate().map(drawn).collect()
}

/// The states of a run that violates a property, drawn, for a page.
pub fn pictures_of_property(found: &Violating) -> Vec<Document> {
    let drawn = |((facts, _), scene): (&(Vec<String>, Option<String>), &Scene)| {
        Picture::new(scene, facts, &Marks::of(None)).document()
    };
    found.steps.iter().zip(&found.scenes).take(MOST_PICTURES).map(drawn).collect()
}

/// States of a counterexample that a page draws, at the most.
const MOST_PICTURES: usize = 24;

/// All that was found about a policy, as `verify --json` prints it.
pub fn document(
    domain: &str,
    world: &World,
    policy: &str,
    extent: &Extent,
    report: &Report,
    seconds: f64,
) -> Result<Value, Error> {
    let mut all = json!({
        "domain": domain,
        "policy": policy,
        "max_objects": extent.largest,
        "obstacles": extent.obstacles,
        "seconds": seconds,
        "summary": headline(report, world),
        "remark": remark(report),
    });
    if let (Some(all), Value::Object(report)) = (all.as_object_mut(), serde_json::to_value(report)?) {
        all.extend(report);
    }
    Ok(all)
}

/// The verdict in a sentence.
pub fn headline(report: &Report, world: &World) -> String {
    let largest = report.sizes.last().map_or(0, |s| s.size);
    let instances = report.sizes.iter().fold(0u128, |sum, s| sum.saturating_add(s.instances));
    let instances = big(instances);
    let which = match unit(world) {
        "sets of problems" => format!("{instances} given problems"),
        unit => format!("{instances} instances of up to {largest} {unit}"),
    };
    match report.verdict {
        Verdict::Proved => {
            format!("proved: in all {which}, the policy reaches the goal however ties are broken")
        }
        Verdict::ProvedIfTiesAreRandom => format!(
            "proved if ties are random: in all {which}, the policy reaches the goal with probability 1 when ties are \
             broken at random"
        ),
        Verdict::Refuted => "refuted: the policy does not always reach the goal".to_string(),
    }
}

/// How often a policy fails, and whether bad luck is to blame.
pub fn remark(report: &Report) -> Option<String> {
    let failing = |s: &SizeReport| s.failing - s.failing_by_bad_luck_only;
    match report.verdict {
        Verdict::Proved => None,
        Verdict::ProvedIfTiesAreRandom => {
            let last = report.sizes.iter().rev().find(|s| s.failing > 0)?;
            let (luck, all) = (big(last.failing), big(last.instances));
            Some(format!(
                "in {luck} of {all} instances of {}, an adversary who breaks ties could keep it from the goal for ever",
                last.title
            ))
        }
        Verdict::Refuted => {
            let last = report.sizes.last()?;
            let luck = match last.failing_by_bad_luck_only {
                0 => String::new(),
                n => format!("; {} more only if an adversary breaks ties", big(n)),
            };
            let (failing, all) = (big(failing(last)), big(last.instances));
            Some(format!(
                "{failing} of {all} instances of {} fail although ties are random{luck}",
                last.title
            ))
        }
    }
}

/// What the sizes of a world count.
pub fn unit(world: &World) -> &str {
    match world.exhaustive() {
        Exhaustive::Sizes { unit, .. } => unit,
        Exhaustive::Never(_) => "objects",
    }
}

/// A count that fits a line.
pub fn big(n: u128) -> String {
    match u64::try_from(n) {
        Ok(n) if n < 1_000_000_000 => thousands(n),
        _ => {
            let power = (n as f64).log10().floor();
            format!("{:.2} × 10{}", n as f64 / 10f64.powf(power), superscript(power as i32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::big;

    #[test]
    fn counts_are_written_in_full_as_far_as_they_can_be_read() {
        assert_eq!(big(999_999_999), "999,999,999");
        assert_eq!(big(1_630_000_000_000), "1.63 × 10¹²");
        assert_eq!(big(u128::MAX), "3.40 × 10³⁸");
    }
}
