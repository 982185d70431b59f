//! `POST /multitrack/midi/export`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schemas::json::JsonText;
use serde::Deserialize;
use utoipa::ToSchema;

use super::midi;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{LongFields, LongJson};
use crate::file_answer::attachment;
use crate::large_answer::Recipient;
use crate::projects::{ProjectDocument, RequestedProject};
use crate::state::AppState;

/// The project to export.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportRequest {
    /// Id of a stored project. Give either this or `project`.
    project_id: Option<String>,
    /// A project document.
    #[schema(value_type = Option<ProjectDocument>)]
    project: Option<JsonText>,
}

impl LongFields for ExportRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// Writes a project as a MIDI file of format 1. Velocities are clamped to 1..127, and tracks
/// without notes are left out.
#[utoipa::path(post, path = "/multitrack/midi/export", tag = "multitrack", request_body = ExportRequest,
    responses((status = 200, description = "The file", content_type = "audio/midi"),
        (status = 404, description = "The caller has no such project", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn export(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
    LongJson(request): LongJson<ExportRequest>,
) -> ApiResult<Response> {
    let recipient = Recipient::new(&state, &user.id, &headers);
    let write = move |source: RequestedProject| {
        let (document, project) = source.into_project()?;
        let name = project.name.clone();
        let bytes = midi::export(document.view(), project);
        drop(document);
        Ok((recipient.answer("audio/midi", bytes)?, name))
    };
    let (answer, name) =
        RequestedProject::with_project(&state, &user.id, request.project_id, request.project, write).await?;
    let disposition =
        HeaderValue::from_str(&attachment(&format!("{name}.mid"))).map_err(ApiError::internal)?;
    Ok(([(header::CONTENT_DISPOSITION, disposition)], answer).into_response())
}
