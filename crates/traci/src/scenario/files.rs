//! A scenario: a network with its traffic and an hour of the day, found by the name of a file or of a benchmark.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use roxmltree::Document;

use crate::demand::DemandSpec;
use crate::error::{Error, Result};
use crate::find::{Sumo, Surroundings};
use crate::layout::Layout;
use crate::network::{Lights, Network};
use crate::program::run;
use crate::scenario::net::{City, read_xml};
use crate::scratch::Scratch;
use crate::simulation::write_demand;

/// The public benchmark RESCO, as the Python package `sumo-rl` brings it.
pub const RESCO: [&str; 8] = [
    "cologne1",
    "cologne3",
    "cologne8",
    "ingolstadt1",
    "ingolstadt7",
    "ingolstadt21",
    "grid4x4",
    "arterial4x4",
];

/// The grids of the paper, which are made when they are asked for; their traffic is drawn anew for each seed.
pub const GRIDS: [&str; 2] = ["five", "eight"];

/// The command that installs the benchmark.
pub const INSTALL_RESCO: &str = "pip install sumo-rl==1.4.5";

/// A network with its traffic, from one second to another.
#[derive(Debug)]
pub struct Scenario {
    name: String,
    source: Source,
    city: Arc<City>,
    begin: u64,
    end: u64,
    vehicles: usize,
}

#[derive(Debug)]
enum Source {
    /// A configuration file, with the additional files it names, and the options of it that name files to write.
    File { config: PathBuf, additional: Vec<PathBuf>, outputs: Vec<String> },
    /// A network of our own, and its traffic.
    Grid { network: Network, demand: DemandSpec },
}

impl Scenario {
    /// The scenario of this name: a `.sumocfg` file, one of [`RESCO`], or one of [`GRIDS`].
    pub fn find(sumo: &Sumo, name: &str) -> Result<Self> {
        let path = Path::new(name);
        if path.is_file() {
            return Self::read(path);
        }
        if name.contains(['/', '\\', '.']) {
            return Err(Error::Invalid(format!("the scenario {name} is missing: name a .sumocfg file")));
        }
        if GRIDS.contains(&name) {
            let layout = if name == "five" { Layout::five() } else { Layout::eight() };
            return Self::grid(sumo, &layout, DemandSpec::default());
        }
        if !RESCO.contains(&name) {
            return Err(Error::Invalid(format!(
                "unknown scenario `{name}`: name a .sumocfg file, a grid ({}), or one of RESCO ({})",
                GRIDS.join(", "),
                RESCO.join(", ")
            )));
        }
        let folder = resco(sumo).ok_or_else(|| {
            Error::Invalid(format!(
                "the scenario `{name}` is one of the package sumo-rl, which was not found; install it with `{INSTALL_RESCO}` \
                 (looked beside SUMO in {}, in the folder {}, and in the packages of python3)",
                sumo.home.display(),
                crate::find::TOOLS
            ))
        })?;
        Self::read(&folder.join(name).join(format!("{name}.sumocfg")))
    }

    /// The scenario of a `.sumocfg` file.
    pub fn read(config: &Path) -> Result<Self> {
        let wrong = |reason: String| Error::Invalid(format!("{}: {reason}", config.display()));
        let text = read_xml(config)?;
        let document = Document::parse(&text).map_err(|e| wrong(e.to_string()))?;
        let value = |names: &[&str]| {
            let named = document.descendants().filter(|e| names.contains(&e.tag_name().name()));
            named.filter_map(|e| e.attribute("value").or_else(|| e.attribute("v"))).next_back()
        };
        let folder = config.parent().unwrap_or(Path::new(""));
        let net = value(&["net-file", "net", "n"]).ok_or_else(|| {
            wrong(
                "it names no network: a .sumocfg file has a line such as <net-file value=\"my.net.xml\"/>"
                    .into(),
            )
        })?;
        let net = folder.join(net);
        let listed = |names: &[&str]| -> Vec<PathBuf> {
            let files = value(names).unwrap_or_default().split([',', ' ']).map(str::trim);
            files.filter(|f| !f.is_empty()).map(|f| folder.join(f)).collect()
        };
        let additional = listed(&["additional-files", "additional", "a"]);
        let routes = listed(&["route-files", "routes", "r"]);
        for file in [&net].into_iter().chain(&additional).chain(&routes) {
            if !file.is_file() {
                return Err(wrong(format!("its file {} is missing", file.display())));
            }
        }
        let second = |name: &str, short: &str| -> Result<Option<u64>> {
            let Some(text) = value(&[name, short]) else { return Ok(None) };
            let seconds =
                seconds(text).ok_or_else(|| wrong(format!("{name} is {text:?}, which is no time")))?;
            Ok(u64::try_from(seconds).ok())
        };
        let begin = second("begin", "b")?.unwrap_or(0);
        let end = second("end", "e")?.filter(|&end| end > begin).ok_or_else(|| {
            wrong(format!(
                "it does not say when it ends: add a line such as <end value=\"{}\"/> to its <time>",
                begin + 3600
            ))
        })?;
        let outputs = document.descendants().filter(|e| e.has_attribute("value"));
        let outputs = outputs.map(|e| e.tag_name().name());
        let outputs = outputs.filter(|n| n.ends_with("-output") || *n == "netstate-dump" || *n == "netstate");
        let outputs = outputs.filter(|n| *n != "tripinfo-output").map(str::to_owned).collect();
        let city = Arc::new(City::read(&net, &additional)?);
        let name = config.file_stem().map_or_else(|| "scenario".into(), |s| s.to_string_lossy().into_owned());
        let config = config.to_owned();
        let mut vehicles = 0.0;
        for file in &routes {
            vehicles +=
                count(&read_xml(file)?, begin, end).map_err(|e| wrong(format!("{}: {e}", file.display())))?;
        }
        let source = Source::File { config, additional, outputs };
        let scenario = Self { name, source, city, begin, end, vehicles: vehicles as usize };
        scenario.check(&net)
    }

    /// A layout of ours, with seeded traffic.
    pub fn grid(sumo: &Sumo, layout: &Layout, demand: DemandSpec) -> Result<Self> {
        let network = Network::build(sumo, layout)?;
        let net = network.file(Lights::FixedTime).to_owned();
        let city = Arc::new(City::read(&net, &[])?);
        let (name, end) = (layout.name().to_owned(), u64::from(demand.horizon));
        let hours = f64::from(demand.horizon) / 3600.0;
        let vehicles = (demand.vehicles_per_hour * layout.len() as f64 * hours) as usize;
        let scenario = Self { name, source: Source::Grid { network, demand }, city, begin: 0, end, vehicles };
        scenario.check(&net)
    }

    fn check(self, net: &Path) -> Result<Self> {
        if self.city.lights.iter().any(super::net::Light::decides) {
            return Ok(self);
        }
        let reason = match self.city.lights.len() {
            0 => "it has no traffic lights".to_owned(),
            n => {
                format!("none of its {n} traffic lights has two green phases, so there is nothing to decide")
            }
        };
        Err(Error::Network { path: net.into(), reason })
    }

    /// Its name: that of the file, the benchmark or the grid.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its network.
    pub fn city(&self) -> &Arc<City> {
        &self.city
    }

    /// The first second.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// The last second.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many vehicles want to enter, about.
    pub fn vehicles(&self) -> usize {
        self.vehicles
    }

    /// The command line of an episode that writes its journeys to `trips`. `program` is a file with programs for the lights.
    /// What the configuration file would have SUMO write goes to `files` unless `outputs` are wanted.
    pub(crate) fn arguments(
        &self,
        seed: u64,
        trips: &Path,
        program: Option<&Path>,
        files: &Scratch,
        outputs: bool,
    ) -> Result<Vec<String>> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut all: Vec<String> = Vec::new();
        let mut option = |name: &str, value: String| all.extend([format!("--{name}"), value]);
        let mut further: Vec<String> = program.map(text).into_iter().collect();
        match &self.source {
            Source::File { config, additional, outputs: written } => {
                option("configuration-file", text(config));
                if program.is_some() {
                    further.splice(0..0, additional.iter().map(|f| text(f)));
                }
                for name in written.iter().filter(|_| !outputs) {
                    option(name, text(&files.path("unread.xml")));
                }
            }
            Source::Grid { network, demand } => {
                let (_, routes) = write_demand(demand, network, seed, files, 0)?;
                option("net-file", text(network.file(Lights::FixedTime)));
                option("route-files", text(&routes));
                option("begin", self.begin.to_string());
            }
        }
        if !further.is_empty() {
            option("additional-files", further.join(","));
        }
        // An installation may lack the schemas, and what is wrong with a file is said without them.
        for name in ["xml-validation", "xml-validation.net"] {
            option(name, "never".to_owned());
        }
        // SUMO reads its seed as a signed number of 32 bits.
        option("seed", (seed & 0x7fff_ffff).to_string());
        // A vehicle that waits for long is what we measure: it must not be lifted out of its jam.
        option("time-to-teleport", "-1".to_owned());
        option("tripinfo-output", text(trips));
        for name in [
            "tripinfo-output.write-unfinished",
            "tripinfo-output.write-undeparted",
            "no-step-log",
            "no-warnings",
        ] {
            option(name, "true".to_owned());
        }
        option("duration-log.disable", "true".to_owned());
        Ok(all)
    }
}

/// How many vehicles of a route file want to enter between two seconds. Those of flows are estimated.
fn count(text: &str, begin: u64, end: u64) -> std::result::Result<f64, String> {
    let document = Document::parse(text).map_err(|e| e.to_string())?;
    let (begin, end) = (begin as f64, end as f64);
    let mut total = 0.0;
    for element in document.root_element().children() {
        let second = |name: &str| element.attribute(name).and_then(seconds).map(|s| s as f64);
        match element.tag_name().name() {
            // Who enters at no given second is taken to enter.
            "vehicle" | "trip" => {
                total += f64::from(u8::from(second("depart").is_none_or(|t| (begin..end).contains(&t))));
            }
            "flow" => {
                let (from, to) = (second("begin").unwrap_or(begin), second("end").unwrap_or(end));
                let within = (to.min(end) - from.max(begin)).max(0.0);
                let number = |name: &str| element.attribute(name).and_then(|v| v.parse::<f64>().ok());
                let rate = number("vehsPerHour").or(number("vehsperhour")).map(|n| n / 3600.0);
                let rate = rate.or(number("period").map(|p| 1.0 / p)).or(number("probability"));
                let rate = rate.or(number("number").map(|n| n / (to - from).max(1.0)));
                total += within * rate.filter(|r| r.is_finite()).unwrap_or_default();
            }
            _ => {}
        }
    }
    Ok(total)
}

/// Seconds, or hours, minutes and seconds (with days before) in SUMO's way of writing them. Parts of a second are left out.
fn seconds(text: &str) -> Option<i64> {
    let mut total = 0.0;
    let parts: Vec<&str> = text.trim().split(':').collect();
    let units: &[f64] = match parts.len() {
        1 => &[1.0],
        3 => &[3600.0, 60.0, 1.0],
        4 => &[86400.0, 3600.0, 60.0, 1.0],
        _ => return None,
    };
    for (part, unit) in parts.iter().zip(units) {
        total += part.parse::<f64>().ok().filter(|n| n.is_finite())? * unit;
    }
    Some(total as i64)
}

/// The folder of the benchmark's scenarios.
fn resco(sumo: &Sumo) -> Option<PathBuf> {
    let inside = |package: &Path| {
        let folder = package.join("nets/RESCO");
        folder.is_dir().then_some(folder)
    };
    // Packages of one Python lie side by side.
    if let Some(found) = sumo.home.parent().and_then(|packages| inside(&packages.join("sumo_rl"))) {
        return Some(found);
    }
    let here = Surroundings::here();
    if let Some(tools) = &here.tools
        && let Some(found) = crate::find::packages(tools).iter().find_map(|all| inside(&all.join("sumo_rl")))
    {
        return Some(found);
    }
    let python = here.on_path("python3")?;
    let script = "import importlib.util as u; print(u.find_spec('sumo_rl').submodule_search_locations[0])";
    let output = run(Command::new(python).args(["-c", script]), Duration::from_secs(30)).ok()?;
    output.success.then(|| inside(Path::new(output.stdout.trim())))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_both_ways_of_writing_them() {
        assert_eq!(seconds("3600"), Some(3600));
        assert_eq!(seconds("25200.50"), Some(25200));
        assert_eq!(seconds("07:30:05"), Some(27005));
        assert_eq!(seconds("1:00:00:10"), Some(86410));
        assert_eq!(seconds("-1"), Some(-1));
        assert_eq!(seconds("noon"), None);
    }

    #[test]
    fn a_configuration_that_cannot_be_run_is_refused_with_the_reason() {
        let files = Scratch::new().unwrap();
        files.write("my.net.xml", "<net><junction id=\"a\" type=\"priority\"/></net>").unwrap();
        let net = "<net-file value=\"my.net.xml\"/>";
        let end = "<end value=\"3600\"/>";
        for (text, why) in [
            (format!("<c>{end}</c>"), "it names no network"),
            (format!("<c><net-file value=\"no.net.xml\"/>{end}</c>"), "no.net.xml is missing"),
            (format!("<c>{net}<route-files value=\"a.rou.xml\"/>{end}</c>"), "a.rou.xml is missing"),
            (format!("<c>{net}</c>"), "add a line such as <end value=\"3600\"/>"),
            (format!("<c>{net}<end value=\"soon\"/></c>"), "\"soon\", which is no time"),
            (format!("<c>{net}{end}</c>"), "it has no traffic lights"),
            ("<c>".to_owned(), "the root node was opened but never closed"),
        ] {
            let path = files.write("my.sumocfg", &text).unwrap();
            let error = Scenario::read(&path).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let packed = files.write("my.sumocfg.gz", "").unwrap();
        assert!(Scenario::read(&packed).unwrap_err().to_string().contains("gunzip"));
    }
}
