//! Handler of `GET /projects/{id}/dawproject`.

use std::collections::{HashMap, HashSet};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use schemas::Project;
use schemas::project::Item;
use sha2::{Digest as _, Sha256};

use super::archive::{METADATA_PATH, PROJECT_PATH};
use super::entry_names::EntryNames;
use super::item_writer::ExportedAudio;
use super::project_writer::{write_metadata, write_project};
use crate::audio::AudioFile;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, Problem};
use crate::extract::Path;
use crate::project_archives::{ArchiveStart, Export, compressed_entry_options};
use crate::state::AppState;

/// Maximum number of audio files in an exported file. An import accepts as many.
const AUDIO_MAX: usize = 10_000;

/// Bytes on the disk that are reserved for `project.xml` per byte of the document. The text can be
/// eight times as long, but it has many repetitions and is compressed.
const XML_BYTES_PER_DOCUMENT_BYTE: u64 = 2;

/// Sends a project and the audio files that it uses as a DAWproject file, which Bitwig Studio,
/// Cubase, Studio One and others import.
///
/// The file has tracks, groups, buses, sends, notes, MIDI controls, audio as it was uploaded, and
/// fades. It also has tempo, time signatures, markers, and the automation of volume, pan and sends.
/// Effects, plugins, sections and the curvature of automation are left out; the comment in
/// `metadata.xml` lists those that the project has.
#[utoipa::path(get, path = "/projects/{id}/dawproject", tag = "projects",
    params(("id", description = "Id of the project")),
    responses((status = 200, description = "The file", content_type = "application/zip",
            headers(("ETag" = String))),
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the file"),
        (status = 416, description = "The range is outside the file"),
        (status = 422, description = "`project_unreadable` or `too_many_files`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`storage_full`: there is no disk space to make the file", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn export(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    Export::answer(state, user, id, &headers, begin).await
}

/// Writes the metadata and the project.
fn begin(export: &Export, text: String) -> ApiResult<ArchiveStart> {
    let (document, project) = export.read(&text)?;
    drop(document);
    let Audio { exported_by_id, files, missing_count: missing } = used_audio(export, &project)?;
    let audio_bytes: u64 = files.iter().map(|(_, file)| file.size_bytes).sum();
    let (mut zip, reserved_bytes) =
        export.open(audio_bytes + text.len() as u64 * XML_BYTES_PER_DOCUMENT_BYTE)?;
    zip.start_file(METADATA_PATH, compressed_entry_options())?;
    write_metadata(&mut zip, &project, missing)?;
    zip.start_file(PROJECT_PATH, compressed_entry_options())?;
    write_project(&mut zip, &project, &exported_by_id)?;
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.update(missing.to_le_bytes());
    files.iter().for_each(|(_, file)| hash.update(&file.sha256));
    hash.update(text);
    let etag = format!("\"{:x}\"", hash.finalize());
    Ok(ArchiveStart {
        zip,
        reserved_bytes,
        audio: files,
        etag,
        save_as: format!("{}.dawproject", project.name),
    })
}

/// The audio files of an export.
#[derive(Default)]
struct Audio {
    /// The audio files by their ids in the project.
    exported_by_id: HashMap<String, ExportedAudio>,
    /// The audio files with the names of their entries.
    files: Vec<(String, AudioFile)>,
    missing_count: usize,
}

/// Finds the recordings that the project uses.
fn used_audio(export: &Export, project: &Project) -> ApiResult<Audio> {
    // Impulse responses are left out, because effects are left out.
    let ids = project.tracks.iter().flat_map(|track| &track.items).filter_map(|item| match item {
        Item::Audio(item) => item.source.server_file_id.as_ref().or(item.server_file_id.as_ref()),
        _ => None,
    });
    let mut seen_names = HashSet::new();
    let ids = ids.filter(|id| seen_names.insert(*id)).cloned();
    let (mut audio, mut names) = (Audio::default(), EntryNames::default());
    for (id, original_file) in export.open_originals(ids, AUDIO_MAX, "DAWproject file")? {
        let Some(file) = original_file else {
            audio.missing_count += 1;
            continue;
        };
        let entry = names.add(&file.name, file.extension());
        let exported_audio = ExportedAudio {
            entry: entry.clone(),
            sample_rate_hz: file.sample_rate_hz,
            channels: file.source_channels,
            frames: file.frames,
        };
        audio.exported_by_id.insert(id, exported_audio);
        audio.files.push((entry, file));
    }
    Ok(audio)
}
