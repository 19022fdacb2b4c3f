//! Templates of definitions: projections, conjunctions, closures and the recursive scheme, as text.

use crate::limits::FARTHER_LITERALS;
use derrl_logic::{Alphabet, Type, Types};
use serde::{Deserialize, Serialize};

/// A predicate that could be invented, or several.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Invention {
    /// Its name; those of several are joined by "and".
    pub name: String,
    /// How many arguments it has, or the first of several.
    pub arity: usize,
    /// The sentences that define it and what it is defined by, each on a line.
    pub lines: Vec<String>,
    /// How many literals their bodies have.
    pub size: usize,
}

/// A condition on one object, which stands for X.
#[derive(Clone, Debug)]
pub(super) struct Concept {
    pub name: String,
    pub t: Type,
    /// `top(X)`, `\+ top(X)`.
    pub literals: Vec<String>,
    /// Definitions of what the literals name.
    lines: Vec<String>,
    size: usize,
}

/// A relation between two objects, which stand for X and Y.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub name: String,
    pub from: Type,
    to: Type,
    pub literals: Vec<String>,
}

/// The literal `name(first, second)`, its arguments turned round where asked.
fn binary(name: &str, inverse: bool) -> String {
    if inverse { format!("{name}(Y, X)") } else { format!("{name}(X, Y)") }
}

/// Definitions over the predicates of an alphabet, from the smallest to the largest. Predicates of one or two arguments that
/// the rules of every action may use are built upon, those of a policy's own too.
pub struct Templates<'a> {
    pub(super) alphabet: &'a Alphabet,
    pub(super) concepts: Vec<Concept>,
    relations: Vec<Relation>,
}

impl<'a> Templates<'a> {
    /// The templates of an alphabet.
    pub fn new(alphabet: &'a Alphabet) -> Templates<'a> {
        let forbidden =
            |at: usize| alphabet.actions.iter().any(|a| a.forbidden.iter().any(|p| p.0 as usize == at));
        let named = |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase()) && is_plain(name);
        let all = alphabet.predicates.iter().enumerate();
        let all = all.filter(|(at, p)| p.role.is_named() && !forbidden(*at) && named(&p.name));
        let (mut concepts, mut relations) = (Vec::new(), Vec::new());
        for (_, p) in all {
            match *p.args.as_slice() {
                [t] => concepts.push(Concept {
                    name: p.name.clone(),
                    t,
                    literals: vec![format!("{}(X)", p.name)],
                    lines: Vec::new(),
                    size: 1,
                }),
                [first, second] => {
                    for (inverse, from, to) in [(false, first, second), (true, second, first)] {
                        let way = if inverse { "inverse_" } else { "" };
                        let name = format!("{way}{}", p.name);
                        let literals = vec![binary(&p.name, inverse)];
                        relations.push(Relation { name, from, to, literals });
                    }
                }
                _ => {}
            }
        }
        Templates { alphabet, concepts, relations }
    }

    pub(super) fn types(&self) -> &Types {
        &self.alphabet.types
    }

    /// A name that nothing in the domain has.
    pub(super) fn fresh(&self, name: String, arity: usize) -> String {
        let mut name = name;
        while self.alphabet.find_predicate(&name, arity).is_some()
            || self.alphabet.find_action(&name, arity).is_some()
        {
            name.push('_');
        }
        name
    }

    pub(super) fn declaration(&self, name: &str, types: &[Type]) -> String {
        let types: Vec<&str> = types.iter().map(|&t| self.types().name(t)).collect();
        if self.types().is_empty() {
            format!(":- derived({name}/{}).", types.len())
        } else {
            format!(":- derived({name}({})).", types.join(", "))
        }
    }

    /// `on_any(X) :- on(X, Y).`: something is related to X.
    pub fn projections(&self) -> Vec<Invention> {
        self.relations.iter().map(|r| self.projection(r)).collect()
    }

    pub(super) fn projection(&self, r: &Relation) -> Invention {
        let plain = r.name.trim_start_matches("inverse_");
        let name = if plain == r.name { format!("{plain}_any") } else { format!("any_{plain}") };
        let name = self.fresh(name, 1);
        let clause = format!("{name}(X) :- {}.", r.literals.join(", "));
        self.defined(name, &[r.from], &[], vec![clause], r.literals.len())
    }

    /// All definitions, given the projections that tell objects apart.
    pub fn all(&self, projections: &[Invention]) -> Vec<Invention> {
        let mut literals: Vec<Concept> = self.concepts.clone();
        for p in projections {
            let from = self.projections().iter().position(|q| q.name == p.name);
            let Some(t) = from.map(|at| self.relations[at].from) else { continue };
            literals.push(Concept {
                name: p.name.clone(),
                t,
                literals: vec![format!("{}(X)", p.name)],
                lines: p.lines.clone(),
                size: 2,
            });
        }
        let negated: Vec<Concept> = literals
            .iter()
            .map(|c| Concept {
                name: format!("not_{}", c.name),
                literals: vec![format!("\\+ {}", c.literals[0])],
                ..c.clone()
            })
            .collect();
        literals.extend(negated);
        let mut concepts = literals.clone();
        for (i, a) in literals.iter().enumerate() {
            for b in &literals[i + 1..] {
                concepts.extend(self.both(a, b));
            }
        }
        let steps = self.steps();
        let mut all: Vec<Invention> = projections.to_vec();
        // A conjunction is something that rules can say themselves, unless it is negated.
        let joint = concepts[literals.len()..].iter().map(|c| {
            let name = self.fresh(c.name.clone(), 1);
            let clause = format!("{name}(X) :- {}.", c.literals.join(", "));
            self.defined(name, &[c.t], &c.lines, vec![clause], c.size)
        });
        all.extend(joint);
        for step in &steps {
            if step.literals.len() > 1 && step.literals.iter().all(|l| !l.starts_with('\\')) {
                let name = self.fresh(step.name.clone(), 2);
                let clause = format!("{name}(X, Y) :- {}.", step.literals.join(", "));
                all.push(self.defined(name, &[step.from, step.to], &[], vec![clause], step.literals.len()));
            }
            all.extend(self.closure(step));
            all.extend(literals.iter().filter_map(|c| self.exists(step, c)));
            all.extend(concepts.iter().filter_map(|base| self.recursive(step, base)));
            all.extend(self.concepts.iter().filter_map(|end| self.farther(step, end)));
            // Something goes wrong on the way.
            let wrong = steps.iter().filter(|w| w.literals.iter().any(|l| l.starts_with('\\')));
            all.extend(wrong.filter(|_| step.literals.len() == 1).filter_map(|w| self.fault(step, w)));
        }
        all.sort_by_key(|i| i.size);
        all
    }

    fn both(&self, a: &Concept, b: &Concept) -> Option<Concept> {
        let same = |a: &Concept, b: &Concept| {
            a.literals[0].trim_start_matches("\\+ ") == b.literals[0].trim_start_matches("\\+ ")
        };
        let t = self.narrower(a.t, b.t).filter(|_| !same(a, b))?;
        let mut lines = a.lines.clone();
        lines.extend(b.lines.iter().filter(|l| !a.lines.contains(l)).cloned());
        // What a negated literal says is about objects that a positive one finds.
        let (a, b) = if a.literals[0].starts_with('\\') { (b, a) } else { (a, b) };
        let literals = [a.literals.clone(), b.literals.clone()].concat();
        Some(Concept { name: format!("{}_{}", a.name, b.name), t, literals, lines, size: a.size + b.size })
    }

    fn narrower(&self, a: Type, b: Type) -> Option<Type> {
        let is = |a, b| self.types().is_subtype(a, b);
        if is(a, b) { Some(a) } else { is(b, a).then_some(b) }
    }

    fn wider(&self, a: Type, b: Type) -> Option<Type> {
        let is = |a, b| self.types().is_subtype(a, b);
        if is(a, b) { Some(b) } else { is(b, a).then_some(a) }
    }

    /// Single relations, and pairs of them: both hold, or one does and the other does not.
    pub(super) fn steps(&self) -> Vec<Relation> {
        let mut steps = self.relations.clone();
        for (i, a) in self.relations.iter().enumerate() {
            for (j, b) in self.relations.iter().enumerate() {
                // `on` and `inverse_on` are of one predicate: places 2k and 2k + 1.
                let fit = self.types().overlap(a.from, b.from) && self.types().overlap(a.to, b.to);
                if i / 2 == j / 2 || !fit {
                    continue;
                }
                let (from, to) = (self.narrower(a.from, b.from), self.narrower(a.to, b.to));
                let (Some(from), Some(to)) = (from, to) else { continue };
                let (one, other) = (&a.literals[0], &b.literals[0]);
                if i < j {
                    let literals = vec![one.clone(), other.clone()];
                    steps.push(Relation { name: format!("{}_and_{}", a.name, b.name), from, to, literals });
                }
                let literals = vec![one.clone(), format!("\\+ {other}")];
                let (from, to) = (a.from, a.to);
                steps.push(Relation { name: format!("{}_not_{}", a.name, b.name), from, to, literals });
            }
        }
        steps
    }

    fn defined(
        &self,
        name: String,
        types: &[Type],
        helpers: &[String],
        clauses: Vec<String>,
        size: usize,
    ) -> Invention {
        let mut lines = helpers.to_vec();
        lines.push(self.declaration(&name, types));
        lines.extend(clauses);
        Invention { arity: types.len(), name, lines, size }
    }

    /// `p_chain(X, Y) :- p(X, Y).` and `p_chain(X, Y) :- p(X, Z), p_chain(Z, Y).`
    fn closure(&self, step: &Relation) -> Option<Invention> {
        if step.name.starts_with("inverse_") || !self.types().overlap(step.from, step.to) {
            return None;
        }
        let name = self.fresh(format!("{}_chain", step.name), 2);
        let first = step.literals.join(", ");
        let onwards: Vec<String> = step.literals.iter().map(|l| renamed(l, 'X', 'Z')).collect();
        let onwards = onwards.join(", ");
        let clauses =
            vec![format!("{name}(X, Y) :- {first}."), format!("{name}(X, Y) :- {onwards}, {name}(Z, Y).")];
        let size = 2 * step.literals.len() + 1;
        Some(self.defined(name, &[step.from, step.to], &[], clauses, size))
    }

    /// `p_u(X) :- p(X, Y), u(Y).`
    fn exists(&self, step: &Relation, c: &Concept) -> Option<Invention> {
        if !self.types().overlap(step.to, c.t) {
            return None;
        }
        let name = self.fresh(format!("{}_{}", step.name, c.name), 1);
        let of = c.literals[0].replace("(X)", "(Y)");
        let clause = format!("{name}(X) :- {}, {of}.", step.literals.join(", "));
        Some(self.defined(name, &[step.from], &c.lines, vec![clause], step.literals.len() + c.size))
    }

    /// `u_by_p(X) :- u(X).` and `u_by_p(X) :- p(X, Y), u_by_p(Y).`
    fn recursive(&self, step: &Relation, base: &Concept) -> Option<Invention> {
        if !self.types().overlap(step.from, step.to) || !self.types().overlap(base.t, step.to) {
            return None;
        }
        let t =
            self.wider(self.wider(base.t, step.from)?, step.to).or_else(|| self.wider(base.t, step.from))?;
        let name = self.fresh(format!("{}_by_{}", base.name, step.name), 1);
        let clauses = vec![
            format!("{name}(X) :- {}.", base.literals.join(", ")),
            format!("{name}(X) :- {}, {name}(Y).", step.literals.join(", ")),
        ];
        Some(self.defined(name, &[t], &base.lines, clauses, base.size + step.literals.len() + 1))
    }

    /// `farther_from_u_by_p(X, Y) :- p(X, Z), u(Y).` and
    /// `farther_from_u_by_p(X, Y) :- p(X, Z), p(Y, V), farther_from_u_by_p(Z, V).`: more steps lead from X to the end than from Y.
    fn farther(&self, step: &Relation, end: &Concept) -> Option<Invention> {
        let [of] = step.literals.as_slice() else { return None };
        if !self.types().overlap(step.from, step.to) || !self.types().overlap(end.t, step.to) {
            return None;
        }
        let t = self.wider(end.t, step.from)?;
        let name = self.fresh(format!("farther_from_{}_by_{}", end.name, step.name), 2);
        let (first, second) = (renamed(of, 'X', 'Z'), renamed(of, 'Y', 'V'));
        let is_end = end.literals[0].replace("(X)", "(Y)");
        let clauses = vec![
            format!("{name}(X, Y) :- {first}, {is_end}."),
            format!("{name}(X, Y) :- {first}, {second}, {name}(Z, V)."),
        ];
        Some(self.defined(name, &[step.from, t], &[], clauses, FARTHER_LITERALS))
    }

    /// `p_not_q_by_r(X) :- p(X, Y), \+ q(X, Y).` and `p_not_q_by_r(X) :- r(X, Y), p_not_q_by_r(Y).`
    fn fault(&self, step: &Relation, wrong: &Relation) -> Option<Invention> {
        if !self.types().overlap(step.from, step.to) {
            return None;
        }
        let t = self.wider(wrong.from, step.from)?;
        let name = self.fresh(format!("{}_by_{}", wrong.name, step.name), 1);
        let clauses = vec![
            format!("{name}(X) :- {}.", wrong.literals.join(", ")),
            format!("{name}(X) :- {}, {name}(Y).", step.literals.join(", ")),
        ];
        Some(self.defined(name, &[t], &[], clauses, wrong.literals.len() + 2))
    }
}

/// The literal `p(X, Y)` with other variables for X and Y.
fn renamed(literal: &str, x: char, y: char) -> String {
    let (name, variables) = literal.split_at(literal.find('(').unwrap_or(0));
    let other = |c| match c {
        'X' => x,
        'Y' => y,
        c => c,
    };
    name.chars().chain(variables.chars().map(other)).collect()
}

/// Whether a name needs no quotes, and does not look like a variable in a text.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use derrl_logic::Source;

    #[test]
    fn the_longer_way_is_compared_step_by_step() {
        let text = ":- action(move(block, place)).\n:- subtype(block, place).\n:- state(onX(block, place)).\n\
                    :- state(isFloor(place)).\n";
        let alphabet = Alphabet::parse(&Source::new("towers", text)).expect("it parses");
        let all = Templates::new(&alphabet).all(&[]);
        let found = all.iter().find(|i| i.name == "farther_from_isFloor_by_onX").expect("it is made");
        let expected = [
            ":- derived(farther_from_isFloor_by_onX(block, place)).",
            "farther_from_isFloor_by_onX(X, Y) :- onX(X, Z), isFloor(Y).",
            "farther_from_isFloor_by_onX(X, Y) :- onX(X, Z), onX(Y, V), farther_from_isFloor_by_onX(Z, V).",
        ];
        assert_eq!(found.lines, expected);
    }
}
