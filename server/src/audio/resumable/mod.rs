//! Resumable uploads with the tus protocol 1.0.0, at `/audio/uploads`.
//!
//! The supported extensions are creation, expiration, termination and checksum. Each upload has a
//! file. The database stores the upload's offset after the bytes are on the disk, so that an upload
//! can resume after a crash. After the last byte, a task decodes the file; `GET
//! /audio/uploads/{id}` returns the result.

mod expiry;
mod finish;
mod headers;
mod lease;
mod part;
mod store;
mod verbs;

use axum::http::{HeaderName, HeaderValue};
use axum::middleware;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use expiry::remove_expired;
pub(super) use finish::{finish, resume_decoding};
use lease::UploadLease;
pub(super) use lease::UploadLeases;
pub(super) use store::read_part_offsets;

use crate::config::Config;
use crate::error::{ApiError, ApiResult};
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;
use crate::storage::BlobKey;

/// Folder of unfinished uploads in the store.
pub(super) const FOLDER: &str = "audio-uploads";

/// The only supported version of the protocol.
const TUS_VERSION: HeaderValue = HeaderValue::from_static("1.0.0");
const TUS_RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const TUS_VERSIONS: HeaderName = HeaderName::from_static("tus-version");

/// The routes, relative to `/api/v1`.
pub(super) fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.limits.upload_max_bytes, "An upload");
    let routes = OpenApiRouter::new()
        .routes(routes!(verbs::options, verbs::create, verbs::list))
        .routes(routes!(verbs::head, verbs::describe, verbs::append, verbs::terminate));
    with_body_limit(routes, limit).layer(middleware::map_response(add_version_headers))
}

/// Adds the version of the protocol to every response, including errors.
async fn add_version_headers(mut response: Response) -> Response {
    response.headers_mut().insert(TUS_RESUMABLE, TUS_VERSION);
    response.headers_mut().insert(TUS_VERSIONS, TUS_VERSION);
    response
}

pub(super) fn blob_key_of(id: &str) -> ApiResult<BlobKey> {
    BlobKey::new(FOLDER, id, "part").map_err(|_| ApiError::not_found("upload", id))
}
