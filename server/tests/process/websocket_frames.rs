//! The WebSocket layer against frames that RFC 6455 permits and forbids. The cases are those of the
//! Autobahn test suite, whose numbers stand beside them. A stream without a chain returns each
//! block unchanged, so it echoes binary messages.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::Service;

const PATH: &str = "/api/v1/plugins/ws/fx-realtime";

/// Opcodes of RFC 6455, section 5.2.
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The bit of the last frame of a message, and the reserved bits.
const LAST: u8 = 0x80;
const RESERVED: [u8; 3] = [0x40, 0x20, 0x10];

/// Close codes of RFC 6455, section 7.4.1.
const NORMAL: u16 = 1000;
const PROTOCOL_ERROR: u16 = 1002;
const INVALID_TEXT: u16 = 1007;
const TOO_LARGE: u16 = 1009;

/// A WebSocket whose frames the test writes byte by byte.
struct Frames(TcpStream);

impl Frames {
    /// Opens a WebSocket with more header lines. Returns the head of the answer, too.
    fn open_with(service: &Service, headers: &str) -> (Self, String) {
        let mut stream = TcpStream::connect(service.address).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("sets");
        stream.set_nodelay(true).expect("sets");
        let address = service.address;
        let request = format!(
            "GET {PATH} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).expect("sends");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("an answer");
            head.push(byte[0]);
        }
        (Self(stream), String::from_utf8(head).expect("text"))
    }

    fn open(service: &Service) -> Self {
        Self::open_with(service, "").0
    }

    /// Sends a frame. `first` holds the opcode and the bits [`LAST`] and [`RESERVED`].
    fn send(&mut self, first: u8, payload: &[u8]) {
        self.0.write_all(&frame(first, payload)).expect("sends");
    }

    /// Returns the opcode and the payload of the next frame, which must be a whole message; `None`
    /// if the service has ended the connection.
    fn receive(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).ok()?;
        assert_eq!(head[0] & 0xF0, LAST, "the service sends whole messages");
        let length = match head[1] {
            126 => {
                let mut bytes = [0; 2];
                self.0.read_exact(&mut bytes).expect("a length");
                usize::from(u16::from_be_bytes(bytes))
            }
            length => {
                assert!(length < 126, "the service masks no frame and sends no frame of 64 KiB");
                usize::from(length)
            }
        };
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).expect("a payload");
        Some((head[0] & 0x0F, payload))
    }

    /// Checks that the service closes the WebSocket with a code, and then ends the connection.
    fn expect_closed(mut self, code: u16, case: &str) {
        let (opcode, payload) = self.receive().unwrap_or_else(|| panic!("{case}: no close frame"));
        assert_eq!(opcode, CLOSE, "{case}: {}", String::from_utf8_lossy(&payload));
        assert_eq!(payload.get(..2), Some(&code.to_be_bytes()[..]), "{case}");
        assert_eq!(self.receive(), None, "{case}");
    }

    /// Checks that the service answers the JSON of a text message as that of an unknown command.
    fn expect_unknown_command(&mut self, case: &str) {
        let (opcode, payload) = self.receive().unwrap_or_else(|| panic!("{case}: no answer"));
        let answer = String::from_utf8(payload).expect("UTF-8");
        assert!(opcode == TEXT && answer.contains(r#""cmd":"error""#), "{case}: {answer}");
    }
}

/// Returns the bytes of a frame with the mask that clients have to use.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];
    let mut bytes = vec![first];
    match payload.len() {
        length @ ..126 => bytes.push(0x80 | length as u8),
        length @ ..65_536 => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(0x80 | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

/// A block of 256 frames whose samples differ.
fn block() -> Vec<u8> {
    (0..512).flat_map(|index| (index as f32 / 512.0).to_le_bytes()).collect()
}

/// A command that the service does not know, with `text` in its name. `text` needs no escapes.
fn command(text: &[u8]) -> Vec<u8> {
    [br#"{"cmd":""#, text, br#""}"#].concat()
}

fn close_payload(code: u16, reason: &[u8]) -> Vec<u8> {
    [&code.to_be_bytes()[..], reason].concat()
}

fn start(folder: &tempfile::TempDir) -> Service {
    Service::start(&folder.path().join("storage"), &[])
}

#[test]
fn permitted_frames_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = start(&folder);
    let mut socket = Frames::open(&service);

    // 1.1, 1.2: messages of each form of the length; 9.5: a message in parts of the network.
    socket.send(LAST | BINARY, &block());
    assert_eq!(socket.receive(), Some((BINARY, block())), "1.2.3");
    for length in [0, 1, 125 - 10, 126 - 10, 127 - 10, 128 - 10, 65_535 - 10, 65_536 - 10] {
        socket.send(LAST | TEXT, &command(&vec![b'a'; length]));
        socket.expect_unknown_command(&format!("1.1, {length} bytes"));
    }
    for chunk in frame(LAST | BINARY, &block()).chunks(997) {
        socket.0.write_all(chunk).expect("sends");
    }
    assert_eq!(socket.receive(), Some((BINARY, block())), "1.2.8");
    for byte in frame(LAST | TEXT, &command(b"slow")) {
        socket.0.write_all(&[byte]).expect("sends");
    }
    socket.expect_unknown_command("2.6");

    // 2: pings and pongs.
    for payload in [&b""[..], b"Hello", &[0, 0xFF, 0xFE, 0xFD], &[0xFE; 125]] {
        socket.send(LAST | PING, payload);
        assert_eq!(socket.receive(), Some((PONG, payload.to_vec())), "2.1 to 2.4");
    }
    socket.send(LAST | PONG, b"unsolicited");
    for number in 0..10_u8 {
        socket.send(LAST | PING, &[number]);
    }
    for number in 0..10_u8 {
        assert_eq!(socket.receive(), Some((PONG, vec![number])), "2.7 to 2.11");
    }

    // 5: messages in fragments, with pings between them.
    for length in [1, 100, 1_023, 2_048] {
        let block = block();
        let parts: Vec<_> = block.chunks(length).collect();
        for (index, part) in parts.iter().enumerate() {
            let opcode = if index == 0 { BINARY } else { CONTINUATION };
            let last = if index + 1 == parts.len() { LAST } else { 0 };
            socket.send(opcode | last, part);
            if index == parts.len() / 2 && last == 0 {
                socket.send(LAST | PING, b"between");
                assert_eq!(socket.receive(), Some((PONG, b"between".to_vec())), "5.6 to 5.8, 5.19");
            }
        }
        assert_eq!(socket.receive(), Some((BINARY, block)), "5.3 to 5.8, fragments of {length} bytes");
    }
    // 6.1.2, 6.1.3: empty fragments.
    let text = command(b"fragments");
    for (first, part) in [(TEXT, &b""[..]), (CONTINUATION, &text), (LAST | CONTINUATION, b"")] {
        socket.send(first, part);
    }
    socket.expect_unknown_command("6.1.3");

    // 6.2, 6.5 to 6.23: valid UTF-8, also divided within a character.
    let valid = [
        "Hello-µ@ßöäüàá-UTF-8!!",
        "κόσμε",
        "\u{80}",
        "\u{7FF}",
        "\u{FFFF}",
        "\u{10FFFF}",
        "\u{FFFE}",
        "\u{D7FF}\u{E000}",
    ];
    for text in valid {
        socket.send(LAST | TEXT, &command(text.as_bytes()));
        socket.expect_unknown_command(text);
        let bytes = command(text.as_bytes());
        let (last, first_bytes) = bytes.split_last().expect("bytes");
        for (index, byte) in first_bytes.iter().enumerate() {
            socket.send(if index == 0 { TEXT } else { CONTINUATION }, &[*byte]);
        }
        socket.send(LAST | CONTINUATION, &[*last]);
        socket.expect_unknown_command(text);
    }

    // 7.1.1, 7.7.1: a close is answered with its code, and ends the connection.
    socket.send(LAST | CLOSE, &close_payload(NORMAL, b"done"));
    socket.expect_closed(NORMAL, "7.1.1");
}

#[test]
fn closes_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = start(&folder);
    // 7.7: valid codes.
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999] {
        let mut socket = Frames::open(&service);
        socket.send(LAST | CLOSE, &close_payload(code, b""));
        socket.expect_closed(code, &format!("7.7, {code}"));
    }
    // 7.3.1: a close without a code; 7.3.5: the longest reason.
    let mut socket = Frames::open(&service);
    socket.send(LAST | CLOSE, b"");
    assert_eq!(socket.receive(), Some((CLOSE, Vec::new())), "7.3.1");
    assert_eq!(socket.receive(), None, "7.3.1");
    let mut socket = Frames::open(&service);
    socket.send(LAST | CLOSE, &close_payload(NORMAL, &[b'*'; 123]));
    socket.expect_closed(NORMAL, "7.3.5");
    // 7.1.3 to 7.1.5: what follows a close is ignored.
    let mut socket = Frames::open(&service);
    let after_close =
        [frame(LAST | CLOSE, &close_payload(NORMAL, b"")), frame(LAST | PING, b"late")].concat();
    socket.0.write_all(&after_close).expect("sends");
    socket.expect_closed(NORMAL, "7.1.3");
    // 5.18, 7.1.5: a close within a message.
    let mut socket = Frames::open(&service);
    socket.send(TEXT, b"{\"cmd\":");
    socket.send(LAST | CLOSE, &close_payload(NORMAL, b""));
    socket.expect_closed(NORMAL, "7.1.5");
    // 12, 13: no compression is agreed upon.
    let (_, head) = Frames::open_with(&service, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    assert!(head.starts_with("HTTP/1.1 101 ") && !head.to_lowercase().contains("extensions"), "12.1: {head}");
    assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "RFC 6455, section 1.3: {head}");
}

#[test]
fn forbidden_frames_end_only_their_own_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = start(&folder);
    let mut honest = Frames::open(&service);
    let mut unmasked = frame(LAST | PING, b"");
    unmasked.truncate(2);
    unmasked[1] = 0;
    let close_of = |code: u16| frame(LAST | CLOSE, &close_payload(code, b""));
    let mut cases: Vec<(String, Vec<u8>, u16)> = vec![
        ("2.5: a ping of 126 bytes".to_owned(), frame(LAST | PING, &[0; 126]), PROTOCOL_ERROR),
        ("5.1: a ping in fragments".to_owned(), frame(PING, b"part"), PROTOCOL_ERROR),
        ("5.2: a pong in fragments".to_owned(), frame(PONG, b"part"), PROTOCOL_ERROR),
        ("5.9: a continuation of nothing".to_owned(), frame(LAST | CONTINUATION, b"rest"), PROTOCOL_ERROR),
        (
            "5.18: a message within a message".to_owned(),
            [frame(TEXT, b"{"), frame(LAST | TEXT, b"}")].concat(),
            PROTOCOL_ERROR,
        ),
        ("7.3.2: a close of one byte".to_owned(), frame(LAST | CLOSE, &[3]), PROTOCOL_ERROR),
        (
            "7.3.6: a close with a reason of 124 bytes".to_owned(),
            frame(LAST | CLOSE, &close_payload(NORMAL, &[b'*'; 124])),
            PROTOCOL_ERROR,
        ),
        (
            "7.5.1: a close whose reason is not UTF-8".to_owned(),
            frame(LAST | CLOSE, &close_payload(NORMAL, &[0xCE, 0xBA, 0xED, 0xA0, 0x80])),
            INVALID_TEXT,
        ),
        ("5.1 of the RFC: a frame without a mask".to_owned(), unmasked, PROTOCOL_ERROR),
    ];
    for bit in RESERVED {
        cases.push((
            format!("3: the reserved bit {bit:#x}"),
            frame(LAST | bit | BINARY, &block()),
            PROTOCOL_ERROR,
        ));
    }
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        cases.push((format!("4: the opcode {opcode}"), frame(LAST | opcode, b""), PROTOCOL_ERROR));
    }
    for code in [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535] {
        cases.push((format!("7.9: the code {code}"), close_of(code), PROTOCOL_ERROR));
    }
    // 6.3, 6.4, 6.6 to 6.21: text that is not UTF-8: cut off, overlong, surrogates, above the last
    // character, and impossible bytes.
    let invalid: [&[u8]; 12] = [
        &[0xCE],
        &[0xCE, 0xBA, 0xED, 0xA0, 0x80, 0x65],
        &[0xC0, 0xAF],
        &[0xE0, 0x80, 0xAF],
        &[0xF0, 0x80, 0x80, 0xAF],
        &[0xF8, 0x88, 0x80, 0x80, 0x80],
        &[0xED, 0xA0, 0x80],
        &[0xED, 0xBF, 0xBF],
        &[0xF4, 0x90, 0x80, 0x80],
        &[0xFE],
        &[0xFF],
        &[0x80],
    ];
    for bytes in invalid {
        cases.push((format!("6: {bytes:02X?}"), frame(LAST | TEXT, &command(bytes)), INVALID_TEXT));
    }
    for (case, bytes, code) in cases {
        let mut socket = Frames::open(&service);
        socket.0.write_all(&bytes).expect("sends");
        socket.expect_closed(code, &case);
    }
    // 9: messages above the limit. The rest, which the service does not read, may reset the
    // connection before the close frame arrives.
    let large_message = vec![b' '; 256 * 1024 + 1];
    let parts =
        [frame(TEXT, &large_message[..200_000]), frame(CONTINUATION, &large_message[200_000..])].concat();
    for bytes in [frame(LAST | TEXT, &large_message), parts] {
        let mut socket = Frames::open(&service);
        drop(socket.0.write_all(&bytes));
        if let Some((opcode, payload)) = socket.receive() {
            assert_eq!((opcode, &payload[..2]), (CLOSE, &TOO_LARGE.to_be_bytes()[..]));
        }
        assert_eq!(socket.receive(), None, "the connection has ended");
    }
    honest.send(LAST | BINARY, &block());
    assert_eq!(honest.receive(), Some((BINARY, block())));
}
