//! Repairs missing or damaged decoded copies and peaks by decoding the original again.

use std::collections::HashSet;
use std::io::{self, Seek as _, SeekFrom};

use tokio::runtime::Handle;

use super::decoder::Decoder;
use super::import::{DecodeContext, DecodedAudio};
use super::store::{self, Content};
use super::{ContentKeys, FOLDER, renditions};
use crate::config::AudioLimits;
use crate::db::Db;
use crate::error::ApiResult;
use crate::helper_processes::Helpers;
use crate::storage::{Allowance, BlobKey, Blobs, ReceivedFile, hash_file};

/// The result of a check of the stored files.
pub(crate) struct Findings<'f> {
    /// Missing or damaged files, as `folder/name`.
    pub(crate) faulty: &'f HashSet<String>,
    /// Whether the check also compared the hashes of the files.
    pub(crate) has_compared_hashes: bool,
}

/// Decodes originals again whose samples or peaks are faulty, and returns the names of the repaired
/// and removed files. Marks faulty originals, so that the next upload of the same bytes replaces
/// them. Computes missing hashes. Removes copies at another rate that are faulty or have no hash;
/// the next request for such a copy makes it again. Blocks.
///
/// # Errors
/// If a query or the storage fails. Files that can no longer be decoded stay unchanged.
pub(crate) fn repair_stored_audio(
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    limits: &AudioLimits,
    findings: &Findings<'_>,
) -> ApiResult<Vec<String>> {
    let mut repaired_files = Vec::new();
    for content in runtime.block_on(store::read_contents(db))? {
        let content_keys = ContentKeys::new(&content.sha256)?;
        let is_damaged = findings.faulty.contains(&content_keys.original.path());
        if content.is_original_damaged != is_damaged && (is_damaged || findings.has_compared_hashes) {
            let marking = store::set_original_damaged(db, &content.sha256, is_damaged);
            runtime.block_on(marking)?;
        }
        if is_damaged {
            continue;
        }
        let is_faulty = |blob_key: &BlobKey| findings.faulty.contains(&blob_key.path());
        let outcome = if is_faulty(&content_keys.samples) || is_faulty(&content_keys.peaks) {
            let redecode_result = redecode(blobs, limits, &content);
            redecode_result.and_then(|redecoded_audio| redecoded_audio.replace(db, runtime)).map(|()| true)
        } else if findings.has_compared_hashes && content.has_no_hashes() {
            let redecode_result = redecode(blobs, limits, &content);
            redecode_result
                .and_then(|redecoded_audio| redecoded_audio.store_hashes(db, runtime, blobs, &content))
        } else {
            continue;
        };
        match outcome {
            Ok(is_replaced) => {
                let derived_names =
                    [&content_keys.samples, &content_keys.peaks].map(BlobKey::path).into_iter();
                let is_repaired = |name: &String| {
                    is_replaced && (content.has_no_hashes() || findings.faulty.contains(name))
                };
                repaired_files.extend(derived_names.filter(is_repaired));
            }
            Err(error) => {
                tracing::warn!(sha256 = content.sha256, "cannot decode a stored file again: {error:#}");
            }
        }
    }
    for rendition in runtime.block_on(store::read_all_renditions(db))? {
        let blob_key = renditions::blob_key_of(&rendition.sha256, rendition.sample_rate_hz)?;
        let is_faulty = findings.faulty.contains(&blob_key.path());
        if is_faulty || (findings.has_compared_hashes && rendition.file_sha256.is_empty()) {
            runtime.block_on(store::delete_rendition(db, &rendition.sha256, rendition.sample_rate_hz))?;
            blobs.remove(&blob_key)?;
        }
        if is_faulty {
            repaired_files.push(blob_key.path());
        }
    }
    Ok(repaired_files)
}

/// Stored audio that was decoded again from its original.
struct RedecodedAudio {
    decoded_audio: DecodedAudio,
    content: Content,
}

fn redecode(blobs: &Blobs, limits: &AudioLimits, content: &Content) -> ApiResult<RedecodedAudio> {
    let content_keys = ContentKeys::new(&content.sha256)?;
    let mut writer = blobs.unnamed_copy(&content_keys.original, FOLDER)?;
    writer.seek(SeekFrom::End(0))?;
    let received_file = ReceivedFile {
        name: content_keys.original.path(),
        writer,
        sha256: content.sha256.clone(),
        size_bytes: content.size_bytes,
    };
    let decoder = Decoder::of_this_program(Helpers::default())?;
    let context = DecodeContext { decoder: &decoder, blobs, limits };
    let decoded_audio = context.decode(&Allowance::of_disk(limits), &received_file, &mut |_| true)?;
    Ok(RedecodedAudio { content: decoded_audio.to_content(&received_file)?, decoded_audio })
}

impl RedecodedAudio {
    /// Replaces the stored files with the decoded ones.
    fn replace(self, db: &Db, runtime: &Handle) -> ApiResult<()> {
        self.decoded_audio.store_derived(&self.content.sha256)?;
        Ok(runtime.block_on(store::set_decoded(db, &self.content))?)
    }

    /// Stores the missing hashes of stored files. If the files are damaged, replaces them and
    /// returns true. Stored files of a different size come from another version of the decoder.
    /// They stay, because the clips of projects are cut to their length.
    fn store_hashes(
        self,
        db: &Db,
        runtime: &Handle,
        blobs: &Blobs,
        stored_content: &Content,
    ) -> ApiResult<bool> {
        let content_keys = ContentKeys::new(&stored_content.sha256)?;
        let hash = |blob_key: &BlobKey| -> io::Result<String> {
            blobs.read(blob_key)?.ok_or(io::ErrorKind::NotFound)?;
            hash_file(&blobs.path(blob_key))
        };
        let (samples_sha256, peaks_sha256) = (hash(&content_keys.samples)?, hash(&content_keys.peaks)?);
        let sizes = |content: &Content| (content.samples_bytes, content.peaks_bytes);
        let is_same =
            (&samples_sha256, &peaks_sha256) == (&self.content.samples_sha256, &self.content.peaks_sha256);
        if !is_same && sizes(&self.content) == sizes(stored_content) {
            self.replace(db, runtime)?;
            return Ok(true);
        }
        let with_hashes = Content { samples_sha256, peaks_sha256, ..stored_content.clone() };
        runtime.block_on(store::set_decoded(db, &with_hashes))?;
        Ok(false)
    }
}
