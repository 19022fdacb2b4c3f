//! K: the candidate atoms that may stand in the body of a rule.

use crate::alphabet::{Action, Alphabet, Pred, Predicate, Role, Type, Var};
use crate::rule::{Arg, Literal};

/// The candidate atoms K of an action, in the order of the alphabet: every predicate with every tuple over
/// the variables of V (and the constants that rules may mention), negations after the positive atoms.
///
/// Atoms whose variables cannot have the types of their places are left out; so are atoms over constants
/// alone and predicates that the action may not use. With no types and no bias this is exactly the paper's K.
///
/// ```
/// use derrl_logic::{candidates, Action, Alphabet, Source};
///
/// let blocks = Alphabet::parse(&Source::new("blocks.pl", "
///     :- action(move/2).
///     :- state(top/1).  :- state(on/2).
///     :- background(goal_on/2).  :- background(isFloor/1).
///     :- variables(3).
/// ")).unwrap();
/// assert_eq!(candidates(&blocks, Action(0)).len(), 3 + 9 + 9 + 3);
/// ```
pub fn candidates(alphabet: &Alphabet, action: Action) -> Vec<Literal> {
    let decl = alphabet.action(action);
    let mut terms: Vec<Arg> =
        (0..alphabet.variables_for(decl.args.len())).map(|v| Arg::Var(Var(v as u8))).collect();
    terms.extend(alphabet.constants.iter().cloned().map(Arg::Const));
    let mut positive = Vec::new();
    let mut negated = Vec::new();
    for (i, predicate) in alphabet.predicates.iter().enumerate() {
        let pred = Pred(i as u32);
        if decl.forbidden.contains(&pred) || predicate.role == Role::Legal {
            continue;
        }
        for args in tuples(&terms, predicate.args.len()) {
            let ground = !args.is_empty() && args.iter().all(|a| matches!(a, Arg::Const(_)));
            if ground || !well_typed(alphabet, &decl.args, &predicate.args, &args) {
                continue;
            }
            if predicate.negatable {
                negated.push(Literal { positive: false, pred, args: args.clone() });
            }
            positive.push(Literal { positive: true, pred, args });
        }
    }
    positive.append(&mut negated);
    positive
}

/// About how many candidate atoms an action has at the most: exactly so many where types leave none out and nothing is forbidden. It takes no
/// time, where [`candidates`] takes time and memory in their number.
pub fn candidate_bound(alphabet: &Alphabet) -> f64 {
    let terms = (alphabet.variables + alphabet.constants.len()) as f64;
    let of = |p: &Predicate| terms.powi(p.args.len() as i32) * if p.negatable { 2.0 } else { 1.0 };
    alphabet.predicates.iter().filter(|p| p.role != Role::Legal).map(of).sum()
}

/// Every tuple of `arity` terms, the last place changing fastest.
fn tuples(terms: &[Arg], arity: usize) -> Vec<Vec<Arg>> {
    let mut all = vec![Vec::new()];
    for _ in 0..arity {
        all = all
            .into_iter()
            .flat_map(|t: Vec<Arg>| {
                terms.iter().map(move |a| {
                    let mut longer = t.clone();
                    longer.push(a.clone());
                    longer
                })
            })
            .collect();
    }
    all
}

/// Whether each variable can have all the types that its places and the head ask of it.
fn well_typed(alphabet: &Alphabet, head: &[Type], places: &[Type], args: &[Arg]) -> bool {
    let types = &alphabet.types;
    let mut asked: Vec<(Var, Type)> = head.iter().enumerate().map(|(i, &t)| (Var(i as u8), t)).collect();
    for (arg, &place) in args.iter().zip(places) {
        if let Arg::Var(v) = arg {
            if asked.iter().any(|&(w, t)| w == *v && !types.overlap(t, place)) {
                return false;
            }
            asked.push((*v, place));
        }
    }
    true
}
