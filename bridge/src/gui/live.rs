//! The WebSocket of a client: sends events and changed parts of the picture, and receives input.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use songfoundry_bridge_protocol::window::{
    ClientMessage, MESSAGE_BYTES_MAX, PART_HEADER_BYTES, UNCONFIRMED_PARTS_MAX, WindowEvent,
};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};

use super::frame::{Area, Frame};
use super::server::{Server, next_picture};

/// How long a client may take to read a message.
const SEND_MAX: Duration = Duration::from_secs(10);

/// Interval of the pings, and how long a client may be silent. Clients answer each ping.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Close codes of RFC 6455, section 7.4.1, and of the IANA registry.
const CLOSE_UNSUPPORTED: u16 = 1003;
const CLOSE_TRY_AGAIN: u16 = 1013;

/// Answers `GET /live`.
pub(super) async fn connect(State(server): State<Arc<Server>>, upgrade: WebSocketUpgrade) -> Response {
    let permit = match server.open_stream() {
        Ok(permit) => permit,
        Err(reason) => {
            return (StatusCode::TOO_MANY_REQUESTS, format!("No stream is free: {reason}.")).into_response();
        }
    };
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX);
    upgrade.on_upgrade(async move |mut socket| {
        let close = run(&server, &mut socket).await;
        if let Some((code, reason)) = close {
            let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
            let _ = timeout(SEND_MAX, socket.send(Message::Close(Some(frame)))).await;
        }
        // Keys that the client pressed would stay pressed for ever.
        let _ = server.release();
        drop(permit);
    })
}

/// Serves a client until it has gone. Returns the reason if the server must close the WebSocket.
async fn run(server: &Server, socket: &mut WebSocket) -> Option<(u16, &'static str)> {
    let mut events = server.events();
    let mut captured = server.capture.captured();
    let mut sent_frame: Option<Arc<Frame>> = None;
    let mut unconfirmed = 0;
    let mut heard_at = Instant::now();
    let mut pings = interval_at(heard_at + PING_INTERVAL, PING_INTERVAL);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = socket.recv() => match message.inspect(|_| heard_at = Instant::now()) {
                Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                    Ok(ClientMessage::Received) => unconfirmed = u32::saturating_sub(unconfirmed, 1),
                    Ok(ClientMessage::Input(input)) if server.carry_out(&input).is_ok() => {}
                    Ok(ClientMessage::Parameters(changes)) if server.set_parameters(&changes).is_ok() => {}
                    Ok(_) => send_event(socket, WindowEvent::Refused).await.ok()?,
                    Err(_) => return Some((CLOSE_UNSUPPORTED, "a message has an unknown form")),
                },
                Some(Ok(Message::Binary(_))) => return Some((CLOSE_UNSUPPORTED, "messages must be text")),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
            },
            () = sleep_until(heard_at + SILENCE_MAX) => return Some((CLOSE_TRY_AGAIN, "the client is silent")),
            _ = pings.tick() => send(socket, Message::Ping(Bytes::new())).await.ok()?,
            event = events.recv() => match event {
                Ok(event) => send_event(socket, event).await.ok()?,
                Err(RecvError::Lagged(_)) => return Some((CLOSE_TRY_AGAIN, "the client reads too slowly")),
                Err(RecvError::Closed) => return None,
            },
            picture = next_picture(server, &mut captured, sent_frame.as_ref()), if unconfirmed < UNCONFIRMED_PARTS_MAX => {
                let frame = picture?.frame;
                let area = sent_frame.as_ref().map_or_else(|| Some(frame.area()), |sent_frame| frame.difference(sent_frame));
                if let Some(area) = area {
                    let part = part(&frame, area)?;
                    send(socket, Message::Binary(part.into())).await.ok()?;
                    unconfirmed += 1;
                }
                sent_frame = Some(frame);
            }
        }
    }
}

/// Returns a part of a picture with its header.
fn part(frame: &Frame, area: Area) -> Option<Vec<u8>> {
    let jpeg = frame.jpeg(area).ok()?;
    let mut part = Vec::with_capacity(PART_HEADER_BYTES + jpeg.len());
    for number in [area.x, area.y, frame.width, frame.height, 0] {
        part.extend_from_slice(&number.to_le_bytes());
    }
    part.extend_from_slice(&jpeg);
    Some(part)
}

/// The client has gone, or does not read.
struct Gone;

async fn send_event(socket: &mut WebSocket, event: WindowEvent) -> Result<(), Gone> {
    let text = serde_json::to_string(&event).map_err(|_| Gone)?;
    send(socket, Message::Text(text.into())).await
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Gone> {
    match timeout(SEND_MAX, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Gone),
    }
}
