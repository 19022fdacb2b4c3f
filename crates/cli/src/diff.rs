//! `derrl diff`.

use std::fmt::Write as _;

use derrl::policies::{another_policy, knows_domain, load_policy_beside};
use derrl_learn::{Everywhere, Side};
use derrl_report::table::{WIDTH, list, thousands, wrap};
use serde_json::json;

use crate::args::Diff;
use crate::explain::show_substitution;
use crate::extent::Meter;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::catch_interrupts;
use crate::verify::MOST_FACTS;

/// Compares two policies in every state up to a size.
pub fn run(args: &Diff) -> Outcome {
    let (first, domain, second) =
        if args.domain.is_none() && !knows_domain(&args.first) && args.second.is_dir() {
            // Only the second is a run, which knows its domain.
            let (second, mut domain) = load_policy_beside(
                &args.second,
                None,
                args.extent.untyped,
                &args.problems.asked(),
                Some(&args.first),
            )?;
            (another_policy(&args.first, &mut domain)?, domain, second)
        } else {
            let (first, mut domain) = load_policy_beside(
                &args.first,
                args.domain.as_deref(),
                args.extent.untyped,
                &args.problems.asked(),
                Some(&args.second),
            )?;
            let second = another_policy(&args.second, &mut domain)?;
            (first, domain, second)
        };
    let alphabet = &domain.alphabet;
    let extent = args.extent.extent(&domain, [&first, &second])?;
    let everywhere = Everywhere::new(alphabet, &domain.world, &extent, args.extent.threads())?;
    args.extent.check(everywhere.space())?;
    catch_interrupts();
    let mut meter = Meter::new(true);
    let compared = everywhere.compare(&first, &second, &mut meter);
    meter.finish();
    let Some(compared) = compared else {
        return Err(Failure::Interrupted("interrupted".to_string()));
    };
    if args.json {
        print_json(&json!({
            "domain": domain.name,
            "max_objects": extent.largest,
            "first": first.display(alphabet).to_string(),
            "second": second.display(alphabet).to_string(),
            "equivalent": compared.difference.is_none(),
            "states": compared.states,
            "difference": compared.difference,
        }))?;
    }
    let Some(found) = compared.difference else {
        if !args.json {
            print(&format!("equivalent: the same decision in all {} states\n", thousands(compared.states)));
        }
        return Ok(());
    };
    if !args.json {
        let facts = wrap(&list(&found.facts, MOST_FACTS), "  ", WIDTH);
        let mut text = format!("different, first in {}\n{facts}", found.instance);
        for (path, side) in [(&args.first, &found.first), (&args.second, &found.second)] {
            let _ = write!(text, "\n{}\n{}", path.display(), show(side));
        }
        print(&text);
    }
    Err(Failure::No)
}

fn show(side: &Side) -> String {
    if !side.fires {
        return "  no rule fires: any action may be chosen\n".to_string();
    }
    let mut text = format!("  {}\n", side.actions.join(", "));
    for m in &side.rules {
        let _ = writeln!(text, "  by {}{}", m.text, show_substitution(m));
    }
    text
}
