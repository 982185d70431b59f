//! Receives uploaded bytes into a nameless file: hashed, and within limits.

use std::io::Write as _;

use axum::body::Bytes;
use axum::extract::multipart::{Field, MultipartError};
use axum::http::StatusCode;
use futures_util::{Stream, StreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::BlobWriter;
use super::quota::Allowance;
use super::room::ensure_room;
use crate::error::{ApiError, ApiResult};
use crate::extract::is_length_limit;
use crate::state::AppState;

/// Largest size of a form beyond its files, in bytes.
pub(crate) const FORM_EXTRA_BYTES: u64 = 256 * 1024;

/// Pieces of a body that may wait for the disk.
const PIECES_WAITING_MAX: usize = 64;

/// Bytes that are gathered before they are written.
const WRITTEN_AT_ONCE_BYTES: usize = 256 * 1024;

/// How often the free space of the disk is looked at, in bytes written.
const LOOK_EVERY_BYTES: u64 = 16 * 1024 * 1024;

/// Longest name of a file, in characters.
const NAME_MAX_CHARS: usize = 255;

/// Name where there is none.
const UNNAMED: &str = "Untitled";

/// Where received bytes go, and how many of them one file may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    /// Folder of the store.
    pub(crate) folder: &'static str,
    /// Largest file in bytes.
    pub(crate) limit_bytes: u64,
    /// Name of such files, as the start of a sentence.
    pub(crate) what: &'static str,
}

impl Destination {
    /// 413 that names the limit.
    fn too_large(&self) -> ApiError {
        ApiError::TooLarge { what: self.what, limit_bytes: self.limit_bytes }
    }
}

/// A file that was received whole. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) name: String,
    pub(crate) writer: BlobWriter,
    pub(crate) sha256: String,
    pub(crate) size_bytes: u64,
}

/// A nameless file that is being received. Dropped, it is gone. For threads that may block.
#[derive(Debug)]
pub(crate) struct Receiving {
    writer: BlobWriter,
    hash: Sha256,
    size_bytes: u64,
    allowance: Allowance,
    destination: Destination,
    state: AppState,
    runtime: Handle,
    next_look: u64,
}

impl Receiving {
    /// Starts an empty file.
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
            next_look: 0,
        })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// 413 or 507 when there are too many.
    pub(crate) fn add(&mut self, piece: &[u8]) -> ApiResult<()> {
        self.size_bytes += piece.len() as u64;
        if self.size_bytes > self.destination.limit_bytes {
            return Err(self.destination.too_large());
        }
        self.allowance.check_at_least(self.size_bytes)?;
        if self.size_bytes >= self.next_look {
            let folder = self.state.blobs.root();
            ensure_room(&self.state, &self.runtime, folder, LOOK_EVERY_BYTES)?;
            self.next_look = self.size_bytes + LOOK_EVERY_BYTES;
        }
        self.hash.update(piece);
        Ok(self.writer.write_all(piece)?)
    }

    /// Completes the file.
    pub(crate) fn finish(mut self, name: &str) -> ApiResult<Received> {
        self.writer.flush()?;
        let sha256 = format!("{:x}", self.hash.finalize());
        Ok(Received { name: clean_name(name), writer: self.writer, sha256, size_bytes: self.size_bytes })
    }
}

/// Receives a stream of bytes. It holds a thread only while it writes: senders may be slow, and
/// there may be many.
async fn receive(
    state: &AppState,
    allowance: Allowance,
    destination: Destination,
    name: &str,
    mut pieces: impl Stream<Item = ApiResult<Bytes>> + Unpin,
) -> ApiResult<Received> {
    let (name, state, runtime) = (name.to_owned(), state.clone(), Handle::current());
    let begin = move || Receiving::new(&state, &runtime, allowance, destination);
    let mut file = tokio::task::spawn_blocking(begin).await??;
    let mut waiting = Vec::new();
    let mut waiting_bytes = 0;
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        waiting_bytes += piece.len();
        waiting.push(piece);
        if waiting_bytes >= WRITTEN_AT_ONCE_BYTES || waiting.len() == PIECES_WAITING_MAX {
            file = added(file, std::mem::take(&mut waiting)).await?;
            waiting_bytes = 0;
        }
    }
    let file = added(file, waiting).await?;
    tokio::task::spawn_blocking(move || file.finish(&name)).await?
}

/// The file with these bytes behind those that are there.
async fn added(mut file: Receiving, pieces: Vec<Bytes>) -> ApiResult<Receiving> {
    tokio::task::spawn_blocking(move || {
        pieces.iter().try_for_each(|piece| file.add(piece))?;
        Ok(file)
    })
    .await?
}

/// Receives a file of a form. `name` is the name that the form gives it.
pub(crate) async fn receive_field(
    state: &AppState,
    allowance: Allowance,
    destination: Destination,
    name: &str,
    field: Field<'_>,
) -> ApiResult<Received> {
    let pieces = stream::try_unfold(field, move |mut field| async move {
        let piece = field.chunk().await.map_err(|error| form_error(&error, destination))?;
        Ok(piece.map(|piece| (piece, field)))
    });
    receive(state, allowance, destination, name, Box::pin(pieces)).await
}

/// The refusal of a form that cannot be read.
pub(crate) fn form_error(error: &MultipartError, destination: Destination) -> ApiError {
    if is_length_limit(error) || error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        destination.too_large()
    } else {
        ApiError::bad_request("bad_form", error.body_text())
    }
}

/// A file name as it may be shown and stored: without folders, without control characters.
pub(crate) fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|letter| !letter.is_control()).take(NAME_MAX_CHARS).collect();
    let clean = clean.trim();
    if clean.is_empty() { UNNAMED.to_owned() } else { clean.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::clean_name;

    #[test]
    fn a_name_is_only_a_name() {
        for (given, expected) in [
            ("kick.wav", "kick.wav"),
            ("C:\\samples\\Grün 1.wav", "Grün 1.wav"),
            ("../../etc/passwd", "passwd"),
            ("a\r\nb\0.wav", "ab.wav"),
            ("  ", "Untitled"),
            ("songs/", "Untitled"),
        ] {
            assert_eq!(clean_name(given), expected, "{given:?}");
        }
        assert_eq!(clean_name(&"é".repeat(1_000)).chars().count(), 255);
    }
}
