//! Answers that wait in memory until their clients read them.
//!
//! An HTTP/2 client may ask for many and read none. All of them together hold a bounded number of
//! bytes, shared fairly between those who ask. Large answers wait on the disk instead
//! ([`crate::large_answer`]).

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

use crate::auth::session;
use crate::client_address::{client_address, network_of};
use crate::fair_bytes::{FairBytes, Share};
use crate::large_answer::IN_MEMORY_MAX_BYTES;
use crate::peer::peer_of;
use crate::state::AppState;

/// Bytes of all answers together.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Lengths of the answers that count. Longer ones lie on the disk.
const COUNTED_BYTES: RangeInclusive<u64> = 1_024..=IN_MEMORY_MAX_BYTES as u64;

/// Room for all answers.
pub(crate) fn room() -> FairBytes {
    FairBytes::new("answers that wait for their clients", MAX_BYTES)
}

/// Middleware: refuses to read something for somebody whose answers wait already.
pub(crate) async fn limit(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let owner = owner(&state, &request);
    let changes_nothing = matches!(*request.method(), Method::GET | Method::HEAD);
    let response = next.run(request).await;
    let length = response.body().size_hint().exact();
    let Some(bytes) = length.filter(|bytes| COUNTED_BYTES.contains(bytes)) else { return response };
    let mut share = state.held_answers.share(&owner);
    match share.grow(bytes) {
        Ok(()) => {
            let share = Arc::new(share);
            response.map(|body| Body::new(Held { body, share }))
        }
        Err(busy) if changes_nothing => busy.into_response(),
        // It was done, and whoever asked must hear so.
        Err(_) => response,
    }
}

/// Who asks: an account by its log-in, an API key, or an address.
fn owner(state: &AppState, request: &Request) -> String {
    let headers = request.headers();
    if let Some(claims) = session(headers, &state.tokens) {
        return claims.sub;
    }
    match (headers.get(header::AUTHORIZATION), peer_of(request.extensions())) {
        (Some(key), _) => format!("key {:x}", Sha256::digest(key)),
        (None, Some(peer)) => {
            network_of(client_address(peer, headers, &state.config.network.trusted_proxies))
        }
        (None, None) => String::new(),
    }
}

/// A body whose bytes count until they are sent.
struct Held {
    body: Body,
    share: Arc<Share>,
}

/// Bytes on their way through HTTP/2, which may keep them for long.
struct Counted {
    bytes: Bytes,
    _share: Arc<Share>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let counted = |bytes| Bytes::from_owner(Counted { bytes, _share: Arc::clone(&self.share) });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(counted))))
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
    async fn whose_answers_wait_gets_no_more_and_others_do() {
        let app = TestApp::start().await;
        let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
        let me = app.remote(Method::GET, "/api/v1/auth/me").token(&ada).send().await.expect(200);
        let song = json!({ "schema_version": 1, "project_id": "song", "name": "x".repeat(200), "tracks": [], "client": "x".repeat(3_000) });
        for token in [&ada, &bob] {
            app.remote(Method::POST, "/api/v1/projects").token(token).json(&song).send().await.expect(201);
        }
        let read = async |token: &str| {
            app.remote(Method::GET, "/api/v1/projects/song/raw").token(token).send().await
        };
        let mut waiting = app.state.held_answers.share(me["id"].as_str().expect("an id"));
        waiting.grow(MAX_BYTES / 2).expect("half of all");
        assert!(read(&ada).await.problem(503, "busy").contains("answers"));
        read(&bob).await.expect(200);
        drop(waiting);
        read(&ada).await.expect(200);
        // Answers that were read are no longer counted.
        app.state.held_answers.share("all").grow(MAX_BYTES / 2).expect("nothing is held");
    }

    #[tokio::test]
    async fn bytes_count_as_long_as_somebody_has_them() {
        let all = FairBytes::new("tests", 100);
        let mut share = all.share("ada");
        share.grow(50).expect("fits");
        let mut held = Held { body: Body::from("fifty"), share: Arc::new(share) };
        let frame = held.frame().await.expect("a frame").expect("bytes").into_data().expect("bytes");
        drop(held);
        assert_eq!(&frame[..], b"fifty");
        assert!(all.share("ada").grow(1).is_err(), "its bytes are still there");
        drop(frame);
        all.share("ada").grow(50).expect("they are gone");
    }
}
