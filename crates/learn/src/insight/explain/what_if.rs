//! What would have to change: the smallest set of facts whose change makes a policy choose an action.
//!
//! To choose an action is to derive it by a rule, and none better: alone or as a tie. That any action will do where no rule fires
//! is reported apart, as *silent*.
//!
//! A *change* takes facts away and adds others. The search is exact: it tries all changes of one fact, then of two, and so on, but
//! only those that can matter. Suppose that after the change a rule r derives the action under phi, and no stronger one does. Then
//! every atom of r·phi that fails now is part of the change, and so is, for each better derivation of another action, at least one of
//! its atoms. Branching over (r, phi) first and over the atoms of one derivation that still stands in the way at a time meets
//! every smallest change, however many facts there are.
//!
//! Where rules use derived predicates, only given facts are flipped and the others derived anew. Which of them matter for a derived
//! fact is not known beforehand, so the search branches over all that any rule depends on. Numbers stay as they are: `number.rs` changes one of
//! them alone.
//!
//! A change has to keep the constraints of the domain, and the laws that hold in all states that were seen (`laws.rs`), as far as the
//! state itself keeps them.

use std::borrow::Cow;
use std::ops::ControlFlow;

use derrl_env::Scene;
use derrl_logic::{
    Alphabet, Decider, Decision, Facts, GroundAction, Literal, MOST_WORK, Object, Pred, Query, Role,
    Universe, bounded, is_spent,
};
use serde::Serialize;

use super::laws::{Atom, Laws};
use super::{Explainer, Ground, Match, NumberChange, Phi, bind, ground, named, open_variables};

/// What would have to change for an action to be chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The action.
    pub action: String,
    /// How it stands as things are.
    pub now: Standing,
    /// The smallest change after which a rule derives it and no better action: alone or as a tie.
    pub chosen: Found,
    /// The smallest change after which it is the only best action.
    pub alone: Found,
    /// A smaller change than that of `chosen` after which no rule fires at all, so that any action will do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent: Option<Change>,
    /// The least change of each number alone after which a rule derives it and no better action: those that change least first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<NumberChange>,
}

/// How an action stands in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is the only best action.
    Alone,
    /// It is one of several best actions, and a rule derives it.
    Tie,
    /// No rule fires at all: any action will do.
    AnyAction,
    /// Another action is better.
    Beaten,
}

/// What a search for a change found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant)] // there are few
pub enum Found {
    /// Nothing has to change.
    Already,
    /// This change, and no smaller one: of those that keep constraints and laws, or of all where none of those does it and any is asked for.
    Found(Change),
    /// No change of the facts that may change does it.
    Impossible,
    /// No state that can be reached in the instance does it; all of them were looked at.
    Unreachable,
    /// No change of up to this many facts does it; larger ones were not tried.
    Beyond {
        /// The bound on the size of a change.
        changes: usize,
    },
    /// The search took too long. No change of up to this many facts does it.
    GaveUp {
        /// The size of the largest changes that were all tried.
        changes: usize,
    },
}

/// Facts to take away and to add, and what the policy does then.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Facts that hold now and would not.
    pub removed: Vec<String>,
    /// Facts that do not hold now and would.
    pub added: Vec<String>,
    /// How the action would stand.
    pub standing: Standing,
    /// The rule that would derive it; none where no rule would fire.
    pub fired: Option<Match>,
    /// The other actions that would be as good, where rules derive them.
    pub ties: Vec<String>,
    /// Constraints of the domain and laws that the changed state would break: it is then no state of this world.
    pub breaks: Vec<String>,
    /// What the changed state looks like, where it is one that can be reached.
    #[serde(skip)]
    pub look: Option<Look>,
}

/// What a state looks like: its scene, and its facts as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What it looks like.
    pub scene: Scene,
    /// What holds.
    pub facts: Vec<String>,
}

/// How far a search goes, and which changes it may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Facts changed at the most.
    pub changes: usize,
    /// States looked at, at the most.
    pub states: usize,
    /// Whether background facts may change too.
    pub background: bool,
    /// Whether changes may lead to states that cannot be, where no other change does it.
    pub inconsistent: bool,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { changes: 6, states: 200_000, background: false, inconsistent: false }
    }
}

/// Facts that are tried for literals by one search, at the most: many decisions are taken for it.
const MOST_SEARCHED: u64 = 5 * MOST_WORK;

impl Explainer<'_> {
    /// The smallest changes of a state that make the policy choose an action: as one of the best, and as the only best.
    ///
    /// A change that leads to a state of this world is preferred to any that breaks a constraint or a law, however small. The search gives up
    /// where the rules take too much work.
    pub fn what_if(
        &self,
        action: &GroundAction,
        facts: &Facts,
        universe: &Universe,
        bounds: Bounds,
    ) -> WhatIf {
        let mut now = Standing::Beaten;
        let search = || {
            let mut search = Search::new(self, action, facts, universe, bounds);
            now = search.standing(&search.decide());
            self.changes_for(&mut search, now)
        };
        bounded(MOST_SEARCHED, search).unwrap_or_else(|_| WhatIf {
            action: self.show(action, universe),
            now,
            chosen: Found::GaveUp { changes: 0 },
            alone: Found::GaveUp { changes: 0 },
            silent: None,
            numbers: Vec::new(),
        })
    }

    fn changes_for(&self, search: &mut Search<'_>, now: Standing) -> WhatIf {
        let (action, facts, universe, bounds) =
            (search.target, search.original, search.universe, search.bounds);
        if self.legal.is_some_and(|legal| legal.binary_search(action).is_err()) {
            let never = || Found::Impossible;
            return WhatIf {
                action: self.show(action, universe),
                now,
                chosen: never(),
                alone: never(),
                silent: None,
                numbers: Vec::new(),
            };
        }
        let numbers = match now {
            Standing::Alone | Standing::Tie => Vec::new(),
            Standing::AnyAction | Standing::Beaten => self.number_changes(action, facts, universe),
        };
        let chosen = match now {
            Standing::Alone | Standing::Tie => Found::Already,
            Standing::AnyAction | Standing::Beaten => search.smallest(Goal::Chosen, 1, bounds.changes),
        };
        let alone = match &chosen {
            _ if now == Standing::Alone => Found::Already,
            // A smallest change of all that happens to leave it alone is a smallest one for that, too.
            Found::Found(change) if change.standing == Standing::Alone => chosen.clone(),
            Found::Found(change) => search.smallest(Goal::Alone, change.size(), bounds.changes),
            Found::Already => search.smallest(Goal::Alone, 1, bounds.changes),
            _ => chosen.clone(),
        };
        let silent = match &chosen {
            _ if now != Standing::Beaten => Found::Already,
            Found::Found(change) => search.smallest(Goal::Silent, 1, change.size() - 1),
            _ => search.smallest(Goal::Silent, 1, bounds.changes),
        };
        let silent = if let Found::Found(change) = silent { Some(change) } else { None };
        WhatIf { action: self.show(action, universe), now, chosen, alone, silent, numbers }
    }
}

impl Change {
    /// How many facts change.
    pub fn size(&self) -> usize {
        self.removed.len() + self.added.len()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// A rule derives the action, and no other action is better.
    Chosen,
    /// It is the only best action.
    Alone,
    /// No rule fires.
    Silent,
}

/// Whether changes have to keep the constraints of the domain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Constraints,
    Nothing,
}

/// Suppose that this rule derives the action, under this substitution.
struct Hypothesis {
    /// What has to be flipped for it.
    forced: Vec<Atom>,
    /// All atoms of the body: none of them may be flipped otherwise.
    body: Vec<Atom>,
}

struct Search<'a> {
    explainer: &'a Explainer<'a>,
    alphabet: &'a Alphabet,
    universe: &'a Universe,
    decider: Decider,
    target: &'a GroundAction,
    original: &'a Facts,
    bounds: Bounds,
    axioms: Vec<Axiom<'a>>,
    laws: Cow<'a, Laws>,
    /// The state as changed so far, and the atoms flipped.
    facts: Facts,
    flipped: Vec<Atom>,
    /// Atoms that may not be flipped (again).
    fixed: Vec<Atom>,
    /// Where rules use derived predicates: all given atoms that they depend on and that may change.
    relevant: Option<Vec<Atom>>,
    left: usize,
    /// Whether something was not tried because the change would have grown too large.
    cut: bool,
}

/// A constraint of the domain: `body` implies `head`, or must not hold where there is no head.
struct Axiom<'a> {
    text: &'a str,
    head: Option<&'a Literal>,
    body: &'a [Literal],
    query: Query,
    variables: usize,
}

impl<'a> Search<'a> {
    fn new(
        explainer: &'a Explainer<'a>,
        target: &'a GroundAction,
        facts: &'a Facts,
        universe: &'a Universe,
        bounds: Bounds,
    ) -> Search<'a> {
        let alphabet = explainer.alphabet;
        let mut search = Search {
            explainer,
            alphabet,
            universe,
            decider: explainer.decider(universe),
            target,
            original: facts,
            bounds,
            axioms: Vec::new(),
            laws: explainer.laws.map_or_else(Default::default, Cow::Borrowed),
            facts: facts.clone(),
            flipped: Vec::new(),
            fixed: Vec::new(),
            relevant: None,
            left: bounds.states,
            cut: false,
        };
        search.relevant = search.relevant();
        // Constraints over facts that never change hold now and will.
        let matters = |l: &Literal| search.may_change(l.pred);
        let axioms = alphabet.constraints.iter().filter(|c| c.body.iter().chain(&c.head).any(matters));
        search.axioms = axioms
            .map(|c| Axiom {
                text: &c.text,
                head: c.head.as_ref(),
                body: &c.body,
                query: Query::new(&c.body, &[], universe),
                variables: c.variables,
            })
            .collect();
        search
    }

    fn may_change(&self, pred: Pred) -> bool {
        match self.alphabet.predicate(pred).role {
            Role::State => true,
            Role::Background => self.bounds.background,
            Role::Derived | Role::Legal | Role::Comparison => false,
        }
    }

    /// The given atoms that rules depend on and that may change, where rules use derived predicates or choose.
    fn relevant(&self) -> Option<Vec<Atom>> {
        let program = self.alphabet.program.as_ref();
        let rules = &self.explainer.policy.rules;
        let used = || rules.iter().flat_map(|r| &r.body).map(|l| l.pred);
        let derived = used().any(|p| program.is_some_and(|program| program.defines(p)));
        if !derived && rules.iter().all(|r| r.choices.is_empty()) {
            return None;
        }
        let mut needed = program.map_or_else(|| used().collect(), |program| program.needed(used()));
        needed.sort_unstable();
        needed.dedup();
        let mut atoms = Vec::new();
        for pred in needed.into_iter().filter(|&p| self.may_change(p)) {
            let mut tuples: Vec<Vec<Object>> = vec![Vec::new()];
            for &t in &self.alphabet.predicate(pred).args {
                let fits = |o: &Object| self.alphabet.types.is_subtype(self.universe.type_of(*o), t);
                let objects: Vec<Object> = self.universe.objects().filter(fits).collect();
                let longer = |tuple: &Vec<Object>| {
                    objects.iter().map(|&o| [tuple.as_slice(), &[o]].concat()).collect::<Vec<_>>()
                };
                tuples = tuples.iter().flat_map(longer).take(self.bounds.states).collect();
            }
            atoms.extend(tuples.into_iter().map(|args| (pred, args)));
        }
        Some(atoms)
    }

    /// Whether an atom could be flipped: of a predicate that may change, about objects of its types, not decided yet.
    fn is_free(&self, (pred, args): &Atom) -> bool {
        let fits = |(o, &t): (&Object, _)| self.alphabet.types.is_subtype(self.universe.type_of(*o), t);
        self.may_change(*pred)
            && args.iter().zip(&self.alphabet.predicate(*pred).args).all(fits)
            && !self.fixed.iter().any(|(p, a)| p == pred && a == args)
    }

    fn decide(&self) -> Decision {
        // What is legal is taken to stay so: only the world knows better.
        self.decider.decide_among(&self.facts, self.alphabet, self.universe, self.explainer.legal)
    }

    fn standing(&self, decision: &Decision) -> Standing {
        match decision.ties.as_slice() {
            // Where no rule derives a legal action, any legal one will do.
            _ if decision.value == 0.0 => Standing::AnyAction,
            [only] if only == self.target => Standing::Alone,
            ties if ties.contains(self.target) => Standing::Tie,
            _ => Standing::Beaten,
        }
    }

    /// The smallest change for a goal, of at most `to` facts: one that keeps the constraints (fewer than `from` facts are known not to
    /// do then), else one that breaks some, where that is allowed.
    fn smallest(&mut self, goal: Goal, from: usize, to: usize) -> Found {
        let possible = self.smallest_that_keeps(Keep::Constraints, goal, from, to);
        match possible {
            Found::Found(_) => possible,
            _ if self.bounds.inconsistent && !(self.axioms.is_empty() && self.laws.is_empty()) => {
                self.smallest_that_keeps(Keep::Nothing, goal, 1, to)
            }
            _ => possible,
        }
    }

    fn smallest_that_keeps(&mut self, keep: Keep, goal: Goal, from: usize, to: usize) -> Found {
        self.left = self.bounds.states;
        self.cut = false;
        let hypotheses = if goal == Goal::Silent { Vec::new() } else { self.hypotheses() };
        let too_long = self.cut;
        for size in from..=to {
            self.cut = too_long;
            if let Some(change) = self.of_size(size, goal, keep, &hypotheses) {
                return Found::Found(change);
            }
            if self.left == 0 {
                return Found::GaveUp { changes: size - 1 };
            }
            if !self.cut {
                return Found::Impossible;
            }
        }
        Found::Beyond { changes: to }
    }

    fn of_size(&mut self, size: usize, goal: Goal, keep: Keep, hypotheses: &[Hypothesis]) -> Option<Change> {
        if goal == Goal::Silent {
            self.fixed.clear();
            let change = self.repair(size, goal, keep).then(|| self.change());
            self.undo(0);
            return change;
        }
        for hypothesis in hypotheses {
            let Some(budget) = size.checked_sub(hypothesis.forced.len()) else {
                self.cut = true;
                continue;
            };
            self.fixed.clone_from(&hypothesis.body);
            hypothesis.forced.iter().for_each(|atom| self.flip(atom));
            let change = self.repair(budget, goal, keep).then(|| self.change());
            self.undo(0);
            if change.is_some() {
                return change;
            }
        }
        None
    }

    /// Flips up to `budget` more facts until nothing stands in the way. Where that works, the flips stay.
    fn repair(&mut self, budget: usize, goal: Goal, keep: Keep) -> bool {
        if is_spent() {
            self.left = 0;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let Some(obstacle) = self.obstacle(goal, keep) else { return true };
        let options: Vec<Atom> = obstacle.into_iter().filter(|atom| self.is_free(atom)).collect();
        if budget == 0 {
            self.cut |= !options.is_empty();
            return false;
        }
        let decided = self.fixed.len();
        for atom in options {
            let before = self.flipped.len();
            self.flip(&atom);
            // Once tried, a flip need not be considered in the branches that come after.
            self.fixed.push(atom);
            if self.repair(budget - 1, goal, keep) {
                return true;
            }
            self.undo(before);
        }
        self.fixed.truncate(decided);
        false
    }

    /// The atoms of a derivation, or of a broken constraint, that must not stay as it is.
    fn obstacle(&self, goal: Goal, keep: Keep) -> Option<Vec<Atom>> {
        let decision = self.decide();
        let standing = self.standing(&decision);
        let reached = match goal {
            Goal::Chosen => matches!(standing, Standing::Alone | Standing::Tie),
            Goal::Alone => standing == Standing::Alone,
            Goal::Silent => standing == Standing::AnyAction,
        };
        if !reached && let Some(relevant) = &self.relevant {
            return Some(relevant.clone());
        }
        if !reached {
            let rival = decision.ties.iter().find(|a| goal == Goal::Silent || *a != self.target);
            // Where a rule is supposed to fire, its body is fixed: something fires.
            let Some(rival) = rival else { return Some(Vec::new()) };
            let derived = self.explainer.derivation(rival, &self.facts, self.universe);
            return Some(
                derived
                    .map_or_else(Vec::new, |(i, phi)| self.atoms(&self.explainer.policy.rules[i].body, &phi)),
            );
        }
        if keep == Keep::Constraints { self.broken().next().map(|(_, atoms)| atoms) } else { None }
    }

    /// The ground atoms of a body.
    fn atoms(&self, body: &[Literal], phi: &[Option<Object>]) -> Vec<Atom> {
        let atom = |l: &Literal| match ground(l, phi, self.universe) {
            Ground::Objects(args) => Some((l.pred, args)),
            Ground::Absent | Ground::Open => None,
        };
        body.iter().filter_map(atom).collect()
    }

    /// The constraints and laws that the changed state breaks and the original one does not, each with the atoms of a violation.
    fn broken(&self) -> impl Iterator<Item = (String, Vec<Atom>)> + '_ {
        let states = (&self.facts, self.original);
        self.broken_axioms().chain(self.laws.broken(states, &self.flipped, self.alphabet, self.universe))
    }

    fn broken_axioms(&self) -> impl Iterator<Item = (String, Vec<Atom>)> + '_ {
        self.axioms.iter().filter_map(|axiom| {
            let holds =
                |l: &Literal, phi: &[Option<Object>], facts: &Facts| match ground(l, phi, self.universe) {
                    Ground::Objects(args) => facts.holds(l.pred, &args) == l.positive,
                    Ground::Absent => !l.positive,
                    Ground::Open => true,
                };
            let violated = |phi: &[Option<Object>], facts: &Facts| {
                axiom.body.iter().all(|l| holds(l, phi, facts))
                    && axiom.head.is_none_or(|h| !holds(h, phi, facts))
            };
            let mut found = None;
            let mut phi = vec![None; axiom.variables];
            let _ = axiom.query.solve(&self.facts, self.universe, &mut phi, &mut |phi| {
                if violated(phi, &self.facts) && !violated(phi, self.original) {
                    let mut atoms = self.atoms(axiom.body, phi);
                    atoms.extend(axiom.head.iter().flat_map(|h| self.atoms(std::slice::from_ref(*h), phi)));
                    found = Some(atoms);
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            found.map(|atoms| (axiom.text.to_string(), atoms))
        })
    }

    fn flip(&mut self, atom: &Atom) {
        self.facts.flip(atom.0, &atom.1);
        self.facts.derive(self.universe);
        self.flipped.push(atom.clone());
    }

    /// Takes back all flips but this many at the front.
    fn undo(&mut self, keep: usize) {
        let any = self.flipped.len() > keep;
        for (pred, args) in self.flipped.drain(keep..) {
            self.facts.flip(pred, &args);
        }
        if any {
            self.facts.derive(self.universe);
        }
    }

    fn change(&self) -> Change {
        let mut flipped = self.flipped.clone();
        flipped.sort();
        let show = |(pred, args): &Atom| self.universe.show(&self.alphabet.predicate(*pred).name, args);
        let (removed, added): (Vec<_>, Vec<_>) =
            flipped.iter().partition(|(p, a)| self.original.holds(*p, a));
        let decision = self.decide();
        let derived = self.explainer.derivation(self.target, &self.facts, self.universe);
        let others = decision.ties.iter().filter(|a| *a != self.target);
        Change {
            removed: removed.into_iter().map(show).collect(),
            added: added.into_iter().map(show).collect(),
            standing: self.standing(&decision),
            fired: derived.map(|(i, phi)| self.explainer.describe(i, &phi, &self.facts, self.universe)),
            ties: others.map(|a| self.explainer.show(a, self.universe)).collect(),
            breaks: self.broken().map(|(text, _)| text).collect(),
            look: None,
        }
    }

    /// Every rule for the action under every substitution that few enough flips make true, those with the fewest first.
    fn hypotheses(&mut self) -> Vec<Hypothesis> {
        if self.relevant.is_some() {
            return vec![Hypothesis { forced: Vec::new(), body: Vec::new() }];
        }
        let mut found = Vec::new();
        for i in self.explainer.rules_for(self.target.action) {
            let rule = &self.explainer.policy.rules[i];
            let named = named(rule, self.universe);
            if self.target.args.iter().any(|o| named.contains(o)) {
                continue; // the body names an object that a variable of the head would stand for
            }
            let mut phi = bind(rule, &self.target.args);
            let open = open_variables(rule, &phi, self.alphabet, self.universe);
            self.extend(&rule.body, &open, &mut phi, &mut found);
        }
        found.sort_by_key(|h| h.forced.len());
        found
    }

    fn extend(
        &mut self,
        body: &[Literal],
        open: &[(usize, Vec<Object>)],
        phi: &mut Phi,
        found: &mut Vec<Hypothesis>,
    ) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let mut needed: Vec<(Atom, bool)> = Vec::new();
        for literal in body {
            match ground(literal, phi, self.universe) {
                Ground::Absent if literal.positive => return,
                Ground::Absent | Ground::Open => {}
                Ground::Objects(args) => needed.push(((literal.pred, args), literal.positive)),
            }
        }
        // A body with an atom and its negation never holds.
        if needed.iter().any(|(atom, positive)| needed.contains(&(atom.clone(), !positive))) {
            return;
        }
        let fails = |(atom, positive): &(Atom, bool)| self.facts.holds(atom.0, &atom.1) != *positive;
        let mut forced: Vec<Atom> =
            needed.iter().filter(|n| fails(n)).map(|(atom, _)| atom.clone()).collect();
        forced.sort();
        forced.dedup();
        self.fixed.clear();
        if !forced.iter().all(|atom| self.is_free(atom)) {
            return;
        }
        if forced.len() > self.bounds.changes {
            self.cut = true;
            return;
        }
        let Some(((v, objects), rest)) = open.split_first() else {
            found.push(Hypothesis { forced, body: needed.into_iter().map(|(atom, _)| atom).collect() });
            return;
        };
        for &o in objects {
            if !phi.contains(&Some(o)) {
                phi[*v] = Some(o);
                self.extend(body, rest, phi, found);
                phi[*v] = None;
            }
        }
    }
}
