//! An export that is running.

use std::fs::File;
use std::io::{self, Write as _};

use axum::http::HeaderMap;
use axum::response::Response;
use schemas::Project;
use schemas::json::JsonText;
use tokio::runtime::Handle;
use zip::write::{FileOptions, SimpleFileOptions};
use zip::{CompressionMethod, ZipWriter};

use super::FOLDER;
use crate::audio::{self, AudioFile};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::fair_bytes::ReservedBytes;
use crate::file_answer::FileAnswer;
use crate::permits::Caller;
use crate::projects;
use crate::state::AppState;
use crate::storage::{BlobWriter, ensure_room};

/// An export that is running.
pub(crate) struct Export {
    state: AppState,
    runtime: Handle,
    owner_id: String,
    pub(crate) project_id: String,
    caller: Caller,
}

/// An archive that contains the documents but not yet the audio files.
pub(crate) struct ArchiveStart {
    pub(crate) zip: ZipWriter<BlobWriter>,
    pub(crate) reserved_bytes: ReservedBytes,
    /// The audio files with the names of their entries.
    pub(crate) audio: Vec<(String, AudioFile)>,
    /// Entity tag, including its quotes.
    pub(crate) etag: String,
    /// Name under which a browser saves the archive.
    pub(crate) save_as: String,
}

impl Export {
    /// Answers a request for an archive of a project of `user`. `begin` gets the stored text of the
    /// project and writes the documents of the archive. Waits until fewer than the maximum number
    /// of exports run.
    ///
    /// # Errors
    /// Those of `begin`; 404 if there is no such project; 503 `busy` if too many exports are
    /// waiting; 507 `storage_full`.
    pub(crate) async fn answer(
        state: AppState,
        user: CurrentUser,
        project_id: String,
        headers: &HeaderMap,
        begin: impl FnOnce(&Self, String) -> ApiResult<ArchiveStart> + Send + 'static,
    ) -> ApiResult<Response> {
        let (runtime, owner_id) = (Handle::current(), user.id.clone());
        let export = |state: AppState| {
            move |caller: &Caller| {
                let export = Self { state, runtime, owner_id, project_id, caller: caller.clone() };
                let archive_start = export.with_document(begin)?;
                export.finish(archive_start)
            }
        };
        let (answer, reserved_bytes) =
            state.archives.exports.run_for(&user.id, 1, export(state.clone())).await?;
        answer.respond_counted(headers, reserved_bytes)
    }

    /// Waits for a permit of the user, and runs `work` with the stored text of the project.
    fn with_document<T>(&self, work: impl FnOnce(&Self, String) -> ApiResult<T>) -> ApiResult<T> {
        self.state.archives.writing.run_part(&self.runtime, &self.owner_id, || {
            // The text is loaded here, so that waiting requests keep no texts in memory.
            let document_text = projects::stored_text(&self.state, &self.owner_id, &self.project_id);
            work(self, self.runtime.block_on(document_text)?)
        })
    }

    /// Reads the stored text of the project.
    ///
    /// # Errors
    /// 422 `project_unreadable`.
    pub(crate) fn read(&self, text: &str) -> ApiResult<(JsonText, Project)> {
        let document = projects::stored_document(&self.project_id, text)?;
        let project = schemas::read::project(&document).map_err(|error| ApiError::Unprocessable {
            code: "project_unreadable",
            detail: format!(
                "The stored project `{id}` cannot be read: {error}. GET /projects/{id}/raw downloads the stored \
                 text.",
                id = self.project_id
            ),
        })?;
        Ok((document, project))
    }

    /// Returns the user's original files with these ids. `None` stands for a file that the user
    /// does not have. `format` names the archive in errors.
    ///
    /// # Errors
    /// 422 `too_many_files` if there are more than `max`.
    pub(crate) fn open_originals(
        &self,
        ids: impl IntoIterator<Item = String>,
        max: usize,
        format: &str,
    ) -> ApiResult<Vec<(String, Option<AudioFile>)>> {
        let existing_ids = self.runtime.block_on(audio::ids(&self.state.db, &self.owner_id))?;
        let (mut originals, mut count) = (Vec::new(), 0);
        for id in ids {
            self.check_caller()?;
            let original_file = match existing_ids.contains(&id) {
                true => audio::find_original(&self.state, &self.runtime, &self.owner_id, &id)?,
                false => None,
            };
            count += usize::from(original_file.is_some());
            if count > max {
                let detail =
                    format!("The project uses more than {max} audio files, the maximum for a {format}.");
                return Err(ApiError::Unprocessable { code: "too_many_files", detail });
            }
            originals.push((id, original_file));
        }
        Ok(originals)
    }

    /// Reserves space for an archive of about `bytes` bytes, and opens it.
    ///
    /// # Errors
    /// 503 `busy` if too many archives are being sent; 507 `storage_full`.
    pub(crate) fn open(&self, bytes: u64) -> ApiResult<(ZipWriter<BlobWriter>, ReservedBytes)> {
        // Memory is reserved before the disk is checked, because the check may purge deleted files.
        let reserved_bytes = self.state.large_answers.reserve_file(&self.owner_id, bytes)?;
        let blobs = self.state.blobs.local();
        ensure_room(&self.state, &self.runtime, blobs.root(), bytes)?;
        Ok((ZipWriter::new(blobs.unnamed_writer(FOLDER)?), reserved_bytes))
    }

    fn check_caller(&self) -> ApiResult<()> {
        match self.caller.has_disconnected() {
            true => Err(ApiError::Conflict {
                code: "cancelled",
                detail: "The client disconnected, so the archive was not made.".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Adds the audio files, uncompressed. Only one file is open at a time.
    fn finish(&self, archive_start: ArchiveStart) -> ApiResult<(FileAnswer, ReservedBytes)> {
        let ArchiveStart { mut zip, reserved_bytes, audio, etag, save_as } = archive_start;
        for (entry, file) in &audio {
            self.check_caller()?;
            let mut original_file = audio::open_original(&self.state, &file.sha256)?.ok_or_else(|| {
                let detail = format!(
                    "The audio file `{}` was deleted while the archive was made; try again.",
                    file.id
                );
                ApiError::Conflict { code: "try_again", detail }
            })?;
            let is_large = file.size_bytes >= u64::from(u32::MAX);
            zip.start_file(entry, options(CompressionMethod::Stored).large_file(is_large))?;
            io::copy(&mut original_file, &mut zip)?;
        }
        let mut writer = zip.finish()?;
        writer.flush()?;
        // The open file stays readable after the writer removes its name at the end of this
        // function.
        let file = File::open(writer.temporary())?;
        let answer = FileAnswer { file, etag, media_type: "application/zip", save_as: Some(save_as) };
        Ok((answer, reserved_bytes))
    }
}

/// Returns the options of a compressed entry.
pub(crate) fn compressed_entry_options() -> SimpleFileOptions {
    options(CompressionMethod::Deflated)
}

fn options(method: CompressionMethod) -> SimpleFileOptions {
    // All entries have the same fixed time, so that the same project always gives the same bytes.
    FileOptions::default().last_modified_time(zip::DateTime::default()).compression_method(method)
}
