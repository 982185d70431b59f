//! Reads forms (`multipart/form-data`, RFC 7578).

use axum::body::{Body, Bytes};
use axum::extract::multipart::MultipartError;
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::{HeaderMap, StatusCode};
use futures_util::{StreamExt as _, stream};

use crate::body_kind;
use crate::error::{ApiError, ApiResult};
use crate::extract::{body_error, is_length_limit};

/// Media type of a form.
pub(crate) const FORM: &str = "multipart/form-data";

/// Length of the longest line that separates the parts of a form (RFC 2046, section 5.1.1): a
/// boundary of 70 characters after two hyphens.
const SEPARATOR_MAX_BYTES: usize = 72;

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
    let (parts, body) = request.into_parts();
    let request = Request::from_parts(parts, with_received_separator(body).await);
    Multipart::from_request(request, &())
        .await
        .map_err(|error| ApiError::bad_request("bad_form", error.body_text()))
}

/// Returns the error for a form that could not be read because of `error`. `too_long` makes the
/// error for a form that exceeds its limit.
pub(crate) fn form_error(error: &MultipartError, too_long: impl FnOnce() -> ApiError) -> ApiError {
    match error.status() {
        // The body itself could not be read.
        StatusCode::INTERNAL_SERVER_ERROR => body_error(error, too_long),
        StatusCode::PAYLOAD_TOO_LARGE => too_long(),
        _ if is_length_limit(error) => too_long(),
        _ => ApiError::bad_request("bad_form", error.body_text()),
    }
}

/// Waits for the first separator. Without this, the parser refuses a form as incomplete if the
/// whole form arrives just after the parser has not found the first separator.
async fn with_received_separator(body: Body) -> Body {
    let mut chunks = body.into_data_stream();
    let mut received_bytes = Vec::new();
    let mut failure = None;
    while received_bytes.len() < SEPARATOR_MAX_BYTES && failure.is_none() {
        match chunks.next().await {
            Some(Ok(chunk)) => received_bytes.extend_from_slice(&chunk),
            Some(Err(error)) => failure = Some(Err(error)),
            None => break,
        }
    }
    let received_stream = std::iter::once(Ok(Bytes::from(received_bytes))).chain(failure);
    Body::from_stream(stream::iter(received_stream).chain(chunks))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn a_form_that_arrives_all_at_once_after_a_pause_is_complete() {
        let form = "--edge\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAda\r\n--edge--\r\n";
        let mut polls = 0;
        let chunks = stream::poll_fn(move |context| {
            polls += 1;
            match polls {
                1 => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
                2 => Poll::Ready(Some(Ok::<_, Infallible>(form))),
                _ => Poll::Ready(None),
            }
        });
        let request = Request::post("/").header("content-type", "multipart/form-data; boundary=edge");
        let request = request.body(Body::from_stream(chunks)).expect("a request");
        let mut form = read(request).await.expect("a form");
        let field = form.next_field().await.expect("complete").expect("a field");
        assert_eq!(field.text().await.expect("a text"), "Ada");
    }
}
