//! Handler of `POST /projects/import/dawproject`.

use std::fs::File;

use axum::extract::{Request, State};
use axum::response::Response;
use schemas::Project;
use serde::Serialize;
use utoipa::ToSchema;

use super::archive::{Archive, METADATA_PATH, PROJECT_PATH, entry_name};
use super::import_query::ImportQuery;
use super::metadata_reader;
use super::project_reader::{self, ReadProject, SourceFile};
use super::refusal::Refusal;
use super::values::shown_name;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Query, read_text, with_document};
use crate::project_archives::{Import, created, receive};
use crate::projects::{self, Document, Saved};
use crate::state::AppState;

/// Maximum size of `metadata.xml`, in bytes.
const METADATA_MAX_BYTES: u64 = 1024 * 1024;

/// Minimum document size, in bytes, for which memory is reserved, because a short file can become a
/// large project when its loops are written out.
const MIN_COUNTED_BYTES: usize = 8 * 1024 * 1024;

/// Name of a file without a title.
const DEFAULT_PROJECT_NAME: &str = "Imported project";

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
            content_type = "application/problem+json")))]
pub(super) async fn import(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> ApiResult<Response> {
    let received_archive = receive(&state, request).await?;
    let name = query.name.map(|name| shown_name(&name)).filter(|name| !name.is_empty());
    let work = move |import: &mut Import, file: File| {
        let (mut archive, empty, paths) = match import.with_document(|import| begin(import, file, name))? {
            ImportStart::Stored(stored_project) => return Ok(stored_project),
            ImportStart::WithAudio { archive, empty, paths } => (archive, empty, paths),
        };
        let files = paths.iter().map(|path| import_file(import, &mut archive, path));
        let files = files.collect::<ApiResult<Vec<_>>>()?;
        drop(paths);
        import.with_document(|import| store(import, &mut archive, &empty, files))
    };
    let ((saved_project, warnings), files) = Import::run(state, user, received_archive, work).await?;
    let import_answer = DawprojectImported {
        project_id: saved_project.project_id,
        revision: saved_project.revision,
        updated_at: saved_project.updated_at,
        audio_added: files.added_ids.len(),
        audio_known: files.known_ids.len(),
        warnings,
    };
    created(&import_answer.project_id, import_answer.revision, &import_answer)
}

/// A stored project, with the warnings of its import as sentences.
type StoredProject = (Saved, Vec<String>);

/// The first part of an import.
enum ImportStart {
    /// A project without audio, which is already stored.
    Stored(StoredProject),
    WithAudio {
        archive: Archive,
        /// A project with the id and the name of the new one, and without content.
        empty: Box<Project>,
        /// Paths of the audio files.
        paths: Vec<String>,
    },
}

/// Opens a file and checks its project before its audio is decoded, because decoding may take
/// hours.
fn begin(import: &Import, file: File, name: Option<String>) -> ApiResult<ImportStart> {
    let mut archive = Archive::open(file)?;
    let metadata = archive.text(METADATA_PATH, METADATA_MAX_BYTES, "The metadata of a DAWproject file")?;
    let title = metadata.and_then(|text| metadata_reader::title(&text));
    let name = title.or(name).unwrap_or_else(|| DEFAULT_PROJECT_NAME.to_owned());
    let empty = Project::new(uuid::Uuid::new_v4().to_string(), name);
    let (paths, document, warnings) = read(import, &mut archive, &empty, |read_project| {
        let document = make_document(&read_project.project)?;
        let document = read_project.paths.is_empty().then_some(document);
        Ok((read_project.paths, document, read_project.warnings))
    })?;
    match document {
        Some(document) => Ok(ImportStart::Stored((insert(import, &document)?, warnings.into_sentences()))),
        None => Ok(ImportStart::WithAudio { archive, empty: Box::new(empty), paths }),
    }
}

/// Reads the project, and passes it to `work`.
fn read<T: Send + 'static>(
    import: &Import,
    archive: &mut Archive,
    empty: &Project,
    work: impl FnOnce(ReadProject) -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    let max_bytes = import.state.config.limits.project_max_bytes;
    let text = archive
        .text(PROJECT_PATH, max_bytes, "The project of a DAWproject file")?
        .ok_or_else(|| Refusal::from_reason(format!("`{PROJECT_PATH}` is missing")))?;
    let (project, is_cancelled) = (empty.clone(), import.cancellation());
    import.runtime.block_on(with_document(text.len().max(MIN_COUNTED_BYTES), move || {
        work(project_reader::read(text, project, &is_cancelled)?)
    }))
}

/// Imports an audio file. A file that is missing or that no decoder can read is left out; the inner
/// error is a sentence about it.
fn import_file(
    import: &mut Import,
    archive: &mut Archive,
    path: &str,
) -> ApiResult<Result<SourceFile, &'static str>> {
    if import.is_cancelled() {
        return Err(Refusal::Cancelled.into());
    }
    let Some(name) = entry_name(path) else {
        return Ok(Err("Audio files outside of the archive were left out"));
    };
    let Some(mut entry) = archive.entry(&name)? else {
        return Ok(Err("Audio files that the archive does not contain were left out"));
    };
    let shown_name: String = name.rsplit('/').next().unwrap_or_default().chars().take(200).collect();
    let shown_name: String = shown_name.chars().filter(|character| !character.is_control()).collect();
    match import.add_audio(&shown_name, &mut entry) {
        Ok(file) => Ok(Ok(SourceFile {
            id: file.id,
            url: file.file_url,
            sample_rate_hz: file.sample_rate_hz,
            frames: file.frames,
        })),
        Err(ApiError::UnsupportedMedia { .. } | ApiError::Unprocessable { code: "audio_damaged", .. }) => {
            Ok(Err("Audio files that are damaged or of an unknown format were left out"))
        }
        Err(ApiError::BadRequest { detail, .. }) => {
            Err(Refusal::from_reason(detail.trim_end_matches('.')).into())
        }
        Err(error) => Err(error),
    }
}

/// Stores the project with these audio files. Also returns the warnings.
fn store(
    import: &Import,
    archive: &mut Archive,
    empty: &Project,
    files: Vec<Result<SourceFile, &'static str>>,
) -> ApiResult<StoredProject> {
    let (document, warnings) = read(import, archive, empty, move |mut read_project| {
        for (path, file) in read_project.paths.iter().zip(&files) {
            if let Err(sentence) = file {
                read_project.warnings.add(sentence, path);
            }
        }
        read_project.add_audio(&files);
        Ok((make_document(&read_project.project)?, read_project.warnings.into_sentences()))
    })?;
    Ok((insert(import, &document)?, warnings))
}

fn insert(import: &Import, document: &Document) -> ApiResult<Saved> {
    let inserting = projects::insert(&import.state, &import.owner_id, document);
    import.runtime.block_on(inserting)?.ok_or_else(|| ApiError::Conflict {
        code: "try_again",
        detail: "A project with the new id was stored in the meantime; try again.".to_owned(),
    })
}

/// Returns the checked document of a project.
///
/// # Errors
/// The project exceeds a limit of documents.
fn make_document(project: &Project) -> ApiResult<Document> {
    let text = serde_json::to_vec(project).map_err(ApiError::internal)?;
    Document::check(&read_text(&text)?, None).map_err(|error| match error {
        ApiError::Invalid { errors, .. } => {
            let (pointer, detail) = errors
                .first()
                .map_or(("", ""), |error| (&*error.pointer, error.detail.trim_end_matches('.')));
            Refusal::from_reason(format!("its project exceeds a limit at `{pointer}`: {detail}")).into()
        }
        error => error,
    })
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Bad(_) => Self::bad_request("bad_dawproject", refusal.to_string()),
            Refusal::TooLarge { subject, limit_bytes } => Self::TooLarge { subject, limit_bytes },
            Refusal::Cancelled => Self::Conflict {
                code: "cancelled",
                detail: "The client disconnected, so the file was not imported.".to_owned(),
            },
        }
    }
}
