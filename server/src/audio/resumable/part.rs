//! Appending to the file of an upload.

use std::fs::File;
use std::io::{ErrorKind, Seek as _, SeekFrom, Write as _};

use axum::body::Bytes;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::headers::Checksum;
use super::store::UploadRow;
use super::{BusyGuard, finish, key, store};
use crate::audio::intake::Allowance;
use crate::clock;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Bytes after which those that have come are put on the disk and counted.
const COUNT_EVERY_BYTES: u64 = 8 * 1024 * 1024;

/// What a part left.
#[derive(Debug)]
pub(super) struct Appended {
    pub(super) offset_bytes: u64,
    pub(super) expires_secs: i64,
    /// The task that decodes the file, if this was its last part.
    pub(super) task_id: Option<String>,
}

/// When an upload that something came to now expires.
pub(super) fn expires_secs(state: &AppState) -> i64 {
    let kept_secs = state.config.limits.audio.unfinished_upload_secs;
    clock::now_unix_secs().saturating_add(i64::try_from(kept_secs).unwrap_or(i64::MAX))
}

/// Writes what comes through `pieces` behind what is there. Goes on to its end and counts what has come
/// even if nobody waits for it any more. Blocks.
pub(super) fn append(
    state: &AppState,
    runtime: &Handle,
    row: &UploadRow,
    checksum: Option<Checksum>,
    pieces: mpsc::Receiver<Bytes>,
    mut busy: BusyGuard,
) -> ApiResult<Appended> {
    let appended = append_held(state, runtime, row, checksum, pieces, &mut busy);
    // Before the answer: whoever has that may send the next part to another process.
    runtime.block_on(busy.let_go());
    appended
}

fn append_held(
    state: &AppState,
    runtime: &Handle,
    row: &UploadRow,
    checksum: Option<Checksum>,
    mut pieces: mpsc::Receiver<Bytes>,
    busy: &mut BusyGuard,
) -> ApiResult<Appended> {
    if row.offset_bytes == row.length_bytes {
        // Everything was there before; with object storage it is no longer on this machine.
        let task_id = Some(finish::start(state, runtime, row)?);
        let (offset_bytes, expires_secs) = (row.offset_bytes, expires_secs(state));
        return Ok(Appended { offset_bytes, expires_secs, task_id });
    }
    let file = open(state, row)?;
    let mut part =
        Part { state, runtime, row, file, offset_bytes: row.offset_bytes, counted_bytes: row.offset_bytes };
    let written = part.write_all(checksum, &mut pieces, busy);
    if busy.is_lost() {
        // The file is another process's now.
    } else if written.is_err() {
        // What went wrong must not hide what is there.
        part.file.set_len(part.counted_bytes)?;
    } else {
        part.count()?;
    }
    written?;
    let mut task_id = None;
    if part.offset_bytes == row.length_bytes {
        task_id = Some(finish::start(state, runtime, row)?);
    }
    Ok(Appended { offset_bytes: part.offset_bytes, expires_secs: expires_secs(state), task_id })
}

/// Opens the file and drops what was written and never counted.
fn open(state: &AppState, row: &UploadRow) -> ApiResult<File> {
    let path = state.blobs.local().path(&key(&row.id)?);
    let mut file = match File::options().write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(ApiError::Conflict {
                code: "upload_elsewhere",
                detail:
                    "Another server has the bytes of this upload so far; send the rest there, or begin anew."
                        .to_owned(),
            });
        }
        opened => opened?,
    };
    if file.metadata()?.len() < row.offset_bytes {
        return Err(ApiError::internal(anyhow::anyhow!("an upload has lost bytes that were counted")));
    }
    file.set_len(row.offset_bytes)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

struct Part<'p> {
    state: &'p AppState,
    runtime: &'p Handle,
    row: &'p UploadRow,
    file: File,
    offset_bytes: u64,
    counted_bytes: u64,
}

impl Part<'_> {
    fn write_all(
        &mut self,
        mut checksum: Option<Checksum>,
        pieces: &mut mpsc::Receiver<Bytes>,
        busy: &mut BusyGuard,
    ) -> ApiResult<()> {
        let allowance = self.runtime.block_on(Allowance::of(self.state, &self.row.owner_id))?;
        let folder = self.state.blobs.root();
        allowance.check_disk(folder, 0)?;
        while let Some(piece) = pieces.blocking_recv() {
            busy.keep()?;
            let left_bytes = self.row.length_bytes - self.offset_bytes;
            if piece.len() as u64 > left_bytes {
                return Err(ApiError::bad_request(
                    "upload_too_long",
                    format!("The upload was announced with {} bytes, and more came.", self.row.length_bytes),
                ));
            }
            if let Some(checksum) = &mut checksum {
                checksum.update(&piece);
            }
            self.file.write_all(&piece)?;
            self.offset_bytes += piece.len() as u64;
            // Bytes that must be checked count only when all of them are there.
            if checksum.is_none() && self.offset_bytes - self.counted_bytes >= COUNT_EVERY_BYTES {
                allowance.check_disk(folder, COUNT_EVERY_BYTES)?;
                self.count()?;
            }
        }
        match checksum.is_none_or(Checksum::matches) {
            true => Ok(()),
            false => Err(ApiError::ChecksumMismatch),
        }
    }

    /// Puts the bytes on the disk and then counts them.
    fn count(&mut self) -> ApiResult<()> {
        self.file.sync_data()?;
        let expires_secs = expires_secs(self.state);
        self.runtime.block_on(store::set_offset(
            &self.state.db,
            &self.row.id,
            self.offset_bytes,
            expires_secs,
        ))?;
        self.counted_bytes = self.offset_bytes;
        Ok(())
    }
}
