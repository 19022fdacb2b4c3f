//! The ground atoms and ground actions of a training task: what a network of fixed size can see and do.
//!
//! The paper's MLP reads the ground-atom vector v and so has the size of the task it was trained on. In a state with
//! other objects, objects are matched by name: an atom or an action about an object that training never saw has no
//! place in the network and is dropped (the state is *truncated*), and the places of objects that are absent stay 0 (it
//! is *padded*).

use std::sync::Arc;

use derrl_env::{choices, observe};
use derrl_logic::{Alphabet, Constant, Facts, GroundAction, Object, Type, Universe};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::experience::counted::Counted;
use crate::settings::streams::Purpose;
use crate::training::inference::GroundAtoms;

/// Instances drawn to see which objects the training task has.
const DRAWN: usize = 256;

/// The union of the objects of a task's instances, with the ground atoms and actions over them.
#[derive(Clone, Debug)]
pub struct TrainingAtoms {
    universe: Universe,
    atoms: GroundAtoms,
    actions: FxHashMap<GroundAction, u32>,
    active: usize,
}

/// For each object of a universe, the object of that name in training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched(Vec<Option<Object>>);

impl TrainingAtoms {
    /// Draws instances of the task to collect its objects. The order of the objects is that of their first sight.
    pub fn collect(alphabet: &Alphabet, env: &mut Counted<'_>) -> TrainingAtoms {
        let mut rng = Purpose::Objects.rng(0);
        let mut objects: Vec<(Constant, Type)> = Vec::new();
        let mut seen: FxHashSet<Arc<Universe>> = FxHashSet::default();
        let mut known = FxHashSet::default();
        let mut facts = Facts::new(alphabet);
        let (mut states, mut holding) = (0, 0);
        for _ in 0..DRAWN {
            env.reset(&mut rng);
            if env.world().fault().is_some() {
                break;
            }
            observe(env.world(), &mut facts);
            states += 1;
            holding += facts.iter().count();
            // Agents of one world see different objects: ask each in turn, with any action.
            for _ in 0..env.world().agents() {
                let universe = Arc::clone(env.world().universe());
                if env.world().agents() > 1
                    && let Some(action) = choices(env.world(), alphabet).first()
                {
                    env.step(action.action, &action.args, &mut rng);
                }
                if !seen.insert(Arc::clone(&universe)) {
                    continue;
                }
                for o in universe.objects() {
                    if known.insert(universe.name(o).clone()) {
                        objects.push((universe.name(o).clone(), universe.type_of(o)));
                    }
                }
            }
            if env.world().agents() > 1 || env.world().fault().is_some() {
                break; // the agents of a world stay the same, and drawing is costly there
            }
        }
        let universe = Universe::new(objects);
        let actions = universe.ground_actions(alphabet).into_iter().zip(0..).collect();
        TrainingAtoms {
            atoms: GroundAtoms::new(alphabet, &universe),
            actions,
            universe,
            active: holding / states.max(1),
        }
    }

    /// The length of v.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// How many atoms hold in an initial state, on average.
    pub fn active(&self) -> usize {
        self.active
    }

    /// The number of ground actions.
    pub fn actions(&self) -> usize {
        self.actions.len()
    }

    /// The training objects that the objects of a universe correspond to.
    pub fn matched(&self, universe: &Universe) -> Matched {
        Matched(universe.objects().map(|o| self.universe.find(universe.name(o))).collect())
    }

    /// The places of v that are 1, in order.
    pub fn encode(&self, matched: &Matched, facts: &Facts) -> Vec<u32> {
        let mut active: Vec<u32> = facts
            .iter()
            .filter_map(|(pred, args)| {
                let args: Option<Vec<Object>> = args.iter().map(|o| matched.0[o.0 as usize]).collect();
                args.map(|args| self.atoms.index(pred, &args) as u32)
            })
            .collect();
        active.sort_unstable();
        active
    }

    /// The place of a ground action in training, if it has one.
    pub fn action(&self, matched: &Matched, action: &GroundAction) -> Option<u32> {
        let args: Option<Vec<Object>> = action.args.iter().map(|o| matched.0[o.0 as usize]).collect();
        self.actions.get(&GroundAction { action: action.action, args: args? }).copied()
    }
}
