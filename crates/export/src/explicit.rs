//! A policy with nothing left unsaid: what all languages are written from.

use std::fmt;

use derrl_logic::syntax::Quoted;
use derrl_logic::{Alphabet, Arg, Literal, Policy, Pred, Rule, Type, Var};

/// A policy whose rules say what the engine takes for granted.
pub(crate) struct Explicit<'a> {
    pub alphabet: &'a Alphabet,
    /// The rules that speak, in the order of the text.
    pub rules: Vec<ExplicitRule>,
    /// The different values of the rules, the highest first.
    pub values: Vec<f64>,
}

/// A rule with its guards and disequalities.
pub(crate) struct ExplicitRule {
    /// The rule with its variables numbered by appearance.
    pub rule: Rule,
    /// The rule as a policy has it.
    pub text: String,
    /// Where its value stands among the values of the policy: 0 is the highest.
    pub level: usize,
    /// The arguments of its head.
    pub head: Vec<Var>,
    /// Head variables that have to be looked up among the objects, because no positive literal makes sure that they
    /// stand for one of their type.
    pub guards: Vec<(Var, Type)>,
    /// The pairs of terms that could stand for the same object and must not.
    pub apart: Vec<(Arg, Arg)>,
}

impl<'a> Explicit<'a> {
    pub fn new(policy: &Policy, alphabet: &'a Alphabet) -> Explicit<'a> {
        let speaks = |rule: &&Rule| rule.weight > 0.0 && !rule.body.is_empty();
        let speaking: Vec<&Rule> = policy.rules.iter().filter(speaks).collect();
        let mut values: Vec<f64> = speaking.iter().map(|r| r.weight).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        values.dedup();
        let rules = speaking.iter().map(|rule| ExplicitRule::new(rule, alphabet, &values)).collect();
        Explicit { alphabet, rules, values }
    }

    /// The types that guards ask for, each with the types it includes.
    pub fn guarded_types(&self) -> Vec<(Type, Vec<Type>)> {
        let types = &self.alphabet.types;
        let mut asked: Vec<Type> = self.rules.iter().flat_map(|r| &r.guards).map(|g| g.1).collect();
        asked.sort_unstable();
        asked.dedup();
        let below = |t: Type| (0..types.len() as u32).map(Type).filter(|&s| types.is_subtype(s, t)).collect();
        asked.into_iter().map(|t| (t, below(t))).collect()
    }

    /// The predicates of the alphabet with their arities, in its order.
    pub fn signatures(&self) -> impl Iterator<Item = (&'a str, usize)> + use<'a> {
        self.alphabet.predicates.iter().map(|p| (p.name.as_str(), p.args.len()))
    }

    /// Facts that headers give as an example: of the widest predicate and of the first other one.
    pub fn examples(&self) -> Vec<(Pred, Vec<&'static str>)> {
        let arity = |p: usize| self.alphabet.predicates[p].args.len();
        let all = 0..self.alphabet.predicates.len();
        let widest = all.clone().rev().max_by_key(|&p| arity(p));
        let other = all.into_iter().find(|&p| Some(p) != widest);
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let fact = |p: usize| (Pred(p as u32), names.iter().copied().cycle().take(arity(p)).collect());
        widest.into_iter().chain(other).map(fact).collect()
    }

    /// The name of the world, for headers.
    fn world(&self) -> String {
        let world = self.alphabet.environment.as_deref();
        world.map_or_else(|| "a domain without a world".to_string(), |w| Quoted(w).to_string())
    }

    /// The rules of a level.
    pub fn at_level(&self, level: usize) -> impl Iterator<Item = &ExplicitRule> {
        self.rules.iter().filter(move |r| r.level == level)
    }

    /// The header of a program: each line of `about` as a comment.
    pub fn header(&self, comment: &str, about: &str) -> String {
        let title = format!("A policy for {}, exported by derrl.\n\n", self.world());
        title.lines().chain(about.lines()).fold(String::new(), |mut text, line| {
            text.push_str(format!("{comment} {line}").trim_end());
            text.push('\n');
            text
        })
    }
}

impl ExplicitRule {
    fn new(rule: &Rule, alphabet: &Alphabet, values: &[f64]) -> ExplicitRule {
        let action = alphabet.action(rule.action);
        let rule = rule.canonical(action.args.len());
        let head: Vec<Var> = (0..action.args.len() as u8).map(Var).collect();
        let mut terms: Vec<Arg> = head.iter().map(|&v| Arg::Var(v)).collect();
        for arg in rule.body.iter().flat_map(|l| &l.args) {
            if !terms.contains(arg) {
                terms.push(arg.clone());
            }
        }
        let guards: Vec<(Var, Type)> = head
            .iter()
            .zip(&action.args)
            .filter(|(v, t)| {
                let known = known_types(&Arg::Var(**v), &rule.body, alphabet);
                !known.iter().any(|&place| alphabet.types.is_subtype(place, **t))
            })
            .map(|(&v, &t)| (v, t))
            .collect();
        let kinds: Vec<Vec<Type>> = terms
            .iter()
            .map(|term| {
                let mut known = known_types(term, &rule.body, alphabet);
                if let Arg::Var(Var(v)) = term {
                    known.extend(action.args.get(usize::from(*v)));
                }
                known
            })
            .collect();
        let mut apart = Vec::new();
        for i in 0..terms.len() {
            for j in i + 1..terms.len() {
                let constants = matches!((&terms[i], &terms[j]), (Arg::Const(_), Arg::Const(_)));
                let differ = || {
                    let pairs = kinds[i].iter().flat_map(|a| kinds[j].iter().map(move |b| (*a, *b)));
                    pairs.into_iter().any(|(a, b)| !alphabet.types.overlap(a, b))
                };
                if !constants && !differ() {
                    apart.push((terms[i].clone(), terms[j].clone()));
                }
            }
        }
        let level = values.iter().position(|&v| v == rule.weight).unwrap_or(0);
        let text = rule.display(alphabet).to_string();
        ExplicitRule { rule, text, level, head, guards, apart }
    }

    /// Whether a variable stands in one place only, so that nothing else depends on what it stands for.
    pub fn is_lonely(&self, v: Var) -> bool {
        let arg = Arg::Var(v);
        let in_body = self.rule.body.iter().flat_map(|l| &l.args).filter(|a| **a == arg).count();
        let in_tests = self.apart.iter().any(|(a, b)| *a == arg || *b == arg);
        in_body == 1 && !in_tests && !self.head.contains(&v)
    }

    /// The literals of that sign, in the order of the text.
    pub fn literals(&self, positive: bool) -> impl Iterator<Item = &Literal> {
        self.rule.body.iter().filter(move |l| l.positive == positive)
    }

    /// The body for a language with variables: literals, guards and disequalities, negated literals last, because they
    /// test what the others have found.
    pub fn body(&self, write: &Write<'_>) -> String {
        let literal = |l: &Literal| (write.atom)(l);
        let mut parts: Vec<String> = self.literals(true).map(literal).collect();
        parts.extend(self.guards.iter().map(|&(v, t)| (write.guard)(v, t)));
        parts.extend(self.apart.iter().map(|(a, b)| (write.apart)(a, b)));
        parts.extend(self.literals(false).map(|l| format!("{}{}", write.not, literal(l))));
        parts.join(", ")
    }
}

/// What a program with loops does next to find the substitutions of a rule.
pub(crate) enum Step<'r> {
    /// For every fact of the literal's predicate: the variables in `new` stand for what is in their places.
    Scan { literal: &'r Literal, new: Vec<Var> },
    /// For every object of the type.
    Range(Var, Type),
    /// If this is so.
    If(Test<'r>),
}

/// What can be asked once its variables stand for something.
#[derive(Clone, Copy)]
pub(crate) enum Test<'r> {
    /// The atom holds.
    Holds(&'r Literal),
    /// The atom of this negated literal does not hold.
    Absent(&'r Literal),
    /// What the variable stands for is of the type.
    IsA(Var, Type),
    /// The terms stand for different objects.
    Apart(&'r Arg, &'r Arg),
}

impl ExplicitRule {
    /// The substitutions of the rule as nested loops and tests, each test as soon as it can be made.
    pub fn steps(&self) -> Vec<Step<'_>> {
        let mut known: Vec<Var> = Vec::new();
        let mut steps = Vec::new();
        for literal in self.literals(true) {
            let mut new: Vec<Var> = Vec::new();
            for v in literal.vars() {
                if !known.contains(&v) && !new.contains(&v) {
                    new.push(v);
                }
            }
            if new.is_empty() {
                steps.push(Step::If(Test::Holds(literal)));
                continue;
            }
            steps.push(Step::Scan { literal, new: new.clone() });
            self.learn(&mut known, &new, &mut steps);
        }
        for &(v, t) in &self.guards {
            if known.contains(&v) {
                steps.push(Step::If(Test::IsA(v, t)));
            } else {
                steps.push(Step::Range(v, t));
                self.learn(&mut known, &[v], &mut steps);
            }
        }
        steps.extend(self.literals(false).map(|l| Step::If(Test::Absent(l))));
        steps
    }

    /// Notes new variables, and tests the pairs that they complete.
    fn learn<'r>(&'r self, known: &mut Vec<Var>, new: &[Var], steps: &mut Vec<Step<'r>>) {
        known.extend(new);
        let stands = |arg: &Arg| match arg {
            Arg::Var(v) => known.contains(v),
            Arg::Const(_) => true,
        };
        let is_new = |arg: &Arg| matches!(arg, Arg::Var(v) if new.contains(v));
        let complete = |(a, b): &&(Arg, Arg)| stands(a) && stands(b) && (is_new(a) || is_new(b));
        steps.extend(self.apart.iter().filter(complete).map(|(a, b)| Step::If(Test::Apart(a, b))));
    }
}

/// How a logic program writes the parts of a body.
pub(crate) struct Write<'w> {
    /// An atom, without its sign.
    pub atom: &'w dyn Fn(&Literal) -> String,
    /// "This variable stands for an object of this type."
    pub guard: &'w dyn Fn(Var, Type) -> String,
    /// "These terms are different."
    pub apart: &'w dyn Fn(&Arg, &Arg) -> String,
    /// What stands before a negated atom.
    pub not: &'static str,
}

/// The types of the places where a term stands in positive literals: facts have the types that the domain declares, so
/// it stands for an object of all of them.
fn known_types(term: &Arg, body: &[Literal], alphabet: &Alphabet) -> Vec<Type> {
    let positive = body.iter().filter(|l| l.positive);
    let places = positive.flat_map(|l| l.args.iter().zip(&alphabet.predicate(l.pred).args));
    places.filter(|(arg, _)| *arg == term).map(|(_, &t)| t).collect()
}

/// `name(a, b)`, or the name alone.
pub(crate) fn apply<T: fmt::Display>(name: &str, args: &[T]) -> String {
    if args.is_empty() {
        return name.to_string();
    }
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    format!("{name}({})", args.join(", "))
}

/// A value with a decimal point and as many digits as it takes to read it back.
pub(crate) fn number(value: f64) -> String {
    let text = value.to_string();
    if text.contains('.') { text } else { format!("{text}.0") }
}
