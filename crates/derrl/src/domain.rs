//! Domains: a world, the language it is described in, and the text of both.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use derrl_env::{Error, Exhaustive, Fault, World, find_in};
use derrl_files::bounded::read_up_to;
use derrl_logic::{Alphabet, Source};
use derrl_pddl::generate::Generator;

use crate::asked::Asked;
use crate::pddl::{self, Files, Pddl};
use crate::worlds::worlds;

/// A domain: the world it speaks of, its alphabet, and the text of both.
#[derive(Clone)]
pub struct Domain {
    /// As it was asked for.
    pub name: String,
    /// The world.
    pub world: World,
    /// The text of the domain file.
    pub text: String,
    /// What it declares.
    pub alphabet: Arc<Alphabet>,
    /// What the world was made of, where it is a domain of PDDL.
    pub pddl: Option<Arc<Pddl>>,
}

impl Domain {
    /// A built-in domain by name, or the domain file of that path.
    pub fn load(name: &str, untyped: bool) -> anyhow::Result<Domain> {
        Domain::load_with(name, untyped, &Asked::default())
    }

    /// A domain of PDDL with its problems.
    pub fn of_pddl(
        name: &str,
        files: &Files,
        text: Option<(&str, &String)>,
        untyped: bool,
    ) -> anyhow::Result<Domain> {
        let pddl = Pddl::load(files)?;
        let world = pddl.world()?;
        let (file, text) = match text {
            Some((file, text)) => (file.to_string(), text.clone()),
            None => (format!("{}.pl", world.name()), world.domain().to_string()),
        };
        let mut alphabet = Alphabet::parse(&Source::new(file.clone(), text.clone()))?;
        if untyped {
            alphabet = alphabet.untyped();
        }
        let alphabet = Arc::new(alphabet);
        world.check(&alphabet).with_context(|| file)?;
        Ok(Domain { name: name.to_string(), world, text, alphabet, pddl: Some(pddl) })
    }

    /// A domain with the PDDL problems asked for.
    pub fn load_with(name: &str, untyped: bool, asked: &Asked) -> anyhow::Result<Domain> {
        if let Some(file) = pddl::domain_file(Path::new(name)) {
            let files = Files::find(Path::new(name), &file, asked)?;
            return Domain::of_pddl(name, &files, None, untyped)?.under(asked, untyped);
        }
        if !asked.train.is_empty() || !asked.test.is_empty() || asked.horizon.is_some() {
            bail!("--train, --test and --horizon are for PDDL: `{name}` is no .pddl file");
        }
        if Path::new(name).is_dir() {
            bail!("the folder {name} has no domain.pddl; `derrl new NAME` writes one to start from");
        }
        let looks_like_path = name.contains(['/', '\\', '.']);
        if !looks_like_path && !Path::new(name).is_file() {
            let world = find_in(worlds(), name).map_err(|e| {
                let like = if Generator::find(name).is_some() { "" } else { " --like gripper" };
                anyhow::anyhow!(
                    "{e}\n  a domain of your own is given by its path, as in ./{name}.pl or {name}/domain.pddl; \
                     to start one: derrl new {name}{like}"
                )
            })?;
            return Domain::parse(name, name, world.domain().to_string(), untyped)?.under(asked, untyped);
        }
        let source = read_source(Path::new(name))?;
        Domain::parse(name, &source.name, source.text, untyped)?.under(asked, untyped)
    }

    /// The domain with the rules that forbid of the file asked for, as if its own file held them.
    pub fn under(self, asked: &Asked, untyped: bool) -> anyhow::Result<Domain> {
        let Some(path) = &asked.shield else { return Ok(self) };
        let source = read_source(path)?;
        self.alphabet.read_shield(&source)?; // mistakes are shown in that file
        let text = format!("{}\n% From {}:\n{}\n", self.text.trim_end(), one_line(&source.name), source.text);
        let mut alphabet = Alphabet::parse(&Source::new(self.name.clone(), text.clone()))?;
        if untyped {
            alphabet = alphabet.untyped();
        }
        Ok(Domain { text, alphabet: Arc::new(alphabet), ..self })
    }

    /// The same for reading policies: these may say more than what is learned.
    pub fn open(mut self, policies: &[&Source]) -> anyhow::Result<Domain> {
        let text = self.world.domain_for(&self.text, policies)?;
        if text != self.text {
            let alphabet = Alphabet::parse(&Source::new(format!("{}.pl", self.world.name()), text))?;
            let is_untyped = self.alphabet.types.is_empty();
            self.alphabet = Arc::new(if is_untyped { alphabet.untyped() } else { alphabet });
        }
        Ok(self)
    }

    /// A domain from its text. `file` is named in errors.
    pub fn parse(name: &str, file: &str, text: String, untyped: bool) -> anyhow::Result<Domain> {
        let alphabet = Alphabet::parse(&Source::new(file, text.clone()))?;
        let Some(world) = alphabet.environment.as_deref() else {
            bail!(
                "{file} does not say which world it describes: add a line such as `:- environment(blocks).`"
            );
        };
        let world =
            find_in(worlds(), world).with_context(|| format!("{file}: in `:- environment({world}).`"))?;
        Domain::of_world(name, file, text, untyped, world)
    }

    /// The domain of a run in a world that this command does not have: one in Python, or in a crate of its own. All that needs no
    /// episode works; each of its tasks says what to do instead.
    pub fn elsewhere(
        name: &str,
        file: &str,
        text: String,
        untyped: bool,
        tasks: &[String],
    ) -> anyhow::Result<Domain> {
        let never = "it is a program of its own. For a world in Python: run = derrl.Run.load(folder, world), and then \
                     derrl.verify(run.policy, world), derrl.diff(run.policy, other, world) or \
                     derrl.simplify(run.policy, world)";
        let world = World::new(name, &text).with_context(|| file.to_string())?;
        let mut world = world.with_space(Exhaustive::Never(never.into()));
        for task in tasks {
            let fault = format!(
                "the world `{name}` is a program of its own, which this command cannot run. For a world in Python: \
                 run = derrl.Run.load(folder, world), and then derrl.evaluate(run.policy, world), \
                 derrl.verify(run.policy, world), run.report() or derrl.resume(world, folder)"
            );
            world = world.named_task(task.as_str(), move || Err(Error::World(Fault::new(fault.clone()))));
        }
        Domain::of_world(name, file, text, untyped, &world)
    }

    /// A domain of this world from its text. `file` is named in errors.
    pub fn of_world(
        name: &str,
        file: &str,
        text: String,
        untyped: bool,
        world: &World,
    ) -> anyhow::Result<Domain> {
        let mut alphabet = Alphabet::parse(&Source::new(file, text.clone()))?;
        if untyped {
            alphabet = alphabet.untyped();
        }
        let alphabet = Arc::new(alphabet);
        // The names in the file must be those of the world.
        world.check(&alphabet).with_context(|| file.to_string())?;
        Ok(Domain { name: name.to_string(), world: world.clone(), text, alphabet, pddl: None })
    }
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The text of a file, checked to be text.
pub fn read_source(path: &Path) -> anyhow::Result<Source> {
    let name = path.display().to_string();
    let bytes = read_up_to(path, Source::MAX_BYTES).with_context(|| format!("cannot read {name}"))?;
    Ok(Source::from_bytes(name, bytes)?)
}
