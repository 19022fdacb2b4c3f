//! `derrl plan`.

use derrl::asked::Asked;
use derrl::pddl::why_unsolved;
use derrl::policies::load_policy_with;
use derrl_files::safe_file::write_named;
use serde_json::json;

use crate::args::Plan;
use crate::failure::{Failure, Outcome};
use crate::output::{print_file, print_json};

/// Writes what a policy does in a problem as a plan.
pub fn run(args: &Plan) -> Outcome {
    let asked = Asked {
        test: vec![args.problem.clone()],
        horizon: args.horizon,
        shield: args.shield.clone(),
        ..Asked::default()
    };
    let (policy, domain) = load_policy_with(&args.policy, args.domain.as_deref(), false, &asked)?;
    let Some(pddl) = &domain.pddl else {
        return Err(
            anyhow::anyhow!("`plan` is for PDDL: give the domain file, as in --domain domain.pddl").into()
        );
    };
    let name = args.problem.display().to_string();
    // In the folder of a domain a task is called by its path there.
    let Some((task, _)) = pddl.files.test.first() else {
        return Err(anyhow::anyhow!("{name}: say which problem to plan for").into());
    };
    let (task, played) = pddl.play_one(&policy, &domain.alphabet, task, args.seed)?;
    let plan = played.plan.show(&task, played.cost);
    if !played.solved {
        let why = why_unsolved(&task, played.plan.steps.len());
        return Err(Failure::Broken(format!("{name} was not solved: {why}")));
    }
    // What is written is checked by the rules of PDDL, not by what the policy believes.
    let checked = played.plan.check(&task)?;
    if let Some(path) = &args.out {
        write_named(path, &plan)?;
    }
    if args.json {
        let steps: Vec<&str> = plan.lines().filter(|line| line.starts_with('(')).collect();
        print_json(
            &json!({"problem": name, "solved": true, "steps": checked.steps, "cost": checked.cost, "plan": steps}),
        )?;
    } else if args.out.is_none() {
        print_file(&plan);
    }
    Ok(())
}
