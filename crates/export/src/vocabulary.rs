//! Names that a language does not allow, and names that are still free.

use derrl_logic::syntax::Indicator;
use derrl_logic::{Action, Alphabet, Pred};

/// What a program calls the predicates and actions of an alphabet.
#[derive(Clone)]
pub(crate) struct Vocabulary {
    predicates: Vec<String>,
    actions: Vec<String>,
    taken: Vec<String>,
    renamed: Vec<String>,
}

impl Vocabulary {
    /// The names of an alphabet; `predicate` and `action` give another name, by name and arity, where the language does
    /// not allow this one. Different names get different ones.
    pub fn new(
        alphabet: &Alphabet,
        predicate: impl Fn(&str, usize) -> Option<String>,
        action: impl Fn(&str, usize) -> Option<String>,
    ) -> Vocabulary {
        let predicates = alphabet.predicates.iter().map(|p| (p.name.as_str(), p.args.len()));
        let actions = alphabet.actions.iter().map(|a| (a.name.as_str(), a.arity()));
        let all = predicates.clone().map(|(n, _)| n).chain(actions.clone().map(|(n, _)| n));
        let mut vocabulary = Vocabulary {
            predicates: Vec::new(),
            actions: Vec::new(),
            taken: all.map(str::to_string).collect(),
            renamed: Vec::new(),
        };
        for (name, arity) in predicates {
            let name = vocabulary.spell(name, arity, predicate(name, arity));
            vocabulary.predicates.push(name);
        }
        for (name, arity) in actions {
            let name = vocabulary.spell(name, arity, action(name, arity));
            vocabulary.actions.push(name);
        }
        vocabulary
    }

    fn spell(&mut self, name: &str, arity: usize, replaced: Option<String>) -> String {
        let Some(wanted) = replaced else { return name.to_string() };
        let renamed = format!("{} is called {wanted} here", Indicator(name, arity));
        if !self.renamed.contains(&renamed) {
            self.renamed.push(renamed);
        }
        self.taken.push(wanted.clone());
        wanted
    }

    /// A name that the alphabet does not use: the one wanted, or that with underscores.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        while self.taken.contains(&name) {
            name.push('_');
        }
        self.taken.push(name.clone());
        name
    }

    pub fn predicate(&self, p: Pred) -> &str {
        &self.predicates[p.0 as usize]
    }

    pub fn action(&self, a: Action) -> &str {
        &self.actions[a.0 as usize]
    }

    /// What a header says about changed names.
    pub fn notes(&self) -> String {
        if self.renamed.is_empty() {
            return String::new();
        }
        format!("\nNames that this language keeps for itself: {}.\n", self.renamed.join("; "))
    }
}

/// Another name for one that a language keeps for itself: an underscore longer. Names that look like the result, such as
/// `call_`, get one more too, so that no two names become the same.
pub(crate) fn avoid(name: &str, reserved: impl Fn(&str) -> bool) -> Option<String> {
    reserved(name.trim_end_matches('_')).then(|| format!("{name}_"))
}
