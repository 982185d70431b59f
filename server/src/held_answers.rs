//! Limits the memory of answers that have not been sent yet because their clients do not read them.
//!
//! An HTTP/2 client may send many requests without reading the answers. All waiting answers share a
//! budget of bytes, which is divided fairly between callers. Large answers are stored on the disk
//! instead ([`crate::large_answer`]).

use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Frame, SizeHint};
use sha2::{Digest as _, Sha256};

use crate::auth::claims_of;
use crate::client_address::{client_address, network_of};
use crate::fair_bytes::{FairBytes, ReservedBytes};
use crate::large_answer::IN_MEMORY_MAX_BYTES;
use crate::peer::peer_of;
use crate::state::AppState;

/// Maximum total size of all waiting answers, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Lengths in bytes of the answers that count toward the budget. Longer answers are on the disk.
const COUNTED_BYTES: RangeInclusive<u64> = 1_024..=IN_MEMORY_MAX_BYTES as u64;

/// Returns the budget of all waiting answers.
pub(crate) fn budget() -> FairBytes {
    FairBytes::new("memory for unsent responses", MAX_BYTES)
}

/// Middleware that refuses GET and HEAD requests of a caller whose waiting answers use up the
/// budget.
pub(crate) async fn limit(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let owner = find_owner(&state, &request);
    let changes_nothing = matches!(*request.method(), Method::GET | Method::HEAD);
    let response = next.run(request).await;
    let length_bytes = response.body().size_hint().exact();
    let Some(bytes) = length_bytes.filter(|bytes| COUNTED_BYTES.contains(bytes)) else { return response };
    let mut reserved_bytes = state.held_answers.reservation(&owner);
    match reserved_bytes.grow(bytes) {
        Ok(()) => {
            let reserved_bytes = Arc::new(reserved_bytes);
            response.map(|body| Body::new(CountedBody { body, reserved_bytes }))
        }
        Err(busy) if changes_nothing => busy.into_response(),
        // The operation has already been carried out, so the caller must get the answer.
        Err(_) => response,
    }
}

/// Returns a text that identifies the caller: an account, an API key or an address.
fn find_owner(state: &AppState, request: &Request) -> String {
    let headers = request.headers();
    if let Some(claims) = claims_of(headers, &state.tokens) {
        return claims.sub;
    }
    match (headers.get(header::AUTHORIZATION), peer_of(request.extensions())) {
        (Some(api_key), _) => format!("key {:x}", Sha256::digest(api_key)),
        (None, Some(peer)) => {
            network_of(client_address(peer, headers, &state.config.network.trusted_proxies))
        }
        (None, None) => String::new(),
    }
}

/// A body whose bytes count until they have been sent.
struct CountedBody {
    body: Body,
    reserved_bytes: Arc<ReservedBytes>,
}

/// Bytes in the send buffers of HTTP/2. They may stay there for a long time.
struct CountedBytes {
    bytes: Bytes,
    _reserved: Arc<ReservedBytes>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let count_bytes =
            |bytes| Bytes::from_owner(CountedBytes { bytes, _reserved: Arc::clone(&self.reserved_bytes) });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(count_bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::json;

    use super::*;
    use crate::test_app::TestApp;

    #[tokio::test]
    async fn a_caller_with_too_many_unread_answers_is_refused() {
        let app = TestApp::start().await;
        let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
        let me = app.remote(Method::GET, "/api/v1/auth/me").token(&ada).send().await.expect(200);
        let song = json!({ "schema_version": 1, "project_id": "song", "name": "x".repeat(200), "tracks": [], "client": "x".repeat(3_000) });
        for token in [&ada, &bob] {
            app.remote(Method::POST, "/api/v1/projects").token(token).json(&song).send().await.expect(201);
        }
        let read_song = async |token: &str| {
            app.remote(Method::GET, "/api/v1/projects/song/raw").token(token).send().await
        };
        let mut waiting = app.state.held_answers.reservation(me["id"].as_str().expect("an id"));
        waiting.grow(MAX_BYTES / 2).expect("half of the budget");
        assert!(read_song(&ada).await.problem(503, "busy").contains("memory for unsent responses"));
        read_song(&bob).await.expect(200);
        drop(waiting);
        read_song(&ada).await.expect(200);
        // Answers that have been read no longer count.
        app.state.held_answers.reservation("all").grow(MAX_BYTES / 2).expect("no bytes are reserved");
    }

    #[tokio::test]
    async fn bytes_count_until_they_are_dropped() {
        let budget = FairBytes::new("tests", 100);
        let mut reservation = budget.reservation("ada");
        reservation.grow(50).expect("within the budget");
        let mut body = CountedBody { body: Body::from("fifty"), reserved_bytes: Arc::new(reservation) };
        let frame = body.frame().await.expect("a frame").expect("bytes").into_data().expect("bytes");
        drop(body);
        assert_eq!(&frame[..], b"fifty");
        assert!(budget.reservation("ada").grow(1).is_err(), "the frame still counts");
        drop(frame);
        budget.reservation("ada").grow(50).expect("the bytes are dropped");
    }
}
