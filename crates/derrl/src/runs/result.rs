//! What a finished run leaves in its folder: the policy, its training curve, and all that `train --json` prints.

use derrl_env::ShieldTally;
use derrl_learn::{Origin, Score, WideningStep};
use derrl_logic::{Alphabet, Policy, Scope};
use derrl_pages::training_curve;
use derrl_report::Theme;
use serde_json::{Value, json};

use crate::domain::Domain;
use crate::runs::folder::RunFolder;
use crate::runs::so_far::Cut;
use crate::score;

/// What came of a run.
// Wide: each field is a part of `result.json`.
pub struct RunResult<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The same rules before simplification, as text.
    pub unsimplified: String,
    /// The score of each task; the first is the one trained on.
    pub scores: &'a [(String, Score)],
    /// What it was learned on.
    pub scope: Scope,
    /// Restarts run.
    pub restarts: usize,
    /// The one that the policy came from.
    pub restart: u64,
    /// Episodes run in all.
    pub episodes: u64,
    /// Environment steps taken in all, those of selection included.
    pub steps: u64,
    /// How many of these were selection.
    pub selection_steps: u64,
    /// Whether the training task is solved, where it can be.
    pub solved: Option<bool>,
    /// What it sees by, where states are pixels.
    pub sight: Option<Value>,
    /// What ended the run before it would have ended by itself.
    pub cut: Option<Cut>,
    /// What could be changed where it is not.
    pub advice: Vec<String>,
    /// What is missing where it is not, if that was found.
    pub diagnosis: Option<Value>,
    /// Which part found each rule.
    pub origins: Vec<Origin>,
    /// The steps to wider languages that were tried.
    pub widenings: Vec<WideningStep>,
    /// Seconds it took.
    pub seconds: f64,
    /// The training curves by restart: episodes so far and mean return.
    pub curves: Vec<(u64, Vec<(f64, f64)>)>,
}

impl RunResult<'_> {
    /// Writes it down, and returns what `train --json` prints: with the path of the page where there is to be one.
    pub fn keep(&self, folder: &RunFolder, domain: &Domain, report: bool) -> anyhow::Result<Value> {
        let config = &folder.config;
        let alphabet = &domain.alphabet;
        let text = self.policy.display(alphabet).to_string();
        let json = json!({
            "domain": config.domain,
            "seed": config.seed,
            "policy": text,
            "learned_on": self.scope.to_string(),
            "rules": rules(self.policy, alphabet),
            "unsimplified": self.unsimplified,
            "simulator": score::simulator(domain)?,
            "scores": score::to_json(self.scores),
            "restarts": self.restarts,
            "restart": self.restart,
            "episodes": self.episodes,
            "steps": self.steps,
            "selection_steps": self.selection_steps,
            "solved": self.solved,
            "ended": self.cut.map(Cut::to_json),
            "advice": self.advice,
            "diagnosis": self.diagnosis,
            "origins": self.origins,
            "widenings": self.widenings.iter().map(|w| json!({
                "to": w.to.to_string(), "before": w.before, "after": w.after, "kept": w.kept,
            })).collect::<Vec<_>>(),
            "perception": self.sight,
            "shield": score::shield(domain, &ShieldTally::default()),
            "seconds": self.seconds,
            "policy_path": folder.policy_path().display().to_string(),
            "report_path": report.then(|| folder.page_path().display().to_string()),
        });
        let title = format!("{}, seed {}", config.domain, config.seed);
        let train = self.scores.first().map_or(f64::NAN, |(_, s)| s.mean);
        folder.write("policy.unsimplified.pl", &self.unsimplified)?;
        folder.write("curve.svg", &self.curve(&title))?;
        folder.write("result.json", &format!("{}\n", serde_json::to_string_pretty(&json)?))?;
        let head = format!(
            "% Learned by derrl {} on {title}: return {train:.3} on the training task.\n",
            config.derrl
        );
        folder.write("policy.pl", &format!("{head}{}{text}", self.scope))?;
        // A run within a budget of steps has ended by itself.
        if matches!(self.cut, None | Some(Cut::Steps(_))) {
            folder.forget_best();
        }
        Ok(json)
    }

    /// The training curves of all restarts, the chosen one on top.
    fn curve(&self, title: &str) -> String {
        let curves: Vec<(bool, &[(f64, f64)])> = self
            .curves
            .iter()
            .map(|(restart, points)| (*restart == self.restart, points.as_slice()))
            .collect();
        training_curve(title, &curves).document().to_svg(Theme::Light)
    }
}

fn rules(policy: &Policy, alphabet: &Alphabet) -> Vec<Value> {
    policy
        .rules
        .iter()
        .map(|rule| {
            let decl = alphabet.action(rule.action);
            let canonical = rule.canonical(decl.args.len());
            let literals = canonical.body.iter().map(|l| l.display(alphabet).to_string());
            let choices = canonical.choices.iter().map(|c| c.display(alphabet).to_string());
            let body: Vec<String> = literals.chain(choices).collect();
            json!({
                "weight": rule.weight,
                "action": format!("{}/{}", decl.name, decl.arity()),
                "body": body,
                "text": rule.display(alphabet).to_string(),
            })
        })
        .collect()
}
