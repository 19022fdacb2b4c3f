//! When rules derive legal actions: their bodies with what is legal written out.

use super::clause::{Clause, Head};
use crate::alphabet::{Action, Alphabet, Pred, Type, Types, Var};
use crate::derive::{DefiningClause, How};
use crate::join::{Atom, Body, Identity, Slot, Vars, all_vars, atom, named};
use crate::rule::{Arg, Literal, Rule};
use crate::universe::Universe;

/// What is to hold for an action: literals, and which of their terms are distinct.
pub(super) struct Conditions {
    action: Action,
    literals: Vec<Literal>,
    /// Variables that are distinct from each other and from the objects named by these literals, scope by scope.
    scopes: Vec<(Vars, Vec<Literal>)>,
    variables: usize,
}

impl Conditions {
    /// When a rule derives a legal action: any of these conditions, one per clause that says when the action is legal.
    ///
    /// The literals of that clause stand in place of the legality that they define, so that no legal action is looked at but
    /// those that the rule derives. The clause has a scope of its own: its variables may stand for objects of the rule.
    pub fn of_rule(rule: &Rule, alphabet: &Alphabet) -> Vec<Conditions> {
        let decl = alphabet.action(rule.action);
        let arity = decl.args.len();
        let in_body = rule.body.iter().flat_map(Literal::vars).map(|v| usize::from(v.0) + 1);
        let variables = in_body.max().unwrap_or(0).max(arity);
        let scopes = vec![(all_vars(variables), rule.body.clone())];
        let alone = Conditions { action: rule.action, literals: rule.body.clone(), scopes, variables };
        match decl.legal {
            Some(pred) => alone.made_legal(pred, arity, alphabet),
            None => vec![alone],
        }
    }

    /// When an action is legal: any of these conditions; `None` where nothing says so.
    pub fn of_legality(action: Action, alphabet: &Alphabet) -> Option<Vec<Conditions>> {
        let decl = alphabet.action(action);
        let arity = decl.args.len();
        let nothing = Conditions { action, literals: Vec::new(), scopes: Vec::new(), variables: arity };
        decl.legal.map(|pred| nothing.made_legal(pred, arity, alphabet))
    }

    fn made_legal(self, pred: Pred, arity: usize, alphabet: &Alphabet) -> Vec<Conditions> {
        match self.unfolded(pred, arity, alphabet) {
            Some(all) => all,
            None => vec![self.with_literal(pred, arity)],
        }
    }

    /// With the legality itself as one more literal.
    fn with_literal(mut self, pred: Pred, arity: usize) -> Conditions {
        let args = (0..arity).map(|i| Arg::Var(Var(i as u8))).collect();
        self.literals.push(Literal { positive: true, pred, args });
        self
    }

    /// `None` where a clause cannot be written out: its head is not just variables, parts of its body share no variable with the
    /// head (their substitutions would multiply those of the rule), or there are too many variables.
    fn unfolded(&self, pred: Pred, arity: usize, alphabet: &Alphabet) -> Option<Vec<Conditions>> {
        let mut all = Vec::new();
        for definition in alphabet.program.as_ref()?.of(pred) {
            let How::Clause(clause) = &definition.how else { return None };
            let body = renamed(clause, self.variables)?;
            let variables = self.variables + clause.variables - arity;
            let legal = Rule::new(1.0, self.action, body);
            if variables > Vars::BITS as usize || legal.parts_apart(arity) > 0 {
                return None;
            }
            let own = all_vars(variables) & !all_vars(self.variables) | all_vars(arity);
            let mut conditions = Conditions {
                action: self.action,
                literals: self.literals.clone(),
                scopes: self.scopes.clone(),
                variables,
            };
            for literal in &legal.body {
                if !conditions.literals.contains(literal) {
                    conditions.literals.push(literal.clone());
                }
            }
            conditions.scopes.push((own, legal.body));
            all.push(conditions);
        }
        Some(all)
    }

    fn identity(&self, universe: &Universe) -> Identity {
        let mut identity = Identity::none(self.variables);
        for (vars, literals) in &self.scopes {
            identity.add(*vars, named(literals.iter(), universe));
        }
        identity
    }

    /// The predicates that they ask for.
    pub fn predicates(&self) -> impl Iterator<Item = Pred> + '_ {
        self.literals.iter().map(|l| l.pred)
    }

    /// The clauses that count the ways to satisfy these conditions.
    ///
    /// Variables that no positive literal binds range over a type, which is a relation like any other (`type_relation`). All
    /// but one: where the last argument Y of the head is open, a substitution of the others derives a whole row of actions, less
    /// those Y that the clause already speaks of and those that its negated literals a1, a2, .. on Y rule out. These are
    /// counted, each once:
    ///
    /// ```text
    /// body, \+ a1, \+ a2  =  body  -  (body, a1)  -  (body, \+ a1, a2)
    /// ```
    pub fn clauses(
        &self,
        alphabet: &Alphabet,
        universe: &Universe,
        type_relation: &dyn Fn(Type) -> usize,
    ) -> Vec<Clause> {
        let types = &alphabet.action(self.action).args;
        let literals = &self.literals;
        let compiled: Vec<Option<Atom>> = literals.iter().map(|l| atom(l, universe)).collect();
        let impossible = literals.iter().zip(&compiled).any(|(l, a)| l.positive && a.is_none());
        if impossible {
            return Vec::new();
        }
        let bound = |v: Var| literals.iter().any(|l| l.positive && l.vars().any(|w| w == v));
        let last = types.len().checked_sub(1).map(|at| Var(at as u8)).filter(|&v| !bound(v));

        // A negated literal about an object that this universe lacks is true.
        let (blocking, mut body): (Vec<Atom>, Vec<Atom>) =
            compiled.into_iter().flatten().partition(|a| !a.positive && last.is_some_and(|v| a.mentions(v)));
        let in_head = types.iter().enumerate().map(|(at, &t)| (Var(at as u8), t));
        let in_body = literals.iter().flat_map(Literal::vars).filter(|v| usize::from(v.0) >= types.len());
        let mut ranging: Vec<(Var, Type)> = in_head
            .chain(in_body.map(|v| (v, Types::ANY)))
            .filter(|&(v, _)| !bound(v) && Some(v) != last)
            .collect();
        ranging.sort_unstable_by_key(|r| r.0);
        ranging.dedup_by_key(|r| r.0);
        body.extend(ranging.into_iter().map(|(v, t)| Atom {
            positive: true,
            relation: type_relation(t),
            args: vec![Slot::Var(v)],
        }));

        let identity = self.identity(universe);
        let clause = |adds: i32, row: bool, atoms: Vec<Atom>| Clause {
            adds,
            head: Head { action: self.action.0 as usize, types: types.clone(), row },
            body: Body { atoms, identity: identity.clone(), variables: self.variables },
        };
        let mut all = vec![clause(1, last.is_some(), body.clone())];
        for (j, blocks) in blocking.iter().enumerate() {
            let mut body = body.clone();
            body.push(Atom { positive: true, ..blocks.clone() });
            body.extend_from_slice(&blocking[..j]);
            all.push(clause(-1, false, body));
        }
        all
    }
}

/// The body of a clause for an action whose arguments are the first variables, with variables of its own from `first` on. `None`
/// where its head is not a list of distinct variables.
fn renamed(clause: &DefiningClause, first: usize) -> Option<Vec<Literal>> {
    let mut names: Vec<Option<Var>> = vec![None; clause.variables];
    for (place, arg) in clause.head.iter().enumerate() {
        let Arg::Var(v) = arg else { return None };
        if names[v.0 as usize].replace(Var(place as u8)).is_some() {
            return None;
        }
    }
    for (own, name) in (first..).zip(names.iter_mut().filter(|n| n.is_none())) {
        *name = Some(Var(u8::try_from(own).ok()?));
    }
    let rename = |arg: &Arg| match arg {
        Arg::Var(v) => names[v.0 as usize].map(Arg::Var),
        Arg::Const(_) => Some(arg.clone()),
    };
    let literal =
        |l: &Literal| Some(Literal { args: l.args.iter().map(rename).collect::<Option<_>>()?, ..l.clone() });
    clause.body.iter().map(literal).collect()
}
