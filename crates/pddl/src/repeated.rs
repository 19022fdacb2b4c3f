//! Actions with equal arguments: which of them problems allow.
//!
//! PDDL lets two parameters stand for one object; in derrl distinct variables stand for distinct objects. So `communicate(R, L, P, X, P)`,
//! which sends from the place of the sample itself, is declared as an action of its own, where something comes of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::alphabet::places_of;

use crate::domain::Domain;
use crate::simulator::{Actions, Simulator};
use crate::task::Task;

/// An action by its number, and which of its arguments stands at each place.
pub type Repeated = (u32, Vec<u8>);

/// Steps of a random walk in a problem per object, and the walks.
const STEPS: usize = 4;
const WALKS: usize = 8;
/// Legal actions that are listed at the most, all problems together: a fraction of a second.
const MOST_LISTED: usize = 300_000;

/// The actions with equal arguments that bring something about in some state of these problems that random walks come to.
pub fn repeated(tasks: &[Arc<Task>]) -> BTreeSet<Repeated> {
    let mut found = BTreeSet::new();
    let Some(first) = tasks.first() else { return found };
    let possible: Vec<bool> = (0..first.domain.schemas.len()).map(|s| may_repeat(&first.domain, s)).collect();
    if !possible.contains(&true) {
        return found;
    }
    let mut rng = Rng::new(tasks.len() as u64, 0);
    let mut listed = 0;
    let mut actions = Actions::new();
    // All problems are begun before one is walked again.
    for _ in 0..WALKS {
        for task in tasks {
            let mut simulator = Simulator::new(Arc::clone(task));
            for _ in 0..STEPS * task.size() {
                simulator.legal(&mut actions);
                listed += actions.len();
                if actions.is_empty() || listed > MOST_LISTED {
                    break;
                }
                for (schema, args) in actions.iter().filter(|(s, _)| possible[*s as usize]) {
                    let places = places_of(args);
                    let repeats = places.iter().enumerate().any(|(i, &p)| usize::from(p) != i);
                    let of_it = (schema, places);
                    if repeats && !found.contains(&of_it) && changes(&simulator, schema, args) {
                        found.insert(of_it);
                    }
                }
                let (schema, args) = actions.get(rng.below(actions.len()));
                let args = args.to_vec();
                simulator.apply(schema, &args);
            }
        }
    }
    found
}

/// Whether two parameters of an action can stand for one object.
fn may_repeat(domain: &Domain, schema: usize) -> bool {
    let schema = &domain.schemas[schema];
    let kinds = &schema.kinds[..schema.arity];
    (1..kinds.len()).any(|i| kinds[..i].iter().any(|&k| domain.types.overlap(k, kinds[i])))
}

/// Whether the types of equal arguments have one among them that is below all others.
pub(crate) fn has_types(domain: &Domain, (schema, places): &Repeated) -> bool {
    let kinds = &domain.schemas[*schema as usize].kinds;
    (0..places.len()).all(|i| {
        let same = || (0..places.len()).filter(move |&j| places[j] == places[i]);
        same().any(|j| same().all(|k| domain.types.is_subkind(kinds[j], kinds[k])))
    })
}

/// Whether an action changes something, and puts no object in a relation to itself that is in none where its problem begins: a
/// block on itself is a slip of whoever wrote the domain.
fn changes(simulator: &Simulator, schema: u32, args: &[u32]) -> bool {
    let mut after = simulator.clone();
    let (before, count) = (after.code(), after.change_count());
    if after.apply(schema, args).is_none() || after.code() == before {
        return false;
    }
    let repeats = |tuple: &[u32]| (1..tuple.len()).any(|i| tuple[..i].contains(&tuple[i]));
    let problem = &simulator.task().problem;
    let begins = |p: u32| {
        let arity = simulator.task().domain.predicates[p as usize].args.len();
        problem.init[p as usize].chunks_exact(arity).any(repeats)
    };
    after.changes(count).all(|(p, tuple, holds)| !holds || !repeats(tuple) || begins(p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;

    fn of(name: &str) -> Vec<String> {
        let generator = Generator::find(name).expect("a generator of that name");
        let domain = generator.domain().expect("it parses");
        let tasks: Vec<Arc<Task>> =
            (1..=12).map(|i| generator.task(&domain, 1 + i % 4, i as u64).expect("it parses")).collect();
        let shown = |(schema, places): Repeated| {
            format!(
                "{}{}",
                domain.schemas[schema as usize].name,
                places.iter().map(u8::to_string).collect::<String>()
            )
        };
        repeated(&tasks).into_iter().map(shown).collect()
    }

    #[test]
    fn a_rover_may_send_from_where_it_found_the_sample_or_of_where_the_lander_is() {
        assert_eq!(
            of("rovers"),
            [
                "communicate_soil_data01223",
                "communicate_soil_data01232",
                "communicate_rock_data01223",
                "communicate_rock_data01232"
            ]
        );
    }

    /// To sail to where one is changes nothing, and no block is on itself.
    #[test]
    fn what_brings_nothing_about_is_left_out() {
        for generator in crate::generate::GENERATORS.iter().filter(|g| g.name != "rovers") {
            assert_eq!(of(generator.name), Vec::<String>::new(), "{}", generator.name);
        }
    }
}
