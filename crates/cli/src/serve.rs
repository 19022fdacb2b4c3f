//! `derrl serve`: the pages, live, for the person at this machine.
//!
//! | file | holds |
//! |---|---|
//! | `serve.rs` | the command: where it listens, when it ends |
//! | `serve/http.rs` | requests and answers, with limits |
//! | `serve/examples.rs` | runs to look at where there are none |
//! | `serve/site.rs` | who may ask, and what is where |
//! | `serve/playground.rs` | an edited policy: acting, scored, verified, compared |
//!
//! It listens on the loopback address only, under a path with a random token, and writes nothing.

mod examples;
mod http;
mod playground;
mod site;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};

use examples::Examples;
use http::Request;
use site::Site;

use crate::args::Serve;
use crate::failure::Outcome;
use crate::output::print;
use crate::progress::{catch_interrupts, interrupted};
use crate::say;

/// The folder that is served where none is named.
const RUNS: &str = "runs";
/// Connections at the same time, at the most. Most of them wait for their request, which takes a thread but no work.
const MOST_CONNECTIONS: usize = 1024;
/// Requests that are answered at the same time, at the most: a browser sends six.
const MOST_ANSWERS: usize = 64;
/// How often the listener looks whether Ctrl-C was pressed.
const NAP: Duration = Duration::from_millis(30);

/// Serves the runs of a folder until Ctrl-C.
pub fn run(args: &Serve) -> Outcome {
    let examples =
        if args.folder.is_none() && !Path::new(RUNS).is_dir() { Some(Examples::new()?) } else { None };
    let folder = match (&args.folder, &examples) {
        (Some(folder), _) => folder.as_path(),
        (None, Some(examples)) => examples.folder(),
        (None, None) => Path::new(RUNS),
    };
    if !folder.is_dir() {
        let problem = if folder.exists() { "is a file" } else { "is missing" };
        return Err(anyhow::anyhow!("the folder {} {problem}", folder.display()).into());
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .with_context(|| format!("cannot listen on port {}", args.port))?;
    let port = listener.local_addr()?.port();
    listener.set_nonblocking(true)?;
    let token = token()?;
    let site = Arc::new(Site::new(folder, &token, port));
    catch_interrupts();
    print(&format!("http://127.0.0.1:{port}/{token}/\n"));
    match &examples {
        None => say!("serving {} to this machine only; Ctrl-C ends it", folder.display()),
        Some(_) => {
            say!(
                "there is no folder `{RUNS}`: training examples to look at; Ctrl-C ends it and deletes them"
            );
        }
    }
    let (open, busy) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    while !interrupted() {
        match listener.accept() {
            Ok((stream, _)) => answer(stream, &site, &open, &busy),
            Err(_) => std::thread::sleep(NAP),
        }
    }
    // What is under way may end; nobody waits for those who do not read.
    for _ in 0..20 {
        if open.load(Ordering::SeqCst) == 0 {
            break;
        }
        std::thread::sleep(NAP);
    }
    say!("ended");
    Ok(())
}

/// Answers one request on a thread of its own. Whoever connects and sends nothing holds up nobody: only requests that have
/// come are counted as work, and one too many is told so.
fn answer(mut stream: TcpStream, site: &Arc<Site>, open: &Arc<AtomicUsize>, busy: &Arc<AtomicUsize>) {
    let place = Place::take(open);
    if place.number >= MOST_CONNECTIONS {
        return;
    }
    let (site, busy) = (Arc::clone(site), Arc::clone(busy));
    let work = move || {
        let _held = place;
        let request = match Request::read(&mut stream) {
            Ok(request) => request,
            Err(refusal) => return http::refuse(&mut stream, refusal.status, refusal.reason),
        };
        let place = Place::take(&busy);
        if place.number >= MOST_ANSWERS {
            drop(place);
            return http::refuse(&mut stream, 503, "too many requests at once");
        }
        let answer = site.answer(&request);
        // How long it takes to be read is the reader's affair.
        drop(place);
        http::send(&mut stream, &answer);
    };
    // Where there is no thread to be had, the connection ends without an answer.
    let _ = std::thread::Builder::new().name("derrl-serve".to_string()).spawn(work);
}

/// One of the connections; it is given back whatever happens to the thread that holds it.
struct Place {
    open: Arc<AtomicUsize>,
    /// How many were taken before.
    number: usize,
}

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Place {
        let number = open.fetch_add(1, Ordering::SeqCst);
        Place { open: Arc::clone(open), number }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A name that cannot be guessed: 128 random bits.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0u8; 16];
    if getrandom::fill(&mut bytes).is_err() {
        bail!("this machine gives no random numbers, without which the address could be guessed");
    }
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
