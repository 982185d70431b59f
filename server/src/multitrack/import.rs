//! `POST /multitrack/midi/import`.

use axum::extract::{FromRequest as _, Request, State};
use axum::response::Response;
use schemas::Project;
use serde::Serialize;
use utoipa::ToSchema;

use super::import_query::ImportQuery;
use super::midi::{ImportOptions, MidiError, import as read_midi};
use crate::auth::CurrentUser;
use crate::body_kind;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Query, RawBody, with_document_of};
use crate::form;
use crate::held_body::{HeldBody, in_time};
use crate::large_answer::Recipient;
use crate::projects::ProjectDocument;
use crate::state::AppState;

/// Memory that an import needs per byte of its file, relative to the memory that [`with_document`]
/// counts per byte of JSON. In the worst case, three bytes of running status become an event of 40
/// bytes and half a note of 80 bytes of JSON.
const DOCUMENT_MEMORY_FACTOR: usize = 6;

/// Maximum length of a project's name in characters, as in the project schema.
const NAME_MAX_CHARS: usize = 500;

/// Maximum length of a `soundfont_id` in characters, as in the project schema.
const SOUNDFONT_ID_MAX_CHARS: usize = 128;

/// Media types that are accepted for a MIDI file as the body, or for a form with the file in its
/// part `file`.
const MEDIA_TYPES: &[&str] = &[
    "audio/midi",
    "audio/x-midi",
    "audio/mid",
    "audio/sp-midi",
    "audio/rmi",
    "application/x-midi",
    "application/octet-stream",
    form::FORM,
];

/// A project made from a MIDI file. The service does not store it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ImportAnswer {
    /// The project made from the file.
    #[schema(value_type = ProjectDocument)]
    project: Project,
    /// Warnings, as sentences, about data of the file that could not be read or represented.
    warnings: Vec<String>,
}

impl From<MidiError> for ApiError {
    fn from(error: MidiError) -> Self {
        Self::bad_request("bad_midi_file", error.to_string())
    }
}

/// Reads a MIDI file, as the body or as the part `file` of a form, into a project.
#[utoipa::path(post, path = "/multitrack/midi/import", tag = "multitrack", params(ImportQuery),
    request_body(content = String, content_type = "audio/midi", description = "The file"),
    responses((status = 200, body = ImportAnswer)))]
pub(super) async fn import(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> ApiResult<Response> {
    let limit_bytes = state.config.limits.midi_max_bytes;
    let recipient = Recipient::new(&state, &user.id, request.headers());
    let bytes = read_file(&state, request).await?;
    let size_bytes = bytes.len();
    if size_bytes as u64 > limit_bytes {
        return Err(ApiError::TooLarge { subject: "A MIDI file", limit_bytes });
    }
    let soundfont_id = query.soundfont_id.filter(|id| !id.is_empty());
    let id_chars = soundfont_id.as_ref().map_or(0, |id| id.chars().count());
    if id_chars > SOUNDFONT_ID_MAX_CHARS {
        let detail = format!(
            "`soundfont_id` has {id_chars} characters; at most {SOUNDFONT_ID_MAX_CHARS} are allowed."
        );
        return Err(ApiError::bad_request("bad_query", detail));
    }
    let name = query.name.map(|name| name.trim().chars().take(NAME_MAX_CHARS).collect::<String>());
    let options = ImportOptions {
        project_id: uuid::Uuid::new_v4().to_string(),
        name: name.filter(|name| !name.is_empty()),
        soundfont_id,
    };
    let reading = move || {
        let imported_project = read_midi(&bytes, options)?;
        drop(bytes);
        let answer = ImportAnswer { project: imported_project.project, warnings: imported_project.warnings };
        let json = serde_json::to_vec(&answer).map_err(ApiError::internal)?;
        drop(answer);
        recipient.answer_json(json)
    };
    with_document_of(&user.id, DOCUMENT_MEMORY_FACTOR * size_bytes, reading).await
}

/// Reads the file from the body, or from the part `file` of a form.
async fn read_file(state: &AppState, request: Request) -> ApiResult<axum::body::Bytes> {
    if form::is_form(request.headers()) {
        let extensions = request.extensions().clone();
        return in_time(&extensions, read_form_file(state, request)).await;
    }
    body_kind::require_if_given(request.headers(), MEDIA_TYPES)?;
    RawBody::from_request(request, state).await.map(|RawBody(bytes)| bytes)
}

async fn read_form_file(state: &AppState, request: Request) -> ApiResult<axum::body::Bytes> {
    let limit_bytes = state.config.limits.midi_max_bytes;
    let form_refusal =
        |error| form::form_error(&error, || ApiError::TooLarge { subject: "A MIDI file", limit_bytes });
    let body = HeldBody::from_request(&request);
    let mut form = form::read(request).await?;
    while let Some(field) = form.next_field().await.map_err(form_refusal)? {
        if field.name() == Some("file") {
            return body.read(field, form_refusal).await;
        }
    }
    Err(ApiError::bad_request("no_file", "The form has no file; send the file as a part named `file`."))
}
