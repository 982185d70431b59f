//! The error type of the API and its body, `application/problem+json` (RFC 9457).
//!
//! Handlers, extractors, missing routes and panics all answer with this type. Internal errors are
//! logged here, once, and are never shown.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// `Retry-After` of a 503, in seconds. It is longer than the database's short locks.
const UNAVAILABLE_RETRY_AFTER_SECS: u64 = 2;

/// Result codes of SQLite if another connection has the lock: `SQLITE_BUSY`, `SQLITE_LOCKED` and
/// their extended forms, and `SQLITE_PROTOCOL` of the write-ahead log. Source:
/// <https://www.sqlite.org/rescode.html>.
const SQLITE_LOCKED_CODES: [&str; 8] = ["5", "6", "15", "261", "262", "517", "518", "773"];

/// The result of a handler.
pub type ApiResult<T> = Result<T, ApiError>;

/// An invalid value in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) to the offending value.
    pub pointer: String,
    /// Reason why the value is not valid.
    pub detail: String,
}

/// Escapes a name for use in a JSON pointer (RFC 6901, section 3).
#[must_use]
pub fn pointer_part(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Body of every error answer (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Kind of problem: a URI reference made from `code`.
    #[serde(rename = "type")]
    pub type_uri: String,
    /// The status in words.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Explanation for people.
    pub detail: String,
    /// Stable name of the problem for programs.
    pub code: String,
    /// The invalid values of a document that failed validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub errors: Option<Vec<FieldError>>,
}

/// The reason why a request failed. Each variant has one status.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// 400: the request is malformed.
    #[error("{detail}")]
    BadRequest {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 400: a document is well-formed but not valid; the invalid values are listed.
    #[error("{detail}")]
    Invalid {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
        /// The invalid values.
        errors: Vec<FieldError>,
    },
    /// 401: the caller is unknown. Answered with `WWW-Authenticate: Bearer`.
    #[error("{detail}")]
    Unauthorized {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 403: the caller is known, but not allowed to do this.
    #[error("{detail}")]
    Forbidden {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 404: the resource does not exist, or belongs to another account.
    #[error("{detail}")]
    NotFound {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 405: the path exists, but not with this method.
    #[error("this path does not accept the method {method}")]
    MethodNotAllowed {
        /// The method that was used.
        method: String,
    },
    /// 408: the body did not arrive completely in time.
    #[error("{reason}; send the request again")]
    BodyIncomplete {
        /// Reason why the body is incomplete.
        reason: String,
    },
    /// 409: the request conflicts with the current state.
    #[error("{detail}")]
    Conflict {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 412: the resource has changed since the caller read it.
    #[error("{detail}")]
    PreconditionFailed {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 413: the content has more bytes than its limit.
    #[error("{subject} may have at most {limit_bytes} bytes")]
    TooLarge {
        /// Name of the content, as the start of a sentence.
        subject: &'static str,
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// 415: the operation does not accept this media type.
    #[error("{detail}")]
    UnsupportedMedia {
        /// Explanation for people: the received media type and the accepted ones.
        detail: String,
    },
    /// 416: a range outside the file. Answered with `Content-Range: bytes */size`.
    #[error("the range is outside the file, which has {size_bytes} bytes")]
    RangeNotSatisfiable {
        /// Size of the file in bytes.
        size_bytes: u64,
    },
    /// 422: the request is valid, but cannot be carried out.
    #[error("{detail}")]
    Unprocessable {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 428: a write must name the revision on which it is based.
    #[error("{detail}")]
    PreconditionRequired {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 429: the caller sends too many requests. Answered with `Retry-After`.
    #[error("{detail}")]
    TooManyRequests {
        /// Explanation for people.
        detail: String,
        /// Seconds to wait before a retry.
        retry_after_secs: u64,
    },
    /// 501: this installation does not support the operation.
    #[error("{detail}")]
    NotImplemented {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 502: an upstream service refused the request, or an upstream service or a plugin sent an
    /// unusable answer or none.
    #[error("{detail}")]
    BadGateway {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 504: an upstream service or a plugin did not answer in time.
    #[error("{detail}")]
    GatewayTimeout {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 503: temporarily unavailable. Answered with `Retry-After`.
    #[error("{detail}")]
    Unavailable {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// 503: too many requests of this kind are running or waiting. Answered with `Retry-After`.
    #[error("{detail}")]
    Busy {
        /// Explanation for people.
        detail: String,
        /// Seconds to wait before a retry.
        retry_after_secs: u64,
    },
    /// 503: decoding was stopped at its time limit. The load of the machine or a low setting may be
    /// the cause, so another attempt may succeed. Answered with `Retry-After`.
    #[error("{detail}")]
    DecodeTimeout {
        /// Explanation for people.
        detail: String,
    },
    /// 507: the disk, or its quota in the operating system, is full. Stored data is unchanged.
    #[error("the storage is full; nothing was changed. Delete files, or ask an administrator for disk space")]
    StorageFull,
    /// 507: the user's quota is used up. Stored data is unchanged.
    #[error(
        "the request needs {least}{needed_bytes} bytes; {used_bytes} of your {quota_bytes} bytes of storage are used. Nothing was changed",
        least = if *is_exact { "" } else { "at least " }
    )]
    QuotaExceeded {
        /// The user's quota, in bytes.
        quota_bytes: u64,
        /// Number of bytes that the user already stores.
        used_bytes: u64,
        /// Number of bytes that would be added. It is a lower bound unless `is_exact`.
        needed_bytes: u64,
        /// Whether `needed_bytes` is exact.
        is_exact: bool,
    },
    /// 460, defined by the tus protocol: a part of an upload does not match its checksum.
    #[error("the received bytes do not match the Upload-Checksum; no bytes were appended")]
    ChecksumMismatch,
    /// 500: an error of the service. Only the log contains its text.
    #[error("internal error: {0:#}")]
    Internal(anyhow::Error),
}

impl ApiError {
    /// Returns a 404. The text is the same for a resource that does not exist and for one of
    /// another account.
    pub fn not_found(kind: &str, id: &str) -> Self {
        Self::NotFound { code: "not_found", detail: format!("There is no {kind} `{id}`.") }
    }

    /// Returns the 401 for a request whose account was disabled after it began.
    pub(crate) fn account_disabled() -> Self {
        let detail = "The account was disabled while the service worked on this request.".to_owned();
        Self::Unauthorized { code: "account_disabled", detail }
    }

    /// Returns a 400 with a stable name.
    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::BadRequest { code, detail: detail.into() }
    }

    /// Returns a 500 for any error, except that a database error keeps its own status.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        match error.into().downcast::<sqlx::Error>() {
            Ok(database_error) => database_error.into(),
            Err(error) => Self::Internal(error),
        }
    }

    /// Returns the error of requests that a stop of the service interrupts.
    pub(crate) fn stopping() -> Self {
        Self::Unavailable {
            code: "stopping",
            detail: "The service is stopping; try again in a moment.".to_owned(),
        }
    }

    fn database_busy() -> Self {
        Self::Unavailable {
            code: DATABASE_BUSY,
            detail: "The database is too busy to answer; try again in a moment.".to_owned(),
        }
    }

    fn storage_unreachable(error: &object_store::Error) -> Self {
        tracing::error!(%error, "the object storage did not answer, or refused the request");
        Self::Unavailable {
            code: "storage_unreachable",
            detail: "The file storage does not answer; try again in a moment.".to_owned(),
        }
    }

    /// Whether the content of the request is the cause, so that a retry fails again. Other causes
    /// may be temporary, such as a busy database, a full disk or quota, or an error of the service.
    #[must_use]
    pub fn is_fault_of_content(&self) -> bool {
        matches!(
            self,
            Self::BadRequest { .. }
                | Self::Invalid { .. }
                | Self::TooLarge { .. }
                | Self::UnsupportedMedia { .. }
                | Self::Unprocessable { .. }
                | Self::ChecksumMismatch
        )
    }

    /// Whether the error concerns one of several files, so that the others may still be accepted.
    #[must_use]
    pub fn refuses_one_file(&self) -> bool {
        self.is_fault_of_content()
            || matches!(
                self,
                Self::NotFound { .. }
                    | Self::Forbidden { .. }
                    | Self::QuotaExceeded { .. }
                    | Self::DecodeTimeout { .. }
            )
    }

    /// Returns the HTTP status of this variant.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest { .. } | Self::Invalid { .. } => StatusCode::BAD_REQUEST,
            Self::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
            Self::Forbidden { .. } => StatusCode::FORBIDDEN,
            Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyIncomplete { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict { .. } => StatusCode::CONFLICT,
            Self::PreconditionFailed { .. } => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMedia { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RangeNotSatisfiable { .. } => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::Unprocessable { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::PreconditionRequired { .. } => StatusCode::PRECONDITION_REQUIRED,
            Self::TooManyRequests { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::NotImplemented { .. } => StatusCode::NOT_IMPLEMENTED,
            Self::BadGateway { .. } => StatusCode::BAD_GATEWAY,
            Self::GatewayTimeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::Unavailable { .. } | Self::Busy { .. } | Self::DecodeTimeout { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::StorageFull | Self::QuotaExceeded { .. } => StatusCode::INSUFFICIENT_STORAGE,
            Self::ChecksumMismatch => StatusCode::from_u16(460).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadRequest { code, .. }
            | Self::Invalid { code, .. }
            | Self::Unauthorized { code, .. }
            | Self::Forbidden { code, .. }
            | Self::NotFound { code, .. }
            | Self::Conflict { code, .. }
            | Self::PreconditionFailed { code, .. }
            | Self::Unprocessable { code, .. }
            | Self::PreconditionRequired { code, .. }
            | Self::NotImplemented { code, .. }
            | Self::BadGateway { code, .. }
            | Self::GatewayTimeout { code, .. }
            | Self::Unavailable { code, .. } => code,
            Self::MethodNotAllowed { .. } => "method_not_allowed",
            Self::BodyIncomplete { .. } => "body_incomplete",
            Self::TooLarge { .. } => "too_large",
            Self::UnsupportedMedia { .. } => "unsupported_media_type",
            Self::RangeNotSatisfiable { .. } => "range_not_satisfiable",
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::Busy { .. } => "busy",
            Self::DecodeTimeout { .. } => "decode_timeout",
            Self::StorageFull => "storage_full",
            Self::QuotaExceeded { .. } => "quota_exceeded",
            Self::ChecksumMismatch => "checksum_mismatch",
            Self::Internal(_) => "internal",
        }
    }

    /// Returns the body of the answer. It does not contain the text of internal errors.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let status = self.status();
        let detail = match self {
            Self::Internal(_) => "The service had an internal error; its log has the details.".to_owned(),
            error => sentence(&error.to_string()),
        };
        let errors = match self {
            Self::Invalid { errors, .. } => Some(errors.clone()),
            _ => None,
        };
        Problem {
            type_uri: format!("urn:songfoundry:problem:{}", self.code()),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail,
            code: self.code().to_owned(),
            errors,
        }
    }
}

/// Code of the answer to a request that waited too long for the database.
pub(crate) const DATABASE_BUSY: &str = "database_busy";

/// Extension of an answer whose code is [`DATABASE_BUSY`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct DatabaseBusy;

/// Returns the text with an upper-case first letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let mut output: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    output.push_str(letters.as_str());
    if !output.ends_with(['.', '!', '?']) {
        output.push('.');
    }
    output
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Internal(error) = &self {
            tracing::error!(error = format!("{error:#}"), "internal error");
        }
        let extra: Option<(HeaderName, HeaderValue)> = match &self {
            Self::Unauthorized { .. } => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            Self::TooManyRequests { retry_after_secs, .. } | Self::Busy { retry_after_secs, .. } => {
                Some((header::RETRY_AFTER, HeaderValue::from(*retry_after_secs)))
            }
            Self::Unavailable { .. } | Self::DecodeTimeout { .. } => {
                Some((header::RETRY_AFTER, HeaderValue::from(UNAVAILABLE_RETRY_AFTER_SECS)))
            }
            Self::RangeNotSatisfiable { size_bytes } => {
                HeaderValue::from_str(&format!("bytes */{size_bytes}"))
                    .ok()
                    .map(|value| (header::CONTENT_RANGE, value))
            }
            _ => None,
        };
        let mut response = (self.status(), Json(self.problem())).into_response();
        if self.code() == DATABASE_BUSY {
            response.extensions_mut().insert(DatabaseBusy);
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some((name, value)) = extra {
            headers.insert(name, value);
        }
        response
    }
}

impl From<sqlx::Error> for ApiError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) => match inner.code().as_deref() {
                // SQLITE_FULL and disk_full: the database has rolled the transaction back.
                Some("13" | "53100") => {
                    tracing::error!(error = %error, "the database's disk is full");
                    return Self::StorageFull;
                }
                // character_not_in_repertoire and untranslatable_character: texts in PostgreSQL
                // cannot contain U+0000.
                Some("22021" | "22P05") => {
                    let detail = "A text contains the character U+0000, which cannot be stored; remove it.";
                    return Self::bad_request("bad_text", detail);
                }
                // serialization_failure, deadlock_detected, lock_not_available, query_canceled by
                // its time-out, too_many_connections and idle_in_transaction_session_timeout:
                // nothing was changed, and a retry may succeed.
                Some("40001" | "40P01" | "55P03" | "57014" | "53300" | "25P03") => {
                    tracing::warn!(error = %error, "the database is busy");
                    return Self::database_busy();
                }
                Some(code) if SQLITE_LOCKED_CODES.contains(&code) => {
                    tracing::warn!(error = %error, "another connection holds the lock of the database");
                    return Self::database_busy();
                }
                // admin_shutdown, crash_shutdown and cannot_connect_now: the database restarts.
                // Class 08 (below): the connection was refused or has broken.
                Some("57P01" | "57P02" | "57P03") => {}
                // SQLITE_CANTOPEN: the database file was moved away.
                Some("14") => {}
                Some(code) if code.len() == 5 && code.starts_with("08") => {}
                _ => return Self::Internal(anyhow::Error::new(error).context("database")),
            },
            sqlx::Error::PoolTimedOut => return Self::database_busy(),
            // `Protocol` and `Tls`: the server or a proxy ended the connection while it was being
            // opened.
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => {}
            _ => return Self::Internal(anyhow::Error::new(error).context("database")),
        }
        tracing::error!(%error, "the database does not answer");
        Self::Unavailable {
            code: "database_unreachable",
            detail: "The database does not answer; try again in a moment.".to_owned(),
        }
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                tracing::error!(error = %error, "the storage is full");
                Self::StorageFull
            }
            // Writers and readers of this service pass their own errors through `std::io::Error`.
            _ => match error.downcast::<Self>().map_err(std::io::Error::downcast) {
                Ok(refusal) => refusal,
                Err(Ok(of_object_storage)) => Self::storage_unreachable(&of_object_storage),
                Err(Err(error)) => Self::Internal(anyhow::Error::new(error).context("file system")),
            },
        }
    }
}

/// Converts an error for a writer or reader. The conversion back returns the same error.
impl From<ApiError> for std::io::Error {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::StorageFull => std::io::ErrorKind::StorageFull.into(),
            error => Self::other(error),
        }
    }
}

/// Converts an error of writing an archive.
impl From<zip::result::ZipError> for ApiError {
    fn from(error: zip::result::ZipError) -> Self {
        match error {
            zip::result::ZipError::Io(error) => error.into(),
            error => Self::Internal(anyhow::Error::new(error).context("archive")),
        }
    }
}

impl From<tokio::task::JoinError> for ApiError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Internal(anyhow::Error::new(error).context("background thread"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn body(error: ApiError) -> (StatusCode, serde_json::Value, axum::http::HeaderMap) {
        let response = error.into_response();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 10_000).await.expect("a small body");
        (parts.status, serde_json::from_slice(&bytes).expect("JSON"), parts.headers)
    }

    #[tokio::test]
    async fn the_answer_to_an_internal_error_does_not_contain_its_text() {
        let (status, body, _) = body(ApiError::internal(anyhow::anyhow!("password of db is hunter2"))).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!body.to_string().contains("hunter2"));
        assert_eq!(body["code"], "internal");
    }

    #[tokio::test]
    async fn a_temporary_database_error_is_answered_503_even_with_context() {
        for (error, code) in [
            (anyhow::Error::new(sqlx::Error::PoolTimedOut), "database_busy"),
            (anyhow::Error::new(sqlx::Error::PoolTimedOut).context("one").context("two"), "database_busy"),
            (anyhow::Error::new(sqlx::Error::PoolClosed), "database_unreachable"),
            (anyhow::Error::new(sqlx::Error::Protocol("ended".to_owned())), "database_unreachable"),
        ] {
            let (status, body, headers) = body(ApiError::internal(error)).await;
            assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &code.into()));
            assert!(headers.contains_key(header::RETRY_AFTER));
        }
    }

    #[tokio::test]
    async fn a_full_disk_is_answered_507() {
        let error: ApiError = std::io::Error::from(std::io::ErrorKind::StorageFull).into();
        let (status, body, headers) = body(error).await;
        assert_eq!(status, StatusCode::INSUFFICIENT_STORAGE);
        assert_eq!(body["code"], "storage_full");
        assert_eq!(headers[header::CONTENT_TYPE], "application/problem+json");
    }

    #[tokio::test]
    async fn a_failing_object_storage_is_answered_503() {
        let source = "connection refused".into();
        let error: std::io::Error = object_store::Error::Generic { store: "S3", source }.into();
        let (status, body, headers) = body(error.into()).await;
        assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &"storage_unreachable".into()));
        assert!(headers.contains_key(header::RETRY_AFTER));
    }

    #[tokio::test]
    async fn errors_have_the_headers_of_their_status() {
        let (_, _, headers) =
            body(ApiError::Unauthorized { code: "token_missing", detail: "who?".to_owned() }).await;
        assert_eq!(headers[header::WWW_AUTHENTICATE], "Bearer");
        let (_, body_value, headers) =
            body(ApiError::TooManyRequests { detail: "slow down".to_owned(), retry_after_secs: 7 }).await;
        assert_eq!(headers[header::RETRY_AFTER], "7");
        assert_eq!(body_value["detail"], "Slow down.");
        let (_, _, headers) = body(ApiError::database_busy()).await;
        assert_eq!(headers[header::RETRY_AFTER], "2");
        let (_, _, headers) = body(ApiError::RangeNotSatisfiable { size_bytes: 9 }).await;
        assert_eq!(headers[header::CONTENT_RANGE], "bytes */9");
    }
}
