//! Checks the media types and encodings of request bodies (RFC 9110, sections 8.3 and 8.4).

use axum::http::{HeaderMap, header};

use crate::error::{ApiError, ApiResult};

/// Maximum number of characters of a header's value that an error repeats.
const SHOWN_CHARS: usize = 50;

/// Returns the media type without its parameters, in lower case, or an empty text if there is none.
pub(crate) fn essence(headers: &HeaderMap) -> String {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

/// Refuses a body whose media type is not in `kinds`, which must be in lower case, or that has an
/// encoding such as gzip.
///
/// # Errors
/// 415, with a list of `kinds`.
pub(crate) fn require(headers: &HeaderMap, kinds: &[&str]) -> ApiResult<()> {
    require_that(headers, |essence| kinds.contains(&essence), kinds)
}

/// Like [`require`], but also accepts a body without a media type.
///
/// # Errors
/// Those of [`require`].
pub(crate) fn require_if_given(headers: &HeaderMap, kinds: &[&str]) -> ApiResult<()> {
    require_that(headers, |essence| essence.is_empty() || kinds.contains(&essence), kinds)
}

/// Refuses a body whose media type fails `is_accepted`, or that has an encoding. The error lists
/// `kinds`.
///
/// # Errors
/// 415.
pub(crate) fn require_that(
    headers: &HeaderMap,
    is_accepted: impl Fn(&str) -> bool,
    kinds: &[&str],
) -> ApiResult<()> {
    let codings = headers.get_all(header::CONTENT_ENCODING).iter();
    let mut codings = codings.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    if let Some(coding) = codings.find(|coding| !coding.eq_ignore_ascii_case("identity")) {
        let coding: String = coding.chars().take(SHOWN_CHARS).collect();
        return Err(ApiError::UnsupportedMedia {
            detail: format!(
                "The body has the encoding `{coding}` (Content-Encoding); send it without an encoding."
            ),
        });
    }
    let essence = essence(headers);
    if is_accepted(&essence) {
        return Ok(());
    }
    let received_kind = match essence.is_empty() {
        true => "no Content-Type".to_owned(),
        false => format!("`{}`", essence.chars().take(SHOWN_CHARS).collect::<String>()),
    };
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    let detail = format!("The body has {received_kind}; this operation accepts {}.", kinds.join(", "));
    Err(ApiError::UnsupportedMedia { detail })
}
