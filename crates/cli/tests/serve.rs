//! `derrl serve`, attacked: other origins, missing tokens, paths that lead out, huge and slow requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
        let mut child = command
            .args(["serve", "."])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("a loopback address").to_string();
        let (port, token) = rest.split_once('/').expect("a path");
        let (port, token) = (port.parse().expect("a port"), token.trim_end_matches('/').to_string());
        Server { child, port, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        stream
    }

    fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        reply(&mut stream)
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        let length = body.len();
        let text =
            format!("{method} {path} HTTP/1.1\r\n{host}{headers}Content-Length: {length}\r\n\r\n{body}");
        self.raw(text.as_bytes())
    }

    fn get(&self, place: &str) -> Reply {
        self.ask("GET", &format!("/{}/{place}", self.token), "", "")
    }

    fn attempt(&self, policy: &str) -> Reply {
        let body = json!({ "run": "run", "policy": policy }).to_string();
        self.ask("POST", &format!("/{}/try", self.token), "", &body)
    }
}

fn reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_string(), body: body.to_string() }
}

/// A folder with a small finished run in it, and beside it a file that nobody may read.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("site")).expect("a folder");
    std::fs::write(folder.path().join("secret"), "secret").expect("a file");
    let settings = ["updates=20", "restarts=1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder.path()).args([
        "train",
        "blocks",
        "--out",
        "site/run",
        "--episodes",
        "5",
        "--quiet",
    ]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    let output = command.stdin(Stdio::null()).output().expect("training starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

const GOOD: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";

#[test]
fn it_serves_those_who_know_the_token_and_withstands_the_others() {
    let folder = folder();
    let site = folder.path().join("site");
    let before = listing(&site);
    let mut server = Server::start(&site);
    let token = server.token.clone();
    assert_eq!(token.len(), 32, "128 random bits");

    // What it is for.
    let page = server.get("");
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("connect-src 'self'")
            && page.head.contains("nosniff")
            && page.head.contains("DENY")
    );
    let runs: Value = serde_json::from_str(&server.get("runs.json").body).expect("JSON");
    assert_eq!((&runs["runs"][0]["label"], &runs["runs"][0]["finished"]), (&json!("run"), &json!(true)));
    assert!(server.get("page?run=run").body.contains("id=\"data\""));
    assert!(server.get("playground?run=run").body.contains("move(X, Y)"));
    let tried: Value = serde_json::from_str(&server.attempt(GOOD).body).expect("JSON");
    assert_eq!(tried["verification"]["verdict"], "proved");
    assert_eq!(tried["rules"].as_array().map(Vec::len), Some(2));
    assert!(tried["scores"][0]["score"]["mean"].as_f64().is_some_and(|mean| mean > 0.9));
    let other: Value =
        serde_json::from_str(&server.attempt("move(X, Y) :- top(X), isFloor(Y).\n").body).expect("JSON");
    assert_eq!(other["difference"]["state"], "different");
    assert_eq!(other["verification"]["verdict"], "refuted");
    let broken = server.attempt("move(X, Y) :- topp(X).\n");
    let error: Value = serde_json::from_str(&broken.body).expect("JSON");
    assert_eq!(
        (broken.status, &error["error"]["line"], &error["error"]["column"]),
        (422, &json!(1), &json!(15))
    );

    // No token, a wrong one, part of one.
    for path in
        ["/", "/runs.json", "//", "/x/", &format!("/{}/", "0".repeat(32)), &format!("/{}/", &token[..31])]
    {
        assert_eq!(server.ask("GET", path, "", "").status, 404, "{path}");
    }
    // Other hosts (a rebound name) and other origins.
    let get = format!("GET /{token}/runs.json HTTP/1.1\r\n");
    assert_eq!(server.raw(format!("{get}Host: evil.example\r\n\r\n").as_bytes()).status, 403);
    assert_eq!(server.raw(format!("{get}\r\n").as_bytes()).status, 403, "no host at all");
    for header in ["Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        assert_eq!(server.ask("GET", &format!("/{token}/runs.json"), header, "").status, 403, "{header}");
        assert_eq!(server.ask("POST", &format!("/{token}/try"), header, "{}").status, 403, "{header}");
    }
    // Paths that lead out.
    for place in [
        "../secret",
        "..%2fsecret",
        "page?run=../secret",
        "page?run=..%2F..%2Fsecret",
        "page?run=/etc",
        "run/policy.pl",
    ] {
        let reply = server.get(place);
        assert!(reply.status == 404 && !reply.body.contains("secret\n"), "{place}: {}", reply.status);
    }
    // Other methods, other documents.
    assert_eq!(server.ask("PUT", &format!("/{token}/try"), "", "{}").status, 405);
    assert_eq!(server.ask("DELETE", &format!("/{token}/"), "", "").status, 405);
    assert_eq!(server.ask("POST", &format!("/{token}/try"), "", "{\"run\": 1}").status, 400);
    assert_eq!(server.raw(b"\x16\x03\x01\x00\xff not http\r\n\r\n").status, 400);
    // Huge ones.
    let long = format!(
        "POST /{token}/try HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 99999999999\r\n\r\n",
        server.port
    );
    assert_eq!(server.raw(long.as_bytes()).status, 413);
    let header = format!("GET /{token}/ HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    assert_eq!(server.raw(header.as_bytes()).status, 431);
    assert_eq!(server.attempt(&"move(X, Y) :- top(X).\n".repeat(2_000)).status, 422, "too long to try");
    assert_eq!(server.attempt(&"move(X, Y) :- top(X).\n".repeat(60)).status, 422, "too many rules");
    let chain: Vec<String> = (0..12).map(|i| format!("on(V{i}, V{})", i + 1)).collect();
    let wide = format!("move(X, Y) :- top(X), {}.\n", chain.join(", "));
    let refused = server.attempt(&wide);
    assert!(refused.status == 422 && refused.body.contains("too many variables"), "{}", refused.body);
    // A definition whose instances would fill the memory, and a text that would fill a book.
    let names: Vec<String> = ('A'..='H').map(String::from).collect();
    let tops: Vec<String> = names.iter().map(|name| format!("top({name})")).collect();
    let types = vec!["block"; names.len()].join(", ");
    let (head, body) = (names.join(", "), tops.join(", "));
    let bomb = format!(":- derived(p({types})).\np({head}) :- {body}.\nmove(A, B) :- p({head}).\n");
    let refused = server.attempt(&bomb);
    assert!(refused.status == 422 && refused.body.contains("too many variables"), "{}", refused.body);
    let book = format!("move(X, Y) :- {}.\n", vec!["top(X)"; 100_000].join(", "));
    assert_eq!(server.attempt(&book).status, 413);
    // Headers that say two things.
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
    assert_eq!(server.raw(format!("{get}{host}Host: evil.example\r\n\r\n").as_bytes()).status, 400);
    // Slow ones: each is given up, and meanwhile others are served.
    let mut slow: Vec<TcpStream> = (0..10).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HT").expect("a slow request begins");
    }
    assert_eq!(server.get("runs.json").status, 200);
    let started = Instant::now();
    assert_eq!(reply(&mut slow[0]).status, 408);
    assert!(started.elapsed() < Duration::from_secs(20));
    drop(slow);

    assert_eq!(listing(&site), before, "nothing was written");
    // A run that goes away and comes back; connections that stay open to the end.
    let (here, elsewhere) = (site.join("run"), folder.path().join("elsewhere"));
    std::fs::rename(&here, &elsewhere).expect("it can be moved");
    assert_eq!(server.get("runs.json").body, "{\"runs\":[]}");
    assert_eq!(server.get("page?run=run").status, 404);
    std::fs::rename(&elsewhere, &here).expect("it can be moved back");
    assert_eq!(server.get("page?run=run").status, 200);
    let open: Vec<TcpStream> = (0..40).map(|_| server.connect()).collect();
    end_cleanly(&mut server);
    drop(open);
}

/// All files below a folder, with their sizes.
fn listing(folder: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(listing(&path));
        } else {
            found.push((path.display().to_string(), entry.metadata().expect("a file").len()));
        }
    }
    found.sort();
    found
}

#[cfg(unix)]
fn end_cleanly(server: &mut Server) {
    let id = server.child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status().expect("kill runs");
    assert!(killed.success());
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        if let Some(status) = server.child.try_wait().expect("its status") {
            assert!(status.success(), "Ctrl-C is how it ends: {status}");
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it does not end");
}

#[cfg(not(unix))]
fn end_cleanly(_server: &mut Server) {}

#[test]
fn a_missing_folder_is_called_missing() {
    let folder = TempDir::new().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    let output = command.args(["serve", "nowhere"]).current_dir(folder.path()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the folder nowhere is missing"));
}

/// Whoever connects and says nothing keeps nobody from being answered, and of many requests at once each gets an answer.
#[test]
fn crowds_are_answered() {
    let folder = TempDir::new().expect("a temporary folder");
    let server = Server::start(folder.path());
    let idle: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let begun = Instant::now();
    assert_eq!(server.get("runs.json").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    drop(idle);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..400).map(|_| scope.spawn(|| server.get("runs.json").status)).collect();
        asked.into_iter().map(|one| one.join().expect("it ends")).collect()
    });
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200));
}

/// Definitions that are cheap one by one are refused where they are too much together.
#[test]
fn many_definitions_at_once_are_refused() {
    let folder = folder();
    let server = Server::start(&folder.path().join("site"));
    let chain: Vec<String> = (1..100).map(|i| format!(":- closure(above{i}, above{}).\n", i - 1)).collect();
    let policy = format!(":- closure(above0, on).\n{}1.00::move(X, Y) :- above99(X, Y).\n", chain.concat());
    let begun = Instant::now();
    let reply = server.attempt(&policy);
    assert_eq!(reply.status, 422, "{}", reply.body);
    assert!(reply.body.contains("too many variables"), "{}", reply.body);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
