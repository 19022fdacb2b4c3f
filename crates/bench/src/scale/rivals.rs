//! The same rules and states in the real SWI-Prolog and clingo.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use derrl_export::{asp_constant, asp_name, export, find, prolog_name};
use derrl_logic::syntax::Quoted;
use derrl_logic::{Alphabet, Constant, Decision, GroundAction, Object, Policy, Pred, Universe};

use crate::outside::{private_folder, python, said};

/// Seconds of the processor's time after which a rival is stopped, at each size.
pub const LIMIT: f64 = 20.0;

const UNIT: char = '\x1f';
const RECORD: &str = "\x1e";

/// A fact.
pub type Fact = (Pred, Vec<Object>);

/// A state as what changed since the one before, and what we decide there where it is asked.
#[derive(Debug, Default)]
pub struct Moment {
    pub gone: Vec<Fact>,
    pub come: Vec<Fact>,
    pub decision: Option<Decision>,
}

/// States of one universe, with the policy that decides there.
pub struct States<'a> {
    pub policy: &'a Policy,
    pub alphabet: &'a Alphabet,
    pub universe: &'a Universe,
    pub moments: &'a [Moment],
}

/// A program that decides too.
pub struct Rival {
    pub name: &'static str,
    pub version: String,
    program: PathBuf,
    language: &'static Language,
}

/// How a rival is spoken to.
struct Language {
    target: &'static str,
    predicate: fn(&str, usize) -> String,
    action: fn(&str) -> String,
    constant: fn(&Constant) -> String,
    /// The text of a state: facts gone, facts come, whether to decide.
    step: fn(&[String], &[String], bool) -> String,
    driver: (&'static str, &'static str),
    command: fn(&mut Command),
}

const PROLOG: Language = Language {
    target: "prolog",
    predicate: |n, a| Quoted(&prolog_name(n, a).unwrap_or_else(|| n.to_string())).to_string(),
    action: str::to_string,
    constant: ToString::to_string,
    step: |gone, come, ask| {
        format!("step([{}], [{}], {}).\n", gone.join(", "), come.join(", "), u8::from(ask))
    },
    driver: ("driver.pl", include_str!("driver.pl")),
    command: |c| {
        c.args(["-g", "main", "-t", "halt", "policy.pl", "driver.pl", "--"]);
    },
};

const ASP: Language = Language {
    target: "asp",
    predicate: |n, _| asp_name(n).unwrap_or_else(|| n.to_string()),
    action: |n| asp_name(n).unwrap_or_else(|| n.to_string()),
    constant: asp_constant,
    step: |gone, come, ask| format!("{}\t{}\t{}\n", gone.join(RECORD), come.join(RECORD), u8::from(ask)),
    driver: ("driver.py", include_str!("driver.py")),
    command: |c| {
        c.args(["driver.py", "policy.pl"]);
    },
};

/// Those that are installed: SWI-Prolog on PATH, clingo in the project's tools or in the Python on PATH.
pub fn installed() -> Vec<Rival> {
    let prolog = said("swipl".as_ref(), &["--version"]).map(|text| Rival {
        name: "SWI-Prolog",
        version: text
            .split_whitespace()
            .find(|w| w.starts_with(|c: char| c.is_ascii_digit()))
            .unwrap_or("")
            .to_string(),
        program: "swipl".into(),
        language: &PROLOG,
    });
    let clingo = python("export", "import clingo; print(clingo.__version__)").map(|(program, version)| {
        Rival { name: "clingo", version: version.trim().to_string(), program, language: &ASP }
    });
    prolog.into_iter().chain(clingo).collect()
}

impl Rival {
    /// The seconds of each of its decisions, in order; fewer than asked for where time ran out. It is an error if one of them
    /// is not ours.
    pub fn decide(&self, states: &States<'_>) -> anyhow::Result<Vec<f64>> {
        let language = self.language;
        let mut steps = String::new();
        for moment in states.moments {
            let facts = |facts: &[Fact]| facts.iter().map(|f| states.fact(f, language)).collect::<Vec<_>>();
            let ask = moment.decision.is_some();
            steps.push_str(&(language.step)(&facts(&moment.gone), &facts(&moment.come), ask));
        }
        let program = export(find(language.target)?, states.policy, states.alphabet)?;
        let (driver, driver_text) = language.driver;
        let files = [("policy.pl", program.as_str()), (driver, driver_text), ("steps", &steps)];
        let folder = private_folder(&files)?;
        let mut command = Command::new(&self.program);
        (language.command)(command.current_dir(folder.path()));
        let output = command.arg("steps").arg(LIMIT.to_string()).output();
        let output = output.with_context(|| format!("cannot run {}", self.name))?;
        if !output.status.success() {
            bail!("{} failed: {}", self.name, String::from_utf8_lossy(&output.stderr).trim());
        }
        let ours = states.moments.iter().filter_map(|m| m.decision.as_ref());
        let lines =
            String::from_utf8(output.stdout).with_context(|| format!("{} prints no text", self.name))?;
        lines.lines().zip(ours).map(|(line, ours)| self.compare(line, ours, states)).collect()
    }

    /// The seconds of a decision that is the same as ours.
    fn compare(&self, line: &str, ours: &Decision, states: &States<'_>) -> anyhow::Result<f64> {
        let mut fields = line.splitn(3, '\t');
        let mut number = || fields.next().and_then(|text| text.trim_matches('"').parse::<f64>().ok());
        let (Some(seconds), Some(value)) = (number(), number()) else {
            bail!("{} answers `{line}`", self.name);
        };
        let theirs: BTreeSet<&str> =
            fields.next().unwrap_or_default().split(RECORD).filter(|a| !a.is_empty()).collect();
        let shown: Vec<String> = ours.ties.iter().map(|a| states.action(a, self.language)).collect();
        ensure!(
            value == ours.value && theirs == shown.iter().map(String::as_str).collect(),
            "{} decides otherwise than we do: value {value} with {} actions, ours is {} with {}",
            self.name,
            theirs.len(),
            ours.value,
            shown.len()
        );
        Ok(seconds)
    }
}

impl States<'_> {
    fn fact(&self, (pred, args): &Fact, language: &Language) -> String {
        let name = (language.predicate)(&self.alphabet.predicate(*pred).name, args.len());
        let args: Vec<String> = args.iter().map(|&o| (language.constant)(self.universe.name(o))).collect();
        if args.is_empty() { name } else { format!("{name}({})", args.join(",")) }
    }

    /// An action as the drivers print it.
    fn action(&self, action: &GroundAction, language: &Language) -> String {
        let decl = self.alphabet.action(action.action);
        let mut text = (language.action)(&decl.name);
        for o in decl.written(&action.args) {
            let _ = write!(text, "{UNIT}{}", self.universe.name(o));
        }
        text
    }
}
