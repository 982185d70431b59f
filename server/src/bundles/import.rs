//! Handler of `POST /projects/import`.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Write as _};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use schemas::json::JsonText;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::archive::{Archive, BundleError, MANIFEST, PROJECT};
use super::manifest::{Manifest, read as read_manifest};
use super::{FOLDER, audio_ids};
use crate::allocator;
use crate::audio;
use crate::auth::CurrentUser;
use crate::body_kind;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{BodyLimit, Json, is_length_limit, read_text, with_document};
use crate::permits::Caller;
use crate::projects::{self, Document};
use crate::state::AppState;
use crate::storage::{BlobWriter, ensure_room};

/// Media types of a request body with an archive.
const MEDIA_TYPES: &[&str] = &["application/zip", "application/x-zip-compressed", "application/octet-stream"];

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
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn import(
    State(state): State<AppState>,
    user: CurrentUser,
    request: Request,
) -> ApiResult<Response> {
    let received = receive(&state, request).await?;
    let (runtime, owner_id) = (Handle::current(), user.id.clone());
    let permits = state.bundling.clone();
    let work = move |caller: &Caller| {
        let (state, runtime, owner_id) = (&state, &runtime, &*owner_id);
        let imported = Import { state, runtime, owner_id, caller, added: Vec::new() }.run(&received);
        // Returns the memory of a large bundle to the system before the next bundle is read.
        allocator::return_free_memory();
        imported
    };
    let imported = permits.run_for(&user.id, 1, work).await?;
    let location = HeaderValue::from_str(&format!("/api/v1/projects/{}", imported.project_id));
    let headers = [
        (header::LOCATION, location.map_err(ApiError::internal)?),
        (header::ETAG, projects::revision_tag(imported.revision)),
    ];
    Ok((StatusCode::CREATED, headers, Json(imported)).into_response())
}

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
        let chunk = chunk.map_err(|error| match is_length_limit(&error) {
            true => limit.exceeded(),
            false => ApiError::BodyIncomplete,
        })?;
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

impl From<BundleError> for ApiError {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Bad(_) => Self::bad_request("bad_bundle", error.to_string()),
            BundleError::TooLarge { subject, limit_bytes } => Self::TooLarge { subject, limit_bytes },
            BundleError::Io(error) => error.into(),
        }
    }
}

/// An import that is running.
struct Import<'i> {
    state: &'i AppState,
    runtime: &'i Handle,
    owner_id: &'i str,
    caller: &'i Caller,
    /// Ids of audio files that this import added.
    added: Vec<String>,
}

impl Import<'_> {
    fn run(mut self, received: &BlobWriter) -> ApiResult<Imported> {
        let file = File::open(received.temporary())?;
        let outcome = Archive::open(BufReader::new(file))
            .map_err(ApiError::from)
            .and_then(|archive| self.import(archive));
        if outcome.is_err() {
            for id in &self.added {
                if let Err(error) = audio::undo_import(self.state, self.runtime, self.owner_id, id) {
                    tracing::warn!(id, "cannot delete the audio of an import that failed: {error:#}");
                }
            }
        }
        outcome
    }

    fn import(&mut self, mut archive: Archive<BufReader<File>>) -> ApiResult<Imported> {
        let manifest = read_manifest(&mut archive)?;
        let max_bytes = self.state.config.limits.project_max_bytes;
        let project = archive.text(PROJECT, max_bytes, "A project")?;
        let project = self.runtime.block_on(with_document(project.len(), move || {
            let project = read_text(&project)?;
            // The document is checked before its audio is decoded, because decoding may take hours.
            Document::check(&project, None)?;
            Ok(project)
        }))?;
        let audio = self.import_audio(&mut archive, &manifest)?;
        self.store(&project, &manifest, &audio)
    }

    /// Imports the audio of a bundle. Returns a map from ids in the project to ids of the user.
    fn import_audio(
        &mut self,
        archive: &mut Archive<BufReader<File>>,
        manifest: &Manifest,
    ) -> ApiResult<HashMap<String, String>> {
        let mut new_ids = HashMap::new();
        let mut by_path: HashMap<&str, String> = HashMap::new();
        for bundled in &manifest.audio {
            let id = match by_path.get(bundled.path.as_str()) {
                Some(id) => id.clone(),
                None => {
                    let mut entry = archive.entry(&bundled.path)?;
                    let outcome = audio::import_content(
                        self.state,
                        self.runtime,
                        self.owner_id,
                        &bundled.name,
                        &mut entry,
                        &mut |_| !self.caller.has_disconnected(),
                    );
                    let (file, is_known) = outcome.map_err(|error| match error {
                        ApiError::BadRequest { detail, .. } => {
                            BundleError::bad(detail.trim_end_matches('.')).into()
                        }
                        error => error,
                    })?;
                    if !is_known {
                        self.added.push(file.id.clone());
                    }
                    if file.sha256 != bundled.sha256 {
                        return Err(BundleError::bad(format!(
                            "the SHA-256 of `{}` is not the one in `{MANIFEST}`",
                            bundled.path
                        ))
                        .into());
                    }
                    file.id
                }
            };
            by_path.insert(&bundled.path, id.clone());
            new_ids.insert(bundled.server_file_id.clone(), id);
        }
        Ok(new_ids)
    }

    fn store(
        &self,
        project: &JsonText,
        manifest: &Manifest,
        new_ids: &HashMap<String, String>,
    ) -> ApiResult<Imported> {
        let replaced = audio_ids::replaced(project, new_ids);
        let size_bytes = replaced.as_str().len();
        let mut document =
            self.runtime.block_on(with_document(size_bytes, move || Document::check(&replaced, None)))?;
        let saved = loop {
            let inserting = projects::insert(self.state, self.owner_id, &document);
            if let Some(saved) = self.runtime.block_on(inserting)? {
                break saved;
            }
            let new_id = uuid::Uuid::new_v4().to_string();
            document = self.runtime.block_on(with_document(document.text.len(), move || {
                let renamed = read_text(document.text.as_bytes())?.with_text("project_id", &new_id);
                drop(document);
                Document::check(&renamed, None)
            }))?;
        };
        let audio_ids: HashSet<&String> = new_ids.values().collect();
        Ok(Imported {
            project_id: saved.project_id,
            revision: saved.revision,
            updated_at: saved.updated_at,
            audio_added: self.added.len(),
            audio_known: audio_ids.len() - self.added.len(),
            audio_missing: manifest.missing.clone(),
        })
    }
}
