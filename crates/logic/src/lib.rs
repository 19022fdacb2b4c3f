//! The language of `derrl`: what is written and what follows from it.
//!
//! A *domain* declares what can be said of a world and what can be done in it (an [`Alphabet`]). A *policy*
//! is a list of weighted rules over that alphabet (a [`Policy`]). A *state* is a set of [`Facts`] about the
//! objects of a [`Universe`]. From these three a [`Decider`] finds the best actions; for learning, a
//! [`Grounder`] finds for every action which bodies would derive it.
//!
//! Rules are read under object identity: distinct terms of a rule, variables and constants alike, stand for
//! distinct objects.
//!
//! ```
//! use derrl_logic::{Alphabet, Constant, Decider, Facts, Policy, Source, Universe, parse_facts};
//!
//! let blocks = Alphabet::parse(&Source::new("blocks.pl", "
//!     :- action(move(block, place)).
//!     :- state(top(block)).
//!     :- state(on(block, place)).
//!     :- background(isFloor(place)).
//!     :- subtype(block, place).
//! "))?;
//! let policy = Policy::parse(&Source::new("policy.pl", "
//!     0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).
//! "), &blocks)?;
//!
//! // b is on a. Only b can be put on the floor: a is there already, and Z = Y = floor is excluded.
//! let typed = |(name, t)| (Constant::name(name), blocks.types.find(t).expect("the type is declared"));
//! let universe = Universe::new([("a", "block"), ("b", "block"), ("floor", "place")].map(typed).into());
//! let state = Source::new("state.pl", "isFloor(floor). on(a, floor). on(b, a). top(b).");
//! let facts = Facts::of(&parse_facts(&state, &blocks)?, &blocks, &universe).expect("these are the objects");
//!
//! let decision = Decider::new(&policy, &blocks, &universe).decide(&facts, &blocks, &universe);
//! assert_eq!(decision.value, 0.99);
//! let [best] = &decision.ties[..] else { panic!("one action is best") };
//! assert_eq!(universe.show_action(&blocks, best.action, &best.args), "move(b, floor)");
//! # Ok::<(), derrl_logic::Error>(())
//! ```
//!
//! # Map
//!
//! Text becomes a syntax tree in names; from the alphabet on everything is in ids.
//!
//! | file | what is in it |
//! |---|---|
//! | `lexer.rs`, `parser.rs`, `syntax.rs` | from text to a syntax tree, and back |
//! | `diagnostic.rs` | sources, and errors that point into them |
//! | `resolve.rs` | from names to ids, and what to say of a name that is not known |
//! | `domain.rs`, `alphabet.rs` | domain files; what they declare: predicates, actions, types, constraints |
//! | `lint.rs` | constraints of a domain that have no effect |
//! | `policy.rs`, `rule.rs`, `number.rs` | policy files; their rules; numbers in rules |
//! | `ground_text.rs`, `file_kind.rs` | states and actions given by hand; what a file is |
//! | `universe.rs`, `facts.rs` | the objects of an instance and its ground actions; what holds |
//! | `query.rs` | which substitutions make a body true |
//! | `apart.rs` | parts of bodies that only have to hold, as predicates |
//! | `decide.rs`, `choose.rs` | which actions a policy prefers; choices by numbers |
//! | `join/` | indexed joins, for large states |
//! | `derive/` | derived predicates: their definitions and what follows from them |
//! | `agenda/` | the same in large states, kept up to date as facts change |
//! | `every_action.rs` | all ground actions, counted and found by number |
//! | `template.rs` | `:- nlrl(...)`: the clause templates of the NLRL baseline |
//! | `candidates.rs` | K: the atoms that may stand in the body of a rule |
//! | `scope.rs` | what a policy was learned on |
//! | `work.rs` | a limit on the work of one answer |
//! | `shield.rs` | rules that forbid, and what they leave |
//! | `grounding.rs`, `antichain.rs` | which sets of candidate atoms are true together; the maximal ones |

mod agenda;
pub mod alphabet;
mod antichain;
mod apart;
mod candidates;
mod choose;
mod decide;
pub mod derive;
pub mod diagnostic;
mod domain;
mod every_action;
mod facts;
mod file_kind;
mod ground_text;
mod grounding;
mod join;
mod lexer;
mod lint;
mod number;
pub mod parser;
mod policy;
mod query;
mod resolve;
pub mod rule;
mod scope;
mod shield;
mod state;
pub mod syntax;
mod template;
mod universe;
mod work;

// What is written.
pub use alphabet::{Action, Alphabet, Measure, MeasureDecl, Pred, Role, RuleCount, Type, Types, Var};
pub use diagnostic::{Diagnostic, Error, Severity, Source};
pub use file_kind::FileKind;
pub use ground_text::{GroundFacts, parse_facts, parse_ground_action};
pub use lint::Warning;
pub use number::{Choice, Comparison, Linear, Term};
pub use policy::{Policy, repeated_heads};
pub use rule::{Arg, Literal, Rule};
pub use state::{parse_state, parse_state_in};
pub use syntax::{Constant, Extreme, Number, Op};
pub use template::{ClauseSlot, Invented, SlotBody, SlotHead, Templates};

// What follows from it.
pub use agenda::{Agenda, Best};
pub use antichain::subset;
pub use candidates::{candidate_bound, candidates};
pub use decide::{Decider, Decision, legal_actions, substitutions};
pub use derive::{DefiningClause, Definition, How, Program};
pub use every_action::EveryAction;
pub use facts::Facts;
pub use grounding::{Grounder, Grounding};
pub use query::{Binding, Query};
pub use scope::Scope;
pub use shield::{Left, Shield};
pub use universe::{GroundAction, Object, Universe};
pub use work::{MOST_WORK, Share, bounded, is_spent};
