//! `derrl new`: a folder to start from.

use std::path::Path;

use anyhow::{Context, bail};
use derrl_pddl::generate::{GENERATORS, Generator};
use derrl_report::table::{WIDTH, wrap};
use serde_json::json;

use crate::args::New;
use crate::failure::Outcome;
use crate::output::{print, print_json};

/// Sizes of the problems to train on and, unless others are asked for, to test on. Each is drawn from a seed: its number.
const TRAIN: [usize; 8] = [1, 2, 2, 3, 3, 4, 4, 5];
const TEST: [usize; 3] = [8, 12, 20];

/// Writes the folder.
pub fn run(args: &New) -> Outcome {
    let shown = args.name.display();
    let Some(name) = args.name.file_name().and_then(|n| n.to_str()).filter(|n| is_name(n)) else {
        return Err(anyhow::anyhow!(
            "`{shown}` is no name for a domain: it starts with a small letter, then letters, digits, `-` and `_`"
        )
        .into());
    };
    if args.name.exists() {
        return Err(anyhow::anyhow!("{shown} exists already: choose another name").into());
    }
    let (files, next) = if args.rust { rust(name) } else { pddl(name, args)? };
    for (file, text) in &files {
        write(&args.name.join(file), text)?;
    }
    let next = next.replace("NAME", &shown.to_string());
    if args.json {
        let paths: Vec<_> = files.iter().map(|(file, _)| args.name.join(file)).collect();
        print_json(&json!({"folder": args.name, "files": paths, "next": next.trim()}))?;
        return Ok(());
    }
    let list: Vec<&str> = files.iter().map(|(file, _)| file.as_str()).collect();
    let written = wrap(&format!("{shown}: {}", list.join(", ")), "", WIDTH);
    print(&format!("{written}\nnext:\n{next}"));
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let Some(folder) = path.parent() else { bail!("{} is no file", path.display()) };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    derrl_files::safe_file::write(path, text)
}

type Files = Vec<(String, String)>;

/// The generator that a name or `--like` asks for.
fn generator(name: &str, like: Option<&str>) -> anyhow::Result<&'static Generator> {
    let asked = like.unwrap_or(name);
    Generator::find(asked).with_context(|| {
        let known: Vec<&str> = GENERATORS.iter().map(|g| g.name).collect();
        format!(
            "there is no planning domain called `{asked}` to start from\n\
             known: {}\n\
             `derrl new {name} --like gripper` starts a domain of your own from one of these,\n\
             `derrl new {name} --rust` a world in Rust; from nothing, write {name}/domain.pddl and problems in {name}/train",
            known.join(", ")
        )
    })
}

/// A PDDL domain with problems, and a policy to compare with.
fn pddl(name: &str, args: &New) -> anyhow::Result<(Files, &'static str)> {
    let generator = generator(name, args.like.as_deref())?;
    let rename =
        |text: &str| text.replace(&format!("domain {})", generator.name), &format!("domain {name})"));
    let mut files = vec![("domain.pddl".to_string(), rename(generator.domain))];
    let asked: Vec<usize> = args.sizes.iter().map(|&size| size as usize).collect();
    let sizes = generator.smallest..=generator.largest;
    if let Some(size) = asked.iter().find(|size| !sizes.contains(size)) {
        let Generator { name, smallest, largest, unit, .. } = generator;
        bail!("--sizes {size}: {name} has problems of {smallest} to {largest} {unit}");
    }
    let test = if asked.is_empty() { TEST.to_vec() } else { asked };
    let mut seed = 0;
    for (folder, sizes) in [("train", TRAIN.to_vec()), ("test", test)] {
        for (i, size) in sizes.into_iter().enumerate() {
            seed += 1;
            files.push((format!("{folder}/p{}.pddl", i + 1), rename(&generator.problem(size, seed))));
        }
    }
    let mut readme = README.replace("NAME", name).replace("ABOUT", generator.summary);
    if let Some(policy) = generator.policy {
        files.push(("by-hand.pl".to_string(), policy.to_string()));
    } else {
        readme = readme.split_inclusive('\n').filter(|line| !line.contains("by-hand.pl")).collect();
    }
    files.push(("README.md".to_string(), readme));
    Ok((files, "  derrl train NAME\n"))
}

const README: &str = include_str!("../templates/pddl.md");

/// A crate with a world of its own.
fn rust(name: &str) -> (Files, &'static str) {
    // Where the sources of this very command still are where it was built, the crate uses them.
    let here = env!("CARGO_MANIFEST_DIR");
    let version = env!("CARGO_PKG_VERSION");
    let dependency = match Path::new(here).parent().map(|crates| crates.join("derrl")) {
        Some(library) if library.join("Cargo.toml").is_file() => format!(
            "# From crates.io they are: derrl = \"{version}\" and derrl-cli = \"{version}\"\n\
             derrl = {{ path = {:?} }}\nderrl-cli = {{ path = {here:?} }}",
            library.display().to_string()
        ),
        _ => format!("derrl = \"{version}\"\nderrl-cli = \"{version}\""),
    };
    let module = name.replace('-', "_");
    let fill =
        |text: &str| text.replace("DEPENDENCY", &dependency).replace("MODULE", &module).replace("NAME", name);
    let file = |path: &str, text: &str| (path.to_string(), fill(text));
    let files = vec![
        file("Cargo.toml", include_str!("../templates/Cargo.toml.txt")),
        file("src/lib.rs", include_str!("../templates/lib.rs.txt")),
        file("src/main.rs", include_str!("../templates/main.rs.txt")),
        file("tests/contract.rs", include_str!("../templates/contract.rs.txt")),
    ];
    (files, "  cd NAME && cargo run --release -- train\n")
}
