//! What is compressed on the way out: text and wasm, never audio or parts of files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt as _;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate as _, SizeAbove};

type Rule = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// gzip for answers of 1 KiB and more that are worth it. An encoder lives as long as its answer is
/// sent: gzip takes 0.3 MB of memory for each, and Brotli would take several.
pub(crate) fn layer() -> CompressionLayer<And<SizeAbove, Rule>> {
    let rule: Rule = is_worth_it;
    CompressionLayer::new().compress_when(SizeAbove::new(1024).and(rule))
}

/// Requests that may have compressed answers at a time. The encoders of so many take 80 MB.
const AT_ONCE_MAX: usize = 256;

/// Requests under way whose answers may be compressed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Encoders(Arc<AtomicUsize>);

/// One of these requests. Dropped, it no longer counts.
struct Counted(Encoders);

impl Encoders {
    fn count(&self) -> Option<Counted> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        let counted = Counted(self.clone());
        (before < AT_ONCE_MAX).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Middleware around [`layer`]: beyond a number of requests, answers come as they are.
pub(crate) async fn limit(State(encoders): State<Encoders>, mut request: Request, next: Next) -> Response {
    if !request.headers().contains_key(header::ACCEPT_ENCODING) {
        return next.run(request).await;
    }
    let counted = encoders.count();
    if counted.is_none() {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    let answer = next.run(request).await;
    if !answer.headers().contains_key(header::CONTENT_ENCODING) {
        return answer;
    }
    answer.map(|body| {
        Body::new(body.map_frame(move |frame| {
            // Until the body has ended, or the client has gone.
            let _counted = &counted;
            frame
        }))
    })
}

fn is_worth_it(status: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = kind.split(';').next().unwrap_or("").trim();
    // Server-sent events must leave at once, and a part of a file must stay that part.
    let as_it_is = status == StatusCode::PARTIAL_CONTENT
        || headers.contains_key(header::CONTENT_RANGE)
        || essence == "text/event-stream";
    let text = essence.starts_with("text/")
        || essence.ends_with("json")
        || essence.ends_with("javascript")
        || matches!(essence, "application/wasm" | "image/svg+xml");
    text && !as_it_is
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn answers_beyond_a_number_come_as_they_are() {
        let text = || async { ([(header::CONTENT_TYPE, "text/plain")], "x".repeat(100_000)) };
        let encoders = Encoders::default();
        let routes = Router::new()
            .route("/", get(text))
            .layer(layer())
            .layer(from_fn_with_state(encoders.clone(), limit));
        let ask = async || {
            let request = Request::get("/").header(header::ACCEPT_ENCODING, "gzip").body(Body::empty());
            routes.clone().oneshot(request.expect("a request")).await.expect("an answer")
        };
        let is_packed = |answer: &Response| answer.headers().contains_key(header::CONTENT_ENCODING);
        let mut unread = Vec::new();
        for _ in 0..AT_ONCE_MAX {
            unread.push(ask().await);
        }
        assert!(unread.iter().all(is_packed));
        assert!(!is_packed(&ask().await), "there are too many");
        unread.pop();
        assert!(is_packed(&ask().await), "one has gone");
        drop(unread);
        assert_eq!(encoders.0.load(Ordering::Relaxed), 0);
    }

    #[track_caller]
    fn check(status: StatusCode, kind: &str, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
        assert_eq!(
            is_worth_it(status, Version::HTTP_11, &headers, &Extensions::new()),
            expected,
            "{status} {kind}"
        );
    }

    #[test]
    fn text_and_wasm_are_compressed_and_audio_is_not() {
        for kind in
            ["application/json", "application/problem+json", "text/html; charset=utf-8", "application/wasm"]
        {
            check(StatusCode::OK, kind, true);
        }
        for kind in ["audio/wav", "audio/midi", "application/octet-stream", "image/png", "text/event-stream"]
        {
            check(StatusCode::OK, kind, false);
        }
        check(StatusCode::PARTIAL_CONTENT, "application/json", false);
    }
}
