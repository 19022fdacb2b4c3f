//! Shields: rules that forbid actions, whoever acts.
//!
//! ```prolog
//! never(move(X, Y)) :- fragile(Y).
//! never(move(X, Y)) :- asleep(X).
//! ```
//!
//! An action is forbidden where the body of one of its rules holds. Where every action is forbidden, the *least bad* ones may be
//! taken. Earlier rules are more important: of two actions, that one is less bad whose first rule against it comes later; of
//! two with the same first rule, that one against which fewer rules speak.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::alphabet::{Action, ActionDecl, Alphabet, Var};
use crate::diagnostic::{Error, Source};
use crate::facts::Facts;
use crate::parser;
use crate::policy::{Policy, read_never};
use crate::query::{Binding, Query};
use crate::resolve::Resolver;
use crate::rule::{Arg, Literal, Rule};
use crate::syntax::{Item, from_fn, write_application};
use crate::universe::{GroundAction, Universe};

/// The rules that forbid, compiled for one universe.
#[derive(Clone, Debug)]
pub struct Shield {
    /// For each action its rules: their places in [`Alphabet::shield`], and their bodies for a head that is known.
    rules: Vec<Vec<(usize, Query)>>,
    variables: usize,
}

/// What a shield leaves of the actions of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// How many actions were forbidden.
    pub forbidden: usize,
    /// Whether all of them were, so that those that are left are the least bad.
    pub forced: bool,
}

impl Shield {
    /// The shield of an alphabet for these objects; `None` where it has no rule that forbids.
    pub fn new(alphabet: &Alphabet, universe: &Universe) -> Option<Shield> {
        if alphabet.shield.is_empty() {
            return None;
        }
        let mut rules = vec![Vec::new(); alphabet.actions.len()];
        for (i, rule) in alphabet.shield.iter().enumerate() {
            let arity = alphabet.action(rule.action).args.len();
            let head: Vec<Var> = (0..arity as u8).map(Var).collect();
            rules[rule.action.0 as usize].push((i, Query::new(&rule.body, &head, universe)));
        }
        let in_bodies = alphabet.shield.iter().flat_map(|r| &r.body).flat_map(Literal::vars);
        let in_heads = alphabet.actions.iter().map(|a| a.args.len());
        let variables = in_bodies.map(|v| v.0 as usize + 1).chain(in_heads).max().unwrap_or(0);
        Some(Shield { rules, variables })
    }

    /// The rules that forbid an action in a state, by their places in [`Alphabet::shield`], in order.
    pub fn forbidding(&self, action: &GroundAction, facts: &Facts, universe: &Universe) -> Vec<usize> {
        let mut binding = vec![None; self.variables];
        self.each(action, facts, universe, &mut binding).collect()
    }

    fn each<'a>(
        &'a self,
        action: &'a GroundAction,
        facts: &'a Facts,
        universe: &'a Universe,
        binding: &'a mut Binding,
    ) -> impl Iterator<Item = usize> + 'a {
        self.rules[action.action.0 as usize].iter().filter_map(move |(i, query)| {
            binding.fill(None);
            binding.iter_mut().zip(&action.args).for_each(|(b, o)| *b = Some(*o));
            query.holds(facts, universe, binding).then_some(*i)
        })
    }

    /// How bad a forbidden action is: the first rule against it, and how many there are more.
    fn badness(
        &self,
        action: &GroundAction,
        facts: &Facts,
        universe: &Universe,
        binding: &mut Binding,
    ) -> Option<(Reverse<usize>, usize)> {
        let mut rules = self.each(action, facts, universe, binding);
        rules.next().map(|worst| (Reverse(worst), rules.count()))
    }

    /// Keeps of the actions of a state, from the `first` on, those that may be taken.
    pub fn restrict(
        &self,
        actions: &mut Vec<GroundAction>,
        first: usize,
        facts: &Facts,
        universe: &Universe,
    ) -> Left {
        let (mut free, mut bad) = (Vec::new(), Vec::new());
        let mut binding = vec![None; self.variables];
        for action in actions.drain(first..) {
            match self.badness(&action, facts, universe, &mut binding) {
                None => free.push(action),
                Some(badness) => bad.push((badness, action)),
            }
        }
        let left = Left { forbidden: bad.len(), forced: free.is_empty() && !bad.is_empty() };
        if left.forced {
            let least = bad.iter().map(|(badness, _)| *badness).min();
            free.extend(bad.into_iter().filter(|(b, _)| Some(*b) == least).map(|(_, action)| action));
        }
        actions.append(&mut free);
        left
    }
}

impl Alphabet {
    /// The rules that forbid in a file of their own, for this alphabet.
    ///
    /// ```
    /// use derrl_logic::{Alphabet, Source};
    /// let domain = ":- action(move(cup, place)). :- state(full(place)). :- state(hot(cup)).";
    /// let domain = Alphabet::parse(&Source::new("d.pl", domain))?;
    /// let shield = domain.read_shield(&Source::new("shield.pl", "never(move(X, Y)) :- full(Y), hot(X)."))?;
    /// assert_eq!(shield[0].display_never(&domain).to_string(), "never(move(X, Y)) :- full(Y), hot(X).");
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    ///
    /// Rules that compare numbers in a way that the domain does not are read as part of the domain's text only.
    pub fn read_shield(&self, source: &Source) -> Result<Vec<Rule>, Error> {
        let program = parser::parse(source)?;
        let resolver = Resolver::new(source, self);
        let rules = program.items.iter().map(|item| match item {
            Item::Clause(clause) => read_never(clause, &resolver),
            Item::Directive(directive) => {
                let error = source.error(directive.span, "a declaration among rules that forbid");
                Err(error.with_help("declarations belong in the domain file"))
            }
        });
        let rules: Vec<Rule> = rules.collect::<Result<_, _>>()?;
        if rules.is_empty() {
            let error = Error::new(format!("{} forbids nothing", source.name));
            return Err(error.with_help("write rules like `never(move(X, Y)) :- fragile(Y).`"));
        }
        Ok(rules)
    }
}

/// The value of a rule that stands for any action that is not forbidden, where those of the policy are larger.
const ANYTHING: f64 = 0.001;

impl Policy {
    /// The same policy for whoever knows no shields: predicates of its own say what is forbidden, every rule asks them, and where
    /// no rule fires another one allows what is not forbidden. The alphabet has no shield.
    ///
    /// Where every action is forbidden, no rule of it fires.
    pub fn carrying_shield(&self, alphabet: &Alphabet) -> (Policy, Arc<Alphabet>) {
        let free = Arc::new(Alphabet { shield: Vec::new(), ..alphabet.clone() });
        let names: Vec<String> = alphabet.actions.iter().map(|a| free_name(a, alphabet)).collect();
        let mut text = String::new();
        for ((i, decl), name) in alphabet.actions.iter().enumerate().zip(&names) {
            let head: Vec<Var> = (0..decl.args.len() as u8).map(Var).collect();
            let head = from_fn(|f| write_application(f, name, &head));
            let _ = writeln!(text, ":- derived({}).", alphabet.signature(name, &decl.args));
            let mut rules = alphabet.shield.iter().filter(|r| r.action.0 as usize == i).peekable();
            if rules.peek().is_none() {
                let _ = writeln!(text, "{head}{}", nothing(alphabet));
            }
            for rule in rules {
                let body = rule.canonical(decl.args.len());
                let _ = writeln!(text, "{head}{}", from_fn(|f| body.write_body(alphabet, f)));
            }
        }
        let _ = write!(text, "{}", self.display(alphabet));
        let (mut policy, alphabet) =
            Policy::read(&Source::new("policy", text), &free).expect("what was written is read");
        let weakest = policy.rules.iter().map(|r| r.weight).fold(1.0, f64::min);
        let allows = |action: usize| {
            let arity = alphabet.actions[action].args.len();
            let pred = alphabet.find_predicate(&names[action], arity).expect("it was declared above");
            Literal { positive: false, pred, args: (0..arity as u8).map(|v| Arg::Var(Var(v))).collect() }
        };
        for rule in &mut policy.rules {
            rule.body.push(allows(rule.action.0 as usize));
        }
        let any = (0..names.len())
            .map(|a| Rule::new(ANYTHING.min(weakest / 2.0), Action(a as u32), vec![allows(a)]));
        policy.rules.extend(any);
        (policy, alphabet)
    }
}

/// A name that nothing has.
fn free_name(action: &ActionDecl, alphabet: &Alphabet) -> String {
    let mut name = format!("forbidden_{}", action.name);
    if action.repeats() {
        // The same action may be declared with other arguments equal.
        name.extend(action.places.iter().flat_map(|place| ["_".to_string(), place.to_string()]));
    }
    while alphabet.predicates.iter().any(|p| p.name == name)
        || alphabet.actions.iter().any(|a| a.name == name)
    {
        name.push('_');
    }
    name
}

/// The end of a clause that never holds. There is something to say this of, since some rule forbids.
fn nothing(alphabet: &Alphabet) -> String {
    // Variables that no head has.
    let atom = |name: &str, arity: usize| {
        let args: Vec<String> = (0..arity).map(|i| format!("Any{i}")).collect();
        from_fn(|f| write_application(f, name, &args)).to_string()
    };
    let given = alphabet.predicates.iter().find(|p| p.role.is_given());
    match (given, alphabet.measures.first()) {
        (Some(p), _) => format!(" :- {0}, \\+ {0}.", atom(&p.name, p.args.len())),
        (None, Some(m)) => format!(" :- {0} > 0, {0} < 0.", atom(&m.name, m.args.len())),
        (None, None) => ".".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::Types;
    use crate::decide::Decider;
    use crate::ground_text::parse_facts;
    use crate::syntax::Constant;

    const DOMAIN: &str = ":- action(put(any, any)). :- action(wait). :- action(never). :- state(full/1). :- state(hot/1). \
        :- state(calm/0). :- derived(bad/1).\n\
        bad(X) :- hot(X), full(X).\n\
        never(put(X, Y)) :- full(Y).\n\
        never(put(X, Y)) :- hot(X), \\+ calm.\n\
        never(wait) :- bad(X).\n\
        never(never) :- full(Y).\n";

    fn left(facts: &str) -> (Vec<String>, Left) {
        let alphabet = Alphabet::parse(&Source::new("d.pl", DOMAIN)).unwrap();
        let again = Alphabet::parse(&Source::new("again.pl", alphabet.to_string())).unwrap();
        assert_eq!(again, alphabet, "a shield is written and read again");
        let universe = Universe::new(["a", "b"].map(|n| (Constant::name(n), Types::ANY)).to_vec());
        let given = parse_facts(&Source::new("s.pl", facts), &alphabet).unwrap();
        let facts = Facts::of(&given, &alphabet, &universe).unwrap();
        let mut actions = universe.ground_actions(&alphabet);
        let shield = Shield::new(&alphabet, &universe).unwrap();
        let left = shield.restrict(&mut actions, 0, &facts, &universe);
        (actions.iter().map(|a| universe.show_action(&alphabet, a.action, &a.args)).collect(), left)
    }

    #[test]
    fn what_is_forbidden_is_left_out() {
        let (actions, how) = left("calm.");
        assert_eq!((actions.len(), how), (4, Left::default()));
        let (actions, how) = left("full(a). calm.");
        assert_eq!(actions, ["put(a, b)", "wait"]);
        assert_eq!(how, Left { forbidden: 2, forced: false });
    }

    #[test]
    fn where_all_is_forbidden_the_least_bad_is_left() {
        // wait and never are forbidden by rules that come later than those against put.
        let (actions, how) = left("full(a). hot(a). full(b). hot(b).");
        assert_eq!((actions, how.forced), (vec!["never".to_string()], true));
    }

    /// The policy that carries the shield decides as the policy under it does, wherever something is not forbidden.
    #[test]
    fn a_policy_carries_its_shield() {
        let alphabet = Alphabet::parse(&Source::new("d.pl", DOMAIN)).unwrap();
        let universe = Universe::new(["a", "b", "c"].map(|n| (Constant::name(n), Types::ANY)).to_vec());
        let rules = "0.9::put(X, Y) :- hot(X), full(Y).\n0.5::put(X, Y) :- full(X).\n0.4::wait :- calm.\n";
        let policy = Policy::parse(&Source::new("p.pl", rules), &alphabet).unwrap();
        let (carrying, free) = policy.carrying_shield(&alphabet);
        assert!(free.shield.is_empty());
        let atoms = ["full(a)", "full(b)", "full(c)", "hot(a)", "hot(b)", "hot(c)", "calm"];
        for set in 0..1_u32 << atoms.len() {
            let held: String =
                (0..atoms.len()).filter(|i| set >> i & 1 == 1).map(|i| [atoms[i], ". "].concat()).collect();
            let state = |alphabet: &Alphabet| {
                Facts::of(
                    &parse_facts(&Source::new("s.pl", held.as_str()), alphabet).unwrap(),
                    alphabet,
                    &universe,
                )
                .unwrap()
            };
            let facts = state(&alphabet);
            let mut allowed = universe.ground_actions(&alphabet);
            let left =
                Shield::new(&alphabet, &universe).unwrap().restrict(&mut allowed, 0, &facts, &universe);
            let under = Decider::new(&policy, &alphabet, &universe)
                .decide_among(&facts, &alphabet, &universe, Some(&allowed))
                .ties;
            let alone =
                Decider::new(&carrying, &free, &universe).decide(&state(&free), &free, &universe).ties;
            assert_eq!(alone, if left.forced { Vec::new() } else { under }, "{held}");
        }
    }

    /// Where there are numbers only, and an action that is never forbidden.
    #[test]
    fn a_policy_carries_a_shield_of_numbers() {
        for (measure, atom) in [("speed", "speed"), ("speed(car)", "speed(X)")] {
            let text =
                format!(":- action(brake). :- action(go). :- number({measure}). never(go) :- {atom} > 3.");
            let alphabet = Alphabet::parse(&Source::new("d.pl", text)).unwrap();
            let rule = format!("go :- {atom} > 1.\n");
            let (policy, alphabet) = Policy::read(&Source::new("p.pl", rule), &Arc::new(alphabet)).unwrap();
            let (carrying, free) = policy.carrying_shield(&alphabet);
            let car = free.types.find("car").unwrap_or(Types::ANY);
            let universe = Universe::new(vec![(Constant::name("a"), car)]);
            let given = |speed: f64| {
                let place = if atom == "speed" { "speed" } else { "speed(a)" };
                let state = parse_facts(&Source::new("s.pl", format!("{place} = {speed}.")), &free).unwrap();
                Facts::of(&state, &free, &universe).unwrap()
            };
            let best = |speed: f64| {
                let ties =
                    Decider::new(&carrying, &free, &universe).decide(&given(speed), &free, &universe).ties;
                ties.iter().map(|a| free.action(a.action).name.clone()).collect::<Vec<_>>()
            };
            assert_eq!([best(2.0), best(4.0), best(0.0)], [vec!["go"], vec!["brake"], vec!["brake", "go"]]);
        }
    }

    #[test]
    fn mistakes_are_shown() {
        let alphabet = Alphabet::parse(&Source::new("d.pl", DOMAIN)).unwrap();
        for (text, said) in [
            ("never(put(X, Y)) :- fulll(Y).", "unknown predicate"),
            ("never(putt(X, Y)) :- full(Y).", "unknown action"),
            ("0.5::never(put(X, Y)) :- full(Y).", "has no weight"),
            ("never(put(X, Y)).", "does not say when"),
            ("never(put(X, a)) :- full(X).", "the arguments of a head are variables"),
            ("put(X, Y) :- full(X).", "and no others"),
            (":- state(p/1).", "a declaration among"),
            ("", "forbids nothing"),
        ] {
            let error = alphabet.read_shield(&Source::new("shield.pl", text)).unwrap_err();
            assert!(error.message.contains(said), "{text}: {error}");
        }
        let policy = crate::Policy::parse(&Source::new("p.pl", "never(wait) :- calm."), &alphabet);
        assert!(policy.unwrap_err().message.contains("not what is forbidden"));
    }
}
