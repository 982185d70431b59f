//! Receives and sends the messages of one WebSocket.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tungstenite::Error as WebSocketError;

use super::message::Answer;
use super::open_streams::OpenStream;
use super::pace::{Pace, text_blocks};
use super::plugin_thread::{PluginMessage, PluginSource};
use super::stream::{ProcessedBlock, Stream};
use crate::auth::CurrentUser;
use crate::state::AppState;

/// Close codes of RFC 6455, section 7.4.1, and of the IANA registry.
const CLOSE_GOING_AWAY: u16 = 1001;
const CLOSE_PROTOCOL_ERROR: u16 = 1002;
const CLOSE_INVALID_TEXT: u16 = 1007;
const CLOSE_TOO_LARGE: u16 = 1009;
pub(super) const CLOSE_TRY_AGAIN: u16 = 1013;
/// Close code for a caller who has lost access.
const CLOSE_ACCESS_ENDED: u16 = 4401;
const ACCESS_ENDED_REASON: &str = "you have logged out, your log-in has expired, or your account has changed";

/// Time without a message after which the service sends a ping, and time without a message after
/// which it ends the stream.
const PING_AFTER: Duration = Duration::from_secs(20);
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// How long a client may take to read a message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// The stream has ended.
struct Ended;

/// Serves a WebSocket until the client or the service closes it. `access_ended` resolves when the
/// caller has lost access.
pub(super) async fn run(
    mut socket: WebSocket,
    state: &AppState,
    user: Arc<CurrentUser>,
    open_stream: &OpenStream,
    access_ended: impl Future<Output = ()>,
) {
    let mut access_ended = pin!(access_ended);
    let started_at = Instant::now();
    let (events_sender, mut events) = mpsc::unbounded_channel();
    let plugins = plugin_source(state, &user, events_sender);
    let mut stream = Stream::new(&state.live_effects.memory, &user.id, plugins);
    let mut pace = Pace::default();
    let mut last_message_at = started_at;
    let metrics = state.metrics.open_live_stream();
    loop {
        let received = tokio::select! {
            biased;
            () = state.stop.cancelled() => return close(socket, CLOSE_GOING_AWAY, "the service is stopping").await,
            () = &mut access_ended => {
                return close(socket, CLOSE_ACCESS_ENDED, ACCESS_ENDED_REASON).await;
            }
            // Without plugins there are no events.
            Some(event) = events.recv() => {
                let answers = stream.handle(event);
                if send_answers(&mut socket, &answers).await.is_err() {
                    return;
                }
                continue;
            }
            received = timeout(PING_AFTER, socket.recv()) => received,
        };
        let arrived_at = Instant::now();
        let message = match received {
            Ok(Some(Ok(message))) => message,
            Ok(Some(Err(error))) => {
                if let Some((code, reason)) = violation(error) {
                    close(socket, code, reason).await;
                }
                return;
            }
            // The client has gone.
            Ok(None) => return,
            Err(_) if last_message_at.elapsed() >= SILENCE_MAX => {
                return close(socket, CLOSE_GOING_AWAY, "no message for a minute").await;
            }
            Err(_) => {
                if send(&mut socket, Message::Ping(Bytes::new())).await.is_err() {
                    return;
                }
                continue;
            }
        };
        last_message_at = arrived_at;
        let processing_started_at = Instant::now();
        let mut blocks = 1.0;
        let (sending, processing) = match message {
            Message::Binary(block) => {
                let mut block = Vec::from(block);
                let result = stream.process(&mut block).await;
                let waited = result.as_ref().map_or(Duration::ZERO, |processed| processed.waited);
                let processing = processing_started_at.elapsed().saturating_sub(waited);
                let sending = match result {
                    Ok(ProcessedBlock { answers, .. }) => send_block(&mut socket, block, &answers).await,
                    Err(answer) => send_answer(&mut socket, &answer).await,
                };
                let time = arrived_at.elapsed();
                metrics.count_block(stream.statistics.count(time), time);
                (sending, processing)
            }
            Message::Text(text) => {
                blocks = text_blocks(text.len());
                let answers = stream.obey(&text);
                let processing = processing_started_at.elapsed();
                (send_answers(&mut socket, &answers).await, processing)
            }
            Message::Ping(_) | Message::Pong(_) => (Ok(()), Duration::ZERO),
            Message::Close(_) => return answer_close(socket).await,
        };
        if sending.is_err() {
            return;
        }
        let duration = stream.block_duration().mul_f64(blocks);
        let wait = pace.count(duration, processing, arrived_at - started_at);
        let wait = wait.max(open_stream.count_processing(processing));
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}

async fn send_block(socket: &mut WebSocket, block: Vec<u8>, answers: &[Answer]) -> Result<(), Ended> {
    send(socket, Message::Binary(block.into())).await?;
    match answers {
        [] => Ok(()),
        answers => send_answers(socket, answers).await,
    }
}

/// Returns what starts the plugins of a stream, where they run in real time.
fn plugin_source(
    state: &AppState,
    user: &Arc<CurrentUser>,
    events: mpsc::UnboundedSender<PluginMessage>,
) -> Option<PluginSource> {
    cfg!(target_os = "linux").then(|| PluginSource::new(state.clone(), Arc::clone(user), events))
}

/// Sends answers, which the client has to read within [`SEND_TIMEOUT`] altogether.
async fn send_answers(socket: &mut WebSocket, answers: &[Answer]) -> Result<(), Ended> {
    let sending = async {
        for answer in answers {
            send_answer(socket, answer).await?;
        }
        Ok(())
    };
    timeout(SEND_TIMEOUT, sending).await.unwrap_or(Err(Ended))
}

async fn send_answer(socket: &mut WebSocket, answer: &Answer) -> Result<(), Ended> {
    let text = serde_json::to_string(answer).map_err(|_| Ended)?;
    send(socket, Message::Text(text.into())).await
}

/// Sends a message. Ends the stream if the client does not read it in time.
async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Ended> {
    match timeout(SEND_TIMEOUT, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Ended),
    }
}

async fn close(mut socket: WebSocket, code: u16, reason: &str) {
    let frame = CloseFrame { code, reason: reason.into() };
    // A client that has gone needs no reason.
    drop(send(&mut socket, Message::Close(Some(frame))).await);
}

/// Sends the answer to a close frame of the client: the library has prepared it, and sends it at the
/// next receive.
async fn answer_close(mut socket: WebSocket) {
    // No message follows a close frame.
    drop(timeout(SEND_TIMEOUT, socket.recv()).await);
}

/// Returns a text of at most 123 bytes, the maximum for the reason of a close frame (RFC 6455,
/// section 5.5).
pub(super) fn shortened(mut reason: String) -> Utf8Bytes {
    let end = reason.floor_char_boundary(123);
    reason.truncate(end);
    reason.into()
}

/// Returns the close code and the reason if a client has sent a frame that RFC 6455 or the maximum
/// size forbids; `None` if the client has gone.
fn violation(error: axum::Error) -> Option<(u16, &'static str)> {
    match error.into_inner().downcast_ref()? {
        WebSocketError::Capacity(_) => Some((CLOSE_TOO_LARGE, "a message has more than 256 KiB")),
        WebSocketError::Utf8(_) => Some((CLOSE_INVALID_TEXT, "a text is not UTF-8")),
        WebSocketError::Protocol(_) => Some((CLOSE_PROTOCOL_ERROR, "a frame violates RFC 6455")),
        _ => None,
    }
}
