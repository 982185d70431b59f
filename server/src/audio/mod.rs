//! Audio files: uploads, their decoded copies, waveforms and measurements.
//!
//! *Audio content* is the bytes of an uploaded file, identified by their SHA-256. The service
//! stores these bytes unchanged. It also stores a decoded copy (32-bit float WAV at the rate of the
//! file, mono or stereo) and its peaks. Together they are the *stored audio*. All files with the
//! same bytes, of all users, share the stored audio. A user has at most one file with the same
//! bytes. The quota counts the size of the stored audio of each file, decoded copies included, and
//! the SoundFonts that the user uploaded.
//!
//! A file cannot be deleted (409) while a current project or an autosave of its owner refers to
//! it. Older revisions of a project do not count. A deleted file is restored when a project that
//! refers to it is saved ([`deleted`]).

mod analyze;
mod decode;
pub(crate) mod decoder;
mod deleted;
mod download;
mod files;
mod float_wav;
mod import;
mod import_all;
mod import_task;
mod inventory;
mod measure;
mod mend;
mod originals;
mod peaks;
mod peaks_file;
mod processing;
mod queries;
mod recordings;
mod reference;
mod renditions;
mod resumable;
mod search_key;
mod store;
mod stored_samples;
mod tags;
mod upload;
mod usage;

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use analyze::ANALYSIS_TASK;
pub(crate) use decode::HeaderInfo;
pub(crate) use deleted::{make_room, remove_expired_deleted_files, restore_named};
pub(crate) use import::{import_content, undo_imports};
pub(crate) use import_task::{IMPORT_TASK, list_expected_waiting_files};
pub(crate) use inventory::{FILE_KIND, PART_FILE_KIND, WAITING_FILE_KIND, list_expected_files};
pub(crate) use mend::{Findings, repair_stored_audio};
pub(crate) use originals::{find_original, open_original};
pub(crate) use processing::PROCESSING_TASK;
pub(crate) use recordings::recording;
pub(crate) use reference::{ReferenceAnswer, measure_content};
pub(crate) use resumable::remove_expired;
pub(crate) use store::ids;
pub(crate) use stored_samples::{OpenedFile, analyze_file, decode_file, open_samples, require};
pub(crate) use usage::read_used_bytes;
pub use usage::{AudioUsage, read_usage_of_all};

use crate::config::Config;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};
use crate::extract::BodyLimit;
use crate::helper_processes::Helpers;
use crate::permits::{Bounds, Permits, processors};
use crate::router::with_body_limit;
use crate::state::AppState;
use crate::storage::{BlobKey, FORM_EXTRA_BYTES};

/// Names of the supported file formats, for users.
pub const FORMATS: &[&str] = &["wav", "aiff", "flac", "mp3", "ogg", "m4a", "aac"];

/// Folder of audio files in the store.
pub(crate) const FOLDER: &str = "audio";

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let upload_limit = BodyLimit {
        form_max_bytes: FORM_EXTRA_BYTES,
        ..BodyLimit::of(config.limits.upload_max_bytes, "An upload")
    };
    let upload_routes =
        OpenApiRouter::new().routes(routes!(upload::upload)).routes(routes!(reference::reference));
    OpenApiRouter::new()
        .merge(with_body_limit(upload_routes, upload_limit))
        .routes(routes!(files::list))
        .routes(routes!(files::read, files::delete))
        .routes(routes!(tags::set_tags))
        .routes(routes!(download::read))
        .routes(routes!(peaks::read))
        .routes(routes!(analyze::analyze))
        .merge(processing::routes())
        .merge(resumable::routes(config))
}

/// Number of files per processor that are decoded at the same time for direct answers.
const DECODERS_PER_PROCESSOR: u32 = 4;

/// State of this slice in memory.
#[derive(Debug)]
pub struct Audio {
    decoder: decoder::Decoder,
    /// Permits to decode or measure files for direct answers. A long file takes minutes. Therefore
    /// there are more permits than processors, so that a few accounts cannot block the short files
    /// of all other accounts.
    pub(crate) decoding: Arc<Permits>,
    /// Permits to answer with peaks.
    peaks: Permits,
    /// Permits to convert files to another rate. There is only one, because the next request may be
    /// for the same copy.
    conversions: Permits,
    upload_leases: resumable::UploadLeases,
}

impl Audio {
    /// Creates the state. At most `waiting_max` requests wait for each kind of work.
    ///
    /// # Errors
    /// If the path of this executable is unknown.
    pub fn new(helpers: &Helpers, waiting_max: u64) -> std::io::Result<Self> {
        Ok(Self {
            decoder: decoder::Decoder::of_this_program(helpers.clone())?,
            decoding: Arc::new(Permits::weighted(
                "audio decoding",
                Bounds {
                    running: DECODERS_PER_PROCESSOR * processors(),
                    min_weight: 1,
                    per_user: processors().saturating_sub(1).max(1),
                    waiting_weight_max: u64::MAX,
                    waiting_requests_max: waiting_max,
                    // Processes that decode long files have a lower priority than those of new
                    // files.
                    reserve_for_idle_users: 2 * DECODERS_PER_PROCESSOR * processors(),
                },
            )),
            peaks: Permits::counted("waveform peaks", 4 * processors(), waiting_max),
            conversions: Permits::counted("sample-rate conversion", 1, waiting_max).with_low_priority(),
            upload_leases: resumable::UploadLeases::default(),
        })
    }

    /// Reads the headers of files, in the order of `files`. An entry is `None` if the file is not
    /// supported audio. Blocks until all headers are read, 20 seconds have passed, or `is_wanted`
    /// returns false. Entries that were not read are `None`.
    ///
    /// # Errors
    /// If the process that reads the headers cannot be started.
    pub(crate) fn inspect(
        &self,
        files: &[PathBuf],
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<Vec<Option<HeaderInfo>>> {
        self.decoder.inspect(files, is_wanted)
    }
}

/// Resumes decoding complete uploads, and removes expired ones. Must be called at the start, before
/// the first request.
///
/// # Errors
/// If a query or the storage fails.
pub async fn resume(state: &AppState) -> anyhow::Result<()> {
    resumable::resume_decoding(state).await?;
    remove_expired(state).await?;
    Ok(())
}

/// Deletes stored audio from the database if no user has it any more, because its owners were
/// deleted.
///
/// # Errors
/// If the query fails.
pub(crate) async fn delete_unowned_contents(db: &Db) -> ApiResult<()> {
    Ok(store::delete_unowned(db).await?)
}

/// Extensions of the stored files: original, samples, peaks.
const EXTENSIONS: [&str; 3] = ["original", "wav", "peaks"];

/// Keys of the stored files with the same audio content.
struct ContentKeys {
    original: BlobKey,
    samples: BlobKey,
    peaks: BlobKey,
}

impl ContentKeys {
    fn new(sha256: &str) -> ApiResult<Self> {
        let blob_key = |extension| BlobKey::new(FOLDER, sha256, extension).map_err(ApiError::internal);
        let [original, samples, peaks] = EXTENSIONS;
        Ok(Self { original: blob_key(original)?, samples: blob_key(samples)?, peaks: blob_key(peaks)? })
    }
}

/// An audio file of a user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AudioFile {
    /// Id, a UUID. A project's audio items refer to it in `server_file_id`.
    pub id: String,
    /// Name of the file when it was first uploaded.
    pub name: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// Media type of the file.
    pub media_type: &'static str,
    /// Container format.
    pub container: String,
    /// Codec of the samples.
    pub codec: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// Bytes that count toward the quota: the file, its decoded copies and its peaks.
    pub stored_bytes: u64,
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Number of channels of the file.
    pub source_channels: u32,
    /// Number of channels of the decoded copy: 1 or 2. Files with more channels are mixed to two
    /// after ITU-R BS.775.
    pub channels: u32,
    /// Length in frames, at `sample_rate_hz`.
    pub frames: u64,
    /// Length in seconds.
    pub duration_secs: f64,
    /// Faults of the file that did not prevent decoding, as sentences.
    pub warnings: Vec<String>,
    /// Tags, in alphabetical order.
    pub tags: Vec<String>,
    /// When the file was uploaded, RFC 3339.
    pub created_at: String,
    /// Path to download the file.
    pub file_url: String,
}

impl AudioFile {
    fn new(
        id: String,
        name: String,
        created_at: String,
        content: &store::Content,
        renditions_bytes: u64,
    ) -> Self {
        let report = content.report.clone();
        Self {
            file_url: format!("/api/v1/audio/{id}/file"),
            id,
            name,
            sha256: content.sha256.clone(),
            media_type: media_type(&report.container),
            container: report.container,
            codec: report.codec,
            size_bytes: content.size_bytes,
            stored_bytes: content.stored_bytes() + renditions_bytes,
            sample_rate_hz: report.sample_rate_hz,
            source_channels: report.source_channels,
            channels: report.channels,
            frames: report.frames,
            duration_secs: report.frames as f64 / f64::from(report.sample_rate_hz.max(1)),
            warnings: report.warnings,
            tags: Vec::new(),
            created_at,
        }
    }

    /// Returns the usual extension of the uploaded file, without the dot.
    pub(crate) fn extension(&self) -> &'static str {
        match self.media_type {
            "audio/wav" => "wav",
            "audio/aiff" => "aiff",
            "audio/flac" => "flac",
            "audio/mpeg" => "mp3",
            "audio/ogg" => "ogg",
            "audio/mp4" => "m4a",
            "audio/aac" => "aac",
            _ => "bin",
        }
    }
}

/// Returns the media type of a container, which is named as in `symphonia`.
fn media_type(container: &str) -> &'static str {
    match container {
        "wave" => "audio/wav",
        "aiff" => "audio/aiff",
        "flac" => "audio/flac",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "isomp4" => "audio/mp4",
        "aac" => "audio/aac",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
pub(crate) mod test_files;
#[cfg(test)]
pub(crate) mod tests;
