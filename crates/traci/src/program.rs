//! Runs a program to its end, within a time limit, and keeps what it says.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// As much of a program's output as is kept: the end of it, where errors are.
const KEPT: usize = 16 << 10;

/// What a program said, and whether it ended well.
#[derive(Debug)]
pub(crate) struct Output {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program to its end; the error says why it did not reach the goal.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Output, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("cannot be run: {e}"))?;
    let stdout = Capture::of(child.stdout.take());
    let stderr = Capture::of(child.stderr.take());
    let status = wait(&mut child, limit);
    if !matches!(status, Ok(Some(_))) {
        // Best effort: it may have ended in between.
        let _ = child.kill();
        let _ = child.wait();
    }
    match status {
        Ok(Some(status)) => {
            Ok(Output { success: status.success(), stdout: stdout.finish(), stderr: stderr.finish() })
        }
        Ok(None) => Err(format!("did not end within {} s", limit.as_secs_f64())),
        Err(e) => Err(format!("cannot be waited for: {e}")),
    }
}

/// Waits for a child to end, at most for `limit`.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<std::process::ExitStatus>> {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// The last bytes of a stream, read by a thread of its own so that the writer never blocks on a full pipe.
#[derive(Debug)]
pub(crate) struct Capture {
    kept: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Capture {
    /// Starts to read; the thread ends when the stream does.
    pub fn of(stream: Option<impl Read + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let thread = stream.map(|mut stream| {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || {
                let mut chunk = [0; 4096];
                while let Ok(n @ 1..) = stream.read(&mut chunk) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend(&chunk[..n]);
                    let excess = kept.len().saturating_sub(KEPT);
                    kept.drain(..excess);
                }
            })
        });
        Self { kept, thread }
    }

    /// What came so far.
    pub fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// What came to the end of the stream; waits for it, but not long, because a grandchild may keep it open.
    pub fn finish(&self) -> String {
        let deadline = Instant::now() + Duration::from_millis(500);
        while self.thread.as_ref().is_some_and(|t| !t.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.so_far()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Result<Output, String> {
        run(Command::new("sh").args(["-c", script]), limit)
    }

    #[test]
    fn both_streams_and_the_end_are_told() {
        let output = sh("echo out; echo err >&2; exit 3", Duration::from_secs(10)).unwrap();
        assert!(!output.success);
        assert_eq!((output.stdout.trim(), output.stderr.trim()), ("out", "err"));
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let started = Instant::now();
        let error = sh("exec sleep 60", Duration::from_millis(100)).unwrap_err();
        assert_eq!(error, "did not end within 0.1 s");
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_chatty_program_neither_blocks_nor_fills_memory() {
        let output = sh("seq 1 200000", Duration::from_secs(30)).unwrap();
        assert!(output.stdout.len() <= KEPT);
        assert!(output.stdout.ends_with("199999\n200000\n"));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(run(&mut Command::new("/no/such/program"), Duration::from_secs(1)).is_err());
    }
}
