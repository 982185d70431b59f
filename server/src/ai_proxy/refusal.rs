//! What users are told when the service with the language models does not do what was asked.

use futures_util::StreamExt as _;
use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::config::Secret;
use crate::error::ApiError;

/// How much of a refusal is read, in bytes.
const REFUSAL_MAX_BYTES: usize = 64 * 1024;

/// How much of its words is passed on, in characters.
const WORDS_MAX_CHARS: usize = 500;

/// Wait before another try where a refusal names none, in seconds.
const RETRY_AFTER_SECS: u64 = 10;

/// Why there is no answer, or only a part of one. The address stays in the log.
pub(super) fn unanswered(error: &reqwest::Error) -> ApiError {
    tracing::warn!(error = chain(error), "the service with the language models does not answer");
    if error.is_timeout() {
        return ApiError::GatewayTimeout {
            code: "ai_timeout",
            detail: "The service with the language models did not answer in time (SF_AI_TIMEOUT_SECS)."
                .to_owned(),
        };
    }
    ApiError::BadGateway {
        code: "ai_unreachable",
        detail: "The service with the language models cannot be reached, or broke off.".to_owned(),
    }
}

fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The refusal that an answer other than a success is.
pub(super) async fn refused(response: Response, key: Option<&Secret>) -> ApiError {
    let status = response.status();
    let retry_after = response.headers().get(reqwest::header::RETRY_AFTER);
    let retry_after_secs = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let words = words(response, key).await;
    tracing::warn!(%status, words, "the service with the language models refuses");
    let said = if words.is_empty() { String::new() } else { format!(" It says: {words}") };
    match status {
        StatusCode::TOO_MANY_REQUESTS => ApiError::TooManyRequests {
            detail: format!("The service with the language models is asked too often.{said}"),
            retry_after_secs: retry_after_secs.unwrap_or(RETRY_AFTER_SECS),
        },
        // Its words may speak of the key.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ApiError::BadGateway {
            code: "ai_key_refused",
            detail:
                "The service with the language models does not take the key that the administrator gave it."
                    .to_owned(),
        },
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => ApiError::GatewayTimeout {
            code: "ai_timeout",
            detail: format!("The service with the language models ran out of time.{said}"),
        },
        status if status.is_client_error() => ApiError::bad_request(
            "ai_refused",
            format!("The service with the language models refused the request ({status}).{said}"),
        ),
        status => ApiError::BadGateway {
            code: "ai_failed",
            detail: format!("The service with the language models failed ({status}).{said}"),
        },
    }
}

/// What a refusal says for people, without the key.
async fn words(response: Response, key: Option<&Secret>) -> String {
    let mut bytes = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > REFUSAL_MAX_BYTES {
            return String::new();
        }
    }
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let said = body.pointer("/error/message").or(body.get("error")).or(body.get("message"));
    let said = said.and_then(Value::as_str).unwrap_or_default();
    let said = match key {
        Some(key) => said.replace(key.reveal(), "(hidden)"),
        None => said.to_owned(),
    };
    said.chars().filter(|letter| !letter.is_control()).take(WORDS_MAX_CHARS).collect()
}
