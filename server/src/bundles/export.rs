//! `GET /projects/{id}/bundle`.

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

/// Sends a project and the audio that it names as one zip archive.
#[utoipa::path(get, path = "/projects/{id}/bundle", tag = "projects", params(("id", description = "Id of the project")),
    responses((status = 200, description = "The archive", content_type = "application/zip",
            headers(("ETag" = String))),
        (status = 206, description = "The range that was asked for"),
        (status = 304, description = "`If-None-Match` names the archive"),
        (status = 416, description = "The range lies outside the archive"),
        (status = 422, description = "`project_unreadable` or `too_many_files`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`storage_full`: there is no room to put it together", body = Problem,
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
        // Loaded here, so that requests that wait hold no documents.
        let text = runtime.block_on(projects::stored_text(&state, &user.id, &id))?;
        bundle(&state, &runtime, &user.id, &id, text, caller)
    };
    let (answer, reserved) = permits.run_for(&owner_id, 1, work).await?;
    answer.respond_counted(&headers, reserved)
}

/// Most audio files in a bundle: as many as an import accepts.
const AUDIO_MAX: usize = ENTRIES_MAX - 2;

fn gone() -> ApiError {
    ApiError::Conflict { code: "cancelled", detail: "The bundle is not wanted any more.".to_owned() }
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
    let had = runtime.block_on(audio::ids(&state.db, owner_id))?;
    for id in files_used(&project) {
        if caller.has_gone() {
            return Err(gone());
        }
        let original = if had.contains(&id) { audio::original(state, runtime, owner_id, &id)? } else { None };
        match original {
            Some(_) if manifest.audio.len() >= AUDIO_MAX => {
                let detail =
                    format!("The project plays more than {AUDIO_MAX} audio files; a bundle holds no more.");
                return Err(ApiError::Unprocessable { code: "too_many_files", detail });
            }
            Some(original) => manifest.audio.push(bundled(id, &original)),
            None => manifest.missing.push(id),
        }
    }
    let manifest_text = serde_json::to_string_pretty(&manifest).map_err(ApiError::internal)?;
    let audio_bytes: u64 = manifest.audio.iter().map(|one| one.size_bytes).sum();
    let blobs = state.blobs.local();
    let bytes = audio_bytes + (text.len() + manifest_text.len()) as u64;
    // Before the disk is looked at: room is made by removing what users deleted.
    let reserved = state.large_answers.reserve_file(owner_id, bytes)?;
    ensure_room(state, runtime, blobs.root(), bytes)?;
    let mut writer = blobs.unnamed_writer(FOLDER)?;
    write(state, &mut writer, &manifest, &manifest_text, &text, caller)?;
    writer.flush()?;
    // The file has no name any more when this returns, and lives as long as it is being sent.
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

fn bundled(server_file_id: String, about: &AudioFile) -> BundledAudio {
    let extension = match about.media_type {
        "audio/wav" => "wav",
        "audio/aiff" => "aiff",
        "audio/flac" => "flac",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "audio/mp4" => "m4a",
        "audio/aac" => "aac",
        _ => "bin",
    };
    BundledAudio {
        server_file_id,
        path: format!("{AUDIO_FOLDER}{}.{extension}", about.sha256),
        name: about.name.clone(),
        sha256: about.sha256.clone(),
        size_bytes: about.size_bytes,
    }
}

/// Writes the archive: the texts deflated, the audio as it is. One audio file is open at a time.
fn write(
    state: &AppState,
    destination: &mut (impl Write + io::Seek),
    manifest: &Manifest,
    manifest_text: &str,
    project_text: &str,
    caller: &Caller,
) -> ApiResult<()> {
    let mut zip = ZipWriter::new(destination);
    // Without a time of its own, so that the same project gives the same bytes.
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let deflated = options.compression_method(zip::CompressionMethod::Deflated);
    for (name, text) in [(MANIFEST, manifest_text), (PROJECT, project_text)] {
        zip.start_file(name, deflated)?;
        zip.write_all(text.as_bytes())?;
    }
    let as_it_is = options.compression_method(zip::CompressionMethod::Stored);
    for about in &manifest.audio {
        if caller.has_gone() {
            return Err(gone());
        }
        let mut original = audio::open_original(state, &about.sha256)?.ok_or_else(|| {
            let detail =
                format!("The audio file `{}` was deleted meanwhile; try again.", about.server_file_id);
            ApiError::Conflict { code: "try_again", detail }
        })?;
        let options = as_it_is.large_file(about.size_bytes >= u64::from(u32::MAX));
        zip.start_file(&about.path, options)?;
        io::copy(&mut original, &mut zip)?;
    }
    zip.finish()?;
    Ok(())
}
