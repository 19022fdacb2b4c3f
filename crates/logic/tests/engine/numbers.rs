//! Comparisons and choices against code that tries every substitution.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use derrl_logic::{
    Agenda, Alphabet, Arg, Constant, Decider, Facts, GroundAction, Linear, Literal, Measure, Object, Policy,
    Pred, Rule, Source, Universe,
};
use derrl_logic::{Extreme, Op};
use proptest::collection::vec;
use proptest::prelude::*;

const DOMAIN: &str = "\
    :- action(a1(t)). :- action(a2(t, any)). :- action(a0).
    :- state(p(t)). :- state(r(any, t)). :- state(s).
    :- number(m0). :- number(m1(t), metre). :- number(n1(any), metre). :- number(m2(t, any)).
    :- subtype(u, t).";

const LEGAL: &str = ":- legal(a2/2). a2(X, Y) :- r(Y, X). a2(X, Y) :- m2(X, Y) > 0, n1(Y) < 1.";

const OBJECTS: [(&str, &str); 5] = [("a", "t"), ("b", "u"), ("c", "any"), ("d", "t"), ("e", "u")];

/// What may stand in a body, over variables of which `X` and `Y` are in the largest head.
const CONDITIONS: [&str; 22] = [
    "p(X)",
    "p(Z)",
    "r(Y, X)",
    "r(Z, X)",
    "s",
    "m0 > 0.5",
    "m0 =< -1",
    "m1(X) > 0",
    "m1(Z) >= 1",
    "m1(X) > m1(Z)",
    "m1(X) - n1(Z) =< -0.5",
    "2*m1(X) + 0.5*n1(X) < 1",
    "m2(X, Z) > m2(Z, X)",
    "m2(X, b) >= 0.5",
    "m2(Z, W) < 1",
    "m0 - m1(Z) < 0",
    "\\+ m1(X) > 0.5",
    "\\+ m2(X, Z) =< m1(Z) + 1",
    "n1(z) > 0",
    "m1(b) =< 0",
    "-n1(X) > -2",
    "m2(X, X) < 1",
];

const CHOICES: [&str; 9] = [
    "most(m1(X))",
    "least(m1(X))",
    "least(m2(X, Z))",
    "most(m1(Z) - 0.5*m2(X, Z))",
    "least(n1(Y))",
    "most(m2(X, b))",
    "most(m1(z))",
    "least(m1(X) + m0)",
    "most(m2(X, Y) - m1(X))",
];

fn alphabet(legal: bool) -> Arc<Alphabet> {
    let text = if legal { format!("{DOMAIN}\n{LEGAL}") } else { DOMAIN.to_string() };
    Arc::new(Alphabet::parse(&Source::new("d.pl", text)).expect("the domain is well-formed"))
}

fn universe(alphabet: &Alphabet) -> Universe {
    let typed = |(name, t): (&str, &str)| {
        (Constant::name(name), alphabet.types.find(t).expect("a type of the domain"))
    };
    Universe::new(OBJECTS.into_iter().map(typed).collect())
}

/// A rule as text, where these conditions make one: unsafe ones are left out.
fn rule(action: usize, conditions: &[usize], choices: &[usize]) -> String {
    let head = ["a1(X)", "a2(X, Y)", "a0"][action];
    let conditions = conditions.iter().map(|&c| CONDITIONS[c]);
    let all: Vec<&str> = conditions.chain(choices.iter().map(|&c| CHOICES[c])).collect();
    format!("{head} :- {}.", all.join(", "))
}

/// Numbers between -2 and 2 in quarters, so that many are equal: measure, objects, value.
type Numbers = Vec<(usize, [usize; 2], i32)>;

fn numbers() -> impl Strategy<Value = Numbers> {
    vec((0..4usize, prop::array::uniform2(0..5usize), -8..9i32), 0..60)
}

fn state(
    alphabet: &Alphabet,
    universe: &Universe,
    numbers: &Numbers,
    atoms: &[(usize, [usize; 2])],
) -> Facts {
    let mut facts = Facts::new(alphabet);
    for (measure, args, value) in numbers {
        let arity = alphabet.measures[*measure].args.len();
        let args: Vec<Object> = args.iter().take(arity).map(|&o| Object(o as u32)).collect();
        facts.set(Measure(*measure as u32), &args, f64::from(*value) / 4.0);
    }
    for (pred, args) in atoms {
        let arity = alphabet.predicates[*pred].args.len();
        let args: Vec<Object> = args.iter().take(arity).map(|&o| Object(o as u32)).collect();
        facts.push(Pred(*pred as u32), &args);
    }
    facts.seal();
    facts.derive(universe);
    assert_eq!(facts.fault(), None);
    facts
}

/// What was reported last.
fn reported(numbers: &Numbers, alphabet: &Alphabet) -> BTreeMap<(u32, Vec<usize>), f64> {
    let key = |m: usize, args: &[usize; 2]| (m as u32, args[..alphabet.measures[m].args.len()].to_vec());
    numbers.iter().map(|(m, args, value)| (key(*m, args), f64::from(*value) / 4.0)).collect()
}

/// The naive reading.
struct Naive<'a> {
    alphabet: &'a Alphabet,
    universe: &'a Universe,
    facts: &'a Facts,
    numbers: BTreeMap<(u32, Vec<usize>), f64>,
}

type Phi = Vec<Option<Object>>;

impl Naive<'_> {
    fn object(&self, arg: &Arg, phi: &Phi) -> Option<Object> {
        match arg {
            Arg::Var(v) => phi[v.0 as usize],
            Arg::Const(c) => self.universe.find(c),
        }
    }

    fn value(&self, of: &Linear, args: &[Arg], phi: &Phi) -> Option<f64> {
        let mut sum = 0.0;
        for term in &of.terms {
            let objects = term.places.iter().map(|&p| self.object(&args[p as usize], phi));
            let objects: Vec<usize> = objects.map(|o| o.map(|o| o.0 as usize)).collect::<Option<_>>()?;
            sum += term.factor * self.numbers.get(&(term.measure.0, objects))?;
        }
        Some(sum)
    }

    fn is_true(&self, literal: &Literal, phi: &Phi) -> bool {
        let holds = if let Some(comparison) = self.alphabet.comparison(literal.pred) {
            let value = self.value(&comparison.left, &literal.args, phi);
            value.is_some_and(|value| match comparison.op {
                Op::Greater => value > comparison.threshold,
                Op::AtLeast => value >= comparison.threshold,
                Op::Less => value < comparison.threshold,
                Op::AtMost => value <= comparison.threshold,
            })
        } else {
            let args: Option<Vec<Object>> = literal.args.iter().map(|a| self.object(a, phi)).collect();
            args.is_some_and(|args| self.facts.holds(literal.pred, &args))
        };
        holds == literal.positive
    }

    /// All substitutions by distinct objects that make the body true, head variables first.
    fn solutions(&self, rule: &Rule) -> Vec<Phi> {
        let arity = self.alphabet.action(rule.action).args.len();
        let in_body = rule.body.iter().flat_map(Literal::vars).map(|v| v.0 as usize + 1);
        let variables = in_body.max().unwrap_or(0).max(arity);
        let args = rule.body.iter().flat_map(|l| &l.args).chain(rule.choices.iter().flat_map(|c| &c.args));
        let named: BTreeSet<Object> =
            args.filter(|a| matches!(a, Arg::Const(_))).filter_map(|a| self.object(a, &vec![])).collect();
        let mut all: Vec<Phi> = vec![Vec::new()];
        for _ in 0..variables {
            let free = |phi: &Phi| {
                let objects = self.universe.objects();
                objects.filter(|o| !phi.contains(&Some(*o)) && !named.contains(o)).collect::<Vec<_>>()
            };
            let longer = |phi: &Phi| {
                free(phi).into_iter().map(|o| [&phi[..], &[Some(o)]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all.retain(|phi| rule.body.iter().all(|l| self.is_true(l, phi)));
        all
    }

    fn derived(&self, rule: &Rule, legal: Option<&[GroundAction]>) -> Vec<GroundAction> {
        let types = &self.alphabet.action(rule.action).args;
        let action = |phi: &Phi| GroundAction {
            action: rule.action,
            args: phi[..types.len()].iter().flatten().copied().collect(),
        };
        let is_legal = |a: &GroundAction| {
            let typed = a.args.iter().zip(types);
            let typed =
                typed.clone().all(|(&o, &t)| self.alphabet.types.is_subtype(self.universe.type_of(o), t));
            let by_domain =
                || self.alphabet.action(a.action).legal.is_none_or(|l| self.facts.holds(l, &a.args));
            typed && legal.map_or_else(by_domain, |legal| legal.contains(a))
        };
        let mut all = self.solutions(rule);
        all.retain(|phi| is_legal(&action(phi)));
        for choice in &rule.choices {
            let value = |phi: &Phi| self.value(&choice.of, &choice.args, phi);
            all.retain(|phi| value(phi).is_some());
            let values = all.iter().filter_map(value);
            let best = match choice.extreme {
                Extreme::Most => values.fold(f64::NEG_INFINITY, f64::max),
                Extreme::Least => values.fold(f64::INFINITY, f64::min),
            };
            all.retain(|phi| value(phi) == Some(best));
        }
        let mut actions: Vec<GroundAction> = all.iter().map(action).collect();
        actions.sort();
        actions.dedup();
        actions
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn decisions_are_the_naive_ones(
        has_legality in any::<bool>(),
        numbers in numbers(),
        atoms in vec((0..3usize, prop::array::uniform2(0..5usize)), 0..12),
        rules in vec((0..3usize, vec(0..CONDITIONS.len(), 0..4), vec(0..CHOICES.len(), 0..3)), 1..4),
        listed in proptest::option::of(vec(any::<prop::sample::Index>(), 0..20)),
    ) {
        let domain = alphabet(has_legality);
        let mut policies = Vec::new();
        let mut text = String::new();
        for (at, (action, conditions, choices)) in rules.iter().enumerate() {
            let rule = format!("0.{}::{}\n", 9 - at, rule(*action, conditions, choices));
            // Unsafe rules, and choices of what nothing binds, are refused.
            if Policy::read(&Source::new("rule.pl", rule.as_str()), &domain).is_ok() {
                text.push_str(&rule);
            }
        }
        let (policy, alphabet) = Policy::read(&Source::new("policy.pl", text.as_str()), &domain)
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        let printed = policy.display(&alphabet).to_string();
        let again = Policy::read(&Source::new("again.pl", printed.as_str()), &domain);
        let again = again.map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        prop_assert_eq!(again.0.display(&again.1).to_string(), printed);
        policies.push((policy, alphabet));
        policies.push(again);
        for (policy, alphabet) in &policies {
            let universe = universe(alphabet);
            let facts = state(alphabet, &universe, &numbers, &atoms);
            let every = universe.ground_actions(alphabet);
            let legal: Option<Vec<GroundAction>> = listed.as_ref().filter(|_| !has_legality).map(|all| {
                let set: BTreeSet<GroundAction> = all.iter().map(|i| i.get(&every).clone()).collect();
                set.into_iter().collect()
            });
            let naive = Naive {
                alphabet,
                universe: &universe,
                facts: &facts,
                numbers: reported(&numbers, alphabet),
            };
            let strongest = policy.rules.iter().map(|r| (r, naive.derived(r, legal.as_deref())));
            let strongest = strongest.filter(|(_, actions)| !actions.is_empty()).max_by(|a, b| a.0.weight.total_cmp(&b.0.weight));
            let decision =
                Decider::new(policy, alphabet, &universe).decide_among(&facts, alphabet, &universe, legal.as_deref());
            prop_assert_eq!(decision.value, strongest.as_ref().map_or(0.0, |(rule, _)| rule.weight), "{}", text);
            if let Some((_, actions)) = strongest {
                prop_assert_eq!(decision.ties, actions, "{}", text);
            }
            let numeric = policy.rules.iter().any(|r| {
                !r.choices.is_empty() || r.body.iter().any(|l| alphabet.comparison(l.pred).is_some())
            });
            if numeric {
                prop_assert!(Agenda::new(policy, alphabet, &universe).is_none());
            }
        }
    }

    #[test]
    fn numbers_are_a_table(numbers in numbers(), more in numbers()) {
        let alphabet = alphabet(false);
        let universe = universe(&alphabet);
        let mut facts = state(&alphabet, &universe, &numbers, &[]);
        let mut model = reported(&numbers, &alphabet);
        for (measure, args, value) in &more {
            let args = &args[..alphabet.measures[*measure].args.len()];
            let objects: Vec<Object> = args.iter().map(|&o| Object(o as u32)).collect();
            let value = (*value != 0).then_some(f64::from(*value) / 4.0);
            facts.change(Measure(*measure as u32), &objects, value);
            match value {
                Some(value) => model.insert((*measure as u32, args.to_vec()), value),
                None => model.remove(&(*measure as u32, args.to_vec())),
            };
        }
        let listed: Vec<_> = facts
            .all_numbers()
            .map(|(m, args, value)| ((m.0, args.iter().map(|o| o.0 as usize).collect()), value))
            .collect();
        prop_assert_eq!(&listed, &model.clone().into_iter().collect::<Vec<_>>());
        for ((m, args), value) in model {
            let objects: Vec<Object> = args.iter().map(|&o| Object(o as u32)).collect();
            prop_assert_eq!(facts.get(Measure(m), &objects), Some(value));
        }
        let mut anew = Facts::new(&alphabet);
        for (m, args, value) in facts.all_numbers() {
            anew.set(m, args, value);
        }
        anew.seal();
        anew.derive(&universe);
        facts.derive(&universe);
        prop_assert_eq!(anew, facts);
    }
}

#[test]
fn numbers_that_are_none_are_named() {
    let alphabet = alphabet(false);
    let universe = universe(&alphabet);
    let mut facts = Facts::new(&alphabet);
    facts.set(Measure(1), &[Object(3)], f64::NAN);
    facts.set(Measure(0), &[], f64::INFINITY);
    facts.seal();
    facts.derive(&universe);
    let message = facts.fault().expect("there is no such number").to_string();
    assert!(message.contains("`m1(d)` is not a number"), "{message}");
    facts.clear();
    facts.set(Measure(0), &[], f64::NEG_INFINITY);
    facts.derive(&universe);
    let message = facts.fault().expect("there is no such number").to_string();
    assert!(message.contains("`m0` is infinite"), "{message}");
    facts.clear();
    facts.derive(&universe);
    assert_eq!(facts.fault(), None);
}

#[test]
fn comparisons_print_as_people_write_them() {
    let domain = alphabet(false);
    let shown = |body: &str| {
        let text = format!("a1(X) :- p(Z), {body}.");
        let (policy, alphabet) =
            Policy::read(&Source::new("p.pl", text), &domain).unwrap_or_else(|e| panic!("{e}"));
        let body = policy.display(&alphabet).to_string();
        body.trim_end().strip_prefix("1.00::a1(X) :- p(Y), ").expect("the head is as it was").to_string()
    };
    for (written, printed) in [
        ("m0>0.020", "m0 > 0.02."),
        ("0.02 < m0", "m0 > 0.02."),
        ("-m0 =< -1e-7", "m0 >= 1.0e-7."),
        ("m1(X) - n1(Z) > 2", "m1(X) > n1(Y) + 2."),
        ("m1(X) >= n1(Z) -2.50", "m1(X) >= n1(Y) - 2.5."),
        ("m1(X) > m1(Z)", "m1(X) > m1(Y)."),
        ("0.3*m0 + m1(X) > 0", "0.3*m0 + m1(X) > 0."),
        ("m0 > 1.2*m2(X, b) + 0.5", "m0 > 1.2*m2(X, b) + 0.5."),
        ("m1(X) + m1(X) > 3 + 1", "2*m1(X) > 4."),
        ("\\+ m0 > 1, most(m1(X)), least(-m2(X, Z))", "\\+ m0 > 1, most(m1(X)), least(-m2(X, Y))."),
    ] {
        assert_eq!(shown(written), printed, "{written}");
    }
}
