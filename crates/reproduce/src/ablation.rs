//! `derrl reproduce ablation`: DERRL with one setting changed.

use derrl_learn::length;
use derrl_logic::{Policy, Source};
use serde_json::{Map, Value, json};

use crate::curves::{COLORS, Curve, RETURN_LABEL, Reached};
use crate::experiments::{AblationDomain, AblationExpect, AblationSpec, Variant, settings};
use crate::job::{Finished, Job, Results};
use crate::names::capital;
use crate::page::{Block, Claim, Figure, Section, Verdict, row};
use crate::plan::{Plan, each_seed};
use crate::sample::Sample;
use crate::scores::{spread, yardstick};
use derrl_report::{Chart, Scale};

/// A run has learned the task if its rules earn this share of what is between nothing and the best known.
const LEARNED: f64 = 0.02;

/// The jobs of one variant in one domain.
fn jobs(
    plan: &Plan,
    spec: &AblationSpec,
    domain: &AblationDomain,
    variant: &Variant,
) -> anyhow::Result<Vec<Job>> {
    let config = settings(&[&spec.settings, &variant.settings])?;
    let mut job = Job::new(&spec.agent, &domain.name, &config)?;
    job.decisions = plan.decisions(domain.decisions.unwrap_or(spec.decisions), spec.quick.decisions);
    let episodes = domain.episodes.unwrap_or(spec.episodes);
    job.episodes = if plan.quick { episodes.min(spec.quick.episodes) } else { episodes };
    job.tasks = vec![(job.task.clone(), job.options.clone())];
    Ok(each_seed(&job, plan.seeds(domain.seeds.unwrap_or(spec.seeds), spec.quick.seeds)))
}

/// The domains of an ablation that are part of the plan.
fn domains<'a>(plan: &'a Plan, spec: &'a AblationSpec) -> impl Iterator<Item = &'a AblationDomain> {
    spec.domains.iter().filter(|d| plan.includes(&d.name) && !(plan.quick && d.slow))
}

/// The jobs of all variants.
pub fn all_jobs(plan: &Plan) -> anyhow::Result<Vec<Job>> {
    let mut all = Vec::new();
    for spec in &plan.experiments.ablations {
        for domain in domains(plan, spec) {
            for variant in &spec.variants {
                all.extend(jobs(plan, spec, domain, variant)?);
            }
        }
    }
    Ok(all)
}

/// What came of one variant in one domain.
struct Measured {
    variant: String,
    curve: Curve,
    returns: Sample,
    /// The runs' own curves.
    curves: Vec<Curve>,
    learned: usize,
    runs: usize,
    atoms: Sample,
    redundant: Sample,
}

fn measure(variant: &str, finished: &[&Finished]) -> anyhow::Result<Measured> {
    let scores = || finished.iter().filter_map(|f| f.scores.first());
    let learned = scores().filter(|s| yardstick(s).is_some_and(|(best, _)| s.mean >= best - LEARNED)).count();
    let mut atoms = Vec::new();
    let mut redundant = Vec::new();
    for f in finished {
        let Some(learned) = &f.trained.unsimplified else { continue };
        atoms.push(atoms_of(learned, &f.job.domain)? as f64);
        redundant.extend(f.trained.redundant_atoms.map(|n| n as f64));
    }
    let trained: Vec<_> = finished.iter().map(|f| &f.trained).collect();
    Ok(Measured {
        variant: variant.to_string(),
        curve: Curve::new(&trained),
        curves: trained.iter().map(|t| Curve::new(&[t])).collect(),
        returns: Sample::of_means(scores().map(|s| (s.mean, s.stderr))),
        learned,
        runs: finished.len(),
        atoms: Sample::new(atoms),
        redundant: Sample::new(redundant),
    })
}

/// How many atoms the bodies of a policy have.
fn atoms_of(policy: &str, domain: &str) -> anyhow::Result<usize> {
    let alphabet = derrl_env::find(domain)?.alphabet();
    let (policy, _) = Policy::read(&Source::new("learned rules", policy), &alphabet)?;
    Ok(length(&policy) - policy.rules.len())
}

/// A mean; runs without a restart of the gradient have none.
fn one(sample: &Sample) -> String {
    if sample.runs.is_empty() { "none".to_string() } else { format!("{:.1}", sample.mean()) }
}

/// The section.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let mut blocks = vec![Block::Text(format!(
        "DERRL with one setting changed. But for the parts of the method, each run is a single restart of the gradient and nothing else, so that what a setting spoils is seen. Learned: runs whose rules, as written, come within \
         {LEARNED} of the best known return on the training task (in traffic, of longest queue first). Atoms: in the bodies of the rules as the generator gave them; redundant: those that \
         simplification drops, alone or with their rule, as no decision depends on them in the states met in training (in a sample of 4,096 \
         where there are more)."
    ))];
    let mut data = Map::new();
    let mut claims = Vec::new();
    for spec in &plan.experiments.ablations {
        blocks.push(Block::Heading(spec.title.clone()));
        let mut rows = vec![row([spec.title.as_str(), "return", "learned", "atoms", "redundant"])];
        let mut figures = Vec::new();
        let mut by_domain = Map::new();
        for domain in domains(plan, spec) {
            let mut measured = Vec::new();
            for variant in &spec.variants {
                measured.push(measure(&variant.name, &results.all(&jobs(plan, spec, domain, variant)?))?);
            }
            rows.push(row([capital(&domain.name)]));
            for m in &measured {
                rows.push(row([
                    m.variant.clone(),
                    format!("{:.2}{}", m.returns.mean(), spread(&m.returns)),
                    format!("{} of {}", m.learned, m.runs),
                    one(&m.atoms),
                    one(&m.redundant),
                ]));
            }
            if spec.figure {
                figures.push(Block::Figure(figure(spec, &domain.name, &measured)));
            }
            claims.extend(judge(spec, &domain.name, &measured));
            let list: Map<String, Value> = measured.iter().map(|m| (m.variant.clone(), m.json())).collect();
            by_domain.insert(domain.name.clone(), Value::Object(list));
        }
        blocks.push(Block::Table(rows));
        blocks.extend(figures);
        data.insert(spec.id.clone(), Value::Object(by_domain));
    }
    Ok(Section { id: "ablation", title: "Ablation", blocks, claims, data: Value::Object(data) })
}

impl Measured {
    /// When its runs first reached a return.
    fn reaches(&self, value: f64) -> Reached {
        Reached::new(&self.curves, value)
    }

    fn json(&self) -> Value {
        json!({
            "return": self.returns.mean(), "stderr": self.returns.stderr(), "learned": self.learned, "runs": self.runs,
            "atoms": self.atoms.mean(), "redundant_atoms": self.redundant.mean(), "curve": self.curve.json(),
        })
    }
}

fn figure(spec: &AblationSpec, domain: &str, measured: &[Measured]) -> Figure {
    let lines = measured.iter().zip(COLORS).rev();
    let series = lines.map(|(m, color)| m.curve.series(&m.variant, color)).collect();
    let title = format!("{}: {}", capital(domain), spec.title.to_lowercase());
    let chart = Chart {
        title: title.clone(),
        x_label: "training episodes (log scale)".to_string(),
        y_label: RETURN_LABEL.to_string(),
        x_scale: Scale::Log,
        y_scale: Scale::Linear,
        series,
    };
    let runs = measured.first().map_or(0, |m| m.runs);
    Figure {
        name: format!("{}-{domain}", spec.id),
        caption: format!(
            "{title}. Training reward over episodes, mean and one standard deviation over {runs} seeds."
        ),
        chart: chart.document(),
    }
}

/// Whether what the experiment expects held in a domain.
fn judge(spec: &AblationSpec, domain: &str, measured: &[Measured]) -> Vec<Claim> {
    let find = |name: &str| measured.iter().find(|m| m.variant == name);
    let claim = |text: String, verdict: Verdict, detail: String| Claim {
        experiment: spec.id.clone(),
        text: format!("{}, {}: {text}", spec.title, capital(domain)),
        verdict,
        detail,
    };
    match &spec.expect {
        AblationExpect::Better { better, than } => {
            let (Some(with), Some(without)) = (find(better), find(than)) else { return Vec::new() };
            // Halfway from where both begin to where the better one ends.
            let start = with.curve.points.first().map_or(0.0, |p| p.1);
            let end = with.curve.end().unwrap_or(0.0).max(without.curve.end().unwrap_or(0.0));
            let half = f64::midpoint(start, end);
            let (a, b) = (with.reaches(half), without.reaches(half));
            vec![
                claim(
                    format!("{than} leaves more redundant atoms than {better}"),
                    Verdict::higher(without.redundant.compare(&with.redundant, 0.0)),
                    format!(
                        "{:.1} per policy against {:.1}",
                        without.redundant.mean(),
                        with.redundant.mean()
                    ),
                ),
                claim(
                    format!("{than} converges more slowly than {better}"),
                    Verdict::higher(b.log_episodes.compare(&a.log_episodes, 0.0)),
                    format!("half of the gain {} against {}", b.shown(), a.shown()),
                ),
            ]
        }
        AblationExpect::Best { best, tolerance } => {
            let Some(own) = find(best) else { return Vec::new() };
            let others: Vec<&Measured> = measured.iter().filter(|m| m.variant != *best).collect();
            let shown = |m: &Measured| format!("{} {:.2}", m.variant, m.returns.mean());
            vec![claim(
                format!("{best} is at least as good as the others"),
                others
                    .iter()
                    .map(|m| {
                        let short = own.returns.mean() < m.returns.mean() - tolerance;
                        Verdict::at_least(own.returns.compare(&m.returns, *tolerance), short)
                    })
                    .max()
                    .unwrap_or(Verdict::Held),
                format!("{}; {}", shown(own), others.iter().map(|m| shown(m)).collect::<Vec<_>>().join(", ")),
            )]
        }
    }
}
