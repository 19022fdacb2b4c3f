//! Verification against a second, naive reading of what it says, in small spaces and for random policies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use derrl_env::{Extent, Family, Next, Rng, Size, World, find, observe_state};
use derrl_learn::{
    Counterexample, Everywhere, Kind, Monitor, NoMonitor, Progress, Report, Subject, Verdict, constants,
    verify,
};
use derrl_logic::{
    Action, Alphabet, Arg, Decider, Facts, GroundAction, Literal, Policy, Pred, Rule, Source, Var, bounded,
    candidates, parse_ground_action,
};

/// Worlds with a size small enough for the naive reading.
const WORLDS: &[(&str, usize)] = &[("blocks", 3), ("countdown", 2), ("gridworld", 3), ("doorkey", 4)];

const KNOWN: &[(&str, &str)] = &[
    ("blocks", "0.9::move(X, Y) :- top(X), on(X, Z), isFloor(Y). 0.8::move(X, Y) :- top(X), top(Y), goal_on(X, Y)."),
    ("blocks", "move(X, Y) :- top(X), top(Y), goal_on(X, Y). 0.5::move(X, Y) :- top(X), isFloor(Y)."),
    ("blocks", "move(X, Y) :- top(X), top(Y)."),
    ("blocks", "move(X, Y) :- top(X), isFloor(Y), on(X, b). 0.5::move(X, Y) :- goal_on(X, Y)."),
    ("countdown", "add :- acc(X), goal(Y), less(X, Y). sub :- acc(X), goal(Y), less(Y, X). null :- acc(X), goal(X)."),
    ("countdown", "add :- acc(X), goal(Y), less(X, Y). 0.5::null :- acc(X)."),
    ("gridworld", "up :- north. down :- south. left :- west. right :- east."),
    ("gridworld", "0.9::up :- north. 0.8::down :- south. 0.7::left :- west. 0.6::right :- east."),
    ("doorkey", "0.9::pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying. 0.95::open(X) :- locked(X), samecolor(X, Y),
      carrying(Y). 0.99::goto(X) :- goal(X), unlocked."),
    ("doorkey", "pick(X) :- key(X). open(X) :- door(X). goto(X) :- goal(X)."),
];

fn world(name: &str) -> (&'static World, Arc<Alphabet>) {
    let spec = find(name).expect("the table has this world");
    (spec, spec.alphabet())
}

fn parse(text: &str, alphabet: &Alphabet) -> Policy {
    Policy::parse(&Source::new("policy.pl", text), alphabet).unwrap_or_else(|e| panic!("{e}"))
}

/// Policies to check: those above, none at all, and random ones over the candidate atoms of the domain.
fn each_policy(mut law: impl FnMut(&'static World, &Arc<Alphabet>, usize, &Policy)) {
    for &(name, largest) in WORLDS {
        let (spec, alphabet) = world(name);
        law(spec, &alphabet, largest, &Policy::default());
        for (_, text) in KNOWN.iter().filter(|(of, _)| *of == name) {
            law(spec, &alphabet, largest, &parse(text, &alphabet));
        }
        let mut rng = Rng::new(5, 5);
        for _ in 0..12 {
            law(spec, &alphabet, largest, &random_policy(&alphabet, &mut rng));
        }
    }
}

fn random_policy(alphabet: &Alphabet, rng: &mut Rng) -> Policy {
    let mut rules = Vec::new();
    while rules.len() < 3 {
        let action = Action(rng.below(alphabet.actions.len()) as u32);
        let atoms = candidates(alphabet, action);
        let body = (0..=rng.below(3)).map(|_| atoms[rng.below(atoms.len())].clone()).collect();
        let rule = Rule::new((1 + rng.below(3)) as f64 / 4.0, action, body);
        if rule.is_safe(alphabet.action(action).args.len()) {
            rules.push(rule);
        }
    }
    Policy { rules }
}

fn subject<'a>(
    spec: &'static World,
    alphabet: &'a Arc<Alphabet>,
    largest: usize,
    policy: &'a Policy,
    every_state: bool,
) -> Subject<'a> {
    let extent = Extent { largest, every_state, named: constants([policy]), ..Extent::default() };
    Subject { policy, alphabet, world: spec, extent }
}

fn report(subject: &Subject<'_>, threads: usize) -> Report {
    verify(subject, threads, Progress::default(), &mut NoMonitor)
        .expect("a report")
        .expect("nobody stopped it")
}

/// What a policy does in a family, state by state: for each choice where it leads.
struct Naive {
    choices: BTreeMap<u128, Vec<Next>>,
    starts: Vec<(u128, u128)>,
}

impl Naive {
    fn new(family: &dyn Family, policy: &Policy, alphabet: &Alphabet) -> Naive {
        let mut starts = Vec::new();
        family.starts(&mut |state, count| starts.push((state, count)));
        let mut choices = BTreeMap::new();
        let mut queue: Vec<u128> = starts.iter().map(|s| s.0).collect();
        while let Some(state) = queue.pop() {
            if choices.contains_key(&state) {
                continue;
            }
            let next: Vec<Next> =
                ties(family, state, policy, alphabet)
                    .iter()
                    .map(|a| family.step(state, a.action, &a.args))
                    // A state without a way out is a dead end.
                    .map(|n| {
                        if matches!(n, Next::State(s) if family.shortest(s).is_none()) {
                            Next::Lost
                        } else {
                            n
                        }
                    })
                    .collect();
            queue.extend(next.iter().filter_map(|n| if let Next::State(s) = n { Some(*s) } else { None }));
            choices.insert(state, next);
        }
        Naive { choices, starts }
    }

    /// The longest run from each state that always reaches the goal: the least fixed point, round by round.
    fn good(&self) -> BTreeMap<u128, u32> {
        let mut good: BTreeMap<u128, u32> = BTreeMap::new();
        loop {
            let mut found = Vec::new();
            for (state, next) in self.choices.iter().filter(|(s, _)| !good.contains_key(s)) {
                let runs: Option<Vec<u32>> = next
                    .iter()
                    .map(|n| match n {
                        Next::Reached => Some(0),
                        Next::State(s) => good.get(s).copied(),
                        Next::Lost => None,
                    })
                    .collect();
                if let Some(longest) = runs.and_then(|r| r.into_iter().max()) {
                    found.push((*state, longest + 1));
                }
            }
            if found.is_empty() {
                return good;
            }
            good.extend(found);
        }
    }

    fn reachable(&self, from: u128) -> BTreeSet<u128> {
        let mut seen = BTreeSet::from([from]);
        let mut queue = vec![from];
        while let Some(state) = queue.pop() {
            for next in &self.choices[&state] {
                if let Next::State(s) = next
                    && seen.insert(*s)
                {
                    queue.push(*s);
                }
            }
        }
        seen
    }

    /// Whether ties broken at random reach the goal with probability 1: wherever they lead, there is still a way.
    fn almost_surely(&self, from: u128) -> bool {
        let all = self.reachable(from);
        let lost = all.iter().any(|s| self.choices[s].contains(&Next::Lost));
        let a_way = |s: &u128| self.reachable(*s).iter().any(|t| self.choices[t].contains(&Next::Reached));
        !lost && all.iter().all(a_way)
    }

    /// The fewest actions to a dead end or back to a state of the run.
    fn shortest_failure(&self) -> Option<usize> {
        let mut best: Option<usize> = None;
        let mut better = |n: usize| best = Some(best.map_or(n, |b: usize| b.min(n)));
        for (start, _) in &self.starts {
            for (at, depth) in self.distances(*start) {
                for next in &self.choices[&at] {
                    match next {
                        Next::Lost => better(depth + 1),
                        Next::State(s) => {
                            if let Some((_, back)) = self.distances(*s).into_iter().find(|(t, _)| *t == at) {
                                better(depth + 1 + back);
                            }
                        }
                        Next::Reached => {}
                    }
                }
            }
        }
        best
    }

    fn distances(&self, from: u128) -> Vec<(u128, usize)> {
        let mut found = BTreeMap::from([(from, 0)]);
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            for next in &self.choices[&state] {
                if let Next::State(s) = next
                    && !found.contains_key(s)
                {
                    found.insert(*s, found[&state] + 1);
                    queue.push_back(*s);
                }
            }
        }
        found.into_iter().collect()
    }
}

fn ties(family: &dyn Family, state: u128, policy: &Policy, alphabet: &Alphabet) -> Vec<GroundAction> {
    let mut facts = Facts::new(alphabet);
    observe_state(family, state, &mut facts);
    let universe = family.universe();
    let decision = Decider::new(policy, alphabet, universe).decide(&facts, alphabet, universe);
    if decision.ties.is_empty() { universe.ground_actions(alphabet) } else { decision.ties }
}

#[test]
fn verdicts_and_figures_are_those_of_a_naive_reading() {
    let mut verdicts = [0, 0, 0];
    each_policy(|spec, alphabet, largest, policy| {
        let subject = subject(spec, alphabet, largest, policy, true);
        let report = report(&subject, 2);
        let space = spec.space(alphabet, &subject.extent).expect("a space");
        let text = policy.display(alphabet).to_string();
        let (mut any_unlucky, mut any_failing) = (false, false);
        let mut shortest_loop = None;
        for (s, found) in report.sizes.iter().enumerate() {
            let (mut instances, mut failing, mut unlucky, mut longest, mut excess, mut worst, mut optimal) =
                (0, 0, 0, 0, 0, 0, 0);
            for i in 0..space.sizes()[s].families {
                let family = space.family(s, i);
                let naive = Naive::new(family.as_ref(), policy, alphabet);
                let good = naive.good();
                for (start, count) in &naive.starts {
                    instances += count;
                    if let Some(&run) = good.get(start) {
                        longest = longest.max(run);
                        let more = run - family.shortest(*start).expect("starts are solvable");
                        excess += u128::from(more) * count;
                        worst = worst.max(more);
                        optimal += if more == 0 { *count } else { 0 };
                    } else {
                        failing += count;
                        unlucky += if naive.almost_surely(*start) { *count } else { 0 };
                    }
                }
                if !any_unlucky && spec.name() != "gridworld" {
                    shortest_loop = shortest_loop.into_iter().chain(naive.shortest_failure()).min();
                }
            }
            assert_eq!(found.instances, instances, "{text}");
            assert_eq!(found.failing, failing, "{text}");
            assert_eq!(found.failing_by_bad_luck_only, unlucky, "{text}");
            assert_eq!(found.longest_run, longest, "{text}");
            assert_eq!(found.excess.worst, worst, "{text}");
            let solved = (instances - failing).max(1) as f64;
            assert!((found.excess.mean - excess as f64 / solved).abs() < 1e-9, "{text}");
            assert!(found.excess.mean_random_ties <= found.excess.mean + 1e-9, "{text}");
            // Instances that fail are not optimal.
            assert!((found.excess.optimal - optimal as f64 / instances as f64).abs() < 1e-9, "{text}");
            assert!(!any_failing, "{text}: no size is looked at beyond one that is refuted");
            any_unlucky |= unlucky > 0;
            any_failing |= failing > unlucky;
        }
        let expected = match (any_failing, any_unlucky) {
            (true, _) => Verdict::Refuted,
            (false, true) => Verdict::ProvedIfTiesAreRandom,
            (false, false) => Verdict::Proved,
        };
        assert_eq!(report.verdict, expected, "{text}");
        assert_eq!(report.counterexample.is_some(), expected != Verdict::Proved, "{text}");
        if expected == Verdict::ProvedIfTiesAreRandom && spec.name() != "gridworld" {
            let run = report.counterexample.as_ref().expect("a loop that an adversary goes round");
            assert_eq!((run.kind, Some(run.steps.len())), (Kind::Loop, shortest_loop), "{text}");
            assert!(run.is_shortest);
        }
        verdicts[expected as usize] += 1;
    });
    assert!(verdicts.iter().zip([2, 8, 10]).all(|(n, least)| *n >= least), "{verdicts:?}");
}

/// A refutation needs no adversary: its run fails although ties are broken at random.
#[test]
fn what_is_refuted_fails_with_random_ties() {
    each_policy(|spec, alphabet, largest, policy| {
        let subject = subject(spec, alphabet, largest, policy, true);
        let report = report(&subject, 2);
        if report.verdict != Verdict::Refuted {
            return;
        }
        let text = policy.display(alphabet).to_string();
        let space = spec.space(alphabet, &subject.extent).expect("a space");
        let size = report.sizes.len() - 1;
        let found = report.counterexample.expect("a refutation has a counterexample");
        let in_some = (0..space.sizes()[size].families).any(|i| {
            let family = space.family(size, i);
            let naive = Naive::new(family.as_ref(), policy, alphabet);
            replays(family.as_ref(), &found, policy, alphabet)
                && naive.starts.iter().any(|(start, _)| !naive.almost_surely(*start))
        });
        assert!(in_some, "{text}: {found:?}");
    });
}

/// A counterexample is a run of the policy in the instance it names, and it fails as it says.
#[test]
fn counterexamples_can_be_replayed() {
    each_policy(|spec, alphabet, largest, policy| {
        for every_state in [true, false] {
            let subject = subject(spec, alphabet, largest, policy, every_state);
            let report = report(&subject, 2);
            if let Some(found) = &report.counterexample {
                let exact = Extent { every_state: true, ..subject.extent.clone() };
                let space = spec.space(alphabet, &exact).expect("a space");
                // A loop that only an adversary goes round may be of a smaller size than the last.
                let size = match report.verdict {
                    Verdict::Refuted => report.sizes.len() - 1,
                    _ => report.sizes.iter().position(|s| s.failing > 0).expect("a size that fails"),
                };
                let replayed = (0..space.sizes()[size].families)
                    .filter(|&i| replays(space.family(size, i).as_ref(), found, policy, alphabet))
                    .count();
                assert!(replayed >= 1, "{}: {found:?}", policy.display(alphabet));
                assert_eq!(found.scenes.len() - found.steps.len(), usize::from(ends_in_state(found)));
            }
        }
    });
}

fn ends_in_state(found: &Counterexample) -> bool {
    found.kind == Kind::DeadEnd && found.scenes.len() > found.steps.len()
}

/// Whether the run is one of the policy in some instance of this family.
fn replays(family: &dyn Family, found: &Counterexample, policy: &Policy, alphabet: &Alphabet) -> bool {
    let universe = family.universe();
    let mut facts = Facts::new(alphabet);
    let mut shown = |state: u128| {
        observe_state(family, state, &mut facts);
        let all: BTreeSet<String> = facts.show(alphabet, universe).into_iter().collect();
        all
    };
    let wanted = |i: usize| -> BTreeSet<String> {
        found.steps[i].facts.iter().chain(&found.background).cloned().collect()
    };
    let mut starts = Vec::new();
    family.starts(&mut |state, _| starts.push(state));
    starts.into_iter().any(|start| {
        let mut run = vec![start];
        for (i, step) in found.steps.iter().enumerate() {
            let state = run[i];
            if shown(state) != wanted(i) {
                return false;
            }
            let (action, names) =
                parse_ground_action(&step.action, alphabet).expect("an action of the domain");
            let args = names.iter().map(|n| universe.find(n).expect("an object")).collect();
            let action = GroundAction { action, args };
            let ties = ties(family, state, policy, alphabet);
            assert!(ties.contains(&action) && ties.len() == step.ties, "{} is a best action", step.action);
            let last = i + 1 == found.steps.len();
            match family.step(state, action.action, &action.args) {
                Next::Reached => return false,
                Next::Lost => return last && found.kind == Kind::DeadEnd,
                Next::State(next) if family.shortest(next).is_none() => {
                    return last && found.kind == Kind::DeadEnd;
                }
                Next::State(next) if last => return found.back_to.is_some_and(|b| run[b - 1] == next),
                Next::State(next) => run.push(next),
            }
        }
        false
    })
}

#[test]
fn taking_unnamed_blocks_for_alike_changes_no_figure() {
    let (spec, alphabet) = world("blocks");
    let mut rng = Rng::new(9, 9);
    let known = KNOWN.iter().filter(|(of, _)| *of == "blocks").map(|(_, text)| parse(text, &alphabet));
    let policies: Vec<Policy> =
        known.chain((0..30).map(|_| random_policy(&alphabet, &mut rng))).chain([Policy::default()]).collect();
    for policy in &policies {
        let figures = |every_state| {
            let report = report(&subject(spec, &alphabet, 5, policy, every_state), 2);
            let sizes: Vec<_> = report
                .sizes
                .iter()
                .map(|s| {
                    let mean = (s.excess.mean * 1e6).round();
                    let random = (s.excess.mean_random_ties * 1e6).round();
                    let optimal = (s.excess.optimal * 1e6).round();
                    (
                        s.instances,
                        s.failing,
                        s.failing_by_bad_luck_only,
                        s.longest_run,
                        s.excess.worst,
                        mean,
                        random,
                        optimal,
                    )
                })
                .map(|f| format!("{f:?}"))
                .collect();
            let run = report.counterexample.map(|c| (c.steps.len(), c.kind));
            (report.verdict, sizes, run)
        };
        let text = policy.display(&alphabet).to_string();
        assert_eq!(figures(true), figures(false), "{text}");
    }
}

#[test]
fn threads_and_interruptions_change_nothing() {
    /// Stops after so many pieces of work, and keeps the progress as it would be on disk.
    struct Impatient {
        left: usize,
        kept: Option<String>,
    }
    impl Monitor for Impatient {
        fn walked(&mut self, _size: &Size, _done: u64) {
            self.left = self.left.saturating_sub(1);
        }
        fn progress(&mut self, progress: &Progress) {
            self.kept = Some(serde_json::to_string(progress).expect("progress is data"));
        }
        fn interrupted(&mut self) -> bool {
            self.left == 0
        }
    }
    for (name, text) in KNOWN {
        let (spec, alphabet) = world(name);
        let largest = match *name {
            "blocks" => 5,
            "countdown" => 6,
            _ => 4,
        };
        let policy = parse(text, &alphabet);
        let subject = subject(spec, &alphabet, largest, &policy, true);
        let whole = report(&subject, 1);
        assert_eq!(report(&subject, 4), whole, "{text}");
        let mut from = Progress::default();
        let mut rounds = 0;
        let resumed = loop {
            let mut monitor = Impatient { left: 3, kept: None };
            let done = verify(&subject, 2, from, &mut monitor).expect("no error");
            rounds += 1;
            if let Some(report) = done {
                break report;
            }
            let kept = monitor.kept.expect("progress is told before it stops");
            from = serde_json::from_str(&kept).expect("progress round-trips");
            assert!(rounds < 1000, "every round does some work");
        };
        assert_eq!(resumed, whole, "{text}");
    }
}

#[test]
fn policies_that_read_differently_may_decide_alike() {
    let (spec, alphabet) = world("blocks");
    let compare = |first: &str, second: &str| {
        let (first, second) = (parse(first, &alphabet), parse(second, &alphabet));
        let extent = Extent { largest: 4, named: constants([&first, &second]), ..Extent::default() };
        let everywhere = Everywhere::new(&alphabet, spec, &extent, 2).expect("a space");
        everywhere.compare(&first, &second, &mut NoMonitor).expect("nobody stopped it")
    };
    let policy = KNOWN[0].1;
    let same = compare(policy, policy);
    assert!(same.difference.is_none() && same.states == 2 + 10 + 31);
    // A floor is never on top of anything, so a test for it says nothing; values matter by their order only.
    assert!(
        compare(policy, &policy.replace("isFloor(Y)", "isFloor(Y), \\+ top(Y)").replace("0.9", "1"))
            .difference
            .is_none()
    );
    // No rule is as good as rules for every action.
    assert!(compare("", "move(X, Y) :- \\+ goal_on(X, X).").difference.is_none());
    // It makes no difference to a policy that stacks only when all blocks are on the floor, but to one that does not.
    let bold =
        "0.9::move(X, Y) :- top(X), top(Y), goal_on(X, Y). 0.8::move(X, Y) :- top(X), on(X, Z), isFloor(Y).";
    let careless = |policy: &str| policy.replace("top(X), top(Y), goal_on", "top(X), goal_on");
    assert!(compare(policy, &careless(policy)).difference.is_none());
    let found = compare(bold, &careless(bold)).difference;
    let found = found.expect("they differ where something is on Y");
    assert_eq!(found.instance, "3 blocks, goal_on(a, b)");
    assert!(!found.first.fires || !found.second.fires || found.first.actions != found.second.actions);
}

#[test]
fn what_can_go_goes_and_nothing_else() {
    let (spec, alphabet) = world("blocks");
    let everywhere =
        Everywhere::new(&alphabet, spec, &Extent { largest: 4, ..Extent::default() }, 2).expect("a space");
    let prune =
        |text: &str| everywhere.prune(&parse(text, &alphabet), &mut NoMonitor).expect("nobody stopped it");
    let plain =
        "0.90::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n0.80::move(X, Y) :- top(X), goal_on(X, Y).\n";
    let long = "0.90::move(X, Y) :- top(X), on(X, Z), isFloor(Y), \\+ top(Y), \\+ on(Y, X), \\+ isFloor(Z), \\+ isFloor(X).
                0.80::move(X, Y) :- top(X), goal_on(X, Y), \\+ isFloor(Y).
                0.70::move(X, Y) :- top(X), goal_on(X, Y), on(Y, Z).
                0.60::move(X, Y) :- on(X, Y), on(Y, X).";
    let pruned = prune(long);
    assert!(pruned.states > 0 && pruned.removed.len() >= 5, "{:?}", pruned.removed);
    // What is left decides alike, and nothing more can go.
    let left = pruned.policy.clone();
    let same = |policy: &Policy| {
        everywhere
            .compare(&parse(long, &alphabet), policy, &mut NoMonitor)
            .expect("not stopped")
            .difference
            .is_none()
    };
    assert!(same(&left), "{}", left.display(&alphabet));
    for i in 0..left.rules.len() {
        let mut fewer = left.clone();
        fewer.rules.remove(i);
        assert!(!same(&fewer), "rule {i} of {}", left.display(&alphabet));
        for j in 0..left.rules[i].body.len() {
            let mut shorter = left.clone();
            shorter.rules[i].body.remove(j);
            let rule = &shorter.rules[i];
            assert!(
                rule.body.is_empty() || !rule.is_safe(2) || !same(&shorter),
                "{}",
                left.display(&alphabet)
            );
        }
    }
    assert!(left.rules.len() <= parse(plain, &alphabet).rules.len());
}

#[test]
fn literals_about_constants_are_told_apart() {
    // With a block named, it matters which one is in the way: symmetry must not hide it.
    let (spec, alphabet) = world("blocks");
    let literal =
        Literal { positive: false, pred: Pred(0), args: vec![Arg::Const(derrl_logic::Constant::name("c"))] };
    let mut policy = parse(KNOWN[0].1, &alphabet);
    policy.rules[0].body.push(literal);
    assert_eq!(policy.rules[0].body[0].vars().next(), Some(Var(0)));
    let report = report(&subject(spec, &alphabet, 3, &policy, false), 2);
    assert_eq!(report.verdict, Verdict::ProvedIfTiesAreRandom);
    assert_eq!(report.sizes[0].failing, 0, "there is no c among two blocks");
    assert!(report.sizes[1].failing > 0, "c is in the way among three");
}

/// What is bounded here is bounded on the threads that do it.
#[test]
fn a_bound_on_work_holds_on_all_threads() {
    let (spec, alphabet) = world("blocks");
    let policy = parse("move(X, Y) :- top(X), top(Y).", &alphabet);
    let subject = subject(spec, &alphabet, 4, &policy, false);
    for threads in [1, 3] {
        let walk =
            || verify(&subject, threads, Progress::default(), &mut NoMonitor).expect("no error").is_some();
        assert!(bounded(100, walk).is_err(), "{threads}");
        assert_eq!(bounded(100_000_000, walk), Ok(true), "{threads}");
    }
}
