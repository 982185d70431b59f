//! Forms (`multipart/form-data`, RFC 7578).

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

/// The form in a body.
///
/// # Errors
/// 415 for a body of another kind, 400 `bad_form` for a form without a boundary.
pub(crate) async fn read(request: Request) -> ApiResult<Multipart> {
    body_kind::require(request.headers(), &[FORM])?;
    Multipart::from_request(request, &())
        .await
        .map_err(|error| ApiError::bad_request("bad_form", error.body_text()))
}
