//! Appending to the file of an upload. A part holds a thread only while it writes: senders may be
//! slow, and there may be many.

use std::fs::File;
use std::io::{ErrorKind, Seek as _, SeekFrom, Write as _};

use axum::body::Bytes;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::expiry::expires_secs;
use super::headers::Checksum;
use super::store::UploadRow;
use super::{BusyGuard, finish, key, store};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::storage::ensure_room;

/// Bytes after which those that have come are put on the disk and counted.
const COUNT_EVERY_BYTES: u64 = 8 * 1024 * 1024;

/// Pieces of a body that may wait for the disk.
pub(super) const PIECES_WAITING_MAX: usize = 16;

/// What a part left.
#[derive(Debug)]
pub(super) struct Appended {
    pub(super) offset_bytes: u64,
    pub(super) expires_secs: i64,
    /// The task that decodes the file, if this was its last part.
    pub(super) task_id: Option<String>,
}

/// Writes what comes through `pieces` behind what is there. As a task of its own, it goes on to its
/// end and counts what has come even if nobody waits for it any more.
pub(super) async fn append(
    state: AppState,
    row: UploadRow,
    checksum: Option<Checksum>,
    pieces: mpsc::Receiver<Bytes>,
    mut busy: BusyGuard,
) -> ApiResult<Appended> {
    let appended = append_held(state, row, checksum, pieces, &mut busy).await;
    // Before the answer, because the client may then send the next part to another process.
    busy.let_go().await;
    appended
}

async fn append_held(
    state: AppState,
    row: UploadRow,
    checksum: Option<Checksum>,
    mut pieces: mpsc::Receiver<Bytes>,
    busy: &mut BusyGuard,
) -> ApiResult<Appended> {
    if row.offset_bytes == row.length_bytes {
        // Everything was there before; with object storage it is no longer on this machine.
        return tokio::task::spawn_blocking(move || {
            let task_id = Some(finish::start(&state, &Handle::current(), &row)?);
            Ok(Appended { offset_bytes: row.offset_bytes, expires_secs: expires_secs(&state), task_id })
        })
        .await?;
    }
    let begin = move || Part::begin(state, row, checksum);
    let mut part = tokio::task::spawn_blocking(begin).await??;
    let mut waiting = Vec::with_capacity(PIECES_WAITING_MAX);
    let mut written = Ok(());
    while written.is_ok() && pieces.recv_many(&mut waiting, PIECES_WAITING_MAX).await > 0 {
        let batch = std::mem::replace(&mut waiting, Vec::with_capacity(PIECES_WAITING_MAX));
        written = match busy.keep().await {
            Ok(()) => {
                let add = move || {
                    let added = batch.iter().try_for_each(|piece| part.add(piece));
                    (part, added)
                };
                let added;
                (part, added) = tokio::task::spawn_blocking(add).await?;
                added
            }
            Err(error) => Err(error),
        };
    }
    // Tells the sender that no more bytes are read.
    drop(pieces);
    let written = match written {
        // The file is another process's now.
        Err(error) if busy.is_lost() => return Err(error),
        other => other,
    };
    tokio::task::spawn_blocking(move || part.finish(written)).await?
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

/// The file of an upload while a part of it comes. For threads that may block.
struct Part {
    state: AppState,
    row: UploadRow,
    checksum: Option<Checksum>,
    file: File,
    offset_bytes: u64,
    counted_bytes: u64,
}

impl Part {
    fn begin(state: AppState, row: UploadRow, checksum: Option<Checksum>) -> ApiResult<Self> {
        let ahead_bytes = COUNT_EVERY_BYTES.min(row.length_bytes - row.offset_bytes);
        ensure_room(&state, &Handle::current(), state.blobs.root(), ahead_bytes)?;
        let file = open(&state, &row)?;
        let offset_bytes = row.offset_bytes;
        Ok(Self { state, row, checksum, file, offset_bytes, counted_bytes: offset_bytes })
    }

    fn add(&mut self, piece: &[u8]) -> ApiResult<()> {
        if piece.len() as u64 > self.row.length_bytes - self.offset_bytes {
            return Err(ApiError::bad_request(
                "upload_too_long",
                format!("The upload was announced with {} bytes, and more came.", self.row.length_bytes),
            ));
        }
        if let Some(checksum) = &mut self.checksum {
            checksum.update(piece);
        }
        self.file.write_all(piece)?;
        self.offset_bytes += piece.len() as u64;
        // Bytes that must be checked count only when all of them are there.
        if self.checksum.is_none() && self.offset_bytes - self.counted_bytes >= COUNT_EVERY_BYTES {
            let (state, runtime) = (&self.state, Handle::current());
            ensure_room(state, &runtime, state.blobs.root(), COUNT_EVERY_BYTES)?;
            self.count()?;
        }
        Ok(())
    }

    /// Counts the received bytes, drops those that may not count, and starts decoding a complete
    /// upload.
    fn finish(mut self, written: ApiResult<()>) -> ApiResult<Appended> {
        let checked = written.and_then(|()| match self.checksum.take().is_none_or(Checksum::matches) {
            true => Ok(()),
            false => Err(ApiError::ChecksumMismatch),
        });
        if checked.is_err() {
            // Removes the uncounted bytes, so that the upload can be resumed.
            self.file.set_len(self.counted_bytes)?;
        } else {
            self.count()?;
        }
        checked?;
        let whole = self.offset_bytes == self.row.length_bytes;
        let task_id = whole.then(|| finish::start(&self.state, &Handle::current(), &self.row)).transpose()?;
        Ok(Appended { offset_bytes: self.offset_bytes, expires_secs: expires_secs(&self.state), task_id })
    }

    /// Puts the bytes on the disk and then counts them.
    fn count(&mut self) -> ApiResult<()> {
        self.file.sync_data()?;
        let expires_secs = expires_secs(&self.state);
        let counting = store::set_offset(&self.state.db, &self.row.id, self.offset_bytes, expires_secs);
        Handle::current().block_on(counting)?;
        self.counted_bytes = self.offset_bytes;
        Ok(())
    }
}
