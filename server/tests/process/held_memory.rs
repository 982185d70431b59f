//! Memory that clients occupy with unread answers and unfinished request bodies.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::support::{Service, status_kib};

const MIB: usize = 1024 * 1024;

/// Sends a request head and `body`, which may be shorter than the announced length.
fn send(service: &Service, head: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(service.address).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("sets");
    let head = format!("{head}Host: {}\r\nConnection: close\r\n\r\n", service.address);
    stream.write_all(head.as_bytes()).expect("writes");
    // A service that refuses a body may close the connection before it has read all of it.
    let _ = stream.write_all(body);
    stream
}

/// Reads the status code of an answer.
fn status(stream: &mut TcpStream) -> String {
    let mut start = [0; 12];
    stream.read_exact(&mut start).expect("an answer begins");
    String::from_utf8_lossy(&start[9..]).into_owned()
}

#[test]
fn unread_answers_occupy_no_memory() {
    const PROJECT_BYTES: usize = 8 * MIB;
    const ALLOWED_KIB: u64 = 64 * 1024;
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let text = "x".repeat(PROJECT_BYTES);
    let project = format!(
        r#"{{"schema_version":1,"project_id":"large","name":"n","tracks":[],"client":{{"a":"{text}"}}}}"#
    );
    let save_answer = service.send("POST", "/api/v1/projects", &[], project.as_bytes()).expect("an answer");
    assert_eq!(save_answer.status, 201, "{}", save_answer.body);
    for (path, answers) in [("/api/v1/projects/large/raw", 40), ("/api/v1/projects/large", 16)] {
        let before_kib = status_kib(&service, "VmRSS");
        let unread: Vec<TcpStream> = (0..answers)
            .map(|_| {
                let mut stream = send(&service, &format!("GET {path} HTTP/1.1\r\n"), b"");
                assert_eq!(status(&mut stream), "200", "{path}");
                stream
            })
            .collect();
        let used_kib = status_kib(&service, "VmRSS").saturating_sub(before_kib);
        println!("{path}: {} unread answers occupy {used_kib} KiB", unread.len());
        assert!(used_kib <= ALLOWED_KIB, "{path}: {used_kib} KiB of memory; the limit is {ALLOWED_KIB} KiB");
    }
    let read_answer = service.send("GET", "/api/v1/projects/large/raw", &[], b"").expect("a whole answer");
    assert!(read_answer.body.contains(&text[..100]) && read_answer.body.len() > PROJECT_BYTES);
}

#[test]
fn concurrent_requests_for_large_projects_wait_without_using_memory() {
    const PROJECT_BYTES: usize = 24 * MIB;
    // Memory for the work on one request, and for answers that are written to the disk.
    const ALLOWED_KIB: u64 = 10 * 24 * 1024;
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let document = format!(
        r#"{{"schema_version":1,"project_id":"large","name":"n","tracks":[],"client":{{"a":"{}"}}}}"#,
        "x".repeat(PROJECT_BYTES)
    );
    let save_answer = service.call("POST", "/api/v1/projects", &[], &document).expect("an answer");
    assert_eq!(save_answer.status, 201, "{}", save_answer.body);
    let autosave = format!(r#"{{"client_id":"test","project":{document}}}"#);
    assert_eq!(service.call("PUT", "/api/v1/projects/temp", &[], &autosave).expect("an answer").status, 200);
    let before_kib = status_kib(&service, "VmHWM");
    let by_id = r#"{"project_id":"large"}"#;
    let requests = [
        ("GET /api/v1/projects/large", "", "200"),
        ("GET /api/v1/projects/large/raw", "", "200"),
        ("GET /api/v1/projects/large/revisions/1/raw", "", "200"),
        ("GET /api/v1/projects/temp", "", "200"),
        ("GET /api/v1/projects/temp/raw", "", "200"),
        ("POST /api/v1/multitrack/midi/export", by_id, "200"),
        ("POST /api/v1/projects/large/duplicate", "", "201"),
    ];
    let request = |(line, body, expected): (&str, &'static str, &'static str)| {
        let header_start = "Content-Type: application/json\r\nContent-Length:";
        let head = format!("{line} HTTP/1.1\r\n{header_start} {}\r\n", body.len());
        (send(&service, &head, body.as_bytes()), line.to_owned(), expected)
    };
    let mut connections: Vec<_> = requests
        .iter()
        .cycle()
        .take(3 * requests.len())
        .map(|request_index| request(*request_index))
        .collect();
    for (stream, line, expected) in &mut connections {
        assert_eq!(status(stream), *expected, "{line}");
    }
    let used_kib = status_kib(&service, "VmHWM").saturating_sub(before_kib);
    println!(
        "{} requests for a project of {} MiB use {used_kib} KiB",
        connections.len(),
        PROJECT_BYTES / MIB
    );
    assert!(used_kib <= ALLOWED_KIB, "{used_kib} KiB of memory; the limit is {ALLOWED_KIB} KiB");
}

#[test]
fn unfinished_bodies_occupy_hardly_any_memory() {
    const SENT_BYTES: usize = 24 * MIB;
    const BODIES: usize = 16;
    const ALLOWED_KIB: u64 = 24 * 1024;
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let before_kib = status_kib(&service, "VmRSS");
    let head = format!(
        "POST /api/v1/projects HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        SENT_BYTES + 1
    );
    let body = vec![b' '; SENT_BYTES];
    let _open: Vec<TcpStream> = (0..BODIES).map(|_| send(&service, &head, &body)).collect();
    let used_kib = status_kib(&service, "VmHWM").saturating_sub(before_kib);
    println!("{BODIES} bodies occupy {used_kib} KiB");
    assert!(used_kib <= ALLOWED_KIB, "{used_kib} KiB of memory; the limit is {ALLOWED_KIB} KiB");
    // Small and large requests are still served.
    for (id, text_bytes) in [("small", 1), ("large", SENT_BYTES)] {
        let project = format!(
            r#"{{"schema_version":1,"project_id":"{id}","name":"n","tracks":[],"client":{{"a":"{}"}}}}"#,
            "x".repeat(text_bytes)
        );
        let answer = service.call("POST", "/api/v1/projects", &[], &project).expect("an answer");
        assert_eq!(answer.status, 201, "{id}: {}", answer.body);
    }
}

/// Starts a language model service that begins `request_count` answers and never ends them. Returns
/// the address of the service, and a function that waits for all requests and returns their
/// connections.
fn language_models(request_count: usize, begun_answer: Vec<u8>) -> (String, impl FnOnce() -> Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (sender, receiver) = channel();
    let begun_answer: Arc<[u8]> = begun_answer.into();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(request_count) {
            let (mut stream, sender) = (stream.expect("a request"), sender.clone());
            let begun_answer = Arc::clone(&begun_answer);
            std::thread::spawn(move || {
                let mut request_text = Vec::new();
                while !request_text.ends_with(b"}") {
                    let mut chunk = [0; 4096];
                    let count = stream.read(&mut chunk).expect("reads");
                    request_text.extend_from_slice(&chunk[..count]);
                }
                // The service may close the connection, and the test may have failed already.
                let _ = stream.write_all(&begun_answer);
                let _ = sender.send(stream);
            });
        }
    });
    (url, move || receiver.iter().take(request_count).collect())
}

/// Sends a request for the language model through the service.
fn ask(service: &Service, body: &str) -> TcpStream {
    let head = format!(
        "POST /api/v1/ai_proxy/v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    send(service, &head, body.as_bytes())
}

#[test]
fn requests_to_language_models_occupy_no_more_memory_than_their_text() {
    const REQUESTS: usize = 40;
    const ALLOWED_KIB: u64 = 48 * 1024;
    let folder = tempfile::tempdir().expect("a folder");
    let (url, wait_for_all_requests) = language_models(REQUESTS, Vec::new());
    let settings = [("SF_AI_UPSTREAM_URL", url.as_str()), ("SF_AI_UPSTREAM_KEY", "a key")];
    let service = Service::start(&folder.path().join("storage"), &settings);
    let lists = vec![format!("{}{}", "[".repeat(100), "]".repeat(100)); 190].join(",");
    let body = format!(r#"{{"model":"m","messages":[{lists}]}}"#);
    let before_kib = status_kib(&service, "VmRSS");
    let unanswered: Vec<TcpStream> = (0..REQUESTS).map(|_| ask(&service, &body)).collect();
    let received_connections = wait_for_all_requests();
    let used_kib = status_kib(&service, "VmHWM").saturating_sub(before_kib);
    println!("{} requests of {} KB occupy {used_kib} KiB", received_connections.len(), body.len() / 1000);
    assert_eq!(received_connections.len(), unanswered.len());
    assert!(used_kib <= ALLOWED_KIB, "{used_kib} KiB of memory; the limit is {ALLOWED_KIB} KiB");
}

#[test]
fn unfinished_answers_of_language_models_occupy_a_bounded_amount_of_memory() {
    const REQUESTS: usize = 40;
    const REFUSED: usize = 20;
    const ANSWER_BYTES: usize = 12 * MIB;
    // One account may use half of the 96 MiB for answers (`READING_MAX_BYTES`). The limit leaves
    // memory for the service itself and for answers that arrive meanwhile.
    const ALLOWED_KIB: u64 = (128 + 64) * 1024;
    let folder = tempfile::tempdir().expect("a folder");
    let mut begun =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16000000\r\n\r\n".to_vec();
    begun.resize(begun.len() + ANSWER_BYTES, b' ');
    let (url, _wait_for_all_requests) = language_models(REQUESTS, begun);
    let settings = [("SF_AI_UPSTREAM_URL", url.as_str()), ("SF_AI_UPSTREAM_KEY", "a key")];
    let service = Service::start(&folder.path().join("storage"), &settings);
    let before_kib = status_kib(&service, "VmRSS");
    let (sender, statuses) = channel();
    for _ in 0..REQUESTS {
        let (mut stream, sender) = (ask(&service, r#"{"model":"m","messages":[]}"#), sender.clone());
        std::thread::spawn(move || {
            let mut start = [0; 12];
            // Some requests are never answered.
            if stream.read_exact(&mut start).is_ok() {
                let _ = sender.send(String::from_utf8_lossy(&start[9..]).into_owned());
            }
        });
    }
    let refused_statuses: Vec<String> = statuses.iter().take(REFUSED).collect();
    assert!(refused_statuses.iter().all(|status| status == "503"), "{refused_statuses:?}");
    let used_kib = status_kib(&service, "VmHWM").saturating_sub(before_kib);
    println!("{REQUESTS} unfinished answers occupy {used_kib} KiB");
    assert!(used_kib <= ALLOWED_KIB, "{used_kib} KiB of memory; the limit is {ALLOWED_KIB} KiB");
}
