//! Answers to dear questions, kept so that a run that was stopped does not work them out again.
//!
//! A scout, growth and improvement ask a few thousand questions: which rules editing finds, what a policy earns in so many episodes.
//! Some take seconds, and a minute together. All follows from the seed, so a run that is resumed asks the same questions in the same
//! order. What took long is therefore kept by the number of its question. The rest is worked out again: what was explored, for one,
//! which is quickly explored once more and would take much room.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Answers that took less are not kept.
const DEAR: Duration = Duration::from_millis(2);
/// A diary is saved at most this often, and so that saving takes a small share of the time.
const SAVE_EVERY: Duration = Duration::from_secs(1);
const SAVE_SHARE: u32 = 20;

/// The part of a run that a diary belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// A scout, after so many others.
    Scout(u8),
    /// What follows the last restart.
    End,
}

/// The answers of one part of a run so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diary {
    /// The part.
    pub stage: Stage,
    /// By question. Those that were asked on the way to another answer are gone once that is kept.
    answers: Vec<Answer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Answer {
    question: u64,
    /// The question that comes next: questions between were asked on the way.
    next: u64,
    /// What kind of question it was.
    kind: String,
    /// The answer as JSON. Numbers read back as they were, to the last bit.
    text: String,
}

/// Asks questions, and keeps what took long to answer.
pub struct Questions<'a> {
    stop: &'a dyn Fn() -> bool,
    save: Option<&'a dyn Fn(Diary)>,
    state: RefCell<State>,
}

struct State {
    diary: Diary,
    /// How many of the answers were given or made by this process.
    given: usize,
    /// The number of the next question.
    next: u64,
    saved: Instant,
    pause: Duration,
}

impl<'a> Questions<'a> {
    /// Questions whose answers are not kept, asked until `stop` says so.
    pub fn until(stop: &'a dyn Fn() -> bool) -> Questions<'a> {
        let diary = Diary { stage: Stage::End, answers: Vec::new() };
        let state = State { diary, given: 0, next: 0, saved: Instant::now(), pause: SAVE_EVERY };
        Questions { stop, save: None, state: RefCell::new(state) }
    }

    /// The same for a part of a run, answered from its diary as far as that goes; `save` is told about every second.
    #[must_use]
    pub fn kept(self, stage: Stage, diary: Option<Diary>, save: &'a dyn Fn(Diary)) -> Questions<'a> {
        let in_order = |d: &Diary| d.answers.is_sorted_by(|a, b| a.next <= b.question);
        let diary = diary.filter(|d| d.stage == stage && in_order(d));
        self.state.borrow_mut().diary = diary.unwrap_or(Diary { stage, answers: Vec::new() });
        Questions { save: Some(save), ..self }
    }

    /// Whether somebody asks to stop.
    pub fn stopped(&self) -> bool {
        (self.stop)()
    }

    /// The answer to the next question: the one that was kept if it is of this kind and fits, or else worked out. Others may be
    /// asked on the way. An error if somebody asked to stop meanwhile: what was found then may not be the whole answer.
    pub fn ask<A: Serialize + DeserializeOwned>(
        &self,
        kind: &str,
        fits: impl FnOnce(&A) -> bool,
        work: impl FnOnce() -> Result<A, Error>,
    ) -> Result<A, Error> {
        let question = self.state.borrow().next;
        if let Some(known) = self.state.borrow_mut().known(kind, fits) {
            return Ok(known);
        }
        let begun = Instant::now();
        let found = work()?;
        if self.stopped() {
            return Err(Error::Interrupted);
        }
        if self.save.is_some() && begun.elapsed() >= DEAR {
            let text = serde_json::to_string(&found).unwrap_or_default(); // what cannot be read is asked again
            self.state.borrow_mut().keep(question, kind, text);
            let state = self.state.borrow();
            let due = state.saved.elapsed() >= state.pause;
            drop(state);
            if due {
                self.save();
            }
        }
        Ok(found)
    }

    /// Saves what is known now.
    pub fn save(&self) {
        if let Some(save) = self.save {
            let begun = Instant::now();
            let diary = self.state.borrow().diary.clone();
            save(diary);
            let mut state = self.state.borrow_mut();
            state.saved = Instant::now();
            state.pause = SAVE_EVERY.max(begun.elapsed() * SAVE_SHARE);
        }
    }
}

impl State {
    /// The kept answer to the next question. One that does not fit ends the diary: it tells of another run.
    fn known<A: DeserializeOwned>(&mut self, kind: &str, fits: impl FnOnce(&A) -> bool) -> Option<A> {
        let question = self.next;
        self.next = question.saturating_add(1);
        let kept = self.diary.answers.get(self.given).filter(|kept| kept.question <= question)?;
        let right = kept.question == question && kept.kind == kind && kept.next > question;
        let answer = serde_json::from_str(&kept.text).ok().filter(|a| right && fits(a));
        if answer.is_some() {
            self.next = kept.next;
            self.given += 1;
        } else {
            self.diary.answers.truncate(self.given);
        }
        answer
    }

    /// Keeps an answer in the place of those on the way to it.
    fn keep(&mut self, question: u64, kind: &str, text: String) {
        let answer = Answer { question, next: self.next, kind: kind.to_string(), text };
        let at = self.diary.answers.partition_point(|kept| kept.question < question);
        self.diary.answers.splice(at..self.given.max(at), [answer]);
        self.given = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Asks three questions, the second by way of two others. Each that is worked out takes long enough to be kept, and counts.
    fn conversation(questions: &Questions<'_>, worked: &Cell<u32>) -> Result<Vec<f64>, Error> {
        let slow = |answer: f64| {
            worked.set(worked.get() + 1);
            std::thread::sleep(DEAR);
            Ok(answer)
        };
        let first: f64 = questions.ask("one", |_| true, || slow(0.1 + 0.2))?;
        let quick: f64 = questions.ask("quick", |_| true, || Ok(1.0))?;
        let second: f64 = questions.ask(
            "sum",
            |_| true,
            || {
                let a: f64 = questions.ask("one", |_| true, || slow(2.0))?;
                let b: f64 = questions.ask("one", |_| true, || slow(3.0))?;
                Ok(a + b)
            },
        )?;
        let third: f64 = questions.ask("one", |x| *x < 10.0, || slow(4.0))?;
        Ok(vec![first, quick, second, third])
    }

    /// What a conversation says with this diary, how many answers were worked out, and the diary after it.
    fn held(diary: Option<Diary>, stop: &dyn Fn() -> bool) -> (Result<Vec<f64>, Error>, u32, Diary) {
        let (worked, last) = (Cell::new(0), RefCell::new(None));
        let save = |diary: Diary| *last.borrow_mut() = Some(diary);
        let questions = Questions::until(stop).kept(Stage::End, diary, &save);
        let said = conversation(&questions, &worked);
        questions.save();
        let diary = last.take().expect("it was saved just now");
        // As a file has it.
        let text = serde_json::to_string(&diary).expect("a diary is plain text");
        (said, worked.get(), serde_json::from_str(&text).expect("it reads back"))
    }

    #[test]
    fn what_is_kept_is_not_worked_out_again() {
        let (said, worked, whole) = held(None, &|| false);
        assert_eq!(worked, 4);
        let kept: Vec<(u64, u64)> = whole.answers.iter().map(|a| (a.question, a.next)).collect();
        assert_eq!(kept, [(0, 1), (2, 5), (5, 6)], "those on the way to the sum are gone");
        assert_eq!(held(Some(whole.clone()), &|| false), (said.clone(), 0, whole.clone()));
        // Stopped at any moment, and resumed.
        for moment in 0..6 {
            let asked = Cell::new(0);
            let stop = || asked.replace(asked.get() + 1) >= moment;
            let (stopped, before, diary) = held(None, &stop);
            assert_eq!(stopped, Err(Error::Interrupted));
            let (again, after, ended) = held(Some(diary), &|| false);
            assert_eq!(again, said);
            assert!(before + after <= 5, "stopped at {moment}, {before} and {after} were worked out");
            assert_eq!(ended.answers.last(), whole.answers.last());
        }
    }

    type Damage = fn(&mut Diary);

    #[test]
    fn what_does_not_fit_is_worked_out_from_there_on() {
        let (said, _, whole) = held(None, &|| false);
        let damages: [(Damage, u32); 7] = [
            (|d| d.stage = Stage::Scout(0), 4),
            (|d| d.answers[0].kind = "another".to_string(), 4),
            (|d| d.answers[0].text = "no number".to_string(), 4),
            (|d| d.answers[1].next = 0, 3),
            (|d| d.answers[1].question = 1, 3),
            (|d| d.answers[2].text = "1000.0".to_string(), 1),
            (|d| d.answers.reverse(), 4),
        ];
        for (i, (damage, worked)) in damages.into_iter().enumerate() {
            let mut diary = whole.clone();
            damage(&mut diary);
            assert_eq!(held(Some(diary), &|| false), (said.clone(), worked, whole.clone()), "damage {i}");
        }
    }
}
