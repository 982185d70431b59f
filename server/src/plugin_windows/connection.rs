//! Sends a request to the server of a window.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::Response;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use songfoundry_bridge_protocol::window::SECRET_HEADER;
use tokio::net::TcpStream;

use super::open_windows::Window;
use crate::error::{ApiError, ApiResult};

/// Maximum length of the text of an error from the server, in bytes.
const TEXT_BYTES_MAX: usize = 4_096;

/// How long the server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Sends a request. `path` starts with a slash.
///
/// # Errors
/// 502 `window_ended` if the server cannot be reached or does not answer in time, and the errors
/// that the server answers.
pub(super) async fn send(
    window: &Window,
    method: Method,
    path: &str,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult<Response<Incoming>> {
    let answering = exchange(window, method, path, headers, body);
    tokio::time::timeout(ANSWER_MAX, answering)
        .await
        .map_err(|_| ended(&format!("it took longer than {} seconds", ANSWER_MAX.as_secs())))?
}

async fn exchange(
    window: &Window,
    method: Method,
    path: &str,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult<Response<Incoming>> {
    let server = window.server.get().ok_or_else(|| ended("it is being opened"))?;
    let failed = |error: &dyn std::fmt::Display| ended(&error.to_string());
    let stream =
        TcpStream::connect(("127.0.0.1", server.window.port)).await.map_err(|error| failed(&error))?;
    stream.set_nodelay(true).map_err(|error| failed(&error))?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| failed(&error))?;
    // The connection ends with the answer, or with the server.
    tokio::spawn(connection.with_upgrades());
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().map_err(ApiError::internal)?;
    *request.headers_mut() = headers;
    let values = [(SECRET_HEADER, server.secret.as_str()), (header::HOST.as_str(), "127.0.0.1")];
    for (name, value) in values {
        let name: header::HeaderName = name.parse().map_err(ApiError::internal)?;
        request.headers_mut().insert(name, value.parse().map_err(ApiError::internal)?);
    }
    let answer = sender.send_request(request).await.map_err(|error| failed(&error))?;
    match answer.status() {
        status if status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS => Ok(answer),
        status => Err(refused(status, answer).await),
    }
}

/// Returns an answer of the server as one of the API. Browsers must not take the answer of a plugin
/// for a page of the service, so only pictures are passed on.
///
/// # Errors
/// 502 `window_ended` if the content is no picture.
pub(super) fn passed_on<B>(answer: Response<B>) -> ApiResult<Response>
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let (parts, body) = answer.into_parts();
    let media_type = parts.headers.get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes);
    if media_type.is_some_and(|media_type| !is_picture(media_type)) {
        return Err(ended("its answer is no picture"));
    }
    let mut response = Response::new(Body::new(body));
    *response.status_mut() = parts.status;
    for name in [header::CONTENT_TYPE, header::CACHE_CONTROL, header::CONTENT_LENGTH] {
        if let Some(value) = parts.headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
        .headers_mut()
        .insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
    Ok(response)
}

/// Whether a media type is that of a picture or of a stream of pictures.
fn is_picture(media_type: &[u8]) -> bool {
    media_type == b"image/jpeg" || media_type.starts_with(b"multipart/x-mixed-replace;")
}

/// Returns the error for a window that does not answer, with the reason.
pub(super) fn ended(reason: &str) -> ApiError {
    ApiError::BadGateway {
        code: "window_ended",
        detail: format!("The window of the plugin does not answer: {reason}."),
    }
}

async fn refused(status: StatusCode, answer: Response<Incoming>) -> ApiError {
    let text = match Limited::new(answer.into_body(), TEXT_BYTES_MAX).collect().await {
        Ok(text) => String::from_utf8_lossy(&text.to_bytes()).into_owned(),
        Err(_) => format!("The window of the plugin answered with the status {status}."),
    };
    match status {
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::Unprocessable { code: "bad_window_request", detail: text }
        }
        StatusCode::TOO_MANY_REQUESTS => ApiError::Conflict { code: "too_many_streams", detail: text },
        _ => ended(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_are_passed_on() {
        for (media_type, is_passed_on) in [
            ("image/jpeg", true),
            ("multipart/x-mixed-replace; boundary=picture", true),
            ("text/html", false),
            ("image/svg+xml", false),
            ("multipart/related; boundary=picture", false),
        ] {
            let mut answer = Response::new(Full::new(Bytes::from_static(b"x")));
            answer.headers_mut().insert(header::CONTENT_TYPE, media_type.parse().expect("a value"));
            match passed_on(answer) {
                Ok(answer) => {
                    assert!(is_passed_on, "{media_type}");
                    assert_eq!(answer.headers()[header::CONTENT_TYPE], media_type);
                    assert_eq!(answer.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
                }
                Err(error) => {
                    assert!(!is_passed_on, "{media_type}");
                    assert!(matches!(error, ApiError::BadGateway { code: "window_ended", .. }));
                }
            }
        }
    }
}
