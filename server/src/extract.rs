//! The API's own extractors, so that what they refuse reads like every other error.
//!
//! - [`Json`]: a JSON body of a known type, at most [`BodyLimit`] bytes and [`VALUES_MAX`] values.
//! - [`LongJson`]: the same where some fields are long and stay text; [`JsonObject`]: all of it
//!   stays text.
//! - [`RawBody`]: the bytes of a body, under the same limit; [`JsonBytes`]: the same for JSON that
//!   the handler parses.
//! - [`Query`] and [`Path`]: as axum's.
//!
//! A route raises the limit with [`body_limit`], which also guards streaming extractors such as
//! multipart.

mod value_count;

use std::sync::LazyLock;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use schemas::json::{JsonText, Kind, ObjectWriter};
use serde::de::DeserializeOwned;

use crate::allocator;
use crate::body_kind;
use crate::error::ApiError;
use crate::held_body::{HeldBody, announced_bytes, in_time};
use crate::permits::{Bounds, Caller, Permits, processors};

/// Largest body where a route says nothing else, in bytes.
pub const DEFAULT_BODY_MAX_BYTES: u64 = 1024 * 1024;

/// How much of a body that is announced as too long is read, and for how long, before it is
/// refused.
const DISCARD_MAX_BYTES: usize = 256 * 1024 * 1024;
const DISCARD_WITHIN: Duration = Duration::from_secs(5);

/// Largest JSON body that an async thread parses itself, in bytes: a matter of a millisecond.
const PARSED_AT_ONCE_MAX_BYTES: usize = 64 * 1024;

/// Most values in a JSON body, long fields of [`LongFields`] not counted. A value takes up to 300
/// bytes of memory, so that all of them together stay below 6 MB.
pub const VALUES_MAX: usize = 20_000;

/// JSON documents that are read, checked or written at once, in KiB: one takes up to ten times its
/// size in memory.
pub(crate) const DOCUMENTS_AT_ONCE_KIB: u32 = 32 * 1024;

/// Documents that may wait, in KiB, and requests that wait with them.
const DOCUMENTS_WAITING_KIB: u64 = 256 * 1024;
const DOCUMENTS_WAITING: u64 = 1_024;

static DOCUMENTS: LazyLock<Permits> = LazyLock::new(|| {
    // Small ones keep the processors busy, but never all the threads there are.
    let (running, least) = (DOCUMENTS_AT_ONCE_KIB, DOCUMENTS_AT_ONCE_KIB / (4 * processors()));
    let (waiting, requests) = (DOCUMENTS_WAITING_KIB, DOCUMENTS_WAITING);
    Permits::weighted("documents", Bounds { running, least, of_one_user: running, waiting, requests })
});

/// Documents below this size, in bytes, have permits of their own: they do not wait behind large
/// ones.
const SMALL_BYTES: usize = 1024 * 1024;

/// Small documents that are read, checked or written at once, in KiB.
pub(crate) const SMALL_AT_ONCE_KIB: u32 = 4 * 1024;

static SMALL_DOCUMENTS: LazyLock<Permits> = LazyLock::new(|| {
    let (running, least) = (SMALL_AT_ONCE_KIB, SMALL_AT_ONCE_KIB / (4 * processors()));
    let (waiting, requests) = (DOCUMENTS_WAITING_KIB, DOCUMENTS_WAITING);
    Permits::weighted("documents", Bounds { running, least, of_one_user: running, waiting, requests })
});

/// Runs `work` on a JSON document of `size_bytes` on a blocking thread, once a permit is free.
///
/// # Errors
/// Those of the work; 503 `busy` where too many documents wait.
pub(crate) async fn with_document<T: Send + 'static>(
    size_bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let (permits, weight_kib, work) = document_work(size_bytes, work);
    permits.run_weighted(weight_kib, work).await
}

/// The same for work of one user that reads its document itself: requests that wait hold nothing,
/// and those of others do not wait behind all of one user's.
///
/// # Errors
/// As [`with_document`].
pub(crate) async fn with_unread_document<T: Send + 'static>(
    user_id: &str,
    size_bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let (permits, weight_kib, work) = document_work(size_bytes, work);
    permits.run_reading(user_id, weight_kib, work).await
}

/// The permits that work on a document of `size_bytes` needs, and how many.
fn document_work<T>(
    size_bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send,
) -> (&'static Permits, u64, impl FnOnce(&Caller) -> Result<T, ApiError> + Send) {
    let is_small = size_bytes < SMALL_BYTES;
    let work = move |_: &Caller| {
        let outcome = work();
        if !is_small {
            // Before the next document takes as much.
            allocator::give_back();
        }
        outcome
    };
    (if is_small { &SMALL_DOCUMENTS } else { &DOCUMENTS }, size_bytes as u64 / 1024, work)
}

/// Media type of JSON.
const JSON: &str = "application/json";

/// How many bytes the body of this request may have, and what to call it.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit {
    /// Largest content in bytes.
    pub max_bytes: u64,
    /// Bytes that a form around the content may add to the body; no refusal speaks of them.
    pub form_max_bytes: u64,
    /// What the body is, as the start of a sentence: "A project".
    pub what: &'static str,
}

impl Default for BodyLimit {
    fn default() -> Self {
        Self::of(DEFAULT_BODY_MAX_BYTES, "The body of this request")
    }
}

impl BodyLimit {
    /// A limit for bodies without a form around them.
    #[must_use]
    pub const fn of(max_bytes: u64, what: &'static str) -> Self {
        Self { max_bytes, form_max_bytes: 0, what }
    }

    /// The refusal that names this limit.
    #[must_use]
    pub fn exceeded(self) -> ApiError {
        ApiError::TooLarge { what: self.what, limit_bytes: self.max_bytes }
    }

    fn total_bytes(self) -> u64 {
        self.max_bytes.saturating_add(self.form_max_bytes)
    }

    fn bytes(self) -> usize {
        usize::try_from(self.total_bytes()).unwrap_or(usize::MAX)
    }
}

/// Middleware: refuses bodies over `limit`, whatever reads them, and lets [`Json`] and [`RawBody`]
/// name it.
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

/// A body that is announced as too long: whoever reads it learns so. Before that, the handler finds
/// out who sends it.
fn refused_when_read(body: Body) -> Body {
    Body::from_stream(futures_util::stream::once(async {
        discard(body).await;
        Err::<Bytes, _>(AnnouncedTooLong)
    }))
}

/// `Content-Length` exceeds the limit on the body.
#[derive(Debug, thiserror::Error)]
#[error("the body is announced as longer than its limit")]
struct AnnouncedTooLong;

/// Reads a refused body for a while and throws it away.
///
/// An answer sent while the client is still writing ends in a reset connection, and a browser then
/// reports a network error in place of the answer.
async fn discard(body: Body) {
    let mut rest = Limited::new(body, DISCARD_MAX_BYTES);
    let drained = async { while let Some(Ok(_)) = rest.frame().await {} };
    // Whether all of it came is of no interest.
    let _ = tokio::time::timeout(DISCARD_WITHIN, drained).await;
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
            return Err(limit.exceeded());
        }
        let body = HeldBody::of(&request);
        let (parts, pieces) = request.into_parts();
        let pieces = Limited::new(pieces, limit.bytes()).into_data_stream();
        let reading = body.read(pieces, |error| match is_length_limit(&*error) {
            true => limit.exceeded(),
            false => ApiError::BodyIncomplete,
        });
        in_time(&parts.extensions, reading).await.map(Self)
    }
}

/// Whether a limit on the body's length is the cause of `error`, however deeply wrapped.
#[must_use]
pub fn is_length_limit(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() || error.is::<AnnouncedTooLong>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The bytes of a body that says it is JSON, not parsed yet.
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
        parsed(bytes, |bytes| {
            check_count(&bytes)?;
            parse_object(&bytes)
        })
        .await
        .map(Json)
    }
}

/// Parses a small body at once, and a larger one on another thread when few enough others are
/// parsed.
async fn parsed<T: Send + 'static>(
    bytes: Bytes,
    parse: impl FnOnce(Bytes) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if bytes.len() <= PARSED_AT_ONCE_MAX_BYTES {
        return parse(bytes);
    }
    with_document(bytes.len(), move || parse(bytes)).await
}

/// A JSON object that stays text, however many values it has.
#[derive(Debug)]
pub struct JsonObject(pub JsonText);

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, state).await?;
        let object = parsed(bytes, |bytes| {
            let text = read_text(&bytes)?;
            match text.view().kind() {
                Kind::Object => Ok(text),
                _ => Err(ApiError::bad_request(
                    "unexpected_json",
                    "The body is not the JSON that is expected here: it is no object.",
                )),
            }
        });
        object.await.map(Self)
    }
}

/// A type with fields that may be as long as the body: they are of the type [`JsonText`], which
/// takes no more memory than the text.
pub trait LongFields: DeserializeOwned {
    /// Names of the fields.
    const NAMES: &'static [&'static str];
}

/// A JSON body of which some fields stay text.
#[derive(Debug)]
pub struct LongJson<T>(pub T);

impl<T: LongFields + Send + 'static, S: Send + Sync> FromRequest<S> for LongJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, state).await?;
        parsed(bytes, parse_long).await.map(LongJson)
    }
}

/// Parses an object, of which the fields in [`LongFields::NAMES`] stay text.
///
/// # Errors
/// As [`parse_object`]; 400 `too_many_values`.
pub fn parse_long<T: LongFields>(bytes: Bytes) -> Result<T, ApiError> {
    let whole = read_text(&bytes)?;
    drop(bytes);
    if whole.view().kind() != Kind::Object {
        return parse_object(whole.as_str().as_bytes());
    }
    let mut text = String::with_capacity(whole.as_str().len());
    let mut object = ObjectWriter::new(&mut text);
    for (key, value) in whole.view().fields() {
        if T::NAMES.contains(&key.raw_name()) && value.kind() != Kind::Null {
            object.text(key.raw_name(), value.as_json());
        } else {
            object.copy(key, value);
        }
    }
    object.end();
    drop(whole);
    check_count(text.as_bytes())?;
    parse_json(text.as_bytes())
}

/// Reads JSON as text.
///
/// # Errors
/// As [`parse_json`].
pub fn read_text(bytes: &[u8]) -> Result<JsonText, ApiError> {
    JsonText::read(bytes).map_err(|error| not_expected(&error))
}

/// Refuses JSON of too many values before any of them is built. Bytes that are no JSON are for the
/// parser to refuse.
pub(crate) fn check_count(bytes: &[u8]) -> Result<(), ApiError> {
    // Between two values there is a comma or a colon; those in strings only make the first guess
    // higher.
    if bytes.iter().filter(|byte| b",:[{".contains(byte)).count() < VALUES_MAX {
        return Ok(());
    }
    match value_count::count(bytes, VALUES_MAX) {
        Some(count) if count > VALUES_MAX => Err(ApiError::bad_request(
            "too_many_values",
            format!("The body has more than {VALUES_MAX} JSON values, which is the limit."),
        )),
        _ => Ok(()),
    }
}

impl<T: serde::Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// Parses JSON as the API does: nesting deeper than 128 levels is refused, and refusals say where.
///
/// # Errors
/// 400 `malformed_json`, or `unexpected_json` for well-formed JSON of another shape.
pub fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| not_expected(&error))
}

fn not_expected(error: &serde_json::Error) -> ApiError {
    let code = match error.classify() {
        serde_json::error::Category::Data => "unexpected_json",
        _ => "malformed_json",
    };
    ApiError::bad_request(code, format!("The body is not the JSON that is expected here: {error}"))
}

/// Parses a JSON object of known fields: derived readers alone would take a list for one, its
/// values for the fields in their order.
///
/// # Errors
/// As [`parse_json`].
pub fn parse_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        let detail = "The body is not the JSON that is expected here: it is a list in place of an object.";
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

/// Query parameters.
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

/// Parts of the path.
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
