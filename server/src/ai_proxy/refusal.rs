//! Errors for users when the language-model service fails or refuses a request.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::config::Secret;
use crate::error::ApiError;

/// Time limit for connecting to the service.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// Maximum number of bytes of a refusal that are read.
const REFUSAL_MAX_BYTES: usize = 64 * 1024;

/// Maximum length of a refusal's message that is passed on, in characters.
const MESSAGE_MAX_CHARS: usize = 500;

/// Default and maximum of `Retry-After`, in seconds.
const RETRY_AFTER_SECS: u64 = 10;
const RETRY_AFTER_MAX_SECS: u64 = 3_600;

/// Returns the error for a missing or incomplete answer. `silence_max` is the time limit of the
/// answer. Only the log names the address.
pub(super) fn no_answer_error(error: &reqwest::Error, silence_max: Duration) -> ApiError {
    tracing::warn!(error = describe_with_causes(error), "the language-model service does not respond");
    if error.is_timeout() {
        return ApiError::GatewayTimeout {
            code: "ai_timeout",
            detail: match error.is_connect() {
                true => format!(
                    "No connection to the language-model service was made within {} seconds.",
                    CONNECT_WITHIN.as_secs()
                ),
                false => format!(
                    "The language-model service did not respond within {} seconds (SF_AI_TIMEOUT_SECS).",
                    silence_max.as_secs()
                ),
            },
        };
    }
    ApiError::BadGateway {
        code: "ai_unreachable",
        detail: "The language-model service cannot be reached, or closed the connection.".to_owned(),
    }
}

fn describe_with_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Returns the error for an answer whose status is not a success.
pub(super) async fn refusal_error(response: Response, api_key: Option<&Secret>) -> ApiError {
    let status = response.status();
    let retry_after = response.headers().get(reqwest::header::RETRY_AFTER);
    let retry_after_secs: Option<u64> =
        retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let message = message(response, api_key).await;
    tracing::warn!(%status, message_of_service = message, "the language-model service refused the request");
    let quote = if message.is_empty() { String::new() } else { format!(" Its message: {message}") };
    match status {
        StatusCode::TOO_MANY_REQUESTS => ApiError::TooManyRequests {
            detail: format!("The language-model service reports too many requests.{quote}"),
            retry_after_secs: retry_after_secs.unwrap_or(RETRY_AFTER_SECS).min(RETRY_AFTER_MAX_SECS),
        },
        // The service's message may contain the key.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ApiError::BadGateway {
            code: "ai_key_refused",
            detail: match api_key {
                Some(_) => {
                    "The language-model service rejected this server's key; the administrator can change SF_AI_UPSTREAM_KEY."
                }
                None => {
                    "The language-model service refused access without a key; the administrator can set SF_AI_UPSTREAM_KEY."
                }
            }
            .to_owned(),
        },
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => ApiError::GatewayTimeout {
            code: "ai_timeout",
            detail: format!("The language-model service timed out.{quote}"),
        },
        status if status.is_client_error() => ApiError::bad_request(
            "ai_refused",
            format!("The language-model service refused the request ({status}).{quote}"),
        ),
        status => ApiError::BadGateway {
            code: "ai_failed",
            detail: format!("The language-model service failed ({status}).{quote}"),
        },
    }
}

/// Returns the message of a refusal, without the key. Returns an empty text if the refusal has no
/// message or exceeds [`REFUSAL_MAX_BYTES`].
async fn message(response: Response, api_key: Option<&Secret>) -> String {
    let mut bytes = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > REFUSAL_MAX_BYTES {
            return String::new();
        }
    }
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let message = body.pointer("/error/message").or(body.get("error")).or(body.get("message"));
    let message = message.and_then(Value::as_str).unwrap_or_default();
    let message = match api_key {
        Some(api_key) => message.replace(api_key.reveal(), "(hidden)"),
        None => message.to_owned(),
    };
    message.chars().filter(|character| !character.is_control()).take(MESSAGE_MAX_CHARS).collect()
}
