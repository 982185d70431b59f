//! Appends received bytes to the file of an upload. A request uses a thread only while it writes,
//! because many clients may send slowly.

use std::fs::File;
use std::io::{ErrorKind, Seek as _, SeekFrom, Write as _};

use axum::body::Bytes;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::expiry::expires_secs;
use super::headers::Checksum;
use super::store::UploadRow;
use super::{UploadLease, blob_key_of, finish, store};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::storage::{Allowance, ensure_room};

/// Number of received bytes after which the file is synced and the offset is stored.
const SYNC_EVERY_BYTES: u64 = 8 * 1024 * 1024;

/// Maximum number of body chunks that wait to be written.
pub(super) const QUEUED_CHUNKS_MAX: usize = 16;

/// The state of an upload after an append.
#[derive(Debug)]
pub(super) struct AppendResult {
    pub(super) offset_bytes: u64,
    pub(super) expires_secs: i64,
    /// The task that decodes the file, if the upload is complete.
    pub(super) task_id: Option<String>,
}

/// Appends the bytes from `chunks` to the file of an upload. Must run in its own tokio task, so
/// that the offset is stored even if the client disconnects.
pub(super) async fn append(
    state: AppState,
    upload_row: UploadRow,
    checksum: Option<Checksum>,
    chunks: mpsc::Receiver<Bytes>,
    mut lease: UploadLease,
) -> ApiResult<AppendResult> {
    let append_result = append_leased(state, upload_row, checksum, chunks, &mut lease).await;
    // The lease is released before the response, because the client may send the next part to
    // another process.
    lease.release().await;
    append_result
}

async fn append_leased(
    state: AppState,
    upload_row: UploadRow,
    checksum: Option<Checksum>,
    mut chunks: mpsc::Receiver<Bytes>,
    lease: &mut UploadLease,
) -> ApiResult<AppendResult> {
    if !upload_row.is_length_deferred && upload_row.offset_bytes == upload_row.length_bytes {
        // The upload was already complete. With object storage, its file is no longer on this
        // machine.
        return tokio::task::spawn_blocking(move || {
            let task_id = Some(finish::start(&state, &Handle::current(), &upload_row)?);
            Ok(AppendResult {
                offset_bytes: upload_row.offset_bytes,
                expires_secs: expires_secs(&state),
                task_id,
            })
        })
        .await?;
    }
    let open_appender = move || Appender::open(state, upload_row, checksum);
    let mut appender = tokio::task::spawn_blocking(open_appender).await??;
    let mut received_chunks = Vec::with_capacity(QUEUED_CHUNKS_MAX);
    let mut write_result = Ok(());
    while write_result.is_ok() && chunks.recv_many(&mut received_chunks, QUEUED_CHUNKS_MAX).await > 0 {
        let batch = std::mem::replace(&mut received_chunks, Vec::with_capacity(QUEUED_CHUNKS_MAX));
        write_result = match lease.renew_if_due().await {
            Ok(()) => {
                let append_batch = move || {
                    let add_result = batch.iter().try_for_each(|chunk| appender.add(chunk));
                    (appender, add_result)
                };
                let add_result;
                (appender, add_result) = tokio::task::spawn_blocking(append_batch).await?;
                add_result
            }
            Err(error) => Err(error),
        };
    }
    // Closing the channel tells the sender that no more bytes are read.
    drop(chunks);
    let write_result = match write_result {
        // Another process writes to the file now, so this one must not change it.
        Err(error) if lease.is_lost() => return Err(error),
        result => result,
    };
    tokio::task::spawn_blocking(move || appender.finish(write_result)).await?
}

/// Opens the file and removes the bytes after the stored offset. Creates the file if the stored
/// offset is 0, because the service may have ended before the file was created.
fn open(state: &AppState, upload_row: &UploadRow) -> ApiResult<File> {
    let path = state.blobs.local().path(&blob_key_of(&upload_row.id)?);
    let mut file = match File::options()
        .write(true)
        .create(upload_row.offset_bytes == 0)
        .truncate(false)
        .open(path)
    {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(ApiError::Conflict {
                code: "upload_elsewhere",
                detail: format!(
                    "Another server has the first {} bytes of this upload; send the remaining bytes there, or start a \
                     new upload.",
                    upload_row.offset_bytes
                ),
            });
        }
        open_result => open_result?,
    };
    let size_bytes = file.metadata()?.len();
    if size_bytes < upload_row.offset_bytes {
        return Err(ApiError::internal(anyhow::anyhow!(
            "the file of the upload {} has {size_bytes} bytes, fewer than its stored offset of {}",
            upload_row.id,
            upload_row.offset_bytes
        )));
    }
    file.set_len(upload_row.offset_bytes)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Makes sure that the next [`SYNC_EVERY_BYTES`] of an upload fit on the disk and into the quota.
/// Other uploads of the same user may have filled the quota since this upload began.
fn ensure_next_fits(state: &AppState, upload_row: &UploadRow, offset_bytes: u64) -> ApiResult<()> {
    let next_bytes = SYNC_EVERY_BYTES.min(upload_row.length_bytes - offset_bytes);
    let runtime = Handle::current();
    runtime.block_on(Allowance::load(state, &upload_row.owner_id))?.check_at_least(next_bytes)?;
    ensure_room(state, &runtime, state.blobs.root(), next_bytes)
}

/// The file of an upload to which bytes are appended. Its methods block.
struct Appender {
    state: AppState,
    upload_row: UploadRow,
    checksum: Option<Checksum>,
    file: File,
    offset_bytes: u64,
    stored_offset_bytes: u64,
}

impl Appender {
    fn open(state: AppState, upload_row: UploadRow, checksum: Option<Checksum>) -> ApiResult<Self> {
        ensure_next_fits(&state, &upload_row, upload_row.offset_bytes)?;
        let file = open(&state, &upload_row)?;
        let offset_bytes = upload_row.offset_bytes;
        Ok(Self { state, upload_row, checksum, file, offset_bytes, stored_offset_bytes: offset_bytes })
    }

    fn add(&mut self, chunk: &[u8]) -> ApiResult<()> {
        if chunk.len() as u64 > self.upload_row.length_bytes - self.offset_bytes {
            return Err(ApiError::bad_request(
                "upload_too_long",
                format!(
                    "The Upload-Length of the upload is {} bytes; the request sent more.",
                    self.upload_row.length_bytes
                ),
            ));
        }
        if let Some(checksum) = &mut self.checksum {
            checksum.update(chunk);
        }
        self.file.write_all(chunk)?;
        self.offset_bytes += chunk.len() as u64;
        // With a checksum, the offset is stored only after the whole body was checked.
        if self.checksum.is_none() && self.offset_bytes - self.stored_offset_bytes >= SYNC_EVERY_BYTES {
            self.store_offset()?;
            ensure_next_fits(&self.state, &self.upload_row, self.offset_bytes)?;
        }
        Ok(())
    }

    /// Stores the offset, or after an error truncates the file to the stored offset. Starts
    /// decoding if the upload is complete.
    fn finish(mut self, write_result: ApiResult<()>) -> ApiResult<AppendResult> {
        let checksum_result =
            write_result.and_then(|()| match self.checksum.take().is_none_or(Checksum::matches) {
                true => Ok(()),
                false => Err(ApiError::ChecksumMismatch),
            });
        if checksum_result.is_err() {
            self.file.set_len(self.stored_offset_bytes)?;
        } else {
            self.store_offset()?;
        }
        checksum_result?;
        let is_complete =
            !self.upload_row.is_length_deferred && self.offset_bytes == self.upload_row.length_bytes;
        let task_id = is_complete
            .then(|| finish::start(&self.state, &Handle::current(), &self.upload_row))
            .transpose()?;
        Ok(AppendResult { offset_bytes: self.offset_bytes, expires_secs: expires_secs(&self.state), task_id })
    }

    /// Syncs the file, then stores the offset.
    fn store_offset(&mut self) -> ApiResult<()> {
        self.file.sync_data()?;
        let expires_secs = expires_secs(&self.state);
        let storing = store::set_offset(&self.state.db, &self.upload_row.id, self.offset_bytes, expires_secs);
        Handle::current().block_on(storing)?;
        self.stored_offset_bytes = self.offset_bytes;
        Ok(())
    }
}
