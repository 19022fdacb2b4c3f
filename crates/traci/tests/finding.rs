//! Where SUMO is looked for, with installations made of links to the real one. Unix only, for the links.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use derrl_traci::{INSTALL, Sumo, Surroundings};

fn real() -> Sumo {
    Sumo::find().unwrap_or_else(|error| panic!("{error}"))
}

/// Writes a program, by way of a shell: were it ever open for writing here, another test that forks in that
/// moment would keep it "busy".
fn write_program(path: &Path, text: &str) {
    let script = "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let status = Command::new("sh").args(["-c", script, "sh"]).arg(path).arg(text).status().unwrap();
    assert!(status.success());
}

/// A folder that goes away with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("derrl-traci-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        // As the operating system would resolve it, to compare with.
        Self(path.canonicalize().unwrap())
    }

    fn folder(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// An installation below this folder.
    fn install(&self, home: &str) -> PathBuf {
        let bin = self.folder(home).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let real = real();
        symlink(&real.sumo, bin.join("sumo")).unwrap();
        symlink(&real.netconvert, bin.join("netconvert")).unwrap();
        self.0.join(home)
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_program(&path, text);
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn check(found: derrl_traci::Result<Sumo>, home: &Path) {
    let found = found.unwrap();
    assert_eq!(found.home, home);
    assert_eq!(found.sumo, home.join("bin/sumo"));
    assert_eq!(found.netconvert, home.join("bin/netconvert"));
    assert_eq!(found.version, real().version, "the version is that the program tells");
}

#[test]
fn sumo_home_comes_first() {
    let place = Place::new("home");
    let (home, _) = (place.install("home"), place.install(".tools/sumo"));
    let here =
        Surroundings { sumo_home: Some(home.clone()), tools: Some(place.folder(".tools")), path: None };
    check(Sumo::find_in(&here), &home);
}

#[test]
fn the_tools_that_are_named_come_next() {
    let place = Place::new("tools");
    let home = place.install(".tools/sumo/lib/python3.11/site-packages/sumo");
    // A SUMO_HOME that holds no programs, as Debian's, does not end the search.
    let sumo_home = Some(place.folder("empty"));
    let here = Surroundings { sumo_home, tools: Some(place.folder(".tools")), path: None };
    check(Sumo::find_in(&here), &home);
}

#[test]
fn a_wheel_installed_into_a_folder_of_tools_is_found() {
    let place = Place::new("target");
    let home = place.install(".tools/sumo/sumo");
    let here = Surroundings { tools: Some(place.folder(".tools")), ..Surroundings::default() };
    check(Sumo::find_in(&here), &home);
}

/// Whoever plants a program in a folder gets it run by nobody who happens to work there.
#[test]
fn tools_in_the_current_folder_are_not_run() {
    let place = Place::new("planted");
    place.script(".tools/sumo/bin/sumo", "#!/bin/sh\ntouch ran\necho Eclipse SUMO sumo 1.28.0\n");
    place.script(".tools/sumo/bin/netconvert", "#!/bin/sh\ntouch ran\n");
    let planted = place.0.join("ran");
    let program = std::env::current_exe().unwrap();
    let mut search = std::process::Command::new(program);
    search.args(["--exact", "a_search_by_itself", "--ignored"]).current_dir(&place.0);
    search.env_remove("DERRL_TOOLS").env_remove("SUMO_HOME").env("PATH", "/nowhere").env("NO_COLOR", "1");
    let output = search.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("1 passed"), "{said}");
    assert!(!planted.exists(), "a planted program was run");
}

/// Run by the test above, in a folder with planted tools.
#[test]
#[ignore = "needs the folder that another test makes"]
fn a_search_by_itself() {
    assert!(Sumo::find().unwrap_err().to_string().contains("SUMO_HOME, which is not set, PATH"));
}

#[test]
fn a_binary_on_the_path_is_used() {
    let place = Place::new("path");
    let bin = place.folder("bin");
    symlink(real().sumo, bin.join("sumo")).unwrap();
    let here = Surroundings { path: Some(bin.into()), ..Surroundings::default() };
    let found = Sumo::find_in(&here).unwrap();
    assert_eq!(found.sumo, real().sumo.canonicalize().unwrap());
}

#[test]
fn the_wrapper_of_the_wheel_leads_to_the_binary() {
    let place = Place::new("wrapper");
    let home = place.install("site-packages/sumo");
    let python = place.script("python", &format!("#!/bin/sh\necho {}\n", home.display()));
    place.script("bin/sumo", &format!("#!{}\nfrom sumo import sumo\n", python.display()));
    let here = Surroundings { path: Some(place.folder("bin").into()), ..Surroundings::default() };
    check(Sumo::find_in(&here), &home);
}

#[test]
fn the_packages_of_python_come_last() {
    let place = Place::new("python");
    let home = place.install("site-packages/sumo");
    place.script("bin/python3", &format!("#!/bin/sh\necho {}\n", home.display()));
    let here = Surroundings { path: Some(place.folder("bin").into()), ..Surroundings::default() };
    check(Sumo::find_in(&here), &home);
}

#[test]
fn without_any_the_error_tells_how_to_get_one() {
    let place = Place::new("nothing");
    // A python without the wheel.
    place.script("bin/python3", "#!/bin/sh\nexit 1\n");
    let here = Surroundings {
        sumo_home: Some(place.folder("home")),
        path: Some(place.folder("bin").into()),
        tools: Some(place.0.clone()),
    };
    let error = Sumo::find_in(&here).unwrap_err().to_string();
    assert!(error.contains(INSTALL), "{error}");
}

#[test]
fn a_program_that_is_not_sumo_is_named() {
    let place = Place::new("impostor");
    let bin = place.folder("bin");
    for name in ["sumo", "netconvert"] {
        symlink("/bin/echo", bin.join(name)).unwrap();
    }
    let here = Surroundings { sumo_home: Some(place.0.clone()), ..Surroundings::default() };
    let error = Sumo::find_in(&here).unwrap_err().to_string();
    assert!(error.contains("bin/sumo does not tell its version"), "{error}");
}
