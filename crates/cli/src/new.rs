//! `derrl new`: a folder to start from.

use std::path::Path;

use anyhow::{Context, bail};
use derrl_pddl::generate::Generator;

use crate::args::New;
use crate::cli::{Outcome, print};
use crate::table::{WIDTH, wrap};

/// The domain to start from, where the name is none of those that have problems of their own.
const FIRST: &str = "gripper";
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
    let (files, next) = if args.rust { rust(name) } else { pddl(name, &args.sizes)? };
    for (file, text) in &files {
        write(&args.name.join(file), text)?;
    }
    let list: Vec<&str> = files.iter().map(|(file, _)| file.as_str()).collect();
    let written = wrap(&format!("{shown}: {}", list.join(", ")), "", WIDTH);
    print(&format!("{written}\nnext:\n{}", next.replace("NAME", &shown.to_string())));
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
    crate::safe_file::write(path, text)
}

type Files = Vec<(String, String)>;

/// A PDDL domain with problems, and a policy to compare with.
fn pddl(name: &str, sizes: &[u64]) -> anyhow::Result<(Files, &'static str)> {
    let generator =
        Generator::find(name).or_else(|| Generator::find(FIRST)).context("there is no generator")?;
    let rename =
        |text: &str| text.replace(&format!("domain {})", generator.name), &format!("domain {name})"));
    let mut files = vec![("domain.pddl".to_string(), rename(generator.domain))];
    let asked: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
    let test = if asked.is_empty() { TEST.to_vec() } else { asked };
    let mut seed = 0;
    for (folder, sizes) in [("train", TRAIN.to_vec()), ("test", test)] {
        for (i, size) in sizes.into_iter().enumerate() {
            seed += 1;
            files.push((format!("{folder}/p{}.pddl", i + 1), rename(&generator.problem(size, seed))));
        }
    }
    files.push(("by-hand.pl".to_string(), generator.policy.to_string()));
    let readme = README.replace("NAME", name).replace("ABOUT", generator.summary);
    files.push(("README.md".to_string(), readme));
    Ok((files, "  derrl train NAME\n"))
}

const README: &str = include_str!("../templates/pddl.md");

/// A crate with a world of its own.
fn rust(name: &str) -> (Files, &'static str) {
    // Where the sources of this very command still are where it was built, the crate uses them.
    let here = env!("CARGO_MANIFEST_DIR");
    let version = env!("CARGO_PKG_VERSION");
    let dependency = if Path::new(here).join("Cargo.toml").is_file() {
        format!("# From crates.io it is: derrl = \"{version}\"\nderrl = {{ path = {here:?} }}")
    } else {
        format!("derrl = \"{version}\"")
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
