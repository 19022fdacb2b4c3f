//! `derrl reproduce rules` and `programs`: what was learned, to be read.

use std::collections::BTreeMap;

use derrl_logic::{Policy, Source};
use serde_json::{Map, Value, json};

use crate::job::Results;
use crate::names::shown;
use crate::page::{Block, Section};
use crate::plan::Plan;

/// The section: for each domain the rules that most seeds of DERRL found, and those of NLRL.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let mut blocks = vec![Block::Text(
        "The rules found by most seeds. DERRL's are complete policies: the number in front of a rule is its value, which orders the rules. NLRL's are \
         the most likely clause of each slot with its weight: what it does depends on all other clauses, too."
            .to_string(),
    )];
    let mut data = Map::new();
    for table in plan.tables() {
        let mut texts = Map::new();
        for agent in ["derrl", "nlrl"].into_iter().filter(|a| table.decisions.contains_key(*a)) {
            let finished = results.all(&plan.table_jobs(table, agent)?);
            let all: Vec<&str> = finished.iter().filter_map(|f| f.rules.as_deref()).collect();
            let Some((text, count)) = most_common(&all) else { continue };
            let of = format!("{} on {} (rules of {count} of {} seeds)", shown(agent), table.title, all.len());
            blocks.push(Block::Heading(of));
            blocks.push(Block::Code(text.to_string()));
            texts.insert(agent.to_string(), json!(all));
        }
        data.insert(table.id.clone(), Value::Object(texts));
    }
    Ok(Section { id: "rules", title: "Learned rules", blocks, claims: Vec::new(), data: Value::Object(data) })
}

/// The section of programs: the rules that most seeds of DERRL found, as in the paper's appendix.
pub fn programs(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let mut blocks = vec![Block::Text(
        "The rules of DERRL, written as programs: in each state the first step whose guard holds is taken, until the episode ends."
            .to_string(),
    )];
    let mut data = Map::new();
    let target = derrl_export::find("program")?;
    for table in plan.tables().filter(|t| t.options.noise.is_none()) {
        let finished = results.all(&plan.table_jobs(table, "derrl")?);
        let all: Vec<&str> = finished.iter().filter_map(|f| f.rules.as_deref()).collect();
        let Some((text, _)) = most_common(&all) else { continue };
        let alphabet = derrl_env::find(&table.domain)?.alphabet();
        let (policy, alphabet) = Policy::read(&Source::new("learned rules", text), &alphabet)?;
        let program = derrl_export::export(target, &policy, &alphabet)?;
        blocks.push(Block::Heading(table.title.clone()));
        blocks.push(Block::Code(program.clone()));
        data.insert(table.id.clone(), program.into());
    }
    Ok(Section { id: "programs", title: "Programs", blocks, claims: Vec::new(), data: Value::Object(data) })
}

/// The text whose rules, whatever their values, are found most often, with how often; the first of equals.
fn most_common<'t>(texts: &[&'t str]) -> Option<(&'t str, usize)> {
    let bodies = |text: &str| {
        let mut lines: Vec<String> =
            text.lines().map(|l| l.split_once("::").map_or(l, |(_, rule)| rule).to_string()).collect();
        lines.sort();
        lines
    };
    let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(bodies(text)).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    texts.iter().find(|t| counts.get(&bodies(t)) == Some(&most)).map(|t| (*t, most))
}

#[cfg(test)]
mod tests {
    use super::most_common;

    #[test]
    fn values_and_order_do_not_tell_rules_apart() {
        let texts = ["0.9::a :- b.\n", "0.9::a :- c.\n0.8::a :- d.\n", "0.7::a :- d.\n0.6::a :- c.\n"];
        assert_eq!(most_common(&texts), Some((texts[1], 2)));
        assert_eq!(most_common(&[]), None);
    }
}
