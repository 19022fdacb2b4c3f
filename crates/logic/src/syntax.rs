//! The syntax tree: what a text says, in names and with spans, before anything is resolved.
//!
//! `Display` of every node is its canonical text, which SWI-Prolog reads (and ProbLog, where weights
//! occur) and which parses back to the same tree.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::is_disruptive;

/// The bytes `start..end` of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// From the start of this to the end of the other.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// A constant of the language: an integer (also negative) or an atom such as `floor` or `'Big Room'`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// An integer.
    Int(i64),
    /// An atom by its name, without quotes.
    Name(Arc<str>),
}

impl Constant {
    /// The atom of that name.
    pub fn name(name: &str) -> Constant {
        Constant::Name(Arc::from(name))
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Int(i) => write!(f, "{i}"),
            Constant::Name(n) => write!(f, "{}", Quoted(n)),
        }
    }
}

/// A name as Prolog writes it: in quotes, with escapes, unless it is a plain lower-case word.
///
/// ```
/// use derrl_logic::syntax::Quoted;
/// assert_eq!(Quoted("goal_on").to_string(), "goal_on");
/// assert_eq!(Quoted("Bob's").to_string(), r"'Bob\'s'");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0;
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain {
            return f.write_str(name);
        }
        f.write_str("'")?;
        for c in name.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '\'' => f.write_str("\\'")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                c if is_disruptive(c) => write!(f, "\\x{:x}\\", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("'")
    }
}

/// A name with its arity, as in `move/2`.
#[derive(Clone, Copy, Debug)]
pub struct Indicator<'a>(pub &'a str, pub usize);

impl fmt::Display for Indicator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Quoted(self.0), self.1)
    }
}

/// An argument of an atom: the language has no function symbols, so a variable or a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it stands.
    pub span: Span,
}

/// A variable or a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    /// A variable by its name. `_` is a fresh variable at each place, as in Prolog.
    Var(String),
    /// A constant.
    Const(Constant),
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TermKind::Var(name) => f.write_str(name),
            TermKind::Const(constant) => write!(f, "{constant}"),
        }
    }
}

/// A predicate applied to arguments: `on(X, floor)`, `north`.
#[derive(Clone, Debug, PartialEq)]
pub struct Atom {
    /// The predicate's name.
    pub name: String,
    /// Its arguments; none for `north`.
    pub args: Vec<Term>,
    /// Where it stands.
    pub span: Span,
}

impl Atom {
    /// The name with the arity: `on/2`.
    pub fn indicator(&self) -> Indicator<'_> {
        Indicator(&self.name, self.args.len())
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_application(f, &self.name, &self.args)
    }
}

/// What a function writes, as text: `std::fmt::from_fn`, which needs Rust 1.93.
pub(crate) fn from_fn<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result>(write: F) -> impl fmt::Display {
    struct Written<F>(F);

    impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Written<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (self.0)(f)
        }
    }

    Written(write)
}

/// `name(arg, arg)`, or the name alone.
pub(crate) fn write_application<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    args: &[T],
) -> fmt::Result {
    write!(f, "{}", Quoted(name))?;
    for (i, arg) in args.iter().enumerate() {
        write!(f, "{}{arg}", if i == 0 { "(" } else { ", " })?;
    }
    if args.is_empty() { Ok(()) } else { f.write_str(")") }
}

/// A possibly negated atom or comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// `false` for `\+ p(X)`.
    pub positive: bool,
    /// What is said to hold.
    pub goal: Goal,
    /// Where it stands, the `\+` included.
    pub span: Span,
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.positive { "" } else { "\\+ " }, self.goal)
    }
}

/// What a literal says to hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// `on(X, Y)`
    Atom(Atom),
    /// `queue(P) > queue(Q) + 3`
    Comparison(Comparison),
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Atom(atom) => write!(f, "{atom}"),
            Goal::Comparison(comparison) => write!(f, "{comparison}"),
        }
    }
}

/// How a comparison compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `=<`
    AtMost,
}

impl Op {
    /// Whether it holds between two numbers. It never does where one is not a number.
    #[inline]
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Op::Greater => left > right,
            Op::AtLeast => left >= right,
            Op::Less => left < right,
            Op::AtMost => left <= right,
        }
    }

    /// The one that holds between the negated numbers.
    #[must_use]
    pub fn flipped(self) -> Op {
        match self {
            Op::Greater => Op::Less,
            Op::AtLeast => Op::AtMost,
            Op::Less => Op::Greater,
            Op::AtMost => Op::AtLeast,
        }
    }

    /// The one that holds between two numbers exactly where this one does not.
    #[must_use]
    pub fn opposite(self) -> Op {
        match self {
            Op::Greater => Op::AtMost,
            Op::AtLeast => Op::Less,
            Op::Less => Op::AtLeast,
            Op::AtMost => Op::Greater,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Greater => ">",
            Op::AtLeast => ">=",
            Op::Less => "<",
            Op::AtMost => "=<",
        })
    }
}

/// A finite number as text that reads back to the same bits, and that Prolog reads: `7`, `-0.5`, `1.0e-9`.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number(x) = *self;
        if x == 0.0 || (1e-5..1e15).contains(&x.abs()) {
            return write!(f, "{x}");
        }
        let text = format!("{x:e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if !mantissa.contains('.') => write!(f, "{mantissa}.0e{exponent}"),
            _ => f.write_str(&text),
        }
    }
}

/// A part of a sum: a number, a measure, or a number times a measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Summand {
    /// The number with its sign; 1 or -1 where only the measure is written.
    pub factor: f64,
    /// What it is times, if anything.
    pub measure: Option<Atom>,
    /// Where it stands, without its sign.
    pub span: Span,
}

/// A sum of numbers and measures: `1.2*near(C) + 0.5`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    /// Its parts, at least one.
    pub summands: Vec<Summand>,
    /// Where it stands.
    pub span: Span,
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Summand { factor, measure, .. }) in self.summands.iter().enumerate() {
            f.write_str(match (i, factor.is_sign_negative()) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            })?;
            match (measure, factor.abs()) {
                (None, number) => write!(f, "{}", Number(number))?,
                (Some(measure), 1.0) => write!(f, "{measure}")?,
                (Some(measure), factor) => write!(f, "{}*{measure}", Number(factor))?,
            }
        }
        Ok(())
    }
}

/// `queue(P) > queue(Q) + 3`
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub left: Sum,
    /// How.
    pub op: Op,
    /// With what.
    pub right: Sum,
    /// Where it stands.
    pub span: Span,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.op, self.right)
    }
}

/// Which end of an order is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extreme {
    /// `most(...)`
    Most,
    /// `least(...)`
    Least,
}

impl fmt::Display for Extreme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Extreme::Most => "most",
            Extreme::Least => "least",
        })
    }
}

/// `most(queue(P))`: of all substitutions that satisfy the rest of a body, those with the most or least of something.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Most or least.
    pub extreme: Extreme,
    /// Of what.
    pub sum: Sum,
    /// Where it stands.
    pub span: Span,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.extreme, self.sum)
    }
}

/// `queue(p1) = 7`
#[derive(Clone, Debug, PartialEq)]
pub struct NumberFact {
    /// Of what.
    pub measure: Atom,
    /// The number, a finite one.
    pub value: f64,
    /// Where it stands.
    pub span: Span,
}

/// What a clause concludes.
#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    /// `false`: the body must not hold.
    False(Span),
    /// An atom.
    Atom(Atom),
    /// `queue(p1) = 7`: a number that a state reports.
    Number(NumberFact),
    /// `never(move(X, Y))`: an action that is forbidden.
    Never(Atom),
}

impl Head {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Head::False(span) => *span,
            Head::Atom(atom) => atom.span,
            Head::Number(number) => number.span,
            Head::Never(action) => action.span,
        }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Head::False(_) => f.write_str("false"),
            Head::Atom(atom) => write!(f, "{atom}"),
            Head::Number(number) => write!(f, "{} = {}", number.measure, Number(number.value)),
            Head::Never(action) => write!(f, "never({action})"),
        }
    }
}

/// `weight :: head :- body.`, where weight and body may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The number before `::`, any finite one: what it may be is for the reader of the tree to say.
    pub weight: Option<f64>,
    /// What it concludes.
    pub head: Head,
    /// From what. Empty for a fact.
    pub body: Vec<Literal>,
    /// Which of the substitutions that satisfy the body.
    pub choices: Vec<Choice>,
    /// Where it stands, the final `.` included.
    pub span: Span,
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(weight) = self.weight {
            // The shortest decimals that read back as the same number, but at least two.
            let shortest = weight.to_string();
            match shortest.split_once('.').map_or(0, |(_, decimals)| decimals.len()) {
                0 | 1 => write!(f, "{weight:.2}::")?,
                _ => write!(f, "{shortest}::")?,
            }
        }
        write!(f, "{}", self.head)?;
        let mut separator = " :- ";
        for literal in &self.body {
            write!(f, "{separator}{literal}")?;
            separator = ", ";
        }
        for choice in &self.choices {
            write!(f, "{separator}{choice}")?;
            separator = ", ";
        }
        f.write_str(".")
    }
}

/// A term of a directive, such as `rules(move/2, auto)`.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A variable, an integer or a plain atom.
    Leaf(Term),
    /// `name(tree, ..)` with at least one argument.
    Compound {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Vec<Tree>,
        /// Where it stands.
        span: Span,
    },
    /// `name/arity`.
    Indicator {
        /// The name.
        name: String,
        /// The arity.
        arity: usize,
        /// Where it stands.
        span: Span,
    },
}

impl Tree {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Tree::Leaf(term) => term.span,
            Tree::Compound { span, .. } | Tree::Indicator { span, .. } => *span,
        }
    }

    /// The name, if it is a plain atom.
    pub fn as_name(&self) -> Option<&str> {
        match self {
            Tree::Leaf(Term { kind: TermKind::Const(Constant::Name(name)), .. }) => Some(name),
            _ => None,
        }
    }

    /// The number, if it is an integer.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Tree::Leaf(Term { kind: TermKind::Const(Constant::Int(i)), .. }) => Some(*i),
            _ => None,
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Leaf(term) => write!(f, "{term}"),
            Tree::Compound { name, args, .. } => write_application(f, name, args),
            Tree::Indicator { name, arity, .. } => write!(f, "{}", Indicator(name, *arity)),
        }
    }
}

/// `:- tree.`
#[derive(Clone, Debug, PartialEq)]
pub struct Directive {
    /// What it declares.
    pub tree: Tree,
    /// Where it stands, from `:-` to the final `.`.
    pub span: Span,
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":- {}.", self.tree)
    }
}

/// One sentence of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A fact, rule or constraint.
    Clause(Clause),
    /// A declaration.
    Directive(Directive),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Clause(clause) => write!(f, "{clause}"),
            Item::Directive(directive) => write!(f, "{directive}"),
        }
    }
}

/// A whole text.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// Its sentences in order.
    pub items: Vec<Item>,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}
