//! Clients that send nothing, send slowly, or send malformed requests.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::heavy_work::status_field as status_kib;
use crate::support::{Service, form, wait_until_closed};

const IDLE: (&str, &str) = ("SF_CONNECTION_IDLE_SECS", "1");
const ENDS_WITHIN: Duration = Duration::from_secs(5);

fn connect(service: &Service) -> TcpStream {
    let stream = TcpStream::connect(service.address).expect("connects");
    stream.set_read_timeout(Some(ENDS_WITHIN * 2)).expect("sets");
    stream
}

/// Waits until the service closes the connection, and returns the time until then.
fn time_to_end(mut stream: TcpStream) -> Duration {
    let start_time = Instant::now();
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection was not closed: {error}"),
    }
    start_time.elapsed()
}

#[test]
fn silent_and_partial_requests_time_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[IDLE]);
    for partial_request in [
        "",
        "GET /healthz HT",
        "GET /healthz HTTP/1.1\r\nHost: a\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        let mut stream = connect(&service);
        stream.write_all(partial_request.as_bytes()).expect("writes");
        let took = time_to_end(stream);
        assert!((Duration::from_millis(900)..ENDS_WITHIN).contains(&took), "{partial_request:?}: {took:?}");
    }
    service.expect(200, "GET", "/healthz", &[], &serde_json::Value::Null);
}

#[test]
fn a_slow_head_times_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[IDLE]);
    let mut stream = connect(&service);
    stream.write_all(b"GET /healthz HTTP/1.1\r\n").expect("writes");
    let start_time = Instant::now();
    while stream.write_all(b"x: y\r\n").is_ok() {
        assert!(start_time.elapsed() < ENDS_WITHIN, "the service still reads the head");
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
    for chunk in body.chunks(4) {
        std::thread::sleep(Duration::from_millis(250));
        stream.write_all(chunk).expect("writes");
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}

/// Returns the head of a log-in request that announces a body of `body_bytes` bytes.
fn log_in_head(service: &Service, body_bytes: usize) -> String {
    format!(
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {body_bytes}\r\n\r\n",
        service.address
    )
}

fn first_line(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the answer does not end: {error}"),
    }
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_body_that_pauses_too_long_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[("SF_BODY_PAUSE_SECS", "1")]);
    let mut stream = connect(&service);
    stream.write_all(log_in_head(&service, 200).as_bytes()).expect("writes");
    stream.write_all(b"{\"username\": ").expect("writes");
    assert_eq!(first_line(stream), "HTTP/1.1 408 Request Timeout");
}

#[test]
fn a_form_that_pauses_too_long_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[("SF_BODY_PAUSE_SECS", "1")]);
    for path in ["audio/upload", "audio/reference", "plugins/soundfonts/upload", "multitrack/midi/import"] {
        let mut stream = connect(&service);
        let head = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 5000\r\n\
             Content-Type: multipart/form-data; boundary=edge\r\n\r\n--edge\r\n\
             Content-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\nRIFF",
            service.address
        );
        stream.write_all(head.as_bytes()).expect("writes");
        assert_eq!(first_line(stream), "HTTP/1.1 408 Request Timeout", "{path}");
    }
}

#[test]
fn malformed_chunks_are_refused_as_a_bad_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let head = format!(
        "POST /api/v1/projects HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Transfer-Encoding: chunked\r\n\r\n",
        service.address
    );
    for chunks in ["0x2\r\n{}\r\n0\r\n\r\n", "2\r\n{}x\r\n0\r\n\r\n", "fffffffffffffffffff\r\n{}\r\n"] {
        let mut stream = connect(&service);
        stream.write_all(head.as_bytes()).expect("writes");
        stream.write_all(chunks.as_bytes()).expect("writes");
        assert_eq!(first_line(stream), "HTTP/1.1 400 Bad Request", "{chunks:?}");
    }
}

#[test]
fn a_request_without_a_single_host_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\n", "HTTP/1.1 400 Bad Request"),
        ("GET http://localhost/healthz HTTP/1.1\r\n", "HTTP/1.1 400 Bad Request"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n", "HTTP/1.1 400 Bad Request"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\n", "HTTP/1.1 200 OK"),
        ("GET /healthz HTTP/1.0\r\n", "HTTP/1.0 200 OK"),
    ] {
        let mut stream = connect(&service);
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).expect("writes");
        assert_eq!(first_line(stream), status, "{head:?}");
    }
}

#[test]
fn a_log_in_of_a_mebibyte_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let mut stream = connect(&service);
    stream.write_all(log_in_head(&service, 1024 * 1024).as_bytes()).expect("writes");
    stream.write_all(&[b' '; 1024 * 1024]).expect("writes");
    assert_eq!(first_line(stream), "HTTP/1.1 413 Payload Too Large");
}

/// Opens a connection with a log-in whose body does not arrive.
fn unfinished_log_in(service: &Service) -> TcpStream {
    let mut stream = connect(service);
    let head = log_in_head(service, 16).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("writes");
    // The service sends this line when it begins to wait for the body.
    read_exactly(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

fn read_exactly(stream: &mut TcpStream, expected: &str) {
    let mut answer = vec![0; expected.len()];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(String::from_utf8_lossy(&answer), expected);
}

#[test]
fn one_address_has_a_limited_number_of_connections_and_idle_ones_are_closed_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[("SF_CONNECTIONS_PER_ADDRESS", "3")]);
    let mut open_connections = vec![unfinished_log_in(&service), unfinished_log_in(&service)];
    let mut idle = connect(&service);
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").expect("writes");
    read_exactly(&mut idle, "HTTP/1.1 200 OK");
    open_connections.push(unfinished_log_in(&service));
    assert!(time_to_end(idle) < ENDS_WITHIN, "the idle connection stays open");
    assert!(time_to_end(connect(&service)) < ENDS_WITHIN, "the fourth connection stays open");
    drop(open_connections);
    let start_time = Instant::now();
    while service.call("GET", "/healthz", &[], "").is_none() {
        assert!(start_time.elapsed() < ENDS_WITHIN, "no connection becomes free");
    }
}

/// hyper does not detect that these clients have disconnected, because bytes of another request are
/// unread.
#[test]
fn clients_that_disconnect_after_pipelined_requests_leave_the_queue() {
    const DISCONNECTED_CLIENTS: usize = 24;
    for next_request in ["GET / HTTP/1.1\r\n".to_owned(), "x".repeat(150_000)] {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::start(&folder.path().join("storage"), &[]);
        let credentials = br#"{"username": "admin", "password": "wrong"}"#;
        let log_in =
            format!("{}{}", log_in_head(&service, credentials.len()), String::from_utf8_lossy(credentials));
        // After five failures, log-ins are checked one after the other, two per second.
        for _ in 0..5 {
            let mut stream = connect(&service);
            stream.write_all(log_in.as_bytes()).expect("writes");
            assert!(first_line(stream).starts_with("HTTP/1.1 401 "));
        }
        for _ in 0..DISCONNECTED_CLIENTS {
            let mut stream = connect(&service);
            stream.set_nonblocking(true).expect("sets");
            stream.write_all(log_in.as_bytes()).expect("writes");
            // Writes as many bytes as the system buffers.
            let _ = stream.write(next_request.as_bytes());
        }
        let mut last_connection = connect(&service);
        last_connection.write_all(log_in.as_bytes()).expect("writes");
        assert!(first_line(last_connection).starts_with("HTTP/1.1 429 "));
        let throttled = service.expect(200, "GET", "/api/v1/admin/throttled", &[], &serde_json::Value::Null);
        let failures = throttled["items"][0]["failures"].as_u64().expect("a number");
        assert!(
            failures < 5 + DISCONNECTED_CLIENTS as u64 / 2,
            "{failures} log-ins were checked: {throttled}"
        );
    }
}

#[test]
fn a_stalled_download_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[IDLE]);
    let url = upload_large_sound(&service);
    let mut stream = connect(&service);
    let request = format!("GET {url} HTTP/1.1\r\nHost: {}\r\n\r\n", service.address);
    stream.write_all(request.as_bytes()).expect("writes");
    stream.read_exact(&mut [0; 12]).expect("the answer begins");
    wait_until_closed(&service, stream.local_addr().expect("an address").port());
}

#[test]
fn slow_readers_of_a_page_file_share_its_memory() {
    const CLIENTS: usize = 150;
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page");
    std::fs::create_dir(&page).expect("a folder");
    std::fs::write(page.join("index.html"), "<!doctype html>").expect("writes");
    std::fs::write(page.join("large.js"), vec![b' '; 3_000_000]).expect("writes");
    let settings = [("SF_WEB_DIR", page.to_str().expect("UTF-8"))];
    let service = Service::start(&folder.path().join("storage"), &settings);
    service.expect(200, "GET", "/healthz", &[], &serde_json::Value::Null);
    let before_kib = status_kib(service.id(), "VmRSS:");
    let head = format!("GET /large.js HTTP/1.1\r\nHost: {}\r\n\r\n", service.address);
    let mut clients: Vec<TcpStream> = (0..CLIENTS).map(|_| connect(&service)).collect();
    for client in &mut clients {
        client.write_all(head.as_bytes()).expect("writes");
    }
    for client in &mut clients {
        client.read_exact(&mut [0; 1]).expect("the answer has begun");
    }
    let used_kib = status_kib(service.id(), "VmHWM:") - before_kib;
    assert!(used_kib < 150 * 1024, "{used_kib} KiB of memory for {CLIENTS} clients; the limit is 150 MiB");
}

/// Uploads a recording that is larger than the buffers of a socket, and returns its URL.
pub(crate) fn upload_large_sound(service: &Service) -> String {
    let sound = wav_of_noise(24 * 1024 * 1024);
    let content_type = [("Content-Type", "multipart/form-data; boundary=b")];
    let answer = service.send("POST", "/api/v1/audio/upload", &content_type, &form("long.wav", &sound));
    let answer = answer.expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let upload_answer: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    upload_answer["files"][0]["file_url"].as_str().expect("an address").to_owned()
}

/// Returns a 16-bit mono WAV file at 48 kHz with `data_bytes` bytes of noise.
fn wav_of_noise(data_bytes: u32) -> Vec<u8> {
    let mut file = Vec::from(*b"RIFF");
    file.extend((36 + data_bytes).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(48_000_u32.to_le_bytes());
    file.extend(96_000_u32.to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend(data_bytes.to_le_bytes());
    file.extend((0..data_bytes).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8));
    file
}
