//! Event streams behind nginx, which buffers answers unless they forbid it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::nginx::{Nginx, plain};
use crate::support::Service;

/// Starts a language model service that sends one event, and another one for each message to the
/// returned channel. Also returns the address of the service.
fn language_models() -> (String, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (sender, event_requests) = channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a question");
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).expect("reads");
            request.extend_from_slice(&buffer[..count]);
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: first\n\n";
        stream.write_all(head.as_bytes()).expect("writes");
        while event_requests.recv().is_ok() {
            stream.write_all(b"data: next\n\n").expect("writes");
        }
    });
    (url, sender)
}

#[test]
fn events_pass_nginx_before_their_stream_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let (url, next) = language_models();
    let settings = [("SF_AI_UPSTREAM_URL", url.as_str()), ("SF_AI_UPSTREAM_KEY", "a key")];
    let service = Service::start(&storage, &settings);
    let token = service.expect(200, "POST", "/api/v1/auth/local", &[], &Value::Null);
    let token = token["access_token"].as_str().expect("a token");
    let nginx = Nginx::start(&storage, &plain(&service, ""));
    let mut stream = TcpStream::connect(nginx.address).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("sets");
    let request = json!({ "model": "m", "messages": [], "stream": true }).to_string();
    let head = format!(
        "POST /api/v1/ai_proxy/v1/chat/completions HTTP/1.1\r\nHost: studio.example\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        request.len()
    );
    stream.write_all(format!("{head}{request}").as_bytes()).expect("writes");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("the event, within 10 s"));
    assert_eq!(lines.next().expect("a status"), "HTTP/1.1 200 OK");
    assert!(lines.any(|line| line == "data: first"), "the stream ended");
    next.send(()).expect("the language model waits");
    assert!(lines.any(|line| line == "data: next"), "the stream ended");
}
