//! `songfoundry-bridge gui`: hosts one plugin and shows its own window to the service.
//!
//! The plugin draws on an X server without a screen (`display.rs`), which only this process uses.
//! The main thread runs the plugin and its window (`editor_window.rs`) and answers the requests on
//! the socket, as `songfoundry-bridge host` does. A second thread captures pictures (`capture.rs`).
//! A third one serves them and receives input on the loopback interface (`server.rs`). A plugin
//! that hangs does not stop these threads.

mod capture;
mod commands;
mod display;
mod editor_window;
mod frame;
mod gestures;
mod input;
mod keyboard;
mod keys;
mod live;
mod server;
mod x_errors;

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::frame::{read_frame_into, write_frame};
use songfoundry_bridge_protocol::host::{Answer, OpenWindow, Request, WindowOpened};
use songfoundry_bridge_protocol::window::{PORT_VARIABLE, SECRET_BYTES_MIN};

use crate::host::event_loop::{poll_once, take_socket};
use crate::host::session::Session;
use crate::module::{self, FailureReason};
use crate::process::{limits, parent, signals};
use capture::Capture;
use commands::{Command, Commands};
use display::Display;
use editor_window::EditorWindow;
use gestures::Gestures;
use input::InputDevice;
use server::Server;

/// Time between two turns of an editor that is shown, and of one that is hidden.
const SHOWN_INTERVAL: Duration = Duration::from_millis(15);
const HIDDEN_INTERVAL: Duration = Duration::from_millis(100);

/// Time between two blocks of silence.
const SILENCE_INTERVAL: Duration = Duration::from_millis(30);

/// The open window of the plugin.
struct OpenedWindow {
    window: EditorWindow,
    server: Arc<Server>,
    commands: Commands,
    gestures: Gestures,
    next_silence: Instant,
}

/// Answers requests on the inherited socket `socket` until the service closes the socket, or a
/// client the window.
///
/// # Errors
/// Returns an error if the process cannot be prepared, or if the socket or the X server fails.
pub(crate) fn run(socket: i32, memory_max_bytes: u64) -> anyhow::Result<()> {
    signals::protect_ancestors();
    limits::limit_resources(memory_max_bytes)?;
    let socket = take_socket(socket)?;
    // The display must be known before a plugin is loaded.
    let mut display = Display::start();
    parent::end_with_parent()?;
    x_errors::ignore();
    let served = serve(&socket, &display);
    if let Ok(display) = &mut display {
        display.end();
    }
    served?;
    // The plugin is not closed, because some plugins crash or hang when a window closes.
    module::end_at_once()
}

fn serve(socket: &UnixStream, display: &Result<Display, FailureReason>) -> anyhow::Result<()> {
    let mut session = Session::default();
    let mut current_window: Option<OpenedWindow> = None;
    let (mut binary, mut reply) = (Vec::new(), Vec::new());
    loop {
        if !wait(socket, &mut session, current_window.as_mut())? {
            return Ok(());
        }
        let Some(request) = read_frame_into::<Request>(socket, &mut binary)? else { return Ok(()) };
        let is_last = request == Request::Close;
        let answer = match request {
            Request::OpenWindow(request) => {
                reply.clear();
                let answer = open_window(&request, display, &mut session, &mut current_window);
                answer.map_or_else(|reason| Answer::Refused { reason }, Answer::WindowOpened)
            }
            request => session.answer(request, &binary, &mut reply),
        };
        write_frame(socket, &answer, &reply)?;
        if is_last {
            return Ok(());
        }
    }
}

/// Waits until a request can be read. Meanwhile the plugin and its window are served. Returns false
/// if a client has closed the window.
fn wait(
    socket: &UnixStream,
    session: &mut Session,
    mut current_window: Option<&mut OpenedWindow>,
) -> anyhow::Result<bool> {
    loop {
        let mut work = session.plugin().map(|plugin| plugin.idle_work()).unwrap_or_default();
        if let Some(current_window) = &current_window {
            work.descriptors
                .extend([current_window.window.descriptor(), current_window.commands.descriptor()]);
            let interval = if current_window.window.is_shown() { SHOWN_INTERVAL } else { HIDDEN_INTERVAL };
            work.timeout = Some(work.timeout.map_or(interval, |timeout| timeout.min(interval)));
        }
        let poll_result = poll_once(socket, None, &work)?;
        if let Some(plugin) = session.plugin() {
            plugin.idle(&poll_result.descriptors);
        }
        if let Some(current_window) = &mut current_window
            && !current_window.turn(session)?
        {
            return Ok(false);
        }
        if poll_result.has_request {
            return Ok(true);
        }
    }
}

impl OpenedWindow {
    /// Serves the window once. Returns false if a client has closed it.
    fn turn(&mut self, session: &mut Session) -> anyhow::Result<bool> {
        for command in self.commands.take() {
            match command {
                Command::SetParameters(values) => {
                    for value in values {
                        match (session.check_value(&value), session.plugin()) {
                            (Ok(()), Some(plugin)) => plugin.set_parameter(value),
                            _ => self.server.refuse(),
                        }
                    }
                }
                Command::Hide => self.window.hide()?,
                Command::Show => self.window.show()?,
                Command::Close => return Ok(false),
            }
        }
        let Some(plugin) = session.plugin() else { return Ok(true) };
        plugin.editor_idle();
        if let Some((width, height)) = plugin.take_size_request() {
            self.window.resize(width, height)?;
        }
        self.window.handle_events()?;
        let now = Instant::now();
        let edits = plugin.take_edits().map_err(anyhow::Error::msg)?;
        for event in self.gestures.events(&edits, self.server.is_button_pressed(), now) {
            self.server.send(event);
        }
        if now >= self.next_silence {
            session.process_silence().map_err(anyhow::Error::msg)?;
            self.next_silence = now + SILENCE_INTERVAL;
        }
        Ok(true)
    }
}

fn open_window(
    request: &OpenWindow,
    display: &Result<Display, FailureReason>,
    session: &mut Session,
    current_window: &mut Option<OpenedWindow>,
) -> Result<WindowOpened, FailureReason> {
    let display = display.as_ref()?;
    if current_window.is_some() {
        return Err("the window is open already".to_owned());
    }
    if request.secret.len() < SECRET_BYTES_MIN {
        return Err(format!("the secret must have {SECRET_BYTES_MIN} bytes or more"));
    }
    let plugin = session.plugin().ok_or("no plugin is open")?;
    let x_failed = |error: anyhow::Error| format!("the X server failed: {error:#}");
    let mut window = EditorWindow::create(display).map_err(x_failed)?;
    let size = plugin.open_editor(window.id())?;
    window.adopt(size.width, size.height).map_err(x_failed)?;
    // Reports of the plugin while it opened are no changes by the user.
    plugin.take_edits()?;
    let capture = Capture::start(display).map_err(x_failed)?;
    let input = InputDevice::connect(display).map_err(x_failed)?;
    let (sender, commands) = commands::channel().map_err(|error| error.to_string())?;
    let server = Server::start(request.secret.clone(), capture, input, sender)
        .map_err(|error| format!("the server of the window cannot be started: {error}"))?;
    let (width, height) = window.size();
    let port = server.port();
    eprintln!("{PORT_VARIABLE}={port}");
    *current_window = Some(OpenedWindow {
        window,
        server,
        commands,
        gestures: Gestures::default(),
        next_silence: Instant::now(),
    });
    Ok(WindowOpened { port, width, height })
}
