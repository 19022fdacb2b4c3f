//! Every number that the learner was given, and why it has its value: for `learner/`, `table/`, `fit/` and `invent/`.
//!
//! Those of races come from a prototype, and were settled on CartPole (seeds 0 to 29), MountainCar and `queues`. They are the same for all
//! worlds. A test of the sources sees to it that none stands elsewhere.

use std::time::Duration;

/// Lists that are kept: fewer lose what may still become good, more take longer to beat.
pub const ELITES: usize = 6;
/// Instances of the first races: two tell nothing about chance, and most challengers lose on the first.
pub const FIRST_RACE: u64 = 3;
/// Rows of states that are looked at while rules are fitted take about as long as one step of a small world.
pub const ROWS_PER_STEP: u64 = 1000;
/// Where the table is exact it may spend so many times as much as other sources: what was explored serves all that is fitted later.
pub const TABLE_SHARE: u64 = 16;
/// Instances are added until a race to the end takes this share of all steps.
pub const RACE_SHARE: f64 = 0.01;
/// The most instances of a race. Their standard error is then an eighth of an episode's.
pub const LONGEST_RACE: usize = 64;
/// What a word of a list has to be worth at the least, as a share of what the best list earns beyond acting at random. Without it the rules of
/// queues grow by words that hardly help.
pub const PRICE: f64 = 0.0005;
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
pub const MOST_RULES: usize = 12;
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
/// Steps of a run, at the most, where nobody says otherwise.
pub const MOST_STEPS: u64 = 1_000_000;
/// The share of the steps that the last comparison and the shortening may take.
pub const LAST_SHARE: f64 = 0.15;
/// Lists that are compared in the end, and on how many instances at the most.
pub const FINALISTS: usize = 6;
/// See [`FINALISTS`].
pub const LAST_EPISODES: usize = 1000;
/// Instances explored in the first round; twice as many in each later one.
pub const EXPLORED: usize = 8;
/// Steps per instance that is explored, at the most.
pub const EXPLORED_STEPS: u64 = 3000;
/// Rounds of exploration of the same sizes in the same words, at the most; and where larger sizes only repair the rules.
pub const ROUNDS: usize = 5;
/// See [`ROUNDS`].
pub const LATE_ROUNDS: usize = 2;
/// States up to which the next size is explored in all directions: beyond, too little of it is known to tell what is best, and rules are
/// compared and repaired there.
pub const SMALL: usize = 200;
/// Rounds that brought nothing better, after which no more is explored.
pub const IDLE: usize = 2;
/// Instances in which the best list fails that are explored, at the most.
pub const FAILURES: usize = 8;
/// Episodes of each of them that leave the list for one step.
pub const PROBES: usize = 8;
/// What a rule or an atom has to save, as a share of what acting at random loses: low, so that nothing is missed, and high, so that short lists
/// are among those that are raced.
pub const PRICES: [f64; 3] = [0.0005, 0.005, 0.05];
/// Discounts at which actions are valued: near 1, a step of a loop costs almost nothing beside a crash; far from 1, a crash is not worth a detour.
pub const DISCOUNTS: [f64; 3] = [0.99, 0.95, 0.8];
/// A list that loses less than this share of what acting at random loses has nothing to gain at all.
pub const SETTLED: f64 = 1e-6;
/// One that loses less than this has nothing to gain by wider words.
pub const RESIDUE: f64 = 0.002;
/// One that loses more than this where values are exact may lack a predicate, though it succeeds.
pub const LACKS: f64 = 0.01;
/// Where a list loses more than this share in large instances, others are looked for from nothing there, too.
pub const MUCH: f64 = 0.05;
/// Atoms of a body at the start, and at the most unless the domain file says otherwise.
pub const SHORT: usize = 4;
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
/// The second restart of each pair sees so many times as far.
pub const FARTHER: f64 = 5.0;

/// Sweeps over all states in which their values are worked out, at the most.
pub const SWEEPS: usize = 2000;
/// A sweep that changes no value by more is the last one. Values are sums of rewards, which are about 1.
pub const STILL: f64 = 1e-7;
/// Outcomes looked at in all sweeps, at the most (about a second): tables with many states get fewer sweeps.
pub const SWEPT: usize = 200_000_000;
/// States noted, at the most (some 100 MB): beyond, experience is no longer a table, and nothing more is noted.
pub const NOTED_STATES: usize = 40_000;
/// States whose actions are compared, at the most: more are sampled by their weight.
pub const COMPARED: usize = 2000;
/// Ways to put objects for variables in these states, at the most and about: fewer states are compared where each has many.
pub const COMPARED_SUBSTITUTIONS: f64 = 2e8;
/// A state counts where this share of its actions was tried, or [`ENOUGH_TRIED`] of them.
pub const TRIED_SHARE: f64 = 0.5;
/// See [`TRIED_SHARE`].
pub const ENOUGH_TRIED: usize = 8;
/// Episodes in a row that brought nothing new, after which an instance is known well enough.
pub const QUIET_EPISODES: usize = 3;
/// How often a walk takes any action instead of the one tried least: else it goes round in circles.
pub const ANY_ACTION: f64 = 0.3;
/// How often an action is tried before it is known, where outcomes depend on chance.
pub const TRIES_BY_CHANCE: f64 = 6.0;
/// States looked at for one that is not known yet, at the most.
pub const SIGHT: usize = 4096;
/// Episodes of each instance that follow the list, before those that leave it for one step.
pub const FOLLOWED: usize = 2;
/// How likely such an episode is to leave the list where something was not tried.
pub const LEAVES: f64 = 0.3;

/// Differences below this are noise of arithmetic.
pub const NOTHING: f64 = 1e-9;
/// What a rule has to save to be moved: more than noise, so that rules do not go back and forth.
pub const MOVES_FOR: f64 = 1e-6;
/// Regrets are the same where their millionths are.
pub const MILLION: f64 = 1e6;
/// The least number that is drawn where its logarithm is taken.
pub const LEAST_CHANCE: f64 = 1e-12;
/// Bodies with the same ground actions that are extended, at the most: a longer body may tell them apart.
pub const ALIKE: usize = 3;
/// Between the values of two levels, at the most: as people write them.
pub const LEVEL_STEP: f64 = 0.1;
/// Values of rules have two decimals; a share is told in percent.
pub const PERCENT: f64 = 100.0;

/// Definitions looked at for an invention, at the most, the smallest first.
pub const MOST_DEFINITIONS: usize = 1500;
/// States in which meanings are compared, at the most: spread over all that were met.
pub const MEANING_STATES: usize = 200;
/// Sets of objects to which distances are asked for, at the most, the smallest first.
pub const MOST_PLACES: usize = 100;
/// Definitions that are evaluated together: an alphabet of all of them would be slow.
pub const DEFINED_TOGETHER: usize = 250;
/// Literals of the definition of the longer of two ways.
pub const FARTHER_LITERALS: usize = 5;

/// Single steps to wider words: a variable, negation, a longer body.
pub const WIDENINGS: usize = 3;
/// Alphabets kept: a run goes back and forth between a few.
pub const KEPT_PROBLEMS: usize = 16;
/// Episodes of one use are numbered up to two to the power of this: no two uses share an instance.
pub const EPISODES: u32 = 28;
/// Episodes for trying go astray after up to two to the power of so many steps: where nobody knows how long episodes are, late is as likely
/// as early.
pub const LATEST_ASTRAY: usize = 8;
/// Instances are added to races by no more than one for so many.
pub const GROWTH: u64 = 4;
/// Each size has this share of the instances of a long race, however many sizes there are.
pub const FEWEST_SHARE: usize = 4;
/// Weights of sums are drawn within so many powers of two of the ratio of spreads, and moved by so many.
pub const RATIO_OCTAVES: f64 = 2.0;
/// See [`RATIO_OCTAVES`].
pub const WEIGHT_OCTAVES: f64 = 1.5;
/// Weights of one digit: about evenly spaced as ratios.
pub const DIGITS: [f64; 5] = [1.0, 2.0, 3.0, 5.0, TEN];
/// What people count by.
pub const TEN: f64 = 10.0;
/// A weight of 1 between units that have nothing to do with each other would look as if they had: it is this or [`ABOVE_ONE`].
pub const BELOW_ONE: f64 = 0.8;
/// See [`BELOW_ONE`].
pub const ABOVE_ONE: f64 = 1.2;
/// Of values seen, one of so many lies below the spread, and one above it.
pub const TENTHS: usize = 10;
/// Episodes of the first round of the last comparison, and the fewest after which one list alone is left.
pub const FIRST_LAST: usize = 4;
/// See [`FIRST_LAST`].
pub const FEWEST_LAST: usize = 16;
/// Steps between two questions whether to stop: some microseconds each.
pub const STOP_EVERY: usize = 64;
/// What is done every so often takes one in so many seconds at the most.
pub const PAUSE_SHARE: u32 = 20;
/// A run offers a checkpoint this often.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);
/// A move that is under way when a run is asked to stop has this long to end, so that what it found can be saved.
pub const GRACE: Duration = Duration::from_millis(300);
