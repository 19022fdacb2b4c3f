//! Real packages: the files and the simulator of pddlgym, and the validator of unified-planning.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use derrl_env::{Env, Rng, Status, observe};
use derrl_logic::{Facts, legal_actions};
use derrl_pddl::{
    Actions, Domain, PddlEnv, Plan, Problems, Role, Simulator, Solvability, Task, Translation, load_domain,
    load_problem, problem_files, solvability,
};

/// The Python of the project's own tools, with pddlgym and unified-planning.
fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join(".tools/pddl/bin/python");
    let ready = Command::new(&python)
        .args([
            "-c",
            "import importlib.util, numpy, unified_planning; assert importlib.util.find_spec('pddlgym')",
        ])
        .output();
    assert!(
        ready.is_ok_and(|o| o.status.success()),
        "the tests need pddlgym and unified-planning; in the project's folder:\n  \
         python3 -m venv .tools/pddl && .tools/pddl/bin/pip install unified-planning==1.3.0 numpy && \
         .tools/pddl/bin/pip install --no-deps pddlgym==0.0.7"
    );
    python
}

/// The folder of pddlgym's PDDL files.
fn pddlgym() -> PathBuf {
    let code =
        "import importlib.util, os; print(os.path.dirname(importlib.util.find_spec('pddlgym').origin))";
    let output = Command::new(python()).args(["-c", code]).output().expect("Python runs");
    Path::new(String::from_utf8(output.stdout).expect("a path").trim()).join("pddl")
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real").join(name)
}

/// The domain files of pddlgym, each with the folders of its problems.
fn domains() -> Vec<(PathBuf, Vec<PathBuf>)> {
    let root = pddlgym();
    let mut files: Vec<PathBuf> = std::fs::read_dir(&root)
        .expect("pddlgym has files")
        .map(|e| e.expect("a file").path())
        .filter(|p| p.extension().is_some_and(|e| e == "pddl"))
        .collect();
    files.sort();
    let folders = |file: &PathBuf| {
        let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let both = [root.join(&stem), root.join(format!("{stem}_test"))];
        both.into_iter().filter(|f| f.is_dir()).collect()
    };
    files.iter().map(|f| (f.clone(), folders(f))).collect()
}

#[test]
fn the_files_of_pddlgym_load() {
    let (mut loaded, mut problems) = (0, 0);
    let mut refused: Vec<(String, String)> = Vec::new();
    for (file, folders) in domains() {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let domain = match load_domain(&file) {
            Ok(domain) => domain,
            Err(e) => {
                refused.push((name, e.message.clone()));
                continue;
            }
        };
        loaded += 1;
        for folder in folders {
            for problem in problem_files(&folder).expect("the folder has problems") {
                load_problem(&problem, &domain).unwrap_or_else(|e| panic!("{e}"));
                problems += 1;
            }
        }
    }
    // 72 domains and all of their problems. The others are left to chance, or have a parenthesis too few.
    println!("{loaded} domains, {problems} problems; refused: {refused:#?}");
    assert_eq!((loaded, problems), (72, 2963));
    let reasons: Vec<&str> = refused.iter().map(|r| r.1.as_str()).collect();
    assert_eq!(reasons.iter().filter(|r| **r == "an effect left to chance is not supported").count(), 6);
    assert_eq!(reasons.iter().filter(|r| **r == "this `(` is never closed").count(), 9);
    assert_eq!(reasons.len(), 15);
}

/// Random episodes as text for pddlgym: what is applicable and what not, and every state in between.
fn episodes(domain: &Arc<Domain>, file: &Path, folder: &Path, rng: &mut Rng, out: &mut String) {
    // The smallest problems: pddlgym takes its time.
    let mut problems = problem_files(folder).expect("the folder has problems");
    problems.sort_by_key(|p| std::fs::metadata(p).map_or(0, |m| m.len()));
    let Some(problem) = problems.first() else { return };
    let task = load_problem(problem, domain).unwrap_or_else(|e| panic!("{e}"));
    let mut simulator = Simulator::new(task.clone());
    let _ = writeln!(out, "D {}\nP {}", file.display(), problem.display());
    let name = |action: u32, args: &[u32]| {
        let shown = task.show_atom(&domain.schemas[action as usize].name, args);
        shown.trim_matches(['(', ')']).to_ascii_lowercase()
    };
    let mut actions = Actions::new();
    for _ in 0..6 {
        let mut facts = Vec::new();
        simulator.facts(&mut |p, args| {
            let predicate = &domain.predicates[p as usize];
            if predicate.role() != Role::Derived {
                facts.push(
                    task.show_atom(&predicate.name, args).trim_matches(['(', ')']).to_ascii_lowercase(),
                );
            }
        });
        let _ = writeln!(out, "S {}\nG {}", facts.join(";"), u8::from(simulator.reached()));
        simulator.legal(&mut actions);
        // One action that is not applicable, of the right types.
        for _ in 0..20 {
            let action = rng.below(domain.schemas.len()) as u32;
            let schema = &domain.schemas[action as usize];
            let pick = |kind: &derrl_pddl::Kind, rng: &mut Rng| {
                let fits: Vec<u32> = (0..task.size() as u32)
                    .filter(|&o| domain.types.belongs(&task.problem.objects[o as usize].types, *kind))
                    .collect();
                (!fits.is_empty()).then(|| fits[rng.below(fits.len())])
            };
            let args: Option<Vec<u32>> = schema.kinds[..schema.arity].iter().map(|k| pick(k, rng)).collect();
            if let Some(args) = args
                && !simulator.applicable(action, &args)
            {
                let _ = writeln!(out, "A 0 {}", name(action, &args));
                break;
            }
        }
        if actions.is_empty() {
            break;
        }
        let (action, args) = actions.get(rng.below(actions.len()));
        let _ = writeln!(out, "A 1 {}", name(action, args));
        simulator.apply(action, args);
    }
}

#[test]
fn random_play_agrees_with_pddlgym() {
    let python = python();
    let mut text = String::new();
    let mut rng = Rng::new(11, 0);
    for (file, folders) in domains() {
        if let (Ok(domain), Some(folder)) = (load_domain(&file), folders.first()) {
            episodes(&domain, &file, folder, &mut rng, &mut text);
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("episodes");
    std::fs::write(&path, text).expect("it can be written");
    // pddlgym walks over sets: the order is the same on every run.
    let output = Command::new(python)
        .env("PYTHONHASHSEED", "0")
        .arg(script("pddlgym_replay.py"))
        .arg(&path)
        .output()
        .expect("Python runs");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    assert!(output.status.success(), "{said}\n{errors}");
    let count = |word: &str| said.lines().filter(|l| l.starts_with(word)).count();
    // The one that it cannot step has a negated quantifier, which pddlgym says it does not handle.
    assert_eq!((count("agrees"), count("cannot")), (66, 1), "{said}");
}

/// Every domain as derrl's text: it parses, and what it says is legal is what the simulator says.
#[test]
fn the_domains_of_pddlgym_are_written_in_derrl() {
    let mut refused = Vec::new();
    let mut written = 0;
    for (file, folders) in domains() {
        let (Ok(domain), Some(folder)) = (load_domain(&file), folders.first()) else { continue };
        let mut problems = problem_files(folder).expect("the folder has problems");
        problems.sort_by_key(|p| std::fs::metadata(p).map_or(0, |m| m.len()));
        let task = load_problem(&problems[0], &domain).unwrap_or_else(|e| panic!("{e}"));
        let translation = match Translation::new(&domain, [task.as_ref()]) {
            Ok(translation) => translation,
            Err(e) => {
                refused.push(format!("{}: {}", domain.name, e.message));
                continue;
            }
        };
        let alphabet = translation.alphabet().unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let problems =
            Problems::new(&translation, &alphabet, vec![task], None).unwrap_or_else(|e| panic!("{e}"));
        let Ok(mut env) = PddlEnv::new(Arc::new(problems)) else { continue };
        let (mut rng, mut facts) = (Rng::new(12, 0), Facts::new(&alphabet));
        for _ in 0..10 {
            observe(&env, &mut facts);
            let mut legal = Vec::new();
            env.legal(&mut legal);
            let by_text = legal_actions(&facts, &alphabet, env.universe());
            assert!(by_text.is_none_or(|t| t == legal), "{}\n{}", domain.name, translation.text());
            let action = &legal[rng.below(legal.len())];
            if env.step(action.action, &action.args, &mut rng).status != Status::Running {
                break;
            }
        }
        written += 1;
    }
    println!("{written} domains; refused: {refused:#?}");
    assert!(refused.iter().all(|r| r.contains("would both be called")), "{refused:#?}");
    assert!(written >= 50, "{written} domains; refused: {refused:#?}");
}

#[test]
fn plans_are_accepted_by_unified_planning() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arguments: Vec<PathBuf> = Vec::new();
    let ipc = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ipc");
    let mut check = |domain: &Path, problem: &Path, task: &Arc<Task>, plan: &Plan| {
        let cost = plan.check(task).unwrap_or_else(|e| panic!("{e}")).cost;
        let file = folder.path().join(format!("plan{}", arguments.len()));
        std::fs::write(&file, plan.show(task, cost)).expect("it can be written");
        arguments.extend([domain.to_path_buf(), problem.to_path_buf(), file]);
    };
    let mut own = Vec::new();
    for generator in derrl_pddl::generate::GENERATORS {
        let (domain, problem) = (
            folder.path().join(format!("{}.pddl", generator.name)),
            folder.path().join(format!("{}-p.pddl", generator.name)),
        );
        std::fs::write(&domain, generator.domain).expect("it can be written");
        std::fs::write(&problem, generator.problem(2, 1)).expect("it can be written");
        own.push((domain, problem));
    }
    own.push((ipc.join("transport/domain.pddl"), ipc.join("transport/p1.pddl")));
    for (domain_file, problem) in &own {
        let domain = load_domain(domain_file).unwrap_or_else(|e| panic!("{e}"));
        let task = load_problem(problem, &domain).unwrap_or_else(|e| panic!("{e}"));
        let Solvability::Solvable(plan) = solvability(&task, 200_000) else {
            panic!("{} has a plan", domain.name)
        };
        check(domain_file, problem, &task, &plan);
    }
    let output =
        Command::new(python()).arg(script("validate.py")).args(&arguments).output().expect("Python runs");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let valid = said.lines().filter(|l| *l == "valid").count();
    assert!(output.status.success() && valid == own.len(), "{said}\n{errors}");
}
