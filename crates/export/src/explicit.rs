//! A policy with nothing left unsaid: what all languages are written from.

use std::fmt;
use std::ops::Deref;

use derrl_logic::derive::closure_clauses;
use derrl_logic::syntax::Quoted;
use derrl_logic::{
    Action, Alphabet, Arg, Choice, Comparison, DefiningClause, How, Literal, Policy, Pred, Rule, Type, Var,
};

/// A policy whose rules say what the engine takes for granted.
pub(crate) struct Explicit<'a> {
    pub alphabet: &'a Alphabet,
    /// The rules that speak, in the order of the text.
    pub rules: Vec<ExplicitRule>,
    /// The different values of the rules, the highest first.
    pub values: Vec<f64>,
    /// The comparisons that rules and definitions make.
    pub comparisons: Vec<(Pred, Comparison)>,
    /// The derived predicates that the rules need, each after those that it is defined by.
    pub definitions: Vec<Defined>,
}

/// A derived predicate with what it means.
pub(crate) struct Defined {
    pub pred: Pred,
    pub how: Meaning,
    /// The definition as text.
    pub text: Vec<String>,
}

pub(crate) enum Meaning {
    Clauses(Vec<Clause>),
    /// Another node is reached by one step or more; nodes are tuples of this many objects.
    Closure {
        of: Pred,
        k: usize,
    },
    /// A step that brings one nearer to a goal: an argument, or one of these.
    Distance {
        along: Pred,
        to: Option<Pred>,
        k: usize,
    },
}

/// A rule with what the engine takes for granted.
pub(crate) struct ExplicitRule {
    clause: Clause,
    pub choices: Vec<Choice>,
    pub action: Action,
    pub weight: f64,
    /// Where its value stands among the values of the policy: 0 is the highest.
    pub level: usize,
}

impl Deref for ExplicitRule {
    type Target = Clause;

    fn deref(&self) -> &Clause {
        &self.clause
    }
}

/// A head and a body with guards and disequalities. Variables are numbered by appearance.
pub(crate) struct Clause {
    /// As a policy or a domain has it.
    pub text: String,
    /// The arguments of its head.
    pub head: Vec<Arg>,
    pub literals: Vec<Literal>,
    /// Terms of the head that have to be looked up among the objects, because no positive literal makes sure that they
    /// stand for one of their type.
    pub guards: Vec<(Arg, Type)>,
    /// The pairs of terms that could stand for the same object and must not.
    pub apart: Vec<(Arg, Arg)>,
}

impl<'a> Explicit<'a> {
    pub fn new(policy: &Policy, alphabet: &'a Alphabet) -> Explicit<'a> {
        let speaks = |rule: &&Rule| !rule.abstains();
        let speaking: Vec<&Rule> = policy.rules.iter().filter(speaks).collect();
        let mut values: Vec<f64> = speaking.iter().map(|r| r.weight).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        values.dedup();
        let rules: Vec<ExplicitRule> =
            speaking.iter().map(|rule| ExplicitRule::new(rule, alphabet, &values)).collect();
        let asked = rules.iter().flat_map(|r| &r.literals).map(|l| l.pred);
        let definitions = match &alphabet.program {
            Some(program) => {
                let needed = program.needed(asked);
                program.order().filter(|p| needed.contains(p)).map(|p| Defined::new(p, alphabet)).collect()
            }
            None => Vec::new(),
        };
        let needed = rules.iter().flat_map(|r| &r.literals).map(|l| l.pred);
        let needed = alphabet.program.as_ref().map_or_else(Vec::new, |p| p.needed(needed));
        let compared = |p: Pred| alphabet.comparison(p).map(|c| (p, c.clone()));
        let comparisons = needed.into_iter().filter_map(compared).collect();
        Explicit { alphabet, rules, values, comparisons, definitions }
    }

    /// Whether the policy compares numbers, or chooses by them.
    pub fn has_numbers(&self) -> bool {
        !self.comparisons.is_empty() || self.rules.iter().any(|r| !r.choices.is_empty())
    }

    /// The definitions in groups: those of predicates that are defined by way of each other together, in order.
    pub fn components(&self) -> Vec<Vec<&Defined>> {
        let Some(program) = &self.alphabet.program else { return Vec::new() };
        let of = |group: &[Pred]| -> Vec<&Defined> {
            self.definitions.iter().filter(|d| group.contains(&d.pred)).collect()
        };
        program.groups().map(of).filter(|group| !group.is_empty()).collect()
    }

    /// Whether some definition asks for a search.
    pub fn searches(&self) -> bool {
        self.definitions.iter().any(|d| !matches!(d.how, Meaning::Clauses(_)))
    }

    /// All clauses: those that define, then rules.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        let defining = self.definitions.iter().flat_map(|d| match &d.how {
            Meaning::Clauses(clauses) => clauses.as_slice(),
            _ => &[],
        });
        defining.chain(self.rules.iter().map(|r| &**r))
    }

    /// The types that guards ask for, each with the types it includes.
    pub fn guarded_types(&self) -> Vec<(Type, Vec<Type>)> {
        let types = &self.alphabet.types;
        let mut asked: Vec<Type> = self.clauses().flat_map(|c| &c.guards).map(|g| g.1).collect();
        asked.sort_unstable();
        asked.dedup();
        let below = |t: Type| (0..types.len() as u32).map(Type).filter(|&s| types.is_subtype(s, t)).collect();
        asked.into_iter().map(|t| (t, below(t))).collect()
    }

    /// The predicates that the world gives facts of, with their arities, in the order of the alphabet.
    pub fn given(&self) -> impl Iterator<Item = (Pred, usize)> + use<'a> {
        let all = self.alphabet.predicates.iter().enumerate();
        all.filter(|(_, p)| p.role.is_given()).map(|(i, p)| (Pred(i as u32), p.args.len()))
    }

    /// Facts that headers give as an example: of the widest predicate and of the first other one.
    pub fn examples(&self) -> Vec<(Pred, Vec<&'static str>)> {
        let arity = |p: usize| self.alphabet.predicates[p].args.len();
        let given: Vec<usize> = self.given().map(|(p, _)| p.0 as usize).collect();
        let all = given.into_iter();
        let widest = all.clone().rev().max_by_key(|&p| arity(p));
        let other = all.clone().find(|&p| Some(p) != widest);
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
        let decl = alphabet.action(rule.action);
        let rule = rule.canonical(decl.args.len());
        let head: Vec<Arg> = (0..decl.args.len() as u8).map(|v| Arg::Var(Var(v))).collect();
        let mut body = rule.body.clone();
        // Only legal actions are derived.
        body.extend(decl.legal.map(|pred| Literal { positive: true, pred, args: head.clone() }));
        let text = rule.display(alphabet).to_string();
        let also: Vec<Arg> = rule.choices.iter().flat_map(|c| c.args.clone()).collect();
        let mut clause = Clause::new(head, body, &also, &decl.args, text, alphabet);
        clause.head = decl.written(&clause.head);
        let choices = rule.choices;
        let level = values.iter().position(|&v| v == rule.weight).unwrap_or(0);
        ExplicitRule { clause, choices, action: rule.action, weight: rule.weight, level }
    }
}

impl Defined {
    fn new(pred: Pred, alphabet: &Alphabet) -> Defined {
        let places = &alphabet.predicate(pred).args;
        let clause = |c: &DefiningClause| {
            let text = c.display(pred, alphabet).to_string();
            Clause::new(c.head.clone(), c.body.clone(), &[], places, text, alphabet)
        };
        let program = alphabet.program.as_ref().expect("a derived predicate has a program");
        let mut clauses = Vec::new();
        let mut sugar = None;
        for d in program.of(pred) {
            match d.how {
                How::Clause(ref c) => clauses.push(clause(c)),
                How::Closure { of } if places.len() == 2 => {
                    clauses.extend(closure_clauses(pred, of).iter().map(clause));
                }
                How::Closure { of } => sugar = Some(Meaning::Closure { of, k: places.len() / 2 }),
                How::Distance { along, to } => {
                    let k = alphabet.predicate(along).args.len() / 2;
                    sugar = Some(Meaning::Distance { along, to, k });
                }
                // Comparisons are no definitions: literals say what they are.
                How::Compare(_) => {}
            }
        }
        let text = program.of(pred).map(|d| d.display(alphabet).to_string()).collect();
        let how = sugar.unwrap_or(Meaning::Clauses(clauses));
        Defined { pred, how, text }
    }
}

impl Clause {
    fn new(
        head: Vec<Arg>,
        literals: Vec<Literal>,
        also: &[Arg],
        places: &[Type],
        text: String,
        alphabet: &Alphabet,
    ) -> Clause {
        let mut terms: Vec<Arg> = Vec::new();
        for arg in head.iter().chain(literals.iter().flat_map(|l| &l.args)).chain(also) {
            if !terms.contains(arg) {
                terms.push(arg.clone());
            }
        }
        let mut guards: Vec<(Arg, Type)> = Vec::new();
        for (arg, &t) in head.iter().zip(places) {
            let known = known_types(arg, &literals, alphabet);
            let sure = known.iter().any(|&place| alphabet.types.is_subtype(place, t));
            let guard = (arg.clone(), t);
            if !sure && !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        let kinds: Vec<Vec<Type>> = terms
            .iter()
            .map(|term| {
                let mut known = known_types(term, &literals, alphabet);
                if matches!(term, Arg::Var(_)) {
                    known.extend(head.iter().zip(places).filter(|(arg, _)| *arg == term).map(|(_, &t)| t));
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
        Clause { text, head, literals, guards, apart }
    }

    /// Whether a variable stands in one place only, so that nothing else depends on what it stands for.
    pub fn is_lonely(&self, v: Var) -> bool {
        let arg = Arg::Var(v);
        let in_body = self.literals.iter().flat_map(|l| &l.args).filter(|a| **a == arg).count();
        let in_tests = self.apart.iter().any(|(a, b)| *a == arg || *b == arg);
        in_body == 1 && !in_tests && !self.head.contains(&arg)
    }

    /// The literals of that sign, in the order of the text.
    pub fn signed(&self, positive: bool) -> impl Iterator<Item = &Literal> {
        self.literals.iter().filter(move |l| l.positive == positive)
    }

    /// The body for a language with variables: literals, guards and disequalities, negated literals last, because they
    /// test what the others have found.
    pub fn body(&self, write: &Write<'_>) -> String {
        let literal = |l: &Literal| (write.atom)(l);
        let mut parts: Vec<String> = self.signed(true).map(literal).collect();
        parts.extend(self.guards.iter().map(|(arg, t)| (write.guard)(arg, *t)));
        parts.extend(self.apart.iter().map(|(a, b)| (write.apart)(a, b)));
        parts.extend(self.signed(false).map(|l| format!("{}{}", write.not, literal(l))));
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
    /// The term stands for an object of the type.
    IsA(&'r Arg, Type),
    /// The terms stand for different objects.
    Apart(&'r Arg, &'r Arg),
}

impl Clause {
    /// The substitutions of the clause as nested loops and tests, each test as soon as it can be made.
    pub fn steps(&self) -> Vec<Step<'_>> {
        let mut known: Vec<Var> = Vec::new();
        let mut steps = Vec::new();
        for literal in self.signed(true) {
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
        for (arg, t) in &self.guards {
            match arg {
                Arg::Var(v) if !known.contains(v) => {
                    steps.push(Step::Range(*v, *t));
                    self.learn(&mut known, &[*v], &mut steps);
                }
                _ => steps.push(Step::If(Test::IsA(arg, *t))),
            }
        }
        steps.extend(self.signed(false).map(|l| Step::If(Test::Absent(l))));
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
    /// "This term stands for an object of this type."
    pub guard: &'w dyn Fn(&Arg, Type) -> String,
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
