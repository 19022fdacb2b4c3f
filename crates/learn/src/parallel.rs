//! Work in chunks on all cores, with results handed over one by one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use derrl_logic::Share;

/// Does every chunk of work on `threads` threads, each with a worker of its own, and calls `done` here with each result as
/// it comes. Stops early once `stop` says so, which is asked ten times a second, or where the [work](derrl_logic::bounded) of this
/// thread is bounded and too much. Work that sees the flag set returns nothing, and its chunk is not done.
pub(crate) fn in_chunks<C: Sync, W, R: Send>(
    chunks: &[C],
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &C, &AtomicBool) -> Option<R> + Sync,
    mut done: impl FnMut(usize, R),
    mut stop: impl FnMut() -> bool,
) {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let share = Share::new();
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(chunks.len()).max(1) {
            let (send, next, stopped, worker, work) = (send.clone(), &next, &stopped, &worker, &work);
            let share = &share;
            scope.spawn(move || {
                let mut worker = worker();
                while !stopped.load(Ordering::Relaxed) {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(chunk) = chunks.get(i) else { break };
                    let result = share.work(|| work(&mut worker, chunk, stopped));
                    if result.is_none() {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    let Some(result) = result.flatten() else { break };
                    // The receiver lives until all threads have ended.
                    let _ = send.send((i, result));
                }
            });
        }
        drop(send);
        loop {
            match receive.recv_timeout(Duration::from_millis(100)) {
                Ok((i, result)) => done(i, result),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if stop() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    });
    share.end();
}

/// The cores of this machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
