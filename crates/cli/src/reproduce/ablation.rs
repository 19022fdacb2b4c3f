//! `derrl reproduce ablation`: DERRL with one setting changed.

use derrl_learn::{length, mean_stderr};
use derrl_logic::{Policy, Source};
use serde_json::{Map, Value, json};

use super::curves::{COLORS, Curve};
use super::experiments::{AblationDomain, Group, Variant, settings};
use super::job::{Finished, Job, Results};
use super::page::{Block, Claim, Figure, Section, row};
use super::{Plan, each_seed};
use crate::chart::{Chart, Scale};

/// A run has learned the task if its rules earn this share of what is between nothing and the best known.
const LEARNED: f64 = 0.02;

/// The jobs of one variant in one domain.
fn jobs(plan: &Plan, domain: &AblationDomain, group: &Group, variant: &Variant) -> anyhow::Result<Vec<Job>> {
    let spec = &plan.experiments.ablation;
    let config = settings(&[&spec.settings, &group.settings, &variant.settings])?;
    let mut job = Job::new(&spec.agent, &domain.name, &config)?;
    let full = domain.decisions.unwrap_or(spec.decisions);
    job.decisions = plan.decisions(full, &spec.quick);
    job.episodes = if domain.seeds.is_some() { 5 } else { 50 };
    job.tasks = vec![(job.task.clone(), job.options.clone())];
    Ok(each_seed(&job, plan.seeds(domain.seeds.unwrap_or(spec.seeds))))
}

/// The jobs of all variants.
pub fn all_jobs(plan: &Plan) -> anyhow::Result<Vec<Job>> {
    let spec = &plan.experiments.ablation;
    let mut all = Vec::new();
    for domain in spec.domains.iter().filter(|d| plan.includes(&d.name)) {
        for group in &spec.groups {
            for variant in &group.variants {
                all.extend(jobs(plan, domain, group, variant)?);
            }
        }
    }
    Ok(all)
}

/// What came of one variant in one domain.
struct Measured {
    variant: String,
    curve: Curve,
    mean: f64,
    stderr: f64,
    learned: usize,
    runs: usize,
    atoms: f64,
    redundant: f64,
}

fn measure(variant: &str, finished: &[&Finished]) -> anyhow::Result<Measured> {
    let scores: Vec<f64> = finished.iter().filter_map(|f| f.scores.first()).map(|s| s.mean).collect();
    let learned =
        finished.iter().filter_map(|f| f.scores.first()).filter(|s| s.mean >= s.best_known - LEARNED);
    let learned = learned.count();
    let mut atoms = Vec::new();
    let mut redundant = Vec::new();
    for f in finished {
        let (Some(before), Some(after)) = (&f.trained.unsimplified, &f.rules) else { continue };
        let (before, after) = (atoms_of(before, &f.job.domain)?, atoms_of(after, &f.job.domain)?);
        atoms.push(before as f64);
        redundant.push(before.saturating_sub(after) as f64);
    }
    let trained: Vec<_> = finished.iter().map(|f| &f.trained).collect();
    let (mean, stderr) = mean_stderr(&scores);
    Ok(Measured {
        variant: variant.to_string(),
        curve: Curve::new(&trained),
        mean,
        stderr,
        learned,
        runs: finished.len(),
        atoms: mean_stderr(&atoms).0,
        redundant: mean_stderr(&redundant).0,
    })
}

/// How many atoms the bodies of a policy have.
fn atoms_of(policy: &str, domain: &str) -> anyhow::Result<usize> {
    let alphabet = derrl_env::find(domain)?.alphabet();
    let policy = Policy::parse(&Source::new("learned rules", policy), &alphabet)?;
    Ok(length(&policy) - policy.rules.len())
}

/// The section.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let spec = &plan.experiments.ablation;
    let mut blocks = vec![Block::Text(format!(
        "Each run is a single restart, so that what a setting spoils is seen. Learned: runs whose rules, as written, come within {LEARNED} of the best known \
         return on the training task. Atoms: in the bodies of the rules as the generator gave them; redundant: those that simplification drops, as no \
         decision in any state met in training depends on them."
    ))];
    let mut data = Map::new();
    let mut claims = Vec::new();
    for group in &spec.groups {
        blocks.push(Block::Heading(capital(&group.name)));
        if !group.settings.is_empty() {
            let list: Vec<String> = group.settings.iter().map(|(k, v)| format!("{k} = {v}")).collect();
            blocks.push(Block::Text(format!("With {}.", list.join(", "))));
        }
        let mut rows = vec![row([group.name.as_str(), "return", "learned", "atoms", "redundant"])];
        let mut figures = Vec::new();
        let mut by_domain = Map::new();
        for domain in spec.domains.iter().filter(|d| plan.includes(&d.name)) {
            let mut measured = Vec::new();
            for variant in &group.variants {
                measured.push(measure(&variant.name, &results.all(&jobs(plan, domain, group, variant)?))?);
            }
            rows.push(row([domain.name.as_str()]));
            for m in &measured {
                rows.push(row([
                    m.variant.clone(),
                    format!("{:.2} ± {:.2}", m.mean, m.stderr),
                    format!("{} of {}", m.learned, m.runs),
                    format!("{:.1}", m.atoms),
                    format!("{:.1}", m.redundant),
                ]));
            }
            if group.figure {
                figures.push(Block::Figure(figure(group, &domain.name, &measured)));
            }
            claims.extend(judge(plan, &domain.name, &measured));
            let list: Map<String, Value> = measured.iter().map(|m| (m.variant.clone(), m.json())).collect();
            by_domain.insert(domain.name.clone(), Value::Object(list));
        }
        blocks.push(Block::Table(rows));
        blocks.extend(figures);
        data.insert(group.name.clone(), Value::Object(by_domain));
    }
    Ok(Section { id: "ablation", title: "Ablation", blocks, claims, data: Value::Object(data) })
}

impl Measured {
    fn json(&self) -> Value {
        json!({
            "return": self.mean, "stderr": self.stderr, "learned": self.learned, "runs": self.runs,
            "atoms": self.atoms, "redundant_atoms": self.redundant, "curve": self.curve.json(),
        })
    }
}

fn figure(group: &Group, domain: &str, measured: &[Measured]) -> Figure {
    let series = measured.iter().zip(COLORS).map(|(m, color)| m.curve.series(&m.variant, color)).collect();
    let chart = Chart {
        title: format!("{}: {}", capital(domain), group.name),
        x_label: "training episodes (log scale)".to_string(),
        y_label: "mean return of an episode".to_string(),
        x_scale: Scale::Log,
        y_scale: Scale::Linear,
        series,
    };
    let runs = measured.first().map_or(0, |m| m.runs);
    Figure {
        name: format!("ablation-{}-{domain}", group.name.replace(' ', "-")),
        caption: format!(
            "{}, {}: training reward over episodes, mean and one standard deviation over {runs} seeds.",
            capital(domain),
            group.name
        ),
        svg: chart.to_svg(),
    }
}

/// The paper's claims about constraints: without them convergence is slower, and rules are redundant.
fn judge(plan: &Plan, domain: &str, measured: &[Measured]) -> Vec<Claim> {
    let expect = &plan.experiments.ablation.expect;
    let find = |name: &str| measured.iter().find(|m| m.variant == name);
    let (Some(with), Some(without)) = (find(&expect.with), find(&expect.without)) else { return Vec::new() };
    let claim = |text: &str, held: bool, detail: String| Claim {
        experiment: "ablation".to_string(),
        text: format!("{}: {text}", capital(domain)),
        held,
        detail,
    };
    // Halfway from where both begin to where the better one ends.
    let start = with.curve.points.first().map_or(0.0, |p| p.1);
    let end = with.curve.end().unwrap_or(0.0).max(without.curve.end().unwrap_or(0.0));
    let half = f64::midpoint(start, end);
    let (a, b) = (with.curve.reaches(half), without.curve.reaches(half));
    let show = |episodes: Option<f64>| episodes.map_or_else(|| "never".to_string(), |e| format!("{e:.0}"));
    vec![
        claim(
            "without constraints, learned rules have more redundant atoms",
            without.redundant > with.redundant,
            format!("{:.1} without, {:.1} with", without.redundant, with.redundant),
        ),
        claim(
            "without constraints, convergence is slower",
            b.unwrap_or(f64::INFINITY) > a.unwrap_or(f64::INFINITY),
            format!("half of the gain after {} episodes without, {} with", show(b), show(a)),
        ),
    ]
}

/// With a capital first letter.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
