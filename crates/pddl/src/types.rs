//! The types of a domain: which are subtypes of which, and unions of them (`either`).

use derrl_logic::diagnostic::nearest;
use derrl_logic::syntax::Span;
use derrl_logic::{Error, Source};
use rustc_hash::FxHashMap;

use crate::sexp::Sexp;

/// A type, by its position in [`Types`]. 0 is `object`.
pub type TypeId = u16;

/// A union of types, by its position in [`Types::kinds`]. 0 is `object` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(pub u16);

impl Kind {
    /// The kind of everything.
    pub const OBJECT: Kind = Kind(0);
}

/// The most types and the most unions of types that a domain may have.
const MAX_TYPES: usize = 4096;

/// The types of a domain.
#[derive(Clone, Debug)]
pub struct Types {
    names: Vec<String>,
    by_name: FxHashMap<String, TypeId>,
    parents: Vec<Vec<TypeId>>,
    /// For each type, itself and every type above it, sorted.
    above: Vec<Vec<TypeId>>,
    kinds: Vec<Vec<TypeId>>,
    by_kind: FxHashMap<Vec<TypeId>, Kind>,
}

impl Types {
    /// Only `object`.
    pub(crate) fn new() -> Types {
        Types {
            names: vec!["object".into()],
            by_name: FxHashMap::from_iter([("object".into(), 0)]),
            parents: vec![Vec::new()],
            above: vec![vec![0]],
            kinds: vec![vec![0]],
            by_kind: FxHashMap::from_iter([(vec![0], Kind::OBJECT)]),
        }
    }

    /// How many types there are, `object` included.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is nothing but `object`.
    pub fn is_empty(&self) -> bool {
        self.names.len() == 1
    }

    /// The name of a type as it was first written.
    pub fn name(&self, t: TypeId) -> &str {
        &self.names[usize::from(t)]
    }

    /// The declared types directly above a type.
    pub fn parents(&self, t: TypeId) -> &[TypeId] {
        &self.parents[usize::from(t)]
    }

    /// Whether every object of `sub` is one of `sup`.
    pub fn is_subtype(&self, sub: TypeId, sup: TypeId) -> bool {
        self.above[usize::from(sub)].binary_search(&sup).is_ok()
    }

    /// All unions of types that the domain mentions, single types included.
    pub fn kinds(&self) -> impl ExactSizeIterator<Item = (Kind, &[TypeId])> {
        self.kinds.iter().enumerate().map(|(i, k)| (Kind(i as u16), k.as_slice()))
    }

    /// The types of a union.
    pub fn members(&self, kind: Kind) -> &[TypeId] {
        &self.kinds[usize::from(kind.0)]
    }

    /// Whether an object of these types belongs to a kind.
    pub fn belongs(&self, object: &[TypeId], kind: Kind) -> bool {
        object.iter().any(|&t| self.members(kind).iter().any(|&k| self.is_subtype(t, k)))
    }

    /// Whether some type lies below both kinds.
    pub fn overlap(&self, a: Kind, b: Kind) -> bool {
        (0..self.names.len() as TypeId).any(|t| self.belongs(&[t], a) && self.belongs(&[t], b))
    }

    /// Whether everything of kind `sub` is of kind `sup`.
    pub fn is_subkind(&self, sub: Kind, sup: Kind) -> bool {
        self.members(sub).iter().all(|&t| self.belongs(&[t], sup))
    }

    /// `car` or `(either car truck)`.
    pub fn show(&self, kind: Kind) -> String {
        let names: Vec<&str> = self.members(kind).iter().map(|&t| self.name(t)).collect();
        if let [one] = names[..] { one.to_string() } else { format!("(either {})", names.join(" ")) }
    }

    pub(crate) fn find(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(&name.to_ascii_lowercase()).copied()
    }

    /// The type of that name, made if it is new.
    fn declare(&mut self, source: &Source, name: &str, span: Span) -> Result<TypeId, Error> {
        if let Some(t) = self.find(name) {
            return Ok(t);
        }
        if self.names.len() >= MAX_TYPES {
            return Err(source.error(span, format!("more than {MAX_TYPES} types")));
        }
        let t = self.names.len() as TypeId;
        self.names.push(name.to_string());
        self.by_name.insert(name.to_ascii_lowercase(), t);
        self.parents.push(Vec::new());
        Ok(t)
    }

    /// Reads the body of `(:types ...)`. A supertype that is not declared by itself is one all the same, as most
    /// planners read it.
    pub(crate) fn read(&mut self, source: &Source, items: &[Sexp]) -> Result<(), Error> {
        for group in typed_groups(source, items, "type")? {
            let mut parents = Vec::new();
            for (name, span) in group.types {
                parents.push(self.declare(source, name, span)?);
            }
            for (name, span) in group.names {
                let t = self.declare(source, name, span)?;
                for &p in &parents {
                    if p != t && t != 0 && !self.parents[usize::from(t)].contains(&p) {
                        self.parents[usize::from(t)].push(p);
                    }
                }
            }
        }
        self.above.clear();
        for t in 0..self.names.len() as TypeId {
            let mut above = vec![t, 0];
            let mut next = 0;
            while next < above.len() {
                for &p in &self.parents[usize::from(above[next])] {
                    if p == t {
                        let span = items.first().map_or(Span::new(0, 0), Sexp::span);
                        let message = format!("type `{}` is above itself", self.name(t));
                        return Err(source.error(span, message).with_help("break the circle of supertypes"));
                    }
                    if !above.contains(&p) {
                        above.push(p);
                    }
                }
                next += 1;
            }
            above.sort_unstable();
            above.dedup();
            self.above.push(above);
        }
        Ok(())
    }

    /// The kind with these type names; `object` where there are none.
    pub(crate) fn kind(&mut self, source: &Source, names: &[(&str, Span)]) -> Result<Kind, Error> {
        let mut types = Vec::new();
        for &(name, span) in names {
            let Some(t) = self.find(name) else {
                let near = nearest(name, self.names.iter().map(String::as_str));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the types of this domain: {}", self.names.join(", ")),
                };
                return Err(source.error(span, format!("unknown type `{name}`")).with_help(help));
            };
            types.push(t);
        }
        if types.is_empty() {
            types.push(0);
        }
        types.sort_unstable();
        types.dedup();
        if let Some(&kind) = self.by_kind.get(&types) {
            return Ok(kind);
        }
        if self.kinds.len() >= MAX_TYPES {
            let span = names.first().map_or(Span::new(0, 0), |n| n.1);
            return Err(source.error(span, format!("more than {MAX_TYPES} unions of types")));
        }
        let kind = Kind(self.kinds.len() as u16);
        self.kinds.push(types.clone());
        self.by_kind.insert(types, kind);
        Ok(kind)
    }
}

/// Some names with the types written after them: `a b - (either s t)`.
pub(crate) struct Group<'a> {
    pub(crate) names: Vec<(&'a str, Span)>,
    pub(crate) types: Vec<(&'a str, Span)>,
}

/// Splits a typed list into its groups. The last group may have no types.
pub(crate) fn typed_groups<'a>(
    source: &Source,
    items: &[Sexp<'a>],
    what: &str,
) -> Result<Vec<Group<'a>>, Error> {
    let mut groups = Vec::new();
    let mut names: Vec<(&'a str, Span)> = Vec::new();
    let mut i = 0;
    while i < items.len() {
        let item = &items[i];
        let Some(word) = item.word() else {
            return Err(source
                .error(item.span(), format!("expected a {what}, found a list"))
                .with_help("write `name name - type`"));
        };
        // Some files leave out the blank: `?b -ball`.
        if let Some(t) = word.strip_prefix('-').filter(|t| !t.is_empty()) {
            let types = vec![(t, item.span())];
            groups.push(Group { names: std::mem::take(&mut names), types });
            i += 1;
            continue;
        }
        if word != "-" {
            if word.starts_with(':') {
                return Err(source.error(item.span(), format!("expected a {what}, found `{word}`")));
            }
            names.push((word, item.span()));
            i += 1;
            continue;
        }
        let Some(after) = items.get(i + 1) else {
            return Err(source
                .error(item.span(), "no type after `-`")
                .with_help("write `name - type`, or leave the `-` out"));
        };
        let types = match after {
            Sexp::Word("-", span) => return Err(source.error(*span, "expected a type, found `-`")),
            Sexp::Word(t, span) => vec![(*t, *span)],
            Sexp::List(all, span) => {
                let words: Option<Vec<_>> =
                    all.iter().skip(1).map(|t| t.word().map(|w| (w, t.span()))).collect();
                match words {
                    Some(words)
                        if after.head().is_some_and(|h| h.eq_ignore_ascii_case("either"))
                            && !words.is_empty() =>
                    {
                        words
                    }
                    _ => {
                        return Err(source
                            .error(*span, "a type is a name or `(either type type)`")
                            .with_help("write `name - type` or `name - (either type type)`"));
                    }
                }
            }
        };
        groups.push(Group { names: std::mem::take(&mut names), types });
        i += 2;
    }
    if !names.is_empty() {
        groups.push(Group { names, types: Vec::new() });
    }
    Ok(groups)
}
