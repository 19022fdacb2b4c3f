//! Plans: written as the planning competition does, read, and checked step by step.

use std::fmt::Write as _;
use std::sync::Arc;

use derrl_logic::syntax::Span;
use derrl_logic::{Error, Source};

use crate::simulator::Simulator;
use crate::task::Task;

/// A sequence of ground actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// For each step, an index into [`crate::Domain::schemas`] and its objects.
    pub steps: Vec<(u32, Vec<u32>)>,
}

/// What a plan comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checked {
    /// How many steps it has.
    pub steps: usize,
    /// Its total cost, or its number of steps where the problem asks for no least cost.
    pub cost: f64,
}

impl Plan {
    /// One action per line as `(name arg arg)`, in the names of the PDDL files, with the cost as a comment at the end.
    pub fn show(&self, task: &Task, cost: f64) -> String {
        let mut text = String::new();
        for (action, args) in &self.steps {
            let name = &task.domain.schemas[*action as usize].name;
            let _ = writeln!(text, "{}", task.show_atom(name, args));
        }
        let kind = if task.minimizes_cost() { "general" } else { "unit" };
        let _ = writeln!(text, "; cost = {cost} ({kind} cost)");
        text
    }

    /// The plan that a text describes: one action per line, comments after `;`.
    pub fn parse(source: &Source, task: &Task) -> Result<Plan, Error> {
        let mut steps = Vec::new();
        let mut start = 0;
        for line in source.text.split_inclusive('\n') {
            let span = Span::new(start, start + line.trim_end().len());
            start += line.len();
            let action = line.split(';').next().unwrap_or_default().trim();
            if action.is_empty() {
                continue;
            }
            let error = |message: String| source.error(span, message);
            let Some(inner) = action.strip_prefix('(').and_then(|a| a.strip_suffix(')')) else {
                return Err(error("expected an action such as `(board car1 loc2)`".to_string())
                    .with_help("a plan has one action per line, in parentheses"));
            };
            let mut words = inner.split_whitespace();
            let name = words.next().unwrap_or_default();
            let Some(schema) = task.domain.find_action(name) else {
                return Err(
                    error(format!("unknown action `{name}`")).with_help("use the actions of the domain")
                );
            };
            let mut args = Vec::new();
            for word in words {
                let Some(o) = task.problem.find(word) else {
                    return Err(
                        error(format!("unknown object `{word}`")).with_help("use the problem's objects")
                    );
                };
                args.push(o);
            }
            let arity = task.domain.schemas[schema as usize].arity;
            if args.len() != arity {
                return Err(error(format!("action `{name}` takes {arity} objects, not {}", args.len()))
                    .with_help("give its parameters in the order of the domain"));
            }
            steps.push((schema, args));
        }
        Ok(Plan { steps })
    }

    /// The plan's length and cost, or why it does not reach the goal.
    pub fn check(&self, task: &Arc<Task>) -> Result<Checked, Error> {
        let mut simulator = Simulator::new(task.clone());
        let mut cost = 0.0;
        for (i, (action, args)) in self.steps.iter().enumerate() {
            let Some(step) = simulator.apply(*action, args) else {
                let shown = task.show_atom(&task.domain.schemas[*action as usize].name, args);
                return Err(Error::new(format!("step {} of the plan, {shown}, is not applicable", i + 1))
                    .with_help("its precondition does not hold after the steps before it"));
            };
            cost += step;
        }
        if simulator.reached() {
            return Ok(Checked { steps: self.steps.len(), cost });
        }
        let open = task.goal_literals().iter().find(|(holds, p, args)| simulator.holds(*p, args) != *holds);
        let error = Error::new(format!("the plan's {} steps do not reach the goal", self.steps.len()));
        Err(match open {
            Some((holds, p, args)) => {
                let atom = task.show_atom(&task.domain.predicates[*p as usize].name, args);
                error.with_help(format!(
                    "{atom} {} at the end",
                    if *holds { "does not hold" } else { "holds" }
                ))
            }
            None => error,
        })
    }
}
