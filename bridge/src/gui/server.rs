//! The server of the window, on the loopback interface: checks the secret of each request, and
//! answers it.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use songfoundry_bridge_protocol::window::{
    Input, MESSAGE_BYTES_MAX, ParameterChanges, SECRET_HEADER, VALUES_MAX, WindowEvent,
};
use tokio::sync::{broadcast, watch};
use tower::ServiceExt as _;

use super::capture::Capture;
use super::commands::{Command, CommandSender};
use super::frame::Captured;
use super::input::{self, InputDevice};
use super::live;
use crate::module::FailureReason;

/// Maximum number of connections, and of those that get pictures continually.
const CONNECTIONS_MAX: usize = 16;
const STREAMS_MAX: usize = 4;

/// Pause after an error of the listening socket.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long a client may take to send the head of a request.
const HEAD_MAX: Duration = Duration::from_secs(10);

/// How long a client may take to send the body of a request, which the answer waits for.
const BODY_MAX: Duration = Duration::from_secs(5);

/// How long a request waits for a picture.
const PICTURE_MAX: Duration = Duration::from_secs(2);

/// For how long pictures are captured after each picture that a client took.
pub(super) const WANTED: Duration = Duration::from_millis(500);

/// Maximum number of events that wait for a client.
const EVENTS_MAX: usize = 4_096;

/// Boundary of the parts of a stream.
const BOUNDARY: &str = "picture";

/// The server.
pub(super) struct Server {
    secret: String,
    port: u16,
    pub(super) capture: Capture,
    input: Mutex<InputDevice>,
    is_button_pressed: AtomicBool,
    commands: CommandSender,
    events: broadcast::Sender<WindowEvent>,
    streams: AtomicUsize,
    /// Whether a client has asked to close the window.
    is_closing: AtomicBool,
}

impl Server {
    /// Starts the server on a thread of its own.
    pub(super) fn start(
        secret: String,
        capture: Capture,
        input: InputDevice,
        commands: CommandSender,
    ) -> anyhow::Result<Arc<Self>> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let server = Arc::new(Self {
            secret,
            port: listener.local_addr()?.port(),
            capture,
            input: Mutex::new(input),
            is_button_pressed: AtomicBool::new(false),
            commands,
            events: broadcast::channel(EVENTS_MAX).0,
            streams: AtomicUsize::new(0),
            is_closing: AtomicBool::new(false),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let accepting = Arc::clone(&server);
        let thread = std::thread::Builder::new().name("server".to_owned());
        thread.spawn(move || runtime.block_on(accept(listener, &accepting)))?;
        Ok(server)
    }

    /// Returns the port on which the server listens.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Sends an event to all clients.
    pub(super) fn send(&self, event: WindowEvent) {
        // Without clients, nobody needs the event.
        let _ = self.events.send(event);
    }

    /// Tells the clients that a message could not be carried out.
    pub(super) fn refuse(&self) {
        self.send(WindowEvent::Refused);
    }

    /// Returns the events from now on.
    pub(super) fn events(&self) -> broadcast::Receiver<WindowEvent> {
        self.events.subscribe()
    }

    /// Whether a button of the pointer is pressed.
    pub(super) fn is_button_pressed(&self) -> bool {
        self.is_button_pressed.load(Ordering::Relaxed)
    }

    /// Carries out input.
    pub(super) fn carry_out(&self, input: &Input) -> Result<(), FailureReason> {
        input::check(input)?;
        let size = {
            let captured = self.capture.captured();
            let frame = Arc::clone(&captured.borrow().frame);
            (frame.width, frame.height)
        };
        self.with_device(|device| device.carry_out(input, size))
    }

    /// Releases all buttons and keys.
    pub(super) fn release(&self) -> Result<(), FailureReason> {
        self.with_device(InputDevice::release)
    }

    fn with_device(
        &self,
        action: impl FnOnce(&mut InputDevice) -> anyhow::Result<()>,
    ) -> Result<(), FailureReason> {
        let mut device = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let action_result = action(&mut device);
        self.is_button_pressed.store(device.is_button_pressed(), Ordering::Relaxed);
        action_result.map_err(|error| format!("the X server failed: {error:#}"))
    }

    /// Passes new values to the plugin.
    pub(super) fn set_parameters(&self, changes: &ParameterChanges) -> Result<(), FailureReason> {
        let count = changes.values.len();
        if count > VALUES_MAX {
            return Err(format!("`values` has {count} values; the maximum is {VALUES_MAX}"));
        }
        self.send_command(Command::SetParameters(changes.values.clone()))
    }

    fn send_command(&self, command: Command) -> Result<(), FailureReason> {
        match self.commands.send(command) {
            true => Ok(()),
            false => Err("the plugin does not answer, and too many requests wait for it".to_owned()),
        }
    }

    /// Returns a permit for a client that gets pictures continually.
    pub(super) fn open_stream(self: &Arc<Self>) -> Result<StreamPermit, FailureReason> {
        let permit = StreamPermit(Arc::clone(self));
        if self.streams.fetch_add(1, Ordering::Relaxed) >= STREAMS_MAX {
            return Err(format!("{STREAMS_MAX} clients get pictures of this window, which is the maximum"));
        }
        Ok(permit)
    }
}

/// The permit of a client that gets pictures continually.
pub(super) struct StreamPermit(Arc<Server>);

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Accepts connections for ever, at most [`CONNECTIONS_MAX`] at a time.
async fn accept(listener: tokio::net::TcpListener, server: &Arc<Server>) {
    let router = router(Arc::clone(server));
    let open = Arc::new(());
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // The client has gone already, or the plugin has used up the file descriptors for now.
            Err(error) => {
                eprintln!("the server of the window cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Without this option, answers only come later.
        let _ = stream.set_nodelay(true);
        if Arc::strong_count(&open) > CONNECTIONS_MAX {
            continue;
        }
        let (server, router, open) = (Arc::clone(server), router.clone(), Arc::clone(&open));
        tokio::spawn(async move {
            let service = hyper::service::service_fn(|request: hyper::Request<hyper::body::Incoming>| {
                router.clone().oneshot(request.map(Body::new))
            });
            let mut connection = hyper::server::conn::http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX);
            // Errors mean that the client has gone, or sent no HTTP.
            let _ = connection.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
            drop(open);
            // This process ends at once, so the client must have the answer before.
            if server.is_closing.load(Ordering::Relaxed) {
                let _ = server.send_command(Command::Close);
            }
        });
    }
}

fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/frame", get(frame))
        .route("/live", get(live::connect))
        .route("/input", post(receive_input))
        .route("/parameters", post(receive_parameters))
        .route("/ping", get(async || StatusCode::NO_CONTENT))
        .route("/hide", post(hide))
        .route("/show", post(async |State(server): State<Arc<Server>>| carry_out(&server, Command::Show)))
        .route("/close", post(close))
        .layer(DefaultBodyLimit::max(MESSAGE_BYTES_MAX))
        .layer(middleware::from_fn(limit_time))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), check_secret))
        .with_state(server)
}

async fn check_secret(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Result<Response, Infallible> {
    let sent_secret = request.headers().get(HeaderName::from_static(SECRET_HEADER));
    let is_equal =
        sent_secret.is_some_and(|sent_secret| equals(sent_secret.as_bytes(), server.secret.as_bytes()));
    Ok(match is_equal {
        true => next.run(request).await,
        false => (StatusCode::FORBIDDEN, format!("The header `{SECRET_HEADER}` is wrong or missing."))
            .into_response(),
    })
}

/// Ends a request whose body does not come in time.
async fn limit_time(request: Request, next: Next) -> Result<Response, Infallible> {
    Ok(match tokio::time::timeout(BODY_MAX, next.run(request)).await {
        Ok(answer) => answer,
        Err(_) => {
            let text = format!("The body did not come within {} seconds.", BODY_MAX.as_secs());
            (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")], text).into_response()
        }
    })
}

/// Whether two texts are equal, in a time that depends only on their lengths.
fn equals(sent_secret: &[u8], secret: &[u8]) -> bool {
    let difference = sent_secret.iter().zip(secret).fold(0, |sum, (left, right)| sum | (left ^ right));
    sent_secret.len() == secret.len() && std::hint::black_box(difference) == 0
}

/// The status and the text of a refused request.
type Refusal = (StatusCode, String);

fn refusal(reason: &str) -> Refusal {
    (StatusCode::UNPROCESSABLE_ENTITY, format!("The request cannot be carried out: {reason}."))
}

fn carry_out(server: &Server, command: Command) -> Response {
    match server.send_command(command) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("Try again: {reason}.")).into_response(),
    }
}

async fn hide(State(server): State<Arc<Server>>) -> Response {
    match server.release() {
        Ok(()) => carry_out(&server, Command::Hide),
        Err(reason) => refusal(&reason).into_response(),
    }
}

/// Closes the window when the connection has ended, which is after the answer.
async fn close(State(server): State<Arc<Server>>) -> impl IntoResponse {
    server.is_closing.store(true, Ordering::Relaxed);
    (StatusCode::NO_CONTENT, [(header::CONNECTION, "close")])
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let refused = |error| (StatusCode::BAD_REQUEST, format!("The body is invalid: {error}."));
    serde_json::from_slice(body).map_err(refused)
}

async fn receive_input(State(server): State<Arc<Server>>, body: Bytes) -> Result<StatusCode, Refusal> {
    server.carry_out(&parse(&body)?).map_err(|reason| refusal(&reason))?;
    Ok(StatusCode::NO_CONTENT)
}

async fn receive_parameters(State(server): State<Arc<Server>>, body: Bytes) -> Result<StatusCode, Refusal> {
    server.set_parameters(&parse(&body)?).map_err(|reason| refusal(&reason))?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct FrameQuery {
    #[serde(default)]
    stream: u8,
}

async fn frame(
    State(server): State<Arc<Server>>,
    Query(query): Query<FrameQuery>,
) -> Result<Response, Refusal> {
    if query.stream == 1 {
        return stream(&server);
    }
    let asked_at = Instant::now();
    let mut captured = server.capture.captured();
    server.capture.want(WANTED);
    let is_new = tokio::time::timeout(PICTURE_MAX, captured.wait_for(|captured| captured.at >= asked_at));
    let frame = match is_new.await {
        Ok(Ok(captured)) => Arc::clone(&captured.frame),
        _ => {
            return Err((StatusCode::SERVICE_UNAVAILABLE, "There is no picture of the window.".to_owned()));
        }
    };
    let jpeg = frame.jpeg(frame.area()).map_err(|error| refusal(&error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "image/jpeg"), (header::CACHE_CONTROL, "no-store")], jpeg).into_response())
}

/// Returns the picture, and then each picture that differs from the last one that was sent.
fn stream(server: &Arc<Server>) -> Result<Response, Refusal> {
    let permit = server
        .open_stream()
        .map_err(|reason| (StatusCode::TOO_MANY_REQUESTS, format!("No stream is free: {reason}.")))?;
    let state = (Arc::clone(server), permit, server.capture.captured(), None);
    let parts =
        futures_util::stream::try_unfold(state, async |(server, permit, mut captured, sent_secret)| {
            let next = next_picture(&server, &mut captured, sent_secret.as_ref()).await;
            let Some(Captured { frame, .. }) = next else { return Ok(None) };
            let jpeg = frame.jpeg(frame.area()).map_err(std::io::Error::other)?;
            let head =
                format!("--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", jpeg.len());
            let part = [head.as_bytes(), &jpeg, b"\r\n"].concat();
            Ok::<_, std::io::Error>(Some((Bytes::from(part), (server, permit, captured, Some(frame)))))
        });
    let kind = format!("multipart/x-mixed-replace; boundary={BOUNDARY}");
    Ok((
        [(header::CONTENT_TYPE, kind.as_str()), (header::CACHE_CONTROL, "no-store")],
        Body::from_stream(parts),
    )
        .into_response())
}

/// Waits for a picture other than `sent_secret`. Returns `None` if no more pictures are captured.
pub(super) async fn next_picture(
    server: &Server,
    captured: &mut watch::Receiver<Captured>,
    sent_secret: Option<&Arc<super::frame::Frame>>,
) -> Option<Captured> {
    loop {
        server.capture.want(WANTED);
        let current_frame = captured.borrow_and_update().clone();
        if sent_secret.is_none_or(|sent_secret| !Arc::ptr_eq(sent_secret, &current_frame.frame)) {
            return Some(current_frame);
        }
        // Repeats the demand for pictures before it has passed.
        match tokio::time::timeout(WANTED / 2, captured.changed()).await {
            Ok(Ok(())) | Err(_) => {}
            Ok(Err(_)) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_equal() {
        assert!(equals(b"secret", b"secret"));
        for wrong_secret in [b"secre".as_slice(), b"secrets", b"Secret", b"secreT", b""] {
            assert!(!equals(wrong_secret, b"secret"), "{wrong_secret:?}");
        }
    }
}
