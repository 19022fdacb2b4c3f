//! Distances: which steps of a graph in the world bring one nearer to a place of some kind.
//!
//! Rules of a few atoms see as far as their variables reach. In small instances that is as far as there is to go; in large ones an
//! agent without distances wanders. Steps are those of a binary predicate ([`is_graph`]); the places to go to are all that a short
//! definition tells apart.

use derrl_logic::{Alphabet, Facts, Object, Pred, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::templates::{Concept, Invention, Templates};

/// A set of objects to go to: a predicate of one argument, with the lines that define it.
struct Goal {
    name: String,
    t: Type,
    lines: Vec<String>,
    size: usize,
}

/// A binary predicate whose facts are steps, with the lines that define it.
struct Way {
    name: String,
    from: Type,
    to: Type,
    lines: Vec<String>,
    size: usize,
}

/// Whether the facts of a predicate make a graph in which there is a way to choose: some object leads to several and is led to by
/// several, and some two steps have no short cut. Chains, trees and orders are none.
pub fn is_graph(facts: &Facts, pred: Pred) -> bool {
    let mut next: FxHashMap<Object, Vec<Object>> = FxHashMap::default();
    let mut before: FxHashMap<Object, usize> = FxHashMap::default();
    let mut steps: FxHashSet<(Object, Object)> = FxHashSet::default();
    for tuple in facts.tuples(pred) {
        if let [from, to] = *tuple
            && from != to
        {
            next.entry(from).or_default().push(to);
            *before.entry(to).or_default() += 1;
            steps.insert((from, to));
        }
    }
    let joins = before.values().any(|&n| n > 1);
    let forks = next.values().any(|to| to.len() > 1);
    let onwards = |(from, via): &(Object, Object)| {
        let from = *from;
        next.get(via).into_iter().flatten().any(|to| *to != from && !steps.contains(&(from, *to)))
    };
    joins && forks && steps.iter().any(onwards)
}

impl Templates<'_> {
    /// Sets of objects that only distances ask for: `at_not_goal_at_any(X) :- at(X, Y), \+ goal_at(X, Y).`
    pub fn places(&self, graphs: &[Pred]) -> Vec<Invention> {
        let pairs = self.steps().into_iter().filter(|r| r.literals.len() > 1);
        let led_to = pairs.filter(|r| self.is_node(graphs, r.from));
        let mut all: Vec<Invention> = led_to.map(|r| self.projection(&r)).collect();
        all.sort_by_key(|i| i.size);
        all
    }

    /// Whether a graph leads to objects of a type.
    fn is_node(&self, graphs: &[Pred], t: Type) -> bool {
        graphs.iter().any(|&p| self.types().overlap(self.alphabet.predicate(p).args[1], t))
    }

    /// `nearer_to_u_by_p(X, Y)`: the step `p(X, Y)` brings one nearer to an object that is `u`, for each graph and each of these
    /// sets. `wider` is an alphabet that has the sets.
    pub fn distances(&self, graphs: &[Pred], sets: &[Invention], wider: &Alphabet) -> Vec<Invention> {
        let mut goals: Vec<Goal> = Vec::new();
        let given =
            self.concepts.iter().map(|c| Goal { name: c.name.clone(), t: c.t, lines: Vec::new(), size: 0 });
        let defined = sets.iter().filter(|s| s.arity == 1).filter_map(|s| {
            let t = wider.predicate(wider.find_predicate(&s.name, 1)?).args[0];
            Some(Goal { name: s.name.clone(), t, lines: s.lines.clone(), size: s.size })
        });
        for goal in given.chain(defined).filter(|g| self.is_node(graphs, g.t)) {
            let name = self.fresh(format!("not_{}", goal.name), 1);
            let mut lines = goal.lines.clone();
            lines.extend([self.declaration(&name, &[goal.t]), format!("{name}(X) :- \\+ {}(X).", goal.name)]);
            let not = Goal { name, t: goal.t, lines, size: goal.size + 1 };
            goals.extend([goal, not]);
        }
        let mut all = Vec::new();
        for way in self.ways(graphs) {
            for goal in goals.iter().filter(|g| self.types().overlap(g.t, way.to)) {
                let name = self.fresh(format!("nearer_to_{}_by_{}", goal.name, way.name), 2);
                let mut lines = goal.lines.clone();
                lines.extend(way.lines.iter().filter(|l| !goal.lines.contains(l)).cloned());
                lines.push(format!(":- distance({name}, {}/2, {}/1).", way.name, goal.name));
                all.push(Invention { name, arity: 2, lines, size: 1 + way.size + goal.size });
            }
        }
        all.sort_by_key(|i| i.size);
        all
    }

    /// The graphs, and those of their steps that lead to objects of which something is said, or not.
    fn ways(&self, graphs: &[Pred]) -> Vec<Way> {
        let mut all = Vec::new();
        for &p in graphs {
            let predicate = self.alphabet.predicate(p);
            let [from, to] = *predicate.args.as_slice() else { continue };
            let plain = Way { name: predicate.name.clone(), from, to, lines: Vec::new(), size: 0 };
            let over = |c: &Concept, not: &str, literal: &str| {
                let name = self.fresh(format!("{}_{not}{}", plain.name, c.name), 2);
                let of = c.literals[0].replace("(X)", "(Y)");
                let clause = format!("{name}(X, Y) :- {}(X, Y), {literal}{of}.", plain.name);
                Way {
                    lines: vec![self.declaration(&name, &[plain.from, plain.to]), clause],
                    name,
                    size: 2,
                    ..plain
                }
            };
            let led_to = self.concepts.iter().filter(|c| self.types().overlap(c.t, to));
            let conditional: Vec<Way> =
                led_to.flat_map(|c| [over(c, "", ""), over(c, "not_", "\\+ ")]).collect();
            all.push(plain);
            all.extend(conditional);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use derrl_logic::Source;

    const GRID: &str = ":- action(go(cell)).\n:- state(here(cell)).\n:- state(at(thing, cell)).\n\
                        :- background(goal_at(thing, cell)).\n:- background(beside(cell, cell)).\n";

    fn alphabet() -> Alphabet {
        Alphabet::parse(&Source::new("grid", GRID)).expect("it parses")
    }

    /// Whether these steps between five cells make a graph.
    fn makes_graph(steps: &[(u32, u32)]) -> bool {
        let alphabet = alphabet();
        let beside = alphabet.find_predicate("beside", 2).expect("it is declared");
        let mut facts = Facts::new(&alphabet);
        for &(a, b) in steps {
            facts.push(beside, &[Object(a), Object(b)]);
        }
        facts.seal();
        is_graph(&facts, beside)
    }

    #[test]
    fn corridors_and_grids_are_graphs_and_chains_trees_and_orders_are_not() {
        let both_ways =
            |steps: &[(u32, u32)]| [steps, &steps.iter().map(|&(a, b)| (b, a)).collect::<Vec<_>>()].concat();
        assert!(makes_graph(&both_ways(&[(0, 1), (1, 2)])), "a corridor");
        assert!(makes_graph(&both_ways(&[(0, 1), (1, 2), (2, 3), (3, 0)])), "four cells in a square");
        assert!(!makes_graph(&[(0, 1), (1, 2), (2, 3)]), "a chain");
        assert!(!makes_graph(&[(1, 0), (2, 0), (3, 1), (4, 1)]), "towers: each on one other");
        assert!(!makes_graph(&[(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]), "an order");
        assert!(!makes_graph(&both_ways(&[(0, 1), (0, 2), (1, 2)])), "every cell beside every other");
    }

    #[test]
    fn distances_lead_to_sets_that_are_given_negated_and_defined() {
        let alphabet = alphabet();
        let beside = [alphabet.find_predicate("beside", 2).expect("it is declared")];
        let templates = Templates::new(&alphabet);
        let places = templates.places(&beside);
        let astray = places.iter().find(|p| p.name == "any_at_not_inverse_goal_at").expect("it is made");
        assert_eq!(astray.lines[1], "any_at_not_inverse_goal_at(X) :- at(Y, X), \\+ goal_at(Y, X).");
        let all = templates.distances(&beside, &[], &alphabet);
        let named = |name: &str| all.iter().find(|i| i.name == name).expect("it is made").lines.clone();
        assert_eq!(
            named("nearer_to_here_by_beside"),
            [":- distance(nearer_to_here_by_beside, beside/2, here/1)."]
        );
        let expected = [
            ":- derived(not_here(cell)).",
            "not_here(X) :- \\+ here(X).",
            ":- distance(nearer_to_not_here_by_beside, beside/2, not_here/1).",
        ];
        assert_eq!(named("nearer_to_not_here_by_beside"), expected);
    }
}
