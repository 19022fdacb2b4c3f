//! Every number that the learner for worlds with numbers was given, and why it has its value.
//!
//! They come from a prototype, and were settled on CartPole (seeds 0 to 29), MountainCar and `queues`; they are the same for all worlds.

/// Lists that are kept: fewer lose what may still become good, more take longer to beat.
pub const ELITES: usize = 6;
/// Instances of the first races: two tell nothing about chance, and most challengers lose on the first.
pub const FIRST_RACE: u64 = 3;
/// After so many races an instance is added: the better the lists, the finer the differences.
pub const RACES_PER_INSTANCE: u64 = 20;
/// The most instances of a race. Their standard error is then an eighth of an episode's.
pub const LONGEST_RACE: usize = 64;
/// A challenger is dropped when it is behind by so many standard errors. Half of one drops a third of equals, and most worse ones early.
pub const BEHIND: f64 = 0.5;
/// The chance that a race begins where the list to beat does worst: there it is easiest to tell who is better.
pub const HARD_FIRST: f64 = 0.5;

/// Lists drawn from nothing before any is changed: some of them do more than nothing in most worlds.
pub const DRAWN_FIRST: usize = 40;
/// The chance that a later list is drawn from nothing; and where all returns are the same, so that nothing says what to change.
pub const DRAWN_LATER: f64 = 0.05;
/// See [`DRAWN_LATER`].
pub const DRAWN_FLAT: f64 = 0.5;
/// The chance of one more rule in a drawn list, of one more atom in its rules, and of one more change to a list.
pub const MORE_RULES: f64 = 0.6;
/// See [`MORE_RULES`].
pub const MORE_ATOMS: f64 = 0.4;
/// See [`MORE_RULES`].
pub const MORE_CHANGES: f64 = 0.4;
/// The most rules of a list: a person reads no more.
pub const MOST_RULES: usize = 10;
/// The most atoms of a rule of numbers: boxes of three sides. Domains may say otherwise.
pub const MOST_ATOMS: usize = 3;
/// How far a threshold moves, as a share of the spread of what it is compared with, times a normal number.
pub const MOVED: f64 = 0.15;
/// The chance that a threshold is 0 where that is inside the spread: a sign means something.
pub const ZERO: f64 = 0.3;
/// The chance that a drawn atom is a fact where there are any; that a rule about objects ends with a choice; and that a comparison is of a sum
/// where the language has them.
pub const FACTS: f64 = 0.4;
/// See [`FACTS`].
pub const CHOOSES: f64 = 0.5;
/// See [`FACTS`].
pub const SUMS: f64 = 0.4;
/// The chance that a threshold is drawn anew instead of moved.
pub const NEW_THRESHOLD: f64 = 0.3;
/// The chance that the parent of a change is the next best list instead of the better one; and that actions are tried along the very best.
pub const NEXT_PARENT: f64 = 0.5;
/// See [`NEXT_PARENT`].
pub const FROM_BEST: f64 = 0.6;
/// How much of what is known of noise stays after a race.
pub const NOISE_KEPT: f64 = 0.8;
/// A measure gets around so many times as far as in random play, at the most: one that runs away says little.
pub const FARTHEST: f64 = 5.0;
/// How often a change is drawn again where the one drawn does not apply.
pub const TRIES: usize = 20;

/// States in which all actions are tried at a time, and how many of one episode: neighbours tell much the same.
pub const STATES: usize = 40;
/// See [`STATES`].
pub const STATES_PER_EPISODE: usize = 5;
/// States whose regrets are kept: the newest, since the policy that goes on after an action gets better.
pub const KEPT_STATES: usize = 500;
/// What follows an action is played for 25, 50, 100 or 200 steps: short attempts tell little where balance is lost late, long
/// ones cost much.
pub const SHORTEST_ATTEMPT: usize = 25;
/// See [`SHORTEST_ATTEMPT`].
pub const ATTEMPT_DOUBLINGS: usize = 4;
/// Actions tried in a state, at the most: others are taken to be as good as these on average.
pub const TRIED_ACTIONS: usize = 16;
/// The share of episodes for trying that go astray for up to two to the power of so many steps: the policy has to come back.
pub const ASTRAY: f64 = 0.3;
/// See [`ASTRAY`].
pub const LONGEST_ASTRAY: usize = 5;
/// What a rule or an atom has to save where a list is fitted from nothing, as a share of what acting at random loses: short lists
/// and long ones are both worth racing.
pub const PRICES: [f64; 3] = [0.003, 0.01, 0.03];
/// The same where a list is edited.
pub const EDIT_PRICE: f64 = 0.01;
/// Thresholds of a form that are looked at when rules are fitted, about.
pub const QUANTILES: usize = 12;
/// Comparisons that are looked at, at the most.
pub const POOL: usize = 400;
/// Single atoms that are extended when rules are fitted, and longer bodies of each length. With ten of either, CartPole is not solved by four
/// seeds of 30.
pub const SINGLES: usize = 40;
/// See [`SINGLES`].
pub const BEAM: usize = 10;
/// 64-bit words of masks that are laid out, at the most (32 MB): older states are left out where each has many.
pub const MASK_WORDS: usize = 4 << 20;
/// Thresholds near one that a list has, as shares of the spread.
pub const NEIGHBOURS: [f64; 6] = [-0.2, -0.08, -0.03, 0.03, 0.08, 0.2];
/// Weights of sums that are looked at, as multiples of the ratio of spreads.
pub const RATIOS: [f64; 4] = [-2.0, -0.5, 0.5, 2.0];

/// States by which it is known what values there are, the newest, and of how many steps one is noted.
pub const SEEN: usize = 400;
/// See [`SEEN`].
pub const NOTED_EVERY: usize = 8;
/// Values by which the spread of a form is judged.
pub const SPREAD_SAMPLE: usize = 40;
/// What thresholds are rounded to, as a share of the power of ten below the spread.
pub const UNIT: f64 = 0.1;
/// Random play before anything else: so many episodes, or so many steps and no fewer than three episodes.
pub const RANDOM_EPISODES: usize = 20;
/// See [`RANDOM_EPISODES`].
pub const RANDOM_STEPS: u64 = 600;
/// See [`RANDOM_EPISODES`].
pub const FEWEST_RANDOM: usize = 3;

/// The search ends when the best list has been the best for so many steps, and for this share of all steps.
pub const PATIENCE: u64 = 100_000;
/// See [`PATIENCE`].
pub const PATIENCE_SHARE: f64 = 0.5;
/// Where nothing is left to gain in races, the best list plays so many new instances. One in which it fails joins the races.
pub const CONFIRMED: usize = 100;
/// Instances of races from which on no more join them.
pub const MOST_INSTANCES: usize = 256;
/// Steps of a run, at the most, where nobody says otherwise.
pub const MOST_STEPS: u64 = 1_000_000;
/// The share of the steps that the last comparison and the shortening may take.
pub const LAST_SHARE: f64 = 0.15;
/// Lists that are compared in the end, and on how many instances at the most.
pub const FINALISTS: usize = 6;
/// See [`FINALISTS`].
pub const LAST_EPISODES: usize = 100;
/// A shorter list may lose so much of what the best one earns above random play, and so many standard errors.
pub const SHORTENING: f64 = 0.003;
/// See [`SHORTENING`].
pub const SHORTER: f64 = 0.3;

/// Instances explored in the first round; twice as many in each later one.
pub const EXPLORED: usize = 8;
/// Steps per instance that is explored, at the most.
pub const EXPLORED_STEPS: u64 = 3000;
/// Rounds of exploration of the same sizes in the same words, at the most; and where larger sizes only repair the rules.
pub const ROUNDS: usize = 5;
/// See [`ROUNDS`].
pub const LATE_ROUNDS: usize = 2;
/// Sizes after which rules are only repaired.
pub const LATE: usize = 2;
/// Rounds that brought nothing better, after which no more is explored.
pub const IDLE: usize = 2;
/// Instances in which the best list fails that are explored, at the most.
pub const FAILURES: usize = 8;
/// Episodes of each of them that leave the list for one step.
pub const PROBES: usize = 8;
/// What a rule or an atom has to save, as a share of what acting at random loses: low, so that nothing is missed, and high, so that short lists
/// are among those that are raced.
pub const TABLE_PRICES: [f64; 2] = [0.0005, 0.005];
/// The same for the last lists, which have to be short.
pub const SHORT_PRICES: [f64; 3] = [0.002, 0.01, 0.05];
/// Discounts at which actions are valued: near 1, a step of a loop costs almost nothing beside a crash; far from 1, a crash is not worth a detour.
pub const DISCOUNTS: [f64; 3] = [0.99, 0.95, 0.8];
/// A list that loses less than this share of what acting at random loses has nothing to gain at all.
pub const SETTLED: f64 = 1e-6;
/// One that loses less than this has nothing to gain by wider words.
pub const RESIDUE: f64 = 0.002;
/// Where a list loses more than this share in large instances, others are looked for from nothing there, too.
pub const MUCH: f64 = 0.05;
/// Atoms of a body at the start, and at the most unless the domain file says otherwise.
pub const SHORT: usize = 3;
/// See [`SHORT`].
pub const LONGEST: usize = 6;
/// Variables beyond the domain's own, at the most.
pub const MORE_VARIABLES: usize = 2;
/// Candidate atoms of one action, at the most: wider words take too long to search.
pub const MOST_CANDIDATES: usize = 1500;
/// Ways to put objects for the variables of wider words, over all states that are looked at, at the most.
pub const MOST_SUBSTITUTIONS: f64 = 5e7;
/// As [`SINGLES`] and [`BEAM`], where values are exact.
pub const TABLE_SINGLES: usize = 128;
/// See [`TABLE_SINGLES`].
pub const TABLE_BEAM: usize = 40;
/// Invented predicates of a policy, at the most.
pub const INVENTIONS: usize = 2;
/// The share of successes from which on a list lacks no predicate, where there are no larger instances to judge by.
pub const NEARLY: f64 = 0.9;
/// Predicates of the pool that are tried on what was explored, at the most; the states that tell which are worth it; and those that compete.
pub const SCREENED: usize = 200;
/// See [`SCREENED`].
pub const SCREENING_STATES: usize = 400;
/// See [`SCREENED`].
pub const FINALISTS_INVENTED: usize = 8;

/// The first restarts of the gradient have updates of this share of a whole one's, the next ones twice as large, and so on.
pub const SHORTEST: usize = 32;
/// Restarts of one length.
pub const PAIR: usize = 2;
/// Small updates are noisy: they take smaller steps, and compare fewer episodes from one instance.
pub const SHORT_RATE: f64 = 2.0 / 3.0;
/// See [`SHORT_RATE`].
pub const SHORT_GROUP: usize = 4;
/// Points of a training curve, at the most.
pub const CURVE_POINTS: usize = 200;
/// Restarts in a row that came to nothing better, where nothing else says that it is enough.
pub const AGREED: usize = 2;
