//! Lists that are drawn, changed, or fitted to what came of trying actions.

use derrl_env::Rng;

use crate::error::Error;
use crate::learner::draw::Drawer;
use crate::learner::labelled;
use crate::learner::limits::{FROM_BEST, KEPT_STATES, NEXT_PARENT};
use crate::learner::list::RuleList;
use crate::learner::origin::Origin;
use crate::learner::run::Run;
use crate::learner::trying::labels;
use crate::learner::vocabulary::Vocabulary;
use crate::learner::words::Words;

impl Run<'_> {
    /// Races a list drawn from nothing.
    pub(in crate::learner) fn draw_list(&mut self) -> Result<(), Error> {
        let words = self.record.words.clone();
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "its lifetimes are those of the closure"
        )]
        let list = self.draw(&words, |drawer, rng| drawer.list(rng));
        self.challenge(RuleList { words, ..list }, Origin::Drawn)
    }

    /// Races a changed one of the best lists.
    pub(in crate::learner) fn change_list(&mut self) -> Result<(), Error> {
        let parent = self.parent();
        let words = Words { sums: self.record.words.sums, ..parent.words.clone() };
        let list = self.draw(&words, |drawer, rng| drawer.changed(&parent, rng));
        self.challenge(RuleList { words, ..list }, Origin::Drawn)
    }

    /// Lists made of what is known.
    pub(super) fn draw<T>(&mut self, words: &Words, make: impl Fn(&Drawer<'_>, &mut Rng) -> T) -> T {
        let alphabet = self.lexicon.alphabet(words);
        let vocabulary = Vocabulary::new(&alphabet, words, &self.record.seen);
        let alike = self.record.elites.iter().filter(|e| e.list.words.invented == words.invented);
        let lists: Vec<&RuleList> = alike.map(|e| &e.list).collect();
        make(&Drawer { vocabulary, lists: &lists }, &mut self.rng)
    }

    /// One of the best lists, the best ones more often.
    fn parent(&mut self) -> RuleList {
        let mut at = 0;
        while at + 1 < self.record.elites.len() && self.rng.unit() < NEXT_PARENT {
            at += 1;
        }
        self.record.elites.get(at).map(|e| e.list.clone()).unwrap_or_default()
    }

    /// Tries actions in states that one of the best lists comes to, and races lists that fit what came of it.
    pub(in crate::learner) fn try_actions(&mut self) -> Result<(), Error> {
        let parent =
            if self.rng.unit() < FROM_BEST { self.record.elites[0].list.clone() } else { self.parent() };
        let sizes = self.terms.compared(&self.record).max(1);
        let Some(new) = labels(&mut self.world, &parent, (&self.lexicon, sizes), &mut self.rng)? else {
            self.record.can_try = false;
            return Ok(());
        };
        self.record.labels.extend(new);
        let extra = self.record.labels.len().saturating_sub(KEPT_STATES);
        self.record.labels.drain(..extra);
        let (lists, looked) =
            labelled::lists(&self.record, &parent, &self.lexicon, &mut self.rng, self.stop)?;
        self.world.ledger.think(looked);
        for list in lists {
            self.challenge(list, Origin::Improvement)?;
        }
        Ok(())
    }
}
