//! Handler of `POST /projects/import/dawproject`.

use std::fs::File;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use schemas::Project;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::archive::{Archive, METADATA, PROJECT, entry_name};
use super::import_query::ImportQuery;
use super::metadata_reader;
use super::project_reader::{self, ReadProject, SourceFile};
use super::refusal::Refusal;
use super::values::shown_name;
use super::warnings::Warnings;
use crate::allocator;
use crate::audio;
use crate::auth::CurrentUser;
use crate::bundles;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Json, Query, read_text, with_document};
use crate::permits::Caller;
use crate::projects::{self, Document};
use crate::state::AppState;
use crate::storage::BlobWriter;

/// Maximum size of `metadata.xml`, in bytes.
const METADATA_MAX_BYTES: u64 = 1024 * 1024;

/// Size of a document that counts as much memory as a short file whose loops are written out.
const LOOPS_BYTES: usize = 8 * 1024 * 1024;

/// Name of a file without a title.
const UNTITLED: &str = "Imported project";

/// Result of an import of a DAWproject file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DawprojectImported {
    /// Id of the new project.
    project_id: String,
    /// Revision of the project.
    revision: i64,
    /// Time of the import, RFC 3339.
    updated_at: String,
    /// Number of audio files that are new for the caller.
    audio_added: usize,
    /// Number of audio files that the caller already had.
    audio_known: usize,
    /// Warnings, as sentences, about data of the file that was left out or changed.
    warnings: Vec<String>,
}

/// Stores the project of a DAWproject file (Bitwig Studio, Cubase, Studio One and others) with its
/// audio.
///
/// Tracks, groups, effect channels, sends, notes, MIDI controls, audio, tempo, time signatures,
/// markers and the automation of volume, pan and sends are imported. Loops are written out.
/// Plugins, stretched audio, scenes and other data that a project cannot have are left out or
/// simplified; `warnings` lists them. The project has a new id. Audio that the caller already has
/// is not stored again. If the import fails, nothing is stored.
#[utoipa::path(post, path = "/projects/import/dawproject", tag = "projects", params(ImportQuery),
    request_body(content = String, content_type = "application/zip", description = "The file"),
    responses((status = 201, body = DawprojectImported, headers(("ETag" = String), ("Location" = String))),
        (status = 422, description = "`audio_limit`", body = Problem, content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn import(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> ApiResult<Response> {
    let received = bundles::receive(&state, request).await?;
    let (runtime, owner_id) = (Handle::current(), user.id.clone());
    let permits = state.bundling.clone();
    let work = move |caller: &Caller| {
        let (state, runtime, owner_id) = (&state, &runtime, &*owner_id);
        let imported =
            Import { state, runtime, owner_id, caller, name: query.name, added: Vec::new(), known: 0 }
                .run(&received);
        // Returns the memory of a large file to the system before the next file is read.
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

/// An import that is running.
struct Import<'i> {
    state: &'i AppState,
    runtime: &'i Handle,
    owner_id: &'i str,
    /// Name of the project if the file has no title.
    name: Option<String>,
    caller: &'i Caller,
    /// Ids of audio files that this import added.
    added: Vec<String>,
    /// Number of audio files that the user already had.
    known: usize,
}

impl Import<'_> {
    fn run(mut self, received: &BlobWriter) -> ApiResult<DawprojectImported> {
        let file = File::open(received.temporary())?;
        let outcome = Archive::open(file).map_err(ApiError::from).and_then(|archive| self.import(archive));
        if outcome.is_err() {
            for id in &self.added {
                if let Err(error) = audio::undo_import(self.state, self.runtime, self.owner_id, id) {
                    tracing::warn!(id, "cannot delete the audio of an import that failed: {error:#}");
                }
            }
        }
        outcome
    }

    fn import(&mut self, mut archive: Archive) -> ApiResult<DawprojectImported> {
        let metadata = archive.text(METADATA, METADATA_MAX_BYTES, "The metadata of a DAWproject file")?;
        let title = metadata.and_then(|text| metadata_reader::title(&text));
        let max_bytes = self.state.config.limits.project_max_bytes;
        let text = archive
            .text(PROJECT, max_bytes, "The project of a DAWproject file")?
            .ok_or_else(|| Refusal::bad(format!("`{PROJECT}` is missing")))?;
        let name = title
            .or(self.name.take().map(|name| shown_name(&name)).filter(|name| !name.is_empty()))
            .unwrap_or_else(|| UNTITLED.to_owned());
        let project = Project::new(uuid::Uuid::new_v4().to_string(), name);
        let caller = self.caller.clone();
        let mut read = self.runtime.block_on(with_document(text.len().max(LOOPS_BYTES), move || {
            let read = project_reader::read(text, project, &|| caller.has_disconnected())?;
            // The document is checked before its audio is decoded, because decoding may take hours.
            document(&read.project)?;
            Ok(read)
        }))?;
        let files = self.import_audio(&mut archive, &mut read)?;
        self.store(read, files)
    }

    /// Imports the audio files. A file that is missing or that no decoder can read is left out.
    fn import_audio(
        &mut self,
        archive: &mut Archive,
        read: &mut ReadProject,
    ) -> ApiResult<Vec<Option<SourceFile>>> {
        let mut files = Vec::with_capacity(read.paths.len());
        for path in &read.paths {
            if self.caller.has_disconnected() {
                return Err(Refusal::Cancelled.into());
            }
            files.push(self.import_file(archive, path, &mut read.warnings)?);
        }
        Ok(files)
    }

    fn import_file(
        &mut self,
        archive: &mut Archive,
        path: &str,
        warnings: &mut Warnings,
    ) -> ApiResult<Option<SourceFile>> {
        let Some(name) = entry_name(path) else {
            warnings.add("Audio files outside of the archive were left out", path);
            return Ok(None);
        };
        let Some(mut entry) = archive.entry(&name)? else {
            warnings.add("Audio files that the archive does not contain were left out", path);
            return Ok(None);
        };
        let shown: String = name.rsplit('/').next().unwrap_or_default().chars().take(200).collect();
        let shown: String = shown.chars().filter(|letter| !letter.is_control()).collect();
        let outcome =
            audio::import_content(self.state, self.runtime, self.owner_id, &shown, &mut entry, &mut |_| {
                !self.caller.has_disconnected()
            });
        match outcome {
            Ok((file, is_known)) => {
                if is_known {
                    self.known += usize::from(!self.added.contains(&file.id));
                } else {
                    self.added.push(file.id.clone());
                }
                Ok(Some(SourceFile {
                    id: file.id,
                    url: file.file_url,
                    sample_rate_hz: file.sample_rate_hz,
                    frames: file.frames,
                }))
            }
            Err(
                ApiError::UnsupportedMedia { .. } | ApiError::Unprocessable { code: "audio_damaged", .. },
            ) => {
                warnings.add("Audio files that are damaged or of an unknown format were left out", path);
                Ok(None)
            }
            Err(ApiError::BadRequest { detail, .. }) => {
                Err(Refusal::bad(detail.trim_end_matches('.')).into())
            }
            Err(error) => Err(error),
        }
    }

    fn store(&self, mut read: ReadProject, files: Vec<Option<SourceFile>>) -> ApiResult<DawprojectImported> {
        let (document, warnings) = self.runtime.block_on(with_document(LOOPS_BYTES, move || {
            read.add_audio(&files);
            Ok((document(&read.project)?, read.warnings))
        }))?;
        let inserting = projects::insert(self.state, self.owner_id, &document);
        let saved = self.runtime.block_on(inserting)?.ok_or_else(|| ApiError::Conflict {
            code: "try_again",
            detail: "A project with the new id was stored in the meantime; try again.".to_owned(),
        })?;
        Ok(DawprojectImported {
            project_id: saved.project_id,
            revision: saved.revision,
            updated_at: saved.updated_at,
            audio_added: self.added.len(),
            audio_known: self.known,
            warnings: warnings.into_sentences(),
        })
    }
}

/// Returns the checked document of a project.
fn document(project: &Project) -> ApiResult<Document> {
    let text = serde_json::to_vec(project).map_err(ApiError::internal)?;
    Document::check(&read_text(&text)?, None)
}
