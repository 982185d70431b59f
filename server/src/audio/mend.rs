//! Making stored files again that are missing or damaged: decoded copies and peaks, from the file
//! as it came.

use std::collections::HashSet;
use std::io::{Seek as _, SeekFrom};

use tokio::runtime::Handle;

use super::decoder::Decoder;
use super::ingest::Room;
use super::intake::{Allowance, Received};
use super::store::{self, Content};
use super::{ContentKeys, FOLDER, renditions};
use crate::blobs::Blobs;
use crate::config::AudioLimits;
use crate::db::Db;
use crate::error::ApiResult;
use crate::helpers::Helpers;

/// Makes the files of `faulty` again (folder and name, with `/` between) whose original is not
/// among them, and says which. A copy at another rate is removed: it is made when it is next asked
/// for. Blocks.
///
/// # Errors
/// When the database or the storage refuses. A file that cannot be decoded any more is left as it
/// is.
pub(crate) fn mend(
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    limits: &AudioLimits,
    faulty: &HashSet<String>,
) -> ApiResult<Vec<String>> {
    let mut mended = Vec::new();
    for content in runtime.block_on(store::contents(db))? {
        let keys = ContentKeys::new(&content.sha256)?;
        let made: Vec<String> = [&keys.samples, &keys.peaks]
            .map(|key| key.path())
            .into_iter()
            .filter(|name| faulty.contains(name))
            .collect();
        if made.is_empty() || faulty.contains(&keys.original.path()) {
            continue;
        }
        match decode_again(db, runtime, blobs, limits, &content) {
            Ok(()) => mended.extend(made),
            Err(error) => {
                tracing::warn!(sha256 = content.sha256, "cannot decode a stored file again: {error:#}");
            }
        }
    }
    for copy in runtime.block_on(store::all_renditions(db))? {
        let key = renditions::key(&copy.sha256, copy.sample_rate_hz)?;
        if faulty.contains(&key.path()) {
            runtime.block_on(store::delete_rendition(db, &copy.sha256, copy.sample_rate_hz))?;
            blobs.remove(&key)?;
            mended.push(key.path());
        }
    }
    Ok(mended)
}

fn decode_again(
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    limits: &AudioLimits,
    content: &Content,
) -> ApiResult<()> {
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
    let again = decoded.content(&received)?;
    decoded.keep_made(&content.sha256)?;
    Ok(runtime.block_on(store::set_decoded(db, &again))?)
}
