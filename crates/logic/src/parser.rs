//! Tokens to the syntax tree, by recursive descent with one token of lookahead.
//!
//! ```text
//! program   = { directive | clause }
//! directive = ":-" tree "."
//! tree      = name [ "(" tree { "," tree } ")" | "/" integer ] | integer | variable
//! clause    = [ number "::" ] atom [ ":-" condition { "," condition } ] "." | atom "=" number "."
//! condition = literal | ( "most" | "least" ) "(" sum ")"
//! literal   = [ "\+" ] goal | "\+(" goal ")"
//! goal      = atom | sum ( ">" | ">=" | "<" | "=<" ) sum
//! sum       = [ "-" ] summand { ( "+" | "-" ) summand }
//! summand   = number | [ number "*" ] atom | atom "*" number
//! atom      = name [ "(" term { "," term } ")" ]
//! term      = variable | name | integer
//! ```
//!
//! `<-` and `←` are read for `:-`. As in Prolog no space may stand between a name and its `(`.

use crate::diagnostic::{Error, Source};
use crate::lexer::{Lexer, Token};
use crate::syntax::{
    Atom, Choice, Clause, Comparison, Constant, Directive, Extreme, Goal, Head, Item, Literal, NumberFact,
    Program, Quoted, Span, Sum, Summand, Term, TermKind, Tree,
};

/// How deep the terms of a directive may nest. No declaration needs more than two; the bound keeps the
/// stack of the parser (and of whoever walks the tree) small.
const MAX_DEPTH: usize = 16;

/// The syntax tree of a text.
///
/// ```
/// use derrl_logic::{Source, parser};
/// let program = parser::parse(&Source::new("policy.pl", "0.9::up ← \\+north, curr(X,3).")).unwrap();
/// assert_eq!(program.to_string(), "0.90::up :- \\+ north, curr(X, 3).\n");
/// ```
pub fn parse(source: &Source) -> Result<Program, Error> {
    source.check_length()?;
    let mut parser = Parser::new(source)?;
    let mut items = Vec::new();
    while parser.token != Token::Eof {
        items.push(parser.item()?);
    }
    Ok(Program { items })
}

/// The syntax tree of raw bytes, which may turn out not to be text.
pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Program, Error> {
    parse(&Source::from_bytes(name, bytes.to_vec())?)
}

/// The one atom that a text consists of, with or without a final `.`.
pub fn parse_atom(source: &Source) -> Result<Atom, Error> {
    source.check_length()?;
    let mut parser = Parser::new(source)?;
    let atom = parser.atom()?;
    if parser.token == Token::End {
        parser.advance()?;
    }
    if parser.token == Token::Eof { Ok(atom) } else { Err(parser.expected("the end of the text")) }
}

#[derive(Clone)]
struct Parser<'a> {
    source: &'a Source,
    lexer: Lexer<'a>,
    /// The token to be read next.
    token: Token<'a>,
    span: Span,
    /// Where the token before it stands.
    previous: Span,
}

impl<'a> Parser<'a> {
    fn new(source: &'a Source) -> Result<Parser<'a>, Error> {
        let mut lexer = Lexer::new(source);
        let (token, span) = lexer.next()?;
        Ok(Parser { source, lexer, token, span, previous: Span::new(span.start, span.start) })
    }

    /// Moves on and returns the token that was next.
    fn advance(&mut self) -> Result<Token<'a>, Error> {
        let (token, span) = self.lexer.next()?;
        self.previous = std::mem::replace(&mut self.span, span);
        Ok(std::mem::replace(&mut self.token, token))
    }

    /// Moves past the token if it is this one.
    fn accept(&mut self, token: &Token<'_>) -> Result<bool, Error> {
        let found = self.token == *token;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Whether the token is the first of its line.
    fn is_new_line(&self) -> bool {
        self.source.text[self.previous.end..self.span.start].contains('\n')
    }

    /// An error that names what should have stood here. What is missing at the end of a line is shown
    /// there, not at the start of whatever comes next.
    fn expected(&self, what: &str) -> Error {
        let missing = self.token == Token::Eof || self.is_new_line();
        let at = if missing { Span::new(self.previous.end, self.previous.end) } else { self.span };
        self.source.error(at, format!("expected {what}, found {}", self.token))
    }

    /// The `.` at the end of a sentence.
    fn end(&mut self, expected: &str) -> Result<Span, Error> {
        if self.token != Token::End {
            let help = match self.token {
                Token::If => "a sentence has one `:-`; is a `.` missing before this one?",
                Token::Open => "no space may stand between a name and its `(`",
                Token::Weight => {
                    "a weight is a number at the start of a rule, as in `0.99::move(X, Y) :- top(X).`"
                }
                Token::Name(_) | Token::Not if !self.is_new_line() => {
                    "the atoms of a body are separated by `,`"
                }
                _ => "every sentence ends with `.`",
            };
            return Err(self.expected(expected).with_help(help));
        }
        let span = self.span;
        self.advance()?;
        Ok(span)
    }

    fn item(&mut self) -> Result<Item, Error> {
        let start = self.span;
        if self.accept(&Token::If)? {
            let tree = self.tree(1)?;
            if self.token == Token::Comma {
                let error = self.source.error(self.span, "a directive declares one thing");
                return Err(error.with_help("end it with `.` and start the next one with `:-`"));
            }
            let end = self.end("`.`")?;
            return Ok(Item::Directive(Directive { tree, span: start.to(end) }));
        }
        self.clause().map(Item::Clause)
    }

    fn clause(&mut self) -> Result<Clause, Error> {
        let start = self.span;
        let weight = match self.token {
            Token::Int(i) => Some(i as f64),
            Token::Decimal(x) => Some(x),
            _ => None,
        };
        if weight.is_some() {
            self.advance()?;
            if !self.accept(&Token::Weight)? {
                let help = "a sentence that starts with a number is a weighted rule, as in `0.99::move(X, Y) :- top(X).`";
                return Err(self.expected("`::` after the weight").with_help(help));
            }
        }
        if self.token == Token::Not {
            let error = self.source.error(self.span, "a head cannot be negated");
            return Err(error.with_help("to forbid a combination write `false :- p(X), q(X).`"));
        }
        let forbidden = self.forbidden()?;
        let head = match forbidden.map_or_else(|| self.atom().map(Head::Atom), |a| Ok(Head::Never(a)))? {
            Head::Atom(atom) => atom,
            never => return self.rest(start, weight, never),
        };
        let head = match head {
            Atom { ref name, ref args, span } if name == "false" && args.is_empty() => Head::False(span),
            atom if self.token == Token::Equals => Head::Number(self.number_fact(atom)?),
            atom => Head::Atom(atom),
        };
        self.rest(start, weight, head)
    }

    /// The action in `never(action)`, where that is the head: `never(a)` is an atom unless a body follows.
    fn forbidden(&mut self) -> Result<Option<Atom>, Error> {
        if !matches!(&self.token, Token::Name(name) if name == "never") {
            return Ok(None);
        }
        let before = self.clone();
        self.advance()?;
        if self.token == Token::Open && self.span.start == self.previous.end {
            self.advance()?;
            if matches!(self.token, Token::Name(_)) {
                let action = self.atom()?;
                if self.token == Token::Close {
                    self.advance()?;
                    if !action.args.is_empty() || self.token == Token::If {
                        return Ok(Some(action));
                    }
                }
            }
        }
        *self = before;
        Ok(None)
    }

    /// What follows the head of a clause.
    fn rest(&mut self, start: Span, weight: Option<f64>, head: Head) -> Result<Clause, Error> {
        let (mut body, mut choices) = (Vec::new(), Vec::new());
        let mut expected = "`:-` or `.`";
        if self.accept(&Token::If)? {
            expected = "`,` or `.`";
            loop {
                match self.choice()? {
                    Some(choice) => choices.push(choice),
                    None => body.push(self.literal()?),
                }
                if !self.accept(&Token::Comma)? {
                    break;
                }
            }
        }
        let end = self.end(expected)?;
        Ok(Clause { weight, head, body, choices, span: start.to(end) })
    }

    /// The rest of `queue(p1) = 7`.
    fn number_fact(&mut self, measure: Atom) -> Result<NumberFact, Error> {
        self.advance()?;
        let negative = self.accept(&Token::Minus)?;
        let Some(value) = self.number() else {
            let error = self.expected("a number");
            return Err(error.with_help("a state says what a measure is, as in `queue(p1) = 7.`"));
        };
        self.advance()?;
        let span = measure.span.to(self.previous);
        Ok(NumberFact { measure, value: if negative { 0.0 - value } else { value }, span })
    }

    /// The number that the next token is.
    fn number(&self) -> Option<f64> {
        match self.token {
            Token::Int(i) => Some(i as f64),
            // There is one zero.
            Token::Decimal(x) => Some(x + 0.0),
            _ => None,
        }
    }

    /// `most(sum)` or `least(sum)`, where one follows: with variables or constants for arguments these names are predicates.
    fn choice(&mut self) -> Result<Option<Choice>, Error> {
        let extreme = match &self.token {
            Token::Name(name) if name == "most" => Extreme::Most,
            Token::Name(name) if name == "least" => Extreme::Least,
            _ => return Ok(None),
        };
        let (before, start) = (self.clone(), self.span);
        self.advance()?;
        if self.token != Token::Open || self.span.start != self.previous.end {
            *self = before;
            return Ok(None);
        }
        self.advance()?;
        let plain = match self.token {
            Token::Var(_) | Token::Int(_) | Token::Name(_) => {
                let mut ahead = self.clone();
                ahead.advance()?;
                matches!(ahead.token, Token::Comma | Token::Close)
            }
            _ => false,
        };
        if plain {
            *self = before;
            return Ok(None);
        }
        let sum = self.sum(None)?;
        if !self.accept(&Token::Close)? {
            let help = format!("a choice is of one number, as in `{extreme}(queue(X))`");
            return Err(self.expected("`)`").with_help(help));
        }
        Ok(Some(Choice { extreme, sum, span: start.to(self.previous) }))
    }

    /// An atom, or a comparison.
    fn goal(&mut self) -> Result<Goal, Error> {
        let start = self.span;
        let first = match self.token {
            Token::Int(_) | Token::Decimal(_) | Token::Minus => None,
            _ => Some(self.atom()?),
        };
        let follows = matches!(self.token, Token::Compare(_) | Token::Plus | Token::Minus | Token::Times);
        let left = match first {
            Some(atom) if !follows && self.number().is_none_or(|x| x >= 0.0) => {
                if self.token == Token::Equals {
                    let error =
                        self.source.error(self.span, "a condition compares with `>`, `>=`, `<` or `=<`");
                    return Err(error.with_help("two of them say that numbers are equal: `x >= 3, x =< 3`"));
                }
                return Ok(Goal::Atom(atom));
            }
            first => self.sum(first)?,
        };
        let Token::Compare(op) = self.token else {
            let error = self.expected("`>`, `>=`, `<` or `=<`");
            return Err(error.with_help("numbers stand in comparisons, as in `queue(X) > 3`"));
        };
        self.advance()?;
        let right = self.sum(None)?;
        Ok(Goal::Comparison(Comparison { left, op, right, span: start.to(self.previous) }))
    }

    /// A sum whose first measure may have been read already.
    fn sum(&mut self, first: Option<Atom>) -> Result<Sum, Error> {
        let start = first.as_ref().map_or(self.span, |atom| atom.span);
        let negative = first.is_none() && self.accept(&Token::Minus)?;
        let mut summands = vec![self.summand(first, negative)?];
        loop {
            let negative = match self.token {
                Token::Plus => false,
                Token::Minus => true,
                // In `x -3` the sign is that of a difference.
                _ if self.number().is_some_and(|x| x < 0.0) => {
                    summands.push(self.summand(None, false)?);
                    continue;
                }
                _ => break,
            };
            self.advance()?;
            summands.push(self.summand(None, negative)?);
        }
        Ok(Sum { summands, span: start.to(self.previous) })
    }

    fn summand(&mut self, first: Option<Atom>, negative: bool) -> Result<Summand, Error> {
        let start = first.as_ref().map_or(self.span, |atom| atom.span);
        let signed = |x: f64| if negative { -x } else { x };
        if first.is_none()
            && let Some(number) = self.number()
        {
            self.advance()?;
            let measure = if self.accept(&Token::Times)? { Some(self.measure()?) } else { None };
            return Ok(Summand { factor: signed(number), measure, span: start.to(self.previous) });
        }
        let measure = match first {
            Some(atom) => atom,
            None => self.measure()?,
        };
        let mut factor = 1.0;
        if self.accept(&Token::Times)? {
            let negative = self.accept(&Token::Minus)?;
            let Some(number) = self.number() else {
                let error = self.expected("a number");
                return Err(error.with_help("a measure is multiplied by a number only, as in `1.2*queue(X)`"));
            };
            self.advance()?;
            factor = if negative { -number } else { number };
        }
        Ok(Summand { factor: signed(factor), measure: Some(measure), span: start.to(self.previous) })
    }

    /// A measure in a sum.
    fn measure(&mut self) -> Result<Atom, Error> {
        match self.token {
            Token::Name(_) => self.atom(),
            Token::Var(name) => Err(self.object_compared(name, self.span)),
            _ => {
                let error = self.expected("a number or a measure");
                Err(error.with_help("numbers stand in comparisons, as in `queue(X) > 3`"))
            }
        }
    }

    fn object_compared(&self, name: &str, span: Span) -> Error {
        let error = self.source.error(span, format!("`{name}` stands for an object, not for a number"));
        error.with_help(format!("compare a measure of it, as in `queue({name}) > 3`"))
    }

    fn literal(&mut self) -> Result<Literal, Error> {
        let start = self.span;
        let positive = !self.accept(&Token::Not)?;
        if !positive && self.token == Token::Not {
            let error = self.source.error(self.span, "a literal is negated at most once");
            return Err(error.with_help("leave out both `\\+`"));
        }
        let parenthesised = !positive && self.accept(&Token::Open)?;
        let before = self.span;
        if let Some(choice) = self.choice()? {
            let error = self.source.error(before.to(self.previous), format!("`{choice}` cannot be negated"));
            let other = if choice.extreme == Extreme::Most { Extreme::Least } else { Extreme::Most };
            return Err(error.with_help(format!("write `{other}({})` for the other end", choice.sum)));
        }
        let goal = self.goal()?;
        if parenthesised && !self.accept(&Token::Close)? {
            let help = "`\\+` negates one atom; write `\\+ p(X), \\+ q(X)` for neither";
            return Err(self.expected("`)`").with_help(help));
        }
        Ok(Literal { positive, goal, span: start.to(self.previous) })
    }

    fn atom(&mut self) -> Result<Atom, Error> {
        if let Token::Var(name) = self.token {
            let error =
                self.source.error(self.span, format!("expected a predicate, found variable `{name}`"));
            // In `X \= Y` the operator is what needs explaining, which the lexer does.
            let span = self.span;
            self.advance()?;
            match self.token {
                Token::Compare(_) | Token::Plus | Token::Minus | Token::Times => {
                    return Err(self.object_compared(name, span));
                }
                Token::Equals => {
                    let error = self.source.error(self.span, "`=` is not part of the language");
                    return Err(error.with_help("leave it out: use the same variable in both places"));
                }
                _ => {}
            }
            return Err(
                error.with_help("predicates start with a lower-case letter, variables with a capital or `_`")
            );
        }
        let start = self.span;
        let name = self.name("a predicate")?;
        let negation = "negation is written `\\+ p(X)`";
        if name == "not" && matches!(self.token, Token::Name(_)) {
            return Err(self.source.error(start, "`not` is not negation").with_help(negation));
        }
        let args = self.arguments(&name, Parser::term);
        let args = args.map_err(|error| if name == "not" { error.with_help(negation) } else { error })?;
        Ok(Atom { name, args, span: start.to(self.previous) })
    }

    fn name(&mut self, what: &str) -> Result<String, Error> {
        let Token::Name(name) = &self.token else {
            return Err(self.expected(what));
        };
        let name = name.to_string();
        self.advance()?;
        Ok(name)
    }

    /// The arguments after a name; none if no `(` follows at once.
    fn arguments<T>(
        &mut self,
        name: &str,
        mut argument: impl FnMut(&mut Parser<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut args = Vec::new();
        if self.token != Token::Open || self.span.start != self.previous.end {
            return Ok(args);
        }
        let open = self.span;
        self.advance()?;
        if self.token == Token::Close {
            let error = self.source.error(open.to(self.span), "empty parentheses");
            return Err(error.with_help(format!("without arguments it is written `{}`", Quoted(name))));
        }
        args.push(argument(self)?);
        while self.accept(&Token::Comma)? {
            args.push(argument(self)?);
        }
        if self.accept(&Token::Close)? {
            return Ok(args);
        }
        let error = self.expected("`,` or `)`");
        Err(match self.token {
            Token::Compare(_) | Token::Plus | Token::Minus | Token::Times => error.with_help(
                "numbers stand in comparisons of their own, as in `queue(X) > 3`, not in arguments",
            ),
            _ => error,
        })
    }

    fn term(&mut self) -> Result<Term, Error> {
        let kind = match &self.token {
            Token::Var(name) => TermKind::Var((*name).to_string()),
            Token::Int(i) => TermKind::Const(Constant::Int(*i)),
            Token::Name(name) => TermKind::Const(Constant::name(name)),
            Token::Decimal(_) => {
                let error = self.source.error(self.span, "a decimal number is not a constant");
                return Err(error.with_help("constants are names and integers"));
            }
            Token::Minus => {
                let error = self.expected("a variable or a constant");
                return Err(error.with_help("a negative number is written without a space, as in `-3`"));
            }
            _ => return Err(self.expected("a variable or a constant")),
        };
        self.advance()?;
        let span = self.previous;
        if self.token == Token::Open && self.span.start == span.end {
            let error = self.source.error(span, "an argument cannot have arguments of its own");
            return Err(error.with_help("arguments are variables and constants only"));
        }
        Ok(Term { kind, span })
    }

    /// A term of a directive, at most [`MAX_DEPTH`] deep.
    fn tree(&mut self, depth: usize) -> Result<Tree, Error> {
        let start = self.span;
        if depth > MAX_DEPTH {
            let error = self.source.error(start, format!("terms are nested more than {MAX_DEPTH} deep"));
            return Err(error.with_help("no declaration nests this deep: is a `)` missing?"));
        }
        let Token::Name(_) = self.token else {
            return self.term().map(Tree::Leaf);
        };
        let name = self.name("a name")?;
        if self.accept(&Token::Slash)? {
            let Token::Int(arity @ 0..) = self.token else {
                let help = format!("an arity is the number of arguments, as in `{}/2`", Quoted(&name));
                return Err(self.expected("an arity").with_help(help));
            };
            self.advance()?;
            let span = start.to(self.previous);
            return Ok(Tree::Indicator { name, arity: usize::try_from(arity).unwrap_or(usize::MAX), span });
        }
        let args = self.arguments(&name, |parser| parser.tree(depth + 1))?;
        let span = start.to(self.previous);
        if args.is_empty() {
            return Ok(Tree::Leaf(Term { kind: TermKind::Const(Constant::name(&name)), span }));
        }
        Ok(Tree::Compound { name, args, span })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_choices_and_numbers() {
        let text = "a :- angle>0.020, 0.5*q(P)-q(Q) =<1e-9, \\+(-x < -3), y(B) -y(P) -3>=0, q(P)* -2 > 3, most(q(P)), least(-d(P, b)+2*e(P)).";
        let canonical = "a :- angle > 0.02, 0.5*q(P) - q(Q) =< 1.0e-9, \\+ -x < -3, y(B) - y(P) - 3 >= 0, \
                         -2*q(P) > 3, most(q(P)), least(-d(P, b) + 2*e(P)).\n";
        assert_eq!(printed(text), canonical);
        assert_eq!(printed(canonical), canonical);
        assert_eq!(printed("q(p1)=7. x = -1.5e300. y = -0."), "q(p1) = 7.\nx = -1.5e300.\ny = 0.\n");
        assert_eq!(
            printed("a :- most(X), least(b), least(1, 2), most."),
            "a :- most(X), least(b), least(1, 2), most.\n"
        );
    }

    fn printed(text: &str) -> String {
        parse(&Source::new("t.pl", text)).map_or_else(|e| e.to_string(), |p| p.to_string())
    }

    #[test]
    fn canonical_text() {
        let text = "/* a */ 1::move(X,'B b') <- top(X),\\+on(_,-3) , \\+(p). % end\n:-rules(move/2,auto).";
        assert_eq!(
            printed(text),
            "1.00::move(X, 'B b') :- top(X), \\+ on(_, -3), \\+ p.\n:- rules(move/2, auto).\n"
        );
    }

    #[test]
    fn the_arrow_of_the_paper_is_read() {
        assert_eq!(printed("up ← north."), "up :- north.\n");
        assert_eq!(printed("false ← on(X,Y), on(Y,X)."), "false :- on(X, Y), on(Y, X).\n");
    }

    #[test]
    fn an_atom_alone() {
        let atom =
            |text| parse_atom(&Source::new("t", text)).map_or_else(|e| e.message.clone(), |a| a.to_string());
        assert_eq!(atom("move(b,floor)"), "move(b, floor)");
        assert_eq!(atom(" up. "), "up");
        assert_eq!(atom("up down"), "expected the end of the text, found `down`");
        assert_eq!(atom(""), "expected a predicate, found the end of the text");
    }
}
