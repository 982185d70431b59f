//! Compresses answers with text or WebAssembly. Audio and ranges of files are never compressed.
//! Large answers are compressed before they are sent ([`crate::large_answer`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt as _;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate as _, SizeAbove};

type Rule = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Returns a layer that compresses suitable answers of 1 KiB or more with gzip. An encoder exists
/// until its answer has been sent. An encoder of gzip needs 0.3 MB of memory; one of Brotli would
/// need several megabytes. The fastest level is used because it delays other requests least.
pub(crate) fn layer() -> CompressionLayer<And<SizeAbove, Rule>> {
    let rule: Rule = is_compressible;
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(SizeAbove::new(1024).and(rule))
}

/// Maximum number of requests with compressed answers at a time. Their encoders need 80 MB of
/// memory.
const ENCODERS_MAX: usize = 256;

/// Counts the active requests whose answers may be compressed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Encoders(Arc<AtomicUsize>);

/// Counts a request whose answer may be compressed, until this value is dropped.
struct CountedRequest(Encoders);

impl Encoders {
    fn count(&self) -> Option<CountedRequest> {
        let count_before = self.0.fetch_add(1, Ordering::Relaxed);
        let counted_request = CountedRequest(self.clone());
        (count_before < ENCODERS_MAX).then_some(counted_request)
    }
}

impl Drop for CountedRequest {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Middleware around [`layer`]. If there are more than [`ENCODERS_MAX`] requests, the answers of
/// further ones are not compressed. A client that accepts neither gzip nor uncompressed answers
/// gets an uncompressed answer, as RFC 9110, section 12.5.3, allows. Otherwise, the layer would
/// answer 406 after the request was carried out.
pub(crate) async fn limit(State(encoders): State<Encoders>, mut request: Request, next: Next) -> Response {
    if refuses_all(request.headers()) {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    if !request.headers().contains_key(header::ACCEPT_ENCODING) {
        return next.run(request).await;
    }
    let counted_request = encoders.count();
    if counted_request.is_none() {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    let answer = next.run(request).await;
    let is_compressed = answer.headers().contains_key(header::CONTENT_ENCODING);
    // The length of an answer is known only if no encoder compresses it while it is sent.
    if !is_compressed || answer.headers().contains_key(header::CONTENT_LENGTH) {
        return answer;
    }
    answer.map(|body| {
        Body::new(body.map_frame(move |frame| {
            // The request is counted until the body has ended or the client has disconnected.
            let _counted = &counted_request;
            frame
        }))
    })
}

/// Whether the client accepts neither gzip nor uncompressed answers.
fn refuses_all(headers: &HeaderMap) -> bool {
    let refuses_identity = weight_of("identity", headers).is_some_and(|weight| weight <= 0.0);
    refuses_identity && !accepts("gzip", headers)
}

/// Whether the client names `encoding`, or all encodings, as acceptable.
pub(crate) fn accepts(encoding: &str, headers: &HeaderMap) -> bool {
    weight_of(encoding, headers).is_some_and(|weight| weight > 0.0)
}

/// Returns the weight of `encoding` in `Accept-Encoding` (RFC 9110, section 12.5.3); `None` if the
/// header names neither `encoding` nor `*`.
fn weight_of(encoding: &str, headers: &HeaderMap) -> Option<f32> {
    let values = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let mut weight_of_others = None;
    for item in values.flat_map(|value| value.split(',')) {
        let (name, parameter) = item.split_once(';').unwrap_or((item, ""));
        let weight = parameter.trim().to_ascii_lowercase();
        let weight = weight.strip_prefix("q=").map_or(Some(1.0), |weight| weight.parse().ok()).unwrap_or(0.0);
        match name.trim() {
            "*" => weight_of_others = Some(weight),
            name if name.eq_ignore_ascii_case(encoding) => return Some(weight),
            _ => {}
        }
    }
    weight_of_others
}

fn is_compressible(status: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = kind.split(';').next().unwrap_or("").trim();
    // Encoders would delay server-sent events. Ranges count the bytes of the uncompressed file.
    let is_excluded = status == StatusCode::PARTIAL_CONTENT
        || headers.contains_key(header::CONTENT_RANGE)
        || essence == "text/event-stream";
    is_text(essence) && !is_excluded
}

/// Whether data of this media type becomes much smaller by compression.
pub(crate) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("json")
        || media_type.ends_with("javascript")
        || matches!(media_type, "application/wasm" | "image/svg+xml")
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn the_number_of_compressed_answers_is_limited() {
        let text = || async { ([(header::CONTENT_TYPE, "text/plain")], "x".repeat(100_000)) };
        let encoders = Encoders::default();
        let routes = Router::new()
            .route("/", get(text))
            .layer(layer())
            .layer(from_fn_with_state(encoders.clone(), limit));
        let send = async || {
            let request = Request::get("/").header(header::ACCEPT_ENCODING, "gzip").body(Body::empty());
            routes.clone().oneshot(request.expect("a request")).await.expect("an answer")
        };
        let is_compressed = |answer: &Response| answer.headers().contains_key(header::CONTENT_ENCODING);
        let mut unread = Vec::new();
        for _ in 0..ENCODERS_MAX {
            unread.push(send().await);
        }
        assert!(unread.iter().all(is_compressed));
        assert!(!is_compressed(&send().await), "an answer above the limit is compressed");
        unread.pop();
        assert!(is_compressed(&send().await), "an answer below the limit is not compressed");
        drop(unread);
        assert_eq!(encoders.0.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_client_that_refuses_all_encodings_gets_an_uncompressed_answer() {
        let text = || async { ([(header::CONTENT_TYPE, "text/plain")], "x".repeat(100_000)) };
        let routes = Router::new()
            .route("/", get(text))
            .layer(layer())
            .layer(from_fn_with_state(Encoders::default(), limit));
        for (accepted_encodings, is_compressed) in [
            ("gzip, deflate, br", true),
            ("GZIP;q=0.5", true),
            ("identity;q=0, gzip", true),
            ("br", false),
            ("identity;q=0", false),
            ("identity;q=0, br", false),
            ("gzip;q=0,*;q=0", false),
            ("*;q=0.0", false),
        ] {
            let request =
                Request::get("/").header(header::ACCEPT_ENCODING, accepted_encodings).body(Body::empty());
            let answer = routes.clone().oneshot(request.expect("a request")).await.expect("an answer");
            let has_encoding = answer.headers().contains_key(header::CONTENT_ENCODING);
            assert_eq!(
                (answer.status(), has_encoding),
                (StatusCode::OK, is_compressed),
                "{accepted_encodings}"
            );
        }
    }

    #[track_caller]
    fn check(status: StatusCode, kind: &str, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
        assert_eq!(
            is_compressible(status, Version::HTTP_11, &headers, &Extensions::new()),
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
