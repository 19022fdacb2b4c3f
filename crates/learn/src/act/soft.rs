//! A policy over soft facts: facts that hold with a probability, with the gradient of the values of actions to these.
//!
//! The paper's v_j, the truth of a ground atom, is here a number from 0 to 1:
//!
//! F(a) = max over rules i for a and substitutions phi of c_i T(v_j : g_j in the body of i under phi), v_j being 1 - v_j under `\+`
//!
//! with c_i the value of the rule and T a t-norm. So whatever gives the probabilities can be trained by what the rules make of
//! them. Which atoms each substitution asks for depends on no probability, and is found once.

use derrl_logic::{Alphabet, Arg, Facts, GroundAction, Literal, Object, Policy, Pred, Rule, Type, Universe};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::settings::tnorm::TNorm;

/// Substitutions at the most: beyond, there are gigabytes of them.
const MOST_ROWS: usize = 10_000_000;

/// What one substitution asks of the soft facts.
#[derive(Clone, Debug)]
struct Row {
    /// The value of the rule.
    weight: f64,
    /// The soft facts in the body, each with whether it is to hold.
    atoms: Vec<(u32, bool)>,
}

/// A policy, grounded in one universe with some certain and some soft facts.
#[derive(Clone, Debug)]
pub struct SoftPolicy {
    tnorm: TNorm,
    actions: Vec<GroundAction>,
    /// By action.
    rows: Vec<Vec<Row>>,
    soft: usize,
}

impl SoftPolicy {
    /// Grounds a policy. `facts` are certain, with what follows from them; `soft` are the atoms whose probabilities are given later,
    /// each once. What is neither does not hold. An error where a rule compares numbers, or uses what is defined by soft facts.
    pub fn new(
        policy: &Policy,
        (alphabet, universe): (&Alphabet, &Universe),
        facts: &Facts,
        soft: &[(Pred, Vec<Object>)],
        tnorm: TNorm,
    ) -> Result<SoftPolicy, Error> {
        let rules: Vec<&Rule> = policy.rules.iter().filter(|r| !r.abstains()).collect();
        for rule in &rules {
            check(rule, alphabet, soft)?;
        }
        let actions = universe.ground_actions(alphabet);
        let place = |(i, (pred, args)): (usize, &(Pred, Vec<Object>))| ((*pred, args.clone()), i as u32);
        let places = soft.iter().enumerate().map(place).collect();
        let mut grounding = Grounding { alphabet, universe, facts, soft, places, rows: Vec::new(), made: 0 };
        let mut rows = Vec::with_capacity(actions.len());
        for action in &actions {
            for rule in rules.iter().filter(|r| r.action == action.action) {
                grounding.ground(rule, &action.args)?;
            }
            rows.push(std::mem::take(&mut grounding.rows));
        }
        Ok(SoftPolicy { tnorm, actions, rows, soft: soft.len() })
    }

    /// The actions, in the order of the values.
    pub fn actions(&self) -> &[GroundAction] {
        &self.actions
    }

    /// How many soft facts there are.
    pub fn soft(&self) -> usize {
        self.soft
    }

    /// F of each action, given the probabilities of the soft facts.
    pub fn values(&self, v: &[f64]) -> Vec<f64> {
        let value = |rows: &Vec<Row>| self.best(rows, v).map_or(0.0, |(f, _)| f);
        self.rows.iter().map(value).collect()
    }

    /// dJ/dv, given dJ/dF for each action. At a kink (ties, a t-norm's edge) one valid subgradient.
    pub fn gradient(&self, v: &[f64], d_values: &[f64]) -> Vec<f64> {
        let mut d_v = vec![0.0; self.soft];
        for (rows, d) in self.rows.iter().zip(d_values) {
            let Some((_, row)) = self.best(rows, v).filter(|_| *d != 0.0) else { continue };
            // Truth and weight take part alike in y_j w_j, so dT/dy is dT/dw with the two exchanged.
            let y = row.truths(v);
            let mut d_y = vec![0.0; y.len()];
            self.tnorm.gradient(&vec![1.0; y.len()], &y, &mut d_y);
            for (&(j, positive), d_y) in row.atoms.iter().zip(d_y) {
                let sign = if positive { 1.0 } else { -1.0 };
                d_v[j as usize] += d * row.weight * sign * d_y;
            }
        }
        d_v
    }

    /// The highest value of some substitutions, and the first that has it.
    fn best<'a>(&self, rows: &'a [Row], v: &[f64]) -> Option<(f64, &'a Row)> {
        let mut best: Option<(f64, &Row)> = None;
        for row in rows {
            let y = row.truths(v);
            let f = row.weight * self.tnorm.value(&y, &vec![1.0; y.len()]);
            if best.is_none_or(|(highest, _)| f > highest) {
                best = Some((f, row));
            }
        }
        best
    }
}

impl Row {
    /// How true each atom is.
    fn truths(&self, v: &[f64]) -> Vec<f64> {
        let truth = |&(j, positive): &(u32, bool)| if positive { v[j as usize] } else { 1.0 - v[j as usize] };
        self.atoms.iter().map(truth).collect()
    }
}

/// An error where a rule says what has no gradient.
fn check(rule: &Rule, alphabet: &Alphabet, soft: &[(Pred, Vec<Object>)]) -> Result<(), Error> {
    let shown = || rule.display_clause(alphabet).to_string();
    let compares = rule.body.iter().any(|l| alphabet.comparison(l.pred).is_some());
    if compares || !rule.choices.is_empty() {
        let why = format!("`{}` compares numbers: soft facts have no numbers", shown());
        return Err(Error::Soft(why));
    }
    for literal in &rule.body {
        let needed = alphabet.program.as_ref().map(|p| p.needed(std::iter::once(literal.pred)));
        let by = needed.into_iter().flatten().filter(|p| *p != literal.pred);
        if let Some(by) = by.into_iter().find(|p| soft.iter().any(|(soft, _)| soft == p)) {
            let [name, by] = [literal.pred, by].map(|p| alphabet.predicate(p).name.as_str());
            let why = format!(
                "`{}` uses `{name}`, which is defined by `{by}`, and facts of that are soft: write the definition into the rule",
                shown()
            );
            return Err(Error::Soft(why));
        }
    }
    Ok(())
}

/// Substitutions of rules under way.
struct Grounding<'a> {
    alphabet: &'a Alphabet,
    universe: &'a Universe,
    facts: &'a Facts,
    soft: &'a [(Pred, Vec<Object>)],
    places: FxHashMap<(Pred, Vec<Object>), u32>,
    rows: Vec<Row>,
    made: usize,
}

/// A substitution: the objects of variables, and those that no variable may stand for.
struct Phi {
    of: Vec<Option<Object>>,
    named: Vec<Object>,
    atoms: Vec<(u32, bool)>,
}

impl Grounding<'_> {
    /// All substitutions under which a rule derives an action with these objects, unless certain facts speak against them.
    fn ground(&mut self, rule: &Rule, head: &[Object]) -> Result<(), Error> {
        let most = rule.body.iter().flat_map(Literal::vars).map(|v| usize::from(v.0) + 1).max();
        let mut of = vec![None; most.unwrap_or(0).max(head.len())];
        of.iter_mut().zip(head).for_each(|(of, o)| *of = Some(*o));
        let constants = rule.body.iter().flat_map(|l| &l.args).filter_map(|a| match a {
            Arg::Const(c) => Some(self.universe.find(c)),
            Arg::Var(_) => None,
        });
        // A world without such an object makes the atom false; negated, it is true.
        let named: Vec<Object> = constants.flatten().collect();
        if head.iter().any(|o| named.contains(o)) {
            return Ok(());
        }
        // Positive literals bind variables, so they come first.
        let (positive, negative): (Vec<&Literal>, Vec<&Literal>) = rule.body.iter().partition(|l| l.positive);
        let literals: Vec<&Literal> = positive.into_iter().chain(negative).collect();
        self.extend(rule.weight, &literals, &mut Phi { of, named, atoms: Vec::new() })
    }

    fn extend(&mut self, weight: f64, literals: &[&Literal], phi: &mut Phi) -> Result<(), Error> {
        let Some((literal, rest)) = literals.split_first() else {
            self.made += 1;
            if self.made > MOST_ROWS {
                return Err(Error::Soft(format!("the rules have more than {MOST_ROWS} substitutions here")));
            }
            self.rows.push(Row { weight, atoms: phi.atoms.clone() });
            return Ok(());
        };
        if !literal.positive {
            return self.negative(weight, literal, rest, phi);
        }
        let types = self.alphabet.predicate(literal.pred).args.clone();
        for tuple in self.facts.tuples(literal.pred) {
            self.bind(weight, (literal, &types, rest), tuple, None, phi)?;
        }
        for (at, (pred, tuple)) in self.soft.iter().enumerate() {
            if *pred == literal.pred {
                self.bind(weight, (literal, &types, rest), tuple, Some(at as u32), phi)?;
            }
        }
        Ok(())
    }

    /// Goes on with a literal bound to a fact, which is soft if it has a place.
    fn bind(
        &mut self,
        weight: f64,
        (literal, types, rest): (&Literal, &[Type], &[&Literal]),
        tuple: &[Object],
        place: Option<u32>,
        phi: &mut Phi,
    ) -> Result<(), Error> {
        let before = phi.of.clone();
        let fits = literal.args.iter().zip(tuple).zip(types).all(|((arg, &o), &t)| match arg {
            Arg::Const(c) => self.universe.find(c) == Some(o),
            Arg::Var(v) => {
                let at = usize::from(v.0);
                if let Some(bound) = phi.of[at] {
                    return bound == o;
                }
                let is_free = !phi.of.contains(&Some(o)) && !phi.named.contains(&o);
                phi.of[at] = Some(o);
                is_free && self.alphabet.types.is_subtype(self.universe.type_of(o), t)
            }
        });
        let result = if fits {
            phi.atoms.extend(place.map(|at| (at, true)));
            let result = self.extend(weight, rest, phi);
            place.and_then(|_| phi.atoms.pop());
            result
        } else {
            Ok(())
        };
        phi.of = before;
        result
    }

    fn negative(
        &mut self,
        weight: f64,
        literal: &Literal,
        rest: &[&Literal],
        phi: &mut Phi,
    ) -> Result<(), Error> {
        let args: Option<Vec<Object>> = literal
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Const(c) => self.universe.find(c),
                Arg::Var(v) => phi.of[usize::from(v.0)],
            })
            .collect();
        let Some(args) = args else { return self.extend(weight, rest, phi) };
        if self.facts.holds(literal.pred, &args) {
            return Ok(());
        }
        let place = self.places.get(&(literal.pred, args)).copied();
        phi.atoms.extend(place.map(|at| (at, false)));
        let result = self.extend(weight, rest, phi);
        place.and_then(|_| phi.atoms.pop());
        result
    }
}
