//! The compiled simulator against a naive one that interprets conditions over all tuples of objects, in our own domains, one
//! with costs and one with everything beyond STRIPS.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use derrl_env::{Env, Rng, Status, observe};
use derrl_logic::{Facts, legal_actions};
use derrl_pddl::{
    Actions, Cost, Domain, Formula, Kind, PddlEnv, Problems, Role, Simulator, Solvability, Task, Term,
    Translation, generate::GENERATORS, graph, load_domain, load_problems, solvability,
};

type Fact = (u32, Vec<u32>);

fn value(t: Term, b: &[u32]) -> u32 {
    match t {
        Term::Var(v) => b[v as usize],
        Term::Object(o) => o,
    }
}

struct Naive<'a> {
    task: &'a Task,
    facts: BTreeSet<Fact>,
}

impl Naive<'_> {
    fn members(&self, kind: Kind) -> Vec<u32> {
        let objects = self.task.problem.objects.iter().enumerate();
        objects
            .filter(|(_, o)| self.task.domain.types.belongs(&o.types, kind))
            .map(|(i, _)| i as u32)
            .collect()
    }

    fn tuples(&self, vars: &[u16], kinds: &[Kind], b: &[u32]) -> Vec<Vec<u32>> {
        let mut all = vec![b.to_vec()];
        for &v in vars {
            let members = self.members(kinds[v as usize]);
            all = all
                .iter()
                .flat_map(|b| {
                    members.iter().map(move |&o| {
                        let mut b = b.clone();
                        b[v as usize] = o;
                        b
                    })
                })
                .collect();
        }
        all
    }

    fn holds(&self, f: &Formula, kinds: &[Kind], b: &[u32]) -> bool {
        match f {
            Formula::And(parts) => parts.iter().all(|p| self.holds(p, kinds, b)),
            Formula::Or(parts) => parts.iter().any(|p| self.holds(p, kinds, b)),
            Formula::Not(inner) => !self.holds(inner, kinds, b),
            Formula::Atom(a) => {
                self.facts.contains(&(a.predicate, a.args.iter().map(|&t| value(t, b)).collect()))
            }
            Formula::Equal(x, y) => value(*x, b) == value(*y, b),
            Formula::Exists(vars, inner) => {
                self.tuples(vars, kinds, b).iter().any(|b| self.holds(inner, kinds, b))
            }
            Formula::Forall(vars, inner) => {
                self.tuples(vars, kinds, b).iter().all(|b| self.holds(inner, kinds, b))
            }
        }
    }

    fn legal(&self) -> BTreeSet<Fact> {
        let mut all = BTreeSet::new();
        for (i, s) in self.task.domain.schemas.iter().enumerate() {
            let params: Vec<u16> = (0..s.arity as u16).collect();
            for b in self.tuples(&params, &s.kinds, &vec![0; s.kinds.len()]) {
                if self.holds(&s.precondition, &s.kinds, &b) {
                    all.insert((i as u32, b[..s.arity].to_vec()));
                }
            }
        }
        all
    }

    fn step(&mut self, action: u32, args: &[u32]) -> f64 {
        let s = &self.task.domain.schemas[action as usize];
        let mut b = vec![0; s.kinds.len()];
        b[..args.len()].copy_from_slice(args);
        let (mut adds, mut deletes, mut cost) = (BTreeSet::new(), BTreeSet::new(), 0.0);
        for e in &s.effects {
            for b in self.tuples(&e.vars, &s.kinds, &b) {
                if self.holds(&e.condition, &s.kinds, &b) {
                    let ground = |a: &derrl_pddl::Atom| -> Fact {
                        (a.predicate, a.args.iter().map(|&t| value(t, &b)).collect())
                    };
                    adds.extend(e.adds.iter().map(ground));
                    deletes.extend(e.deletes.iter().map(ground));
                    cost += e
                        .costs
                        .iter()
                        .map(|c| match c {
                            Cost::Constant(c) => *c,
                            Cost::Function(f, args) => {
                                self.task.problem.values[&(*f, args.iter().map(|&t| value(t, &b)).collect())]
                            }
                        })
                        .sum::<f64>();
                }
            }
        }
        self.facts.retain(|f| !deletes.contains(f));
        self.facts.extend(adds);
        self.derive();
        if self.task.minimizes_cost() { cost } else { 1.0 }
    }

    /// Derives by rounds over all axioms; those that negate derived predicates come last in these domains.
    fn derive(&mut self) {
        let domain = self.task.domain.clone();
        self.facts.retain(|f| domain.predicates[f.0 as usize].role() != Role::Derived);
        loop {
            let before = self.facts.len();
            for axiom in &domain.axioms {
                let arity = domain.predicates[axiom.predicate as usize].args.len();
                let vars: Vec<u16> = (0..arity as u16).collect();
                for b in self.tuples(&vars, &axiom.kinds, &vec![0; axiom.kinds.len()]) {
                    if self.holds(&axiom.body, &axiom.kinds, &b) {
                        self.facts.insert((axiom.predicate, b[..arity].to_vec()));
                    }
                }
            }
            if self.facts.len() == before {
                return;
            }
        }
    }
}

fn facts(simulator: &Simulator) -> BTreeSet<Fact> {
    let mut all = BTreeSet::new();
    simulator.facts(&mut |p, args| {
        all.insert((p, args.to_vec()));
    });
    all
}

fn competition() -> Vec<(Arc<Domain>, Vec<Arc<Task>>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ipc");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    folders.sort();
    let load = |path: &PathBuf| {
        let domain = load_domain(path).unwrap_or_else(|e| panic!("{e}"));
        let tasks = load_problems(&[path], &domain).unwrap_or_else(|e| panic!("{e}"));
        (domain, tasks)
    };
    let mut all: Vec<_> = folders.iter().map(load).collect();
    for g in GENERATORS {
        let domain = g.domain().unwrap();
        let tasks = [(1, 0), (2, 1)].map(|(size, seed)| g.task(&domain, size, seed).unwrap()).into();
        all.push((domain, tasks));
    }
    all
}

#[test]
fn random_play_agrees_with_a_naive_simulator() {
    let mut steps = 0;
    for (domain, tasks) in competition() {
        for task in tasks {
            let mut rng = Rng::new(5, 0);
            let mut simulator = Simulator::new(task.clone());
            let mut naive = Naive { task: &task, facts: facts(&simulator) };
            naive.derive();
            let mut actions = Actions::new();
            for step in 0..60 {
                assert_eq!(facts(&simulator), naive.facts, "{} after {step} steps", domain.name);
                simulator.legal(&mut actions);
                let legal: Vec<Fact> = actions.iter().map(|(a, args)| (a, args.to_vec())).collect();
                assert!(legal.is_sorted());
                assert_eq!(legal.iter().cloned().collect::<BTreeSet<_>>(), naive.legal(), "{}", domain.name);
                let kinds = &task.problem.goal_kinds;
                let reached = naive.holds(&task.problem.goal, kinds, &vec![0; kinds.len()]);
                assert_eq!(simulator.reached(), reached);
                let Some((action, args)) = (!legal.is_empty()).then(|| &legal[rng.below(legal.len())]) else {
                    break;
                };
                assert_eq!(simulator.apply(*action, args), Some(naive.step(*action, args)));
                steps += 1;
            }
            // A state set is the state that was left; a reset leads back.
            let (state, now, code) = (simulator.state(), facts(&simulator), simulator.code());
            simulator.reset();
            let first = (facts(&simulator), simulator.code());
            simulator.set_state(&state);
            assert_eq!((facts(&simulator), simulator.code()), (now, code));
            simulator.reset();
            assert_eq!((facts(&simulator), simulator.code()), first);
        }
    }
    assert!(steps > 600, "{steps} steps");
}

#[test]
fn legality_as_text_is_legality_as_simulated() {
    for (domain, tasks) in competition() {
        let translation = Translation::new(&domain, tasks.iter().map(Arc::as_ref)).unwrap();
        let alphabet = translation.alphabet().unwrap_or_else(|e| panic!("{e}\n{}", translation.text()));
        let problems = Arc::new(Problems::new(&translation, &alphabet, tasks, None).unwrap());
        let mut env = PddlEnv::new(problems).unwrap();
        let mut rng = Rng::new(6, 0);
        let mut seen = Facts::new(&alphabet);
        for _ in 0..4 {
            env.reset(&mut rng);
            for _ in 0..60 {
                observe(&env, &mut seen);
                let mut legal = Vec::new();
                assert!(env.legal(&mut legal));
                let by_text =
                    legal_actions(&seen, &alphabet, env.universe()).expect("the text says what is legal");
                assert_eq!(by_text, legal, "{}\n{}", domain.name, translation.text());
                let action = &legal[rng.below(legal.len())];
                if env.step(action.action, &action.args, &mut rng).status != Status::Running {
                    break;
                }
            }
        }
    }
}

#[test]
fn small_problems_have_plans_and_graphs() {
    for (domain, tasks) in competition() {
        for task in tasks {
            let found = solvability(&task, 200_000);
            let Solvability::Solvable(plan) = found else { panic!("{}: {found:?}", domain.name) };
            plan.check(&task).unwrap_or_else(|e| panic!("{}: {e}", domain.name));
            if let Some(graph) = graph(&task, 20_000) {
                assert!(graph.goals.contains(&true) && graph.edges.len() == graph.states.len());
            }
        }
    }
}
