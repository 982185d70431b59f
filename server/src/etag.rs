//! Compares entity tags in conditional requests (RFC 9110, section 13).

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::error::{ApiError, ApiResult};

/// Whether `If-None-Match` contains `etag` by weak comparison. If so, the answer is 304.
#[must_use]
pub fn matches_if_none_match(headers: &HeaderMap, etag: &str) -> bool {
    listed(headers, &header::IF_NONE_MATCH)
        .any(|tag| tag == "*" || without_weak_mark(tag) == without_weak_mark(etag))
}

/// Answers `value` as JSON with an entity tag, which is the hash of the JSON. If the request
/// already has this tag, the answer is 304.
///
/// # Errors
/// 500 if the value cannot be serialized.
pub fn tagged_json(request: &HeaderMap, value: &impl Serialize) -> ApiResult<Response> {
    let json = serde_json::to_string(value).map_err(ApiError::internal)?;
    let etag = format!("\"{:x}\"", Sha256::digest(json.as_bytes()));
    let common = [
        (header::ETAG, HeaderValue::from_str(&etag).map_err(ApiError::internal)?),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    if matches_if_none_match(request, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    Ok((common, json).into_response())
}

/// Returns the tag in `If-Match` without its quotes, or `None` if the header is missing.
///
/// A weak mark (`W/`) is ignored, because compressing proxies add it.
///
/// # Errors
/// If the header is a list, `*`, or not a tag.
pub fn if_match(headers: &HeaderMap) -> Result<Option<&str>, BadIfMatch> {
    if !headers.contains_key(header::IF_MATCH) {
        return Ok(None);
    }
    let mut tags = listed(headers, &header::IF_MATCH);
    let (Some(tag), None) = (tags.next(), tags.next()) else { return Err(BadIfMatch) };
    let quoted_tag = without_weak_mark(tag);
    quoted_tag.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(Some).ok_or(BadIfMatch)
}

/// The error for an `If-Match` header that is not exactly one tag in quotes.
#[derive(Debug, thiserror::Error)]
#[error("If-Match must contain exactly one entity tag in quotes, such as \"3\"")]
pub struct BadIfMatch;

fn listed<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

fn without_weak_mark(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn any_tag_of_the_list_matches() {
        for value in ["\"a\"", "\"b\", \"a\"", "W/\"a\"", "*"] {
            assert!(matches_if_none_match(&headers(header::IF_NONE_MATCH, value), "\"a\""), "{value}");
        }
        assert!(!matches_if_none_match(&headers(header::IF_NONE_MATCH, "\"ab\""), "\"a\""));
        assert!(!matches_if_none_match(&HeaderMap::new(), "\"a\""));
    }

    #[test]
    fn if_match_accepts_one_tag() {
        assert_eq!(if_match(&headers(header::IF_MATCH, "\"3\"")).unwrap(), Some("3"));
        assert_eq!(if_match(&headers(header::IF_MATCH, "W/\"3\"")).unwrap(), Some("3"));
        assert_eq!(if_match(&HeaderMap::new()).unwrap(), None);
        for value in ["3", "*", "\"3\", \"4\"", "\"", ""] {
            assert!(if_match(&headers(header::IF_MATCH, value)).is_err(), "{value}");
        }
    }
}
