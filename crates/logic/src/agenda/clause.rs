//! Rules as clauses that count: what each way to make a body true adds to which actions.

use super::Keys;
use super::tally::Tally;
use crate::alphabet::{Type, Var};
use crate::join::Body;
use crate::query::Binding;

/// A body whose every substitution adds `adds` to the derivations of its head.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub adds: i32,
    pub head: Head,
    pub body: Body,
}

/// The head of a clause. Its arguments are the first variables.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub action: usize,
    pub types: Vec<Type>,
    /// Whether the body leaves the last argument open.
    pub row: bool,
}

impl Head {
    /// The key of the action, or of the row of actions, that the head is under a substitution; `None` where types do not fit.
    #[inline]
    pub fn key(&self, phi: &Binding, keys: &Keys) -> Option<u64> {
        let bound = self.types.len() - usize::from(self.row);
        let mut key = keys.action(self.action);
        for (o, &t) in phi.iter().zip(&self.types[..bound]) {
            let o = (*o).filter(|&o| keys.fits(o, t))?;
            key = keys.packing.push(key, o);
        }
        Some(key)
    }
}

impl Clause {
    /// Adds `adds` to the derivations of what the head says under a substitution of the whole body.
    pub fn count(&self, phi: &Binding, adds: i32, keys: &Keys, tally: &mut Tally) {
        let head = &self.head;
        let Some(row) = head.key(phi, keys) else { return };
        if !head.row {
            return tally.add(row, adds);
        }
        let bound = head.types.len() - 1;
        tally.add_row(row, adds);
        // The last argument is none of the objects that the clause speaks of already, but those before it: rows leave these out.
        let others = self.body.identity.excluded(Var(bound as u8), phi);
        for (i, o) in others.clone().enumerate() {
            let counts = keys.fits(o, head.types[bound]) && !phi[..bound].contains(&Some(o));
            if counts && !others.clone().take(i).any(|before| before == o) {
                tally.add(keys.packing.push(row, o), -adds);
            }
        }
    }
}
