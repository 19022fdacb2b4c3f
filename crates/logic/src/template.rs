//! NLRL's templates: which clauses the differentiable-ILP baseline may weigh against each other.
//!
//! ```prolog
//! :- nlrl(steps(3)).                      % forward-chaining steps
//! :- nlrl(invent(pred(block, place))).    % a predicate to be invented, of arity 1 or 2
//! :- nlrl(slot(move/2, 0, invented)).     % a clause for move/2: 0 existential variables, any body
//! :- nlrl(slot(pred/2, 1, given)).        % a clause for pred/2: up to 1, no invented predicate in its body
//! ```
//!
//! A slot stands for every clause of two body atoms that fits it; the learner keeps one weight a clause.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::alphabet::{Action, Alphabet, Type, Types};
use crate::diagnostic::{Error, Source, nearest};
use crate::domain::RESERVED;
use crate::resolve::{Resolver, list};
use crate::syntax::{Indicator, Quoted, Span, Tree, from_fn};

/// A predicate that NLRL invents.
#[derive(Clone, Debug, PartialEq)]
pub struct Invented {
    /// Its name as written.
    pub name: String,
    /// The type of each of its one or two arguments.
    pub args: Vec<Type>,
}

/// What the clause of a slot concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotHead {
    /// An action.
    Action(Action),
    /// An invented predicate, by its place in [`Templates::invented`].
    Invented(usize),
}

/// Which predicates the body of a slot's clause may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotBody {
    /// Those of the domain only.
    Given,
    /// Those of the domain and the invented ones.
    Invented,
}

/// The words of a template, in the order of [`SlotBody`].
const BODIES: [(&str, SlotBody); 2] = [("given", SlotBody::Given), ("invented", SlotBody::Invented)];

/// A place for one clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClauseSlot {
    /// What the clause concludes.
    pub head: SlotHead,
    /// How many variables its body may have beyond those of its head.
    pub existential: usize,
    /// Which predicates its body may use.
    pub body: SlotBody,
}

/// Everything a domain says for NLRL. Every action and every invented predicate has a slot.
#[derive(Clone, Debug, PartialEq)]
pub struct Templates {
    /// How many forward-chaining steps a decision takes; one more than there are invented predicates where the
    /// domain does not say, which is enough for any clauses without recursion.
    pub steps: usize,
    /// The predicates to invent.
    pub invented: Vec<Invented>,
    /// The clause slots.
    pub slots: Vec<ClauseSlot>,
}

/// The forms of `:- nlrl(...)`: name, number of arguments, an example.
const FORMS: &[(&str, usize, &str)] = &[
    ("steps", 1, ":- nlrl(steps(3))."),
    ("invent", 1, ":- nlrl(invent(pred(block, place)))."),
    ("slot", 3, ":- nlrl(slot(move/2, 0, invented))."),
];

impl Templates {
    /// The most forward-chaining steps.
    pub const MAX_STEPS: usize = 64;
    /// The most existential variables of a clause.
    pub const MAX_EXISTENTIAL: usize = 4;

    /// What the arguments of all `:- nlrl(...)` directives say together; nothing if there are none.
    pub(crate) fn resolve(trees: &[&Tree], resolver: &Resolver<'_>) -> Result<Option<Templates>, Error> {
        let Some(last) = trees.last() else { return Ok(None) };
        let mut draft = Draft { resolver, steps: None, invented: Vec::new(), known: FxHashMap::default() };
        let mut slots = Vec::new();
        for tree in trees {
            let form = form(tree, resolver.source)?;
            match form.name {
                "steps" => draft.steps(tree, &form)?,
                "invent" => draft.invent(&form)?,
                _ => slots.push(form), // heads may be invented in a later line
            }
        }
        let slots = slots.iter().map(|form| draft.slot(form)).collect::<Result<Vec<_>, _>>()?;
        draft.check_heads(&slots, last.span())?;
        let steps = draft.steps.map_or((draft.invented.len() + 1).min(Templates::MAX_STEPS), |s| s.0);
        Ok(Some(Templates { steps, invented: draft.invented, slots }))
    }

    /// The same templates with every argument of type `any`.
    pub(crate) fn forget_types(&mut self) {
        self.invented.iter_mut().for_each(|p| p.args.fill(Types::ANY));
    }

    /// The directives that say this, one per line.
    pub(crate) fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            writeln!(f, ":- nlrl(steps({})).", self.steps)?;
            for p in &self.invented {
                writeln!(f, ":- nlrl(invent({})).", alphabet.signature(&p.name, &p.args))?;
            }
            for slot in &self.slots {
                let (name, arity) = match slot.head {
                    SlotHead::Action(a) => (&alphabet.action(a).name, alphabet.action(a).args.len()),
                    SlotHead::Invented(p) => (&self.invented[p].name, self.invented[p].args.len()),
                };
                let body = BODIES[slot.body as usize].0;
                writeln!(f, ":- nlrl(slot({}, {}, {body})).", Indicator(name, arity), slot.existential)?;
            }
            Ok(())
        })
    }
}

/// One `:- nlrl(name(args))`, of a known form.
struct Form<'t> {
    name: &'static str,
    example: &'static str,
    args: &'t [Tree],
}

fn form<'t>(tree: &'t Tree, source: &Source) -> Result<Form<'t>, Error> {
    let (name, args) = match tree {
        Tree::Compound { name, args, .. } => (name.as_str(), args.as_slice()),
        _ => (tree.as_name().unwrap_or_default(), [].as_slice()),
    };
    let Some(&(name, arity, example)) = FORMS.iter().find(|f| f.0 == name) else {
        let names = FORMS.iter().map(|f| f.0);
        let help = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("a template is one of {}", list(names)),
        };
        return Err(source.error(tree.span(), format!("unknown template `{tree}`")).with_help(help));
    };
    if args.len() != arity {
        let count = if arity == 1 { "1 argument".to_string() } else { format!("{arity} arguments") };
        let message = format!("the template `{name}` takes {count}, not {}", args.len());
        return Err(source.error(tree.span(), message).with_help(format!("write it like `{example}`")));
    }
    Ok(Form { name, example, args })
}

/// The templates read so far.
struct Draft<'a> {
    resolver: &'a Resolver<'a>,
    steps: Option<(usize, Span)>,
    invented: Vec<Invented>,
    /// Where each invented predicate was declared and its place in `invented`.
    known: FxHashMap<(String, usize), (Span, usize)>,
}

impl Draft<'_> {
    fn mistake(&self, span: Span, message: impl Into<String>, form: &Form<'_>) -> Error {
        let help = format!("write it like `{}`", form.example);
        self.resolver.source.error(span, message).with_help(help)
    }

    fn twice(&self, span: Span, what: &str, first: Span) -> Error {
        let line = self.resolver.source.line(first.start);
        let help = format!("it was first declared in line {line}; remove one of them");
        self.resolver.source.error(span, format!("`{what}` is declared twice")).with_help(help)
    }

    /// A whole number within a range.
    fn number(
        &self,
        what: &str,
        tree: &Tree,
        range: std::ops::RangeInclusive<usize>,
        form: &Form<'_>,
    ) -> Result<usize, Error> {
        let Some(number) = tree.as_int() else {
            return Err(self.mistake(tree.span(), format!("{what} is an integer"), form));
        };
        match usize::try_from(number) {
            Ok(n) if range.contains(&n) => Ok(n),
            _ => {
                let message =
                    format!("{what} is {number}; it must be from {} to {}", range.start(), range.end());
                Err(self.resolver.source.error(tree.span(), message))
            }
        }
    }

    fn steps(&mut self, tree: &Tree, form: &Form<'_>) -> Result<(), Error> {
        let steps = self.number("the number of steps", &form.args[0], 1..=Templates::MAX_STEPS, form)?;
        if let Some((_, first)) = self.steps {
            return Err(self.twice(tree.span(), "steps", first));
        }
        self.steps = Some((steps, tree.span()));
        Ok(())
    }

    fn invent(&mut self, form: &Form<'_>) -> Result<(), Error> {
        let Resolver { source, alphabet, .. } = self.resolver;
        let tree = &form.args[0];
        let (name, args) = match tree {
            Tree::Compound { name, args, .. } => {
                (name, args.iter().map(|t| self.type_of(t, form)).collect::<Result<Vec<_>, _>>()?)
            }
            Tree::Indicator { name, arity, .. } => (name, vec![Types::ANY; (*arity).min(3)]),
            Tree::Leaf(_) => {
                let message = "an invented predicate has a name and one or two arguments";
                return Err(self.mistake(tree.span(), message, form));
            }
        };
        if !(1..=2).contains(&args.len()) {
            let message = format!("`{tree}`: an invented predicate has one or two arguments");
            return Err(self.mistake(tree.span(), message, form));
        }
        if RESERVED.contains(&name.as_str()) {
            let message = format!("`{name}` has a meaning in Prolog already");
            return Err(source.error(tree.span(), message).with_help("choose another name"));
        }
        let declared = alphabet.find_predicate(name, args.len()).is_some()
            || alphabet.find_action(name, args.len()).is_some();
        if declared {
            let message = format!("`{}` is declared by the domain already", Indicator(name, args.len()));
            return Err(source.error(tree.span(), message).with_help("invent it under another name"));
        }
        let key = (name.clone(), args.len());
        if let Some(&(first, _)) = self.known.get(&key) {
            return Err(self.twice(tree.span(), &Indicator(name, args.len()).to_string(), first));
        }
        self.known.insert(key, (tree.span(), self.invented.len()));
        self.invented.push(Invented { name: name.clone(), args });
        Ok(())
    }

    /// A type that the declarations of the domain name.
    fn type_of(&self, tree: &Tree, form: &Form<'_>) -> Result<Type, Error> {
        let Some(name) = tree.as_name() else {
            let message = format!("`{tree}` is not a type: types are lower-case names");
            return Err(self.mistake(tree.span(), message, form));
        };
        let types = &self.resolver.alphabet.types;
        types.find(name).ok_or_else(|| {
            let known = || (0..types.len()).map(|t| types.name(Type(t as u32)));
            let help = match nearest(name, known()) {
                Some(near) => format!("did you mean `{}`?", Quoted(near)),
                None => format!("the domain's types: {}", list(known().map(Quoted))),
            };
            self.resolver
                .source
                .error(tree.span(), format!("unknown type `{}`", Quoted(name)))
                .with_help(help)
        })
    }

    fn slot(&self, form: &Form<'_>) -> Result<ClauseSlot, Error> {
        let [head, existential, body] = form.args else {
            unreachable!("the number of arguments was checked");
        };
        let Tree::Indicator { name, arity, .. } = head else {
            let message = "the head of a slot is a name with its arity";
            return Err(self.mistake(head.span(), message, form));
        };
        let invented = self.known.get(&(name.clone(), *arity)).map(|&(_, at)| SlotHead::Invented(at));
        let head = match invented {
            Some(head) => head,
            None => SlotHead::Action(self.head(name, *arity, head.span())?),
        };
        let what = "the number of existential variables";
        let existential = self.number(what, existential, 0..=Templates::MAX_EXISTENTIAL, form)?;
        let Some(&(_, body)) = BODIES.iter().find(|b| Some(b.0) == body.as_name()) else {
            let message = "the body of a slot is `given` or `invented`";
            return Err(self.mistake(body.span(), message, form));
        };
        Ok(ClauseSlot { head, existential, body })
    }

    /// The action of a slot; the error for an unknown one also names what is invented.
    fn head(&self, name: &str, arity: usize, span: Span) -> Result<Action, Error> {
        let Resolver { source, alphabet, .. } = self.resolver;
        if let Some(action) = alphabet.find_action(name, arity) {
            return Ok(action);
        }
        let heads = || {
            let whole = alphabet.actions.iter().filter(|a| !a.repeats());
            let actions = whole.map(|a| (a.name.as_str(), a.arity()));
            actions.chain(self.invented.iter().map(|p| (p.name.as_str(), p.args.len())))
        };
        let near = nearest(name, heads().map(|h| h.0));
        let help = match heads().find(|h| Some(h.0) == near) {
            Some((name, arity)) => format!("did you mean `{}`?", Indicator(name, arity)),
            None => {
                format!("the actions and invented predicates: {}", list(heads().map(|h| Indicator(h.0, h.1))))
            }
        };
        let message = format!("`{}` is neither an action nor invented", Indicator(name, arity));
        Err(source.error(span, message).with_help(help))
    }

    /// Every invented predicate and every action has a clause.
    fn check_heads(&self, slots: &[ClauseSlot], last: Span) -> Result<(), Error> {
        let Resolver { source, alphabet, .. } = self.resolver;
        let mut used = vec![false; self.invented.len()];
        let mut acted = vec![false; alphabet.actions.len()];
        for slot in slots {
            match slot.head {
                SlotHead::Action(a) => acted[a.0 as usize] = true,
                SlotHead::Invented(p) => used[p] = true,
            }
        }
        let help = |indicator| format!("add a line like `:- nlrl(slot({indicator}, 1, given)).`");
        if let Some(p) = used.iter().position(|u| !u) {
            let Invented { name, args } = &self.invented[p];
            let span = self.known[&(name.clone(), args.len())].0;
            let indicator = Indicator(name, args.len());
            let message = format!("the invented predicate `{indicator}` has no slot");
            return Err(source.error(span, message).with_help(help(indicator)));
        }
        let lacks = |a: &usize| !acted[*a] && !alphabet.actions[*a].repeats();
        if let Some(a) = (0..acted.len()).find(lacks) {
            let action = &alphabet.actions[a];
            let indicator = Indicator(&action.name, action.args.len());
            let message = format!("the action `{indicator}` has no slot among the templates");
            return Err(source.error(last, message).with_help(help(indicator)));
        }
        Ok(())
    }
}
