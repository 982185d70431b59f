//! The windows of plugins of Debian packages (`songfoundry-bridge gui`): pictures, input and end.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::killpg;
use songfoundry_bridge_protocol::host::ParameterValue;
use songfoundry_bridge_protocol::host::{Answer, OpenWindow, Opened, Request, WindowOpened};
use songfoundry_bridge_protocol::window::{
    ClientMessage, Input, InputEvent, MESSAGE_BYTES_MAX, PART_HEADER_BYTES, ParameterChanges, SECRET_HEADER,
    WindowEvent,
};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use crate::client::{Helper, scan};

const SECRET: &str = "a secret with more than thirty-two bytes";

/// Maximum time until a message or an answer arrives.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An open window, and a client of its WebSocket.
struct Window {
    helper: Helper,
    opened: Opened,
    window: WindowOpened,
    socket: WebSocket<TcpStream>,
    /// Size of the last picture.
    picture: (u16, u16),
}

impl Window {
    fn open(module: &str) -> Self {
        let module = Path::new(module).to_owned();
        let plugin = scan(&module).into_iter().next().expect("a plugin");
        let (mut helper, opened) = Helper::open_with_window(&module, &plugin.plugin_id);
        let request = OpenWindow { secret: SECRET.to_owned() };
        let window = match helper.request(Request::OpenWindow(request), &[]).0 {
            Answer::WindowOpened(window) => window,
            answer => panic!("{}: {answer:?}", module.display()),
        };
        let mut request =
            format!("ws://127.0.0.1:{}/live", window.port).into_client_request().expect("a request");
        request.headers_mut().insert(SECRET_HEADER, SECRET.parse().expect("a header"));
        let (socket, _) = tungstenite::client(request, connect(window.port)).expect("a WebSocket");
        Self { helper, opened, window, socket, picture: (0, 0) }
    }

    fn send(&mut self, message: &ClientMessage) {
        let text = serde_json::to_string(message).expect("JSON");
        self.socket.send(Message::text(text)).expect("sends");
    }

    fn input(&mut self, events: Vec<InputEvent>) {
        let (width, height) = self.picture;
        self.send(&ClientMessage::Input(Input { width: width.into(), height: height.into(), events }));
    }

    /// Returns the next event, or the JPEG of the next changed part of the picture.
    fn receive(&mut self) -> Result<WindowEvent, Vec<u8>> {
        loop {
            match self.socket.read().expect("a message") {
                Message::Text(text) => return Ok(serde_json::from_str(&text).expect("an event")),
                Message::Binary(part) => {
                    self.send(&ClientMessage::Received);
                    let number = |index: usize| u16::from_le_bytes([part[index], part[index + 1]]);
                    self.picture = (number(4), number(6));
                    return Err(part[PART_HEADER_BYTES..].to_vec());
                }
                _ => {}
            }
        }
    }

    fn wait_for_picture(&mut self, is_wanted: impl Fn((u16, u16)) -> bool) {
        loop {
            if self.receive().is_err() && is_wanted(self.picture) {
                return;
            }
        }
    }

    /// Drags from a position upwards. Returns the parameter that changes and its last value.
    fn drag(&mut self, x: f64, y: f64) -> (u32, f64) {
        let button = |y, down| InputEvent::Button { x, y, button: 0, down };
        self.input(vec![button(y, true)]);
        for step in 1..=8 {
            self.input(vec![InputEvent::Move { x, y: y - f64::from(step) }]);
        }
        self.input(vec![button(y - 8.0, false)]);
        let (mut started, mut last) = (None, None);
        loop {
            match self.receive() {
                Ok(WindowEvent::BeginEdit { id }) => started = started.or(Some(id)),
                Ok(WindowEvent::Edit { id, value }) if started == Some(id) => last = Some((id, value)),
                // A press alone makes a gesture without a value in some toolkits.
                Ok(WindowEvent::EndEdit { id }) if started == Some(id) => match last {
                    Some(last) => return last,
                    None => started = None,
                },
                Ok(WindowEvent::Refused) => panic!("the input was refused"),
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn request(&self, method: &str, path: &str, secret: Option<&str>) -> (u16, Vec<u8>) {
        let mut stream = connect(self.window.port);
        let secret = secret.map(|secret| format!("{SECRET_HEADER}: {secret}\r\n")).unwrap_or_default();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{secret}\r\n");
        stream.write_all(head.as_bytes()).expect("sends");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8_lossy(&answer[..end]);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer[end..].to_vec())
    }

    /// Closes the window, and checks that no process is left.
    fn close(mut self) {
        assert_eq!(self.request("POST", "/close", Some(SECRET)).0, 204);
        let group = self.helper.group();
        assert!(self.helper.wait().success());
        // The X server was in the same group.
        assert_eq!(killpg(group, None), Err(Errno::ESRCH));
    }
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("connects");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    stream
}

/// Plugins of different toolkits, with the position of a knob and the name of its parameter.
const KNOBS: [(&str, f64, f64, &str); 4] = [
    ("/usr/lib/vst3/ZamVerb.vst3", 48.0, 105.0, "Master level"),
    ("/usr/lib/vst/Nekobi-vst.so", 208.0, 68.0, "Cutoff"),
    ("/usr/lib/vst/amsynth_vst.so", 555.0, 44.0, "master_vol"),
    ("/usr/lib/vst/lsp-plugins/comp-delay-stereo.so", 787.0, 107.0, "g_out"),
];

#[test]
fn dragging_a_knob_changes_its_parameter() {
    for (module, x, y, name) in KNOBS {
        let mut window = Window::open(module);
        let size = (window.window.width, window.window.height);
        window.wait_for_picture(|picture| picture.0 >= size.0 && picture.1 >= size.1);
        if module.contains("lsp-plugins") {
            // A dialog that is larger than the window of the plugin greets new users.
            window.wait_for_picture(|picture| picture.1 > size.1);
            let button = |down| InputEvent::Button { x: 405.0, y: 428.0, button: 0, down };
            window.input(vec![button(true), button(false)]);
            window.wait_for_picture(|picture| picture == size);
        }
        let (id, value) = window.drag(x, y);
        let parameter = window.opened.parameters.iter().find(|parameter| parameter.id == id);
        let parameter = parameter.expect("a parameter").clone();
        assert_eq!(parameter.name, name, "{module}");
        assert!((value - parameter.value).abs() > 0.001, "{module}: {value}");
        // Other requests return the value, and the window shows a value that the service sets.
        let state = window.helper.state();
        let changed_value = ParameterValue { id, value: if value > 0.5 { 0.1 } else { 0.9 } };
        // The value and the requests for the state reach the plugin on different paths. The plugin
        // may still report the last move of the drag. The value is therefore sent until the plugin
        // has it.
        let start = Instant::now();
        while window.helper.state() == state {
            assert!(start.elapsed() < TIMEOUT, "{module}: the plugin does not get the value");
            window.send(&ClientMessage::Parameters(ParameterChanges { values: vec![changed_value] }));
        }
        window.close();
    }
}

#[test]
fn requests_without_the_secret_are_refused_and_others_hide_and_show_the_window() {
    let mut window = Window::open("/usr/lib/vst/Nekobi-vst.so");
    window.wait_for_picture(|picture| picture == (636, 108));
    let wrong_secret = format!("{SECRET}x");
    for secret in [None, Some("x"), Some(&wrong_secret[1..]), Some(wrong_secret.as_str())] {
        for (method, path) in [("GET", "/frame"), ("GET", "/live"), ("POST", "/close"), ("GET", "/ping")] {
            assert_eq!(window.request(method, path, secret).0, 403, "{path}");
        }
    }
    assert_eq!(window.request("GET", "/ping", Some(SECRET)).0, 204);
    let (status, jpeg) = window.request("GET", "/frame", Some(SECRET));
    assert_eq!((status, &jpeg[..3]), (200, [0xff, 0xd8, 0xff].as_slice()));
    assert_eq!(window.request("POST", "/hide", Some(SECRET)).0, 204);
    window.wait_for_picture(|picture| picture == (1, 1));
    assert_eq!(window.request("POST", "/show", Some(SECRET)).0, 204);
    window.wait_for_picture(|picture| picture == (636, 108));
    window.input(vec![InputEvent::Move { x: 637.0, y: 0.0 }]);
    while window.receive() != Ok(WindowEvent::Refused) {}
    window.close();
}

#[test]
fn bodies_are_limited_in_size_and_time() {
    let window = Window::open("/usr/lib/vst/Nekobi-vst.so");
    let send = |length: usize, body: &[u8]| {
        let mut stream = connect(window.window.port);
        let head = format!(
            "POST /input HTTP/1.1\r\nHost: x\r\n{SECRET_HEADER}: {SECRET}\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).expect("sends");
        stream
    };
    // Bodies that do not end.
    let slow: Vec<_> = (0..4).map(|_| send(100, b"{")).collect();
    let status = |stream: &mut TcpStream| {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer and the end of the connection");
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    };
    let size = MESSAGE_BYTES_MAX + 1;
    assert!(status(&mut send(size, &vec![b' '; size])).starts_with("HTTP/1.1 413"));
    assert_eq!(window.request("GET", "/ping", Some(SECRET)).0, 204);
    for mut stream in slow {
        assert!(status(&mut stream).starts_with("HTTP/1.1 408"));
    }
    window.close();
}

#[test]
fn windows_leave_no_process_and_no_socket() {
    let sockets = || std::fs::read_dir("/tmp/.X11-unix").map(Iterator::count).unwrap_or(0);
    let sockets_before = sockets();
    let mut last = sockets_before;
    for _ in 0..20 {
        Window::open("/usr/lib/vst/Nekobi-vst.so").close();
        last = sockets();
    }
    // Windows of other tests may have opened and closed meanwhile.
    assert!(last < sockets_before + 20, "{sockets_before} sockets of X servers became {last}");
}
