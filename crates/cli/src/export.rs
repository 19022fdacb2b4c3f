//! `derrl export`.

use derrl::asked::Asked;
use derrl::policies::load_policy_with;
use derrl_export::{export, find};
use derrl_files::safe_file::write_named;
use serde_json::json;

use crate::args::Export;
use crate::failure::Outcome;
use crate::output::{print_file, print_json};

/// Writes a policy as a program of another language.
pub fn run(args: &Export) -> Outcome {
    let target = find(&args.to)?;
    let asked = Asked { shield: args.shield.clone(), ..Asked::default() };
    let (policy, domain) = load_policy_with(&args.policy, args.domain.as_deref(), args.untyped, &asked)?;
    let text = export(target, &policy, &domain.alphabet)?;
    if let Some(path) = &args.out {
        write_named(path, &text)?;
    }
    if args.json {
        print_json(&json!({
            "domain": domain.name,
            "target": target.name,
            "policy": policy.display(&domain.alphabet).to_string(),
            "text": text,
            "path": args.out,
        }))?;
    } else if args.out.is_none() {
        print_file(&text);
    }
    Ok(())
}
