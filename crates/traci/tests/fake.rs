//! Servers that misbehave: the client must end with an error that says so, in time, and never panic.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use derrl_traci::{Batch, Client, Domain, Error, Fault, Variable};

const TIMEOUT: Duration = Duration::from_millis(500);

/// A server for one client, which does with it what `serve` says.
fn server(serve: impl FnOnce(TcpStream) + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (address, std::thread::spawn(move || serve(listener.accept().unwrap().0)))
}

/// Reads one message and returns it.
fn receive(stream: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut body = vec![0; u32::from_be_bytes(header) as usize - 4];
    stream.read_exact(&mut body).unwrap();
    body
}

/// The answer to a step without subscriptions.
fn stepped() -> Vec<u8> {
    vec![0, 0, 0, 15, 7, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// Steps well to second 5, then asks for second 6, of which the server thinks something up.
fn sixth_step(bytes: &'static [u8], then_hang: bool) -> (Error, Duration) {
    let (address, server) = server(move |mut stream| {
        for _ in 0..5 {
            receive(&mut stream);
            stream.write_all(&stepped()).unwrap();
        }
        receive(&mut stream);
        // The client may be gone before all is written.
        let _ = stream.write_all(bytes);
        if then_hang {
            let _ = stream.read(&mut [0]);
        }
    });
    let mut client = Client::connect(address, TIMEOUT).unwrap();
    for second in 1..=5 {
        assert_eq!(client.step_to(Batch::new(), second).unwrap(), []);
    }
    let started = Instant::now();
    let error = client.step_to(Batch::new(), 6).unwrap_err();
    let elapsed = started.elapsed();
    assert!(error.to_string().contains("at step 5 (simulating to step 6)"), "{error}");
    // Once out of step, always out of step: no later call waits or trusts what comes.
    let again = client.get(Domain::Lane, Variable::HALTING, "a_0").unwrap_err();
    assert!(matches!(again, Error::Simulator { fault: Fault::Closed, .. }), "{again}");
    drop(client);
    server.join().unwrap();
    (error, elapsed)
}

fn fault(error: Error) -> Fault {
    if let Error::Simulator { fault, .. } = error { fault } else { panic!("{error}") }
}

#[test]
fn a_server_that_closes_is_told_from_one_that_hangs() {
    assert!(matches!(fault(sixth_step(&[], false).0), Fault::Closed));
    let (error, elapsed) = sixth_step(&[], true);
    assert!(matches!(fault(error), Fault::TimedOut(t) if t == TIMEOUT));
    assert!(elapsed >= TIMEOUT && elapsed < TIMEOUT * 20, "{elapsed:?}");
}

#[test]
fn half_an_answer_is_no_answer() {
    assert!(matches!(fault(sixth_step(&[0, 0], false).0), Fault::Closed));
    assert!(matches!(fault(sixth_step(&[0, 0, 0, 15, 7, 2], false).0), Fault::Closed));
    assert!(matches!(fault(sixth_step(&[0, 0, 0, 15, 7, 2], true).0), Fault::TimedOut(_)));
}

#[test]
fn garbage_is_called_garbage() {
    for bytes in [
        // A web server.
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        // Lengths below the header's own, negative, and of two gigabytes.
        &[0, 0, 0, 3, 1, 2, 3, 4],
        &[0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4],
        &[0x7f, 0xff, 0xff, 0xff, 1, 2, 3, 4],
        // An empty message, the answer to another command, an unknown status, a million subscriptions.
        &[0, 0, 0, 4],
        &[0, 0, 0, 15, 7, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0, 0, 0, 15, 7, 0x02, 9, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0, 0, 0, 15, 7, 0x02, 0, 0, 0, 0, 0, 0, 15, 0, 0],
    ] {
        let error = sixth_step(bytes, true).0;
        assert!(error.to_string().contains("the answer is garbled"), "{error}");
    }
}

#[test]
fn a_server_that_drips_cannot_hold_us_for_ever() {
    let (address, server) = server(|mut stream| {
        receive(&mut stream);
        // A byte before each read times out, of an answer that never ends.
        let mut bytes = [0, 0, 100, 0].into_iter().chain(std::iter::repeat(0));
        while bytes.next().is_some_and(|byte| stream.write_all(&[byte]).is_ok()) {
            std::thread::sleep(TIMEOUT / 10);
        }
    });
    let mut client = Client::connect(address, TIMEOUT).unwrap();
    let started = Instant::now();
    assert!(matches!(fault(client.version().unwrap_err()), Fault::TimedOut(_)));
    assert!(started.elapsed() < TIMEOUT * 20);
    drop(client);
    server.join().unwrap();
}

#[test]
fn after_a_refusal_the_conversation_goes_on() {
    let (address, server) = server(|mut stream| {
        receive(&mut stream);
        stream.write_all(&[0, 0, 0, 13, 9, 0xa3, 0xff, 0, 0, 0, 2, b'n', b'o']).unwrap();
        receive(&mut stream);
        stream.write_all(&stepped()).unwrap();
    });
    let mut client = Client::connect(address, TIMEOUT).unwrap();
    let error = client.get(Domain::Lane, Variable::HALTING, "a_0").unwrap_err().to_string();
    assert_eq!(error, "SUMO failed at step 0 (asking for 0x14 of Lane \"a_0\"): refused: no");
    assert_eq!(client.step_to(Batch::new(), 1).unwrap(), []);
    assert_eq!(client.step(), 1);
    server.join().unwrap();
}

#[test]
fn steps_are_sent_ahead_of_their_answers() {
    let (address, server) = server(|mut stream| {
        // All four messages are here before any is answered: the commands have one of their own.
        let ids: Vec<u8> = (0..4).map(|_| receive(&mut stream)[1]).collect();
        assert_eq!(ids, [0x02, 0xc2, 0x02, 0x02]);
        for id in ids {
            let answer = if id == 0x02 { stepped() } else { vec![0, 0, 0, 11, 7, id, 0, 0, 0, 0, 0] };
            stream.write_all(&answer).unwrap();
        }
    });
    let mut client = Client::connect(address, TIMEOUT).unwrap();
    let mut batch = Batch::new();
    batch.set(Domain::TrafficLight, Variable::SIGNALS, "i0", &derrl_traci::Value::String("Gr".into()));
    let reports = client.step_through(vec![(Batch::new(), 1), (batch, 2), (Batch::new(), 3)]).unwrap();
    assert_eq!((reports.len(), client.step()), (3, 3));
    server.join().unwrap();
}

#[test]
fn nobody_there_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = Client::connect(address, TIMEOUT).unwrap_err().to_string();
    assert!(error.contains(&format!("connecting to {address}")), "{error}");
}
