//! Where SUMO is on this machine, and which version it is.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use crate::error::INSTALL;
use crate::error::{Error, Result, Said};
use crate::program::{Output, run};

/// The version of SUMO that our numbers were measured with; other versions drive vehicles differently.
pub const PINNED: &str = "1.28.0";

/// The variable that names a folder of tools.
pub const TOOLS: &str = "DERRL_TOOLS";

/// Long enough for a cold start from a slow disk.
const PATIENCE: Duration = Duration::from_secs(30);

/// An installed SUMO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sumo {
    /// The folder with SUMO's data, which its programs expect in `SUMO_HOME`.
    pub home: PathBuf,
    /// The simulator itself: never the Python wrapper that the wheel puts on PATH.
    pub sumo: PathBuf,
    /// The program that builds networks.
    pub netconvert: PathBuf,
    /// The version the simulator says it has, such as `1.28.0`.
    pub version: String,
}

/// The surroundings in which SUMO is looked for.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The value of `SUMO_HOME`.
    pub sumo_home: Option<PathBuf>,
    /// The value of `PATH`.
    pub path: Option<OsString>,
    /// The value of `DERRL_TOOLS`: a folder of tools. No other folder is looked into: what lies about where a user happens to work may be
    /// anybody's program.
    pub tools: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn here() -> Self {
        Self {
            sumo_home: std::env::var_os("SUMO_HOME").filter(|v| !v.is_empty()).map(PathBuf::from),
            path: std::env::var_os("PATH"),
            tools: std::env::var_os(TOOLS).filter(|v| !v.is_empty()).map(PathBuf::from),
        }
    }

    pub(crate) fn on_path(&self, program: &str) -> Option<PathBuf> {
        let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(self.path.as_ref()?)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&name))
            .find(|file| file.is_file())
    }
}

impl Sumo {
    /// The SUMO of this machine: that of `SUMO_HOME`, else one in the folder `DERRL_TOOLS`, else the one on `PATH`, else the
    /// wheel `eclipse-sumo` of the `python3` on `PATH`.
    ///
    /// Runs the program once to ask for its version (about 50 ms).
    pub fn find() -> Result<Self> {
        Self::find_in(&Surroundings::here())
    }

    /// As [`find`](Self::find), in given surroundings.
    pub fn find_in(place: &Surroundings) -> Result<Self> {
        let mut searched = Vec::new();
        if let Some(home) = &place.sumo_home {
            searched.push(format!("SUMO_HOME={}", home.display()));
            if let Some(found) = Candidate::at_home(home) {
                return found.ask();
            }
        } else {
            searched.push("SUMO_HOME, which is not set".to_owned());
        }
        if let Some(tools) = &place.tools {
            searched.push(format!("{TOOLS}={}", tools.display()));
            if let Some(found) = Candidate::in_tools(tools) {
                return found.ask();
            }
        }
        searched.push("PATH".to_owned());
        if let Some(program) = place.on_path("sumo") {
            // Debian's package keeps the data in SUMO_HOME and the programs elsewhere.
            let found = match interpreter(&program) {
                Some(python) => Candidate::in_wheel(&python),
                None => Candidate::of_program(&program, place.sumo_home.as_deref()),
            };
            if let Some(found) = found {
                return found.ask();
            }
        }
        searched.push("the packages of python3".to_owned());
        if let Some(found) = place.on_path("python3").and_then(|python| Candidate::in_wheel(&python)) {
            return found.ask();
        }
        Err(Error::NotFound { searched: searched.join(", ") })
    }

    /// A command that runs one of SUMO's programs, in plain English, whatever the language of the user: we read some of it.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("SUMO_HOME", &self.home).env("LC_ALL", "C");
        command
    }

    /// The program that shows the traffic in a window.
    pub fn window(&self) -> Result<PathBuf> {
        let program = self.sumo.parent().map_or_else(PathBuf::new, |bin| exe(bin, "sumo-gui"));
        if program.is_file() {
            return Ok(program);
        }
        Err(Error::Program {
            program,
            reason: "is missing: this SUMO has no window".into(),
            stderr: Said::default(),
        })
    }

    /// Whether this is the version our numbers were measured with.
    pub fn is_pinned(&self) -> bool {
        self.version == PINNED
    }
}

impl fmt::Display for Sumo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SUMO {} ({})", self.version, self.sumo.display())
    }
}

/// Programs that are there, but not asked for their version yet.
struct Candidate {
    home: PathBuf,
    sumo: PathBuf,
    netconvert: PathBuf,
}

impl Candidate {
    fn at_home(home: &Path) -> Option<Self> {
        let bin = home.join("bin");
        let found =
            Self { home: home.to_owned(), sumo: exe(&bin, "sumo"), netconvert: exe(&bin, "netconvert") };
        (found.sumo.is_file() && found.netconvert.is_file() && interpreter(&found.sumo).is_none())
            .then_some(found)
    }

    /// A SUMO in a folder of tools: unpacked there, or in a Python environment there.
    fn in_tools(tools: &Path) -> Option<Self> {
        rooms(tools).iter().find_map(|room| {
            let wheels =
                folders(&room.join("lib")).into_iter().map(|python| python.join("site-packages/sumo"));
            // `pip install --target` puts the package right there.
            [room.clone(), room.join("sumo")].into_iter().chain(wheels).find_map(|home| Self::at_home(&home))
        })
    }

    fn of_program(sumo: &Path, home: Option<&Path>) -> Option<Self> {
        // PATH may hold a link into an installation that keeps its data beside its programs.
        let sumo = sumo.canonicalize().ok()?;
        let bin = sumo.parent()?.to_owned();
        let prefix = bin.parent()?;
        let shared = prefix.join("share/sumo");
        let home =
            home.map(Path::to_owned).unwrap_or(if shared.is_dir() { shared } else { prefix.to_owned() });
        let netconvert = exe(&bin, "netconvert");
        netconvert.is_file().then_some(Self { home, sumo, netconvert })
    }

    /// The wheel `eclipse-sumo` among the packages of a Python.
    fn in_wheel(python: &Path) -> Option<Self> {
        let script = "import importlib.util as u; print(u.find_spec('sumo').submodule_search_locations[0])";
        let output = run(Command::new(python).args(["-c", script]), PATIENCE).ok()?;
        output.success.then(|| Self::at_home(Path::new(output.stdout.trim())))?
    }

    fn ask(self) -> Result<Sumo> {
        let Self { home, sumo, netconvert } = self;
        let failed = |reason: String, stderr: String| Error::Program {
            program: sumo.clone(),
            reason,
            stderr: Said(stderr),
        };
        let output = run(Command::new(&sumo).arg("--version").env("SUMO_HOME", &home), PATIENCE)
            .map_err(|reason| failed(reason, String::new()))?;
        match version_in(&output) {
            Some(version) => Ok(Sumo { home, netconvert, version, sumo: sumo.clone() }),
            None => Err(failed("does not tell its version".into(), output.stderr)),
        }
    }
}

/// The version in "Eclipse SUMO sumo 1.28.0" or "Eclipse SUMO sumo Version 1.15.0".
fn version_in(output: &Output) -> Option<String> {
    let line = output.stdout.lines().next()?;
    let word = line.contains("SUMO").then(|| line.split_whitespace().last())??;
    let word = word.trim_start_matches('v');
    word.starts_with(|c: char| c.is_ascii_digit()).then(|| word.to_owned())
}

fn exe(folder: &Path, program: &str) -> PathBuf {
    folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX))
}

/// The program that interprets a script, or `None` for a real binary.
fn interpreter(program: &Path) -> Option<PathBuf> {
    use std::io::Read;
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = String::from_utf8_lossy(start.strip_prefix(b"#!")?).lines().next()?.trim().to_owned();
    let mut words = line.split_whitespace();
    let first = words.next()?;
    // "#!/usr/bin/env python3" names the interpreter in its second word.
    let name = if first.ends_with("/env") { words.next()? } else { first };
    Some(PathBuf::from(name))
}

/// A folder of tools, and the folders in it.
fn rooms(tools: &Path) -> Vec<PathBuf> {
    [vec![tools.to_owned()], folders(tools)].concat()
}

/// The folders of Python's packages in a folder of tools.
pub(crate) fn packages(tools: &Path) -> Vec<PathBuf> {
    let libraries = rooms(tools).into_iter().flat_map(|room| folders(&room.join("lib")));
    libraries.map(|python| python.join("site-packages")).collect()
}

/// The folders in a folder, in order of name.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_found_in_empty_surroundings() {
        let error = Sumo::find_in(&Surroundings::default()).unwrap_err().to_string();
        assert!(error.contains(INSTALL), "{error}");
        assert!(error.contains("SUMO_HOME, which is not set, PATH, the packages of python3"), "{error}");
    }

    #[test]
    fn a_wrong_home_is_named() {
        let place = Surroundings { sumo_home: Some("/no/such/sumo".into()), ..Surroundings::default() };
        let error = Sumo::find_in(&place).unwrap_err().to_string();
        assert!(error.contains("SUMO_HOME=/no/such/sumo"), "{error}");
    }

    #[test]
    fn versions_old_and_new_are_read() {
        let said = |text: &str| {
            version_in(&Output { success: true, stdout: text.to_owned(), stderr: String::new() })
        };
        assert_eq!(said("Eclipse SUMO sumo 1.28.0\n Build features: Linux").as_deref(), Some("1.28.0"));
        assert_eq!(said("Eclipse SUMO sumo Version 1.15.0\n").as_deref(), Some("1.15.0"));
        assert_eq!(said("Eclipse SUMO sumo v1_19_0+0412-abc").as_deref(), Some("1_19_0+0412-abc"));
        assert_eq!(said("GNU bash, version 5.2"), None);
        assert_eq!(said(""), None);
    }

    #[test]
    fn the_install_command_installs_the_pinned_version() {
        assert!(INSTALL.ends_with(PINNED));
    }
}
