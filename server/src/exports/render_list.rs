//! Handlers of `GET /plugins/renders` and `GET /plugins/renders/{render_id}`.

use axum::extract::State;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::audio_export::AudioExportAnswer;
use super::queries::RendersQuery;
use super::render::FileWithReceipt;
use super::render_files::{self, RenderDescription, RenderRecord};
use super::rendered_file::RenderedFile;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Path, Query};
use crate::state::AppState;

/// The renders of a user.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Renders {
    /// The renders, the newest first.
    items: Vec<RenderEntry>,
}

/// A finished file in the list of renders.
#[derive(Debug, Serialize, ToSchema)]
struct RenderEntry {
    /// The file.
    #[serde(flatten)]
    file: RenderedFile,
    /// Title of the file.
    title: String,
    /// Id of the project that was rendered; null for a file made by `POST /audio/export`.
    project_id: Option<String>,
    /// Time of the render, RFC 3339.
    created_at: String,
    /// Size of the file in bytes.
    size_bytes: Option<u64>,
}

impl RenderEntry {
    /// Returns `None` for a render that an earlier version stored without a record.
    fn new(description: RenderDescription) -> Option<Self> {
        let RenderDescription { title, size_bytes, record, .. } = description;
        let RenderRecord { file, project_id, created_at } = record?;
        Some(Self { file, title, project_id, created_at, size_bytes })
    }
}

/// The part of a stored answer that concerns one file.
#[derive(Serialize, ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
#[serde(untagged)]
enum StoredAnswer {
    /// A project was rendered.
    Render(Box<FileWithReceipt>),
    /// An audio file was converted.
    Audio(Box<AudioExportAnswer>),
}

/// Lists the finished renders, the newest first. At most 50 are kept for each user.
#[utoipa::path(get, path = "/plugins/renders", tag = "plugins", params(RendersQuery),
    responses((status = 200, body = Renders)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<RendersQuery>,
) -> ApiResult<Json<Renders>> {
    let (blobs, owner_id) = (state.blobs.clone(), user.id.clone());
    let work = move |_: &_| {
        let mut items: Vec<RenderEntry> =
            render_files::descriptions(&blobs, &owner_id)?.into_iter().filter_map(RenderEntry::new).collect();
        if query.project_id.is_some() {
            items.retain(|entry| entry.project_id == query.project_id);
        }
        Ok(Json(Renders { items }))
    };
    state.exports.lists.run_for(&user.id, 1, work).await
}

/// Returns the part of the render's answer that concerns this file, with its receipt.
#[utoipa::path(get, path = "/plugins/renders/{render_id}", tag = "plugins",
    params(("render_id", description = "Id of the render")),
    responses((status = 200, body = StoredAnswer)))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(render_id): Path<String>,
) -> ApiResult<Json<Box<RawValue>>> {
    let (blobs, id) = (state.blobs.clone(), render_id.clone());
    let description_task =
        tokio::task::spawn_blocking(move || render_files::read_description(&blobs, &user.id, &id));
    let answer = description_task.await??.and_then(|description| description.answer);
    answer.map(Json).ok_or_else(|| ApiError::not_found("render", &render_id))
}
