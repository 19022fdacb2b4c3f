//! The paper's experiments: which runs they need, what they claim, and whether the runs bear it out.
//!
//! Experiments are data (`experiments/*.toml`). Each asks for jobs; jobs are run once and kept; from their results each part makes a
//! section of the report.
//!
//! | module | holds |
//! |---|---|
//! | [`experiments`] | the files of `experiments/`, read |
//! | [`solved`] | when a task counts as solved |
//! | [`plan`] | which parts, domains, seeds and budgets were asked for, and the jobs these need |
//! | [`job`] | one agent trained once and scored or timed; the folder of finished jobs |
//! | [`sample`] | means with their noise, and comparisons that say *level* where noise is larger |
//! | [`scores`], [`convergence`], [`runtime`], [`ablation`], [`rules`] | one section each |
//! | [`curves`] | learning curves on one axis |
//! | [`page`], [`html`], [`readme`] | sections as data, then as text, Markdown and HTML |
//! | [`provenance`] | how a report was made |
//!
//! Nothing here prints, and the only files it writes are those of finished jobs.

pub mod ablation;
pub mod convergence;
pub mod curves;
pub mod experiments;
pub mod html;
pub mod job;
pub mod names;
pub mod page;
pub mod plan;
pub mod provenance;
pub mod readme;
pub mod rules;
pub mod runtime;
pub mod sample;
pub mod scores;
pub mod solved;
