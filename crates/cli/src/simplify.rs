//! `derrl simplify`.

use std::fmt::Write as _;

use derrl::policies::load_policy_with;
use derrl_files::safe_file::write_named;
use derrl_learn::Everywhere;
use derrl_logic::{Alphabet, Policy};
use derrl_report::table::thousands;
use serde_json::json;

use crate::args::Simplify;
use crate::extent::Meter;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::catch_interrupts;
use crate::say;

/// Removes what makes no difference up to a size.
pub fn run(args: &Simplify) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.extent.untyped, &args.problems.asked())?;
    let alphabet = &domain.alphabet;
    let extent = args.extent.extent(&domain, [&policy])?;
    let everywhere = Everywhere::new(alphabet, &domain.world, &extent, args.extent.threads())?;
    args.extent.check(everywhere.space())?;
    catch_interrupts();
    let mut meter = Meter::new(false);
    let pruned = everywhere.prune(&policy, &mut meter);
    meter.finish();
    let Some(pruned) = pruned else {
        return Err(Failure::Interrupted("interrupted".to_string()));
    };
    let simpler = text(&pruned.policy, alphabet);
    if let Some(path) = &args.out {
        write_named(path, &simpler)?;
    }
    if args.json {
        print_json(&json!({
            "domain": domain.name,
            "max_objects": extent.largest,
            "policy": simpler,
            "removed": pruned.removed,
            "states": pruned.states,
            "path": args.out,
        }))?;
        return Ok(());
    }
    for removed in &pruned.removed {
        say!("removed: {removed}");
    }
    match pruned.removed.len() {
        0 => say!("nothing can be removed"),
        _ => say!("no decision changes in any of {} states", thousands(pruned.states)),
    }
    if args.out.is_none() {
        print(&simpler);
    }
    Ok(())
}

/// The policy as text, with values to as many digits as it takes to keep their order. What it defines for itself comes first.
fn text(policy: &Policy, alphabet: &Alphabet) -> String {
    let mut text = policy.display_definitions(alphabet, false).to_string();
    for rule in &policy.rules {
        let line = rule.display(alphabet).to_string();
        let clause = rule.display_clause(alphabet).to_string();
        let value = line.strip_suffix(&clause).and_then(|value| value.strip_suffix("::"));
        let is_exact = value.is_some_and(|value| value.parse() == Ok(rule.weight));
        let whole = if is_exact { line } else { format!("{}::{clause}", rule.weight) };
        let _ = writeln!(text, "{whole}");
    }
    text
}
