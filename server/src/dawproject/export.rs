//! Handler of `GET /projects/{id}/dawproject`.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write as _};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use schemas::Project;
use schemas::project::Item;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::archive::{METADATA, PROJECT};
use super::entry_names::EntryNames;
use super::item_writer::ExportedAudio;
use super::project_writer::{write_metadata, write_project};
use crate::audio::{self, AudioFile};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::Path;
use crate::fair_bytes::ReservedBytes;
use crate::file_answer::FileAnswer;
use crate::permits::Caller;
use crate::projects;
use crate::state::AppState;
use crate::storage::{BlobWriter, ensure_room};

/// Folder of the store for temporary files.
const FOLDER: &str = "bundles";

/// Maximum number of audio files in an exported file. An import accepts as many.
const AUDIO_MAX: usize = 10_000;

/// Bytes on the disk that are reserved for `project.xml` per byte of the document. The text is up
/// to eight times as long, but repeats itself and is compressed.
const XML_BYTES_PER_DOCUMENT_BYTE: u64 = 2;

/// Sends a project and the audio files that it uses as a DAWproject file, which Bitwig Studio,
/// Cubase, Studio One and others import.
///
/// The file has tracks, groups, buses, sends, notes, MIDI controls, audio as it was uploaded,
/// fades, tempo, time signatures, markers, and the automation of volume, pan and sends. The format
/// cannot hold effects, plugins, sections and curves of automation: the comment in `metadata.xml`
/// lists those of the project.
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
        Export { state: &state, runtime: &runtime, owner_id: &user.id, caller }.run(&id, &text)
    };
    let (answer, reserved) = permits.run_for(&owner_id, 1, work).await?;
    answer.respond_counted(&headers, reserved)
}

/// An export that is running.
struct Export<'e> {
    state: &'e AppState,
    runtime: &'e Handle,
    owner_id: &'e str,
    caller: &'e Caller,
}

/// The audio files of an export.
#[derive(Default)]
struct UsedAudio {
    /// By their ids in the project.
    exported: HashMap<String, ExportedAudio>,
    /// In the order of the archive.
    files: Vec<(String, AudioFile)>,
    missing: usize,
}

impl Export<'_> {
    fn run(&self, project_id: &str, text: &str) -> ApiResult<(FileAnswer, ReservedBytes)> {
        let document = projects::stored_document(project_id, text)?;
        let project = schemas::read::project(&document).map_err(|error| ApiError::Unprocessable {
            code: "project_unreadable",
            detail: format!("The stored project `{project_id}` cannot be read: {error}."),
        })?;
        drop(document);
        let audio = self.used_audio(&project)?;
        let audio_bytes: u64 = audio.files.iter().map(|(_, file)| file.size_bytes).sum();
        let bytes = audio_bytes + text.len() as u64 * XML_BYTES_PER_DOCUMENT_BYTE;
        // Memory is reserved before the disk is checked, because the check may purge deleted files.
        let reserved = self.state.large_answers.reserve_file(self.owner_id, bytes)?;
        let blobs = self.state.blobs.local();
        ensure_room(self.state, self.runtime, blobs.root(), bytes)?;
        let mut writer = blobs.unnamed_writer(FOLDER)?;
        self.write(&mut writer, &project, &audio)?;
        writer.flush()?;
        // The open file stays readable after the writer has removed its name.
        let file = File::open(writer.temporary())?;
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(audio.missing.to_le_bytes());
        audio.files.iter().for_each(|(_, file)| hash.update(&file.sha256));
        hash.update(text);
        let answer = FileAnswer {
            file,
            etag: format!("\"{:x}\"", hash.finalize()),
            media_type: "application/zip",
            save_as: Some(format!("{}.dawproject", project.name)),
        };
        Ok((answer, reserved))
    }

    fn check_caller(&self) -> ApiResult<()> {
        match self.caller.has_disconnected() {
            true => Err(ApiError::Conflict {
                code: "cancelled",
                detail: "The client disconnected, so the file was not made.".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Finds the recordings that the project uses, each content once.
    fn used_audio(&self, project: &Project) -> ApiResult<UsedAudio> {
        let mut used = UsedAudio::default();
        let mut names = EntryNames::default();
        let mut entry_of: HashMap<String, String> = HashMap::new();
        let ids = self.runtime.block_on(audio::ids(&self.state.db, self.owner_id))?;
        // Impulse responses of effects are left out, as the effects are.
        let audio_items =
            project.tracks.iter().flat_map(|track| &track.items).filter_map(|item| match item {
                Item::Audio(item) => item.source.server_file_id.as_ref().or(item.server_file_id.as_ref()),
                _ => None,
            });
        let mut seen = HashSet::new();
        for id in audio_items.filter(|id| seen.insert(*id)) {
            self.check_caller()?;
            let original = match ids.contains(id) {
                true => audio::original(self.state, self.runtime, self.owner_id, id)?,
                false => None,
            };
            let Some(file) = original else {
                used.missing += 1;
                continue;
            };
            let is_new = !entry_of.contains_key(&file.sha256);
            if is_new && used.files.len() == AUDIO_MAX {
                let detail = format!(
                    "The project uses more than {AUDIO_MAX} audio files, the maximum for a DAWproject file."
                );
                return Err(ApiError::Unprocessable { code: "too_many_files", detail });
            }
            let entry = entry_of
                .entry(file.sha256.clone())
                .or_insert_with(|| names.add(&file.name, file.extension()))
                .clone();
            let exported = ExportedAudio {
                entry: entry.clone(),
                sample_rate_hz: file.sample_rate_hz,
                channels: file.source_channels,
                frames: file.frames,
            };
            used.exported.insert(id.clone(), exported);
            if is_new {
                used.files.push((entry, file));
            }
        }
        Ok(used)
    }

    /// Writes the archive with compressed texts and uncompressed audio. Only one audio file is open
    /// at a time.
    fn write(&self, destination: &mut BlobWriter, project: &Project, audio: &UsedAudio) -> ApiResult<()> {
        let mut zip = ZipWriter::new(destination);
        // All entries have the same fixed time, so that the same project gives the same bytes.
        let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
        let compressed = options.compression_method(zip::CompressionMethod::Deflated);
        zip.start_file(METADATA, compressed)?;
        write_metadata(&mut zip, project, audio.missing)?;
        zip.start_file(PROJECT, compressed)?;
        write_project(&mut zip, project, &audio.exported)?;
        let uncompressed = options.compression_method(zip::CompressionMethod::Stored);
        for (entry, file) in &audio.files {
            self.check_caller()?;
            let mut original = audio::open_original(self.state, &file.sha256)?.ok_or_else(|| {
                let detail = format!(
                    "The audio file `{}` was deleted while the DAWproject file was made; try again.",
                    file.id
                );
                ApiError::Conflict { code: "try_again", detail }
            })?;
            zip.start_file(entry, uncompressed.large_file(file.size_bytes >= u64::from(u32::MAX)))?;
            io::copy(&mut original, &mut zip)?;
        }
        zip.finish()?;
        Ok(())
    }
}
