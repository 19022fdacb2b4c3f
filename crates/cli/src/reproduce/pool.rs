//! Runs jobs on all cores, shows how far they are, and stops on Ctrl-C without losing what is finished.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use derrl_learn::{Observer, Point};
use derrl_reproduce::job::{Finished, Job, Purpose, Results, Store};
use indicatif::ProgressBar;

use crate::progress::{bar, interrupted};
use crate::say;

/// About how many microseconds a decision of each agent takes, for the time left; measured on blocks.
const COSTS: [(&str, f64); 5] =
    [("derrl", 2.0), ("nlrl", 110.0), ("gcn", 25.0), ("mlp", 9.0), ("random", 0.0)];
/// What a job takes beside training, in microseconds: mostly scores.
const OVERHEAD: f64 = 50_000.0;

fn cost(job: &Job) -> f64 {
    let decision = COSTS.iter().find(|(name, _)| *name == job.agent).map_or(10.0, |c| c.1);
    let world = if job.domain == "traffic" { 2000.0 } else { 0.0 };
    OVERHEAD + (decision + world) * job.decisions as f64
}

/// The results of all jobs, each run once and kept in the store; `None` if interrupted. Times are measured at the end,
/// one after the other.
pub fn run(jobs: Vec<Job>, store: &Store, threads: usize) -> anyhow::Result<Option<Results>> {
    let mut results = Results::default();
    let mut left: Vec<Job> = Vec::new();
    for job in jobs {
        if results.of(&job).is_some() || left.contains(&job) {
            continue;
        }
        match store.find(&job)? {
            Some(finished) => results.add(finished)?,
            None => left.push(job),
        }
    }
    let (timed, mut scored): (Vec<Job>, Vec<Job>) =
        left.into_iter().partition(|j| j.purpose == Purpose::Time);
    // The longest first, so that cores are busy to the end.
    scored.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    let progress = Progress::new(scored.iter().chain(&timed));
    let state = Mutex::new(State { queue: scored.into(), results, error: None });
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| work(&state, store, &progress));
        }
    });
    state.lock().unwrap_or_else(PoisonError::into_inner).queue = timed.into();
    work(&state, store, &progress);
    progress.bar.finish_and_clear();
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.error {
        Some(error) => Err(error),
        None if interrupted() => Ok(None),
        None => Ok(Some(state.results)),
    }
}

struct State {
    queue: VecDeque<Job>,
    results: Results,
    error: Option<anyhow::Error>,
}

fn work(state: &Mutex<State>, store: &Store, progress: &Progress) {
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let job = {
            let mut state = lock();
            if interrupted() || state.error.is_some() {
                return;
            }
            let Some(job) = state.queue.pop_front() else { return };
            job
        };
        let watch = Watch { progress, job: &job, seen: Mutex::default() };
        let done = match job.purpose {
            Purpose::Score => job.run(&watch),
            Purpose::Time => job.time(&watch),
        };
        let kept = done.and_then(|finished| {
            let Some(finished) = finished else { return Ok(()) };
            store.keep(&finished)?;
            watch.finished(&finished);
            lock().results.add(finished)
        });
        if let Err(error) = kept {
            let mut state = lock();
            state.error.get_or_insert(error.context(job.name()));
        }
    }
}

struct Progress {
    bar: ProgressBar,
    on_terminal: bool,
    jobs: usize,
    total: f64,
    start: Instant,
    /// Jobs and cost done so far.
    done: Mutex<(usize, f64)>,
}

impl Progress {
    fn new<'j>(jobs: impl Iterator<Item = &'j Job>) -> Progress {
        let costs: Vec<f64> = jobs.map(cost).collect();
        let (bar, on_terminal) = bar(1000, "{bar:30} {percent}%  {msg}");
        Progress {
            bar,
            on_terminal,
            jobs: costs.len(),
            total: costs.iter().sum::<f64>().max(1.0),
            start: Instant::now(),
            done: Mutex::new((0, 0.0)),
        }
    }

    /// Notes what was done, and says how far it is.
    fn advance(&self, jobs: usize, cost: f64, what: &str) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done = (done.0 + jobs, done.1 + cost);
        let share = (done.1 / self.total).clamp(0.0, 1.0);
        let elapsed = self.start.elapsed();
        let left = if share > 0.001 { show(elapsed.mul_f64((1.0 - share) / share)) } else { "?".to_string() };
        let count = format!("{} of {} runs", done.0, self.jobs);
        if self.on_terminal {
            self.bar.set_position((1000.0 * share) as u64);
            self.bar.set_message(format!("{count}  {}, about {left} left", show(elapsed)));
        } else if jobs > 0 {
            say!("{count}: {what}; about {left} left");
        }
    }
}

/// A duration, roughly.
fn show(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..=90 => format!("{s} s"),
        s @ 91..=5400 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

/// Follows one job.
struct Watch<'a> {
    progress: &'a Progress,
    job: &'a Job,
    /// Decisions of the current restart so far, and cost told to the progress so far.
    seen: Mutex<(u64, f64)>,
}

impl Watch<'_> {
    fn finished(&self, finished: &Finished) {
        let told = self.seen.lock().unwrap_or_else(PoisonError::into_inner).1;
        let what = format!("{}: {:.1} s", self.job.name(), finished.seconds);
        self.progress.advance(1, cost(self.job) - told, &what);
    }
}

impl Observer for Watch<'_> {
    fn point(&self, point: &Point) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // A count that falls is that of the next restart.
        let more = if point.decisions >= seen.0 { point.decisions - seen.0 } else { point.decisions };
        let share = more as f64 / self.job.decisions.max(1) as f64;
        let all = cost(self.job);
        let told = (share * (all - OVERHEAD)).min(all - seen.1).max(0.0);
        *seen = (point.decisions, seen.1 + told);
        drop(seen);
        self.progress.advance(0, told, "");
    }

    fn interrupted(&self) -> bool {
        interrupted()
    }
}
