//! HTTP headers of requests and answers about projects.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::error::{ApiError, ApiResult};
use crate::etag;

/// Returns a revision as the value of an `ETag` header.
pub(crate) fn revision_tag(revision: i64) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{revision}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// Returns the revision in the `If-Match` header, if there is one.
pub(super) fn parse_expected_revision(headers: &HeaderMap) -> ApiResult<Option<i64>> {
    let bad = || ApiError::bad_request("bad_if_match", etag::BadIfMatch.to_string());
    let Some(tag) = etag::if_match(headers).map_err(|_| bad())? else { return Ok(None) };
    tag.parse().map(Some).map_err(|_| bad())
}

/// Returns a 304 answer if `If-None-Match` names this revision.
pub(super) fn not_modified(headers: &HeaderMap, revision: i64) -> Option<Response> {
    let tag = [(header::ETAG, revision_tag(revision))];
    let matches = etag::matches_if_none_match(headers, &format!("\"{revision}\""));
    matches.then(|| (StatusCode::NOT_MODIFIED, tag).into_response())
}

/// Returns the header that keeps shared caches from storing projects, because each belongs to one
/// user.
pub(super) fn private_cache_control() -> (HeaderName, HeaderValue) {
    (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))
}
