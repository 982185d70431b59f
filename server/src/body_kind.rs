//! What kind of body a request has (RFC 9110, sections 8.3 and 8.4).

use axum::http::{HeaderMap, header};

use crate::error::{ApiError, ApiResult};

/// Most letters of a header's value that a refusal repeats.
const SHOWN_CHARS: usize = 50;

/// The media type without its parameters, in lower case; empty where none is given.
pub(crate) fn essence(headers: &HeaderMap) -> String {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    given.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

/// Refuses a body that is not of one of these `kinds`, in lower case, or that comes in a coding
/// such as gzip.
///
/// # Errors
/// 415, naming the kinds.
pub(crate) fn require(headers: &HeaderMap, kinds: &[&str]) -> ApiResult<()> {
    require_that(headers, |essence| kinds.contains(&essence), kinds)
}

/// The same, where a body without a media type is taken as well.
///
/// # Errors
/// As [`require`].
pub(crate) fn require_if_given(headers: &HeaderMap, kinds: &[&str]) -> ApiResult<()> {
    require_that(headers, |essence| essence.is_empty() || kinds.contains(&essence), kinds)
}

/// Refuses a body whose media type does not pass `is_taken`, or that comes in a coding; `kinds`
/// names what is taken.
///
/// # Errors
/// 415.
pub(crate) fn require_that(
    headers: &HeaderMap,
    is_taken: impl Fn(&str) -> bool,
    kinds: &[&str],
) -> ApiResult<()> {
    let codings = headers.get_all(header::CONTENT_ENCODING).iter();
    let mut codings = codings.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    if let Some(coding) = codings.find(|coding| !coding.eq_ignore_ascii_case("identity")) {
        let coding: String = coding.chars().take(SHOWN_CHARS).collect();
        return Err(ApiError::UnsupportedMedia {
            detail: format!("The body came in the coding `{coding}` (Content-Encoding); send it as it is."),
        });
    }
    let essence = essence(headers);
    if is_taken(&essence) {
        return Ok(());
    }
    let came = match essence.is_empty() {
        true => "no Content-Type".to_owned(),
        false => format!("`{}`", essence.chars().take(SHOWN_CHARS).collect::<String>()),
    };
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    let detail = format!("The body came with {came}; this operation takes {}.", kinds.join(", "));
    Err(ApiError::UnsupportedMedia { detail })
}
