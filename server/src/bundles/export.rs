//! Handler of `GET /projects/{id}/bundle`.

use std::io::Write as _;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use schemas::session::files_named;
use sha2::{Digest as _, Sha256};

use super::archive::{AUDIO_FOLDER, ENTRIES_MAX, MANIFEST_PATH, PROJECT_PATH};
use super::manifest::{BundledAudio, FORMAT, Manifest, VERSION};
use crate::audio::AudioFile;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Path;
use crate::project_archives::{ArchiveStart, Export, compressed_entry_options};
use crate::projects;
use crate::state::AppState;

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
            content_type = "application/problem+json")))]
pub(super) async fn export(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    Export::answer(state, user, id, &headers, begin).await
}

/// Maximum number of audio files in a bundle. An import accepts as many.
const AUDIO_MAX: usize = ENTRIES_MAX - 2;

/// Writes the manifest and the project.
fn begin(export: &Export, text: String) -> ApiResult<ArchiveStart> {
    let (document, project) = export.read(&text)?;
    let name = document.view().text("name").unwrap_or(projects::DEFAULT_PROJECT_NAME.into()).into_owned();
    let files = export.open_originals(files_named(&project), AUDIO_MAX, "bundle")?;
    drop((document, project));
    let mut manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        project_id: export.project_id.clone(),
        name,
        audio: Vec::new(),
        missing: Vec::new(),
    };
    let mut audio = Vec::new();
    for (id, original_file) in files {
        match original_file {
            Some(file) => {
                let bundled_file = bundled(id, &file);
                audio.push((bundled_file.path.clone(), file));
                manifest.audio.push(bundled_file);
            }
            None => manifest.missing.push(id),
        }
    }
    let manifest_text = serde_json::to_string_pretty(&manifest).map_err(ApiError::internal)?;
    let audio_bytes: u64 = manifest.audio.iter().map(|file| file.size_bytes).sum();
    let (mut zip, reserved_bytes) = export.open(audio_bytes + (text.len() + manifest_text.len()) as u64)?;
    for (name, text) in [(MANIFEST_PATH, &manifest_text), (PROJECT_PATH, &text)] {
        zip.start_file(name, compressed_entry_options())?;
        zip.write_all(text.as_bytes())?;
    }
    let hash = Sha256::new().chain_update(manifest_text).chain_update(text);
    let etag = format!("\"{:x}\"", hash.finalize());
    let save_as = format!("{}.songfoundry.zip", manifest.name);
    Ok(ArchiveStart { zip, reserved_bytes, audio, etag, save_as })
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
