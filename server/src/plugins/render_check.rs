//! Whether finished renders are as they were: their samples have the hash that is kept beside them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use sha2::{Digest as _, Sha256};

use super::renders::{About, FILES};
use crate::blobs::Blobs;
use crate::error::ApiResult;

/// The number of finished renders, and their faults in sentences. Blocks.
///
/// # Errors
/// When the storage cannot be read.
pub(crate) fn faults(blobs: &Blobs, hashes: bool) -> ApiResult<(usize, Vec<String>)> {
    let (mut count, mut faults) = (0, Vec::new());
    for entry in blobs.entries_for_good(FILES.folder)? {
        let Some(audio) = FILES.key(&entry.file_name()).filter(|_| entry.extension == "wav") else {
            continue;
        };
        let Some(about) = FILES.key(&format!("{}.json", entry.id)) else { continue };
        // A render without its other half is listed as belonging to nothing, unless it is just
        // being made.
        let Some(mut text) = blobs.read(&about)? else { continue };
        count += 1;
        let mut bytes = Vec::new();
        text.read_to_end(&mut bytes)?;
        let Ok(known) = serde_json::from_slice::<About>(&bytes) else {
            faults.push(format!("{} is damaged: it cannot be read", about.path()));
            continue;
        };
        if !hashes {
            continue;
        }
        let Some(file) = blobs.read(&audio)? else { continue };
        match samples_sha256(file)? {
            Some(found) if found == known.pcm_sha256 => {}
            Some(found) => {
                faults.push(format!("{} is damaged: the SHA-256 of its samples is {found}", audio.path()));
            }
            None => faults.push(format!("{} is damaged: it is no whole WAV file", audio.path())),
        }
    }
    Ok((count, faults))
}

/// SHA-256 of the samples of a WAV file in hexadecimal; `None` if it is none.
fn samples_sha256(file: File) -> io::Result<Option<String>> {
    let mut file = BufReader::new(file);
    let mut start = [0; 12];
    if !read_whole(&mut file, &mut start)? || &start[..4] != b"RIFF" || &start[8..] != b"WAVE" {
        return Ok(None);
    }
    loop {
        let mut head = [0; 8];
        if !read_whole(&mut file, &mut head)? {
            return Ok(None);
        }
        let size = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        if &head[..4] == b"data" {
            let mut hash = Sha256::new();
            let length = io::copy(&mut file.take(size), &mut hash)?;
            return Ok((length == size).then(|| format!("{:x}", hash.finalize())));
        }
        file.seek(SeekFrom::Current(i64::try_from(size + size % 2).unwrap_or(i64::MAX)))?;
    }
}

fn read_whole(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}
