//! Clients that say nothing, or say it slowly.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::Service;

const IDLE: (&str, &str) = ("SF_CONNECTION_IDLE_SECS", "1");
const ENDS_WITHIN: Duration = Duration::from_secs(5);

fn connect(service: &Service) -> TcpStream {
    let stream = TcpStream::connect(service.address).expect("connects");
    stream.set_read_timeout(Some(ENDS_WITHIN * 2)).expect("sets");
    stream
}

/// Waits until the service closes the connection, and says how long that took.
fn time_to_end(mut stream: TcpStream) -> Duration {
    let begun = Instant::now();
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection was not closed: {error}"),
    }
    begun.elapsed()
}

#[test]
fn who_says_nothing_or_half_a_head_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[IDLE]);
    for begun in [
        "",
        "GET /healthz HT",
        "GET /healthz HTTP/1.1\r\nHost: a\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        let mut stream = connect(&service);
        stream.write_all(begun.as_bytes()).expect("writes");
        let took = time_to_end(stream);
        assert!((Duration::from_millis(900)..ENDS_WITHIN).contains(&took), "{begun:?}: {took:?}");
    }
    service.expect(200, "GET", "/healthz", &[], &serde_json::Value::Null);
}

#[test]
fn a_head_in_drops_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[IDLE]);
    let mut stream = connect(&service);
    stream.write_all(b"GET /healthz HTTP/1.1\r\n").expect("writes");
    let begun = Instant::now();
    while stream.write_all(b"x: y\r\n").is_ok() {
        assert!(begun.elapsed() < ENDS_WITHIN, "the service still listens");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_body_may_take_longer_than_a_head() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[IDLE]);
    let body = br#"{"name": "A song that comes slowly", "tracks": []}"#;
    let mut stream = connect(&service);
    let head = format!(
        "POST /api/v1/projects HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        service.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("writes");
    for piece in body.chunks(4) {
        std::thread::sleep(Duration::from_millis(250));
        stream.write_all(piece).expect("writes");
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}
