//! Handler of `GET /projects/{id}/bundle`.

use std::fs::File;
use std::io::{self, Write};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use schemas::session::files_used;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::FOLDER;
use super::archive::{AUDIO_FOLDER, ENTRIES_MAX, MANIFEST, PROJECT};
use super::manifest::{BundledAudio, FORMAT, Manifest, VERSION};
use crate::audio::{self, AudioFile};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::Path;
use crate::fair_bytes::ReservedBytes;
use crate::file_answer::FileAnswer;
use crate::permits::Caller;
use crate::projects;
use crate::state::AppState;
use crate::storage::ensure_room;

/// Sends a project and the audio files that it uses as one zip archive.
#[utoipa::path(get, path = "/projects/{id}/bundle", tag = "projects", params(("id", description = "Id of the project")),
    responses((status = 200, description = "The archive", content_type = "application/zip",
            headers(("ETag" = String))),
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the archive"),
        (status = 416, description = "The range is outside the archive"),
        (status = 422, description = "`project_unreadable` or `too_many_files`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`storage_full`: there is no disk space to make the archive", body = Problem,
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn export(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let (runtime, owner_id) = (Handle::current(), user.id.clone());
    let permits = state.bundling.clone();
    let work = move |caller: &Caller| {
        // The document is loaded here, so that waiting requests keep no documents in memory.
        let text = runtime.block_on(projects::stored_text(&state, &user.id, &id))?;
        bundle(&state, &runtime, &user.id, &id, text, caller)
    };
    let (answer, reserved) = permits.run_for(&owner_id, 1, work).await?;
    answer.respond_counted(&headers, reserved)
}

/// Maximum number of audio files in a bundle. An import accepts as many.
const AUDIO_MAX: usize = ENTRIES_MAX - 2;

fn cancelled() -> ApiError {
    ApiError::Conflict {
        code: "cancelled",
        detail: "The client disconnected, so the bundle was not made.".to_owned(),
    }
}

fn bundle(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    project_id: &str,
    text: String,
    caller: &Caller,
) -> ApiResult<(FileAnswer, ReservedBytes)> {
    let document = projects::stored_document(project_id, &text)?;
    let name = document.view().text("name").unwrap_or(projects::UNTITLED.into()).into_owned();
    let project = schemas::read::project(&document).map_err(|error| ApiError::Unprocessable {
        code: "project_unreadable",
        detail: format!("The stored project `{project_id}` cannot be read: {error}."),
    })?;
    let mut manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        project_id: project_id.to_owned(),
        name: name.clone(),
        audio: Vec::new(),
        missing: Vec::new(),
    };
    let audio_ids = runtime.block_on(audio::ids(&state.db, owner_id))?;
    for id in files_used(&project) {
        if caller.has_disconnected() {
            return Err(cancelled());
        }
        let original =
            if audio_ids.contains(&id) { audio::original(state, runtime, owner_id, &id)? } else { None };
        match original {
            Some(_) if manifest.audio.len() >= AUDIO_MAX => {
                let detail =
                    format!("The project uses more than {AUDIO_MAX} audio files, the maximum for a bundle.");
                return Err(ApiError::Unprocessable { code: "too_many_files", detail });
            }
            Some(original) => manifest.audio.push(bundled(id, &original)),
            None => manifest.missing.push(id),
        }
    }
    let manifest_text = serde_json::to_string_pretty(&manifest).map_err(ApiError::internal)?;
    let audio_bytes: u64 = manifest.audio.iter().map(|file| file.size_bytes).sum();
    let blobs = state.blobs.local();
    let bytes = audio_bytes + (text.len() + manifest_text.len()) as u64;
    // Memory is reserved before the disk is checked, because the check may purge deleted files.
    let reserved = state.large_answers.reserve_file(owner_id, bytes)?;
    ensure_room(state, runtime, blobs.root(), bytes)?;
    let mut writer = blobs.unnamed_writer(FOLDER)?;
    write(state, &mut writer, &manifest, &manifest_text, &text, caller)?;
    writer.flush()?;
    // The open file stays readable after the writer removes its name at the end of this function.
    let file = File::open(writer.temporary())?;
    let mut hash = Sha256::new();
    hash.update(manifest_text);
    hash.update(text);
    let answer = FileAnswer {
        file,
        etag: format!("\"{:x}\"", hash.finalize()),
        media_type: "application/zip",
        save_as: Some(format!("{name}.songfoundry.zip")),
    };
    Ok((answer, reserved))
}

fn bundled(server_file_id: String, file: &AudioFile) -> BundledAudio {
    BundledAudio {
        server_file_id,
        path: format!("{AUDIO_FOLDER}{}.{}", file.sha256, file.extension()),
        name: file.name.clone(),
        sha256: file.sha256.clone(),
        size_bytes: file.size_bytes,
    }
}

/// Writes the archive with compressed texts and uncompressed audio. Only one audio file is open at
/// a time.
fn write(
    state: &AppState,
    destination: &mut (impl Write + io::Seek),
    manifest: &Manifest,
    manifest_text: &str,
    project_text: &str,
    caller: &Caller,
) -> ApiResult<()> {
    let mut zip = ZipWriter::new(destination);
    // All entries have the same fixed time, so that the same project always gives the same bytes.
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let compressed = options.compression_method(zip::CompressionMethod::Deflated);
    for (name, text) in [(MANIFEST, manifest_text), (PROJECT, project_text)] {
        zip.start_file(name, compressed)?;
        zip.write_all(text.as_bytes())?;
    }
    let uncompressed = options.compression_method(zip::CompressionMethod::Stored);
    for file in &manifest.audio {
        if caller.has_disconnected() {
            return Err(cancelled());
        }
        let mut original = audio::open_original(state, &file.sha256)?.ok_or_else(|| {
            let detail = format!(
                "The audio file `{}` was deleted while the bundle was made; try again.",
                file.server_file_id
            );
            ApiError::Conflict { code: "try_again", detail }
        })?;
        let options = uncompressed.large_file(file.size_bytes >= u64::from(u32::MAX));
        zip.start_file(&file.path, options)?;
        io::copy(&mut original, &mut zip)?;
    }
    zip.finish()?;
    Ok(())
}
