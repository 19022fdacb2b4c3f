//! What may be done in a state of a family.

use derrl_env::Family;
use derrl_logic::{Alphabet, GroundAction};

/// The actions that may be taken in a state, in order.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The actions.
    pub actions: Vec<GroundAction>,
    /// Whether they are what the world lists as legal; else they are all there are.
    pub is_legal: bool,
}

impl Choices {
    /// Takes the choices of a state in place of those of another state of the same family.
    pub fn of(&mut self, family: &dyn Family, state: u128, alphabet: &Alphabet) {
        if self.is_legal || self.actions.is_empty() {
            *self = family_choices(family, state, alphabet);
        }
    }
}

/// The actions that may be taken in a state of a family.
pub fn family_choices(family: &dyn Family, state: u128, alphabet: &Alphabet) -> Choices {
    let mut actions = Vec::new();
    let is_legal = family.legal(state, &mut actions);
    if !is_legal {
        actions = family.universe().ground_actions(alphabet);
    }
    Choices { actions, is_legal }
}
