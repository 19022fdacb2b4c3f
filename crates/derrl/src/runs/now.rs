//! What runs are doing now, said every second: to whoever listens, and to pages by a file in each folder.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::runs::folder::RunFolder;
pub use crate::runs::so_far::Now;
use crate::runs::so_far::SoFar;

/// Is told every second what is under way.
pub type Clock = Box<dyn Fn(&[Now]) + Send>;

/// What each run is doing; `None` for one that is not under way.
type Runs = Arc<Mutex<Vec<Option<Doing>>>>;

/// What a run is doing.
#[derive(Clone, Debug)]
struct Doing {
    now: Now,
    begun: Instant,
    /// Decisions when this process began with it.
    before: u64,
}

impl Doing {
    fn now(&self) -> Now {
        let seconds = self.begun.elapsed().as_secs_f64();
        let new = self.now.decisions.saturating_sub(self.before);
        let speed = (new > 0 && seconds > 1.0).then(|| new as f64 / seconds);
        Now { seconds, speed, ..self.now.clone() }
    }
}

/// Says every second what the runs in some folders are doing, until it is dropped.
pub struct Heart {
    runs: Runs,
    stops: Arc<AtomicBool>,
    beats: Option<JoinHandle<()>>,
}

/// How often it beats, and how often it looks whether it is to stop.
const BEAT: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(25);

impl Heart {
    /// Says nothing yet: no run has begun.
    pub fn new(folders: &[RunFolder], clock: Option<Clock>) -> Heart {
        let runs: Runs = Arc::new(Mutex::new(vec![None; folders.len()]));
        let stops = Arc::new(AtomicBool::new(false));
        let beats = clock.and_then(|clock| {
            let (runs, stopped, folders) = (Arc::clone(&runs), Arc::clone(&stops), folders.to_vec());
            // Where no thread is to be had, nobody sees a clock.
            let thread = std::thread::Builder::new().name("derrl-clock".to_string());
            thread.spawn(move || beat(&runs, &folders, &clock, &stopped)).ok()
        });
        Heart { runs, stops, beats }
    }

    /// The run at this place is doing this.
    pub fn enters(&self, at: usize, seed: u64, phase: &str, decisions: u64) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Now { seed, ..Now::default() };
        let doing = runs[at].get_or_insert(Doing { now, begun: Instant::now(), before: decisions });
        doing.now.phase = phase.to_string();
        doing.now.decisions = decisions;
    }

    /// It has taken so many decisions, and has this best policy.
    pub fn knows(&self, at: usize, decisions: u64, best: Option<&SoFar>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(doing) = &mut runs[at] {
            doing.now.decisions = decisions;
            doing.now.best = best.cloned();
        }
    }

    /// It is over.
    pub fn ends(&self, at: usize) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)[at] = None;
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::SeqCst);
        if let Some(beats) = self.beats.take() {
            // It ends within a moment, whatever happened to it.
            let _ = beats.join();
        }
    }
}

fn beat(runs: &Runs, folders: &[RunFolder], clock: &Clock, stops: &AtomicBool) {
    let mut next = Instant::now();
    while !stops.load(Ordering::SeqCst) {
        if Instant::now() >= next {
            let doing = runs.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let now: Vec<Option<Now>> = doing.iter().map(|d| d.as_ref().map(Doing::now)).collect();
            for (now, folder) in now.iter().zip(folders) {
                match now {
                    Some(now) => folder.save_now(now),
                    None => folder.forget_now(),
                }
            }
            clock(&now.into_iter().flatten().collect::<Vec<_>>());
            next = Instant::now() + BEAT;
        }
        std::thread::sleep(LOOK);
    }
    folders.iter().for_each(RunFolder::forget_now);
}
