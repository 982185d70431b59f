//! Forms (`multipart/form-data`, RFC 7578).

use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::{HeaderMap, header};

use crate::error::{ApiError, ApiResult};

const FORM: &str = "multipart/form-data";

/// Whether the headers announce a form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    kind(headers) == FORM
}

/// The form in a body.
///
/// # Errors
/// 415 for a body of another kind, 400 `bad_form` for a form without a boundary.
pub(crate) async fn read(request: Request) -> ApiResult<Multipart> {
    if !is_form(request.headers()) {
        let kind = kind(request.headers());
        let came = if kind.is_empty() { "no Content-Type".to_owned() } else { format!("`{kind}`") };
        let detail = format!("The body came with {came}; this operation takes `{FORM}`.");
        return Err(ApiError::UnsupportedMedia { detail });
    }
    Multipart::from_request(request, &())
        .await
        .map_err(|error| ApiError::bad_request("bad_form", error.body_text()))
}

/// The media type without its parameters, in lower case; empty where none is given.
fn kind(headers: &HeaderMap) -> String {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    given.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}
