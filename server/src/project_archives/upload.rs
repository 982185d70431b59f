//! Receives an uploaded archive.

use std::io::Write as _;

use axum::extract::Request;
use futures_util::StreamExt as _;
use tokio::runtime::Handle;

use super::FOLDER;
use crate::body_kind;
use crate::error::ApiResult;
use crate::extract::{BodyLimit, body_error};
use crate::state::AppState;
use crate::storage::{BlobWriter, ensure_room};

/// Media types of a request body with an archive.
const MEDIA_TYPES: &[&str] = &["application/zip", "application/x-zip-compressed", "application/octet-stream"];

/// Writes the request body, a zip archive, to an unnamed file.
///
/// # Errors
/// The body has another media type or exceeds the route's limit, or the disk is full.
pub(crate) async fn receive(state: &AppState, request: Request) -> ApiResult<BlobWriter> {
    body_kind::require_if_given(request.headers(), MEDIA_TYPES)?;
    let limit = request.extensions().get::<BodyLimit>().copied().unwrap_or_default();
    let blobs = state.blobs.local();
    let mut writer =
        tokio::task::spawn_blocking(move || -> ApiResult<BlobWriter> { Ok(blobs.unnamed_writer(FOLDER)?) })
            .await??;
    let mut chunks = request.into_body().into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| body_error(&error, || limit.too_large_error()))?;
        let state = state.clone();
        writer = tokio::task::spawn_blocking(move || -> ApiResult<BlobWriter> {
            writer.write_all(&chunk)?;
            ensure_room(&state, &Handle::current(), writer.temporary(), 0)?;
            Ok(writer)
        })
        .await??;
    }
    tokio::task::spawn_blocking(move || {
        writer.flush()?;
        Ok(writer)
    })
    .await?
}
