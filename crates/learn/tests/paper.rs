//! The paper's worked examples, with its very numbers.

use derrl_learn::{Constraints, GroundAtoms, TNorm, softmax, valuations, value};
use derrl_logic::{Action, Alphabet, Constant, Facts, Grounder, Object, Policy, Source, Types, Universe};

const ALPHABET: &str = "
    :- action(r/0).
    :- action(s/0).
    :- state(p/1).
    :- state(q/2).
    :- variables(2).
    false :- p(Y), q(Y, X).
";

struct Example {
    alphabet: Alphabet,
    universe: Universe,
    atoms: GroundAtoms,
    v: Vec<f64>,
}

/// P_tar = {r/0, s/0}, P_ext = {p/1, q/2}, V = {X, Y}, C = {a, b}, s = {p(a), q(a,a), q(a,b)}.
fn example() -> Example {
    let alphabet = Alphabet::parse(&Source::new("paper.pl", ALPHABET)).unwrap();
    let objects = ["a", "b"].map(|n| (Constant::name(n), Types::ANY));
    let universe = Universe::new(objects.to_vec());
    let (p, q) = (alphabet.find_predicate("p", 1).unwrap(), alphabet.find_predicate("q", 2).unwrap());
    let mut facts = Facts::new(&alphabet);
    facts.push(p, &[Object(0)]);
    facts.push(q, &[Object(0), Object(0)]);
    facts.push(q, &[Object(0), Object(1)]);
    facts.seal();
    let atoms = GroundAtoms::new(&alphabet, &universe);
    let v = atoms.encode(&facts);
    Example { alphabet, universe, atoms, v }
}

impl Example {
    /// X^i, z^i and F^i of a rule with these weights.
    fn infer(&self, rule: &str, w: &[f64]) -> (Vec<Vec<usize>>, Vec<f64>, f64) {
        let policy = Policy::parse(&Source::new("rule", rule), &self.alphabet).unwrap();
        let rule = &policy.rules[0];
        let x = self.atoms.ground(rule, &[], &self.universe);
        let z = valuations(rule, &x, &self.v, w, TNorm::Lukasiewicz);
        let f = value(rule, &z);
        (x, z, f)
    }
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.005)
}

#[test]
fn the_state_vector() {
    assert_eq!(example().v, [1.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn inference_of_both_rules() {
    let e = example();
    let (x, z, f_r) = e.infer("r :- p(Y), q(Y, X).", &[0.8, 0.7]);
    assert_eq!(x, [[0, 3], [1, 4]]);
    assert!(close(&z, &[0.5, 0.0]), "{z:?}");
    assert!(close(&[f_r], &[0.5]));

    let (x, z, f_s) = e.infer("s :- p(X), q(Y, Y).", &[0.6, 0.9]);
    assert_eq!(x, [[0, 5], [1, 2]]);
    assert!(close(&z, &[0.0, 0.0]), "{z:?}");
    assert!(close(&[f_s], &[0.0]));

    assert!(close(&softmax(&[f_r, f_s], 1.0), &[0.62, 0.38]));
}

#[test]
fn two_rules_for_one_action() {
    let e = example();
    let (_, _, first) = e.infer("r :- p(Y), q(Y, X).", &[0.8, 0.7]);
    let (_, z, second) = e.infer("r :- p(X), p(Y), q(X, X).", &[0.6, 0.8, 0.8]);
    assert!(z.iter().all(|z| *z == 0.0), "{z:?}");
    assert!(close(&[first.max(second)], &[0.5]));
}

#[test]
fn the_semantic_loss() {
    let e = example();
    let grounder = Grounder::new(&e.alphabet);
    // The paper takes the axiom as it stands; ours stands for both its renamings into {X, Y}.
    let constraints = Constraints::new(&e.alphabet, &grounder, Action(0));
    assert_eq!(constraints.len(), 2);
    let p = [0.1, 0.8, 0.3, 0.4, 0.7, 0.2];
    let mut gradient = [0.0; 6];
    let total = constraints.loss(&p, 1.0, &mut gradient);
    let as_written = 0.8 * 0.7; // P of p(Y) times P of q(Y, X)
    let renamed = 0.1 * 0.4; // P of p(X) times P of q(X, Y)
    assert!(close(&[as_written], &[0.56]));
    assert!((total - as_written - renamed).abs() < 1e-12);
    assert!(close(&gradient, &[0.4, 0.7, 0.0, 0.1, 0.8, 0.0]));
}
