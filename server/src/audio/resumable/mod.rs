//! Resumable uploads by the tus protocol 1.0.0, at `/audio/uploads`.
//!
//! Extensions: creation, expiration, termination, checksum. The bytes lie in a file of their own;
//! how many of them count stands in the database and is written after they are on the disk, so that
//! an upload goes on after any kind of end of the service. When the last byte is there a task
//! decodes the file; `GET /audio/uploads/{id}` says what came of it.

mod busy;
mod expiry;
mod finish;
mod headers;
mod part;
mod store;
mod verbs;

use axum::http::{HeaderName, HeaderValue};
use axum::middleware;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use busy::Busy;
use busy::BusyGuard;
pub(crate) use expiry::remove_expired;
pub(super) use finish::{finish, take_up_again};
pub(super) use store::parts;

use crate::config::Config;
use crate::error::{ApiError, ApiResult};
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;
use crate::storage::BlobKey;

/// Folder of the store that unfinished uploads are in.
pub(super) const FOLDER: &str = "audio-uploads";

/// The one version of the protocol that is spoken.
const TUS_VERSION: HeaderValue = HeaderValue::from_static("1.0.0");
const TUS_RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const TUS_VERSIONS: HeaderName = HeaderName::from_static("tus-version");

/// The routes, relative to `/api/v1`.
pub(super) fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.limits.upload_max_bytes, "An upload");
    let routes = OpenApiRouter::new()
        .routes(routes!(verbs::options, verbs::create, verbs::list))
        .routes(routes!(verbs::head, verbs::describe, verbs::append, verbs::terminate));
    with_body_limit(routes, limit).layer(middleware::map_response(name_version))
}

/// Every answer names the version, refusals too.
async fn name_version(mut response: Response) -> Response {
    response.headers_mut().insert(TUS_RESUMABLE, TUS_VERSION);
    response.headers_mut().insert(TUS_VERSIONS, TUS_VERSION);
    response
}

pub(super) fn key(id: &str) -> ApiResult<BlobKey> {
    BlobKey::new(FOLDER, id, "part").map_err(|_| ApiError::not_found("upload", id))
}
