//! Every setting of training, with its unit and the paper's symbol.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::learner::Move;
use crate::settings::estimator::Estimator;
use crate::settings::named::named;
use crate::settings::tnorm::TNorm;

/// How semantic constraints act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ConstraintMode {
    /// L_sem is added to the loss (the paper).
    #[default]
    Soft,
    /// Violating bodies are never sampled, and L_sem is added too.
    Hard,
    /// Constraints are ignored (the ablation).
    Off,
}

/// Every constraint mode with its name.
pub const CONSTRAINT_MODES: [(ConstraintMode, &str); 3] =
    [(ConstraintMode::Soft, "soft"), (ConstraintMode::Hard, "hard"), (ConstraintMode::Off, "off")];

/// What is subtracted from a return to give the advantage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Baseline {
    /// The mean return of the other visits to the same state in the batch; where there are none, as for `Group`.
    #[default]
    State,
    /// The mean return of the rollouts from the same initial state.
    Group,
    /// Nothing (plain REINFORCE).
    None,
}

/// Every baseline with its name.
pub const BASELINES: [(Baseline, &str); 3] =
    [(Baseline::State, "state"), (Baseline::Group, "group"), (Baseline::None, "none")];

/// All settings of a training run. The defaults are the same for every domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
// Wide: each field is a setting, a line of a file of settings.
pub struct Config {
    /// How the gradient is estimated.
    pub estimator: Estimator,
    /// The fuzzy conjunction.
    pub tnorm: TNorm,
    /// How semantic constraints act.
    pub constraints: ConstraintMode,
    /// lambda_sem, the weight of L_sem.
    pub lambda_sem: f64,
    /// What is subtracted from returns.
    pub baseline: Baseline,
    /// gamma, the discount per step.
    pub gamma: f64,
    /// The temperature of the softmax over F while training (the paper's is 1).
    pub temperature: f64,
    /// eta, Adam's learning rate.
    pub learning_rate: f64,
    /// Updates of theta in one restart.
    pub updates: usize,
    /// Decisions per update, at the least: episodes are run to their end.
    pub batch: usize,
    /// Episodes that start from the same instance.
    pub group: usize,
    /// Sizes of the hidden layers of R_theta; none is the paper's single layer with 2m parameters. Atoms share the parameters
    /// of hidden layers, which ask for a lower learning rate (0.03, say).
    pub hidden: Vec<usize>,
    /// Expected number of atoms in a body at the start.
    pub body_prior: f64,
    /// Standard deviation of the initial logits around that prior.
    pub init_noise: f64,
    /// The pull of the logits towards their prior, fading to zero over training.
    pub pull: f64,
    /// How strongly probabilities are driven to 0 or 1 at the end of training.
    pub sharpen: f64,
    /// Whether each rule learns a confidence that multiplies its value and so orders the rules.
    pub confidence: bool,
    /// Restarts of the gradient in one run, at the most.
    pub restarts: usize,
    /// Whether the first restarts are short, with updates of a 32nd of `batch` decisions, and later ones longer and longer; every second one
    /// sees farther.
    pub doubling: bool,
    /// Parts of the search that are switched off, by their names (such as `gradient`, `explore`, `invent`).
    #[serde(deserialize_with = "moves")]
    pub without: Vec<Move>,
}

/// A list of moves, or their names joined by commas.
fn moves<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Move>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "it must be a list of moves, such as explore,draw")]
    enum Moves {
        List(Vec<String>),
        Joined(String),
    }
    let names = match Moves::deserialize(deserializer)? {
        Moves::List(names) => names,
        Moves::Joined(names) => names.split(',').map(|name| name.trim().to_string()).collect(),
    };
    let names = names.into_iter().filter(|name| !name.is_empty());
    names.map(Move::try_from).collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

impl Default for Config {
    fn default() -> Config {
        Config {
            estimator: Estimator::StraightThrough,
            tnorm: TNorm::default(),
            constraints: ConstraintMode::default(),
            lambda_sem: 0.1,
            baseline: Baseline::default(),
            gamma: 0.95,
            temperature: 0.1,
            learning_rate: 0.3,
            updates: 150,
            batch: 1024,
            group: 32,
            hidden: Vec::new(),
            body_prior: 2.0,
            init_noise: 0.1,
            pull: 0.003,
            sharpen: 0.01,
            confidence: true,
            restarts: 32,
            doubling: true,
            without: Vec::new(),
        }
    }
}

impl Config {
    /// The first setting outside its range, as an error.
    pub fn check(&self) -> Result<(), Error> {
        let number = |ok: bool, name: &'static str, value: f64, range: &'static str| {
            let value = if value.abs() < 1e9 { value.to_string() } else { format!("{value:e}") };
            if ok { Ok(()) } else { Err(Error::Setting { name, value, range }) }
        };
        // Beyond these, sums overflow.
        let positive = |name, value: f64| {
            number(value > 0.0 && value <= 1000.0, name, value, "a number above 0, 1000 at the most")
        };
        let from_zero =
            |name, value: f64| number((0.0..=1000.0).contains(&value), name, value, "from 0 to 1000");
        let count = |name, value: usize| {
            number(
                (1..=1_000_000_000).contains(&value),
                name,
                value as f64,
                "a whole number from 1 to 1000000000",
            )
        };
        // e^(1 / temperature) has to be a number, and so has the sum of many of them.
        number(
            (0.02..=1000.0).contains(&self.temperature),
            "temperature",
            self.temperature,
            "from 0.02 to 1000",
        )?;
        positive("learning_rate", self.learning_rate)?;
        positive("body_prior", self.body_prior)?;
        from_zero("lambda_sem", self.lambda_sem)?;
        from_zero("init_noise", self.init_noise)?;
        from_zero("pull", self.pull)?;
        from_zero("sharpen", self.sharpen)?;
        number((0.0..=1.0).contains(&self.gamma), "gamma", self.gamma, "from 0 to 1")?;
        for (name, value) in [
            ("updates", self.updates),
            ("batch", self.batch),
            ("group", self.group),
            ("restarts", self.restarts),
        ] {
            count(name, value)?;
        }
        let widest = self.hidden.iter().copied().max().unwrap_or(1);
        let narrow = self.hidden.iter().copied().min().unwrap_or(1);
        number(
            (1..=4096).contains(&widest) && narrow >= 1,
            "hidden",
            widest as f64,
            "a list of sizes from 1 to 4096",
        )
    }
}

named!(ConstraintMode, "constraint mode", CONSTRAINT_MODES);
named!(Baseline, "baseline", BASELINES);
