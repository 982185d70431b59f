//! The API's extractors, whose rejections are [`ApiError`]s.
//!
//! - [`Json`] reads a JSON body of a known type, with at most [`BodyLimit`] bytes and
//!   [`VALUES_MAX`] values.
//! - [`LongJson`] does the same, but long fields stay text. [`JsonObject`] reads an object that
//!   stays text.
//! - [`RawBody`] reads the bytes of a body, with the same limit. [`JsonBytes`] does the same for
//!   JSON that the handler parses.
//! - [`Query`] and [`Path`] are those of axum, with the rejections of this module.
//!
//! A route raises the limit with [`body_limit`], which also limits extractors that stream, such as
//! multipart.

mod value_count;

use std::error::Error;
use std::io;
use std::iter::successors;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use schemas::json::{JsonKind, JsonText, ObjectWriter};
use serde::de::DeserializeOwned;

use crate::allocator;
use crate::body_kind;
use crate::body_pace::TooSlow;
use crate::error::ApiError;
use crate::held_body::{HeldBody, announced_bytes, in_time};
use crate::permits::{Bounds, Caller, Permits, processors};

/// Default limit on bodies, in bytes.
pub const DEFAULT_BODY_MAX_BYTES: u64 = 1024 * 1024;

/// Number of bytes of an oversized body that are discarded before it is refused, and the time limit
/// for discarding them.
const DISCARD_MAX_BYTES: usize = 256 * 1024 * 1024;
const DISCARD_WITHIN: Duration = Duration::from_secs(5);

/// Maximum size of a JSON body that is parsed on an async thread, in bytes. Parsing it takes about
/// a millisecond.
const PARSED_INLINE_MAX_BYTES: usize = 64 * 1024;

/// Maximum number of values in a JSON body, without its [`LongFields`]. A value takes up to 300
/// bytes of memory, so that all values together take at most 6 MB.
pub const VALUES_MAX: usize = 20_000;

/// Maximum total size of the JSON documents that are processed at the same time, in KiB. A document
/// needs up to ten times its size in memory.
pub(crate) const DOCUMENTS_AT_ONCE_KIB: u32 = 32 * 1024;

/// Limits on waiting documents: their total size in KiB, and their number.
const DOCUMENTS_WAITING_KIB: u64 = 128 * 1024;
const DOCUMENTS_WAITING: u64 = 1_024;

static DOCUMENTS: LazyLock<Permits> = LazyLock::new(|| document_permits(DOCUMENTS_AT_ONCE_KIB));

/// Documents below this size in bytes have separate permits, so that they do not wait for large
/// documents.
const SMALL_BYTES: usize = 1024 * 1024;

/// Maximum total size of the small documents that are processed at the same time, in KiB.
pub(crate) const SMALL_AT_ONCE_KIB: u32 = 4 * 1024;

static SMALL_DOCUMENTS: LazyLock<Permits> = LazyLock::new(|| document_permits(SMALL_AT_ONCE_KIB));

/// Returns permits for documents of `running_kib` in total. At most four documents per processor
/// run at the same time.
fn document_permits(running_kib: u32) -> Permits {
    let bounds = Bounds {
        running: running_kib,
        min_weight: running_kib / (4 * processors()),
        per_user: running_kib / 2,
        waiting_weight_max: DOCUMENTS_WAITING_KIB,
        waiting_requests_max: DOCUMENTS_WAITING,
        reserve_for_idle_users: 0,
    };
    Permits::weighted("document processing", bounds).with_low_priority()
}

/// Runs `work` on a JSON document of `size_bytes` on a blocking thread, when a permit is free.
///
/// # Errors
/// Those of `work`, and 503 `busy` if too many documents wait.
pub(crate) async fn with_document<T: Send + 'static>(
    size_bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let (permits, weight_kib, work) = document_work(size_bytes, work);
    permits.run_weighted(weight_kib, work).await
}

/// Like [`with_document`], but users share the permits fairly.
///
/// # Errors
/// Those of [`with_document`].
pub(crate) async fn with_document_of<T: Send + 'static>(
    user_id: &str,
    size_bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let (permits, weight_kib, work) = document_work(size_bytes, work);
    permits.run_for(user_id, weight_kib, work).await
}

/// Like [`with_document`], but for a user's work that reads its document only when it runs. Waiting
/// requests therefore need no memory, and users share the permits fairly.
///
/// # Errors
/// Those of [`with_document`].
pub(crate) async fn with_unread_document<T: Send + 'static>(
    user_id: &str,
    size_bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let (permits, weight_kib, work) = document_work(size_bytes, work);
    permits.run_reading(user_id, weight_kib, work).await
}

/// Returns the permits for work on a document of `size_bytes`, the weight of the work in KiB, and
/// the work itself.
fn document_work<T>(
    size_bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send,
) -> (&'static Permits, u64, impl FnOnce(&Caller) -> Result<T, ApiError> + Send) {
    let is_small = size_bytes < SMALL_BYTES;
    let work = move |_: &Caller| {
        let outcome = work();
        if !is_small {
            // The memory is returned to the system before the next document needs it.
            allocator::return_free_memory();
        }
        outcome
    };
    (if is_small { &SMALL_DOCUMENTS } else { &DOCUMENTS }, size_bytes as u64 / 1024, work)
}

/// Media type of JSON.
const JSON: &str = "application/json";

/// Limit on the body of a request, and the name of the content.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit {
    /// Maximum size of the content, in bytes.
    pub max_bytes: u64,
    /// Number of bytes that a form may add around the content. Errors do not mention them.
    pub form_max_bytes: u64,
    /// Name of the content, as the start of a sentence, such as "A project".
    pub subject: &'static str,
}

impl Default for BodyLimit {
    fn default() -> Self {
        Self::of(DEFAULT_BODY_MAX_BYTES, "The body of this request")
    }
}

impl BodyLimit {
    /// Returns a limit for bodies that are not forms.
    #[must_use]
    pub const fn of(max_bytes: u64, subject: &'static str) -> Self {
        Self { max_bytes, form_max_bytes: 0, subject }
    }

    /// Returns the error that names this limit.
    #[must_use]
    pub fn too_large_error(self) -> ApiError {
        ApiError::TooLarge { subject: self.subject, limit_bytes: self.max_bytes }
    }

    fn total_bytes(self) -> u64 {
        self.max_bytes.saturating_add(self.form_max_bytes)
    }

    fn bytes(self) -> usize {
        usize::try_from(self.total_bytes()).unwrap_or(usize::MAX)
    }
}

/// Middleware that limits bodies for all extractors. It also passes `limit` to [`Json`] and
/// [`RawBody`], for their errors.
///
/// Use it as `.layer(from_fn(move |request, next| body_limit(limit, request, next)))`, or through
/// [`crate::router::with_body_limit`].
pub async fn body_limit(limit: BodyLimit, mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(limit);
    let is_too_long = announced_bytes(request.headers()).is_some_and(|bytes| bytes > limit.total_bytes());
    let request = request.map(|body| match is_too_long {
        true => refused_when_read(body),
        false => Body::new(Limited::new(body, limit.bytes())),
    });
    next.run(request).await
}

/// Replaces a body whose `Content-Length` exceeds the limit by one that fails when it is read, so
/// that the handler can check the caller first.
fn refused_when_read(body: Body) -> Body {
    Body::from_stream(futures_util::stream::once(async {
        discard(body).await;
        Err::<Bytes, _>(AnnouncedTooLong)
    }))
}

/// Error for a `Content-Length` that exceeds the limit on the body.
#[derive(Debug, thiserror::Error)]
#[error("Content-Length exceeds the limit on the body")]
struct AnnouncedTooLong;

/// Reads and discards a refused body, up to [`DISCARD_MAX_BYTES`] and [`DISCARD_WITHIN`].
///
/// If the service answered while the client is still sending, the connection would be reset.
/// Browsers would then report a network error instead of the answer.
async fn discard(body: Body) {
    let mut body = Limited::new(body, DISCARD_MAX_BYTES);
    let drain_result = async { while let Some(Ok(_)) = body.frame().await {} };
    // The outcome is ignored, because the body is refused anyway.
    let _ = tokio::time::timeout(DISCARD_WITHIN, drain_result).await;
}

/// The bytes of a body.
#[derive(Debug)]
pub struct RawBody(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for RawBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let limit = request.extensions().get::<BodyLimit>().copied().unwrap_or_default();
        if announced_bytes(request.headers()).is_some_and(|bytes| bytes > limit.total_bytes()) {
            discard(request.into_body()).await;
            return Err(limit.too_large_error());
        }
        let body = HeldBody::from_request(&request);
        let (parts, incoming) = request.into_parts();
        let chunks = Limited::new(incoming, limit.bytes()).into_data_stream();
        let body_read = body.read(chunks, |error| body_error(&*error, || limit.too_large_error()));
        in_time(&parts.extensions, body_read).await.map(Self)
    }
}

/// Returns the error for a body that could not be read because of `error`. `too_long` makes the
/// error for a body that exceeds its limit.
pub(crate) fn body_error(error: &(dyn Error + 'static), too_long: impl FnOnce() -> ApiError) -> ApiError {
    if is_length_limit(error) {
        return too_long();
    }
    // hyper reports malformed chunks (RFC 9112, section 7.1) with these kinds.
    let is_malformed = causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData));
    match is_malformed {
        true => ApiError::bad_request(
            "malformed_body",
            "A chunk of the body is malformed (RFC 9112, section 7.1).",
        ),
        false => {
            let too_slow = causes(error).find_map(|cause| cause.downcast_ref::<TooSlow>());
            let reason = match too_slow {
                Some(too_slow) => too_slow.to_string(),
                None => "the body ended before its stated length, or could not be read".to_owned(),
            };
            ApiError::BodyIncomplete { reason }
        }
    }
}

/// Whether `error` was caused by a limit on the length of the body.
#[must_use]
pub fn is_length_limit(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| cause.is::<LengthLimitError>() || cause.is::<AnnouncedTooLong>())
}

/// Returns `error`, its cause, the cause of its cause, and so on.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    successors(Some(error), |&error| error.source())
}

/// The unparsed bytes of a body with the media type of JSON.
#[derive(Debug)]
pub struct JsonBytes(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBytes {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        require_json(request.headers())?;
        RawBody::from_request(request, state).await.map(|RawBody(bytes)| Self(bytes))
    }
}

/// A JSON body or answer.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, state).await?;
        parse_body(bytes, |bytes| {
            check_count(&bytes)?;
            parse_object(&bytes)
        })
        .await
        .map(Json)
    }
}

/// Parses a small body on this thread, and a larger one on a blocking thread when a permit is free.
async fn parse_body<T: Send + 'static>(
    bytes: Bytes,
    parse: impl FnOnce(Bytes) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if bytes.len() <= PARSED_INLINE_MAX_BYTES {
        return parse(bytes);
    }
    with_document(bytes.len(), move || parse(bytes)).await
}

/// A JSON object with any number of values. It stays text.
#[derive(Debug)]
pub struct JsonObject(pub JsonText);

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, state).await?;
        let object = parse_body(bytes, |bytes| {
            let text = read_text(&bytes)?;
            match text.view().kind() {
                JsonKind::Object => Ok(text),
                _ => Err(ApiError::bad_request(
                    "unexpected_json",
                    "The body is not the JSON that is expected here: it is not an object.",
                )),
            }
        });
        object.await.map(Self)
    }
}

/// A type with long fields. These fields are [`JsonText`], which takes no more memory than the
/// text.
pub trait LongFields: DeserializeOwned {
    /// Names of the long fields.
    const NAMES: &'static [&'static str];
}

/// A JSON body whose long fields stay text.
#[derive(Debug)]
pub struct LongJson<T>(pub T);

impl<T: LongFields + Send + 'static, S: Send + Sync> FromRequest<S> for LongJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, state).await?;
        parse_body(bytes, parse_long).await.map(LongJson)
    }
}

/// Parses an object whose fields in [`LongFields::NAMES`] stay text.
///
/// # Errors
/// Those of [`parse_object`], and 400 `too_many_values`.
pub fn parse_long<T: LongFields>(bytes: Bytes) -> Result<T, ApiError> {
    let document = read_text(&bytes)?;
    drop(bytes);
    if document.view().kind() != JsonKind::Object {
        return parse_object(document.as_str().as_bytes());
    }
    let mut text = String::with_capacity(document.as_str().len());
    let mut object = ObjectWriter::new(&mut text);
    for (field_name, value) in document.view().fields() {
        if T::NAMES.contains(&field_name.raw_name()) && value.kind() != JsonKind::Null {
            object.text(field_name.raw_name(), value.as_json());
        } else {
            object.copy(field_name, value);
        }
    }
    object.end();
    drop(document);
    check_count(text.as_bytes())?;
    parse_json(text.as_bytes())
}

/// Reads JSON as text.
///
/// # Errors
/// Those of [`parse_json`].
pub fn read_text(bytes: &[u8]) -> Result<JsonText, ApiError> {
    JsonText::read(bytes).map_err(|error| unexpected_json_error(&error))
}

/// Refuses JSON with too many values before it is parsed. Malformed JSON is left to the parser.
pub(crate) fn check_count(bytes: &[u8]) -> Result<(), ApiError> {
    // This is an upper bound: a comma, colon or bracket precedes each value except the first. Such
    // characters in strings only raise the bound.
    if bytes.iter().filter(|byte| b",:[{".contains(byte)).count() < VALUES_MAX {
        return Ok(());
    }
    match value_count::count_values(bytes, VALUES_MAX) {
        Some(count) if count > VALUES_MAX => Err(ApiError::bad_request(
            "too_many_values",
            format!(
                "The body has more than {VALUES_MAX} JSON values, which is the maximum; send fewer in one request."
            ),
        )),
        _ => Ok(()),
    }
}

impl<T: serde::Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// Parses JSON. More than 128 levels of nesting are refused. Errors name line and column.
///
/// # Errors
/// 400 `malformed_json`, or `unexpected_json` for well-formed JSON that does not match `T`.
pub fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| unexpected_json_error(&error))
}

fn unexpected_json_error(error: &serde_json::Error) -> ApiError {
    let code = match error.classify() {
        serde_json::error::Category::Data => "unexpected_json",
        _ => "malformed_json",
    };
    ApiError::bad_request(code, format!("The body is not the JSON that is expected here: {error}"))
}

/// Parses a JSON object. Refuses a list, which a derived deserializer would accept as the values of
/// the fields.
///
/// # Errors
/// Those of [`parse_json`].
pub fn parse_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        let detail = "The body is not the JSON that is expected here: it is a list instead of an object.";
        return Err(ApiError::bad_request("unexpected_json", detail));
    }
    parse_json(bytes)
}

fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_json = |essence: &str| {
        essence == JSON || (essence.starts_with("application/") && essence.ends_with("+json"))
    };
    body_kind::require_that(headers, is_json, &[JSON])
}

/// The query parameters.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        axum::extract::Query::from_request_parts(parts, state)
            .await
            .map(|axum::extract::Query(value)| Self(value))
            .map_err(|error| ApiError::bad_request("bad_query", error.body_text()))
    }
}

/// The parameters of the path.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        axum::extract::Path::from_request_parts(parts, state)
            .await
            .map(|axum::extract::Path(value)| Self(value))
            .map_err(|error| ApiError::bad_request("bad_path", error.body_text()))
    }
}
