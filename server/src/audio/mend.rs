//! Repairs missing or damaged decoded copies and peaks by decoding the original again.

use std::collections::HashSet;
use std::io::{self, Seek as _, SeekFrom};

use tokio::runtime::Handle;

use super::decoder::Decoder;
use super::import::{Decoded, Room};
use super::store::{self, Content};
use super::{ContentKeys, FOLDER, renditions};
use crate::config::AudioLimits;
use crate::db::Db;
use crate::error::ApiResult;
use crate::helper_processes::Helpers;
use crate::storage::{Allowance, BlobKey, Blobs, Received, file_sha256};

/// The result of a check of the stored files.
pub(crate) struct Findings<'f> {
    /// Files that are missing or damaged: folder and name, with `/` between.
    pub(crate) faulty: &'f HashSet<String>,
    /// Whether the hashes of the others were compared.
    pub(crate) hashes: bool,
}

/// Makes faulty decoded copies and peaks again whose original is whole, and says which. Marks
/// originals that are not, so that an upload replaces them. Finds out hashes that were not kept
/// when a file was stored. A copy at another rate is removed where it is faulty or has no hash: it
/// is made when it is next asked for. Blocks.
///
/// # Errors
/// When the database or the storage refuses. A file that cannot be decoded any more is left as it
/// is.
pub(crate) fn mend(
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    limits: &AudioLimits,
    findings: &Findings<'_>,
) -> ApiResult<Vec<String>> {
    let mut mended = Vec::new();
    for content in runtime.block_on(store::contents(db))? {
        let keys = ContentKeys::new(&content.sha256)?;
        let is_damaged = findings.faulty.contains(&keys.original.path());
        if content.original_damaged != is_damaged && (is_damaged || findings.hashes) {
            let marking = store::set_original_damaged(db, &content.sha256, is_damaged);
            runtime.block_on(marking)?;
        }
        if is_damaged {
            continue;
        }
        let is_faulty = |key: &BlobKey| findings.faulty.contains(&key.path());
        let outcome = if is_faulty(&keys.samples) || is_faulty(&keys.peaks) {
            let again = decode_again(blobs, limits, &content);
            again.and_then(|again| again.replace(db, runtime)).map(|()| true)
        } else if findings.hashes && content.has_no_hashes() {
            let again = decode_again(blobs, limits, &content);
            again.and_then(|again| again.keep_hashes(db, runtime, blobs, &content))
        } else {
            continue;
        };
        match outcome {
            Ok(is_replaced) => {
                let made = [&keys.samples, &keys.peaks].map(BlobKey::path).into_iter();
                let is_made = |name: &String| {
                    is_replaced && (content.has_no_hashes() || findings.faulty.contains(name))
                };
                mended.extend(made.filter(is_made));
            }
            Err(error) => {
                tracing::warn!(sha256 = content.sha256, "cannot decode a stored file again: {error:#}");
            }
        }
    }
    for copy in runtime.block_on(store::all_renditions(db))? {
        let key = renditions::key(&copy.sha256, copy.sample_rate_hz)?;
        let is_faulty = findings.faulty.contains(&key.path());
        if is_faulty || (findings.hashes && copy.file_sha256.is_empty()) {
            runtime.block_on(store::delete_rendition(db, &copy.sha256, copy.sample_rate_hz))?;
            blobs.remove(&key)?;
        }
        if is_faulty {
            mended.push(key.path());
        }
    }
    Ok(mended)
}

/// The files of a content, made again from its original.
struct MadeAgain {
    decoded: Decoded,
    content: Content,
}

fn decode_again(blobs: &Blobs, limits: &AudioLimits, content: &Content) -> ApiResult<MadeAgain> {
    let keys = ContentKeys::new(&content.sha256)?;
    let mut writer = blobs.unnamed_copy(&keys.original, FOLDER)?;
    writer.seek(SeekFrom::End(0))?;
    let received = Received {
        name: keys.original.path(),
        writer,
        sha256: content.sha256.clone(),
        size_bytes: content.size_bytes,
    };
    let decoder = Decoder::of_this_program(Helpers::default())?;
    let room = Room { decoder: &decoder, blobs, limits };
    let decoded = room.decode(&Allowance::of_disk(limits), &received, &mut |_| true)?;
    Ok(MadeAgain { content: decoded.content(&received)?, decoded })
}

impl MadeAgain {
    /// Replaces the stored files.
    fn replace(self, db: &Db, runtime: &Handle) -> ApiResult<()> {
        self.decoded.keep_made(&self.content.sha256)?;
        Ok(runtime.block_on(store::set_decoded(db, &self.content))?)
    }

    /// Stores the hashes of files that were stored without, and says whether those were damaged
    /// and replaced. Files of another size come from another version of the decoder: songs are
    /// cut to fit them, so they stay.
    fn keep_hashes(self, db: &Db, runtime: &Handle, blobs: &Blobs, stored: &Content) -> ApiResult<bool> {
        let keys = ContentKeys::new(&stored.sha256)?;
        let hash = |key: &BlobKey| -> io::Result<String> {
            blobs.read(key)?.ok_or(io::ErrorKind::NotFound)?;
            file_sha256(&blobs.path(key))
        };
        let (samples_sha256, peaks_sha256) = (hash(&keys.samples)?, hash(&keys.peaks)?);
        let sizes = |content: &Content| (content.samples_bytes, content.peaks_bytes);
        let is_same =
            (&samples_sha256, &peaks_sha256) == (&self.content.samples_sha256, &self.content.peaks_sha256);
        if !is_same && sizes(&self.content) == sizes(stored) {
            self.replace(db, runtime)?;
            return Ok(true);
        }
        let known = Content { samples_sha256, peaks_sha256, ..stored.clone() };
        runtime.block_on(store::set_decoded(db, &known))?;
        Ok(false)
    }
}
