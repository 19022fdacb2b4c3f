//! Printing and then parsing gives back what was printed, for every kind of text.

use derrl_logic::alphabet::{Action, Pred, Var};
use derrl_logic::rule::{Arg, Literal, Rule};
use derrl_logic::syntax::{
    self, Atom, Choice, Clause, Comparison, Constant, Directive, Extreme, Goal, Head, Item, NumberFact, Op,
    Program, Sum, Summand, Term, TermKind, Tree,
};
use derrl_logic::{Alphabet, Policy, Source, parser};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Plain names, and names that need every kind of quoting.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z][a-zA-Z0-9_]{0,6}",
        1 => "[ -~]{0,6}",
        1 => "[\\PC\n\t\r\u{7f}\u{202e}'\\\\]{0,4}",
    ]
}

fn constant() -> impl Strategy<Value = Constant> {
    prop_oneof![any::<i64>().prop_map(Constant::Int), name().prop_map(|n| Constant::name(&n))]
}

fn term() -> impl Strategy<Value = Term> {
    let kind =
        prop_oneof!["[A-Z_][a-zA-Z0-9_]{0,3}".prop_map(TermKind::Var), constant().prop_map(TermKind::Const),];
    kind.prop_map(|kind| Term { kind, span: syntax::Span::default() })
}

fn atom() -> impl Strategy<Value = Atom> {
    (name(), vec(term(), 0..4)).prop_map(|(name, args)| Atom { name, args, span: syntax::Span::default() })
}

fn literal() -> impl Strategy<Value = syntax::Literal> {
    let goal = prop_oneof![3 => atom().prop_map(Goal::Atom), 2 => comparison().prop_map(Goal::Comparison)];
    (any::<bool>(), goal).prop_map(|(positive, goal)| syntax::Literal {
        positive,
        goal,
        span: syntax::Span::default(),
    })
}

/// Finite numbers of all sizes, and those that people write.
fn finite() -> impl Strategy<Value = f64> {
    let any = any::<f64>().prop_filter("numbers are finite", |x| x.is_finite());
    prop_oneof![any, (-1000..1000i32).prop_map(|i| f64::from(i) / 8.0), Just(0.0), Just(1.0), Just(-1.0)]
}

fn sum() -> impl Strategy<Value = Sum> {
    let summand = (finite(), proptest::option::weighted(0.8, atom())).prop_map(|(factor, measure)| Summand {
        factor,
        measure,
        span: syntax::Span::default(),
    });
    vec(summand, 1..4).prop_map(|summands| Sum { summands, span: syntax::Span::default() })
}

fn op() -> impl Strategy<Value = Op> {
    select(&[Op::Greater, Op::AtLeast, Op::Less, Op::AtMost][..])
}

fn comparison() -> impl Strategy<Value = Comparison> {
    let parts = (sum(), op(), sum());
    parts.prop_map(|(left, op, right)| Comparison { left, op, right, span: syntax::Span::default() })
}

fn choice() -> impl Strategy<Value = Choice> {
    // A number or a constant alone would read as a predicate of that name.
    let of = sum().prop_filter("a choice is of a measure", |sum| {
        sum.summands.iter().any(|s| s.measure.as_ref().is_some_and(|m| !m.args.is_empty()))
    });
    (any::<bool>(), of).prop_map(|(most, sum)| Choice {
        extreme: if most { Extreme::Most } else { Extreme::Least },
        sum,
        span: syntax::Span::default(),
    })
}

fn clause() -> impl Strategy<Value = Clause> {
    let head = atom().prop_map(|atom| match atom {
        atom if atom.name == "false" && atom.args.is_empty() => Head::False(atom.span),
        atom => Head::Atom(atom),
    });
    let number = (atom(), finite()).prop_map(|(measure, value)| {
        Head::Number(NumberFact { measure, value: value + 0.0, span: syntax::Span::default() })
    });
    let head = prop_oneof![1 => Just(Head::False(syntax::Span::default())), 3 => head, 1 => number];
    let weight = proptest::option::of(prop_oneof![3 => 0.0..1.0f64, 1 => finite()]);
    let conditions = (vec(literal(), 0..4), vec(choice(), 0..3));
    (weight, head, conditions).prop_map(|(weight, head, (body, choices))| Clause {
        weight,
        head,
        body,
        choices,
        span: syntax::Span::default(),
    })
}

fn tree() -> impl Strategy<Value = Tree> {
    let indicator = (name(), 0..100usize).prop_map(|(name, arity)| Tree::Indicator {
        name,
        arity,
        span: syntax::Span::default(),
    });
    let leaf = prop_oneof![term().prop_map(Tree::Leaf), indicator];
    leaf.prop_recursive(4, 16, 3, |inner| {
        (name(), vec(inner, 1..4)).prop_map(|(name, args)| Tree::Compound {
            name,
            args,
            span: syntax::Span::default(),
        })
    })
}

fn program() -> impl Strategy<Value = Program> {
    let directive =
        tree().prop_map(|tree| Item::Directive(Directive { tree, span: syntax::Span::default() }));
    vec(prop_oneof![clause().prop_map(Item::Clause), directive], 0..6).prop_map(|items| Program { items })
}

/// The same tree with every span empty: where things stand is no part of what they say.
fn without_spans(mut program: Program) -> Program {
    fn forget_atom(atom: &mut Atom) {
        atom.span = syntax::Span::default();
        atom.args.iter_mut().for_each(|t| t.span = syntax::Span::default());
    }
    fn forget_sum(sum: &mut Sum) {
        sum.span = syntax::Span::default();
        for summand in &mut sum.summands {
            summand.span = syntax::Span::default();
            summand.measure.iter_mut().for_each(forget_atom);
        }
    }
    fn forget_tree(tree: &mut Tree) {
        match tree {
            Tree::Leaf(term) => term.span = syntax::Span::default(),
            Tree::Indicator { span, .. } => *span = syntax::Span::default(),
            Tree::Compound { args, span, .. } => {
                *span = syntax::Span::default();
                args.iter_mut().for_each(forget_tree);
            }
        }
    }
    for item in &mut program.items {
        match item {
            Item::Directive(directive) => {
                directive.span = syntax::Span::default();
                forget_tree(&mut directive.tree);
            }
            Item::Clause(clause) => {
                clause.span = syntax::Span::default();
                match &mut clause.head {
                    Head::False(span) => *span = syntax::Span::default(),
                    Head::Atom(atom) | Head::Never(atom) => forget_atom(atom),
                    Head::Number(number) => {
                        number.span = syntax::Span::default();
                        forget_atom(&mut number.measure);
                    }
                }
                for literal in &mut clause.body {
                    literal.span = syntax::Span::default();
                    match &mut literal.goal {
                        Goal::Atom(atom) => forget_atom(atom),
                        Goal::Comparison(comparison) => {
                            comparison.span = syntax::Span::default();
                            forget_sum(&mut comparison.left);
                            forget_sum(&mut comparison.right);
                        }
                    }
                }
                for choice in &mut clause.choices {
                    choice.span = syntax::Span::default();
                    forget_sum(&mut choice.sum);
                }
            }
        }
    }
    program
}

/// A well-formed domain file: its directives in any order, then its constraints.
fn domain() -> impl Strategy<Value = String> {
    let signature = (select(&["p", "q", "on", "'Big'", "x_1"][..]), vec(0..5usize, 0..4), any::<bool>());
    let pairs = vec((0..5usize, 0..5usize), 0..4);
    let bias = vec((0..9usize, any::<Index>(), any::<Index>(), 1..6usize), 0..8);
    let constraints = vec((any::<bool>(), vec((any::<Index>(), any::<bool>(), 0..3usize), 1..4)), 0..4);
    let templates = proptest::option::of(0..4usize);
    (vec(signature, 1..8), pairs, bias, constraints, any::<Index>(), templates).prop_map(
        |(signatures, pairs, bias, constraints, rotation, templates)| {
            let types = ["any", "block", "place", "'a key'", "t9"];
            let mut lines: Vec<String> = Vec::new();
            let mut predicates: Vec<(&str, Vec<usize>)> = Vec::new();
            for (name, args, state) in signatures {
                if predicates.iter().all(|p| (p.0, p.1.len()) != (name, args.len())) {
                    let typed: Vec<&str> = args.iter().map(|&t| types[t]).collect();
                    let typed =
                        if args.is_empty() { String::new() } else { format!("({})", typed.join(", ")) };
                    lines.push(format!(":- {}({name}{typed}).", if state { "state" } else { "background" }));
                    predicates.push((name, args));
                }
            }
            lines.push(":- action(go).".to_string());
            lines.push(":- action(move(block, any)).".to_string());
            // Subtypes go from lower to higher numbers: no cycles.
            for (a, b) in pairs {
                if 0 < a && a < b {
                    lines.push(format!(":- subtype({}, {}).", types[a], types[b]));
                }
            }
            for (kind, p, q, n) in bias {
                let (p, q) = (p.get(&predicates), q.get(&["go/0", "move/2"]));
                let p = format!("{}/{}", p.0, p.1.len());
                lines.push(match kind {
                    0 => ":- environment('my blocks').".to_string(),
                    1 => ":- variables(5).".to_string(),
                    2 => ":- max_body(7).".to_string(),
                    3 => format!(":- rules({q}, {n})."),
                    4 => format!(":- rules({q}, auto)."),
                    5 => format!(":- negation({p})."),
                    6 => format!(":- constant({}).", ["-3", "floor", "'A b'", "0", "c"][n - 1]),
                    _ => format!(":- forbid({q}, {p})."),
                });
            }
            if let Some(n) = templates {
                lines.extend([
                    format!(":- nlrl(steps({})).", n + 1),
                    ":- nlrl(invent('Big p'(block, any))).".to_string(),
                    ":- nlrl(invent(p2/1)).".to_string(),
                    format!(":- nlrl(slot(go/0, {n}, invented))."),
                    format!(":- nlrl(slot(move/2, {n}, given))."),
                    ":- nlrl(slot('Big p'/2, 0, invented)).".to_string(),
                    ":- nlrl(slot(p2/1, 2, given)).".to_string(),
                ]);
            }
            // One declaration of a kind: the duplicates would be errors.
            let mut seen = Vec::new();
            lines.retain(|line| {
                let key = if line.contains("rules(") { line.split(',').next().unwrap_or(line) } else { line };
                let new = !seen.contains(&key.to_string());
                seen.push(key.to_string());
                new
            });
            let at = rotation.index(lines.len());
            lines.rotate_left(at);
            for (forbids, literals) in constraints {
                // A variable is named after its type, so that every constraint is well-typed.
                let text = |(p, positive, k): &(Index, bool, usize), i: usize| {
                    let (name, args) = p.get(&predicates);
                    let vars: Vec<String> =
                        args.iter().enumerate().map(|(j, t)| format!("T{t}_{}", (i + j * k) % 3)).collect();
                    let vars = if args.is_empty() { String::new() } else { format!("({})", vars.join(",")) };
                    format!("{}{name}{vars}", if *positive { "" } else { "\\+ " })
                };
                let mut all: Vec<String> = literals.iter().enumerate().map(|(i, l)| text(l, i)).collect();
                all.dedup();
                let head = if forbids { "false".to_string() } else { all[0].replace("\\+ ", "") };
                all.retain(|l| *l != head);
                if !all.is_empty() {
                    lines.push(format!("{head} <- {}.", all.join(", ")));
                }
            }
            lines.join("\n")
        },
    )
}

const WORLD: &str = ":- action(stop). :- action(go(a)). :- action(move(a, b)). :- subtype(a, b).
    :- state(p). :- state(q/1). :- background('R r'(a, b)). :- background(s(b, a, any)).";

fn world() -> Alphabet {
    Alphabet::parse(&Source::new("world.pl", WORLD)).expect("the domain is well-formed")
}

/// A rule over the world, with whatever variables.
fn rule() -> impl Strategy<Value = Rule> {
    let arg = prop_oneof![4 => (0..9u8).prop_map(|v| Arg::Var(Var(v))), 1 => constant().prop_map(Arg::Const)];
    let literal = (any::<bool>(), 0..4u32, vec(arg, 3)).prop_map(|(positive, pred, mut args)| {
        args.truncate([0, 1, 2, 3][pred as usize]);
        Literal { positive, pred: Pred(pred), args }
    });
    (0.0001..=1.0f64, 0..3u32, vec(literal, 1..5)).prop_map(|(weight, action, mut body)| {
        let bound: Vec<Var> = body.iter().filter(|l| l.positive).flat_map(Literal::vars).collect();
        for literal in &mut body {
            // Keep the rule safe. An action's number is its arity in this world.
            let safe = literal.vars().all(|v| u32::from(v.0) < action || bound.contains(&v));
            literal.positive |= !safe;
        }
        Rule::new(weight, Action(action), body)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs(program in program()) {
        let text = program.to_string();
        let parsed = parser::parse(&Source::new("p.pl", text.as_str()));
        let parsed = parsed.map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(without_spans(parsed), program, "{}", text);
    }

    #[test]
    fn domains(text in domain()) {
        let alphabet = Alphabet::parse(&Source::new("d.pl", text.as_str()));
        let alphabet = alphabet.map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let printed = alphabet.to_string();
        let again = Alphabet::parse(&Source::new("d.pl", printed.as_str()));
        let again = again.map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        prop_assert_eq!(&again, &alphabet, "{}", printed);
        prop_assert_eq!(again.to_string(), printed);
    }

    #[test]
    fn policies(rules in vec(rule(), 0..5)) {
        let world = world();
        // Weights are equal if they are to two decimals.
        let rounded = |policy: &Policy| -> Vec<(String, Action, Vec<Literal>)> {
            policy.rules.iter().map(|r| (format!("{:.2}", r.weight), r.action, r.body.clone())).collect()
        };
        let canonical = |rule: &Rule| rule.canonical(world.action(rule.action).args.len());
        let policy = Policy { rules: rules.iter().map(canonical).collect() };
        let text = Policy { rules }.display(&world).to_string();
        let parsed = Policy::parse(&Source::new("p.pl", text.as_str()), &world);
        let parsed = parsed.map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(rounded(&parsed), rounded(&policy), "{}", text);
        prop_assert_eq!(parsed.display(&world).to_string(), text);
    }
}

#[test]
fn the_blocks_domain_and_its_policy() {
    let domain = Source::new("blocks.pl", include_str!("blocks.pl"));
    let (blocks, warnings) = Alphabet::check(&domain).expect("the domain is well-formed");
    assert_eq!(warnings, []);
    assert_eq!(Alphabet::parse(&Source::new("again.pl", blocks.to_string())).as_ref(), Ok(&blocks));
    let text = "0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n\
                0.98::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n";
    let policy = Policy::parse(&Source::new("policy.pl", text), &blocks).expect("the policy is well-formed");
    assert_eq!(policy.display(&blocks).to_string(), text);
}

#[test]
fn variables_are_renamed_by_appearance_head_first() {
    let blocks = Source::new("blocks.pl", include_str!("blocks.pl"));
    let blocks = Alphabet::parse(&blocks).expect("the domain is well-formed");
    let shown = |text: &str| {
        let policy = Policy::parse(&Source::new("p.pl", text), &blocks).expect("the policy is well-formed");
        policy.display(&blocks).to_string()
    };
    assert_eq!(
        shown("move(Z, X) ← on(X, Y), top(_), top(_)."),
        "1.00::move(X, Y) :- on(Y, Z), top(U), top(V).\n"
    );
    assert_eq!(
        shown("0.5::move(A, _) <- on(B, C), on(D, E), on(F, G)."),
        "0.50::move(X, Y) :- on(Z, U), on(V, W), on(X6, X7).\n"
    );
    // Rules come with gaps in their variables from a learner: only what occurs is named.
    let literal = |args: [u8; 2]| Literal {
        positive: true,
        pred: Pred(1),
        args: args.iter().map(|&v| Arg::Var(Var(v))).collect(),
    };
    let rule = Rule::new(0.994, Action(0), vec![literal([9, 1]), literal([4, 9])]);
    assert_eq!(rule.display(&blocks).to_string(), "0.99::move(X, Y) :- on(Z, Y), on(U, Z).");
    assert_eq!(rule.canonical(2).body, [literal([2, 1]), literal([3, 2])]);
}

#[test]
fn a_small_weight_does_not_print_as_zero() {
    let stop = Literal { positive: true, pred: Pred(0), args: Vec::new() };
    let rule = |weight| Rule::new(weight, Action(0), vec![stop.clone()]);
    let policy = Policy { rules: vec![rule(0.004), rule(0.0), rule(0.005)] };
    assert_eq!(policy.display(&world()).to_string(), "0.004::stop :- p.\n0.01::stop :- p.\n");
}
