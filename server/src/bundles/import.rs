//! Handler of `POST /projects/import`.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;

use axum::extract::{Request, State};
use axum::response::Response;
use schemas::json::JsonText;
use serde::Serialize;
use utoipa::ToSchema;

use super::archive::{Archive, BundleError, MANIFEST_PATH, PROJECT_PATH};
use super::audio_ids;
use super::manifest::{Manifest, read as read_manifest};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{read_text, with_document};
use crate::project_archives::{Import, created, receive};
use crate::projects::{self, Document, Saved};
use crate::state::AppState;

/// Result of an import.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Imported {
    /// Id of the project: the id in the bundle, or a new one if a project with that id exists.
    project_id: String,
    /// Revision of the project.
    revision: i64,
    /// Time of the import, RFC 3339.
    updated_at: String,
    /// Number of audio files that are new for the caller.
    audio_added: usize,
    /// Number of audio files that the caller already had.
    audio_known: usize,
    /// Ids of audio files that the project uses but the bundle does not contain.
    audio_missing: Vec<String>,
}

/// Stores the project of a bundle with its audio. Audio that the caller already has is not stored
/// again. If the import fails, nothing is stored.
#[utoipa::path(post, path = "/projects/import", tag = "projects",
    request_body(content = String, content_type = "application/zip", description = "The archive"),
    responses((status = 201, body = Imported, headers(("ETag" = String), ("Location" = String))),
        (status = 422, description = "`audio_damaged` or `audio_limit`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn import(
    State(state): State<AppState>,
    user: CurrentUser,
    request: Request,
) -> ApiResult<Response> {
    let received_archive = receive(&state, request).await?;
    let work = |import: &mut Import, file: File| {
        let (mut archive, manifest) = match import.with_document(|import| begin(import, file))? {
            FirstStep::Stored(stored_bundle) => return Ok(stored_bundle),
            FirstStep::WithAudio(archive, manifest) => (archive, manifest),
        };
        let new_ids = import_audio(import, &mut archive, &manifest)?;
        drop(manifest);
        import.with_document(|import| store(import, &mut archive, &new_ids))
    };
    let ((saved_project, audio_missing), files) = Import::run(state, user, received_archive, work).await?;
    let import_answer = Imported {
        project_id: saved_project.project_id,
        revision: saved_project.revision,
        updated_at: saved_project.updated_at,
        audio_added: files.added_ids.len(),
        audio_known: files.known_ids.len(),
        audio_missing,
    };
    created(&import_answer.project_id, import_answer.revision, &import_answer)
}

impl From<BundleError> for ApiError {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Bad(_) => Self::bad_request("bad_bundle", error.to_string()),
            BundleError::TooLarge { subject, limit_bytes } => Self::TooLarge { subject, limit_bytes },
            BundleError::Io(error) => error.into(),
        }
    }
}

/// The archive of a bundle, on the disk.
type Bundle = Archive<BufReader<File>>;

/// A stored project, with the ids of missing audio files.
type StoredBundle = (Saved, Vec<String>);

/// Outcome of [`begin`].
enum FirstStep {
    /// The bundle has no audio, and its project is stored.
    Stored(StoredBundle),
    /// The audio and the project are not stored yet.
    WithAudio(Bundle, Manifest),
}

/// Opens a bundle. Stores its project if it has no audio. Otherwise only checks the project before
/// the audio is decoded, because decoding may take hours.
fn begin(import: &Import, file: File) -> ApiResult<FirstStep> {
    let mut archive = Archive::open(BufReader::new(file))?;
    let manifest = read_manifest(&mut archive)?;
    if manifest.audio.is_empty() {
        drop(manifest);
        return store(import, &mut archive, &HashMap::new()).map(FirstStep::Stored);
    }
    read_document(import, &mut archive, |project| Document::check(&project, None).map(drop))?;
    Ok(FirstStep::WithAudio(archive, manifest))
}

/// Reads the project of a bundle, and passes it to `work`.
fn read_document<T: Send + 'static>(
    import: &Import,
    archive: &mut Bundle,
    work: impl FnOnce(JsonText) -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    let max_bytes = import.state.config.limits.project_max_bytes;
    let project = archive.read_entry(PROJECT_PATH, max_bytes, "A project")?;
    import.runtime.block_on(with_document(project.len(), move || {
        let document = read_text(&project)?;
        drop(project);
        work(document)
    }))
}

/// Imports the audio of a bundle. Returns a map from ids in the project to ids of the user.
fn import_audio(
    import: &mut Import,
    archive: &mut Bundle,
    manifest: &Manifest,
) -> ApiResult<HashMap<String, String>> {
    let mut new_ids = HashMap::new();
    let mut by_path: HashMap<&str, String> = HashMap::new();
    for bundled_file in &manifest.audio {
        let id = match by_path.get(bundled_file.path.as_str()) {
            Some(id) => id.clone(),
            None => {
                let mut entry = archive.entry(&bundled_file.path)?;
                let file = import.add_audio(&bundled_file.name, &mut entry).map_err(|error| match error {
                    ApiError::BadRequest { detail, .. } => {
                        BundleError::from_reason(detail.trim_end_matches('.')).into()
                    }
                    error => error,
                })?;
                if file.sha256 != bundled_file.sha256 {
                    let reason =
                        format!("the SHA-256 of `{}` is not the one in `{MANIFEST_PATH}`", bundled_file.path);
                    return Err(BundleError::from_reason(reason).into());
                }
                file.id
            }
        };
        by_path.insert(&bundled_file.path, id.clone());
        new_ids.insert(bundled_file.server_file_id.clone(), id);
    }
    Ok(new_ids)
}

/// Stores the project of a bundle. Also returns the ids of missing audio files.
fn store(
    import: &Import,
    archive: &mut Bundle,
    new_ids: &HashMap<String, String>,
) -> ApiResult<StoredBundle> {
    let missing_ids = read_manifest(archive)?.missing;
    let original_document = read_document(import, archive, Ok)?;
    let updated_document = audio_ids::replace_audio_ids(&original_document, new_ids);
    let size_bytes = updated_document.as_str().len();
    let mut document = import
        .runtime
        .block_on(with_document(size_bytes, move || Document::check(&updated_document, None)))?;
    loop {
        let inserting = projects::insert(&import.state, &import.owner_id, &document);
        if let Some(saved_project) = import.runtime.block_on(inserting)? {
            return Ok((saved_project, missing_ids));
        }
        let new_id = uuid::Uuid::new_v4().to_string();
        document = import.runtime.block_on(with_document(document.text.len(), move || {
            let renamed_project = read_text(document.text.as_bytes())?.with_text("project_id", &new_id);
            drop(document);
            Document::check(&renamed_project, None)
        }))?;
    }
}
