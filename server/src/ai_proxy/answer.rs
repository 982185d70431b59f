//! Answers of language models on their way to a user.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use tokio_util::sync::CancellationToken;

use super::refusal::unanswered;
use crate::error::{ApiError, ApiResult};
use crate::event_stream::{HEARTBEAT, HEARTBEAT_EVERY, unbuffered};

/// Longest end of an event, in bytes: a line's end and an empty line.
const EVENT_END_MAX_BYTES: usize = 4;

/// Kinds of answers that pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Events,
}

impl Kind {
    fn of(response: &reqwest::Response) -> ApiResult<Self> {
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
        match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "application/json" => Ok(Self::Json),
            "text/event-stream" => Ok(Self::Events),
            _ => Err(ApiError::BadGateway {
                code: "ai_failed",
                detail: "The service with the language models answered neither JSON nor events.".to_owned(),
            }),
        }
    }
}

/// Passes an answer on: JSON once it is whole, events as they come.
pub(super) async fn pass_on(
    response: reqwest::Response,
    max_bytes: u64,
    stop: CancellationToken,
) -> ApiResult<Response> {
    match Kind::of(&response)? {
        Kind::Json => {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Ok(([kind, no_store()], whole(response, max_bytes).await?).into_response())
        }
        Kind::Events => {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            let body = events(response, max_bytes, HEARTBEAT_EVERY, stop);
            Ok(([kind, no_store(), unbuffered()], body).into_response())
        }
    }
}

fn no_store() -> (header::HeaderName, HeaderValue) {
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// All bytes of an answer.
pub(super) async fn whole(response: reqwest::Response, max_bytes: u64) -> ApiResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| unanswered(&error))?;
        if (bytes.len() + piece.len()) as u64 > max_bytes {
            return Err(too_large(max_bytes));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// The events of an answer as they come. What goes wrong on the way is an event `error` with a
/// problem, since the status has been sent. Between two events that are far apart, heartbeats keep
/// the connection alive.
fn events(
    response: reqwest::Response,
    max_bytes: u64,
    heartbeat_every: Duration,
    stop: CancellationToken,
) -> Body {
    let stream = async_stream::stream! {
        let mut pieces = response.bytes_stream();
        let mut left_bytes = max_bytes;
        let mut is_between_events = true;
        // The last bytes so far: an event may end within a piece, or in two.
        let mut end = Vec::new();
        loop {
            let piece = tokio::select! {
                piece = pieces.next() => piece,
                () = tokio::time::sleep(heartbeat_every), if is_between_events => {
                    yield Ok::<Bytes, std::convert::Infallible>(HEARTBEAT.into());
                    continue;
                }
                () = stop.cancelled() => break,
            };
            let problem = match piece {
                None => break,
                Some(Err(error)) => unanswered(&error),
                Some(Ok(piece)) if piece.len() as u64 > left_bytes => too_large(max_bytes),
                Some(Ok(piece)) => {
                    left_bytes -= piece.len() as u64;
                    // An empty line ends an event; a comment in the middle of one would damage it.
                    end.extend_from_slice(&piece[piece.len().saturating_sub(EVENT_END_MAX_BYTES)..]);
                    end.drain(..end.len().saturating_sub(EVENT_END_MAX_BYTES));
                    is_between_events = end.ends_with(b"\n\n") || end.ends_with(b"\r\n\r\n");
                    yield Ok(piece);
                    continue;
                }
            };
            let problem = serde_json::to_string(&problem.problem()).unwrap_or_default();
            // The empty line ends an event that was cut off.
            yield Ok(format!("\n\nevent: error\ndata: {problem}\n\n").into());
            break;
        }
    };
    Body::from_stream(stream)
}

fn too_large(max_bytes: u64) -> ApiError {
    ApiError::BadGateway {
        code: "ai_answer_too_large",
        detail: format!("The answer has more than {max_bytes} bytes (SF_AI_ANSWER_MAX_BYTES)."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn heartbeats_come_between_events_and_never_inside_one() {
        for (sent, expects_heartbeat) in [
            (&["data: 1\n\n"][..], true),
            (&["data: 1\r\n\r\n"], true),
            (&["data: 1\n", "\n"], true),
            (&["data: 1", "\r", "\n\r", "\n"], true),
            (&["data: ha"], false),
            (&["data: 1\n\n", "data: ha\n"], false),
        ] {
            let first = futures_util::stream::iter(sent.iter().map(|piece| Ok::<_, std::io::Error>(*piece)));
            let body = reqwest::Body::wrap_stream(first.chain(futures_util::stream::pending()));
            let response = reqwest::Response::from(axum::http::Response::new(body));
            let every = Duration::from_millis(5);
            let mut pieces = events(response, 1_000, every, CancellationToken::new()).into_data_stream();
            for piece in sent {
                assert_eq!(pieces.next().await.expect("a piece").expect("bytes"), *piece);
            }
            let next = tokio::time::timeout(
                Duration::from_millis(if expects_heartbeat { 10_000 } else { 100 }),
                pieces.next(),
            );
            match next.await {
                Ok(next) => assert!(
                    expects_heartbeat && next.expect("a piece").expect("bytes") == HEARTBEAT,
                    "{sent:?}"
                ),
                Err(_) => assert!(!expects_heartbeat, "{sent:?}"),
            }
        }
    }
}
