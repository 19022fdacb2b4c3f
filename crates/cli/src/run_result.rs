//! What a finished run leaves in its folder: the policy, its training curve, and all that `train --json` prints.

use std::path::PathBuf;

use derrl_learn::{Origin, Score, WideningStep};
use derrl_logic::{Alphabet, Policy};
use derrl_report::{Chart, Series, Stroke, Theme};
use serde_json::{Value, json};

use crate::domain::Domain;
use crate::run_folder::RunFolder;
use crate::{eval, report};

/// What came of a run.
pub struct RunResult<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The same rules before simplification, as text.
    pub unsimplified: String,
    /// The score of each task; the first is the one trained on.
    pub scores: &'a [(String, Score)],
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
    /// What could be changed where it is not.
    pub advice: Vec<String>,
    /// Which part found each rule.
    pub origins: Vec<Origin>,
    /// The steps to wider languages that were tried.
    pub widenings: Vec<WideningStep>,
    /// Seconds it took.
    pub seconds: f64,
    /// The training curves by restart: episodes so far and mean return.
    pub curves: Vec<(u64, Vec<(f64, f64)>)>,
}

/// Where the page of a run is.
pub fn report_path(folder: &RunFolder) -> PathBuf {
    folder.path().join(report::FILE)
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
            "rules": rules(self.policy, alphabet),
            "unsimplified": self.unsimplified,
            "simulator": eval::simulator(domain)?,
            "scores": eval::to_json(self.scores),
            "restarts": self.restarts,
            "restart": self.restart,
            "episodes": self.episodes,
            "steps": self.steps,
            "selection_steps": self.selection_steps,
            "solved": self.solved,
            "advice": self.advice,
            "origins": self.origins,
            "widenings": self.widenings.iter().map(|w| json!({
                "to": w.to.to_string(), "before": w.before, "after": w.after, "kept": w.kept,
            })).collect::<Vec<_>>(),
            "seconds": self.seconds,
            "policy_path": folder.policy_path().display().to_string(),
            "report_path": report.then(|| report_path(folder).display().to_string()),
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
        folder.write("policy.pl", &format!("{head}{text}"))?;
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

/// The training curves of all restarts, each with whether it was chosen, in the colours of the page.
pub fn training_curve(title: &str, curves: &[(bool, &[(f64, f64)])]) -> Chart {
    let line = |points: &[(f64, f64)]| Series { points: points.to_vec(), ..Series::default() };
    let (chosen, others): (Vec<_>, Vec<_>) = curves.iter().partition(|c| c.0);
    let name = |text: &str, i: usize| (i == 0).then(|| text.to_string());
    let mut series: Vec<Series> = Vec::new();
    for (i, (_, points)) in others.into_iter().enumerate() {
        let name = name("other restarts", i);
        series.push(Series {
            name,
            color: "var(--faint)",
            width: 1.0,
            stroke: Stroke::Faint,
            ..line(points)
        });
    }
    for (i, (_, points)) in chosen.into_iter().enumerate() {
        series.push(Series {
            name: name("chosen restart", i),
            color: "var(--accent)",
            width: 2.6,
            ..line(points)
        });
    }
    Chart {
        title: title.to_string(),
        x_label: "episodes of the restart".to_string(),
        y_label: "mean return while exploring".to_string(),
        series,
        ..Chart::default()
    }
}

fn rules(policy: &Policy, alphabet: &Alphabet) -> Vec<Value> {
    policy
        .rules
        .iter()
        .map(|rule| {
            let arity = alphabet.action(rule.action).args.len();
            let body: Vec<String> =
                rule.canonical(arity).body.iter().map(|l| l.display(alphabet).to_string()).collect();
            json!({
                "weight": rule.weight,
                "action": format!("{}/{arity}", alphabet.action(rule.action).name),
                "body": body,
                "text": rule.display(alphabet).to_string(),
            })
        })
        .collect()
}
