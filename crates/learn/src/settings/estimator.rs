//! How the gradient of the return with respect to theta is estimated: a table.
//!
//! The paper samples a hard rule vector at every step and says that theta is trained "by calculating the gradients
//! of the loss function with respect to weight vectors". Taken to the letter this hardly learns (see DESIGN.md), so the
//! other rows differ in when rules are sampled, which value acts, and which function is differentiated.

use crate::settings::named::named;

/// A row of the table of estimators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Estimator {
    /// As the paper words it: F is the weighted t-norm of the sampled body, differentiated through its weights.
    Paper,
    /// One rule sample an episode, credited by the score function, grad log p(b).
    Score,
    /// No sampling: F = max_phi Pr[body is within the mask of phi], differentiated exactly.
    Relaxed,
    /// A hard sample at every step acts, as in the paper; the gradient is that of the relaxed F.
    #[default]
    StraightThrough,
}

/// Every estimator with its name.
pub const ESTIMATORS: [(Estimator, &str); 4] = [
    (Estimator::Paper, "paper"),
    (Estimator::Score, "score"),
    (Estimator::Relaxed, "relaxed"),
    (Estimator::StraightThrough, "straight-through"),
];

/// When rule bodies are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// At every step.
    Step,
    /// At the start of every episode.
    Episode,
    /// Never.
    Never,
}

/// Which value of a rule acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// T(w, y): the t-norm of the body's weights.
    Weighted,
    /// 1 if the sampled body holds, else 0.
    Crisp,
    /// The probability that a sampled body holds.
    Relaxed,
}

/// What is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// T(w, y) through the weights.
    Weights,
    /// log p(b).
    Score,
    /// The probability that a sampled body holds.
    Relaxed,
}

impl Estimator {
    /// When it samples, which value acts, and what it differentiates.
    pub const fn choices(self) -> (Sampling, Value, Gradient) {
        match self {
            Estimator::Paper => (Sampling::Step, Value::Weighted, Gradient::Weights),
            Estimator::Score => (Sampling::Episode, Value::Crisp, Gradient::Score),
            Estimator::Relaxed => (Sampling::Never, Value::Relaxed, Gradient::Relaxed),
            Estimator::StraightThrough => (Sampling::Step, Value::Crisp, Gradient::Relaxed),
        }
    }
}

named!(Estimator, "estimator", ESTIMATORS);
