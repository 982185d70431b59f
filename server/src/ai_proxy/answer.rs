//! Passes answers of language models to users.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use tokio_util::sync::CancellationToken;

use super::refusal::no_answer_error;
use crate::error::{ApiError, ApiResult};
use crate::event_stream::{HEARTBEAT, HEARTBEAT_EVERY, unbuffered};
use crate::fair_bytes::ReservedBytes;
use crate::large_answer::Recipient;
use crate::state::AppState;

/// Maximum length of the bytes that end an event (`\r\n\r\n`).
const EVENT_END_MAX_BYTES: usize = 4;

/// Memory in bytes that is reserved for an event stream. It covers the buffers of both connections
/// when the client does not read.
const EVENT_STREAM_BYTES: u64 = 512 * 1024;

/// Maximum length of a header's value in an error text, in characters.
const HEADER_SHOWN_MAX_CHARS: usize = 100;

/// Media types of answers that are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Events,
}

impl Kind {
    fn from_response(response: &reqwest::Response) -> ApiResult<Self> {
        if let Some(encoding) = response.headers().get(header::CONTENT_ENCODING) {
            let encoding = String::from_utf8_lossy(encoding.as_bytes());
            let encoding: String = encoding.chars().take(HEADER_SHOWN_MAX_CHARS).collect();
            return Err(ApiError::BadGateway {
                code: "ai_failed",
                detail: format!(
                    "The language-model service sent a response with the encoding {encoding:?} (Content-Encoding); the \
                     proxy reads only unencoded responses."
                ),
            });
        }
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
        match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "application/json" => Ok(Self::Json),
            "text/event-stream" => Ok(Self::Events),
            media_type => Err(ApiError::BadGateway {
                code: "ai_failed",
                detail: format!(
                    "The language-model service sent `{}`; expected `application/json` or `text/event-stream`.",
                    media_type.chars().take(HEADER_SHOWN_MAX_CHARS).collect::<String>()
                ),
            }),
        }
    }
}

/// Passes an answer on to a user: JSON when it is complete, events when they arrive.
pub(super) async fn pass_on(
    state: &AppState,
    recipient: Recipient,
    response: reqwest::Response,
) -> ApiResult<Response> {
    let upstream = state.ai_proxy.upstream()?;
    let (name, no_store) = no_store();
    let mut reserved_bytes = upstream.reading.reservation(recipient.user_id());
    match Kind::from_response(&response)? {
        Kind::Json => {
            let max_length = MaxLength { bytes: upstream.answer_max_bytes, is_setting: true };
            let bytes = read_all(response, upstream.silence_max, max_length, &mut reserved_bytes).await?;
            let writing = move || {
                let answer = recipient.answer_json(bytes);
                drop(reserved_bytes);
                answer
            };
            let mut answer = tokio::task::spawn_blocking(writing).await??;
            answer.headers_mut().insert(name, no_store);
            Ok(answer)
        }
        Kind::Events => {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            reserved_bytes.grow(EVENT_STREAM_BYTES)?;
            let body = events(
                response,
                upstream.silence_max,
                upstream.answer_max_bytes,
                HEARTBEAT_EVERY,
                state.stop.clone(),
            )
            .map_frame(move |frame| {
                let _held = &reserved_bytes;
                frame
            });
            let body = Body::new(body);
            Ok(([kind, (name, no_store), unbuffered()], body).into_response())
        }
    }
}

fn no_store() -> (header::HeaderName, HeaderValue) {
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// Maximum length of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaxLength {
    pub(super) bytes: u64,
    /// Whether this is the value of `SF_AI_ANSWER_MAX_BYTES`.
    pub(super) is_setting: bool,
}

impl MaxLength {
    /// Returns the error for a longer answer.
    fn too_large_error(self) -> ApiError {
        let setting = if self.is_setting { " (SF_AI_ANSWER_MAX_BYTES)" } else { "" };
        ApiError::BadGateway {
            code: "ai_answer_too_large",
            detail: format!(
                "The response of the language-model service exceeds {} bytes{setting}.",
                self.bytes
            ),
        }
    }
}

/// Reads all bytes of an answer, and adds their memory to `reserved_bytes`. `silence_max` is the
/// time limit of the answer.
///
/// # Errors
/// 502 `ai_answer_too_large`; 503 `busy` if other answers use all memory for answers.
pub(super) async fn read_all(
    response: reqwest::Response,
    silence_max: Duration,
    max_length: MaxLength,
    reserved_bytes: &mut ReservedBytes,
) -> ApiResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| no_answer_error(&error, silence_max))?;
        let received_bytes = bytes.len() + chunk.len();
        if received_bytes as u64 > max_length.bytes {
            return Err(max_length.too_large_error());
        }
        if received_bytes > bytes.capacity() {
            let capacity = received_bytes.max(2 * bytes.capacity());
            reserved_bytes.grow((capacity - bytes.capacity()) as u64)?;
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Passes on the events of an answer as they arrive. A failure becomes an event `error` with a
/// problem, because the status has already been sent. Heartbeats between events keep the connection
/// alive.
fn events(
    response: reqwest::Response,
    silence_max: Duration,
    max_bytes: u64,
    heartbeat_every: Duration,
    stop: CancellationToken,
) -> Body {
    let stream = async_stream::stream! {
        let mut chunks = response.bytes_stream();
        let mut remaining_bytes = max_bytes;
        let mut is_between_events = true;
        // The last bytes that were received: the end of an event may be split between two chunks.
        let mut tail = Vec::new();
        loop {
            let chunk = tokio::select! {
                chunk = chunks.next() => chunk,
                () = tokio::time::sleep(heartbeat_every), if is_between_events => {
                    yield Ok::<Bytes, std::convert::Infallible>(HEARTBEAT.into());
                    continue;
                }
                () = stop.cancelled() => break,
            };
            let problem = match chunk {
                None => break,
                Some(Err(error)) => no_answer_error(&error, silence_max),
                Some(Ok(chunk)) if chunk.len() as u64 > remaining_bytes => {
                    MaxLength { bytes: max_bytes, is_setting: true }.too_large_error()
                }
                Some(Ok(chunk)) => {
                    remaining_bytes -= chunk.len() as u64;
                    // An empty line ends an event. A heartbeat inside an event would corrupt it.
                    tail.extend_from_slice(&chunk[chunk.len().saturating_sub(EVENT_END_MAX_BYTES)..]);
                    tail.drain(..tail.len().saturating_sub(EVENT_END_MAX_BYTES));
                    is_between_events = tail.ends_with(b"\n\n") || tail.ends_with(b"\r\n\r\n");
                    yield Ok(chunk);
                    continue;
                }
            };
            let problem = serde_json::to_string(&problem.problem()).unwrap_or_default();
            // The empty line ends an incomplete event.
            yield Ok(format!("\n\nevent: error\ndata: {problem}\n\n").into());
            break;
        }
    };
    Body::from_stream(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_setting_only_if_that_is_the_limit() {
        let detail = |is_setting| MaxLength { bytes: 2_000, is_setting }.too_large_error().problem().detail;
        assert_eq!(
            detail(true),
            "The response of the language-model service exceeds 2000 bytes (SF_AI_ANSWER_MAX_BYTES)."
        );
        assert_eq!(detail(false), "The response of the language-model service exceeds 2000 bytes.");
    }

    #[tokio::test]
    async fn heartbeats_are_sent_between_events_only() {
        for (sent_bytes, expects_heartbeat) in [
            (&["data: 1\n\n"][..], true),
            (&["data: 1\r\n\r\n"], true),
            (&["data: 1\n", "\n"], true),
            (&["data: 1", "\r", "\n\r", "\n"], true),
            (&["data: ha"], false),
            (&["data: 1\n\n", "data: ha\n"], false),
        ] {
            let first =
                futures_util::stream::iter(sent_bytes.iter().map(|chunk| Ok::<_, std::io::Error>(*chunk)));
            let body = reqwest::Body::wrap_stream(first.chain(futures_util::stream::pending()));
            let response = reqwest::Response::from(axum::http::Response::new(body));
            let every = Duration::from_millis(5);
            let mut chunks =
                events(response, Duration::MAX, 1_000, every, CancellationToken::new()).into_data_stream();
            for chunk in sent_bytes {
                assert_eq!(chunks.next().await.expect("a chunk").expect("bytes"), *chunk);
            }
            let next = tokio::time::timeout(
                Duration::from_millis(if expects_heartbeat { 10_000 } else { 100 }),
                chunks.next(),
            );
            match next.await {
                Ok(next) => assert!(
                    expects_heartbeat && next.expect("a chunk").expect("bytes") == HEARTBEAT,
                    "{sent_bytes:?}"
                ),
                Err(_) => assert!(!expects_heartbeat, "{sent_bytes:?}"),
            }
        }
    }
}
