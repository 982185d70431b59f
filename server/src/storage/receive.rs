//! Receives uploaded bytes into an unnamed file, hashes them, and enforces the limits.

use std::io::Write as _;

use axum::body::Bytes;
use axum::extract::multipart::Field;
use futures_util::{Stream, StreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::BlobWriter;
use super::quota::Allowance;
use super::room::ensure_room;
use crate::error::{ApiError, ApiResult};
use crate::form::form_error;
use crate::state::AppState;

/// Maximum size of a form without the contents of its files, in bytes.
pub(crate) const FORM_EXTRA_BYTES: u64 = 256 * 1024;

/// Maximum number of chunks of a body that are collected before they are written.
const PENDING_CHUNKS_MAX: usize = 64;

/// Number of bytes that are collected before they are written.
const WRITE_BATCH_BYTES: usize = 256 * 1024;

/// Number of bytes that are written between two checks of the free disk space.
const DISK_CHECK_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum length of a file name in characters.
const NAME_MAX_CHARS: usize = 255;

/// Name of a file that is uploaded without a name.
const UNNAMED_FILE_NAME: &str = "Untitled";

/// Folder and size limit of received files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    /// Folder within the store.
    pub(crate) folder: &'static str,
    /// Maximum size of a file in bytes.
    pub(crate) limit_bytes: u64,
    /// Name of such files in error messages, as the start of a sentence.
    pub(crate) subject: &'static str,
}

impl Destination {
    /// Returns the error 413, which names the limit.
    pub(crate) fn too_large_error(&self) -> ApiError {
        ApiError::TooLarge { subject: self.subject, limit_bytes: self.limit_bytes }
    }
}

/// A completely received file. Dropping this value deletes the file.
#[derive(Debug)]
pub(crate) struct ReceivedFile {
    pub(crate) name: String,
    pub(crate) writer: BlobWriter,
    pub(crate) sha256: String,
    pub(crate) size_bytes: u64,
}

/// An unnamed file that is being received. Dropping this value deletes the file. Its functions
/// block.
#[derive(Debug)]
pub(crate) struct FileReceiver {
    writer: BlobWriter,
    hash: Sha256,
    size_bytes: u64,
    allowance: Allowance,
    destination: Destination,
    state: AppState,
    runtime: Handle,
    next_disk_check_bytes: u64,
}

impl FileReceiver {
    /// Starts with an empty file.
    pub(crate) fn new(
        state: &AppState,
        runtime: &Handle,
        allowance: Allowance,
        destination: Destination,
    ) -> ApiResult<Self> {
        Ok(Self {
            writer: state.blobs.unnamed_writer(destination.folder)?,
            hash: Sha256::new(),
            size_bytes: 0,
            allowance,
            destination,
            state: state.clone(),
            runtime: runtime.clone(),
            next_disk_check_bytes: 0,
        })
    }

    /// Appends a chunk.
    ///
    /// # Errors
    /// 413 if the file becomes too large; 507 if it exceeds the quota or the disk is full.
    pub(crate) fn add(&mut self, chunk: &[u8]) -> ApiResult<()> {
        self.size_bytes += chunk.len() as u64;
        if self.size_bytes > self.destination.limit_bytes {
            return Err(self.destination.too_large_error());
        }
        self.allowance.check_at_least(self.size_bytes)?;
        if self.size_bytes >= self.next_disk_check_bytes {
            let folder = self.state.blobs.root();
            ensure_room(&self.state, &self.runtime, folder, DISK_CHECK_BYTES)?;
            self.next_disk_check_bytes = self.size_bytes + DISK_CHECK_BYTES;
        }
        self.hash.update(chunk);
        Ok(self.writer.write_all(chunk)?)
    }

    /// Completes the file and gives it a name for display.
    pub(crate) fn finish(mut self, name: &str) -> ApiResult<ReceivedFile> {
        self.writer.flush()?;
        let sha256 = format!("{:x}", self.hash.finalize());
        Ok(ReceivedFile { name: clean_name(name), writer: self.writer, sha256, size_bytes: self.size_bytes })
    }
}

/// Receives a stream of bytes. Many slow clients may send at the same time, so this uses a thread
/// only while it writes.
async fn receive(
    state: &AppState,
    allowance: Allowance,
    destination: Destination,
    name: &str,
    mut chunks: impl Stream<Item = ApiResult<Bytes>> + Unpin,
) -> ApiResult<ReceivedFile> {
    let (name, state, runtime) = (name.to_owned(), state.clone(), Handle::current());
    let begin = move || FileReceiver::new(&state, &runtime, allowance, destination);
    let mut file = tokio::task::spawn_blocking(begin).await??;
    let mut pending = Vec::new();
    let mut pending_bytes = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        pending_bytes += chunk.len();
        pending.push(chunk);
        if pending_bytes >= WRITE_BATCH_BYTES || pending.len() == PENDING_CHUNKS_MAX {
            file = append(file, std::mem::take(&mut pending)).await?;
            pending_bytes = 0;
        }
    }
    let file = append(file, pending).await?;
    tokio::task::spawn_blocking(move || file.finish(&name)).await?
}

/// Appends chunks to a file.
async fn append(mut file: FileReceiver, chunks: Vec<Bytes>) -> ApiResult<FileReceiver> {
    tokio::task::spawn_blocking(move || {
        chunks.iter().try_for_each(|chunk| file.add(chunk))?;
        Ok(file)
    })
    .await?
}

/// Receives a file of a form. `name` is the file's name in the form.
pub(crate) async fn receive_field(
    state: &AppState,
    allowance: Allowance,
    destination: Destination,
    name: &str,
    field: Field<'_>,
) -> ApiResult<ReceivedFile> {
    let chunks = stream::try_unfold(field, move |mut field| async move {
        let chunk =
            field.chunk().await.map_err(|error| form_error(&error, || destination.too_large_error()))?;
        Ok(chunk.map(|chunk| (chunk, field)))
    });
    receive(state, allowance, destination, name, Box::pin(chunks)).await
}

/// Returns a file name for display and storage: without folders and control characters, and with at
/// most [`NAME_MAX_CHARS`]. An empty name becomes [`UNNAMED_FILE_NAME`].
pub(crate) fn clean_name(name: &str) -> String {
    let file_name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let printable_name: String =
        file_name.chars().filter(|character| !character.is_control()).take(NAME_MAX_CHARS).collect();
    let printable_name = printable_name.trim();
    if printable_name.is_empty() { UNNAMED_FILE_NAME.to_owned() } else { printable_name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::clean_name;

    #[test]
    fn a_clean_name_has_no_folders_and_no_control_characters() {
        for (file_name, expected) in [
            ("kick.wav", "kick.wav"),
            ("C:\\samples\\Grün 1.wav", "Grün 1.wav"),
            ("../../etc/passwd", "passwd"),
            ("a\r\nb\0.wav", "ab.wav"),
            ("  ", "Untitled"),
            ("songs/", "Untitled"),
        ] {
            assert_eq!(clean_name(file_name), expected, "{file_name:?}");
        }
        assert_eq!(clean_name(&"é".repeat(1_000)).chars().count(), 255);
    }
}
