//! The rule that comes nearest to deriving an action, and the atoms of it that fail.

use derrl_logic::{Facts, GroundAction, Literal, Object, Rule, Universe};

use super::{Explainer, Ground, Phi, bind, ground, named, open_variables};

/// Substitutions tried at the most when looking for the nearest one of a rule.
const MOST_TRIED: usize = 200_000;

/// The substitution of a rule under which the fewest atoms fail; of several, one that agrees with what there is one of.
pub(super) struct Near {
    pub phi: Phi,
    /// The atoms of the body that fail, by place.
    pub failed: Vec<usize>,
    /// Objects of the head that the body mentions by name, which object identity forbids.
    pub clashes: Vec<Object>,
    /// How far it is from firing.
    cost: usize,
}

/// What an atom costs that fails, and one that fails although a single fact of its kind holds now, so that its free variables could
/// stand for nothing but the objects of that fact: an agent is in one place only.
const FAILS: usize = 2;
const FAILS_THOUGH_UNIQUE: usize = 3;

impl Explainer<'_> {
    /// The rule for an action that fails in the fewest atoms, the first of several. `None` if no rule is about it.
    pub(super) fn nearest(
        &self,
        action: &GroundAction,
        facts: &Facts,
        universe: &Universe,
    ) -> Option<(usize, Near)> {
        let near = |i: usize| (i, self.nearest_substitution(&self.policy.rules[i], action, facts, universe));
        self.rules_for(action.action)
            .map(near)
            .min_by_key(|(i, near)| (near.cost + FAILS * near.clashes.len(), *i))
    }

    fn nearest_substitution(
        &self,
        rule: &Rule,
        action: &GroundAction,
        facts: &Facts,
        universe: &Universe,
    ) -> Near {
        let phi = bind(rule, &action.args);
        let named = named(rule, universe);
        let clashes = action.args.iter().copied().filter(|o| named.contains(o)).collect();
        let mut search = Search {
            rule,
            facts,
            universe,
            open: open_variables(rule, &phi, self.alphabet, universe),
            costs: costs(rule, action.args.len(), facts),
            best: None,
            phi,
            left: MOST_TRIED,
        };
        search.descend(0);
        let (failed, phi) =
            search.best.take().unwrap_or_else(|| ((0..rule.body.len()).collect(), bind(rule, &action.args)));
        let cost = search.cost(&failed);
        Near { phi, failed, clashes, cost }
    }
}

/// What it costs that an atom of a rule fails, by place.
fn costs(rule: &Rule, heads: usize, facts: &Facts) -> Vec<usize> {
    let unique = |literal: &Literal| facts.iter().filter(|(pred, _)| *pred == literal.pred).count() == 1;
    let is_free = |literal: &Literal| literal.vars().any(|v| usize::from(v.0) >= heads);
    let cost = |l: &Literal| if l.positive && is_free(l) && unique(l) { FAILS_THOUGH_UNIQUE } else { FAILS };
    rule.body.iter().map(cost).collect()
}

struct Search<'a> {
    rule: &'a Rule,
    facts: &'a Facts,
    universe: &'a Universe,
    open: Vec<(usize, Vec<Object>)>,
    phi: Phi,
    /// What it costs that an atom of the body fails.
    costs: Vec<usize>,
    best: Option<(Vec<usize>, Phi)>,
    left: usize,
}

impl Search<'_> {
    fn cost(&self, failed: &[usize]) -> usize {
        failed.iter().map(|&j| self.costs[j]).sum()
    }

    fn descend(&mut self, at: usize) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        // An atom whose variables are not all decided fails only once nothing is left to decide.
        let decided = at == self.open.len();
        let failed: Vec<usize> = (0..self.rule.body.len()).filter(|&j| self.fails(j, decided)).collect();
        // What fails already cannot be mended by further variables.
        if self.best.as_ref().is_some_and(|(best, _)| self.cost(&failed) >= self.cost(best)) {
            return;
        }
        if decided {
            self.best = Some((failed, self.phi.clone()));
            return;
        }
        let (v, objects) = self.open[at].clone();
        let mut any = false;
        for o in objects {
            if !self.phi.contains(&Some(o)) {
                any = true;
                self.phi[v] = Some(o);
                self.descend(at + 1);
                self.phi[v] = None;
            }
        }
        if !any {
            self.descend(at + 1); // no object is left for this variable: its atoms fail
        }
    }

    fn fails(&self, j: usize, decided: bool) -> bool {
        let literal = &self.rule.body[j];
        match ground(literal, &self.phi, self.universe) {
            Ground::Open => decided,
            Ground::Absent => literal.positive,
            Ground::Objects(args) => self.facts.holds(literal.pred, &args) != literal.positive,
        }
    }
}
