//! The WebSocket of real-time effects: who may open it, how it ends, and the resources that an
//! abuse uses.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, WebSocket, client};

use crate::plugin_service::holds_within;
use crate::support::Service;

const PATH: &str = "/api/v1/plugins/ws/fx-realtime";

/// A block of 256 frames in which left is `value` and right its half.
fn block(value: f32) -> Message {
    let frames = [value, 0.5 * value].map(f32::to_le_bytes).concat().repeat(256);
    Message::Binary(frames.into())
}

/// Opens the WebSocket with more headers. An error has the status and the body of the answer.
pub(crate) fn open(
    service: &Service,
    query: &str,
    headers: &[(&'static str, &str)],
) -> Result<WebSocket<TcpStream>, (u16, String)> {
    let stream = TcpStream::connect(service.address).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("sets");
    let url = format!("ws://{}{PATH}{query}", service.address);
    let mut request = url.into_client_request().expect("a URL");
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().expect("a header"));
    }
    match client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => {
            let body = answer.body().as_deref().unwrap_or_default();
            Err((answer.status().as_u16(), String::from_utf8_lossy(body).into_owned()))
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns the next text or binary message.
pub(crate) fn next(socket: &mut WebSocket<TcpStream>) -> Message {
    loop {
        match socket.read().expect("a message within a minute") {
            Message::Ping(_) | Message::Pong(_) => {}
            message => return message,
        }
    }
}

fn answer(socket: &mut WebSocket<TcpStream>) -> Value {
    let message = next(socket);
    serde_json::from_str(message.to_text().expect("text")).expect("JSON")
}

/// Returns the code and the reason with which the service closes the WebSocket.
fn closed(socket: &mut WebSocket<TcpStream>) -> (u16, String) {
    match next(socket) {
        Message::Close(Some(frame)) => (u16::from(frame.code), frame.reason.to_string()),
        message => panic!("{message:?}"),
    }
}

pub(crate) fn send(socket: &mut WebSocket<TcpStream>, message: Message) {
    socket.send(message).expect("sends");
}

#[test]
fn a_local_client_processes_blocks_and_is_told_of_a_stop() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let mut socket = open(&service, "", &[]).expect("a local caller");
    let chain = json!({ "cmd": "chain", "sample_rate": 48_000, "effects": [
        { "id": "g", "type": "builtin", "name": "utility", "params": { "gain_db": 6.020_6 } } ] });
    send(&mut socket, Message::text(chain.to_string()));
    assert_eq!(answer(&mut socket), json!({ "cmd": "latency", "total": 0, "latencies": [0] }));
    // The client sends blocks in batches of four.
    for _ in 0..4 {
        send(&mut socket, block(0.25));
    }
    for _ in 0..4 {
        let bytes = next(&mut socket).into_data();
        let samples: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(samples.len(), 512);
        assert!((samples[0] - 0.5).abs() < 1e-4 && (samples[1] - 0.25).abs() < 1e-4, "{:?}", &samples[..2]);
    }
    send(&mut socket, Message::binary(vec![0; 100]));
    assert_eq!(answer(&mut socket)["code"], "wrong_block_size");
    send(&mut socket, Message::text(json!({ "cmd": "stats" }).to_string()));
    assert_eq!(answer(&mut socket)["blocks"], 5);
    let metrics = service.call("GET", "/metrics", &[], "").expect("an answer").body;
    assert!(metrics.contains("songfoundry_live_streams 1\n"), "{metrics}");
    assert!(metrics.contains("songfoundry_live_blocks_total 5\n"), "{metrics}");
    service.signal("TERM");
    assert_eq!(closed(&mut socket), (1001, "the service is stopping".to_owned()));
}

#[test]
fn remote_clients_need_a_token_and_pages_of_other_sites_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[("SF_TRUST_LOCAL", "off")]);
    let mut socket = open(&service, "", &[]).expect("opens only to be closed");
    let (code, reason) = closed(&mut socket);
    assert!(code == 4401 && reason.starts_with("Log in first"), "{code} {reason}");
    let greeting = service.greeting.concat();
    let password = greeting.split('`').nth(3).expect("a password");
    let body = json!({ "username": "admin", "password": password });
    let login = service.expect(200, "POST", "/api/v1/auth/login", &[], &body);
    let token = login["access_token"].as_str().expect("a token");
    // The password must be changed first.
    assert_eq!(closed(&mut open(&service, &format!("?token={token}"), &[]).expect("opens")).0, 4401);
    let bearer = format!("Bearer {token}");
    let new_password = "tuba-lattice-overbid-9";
    let change = json!({ "current_password": password, "new_password": new_password });
    let changed_answer =
        service.expect(200, "POST", "/api/v1/auth/password", &[("authorization", &bearer)], &change);
    let token = changed_answer["access_token"].as_str().expect("a token");
    let protocols = format!("songfoundry.v1, bearer.{token}");
    let with_protocol = [("sec-websocket-protocol", protocols.as_str())];
    let ways: [(String, &[_]); 2] = [(format!("?token={token}"), &[]), (String::new(), &with_protocol)];
    let mut sockets: Vec<_> =
        ways.iter().map(|(query, headers)| open(&service, query, headers).expect("opens")).collect();
    for socket in &mut sockets {
        send(socket, block(0.5));
        assert_eq!(next(socket), block(0.5));
    }
    let invalid = open(&service, "?token=nonsense", &[]);
    assert_eq!(closed(&mut invalid.expect("opens only to be closed")).0, 4401);
    let foreign = [("origin", "https://elsewhere.example")];
    let (status, problem) = open(&service, &format!("?token={token}"), &foreign).expect_err("another site");
    assert!(status == 403 && problem.contains("foreign_origin"), "{status} {problem}");
    let own_origin = format!("http://{}", service.address);
    open(&service, &format!("?token={token}"), &[("origin", &own_origin)]).expect("a page of the service");
    // A log-out ends the streams of its token.
    let bearer = format!("Bearer {token}");
    service.expect(204, "POST", "/api/v1/auth/logout", &[("authorization", &bearer)], &Value::Null);
    for socket in &mut sockets {
        assert_eq!(closed(socket).0, 4401);
    }
}

#[test]
fn an_abuse_ends_or_delays_only_its_own_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let mut honest = open(&service, "", &[]).expect("opens");
    // A message that is too large closes its stream with a reason.
    let mut large_chain = open(&service, "", &[]).expect("opens");
    // The service may close the stream before it has read everything.
    drop(large_chain.send(Message::text(" ".repeat(300_000))));
    match large_chain.read() {
        Ok(Message::Close(Some(frame))) => assert_eq!(frame.code, CloseCode::Size),
        Ok(message) => panic!("{message:?}"),
        // The unread bytes of the message can reset the connection.
        Err(_) => {}
    }
    // A request without a handshake is refused.
    let problem = service.expect(400, "GET", PATH, &[], &Value::Null);
    assert_eq!(problem["code"], "not_a_websocket");
    // A client that floods and never reads fills its own connection only. Dropped streams are
    // half-open for the service until it writes to them.
    let mut floods: Vec<_> = (0..8).map(|_| open(&service, "", &[]).expect("opens")).collect();
    for flood in &mut floods {
        flood.get_mut().set_nonblocking(true).expect("sets");
        for _ in 0..2_000 {
            if flood.send(block(1.0)).is_err() {
                break;
            }
        }
    }
    for value in [0.1, 0.2, 0.3] {
        send(&mut honest, block(value));
        assert_eq!(next(&mut honest), block(value));
    }
    // A thousand streams that are opened and dropped leave no descriptors.
    for _ in 0..1_000 {
        drop(open(&service, "", &[]).expect("opens"));
    }
    send(&mut honest, block(0.4));
    assert_eq!(next(&mut honest), block(0.4));
    for text in ["NaN", "7", "[", r#"{"cmd":null}"#, "[[[[]]]]"] {
        send(&mut honest, Message::text(text));
        assert_eq!(answer(&mut honest)["cmd"], "error", "{text}");
    }
}

/// Counts the open descriptors of the service.
fn descriptors(service: &Service) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", service.id())).expect("it runs").count()
}

/// Returns the number of open streams.
fn streams(service: &Service) -> usize {
    let metrics = service.call("GET", "/metrics", &[], "").expect("an answer").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("songfoundry_live_streams "));
    line.and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn ten_thousand_connects_leave_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    // The rate limits would refuse most of them.
    let rates = ["SF_REQUESTS_PER_MINUTE_PER_ADDRESS", "SF_REQUESTS_PER_MINUTE_PER_USER"];
    let service = Service::start(&folder.path().join("storage"), &rates.map(|name| (name, "0")));
    let mut honest = open(&service, "", &[]).expect("opens");
    send(&mut honest, block(0.1));
    assert_eq!(next(&mut honest), block(0.1));
    // Connections to the database may open meanwhile.
    let before = descriptors(&service) + 8;
    let half = format!("GET {PATH} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\n", service.address);
    for batch in 0..100 {
        let connect = || TcpStream::connect(service.address).expect("connects");
        // Each batch has 20 connections without a whole handshake, and 80 streams, which end
        // without a close frame, half of them with a block that nobody reads.
        let mut connections: Vec<_> = (0..20).map(|_| connect()).collect();
        for connection in &mut connections[..10] {
            connection.write_all(half.as_bytes()).expect("sends");
        }
        for index in 0..80 {
            let mut socket = open(&service, "", &[]).expect("opens");
            if index % 2 == 0 {
                send(&mut socket, block(1.0));
            }
        }
        let value = f32::from(batch as u8) / 100.0;
        send(&mut honest, block(value));
        assert_eq!(next(&mut honest), block(value), "batch {batch}");
    }
    let is_clean = || streams(&service) == 1 && descriptors(&service) <= before;
    assert!(
        holds_within(Duration::from_secs(60), is_clean),
        "{} streams, {} descriptors instead of {before}",
        streams(&service),
        descriptors(&service)
    );
    send(&mut honest, block(0.7));
    assert_eq!(next(&mut honest), block(0.7));
    drop(open(&service, "", &[]).expect("a new stream"));
}

#[test]
fn a_stream_faster_than_real_time_is_held_back_and_others_are_not() {
    const FLOOD_BLOCKS: usize = 60_000;
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let mut honest = open(&service, "", &[]).expect("opens");
    let flood = open(&service, "", &[]).expect("opens");
    let connection = flood.get_ref().try_clone().expect("a clone");
    let (mut sender, mut receiver) = (connection.try_clone().expect("a clone"), flood);
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Blocks of 320 seconds of audio, with the mask 0 (RFC 6455, section 5.3).
        let frame = [&[0x82, 0xFE, 0x08, 0x00, 0, 0, 0, 0][..], &block(0.5).into_data()].concat();
        scope.spawn(move || (0..FLOOD_BLOCKS).all(|_| sender.write_all(&frame).is_ok()));
        scope.spawn(|| {
            while receiver.read().is_ok() {
                answered.fetch_add(1, Ordering::Relaxed);
            }
        });
        // The flood has used up its burst of two seconds, at twice real time 750 blocks.
        let has_burst = || answered.load(Ordering::Relaxed) >= 750;
        assert!(holds_within(Duration::from_secs(60), has_burst), "the flood is answered");
        for index in 0..200_u8 {
            let value = f32::from(index) / 256.0;
            send(&mut honest, block(value));
            assert_eq!(next(&mut honest), block(value));
        }
        // The honest stream is done before the flood, which needs more than two minutes.
        let count = answered.load(Ordering::Relaxed);
        // Ends both threads.
        connection.shutdown(Shutdown::Both).expect("ends");
        assert!(count < FLOOD_BLOCKS, "{count} blocks of the flood were answered");
    });
    send(&mut honest, json_text(&json!({ "cmd": "stats" })));
    assert_eq!(answer(&mut honest)["blocks"], 200);
}

fn json_text(value: &Value) -> Message {
    Message::text(value.to_string())
}
