//! What is learned: the rule slots of an alphabet with their candidate atoms and constraints.

use std::ops::Range;
use std::sync::Arc;

use derrl_logic::syntax::Indicator;
use derrl_logic::{Action, Alphabet, Choice, Grounder, Literal, Policy, Rule, RuleCount, candidate_bound};

use crate::error::{Error, MOST_CANDIDATES};
use crate::language::body::Body;
use crate::language::cache::GroundingCache;
use crate::language::constraints::Constraints;
use crate::language::ids::{KindId, Lane, Learner, Place, SlotId, Slots};
use crate::language::slot::{Given, RuleDistribution, Slot};
use crate::settings::config::{Config, ConstraintMode};

/// An alphabet prepared for learning, shared by all restarts.
#[derive(Debug)]
pub struct Problem {
    /// The alphabet.
    pub alphabet: Arc<Alphabet>,
    /// K by action, and how states are grounded over it.
    pub grounder: Grounder,
    /// All rule slots: learner after learner, within each those of one action together.
    pub slots: Vec<Slot>,
    /// The slots of each action, for the first learner.
    slots_of: Vec<Range<usize>>,
    /// How many slots a learner has.
    per_learner: usize,
    /// The kinds of actions.
    kinds: Vec<Kind>,
    /// Which action of its kind each action is.
    place_in_kind: Vec<usize>,
    /// Which slot of its kind each slot is.
    lanes: Vec<Lane>,
    /// Which slot of its action each slot is.
    places: Vec<Place>,
    /// The constraints on the bodies of each action.
    constraints: Vec<Constraints>,
    /// Choices that a rule of each action may end with; none unless they are given.
    choices: Vec<Vec<Choice>>,
    /// States grounded so far, by any restart.
    pub cache: GroundingCache,
}

/// Actions over the same candidate atoms: with the same arguments they have the same masks.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// The actions.
    pub actions: Vec<Action>,
    /// Their slots, for the first learner, action after action.
    pub slots: Vec<SlotId>,
}

/// How many rules the gradient looks for at once where their number is to be found: enough to tell cases apart. Rules
/// that are not needed go in the end.
const AUTO_SLOTS: usize = 2;

impl Problem {
    /// Prepares an alphabet for this many learners. Every action needs candidate atoms.
    pub fn new(alphabet: &Arc<Alphabet>, learners: usize) -> Result<Problem, Error> {
        Problem::starting_from(alphabet, learners, &[])
    }

    /// The same, where every learner starts from these rules. There is room for rules more, unless the domain says how
    /// many an action may have.
    pub fn starting_from(
        alphabet: &Arc<Alphabet>,
        learners: usize,
        given: &[Given],
    ) -> Result<Problem, Error> {
        let bound = candidate_bound(alphabet);
        if bound > MOST_CANDIDATES {
            return Err(Error::TooManyCandidates { bound });
        }
        let grounder = Grounder::new(alphabet);
        let mut slots = Vec::new();
        let mut slots_of = Vec::new();
        let mut constraints = Vec::new();
        for (i, decl) in alphabet.actions.iter().enumerate() {
            let action = Action(i as u32);
            let atoms = grounder.atoms(action).len();
            if atoms == 0 && alphabet.measures.is_empty() {
                return Err(Error::NoCandidates {
                    action: Indicator(&decl.name, decl.args.len()).to_string(),
                });
            }
            let given: Vec<&Given> = given.iter().filter(|g| g.rule.action == action).collect();
            for g in &given {
                check_given(&g.rule, alphabet, &grounder)?;
            }
            let rules = match decl.rules {
                RuleCount::AtMost(n) if n < given.len() => {
                    let reason = format!(
                        "{} rules are given for {}/{}, and the domain allows {n}",
                        given.len(),
                        decl.name,
                        decl.args.len()
                    );
                    return Err(Error::Given(reason));
                }
                RuleCount::AtMost(n) => n,
                RuleCount::Auto => {
                    let frozen = given.iter().filter(|g| g.frozen).count();
                    frozen + AUTO_SLOTS.max(given.len() - frozen + 1)
                }
            };
            let from = slots.len();
            slots.extend((0..rules).map(|i| Slot { action, atoms, given: given.get(i).map(|&g| g.clone()) }));
            slots_of.push(from..slots.len());
            constraints.push(Constraints::new(alphabet, &grounder, action));
        }
        let kind = |kind: usize| {
            let actions = (0..alphabet.actions.len() as u32).map(Action);
            let actions: Vec<Action> = actions.filter(|&a| grounder.kind(a) == kind).collect();
            let slots = actions.iter().flat_map(|a| slots_of[a.0 as usize].clone()).map(SlotId::at).collect();
            Kind { actions, slots }
        };
        let kinds: Vec<Kind> = (0..grounder.kinds()).map(kind).collect();
        let kind_of = |action: Action| &kinds[grounder.kind(action)];
        let place_in_kind = (0..alphabet.actions.len() as u32)
            .map(|a| place(&kind_of(Action(a)).actions, &Action(a)))
            .collect();
        let lane = |(k, s): (usize, &Slot)| Lane::at(place(&kind_of(s.action).slots, &SlotId::at(k)));
        let lanes: Vec<Lane> = slots.iter().enumerate().map(lane).collect();
        let places: Vec<Place> =
            slots_of.iter().flat_map(|slots: &Range<usize>| 0..slots.len()).map(Place::at).collect();
        let per_learner = slots.len();
        let slots = std::iter::repeat_n(slots, learners).flatten().collect();
        Ok(Problem {
            per_learner,
            kinds,
            place_in_kind,
            lanes: lanes.repeat(learners),
            places: places.repeat(learners),
            alphabet: Arc::clone(alphabet),
            grounder,
            slots,
            slots_of,
            constraints,
            choices: vec![Vec::new(); alphabet.actions.len()],
            cache: GroundingCache::default(),
        })
    }

    /// The same problem with choices that a rule of each action may end with.
    #[must_use]
    pub fn with_choices(self, choices: Vec<Vec<Choice>>) -> Problem {
        Problem { choices, ..self }
    }

    /// The choices that a rule of an action may end with.
    pub fn choices(&self, action: Action) -> &[Choice] {
        &self.choices[action.0 as usize]
    }

    /// The same problem in another language: rules that it starts from keep their slots.
    pub fn in_language(&self, alphabet: &Arc<Alphabet>) -> Result<Problem, Error> {
        let given: Vec<Given> = self.slots[self.slots_of_learner(Learner::FIRST).range()]
            .iter()
            .filter_map(|s| s.given.clone())
            .collect();
        Problem::starting_from(alphabet, self.learners(), &given)
    }

    /// All actions.
    pub fn actions(&self) -> impl Iterator<Item = Action> + use<> {
        (0..self.alphabet.actions.len() as u32).map(Action)
    }

    /// The slots of an action of a learner.
    #[inline]
    pub fn slots_of(&self, learner: Learner, action: Action) -> Slots {
        let slots = &self.slots_of[action.0 as usize];
        let base = learner.index() * self.per_learner;
        Slots::new(base + slots.start..base + slots.end)
    }

    /// A slot.
    #[inline]
    pub fn slot(&self, slot: SlotId) -> &Slot {
        &self.slots[slot.index()]
    }

    /// Which of the slots of its action a slot is.
    #[inline]
    pub fn place(&self, slot: SlotId) -> Place {
        self.places[slot.index()]
    }

    /// The kind of an action.
    #[inline]
    pub fn kind_of(&self, action: Action) -> KindId {
        KindId::at(self.grounder.kind(action))
    }

    /// A kind of actions.
    #[inline]
    pub fn kind(&self, kind: KindId) -> &Kind {
        &self.kinds[kind.index()]
    }

    /// All kinds of actions.
    pub fn kinds(&self) -> impl ExactSizeIterator<Item = KindId> + use<> {
        (0..self.kinds.len() as u32).map(KindId)
    }

    /// Which action of its kind an action is.
    pub fn place_in_kind(&self, action: Action) -> usize {
        self.place_in_kind[action.0 as usize]
    }

    /// Which slot of its kind a slot is.
    pub fn lane(&self, slot: SlotId) -> Lane {
        self.lanes[slot.index()]
    }

    /// The most slots that an action has.
    pub fn widest(&self) -> usize {
        self.slots_of.iter().map(Range::len).max().unwrap_or(0)
    }

    /// How many learners there are.
    pub fn learners(&self) -> usize {
        self.slots.len() / self.per_learner
    }

    /// Each learner.
    pub fn each_learner(&self) -> impl ExactSizeIterator<Item = Learner> + use<> {
        (0..self.learners() as u32).map(Learner)
    }

    /// All slots of a learner.
    #[inline]
    pub fn slots_of_learner(&self, learner: Learner) -> Slots {
        let base = learner.index() * self.per_learner;
        Slots::new(base..base + self.per_learner)
    }

    /// The constraints on the bodies of an action.
    pub fn constraints(&self, action: Action) -> &Constraints {
        &self.constraints[action.0 as usize]
    }

    /// The places of a rule's atoms in K; those that K has not are left out.
    pub fn places(&self, rule: &Rule) -> Vec<usize> {
        let atoms = self.grounder.atoms(rule.action);
        rule.body.iter().filter_map(|literal| atoms.iter().position(|a| a == literal)).collect()
    }

    /// Whether no rule has to stay.
    pub fn is_free(&self) -> bool {
        self.slots.iter().all(|slot| slot.frozen().is_none())
    }

    /// Whether a rule is one of those that stay as they are.
    pub fn is_frozen(&self, rule: &Rule) -> bool {
        let arity = self.alphabet.action(rule.action).args.len();
        let named = |rule: &Rule| rule.canonical(arity);
        let is =
            |frozen: &Rule| frozen == rule || frozen.action == rule.action && named(frozen) == named(rule);
        self.slots.iter().filter_map(Slot::frozen).any(is)
    }

    /// The rules that stay as they are.
    pub fn frozen(&self) -> Policy {
        let slots = &self.slots[self.slots_of_learner(Learner::FIRST).range()];
        Policy { rules: slots.iter().filter_map(Slot::frozen).cloned().collect() }
    }

    /// The rules to start from.
    pub fn given(&self) -> Policy {
        let slots = &self.slots[self.slots_of_learner(Learner::FIRST).range()];
        Policy { rules: slots.iter().filter_map(|s| s.given.as_ref()).map(|g| g.rule.clone()).collect() }
    }

    /// K of a slot.
    pub fn atoms(&self, slot: SlotId) -> &[Literal] {
        self.grounder.atoms(self.slot(slot).action)
    }

    /// The policy of a learner taken by argmax: atoms with P >= 1/2, each rule valued by the t-norm of its weights
    /// times its confidence, to two decimals. Rules without a body or without value abstain and are left out.
    pub fn policy(&self, learner: Learner, distributions: &[RuleDistribution], config: &Config) -> Policy {
        let mut rules = Vec::new();
        for slot in self.slots_of_learner(learner).iter() {
            if let Some(rule) = self.slot(slot).frozen() {
                rules.push(rule.clone());
                continue;
            }
            let d = &distributions[slot.index()];
            let mut chosen: Vec<usize> = (0..d.p.len()).filter(|&j| d.p[j] >= 0.5).collect();
            self.make_typed(slot, &d.p, &mut chosen);
            self.make_safe(slot, &mut chosen);
            let weights: Vec<f64> = chosen.iter().map(|&j| d.p[j]).collect();
            let ones = vec![1.0; weights.len()];
            let value = config.tnorm.value(&ones, &weights) * d.confidence;
            let weight = (value * 100.0).round() / 100.0;
            if !chosen.is_empty() && weight > 0.0 {
                let body = chosen.iter().map(|&j| self.atoms(slot)[j].clone()).collect();
                rules.push(Rule::new(weight, self.slot(slot).action, body));
            }
        }
        Policy { rules }
    }

    /// Whether there are bodies that the learner may not propose.
    pub fn restricts(&self, config: &Config) -> bool {
        config.constraints == ConstraintMode::Hard || self.alphabet.max_body.is_some()
    }

    /// Takes atoms out of a sampled body until it is one the learner may propose: no constraint violated in `hard` mode
    /// (the least likely atom of a violated set goes), and no longer than the domain allows.
    pub fn legalise(&self, config: &Config, slot: SlotId, p: &[f64], body: &mut [u64]) {
        if self.slot(slot).frozen().is_some() {
            return;
        }
        if config.constraints == ConstraintMode::Hard {
            let constraints = self.constraints(self.slot(slot).action);
            while let Some(set) = constraints.violated(body) {
                drop_least(set.iter().copied(), p, body);
            }
        }
        if let Some(most) = self.alphabet.max_body {
            while Body(&*body).len() > most {
                let all: Vec<usize> = Body(&*body).atoms().collect();
                drop_least(all.into_iter(), p, body);
            }
        }
    }

    /// Drops the less likely of two atoms that use a variable at types which no object has both of: together they never
    /// hold, or the negated one of them says nothing.
    fn make_typed(&self, slot: SlotId, p: &[f64], chosen: &mut Vec<usize>) {
        let atoms = self.atoms(slot);
        let mut likely = std::mem::take(chosen);
        likely.sort_by(|&i, &j| p[j].total_cmp(&p[i]).then(i.cmp(&j)));
        for j in likely {
            if chosen.iter().all(|&i| self.alphabet.fit(&atoms[i], &atoms[j])) {
                chosen.push(j);
            }
        }
        chosen.sort_unstable();
    }

    /// Drops negated atoms with a variable that neither the head nor a positive atom binds.
    fn make_safe(&self, slot: SlotId, chosen: &mut Vec<usize>) {
        let atoms = self.atoms(slot);
        let arity = self.alphabet.action(self.slot(slot).action).args.len();
        let positive: Vec<usize> = chosen.iter().copied().filter(|&j| atoms[j].positive).collect();
        chosen.retain(|&j| {
            atoms[j].positive
                || atoms[j].vars().all(|v| {
                    usize::from(v.0) < arity || positive.iter().any(|&i| atoms[i].vars().any(|w| w == v))
                })
        });
    }
}

/// Where something is in a list that has it.
fn place<T: PartialEq>(list: &[T], of: &T) -> usize {
    list.iter().take_while(|&item| item != of).count()
}

/// An error if a given rule is none that could be learned.
fn check_given(rule: &Rule, alphabet: &Alphabet, grounder: &Grounder) -> Result<(), Error> {
    let text = rule.display(alphabet);
    let decl = alphabet.action(rule.action);
    if rule.body.is_empty() || rule.weight <= 0.0 {
        return Err(Error::Given(format!(
            "`{text}` has no body or no value: training has nothing to start from"
        )));
    }
    let atoms = grounder.atoms(rule.action);
    match rule.body.iter().find(|literal| !atoms.contains(literal)) {
        None => Ok(()),
        Some(literal) => Err(Error::Given(format!(
            "`{}` in `{text}` is not among the candidate atoms of {}/{}: the domain has {} variables, and may not allow \
             this atom to be negated, a constant here, or the predicate in rules of this action",
            literal.display(alphabet),
            decl.name,
            decl.args.len(),
            alphabet.variables_for(decl.args.len()),
        ))),
    }
}

/// Takes the least likely of these atoms out of the body.
fn drop_least(atoms: impl Iterator<Item = usize>, p: &[f64], body: &mut [u64]) {
    if let Some(j) = atoms.min_by(|&i, &j| p[i].total_cmp(&p[j])) {
        Body(body).remove(j);
    }
}
