//! Requests and answers: one request per connection, with limits on its size and its time.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes of a request line and its headers, and of what follows, at the most.
const MOST_HEAD: usize = 16 * 1024;
const MOST_BODY: usize = 128 * 1024;
/// Headers at the most.
const MOST_HEADERS: usize = 64;
/// How long a whole request may take to arrive, and an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes that are written at once: between two pieces the time is looked at.
const PIECE: usize = 64 * 1024;
/// How long what is sent after an answer is taken.
const GRACE: Duration = Duration::from_millis(200);

/// What was asked.
#[derive(Debug)]
pub struct Request {
    /// `GET`, `POST`.
    pub method: String,
    /// The path and the query, as sent.
    pub target: String,
    /// The headers, their names in small letters.
    headers: Vec<(String, String)>,
    /// What was sent along.
    pub body: Vec<u8>,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of HTTP.
    pub status: u16,
    /// In words.
    pub reason: &'static str,
}

const fn refusal(status: u16, reason: &'static str) -> Refusal {
    Refusal { status, reason }
}

impl Request {
    /// Reads one request. Whoever is too slow, sends too much or does not speak HTTP is refused.
    pub fn read(stream: &mut TcpStream) -> Result<Request, Refusal> {
        let started = Instant::now();
        let mut bytes = Vec::new();
        let (mut request, head) = loop {
            if let Some(found) = Request::parse(&bytes)? {
                break found;
            }
            if bytes.len() > MOST_HEAD {
                return Err(refusal(431, "the headers are too long"));
            }
            more(stream, &mut bytes, started)?;
        };
        // Who reads the first and who reads the last would see different requests.
        let twice = |name: &str| request.headers.iter().filter(|h| h.0 == name).count() > 1;
        if ["host", "origin", "content-length"].into_iter().any(twice) {
            return Err(refusal(400, "a header is there twice"));
        }
        if request.header("transfer-encoding").is_some() {
            return Err(refusal(411, "say how long the request is"));
        }
        let length = match request.header("content-length") {
            None => 0,
            Some(text) => text.parse::<usize>().map_err(|_| refusal(400, "the length is no number"))?,
        };
        if length > MOST_BODY {
            return Err(refusal(413, "the request is too long"));
        }
        while bytes.len() < head + length {
            more(stream, &mut bytes, started)?;
        }
        request.body = bytes[head..head + length].to_vec();
        Ok(request)
    }

    /// The request without its body, and where the body begins; none while headers are missing.
    fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let Ok(status) = parsed.parse(bytes) else { return Err(refusal(400, "this is no HTTP request")) };
        let httparse::Status::Complete(head) = status else { return Ok(None) };
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let request = Request {
            method: parsed.method.unwrap_or_default().to_string(),
            target: parsed.path.unwrap_or_default().to_string(),
            headers: parsed.headers.iter().map(|h| (h.name.to_ascii_lowercase(), text(h.value))).collect(),
            body: Vec::new(),
        };
        Ok(Some((request, head)))
    }

    /// A header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|h| h.0 == name).map(|h| h.1.trim())
    }
}

/// Waits for more of a request, within the time that is left for it.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, started: Instant) -> Result<(), Refusal> {
    const LATE: Refusal = refusal(408, "the request took too long");
    let left = PATIENCE.checked_sub(started.elapsed()).filter(|left| !left.is_zero()).ok_or(LATE)?;
    stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(left))).map_err(|_| LATE)?;
    let mut buffer = [0u8; 8 * 1024];
    match stream.read(&mut buffer) {
        Ok(0) => Err(refusal(400, "the request breaks off")),
        Ok(count) => {
            bytes.extend_from_slice(&buffer[..count]);
            Ok(())
        }
        Err(_) => Err(LATE),
    }
}

/// What is sent back.
#[derive(Debug)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// `text/html` and the like.
    pub kind: &'static str,
    /// What it holds.
    pub body: Vec<u8>,
}

impl Answer {
    /// A refusal in words.
    pub fn refused(status: u16, reason: &str) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body: format!("{reason}\n").into_bytes() }
    }
}

fn words(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// Sends an answer. Whoever does not take it in time does not get it.
pub fn send(stream: &mut TcpStream, answer: &Answer) {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\r\n",
        answer.status,
        words(answer.status),
        answer.kind,
        answer.body.len()
    );
    let end = Instant::now() + PATIENCE;
    let _ = write_until(stream, head.as_bytes(), end)
        .and_then(|()| write_until(stream, &answer.body, end))
        .and_then(|()| stream.shutdown(std::net::Shutdown::Write));
    // What is still coming is taken for a moment, so that the answer is not lost to a reset; not for longer, however it comes.
    let end = Instant::now() + GRACE;
    let mut rest = [0u8; 4096];
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        let read = stream.set_read_timeout(Some(left)).and_then(|()| stream.read(&mut rest));
        if read.map_or(true, |count| count == 0) {
            break;
        }
    }
}

/// Writes all bytes, however slowly they are read, but for no longer than this.
fn write_until(stream: &mut TcpStream, mut bytes: &[u8], end: Instant) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    while !bytes.is_empty() {
        let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        stream.set_write_timeout(Some(left.ok_or(ErrorKind::TimedOut)?))?;
        match stream.write(&bytes[..bytes.len().min(PIECE)])? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// Sends a refusal.
pub fn refuse(stream: &mut TcpStream, status: u16, reason: &str) {
    send(stream, &Answer::refused(status, reason));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn nobody_who_reads_slowly_holds_a_connection() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut reader = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let sip = std::thread::spawn(move || {
            let mut some = vec![0u8; 64 * 1024];
            while reader.read(&mut some).is_ok_and(|count| count > 0) {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let begun = Instant::now();
        let written = write_until(&mut stream, &vec![0; 256 << 20], begun + Duration::from_millis(300));
        assert!(written.is_err() && begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        drop(stream);
        sip.join().unwrap();
    }
}
