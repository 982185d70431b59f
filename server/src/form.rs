//! Reads forms (`multipart/form-data`, RFC 7578).

use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::HeaderMap;

use crate::body_kind;
use crate::error::{ApiError, ApiResult};

/// Media type of a form.
pub(crate) const FORM: &str = "multipart/form-data";

/// Whether the headers announce a form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    body_kind::essence(headers) == FORM
}

/// Reads the form in a request body.
///
/// # Errors
/// 415 if the body is not a form, 400 `bad_form` if the form has no boundary.
pub(crate) async fn read(request: Request) -> ApiResult<Multipart> {
    body_kind::require(request.headers(), &[FORM])?;
    Multipart::from_request(request, &())
        .await
        .map_err(|error| ApiError::bad_request("bad_form", error.body_text()))
}
