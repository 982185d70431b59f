//! What is compressed on the way out: text and wasm, never audio or parts of files.

use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate as _, SizeAbove};

type Rule = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// gzip for answers of 1 KiB and more that are worth it. An encoder lives as long as its answer is sent: gzip takes
/// 0.3 MB of memory for each, and Brotli would take several.
pub(crate) fn layer() -> CompressionLayer<And<SizeAbove, Rule>> {
    let rule: Rule = is_worth_it;
    CompressionLayer::new().compress_when(SizeAbove::new(1024).and(rule))
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
    use super::*;

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
