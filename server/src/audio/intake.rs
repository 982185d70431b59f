//! Bytes on their way in: to a nameless file, hashed, within limits.

use std::io::Write as _;
use std::path::Path;

use axum::body::Bytes;
use futures_util::{Stream, StreamExt as _};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::{FOLDER, deleted, usage};
use crate::blobs::BlobWriter;
use crate::config::AudioLimits;
use crate::error::{ApiError, ApiResult};
use crate::plugins::soundfonts;
use crate::state::AppState;

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

/// Where bytes go, and how many may come in one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    /// Folder of the store.
    pub(crate) folder: &'static str,
    /// Largest file in bytes.
    pub(crate) limit_bytes: u64,
    /// What the file is, as the start of a sentence.
    pub(crate) what: &'static str,
}

impl Destination {
    /// Where audio files go.
    pub(super) fn audio(state: &AppState) -> Self {
        let limit_bytes = state.config.limits.upload_max_bytes;
        Self { folder: FOLDER, limit_bytes, what: "An upload" }
    }

    /// 413 that names the limit.
    pub(super) fn too_large(&self) -> ApiError {
        ApiError::TooLarge { what: self.what, limit_bytes: self.limit_bytes }
    }
}

/// A file that has come whole. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) name: String,
    pub(crate) writer: BlobWriter,
    pub(crate) sha256: String,
    pub(crate) size_bytes: u64,
}

/// How much a user may still bring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    quota_bytes: u64,
    used_bytes: u64,
    reserve_bytes: u64,
}

impl Allowance {
    /// What `owner_id` may bring now.
    pub(crate) async fn of(state: &AppState, owner_id: &str) -> ApiResult<Self> {
        let reserve_bytes = state.config.limits.audio.reserve_bytes;
        let quota_bytes = usage::quota_bytes(state, owner_id).await?;
        let audio_bytes = usage::used_bytes(&state.db, owner_id).await?;
        let used_bytes = audio_bytes + soundfonts::used_bytes(&state.db, owner_id).await?;
        Ok(Self { quota_bytes, used_bytes, reserve_bytes })
    }

    /// The same once so many bytes have gone that give way to what is brought.
    pub(crate) fn without(self, freed_bytes: u64) -> Self {
        Self { used_bytes: self.used_bytes.saturating_sub(freed_bytes), ..self }
    }

    /// What anybody may bring that is not kept: only the disk limits it.
    pub(super) fn of_passing(state: &AppState) -> Self {
        Self::of_disk(&state.config.limits.audio)
    }

    /// An allowance that only the disk limits.
    pub(super) fn of_disk(limits: &AudioLimits) -> Self {
        Self { quota_bytes: u64::MAX, used_bytes: 0, reserve_bytes: limits.reserve_bytes }
    }

    /// Bytes of the quota that are left.
    pub(super) fn left_bytes(&self) -> u64 {
        self.quota_bytes.saturating_sub(self.used_bytes)
    }

    /// 507 if so many bytes more exceed the quota.
    pub(crate) fn check(&self, more_bytes: u64) -> ApiResult<()> {
        self.check_bytes(more_bytes, true)
    }

    /// 507 if so many bytes more exceed the quota, and there may be more of them.
    pub(crate) fn check_at_least(&self, more_bytes: u64) -> ApiResult<()> {
        self.check_bytes(more_bytes, false)
    }

    fn check_bytes(&self, needed_bytes: u64, is_exact: bool) -> ApiResult<()> {
        if needed_bytes <= self.left_bytes() {
            return Ok(());
        }
        let Self { quota_bytes, used_bytes, .. } = *self;
        Err(ApiError::QuotaExceeded { quota_bytes, used_bytes, needed_bytes, is_exact })
    }

    /// 507 if so many bytes more on the disk of `folder` leave less free than is kept in reserve.
    pub(super) fn check_disk(&self, folder: &Path, more_bytes: u64) -> ApiResult<()> {
        self.check_disk_without(folder, more_bytes, 0)
    }

    /// The same once so many bytes were removed from that disk.
    pub(super) fn check_disk_without(
        &self,
        folder: &Path,
        more_bytes: u64,
        removed_bytes: u64,
    ) -> ApiResult<()> {
        let needed_bytes = self.reserve_bytes.saturating_add(more_bytes);
        if free_bytes(folder)?
            .is_some_and(|free_bytes| free_bytes.saturating_add(removed_bytes) < needed_bytes)
        {
            return Err(ApiError::StorageFull);
        }
        Ok(())
    }

    /// Bytes that may be written to the disk of `folder`.
    pub(super) fn room_bytes(&self, folder: &Path) -> ApiResult<u64> {
        let free_bytes = free_bytes(folder)?.unwrap_or(u64::MAX);
        Ok(free_bytes.saturating_sub(self.reserve_bytes))
    }
}

/// Whether the disk of `folder` has room for so many bytes beside what is kept in reserve.
pub(crate) fn has_room(state: &AppState, folder: &Path, more_bytes: u64) -> bool {
    Allowance::of_passing(state).check_disk(folder, more_bytes).is_ok()
}

/// Free space of the disk that `folder` is on, if the system says so.
#[cfg(unix)]
pub(crate) fn free_bytes(folder: &Path) -> ApiResult<Option<u64>> {
    let facts = nix::sys::statvfs::statvfs(folder).map_err(std::io::Error::from)?;
    Ok(Some(facts.blocks_available().saturating_mul(facts.fragment_size())))
}

/// The system is not asked here; a full disk shows when it is written to.
#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> ApiResult<Option<u64>> {
    Ok(None)
}

/// A nameless file in the store's folder that is being filled. Dropped, it is gone. For threads
/// that may block.
#[derive(Debug)]
pub(super) struct Intake {
    writer: BlobWriter,
    hash: Sha256,
    size_bytes: u64,
    allowance: Allowance,
    destination: Destination,
    state: AppState,
    runtime: Handle,
    next_look: u64,
}

impl Intake {
    /// An empty one.
    pub(super) fn new(
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

    /// Adds bytes.
    ///
    /// # Errors
    /// 413 or 507 when there are too many.
    pub(super) fn add(&mut self, piece: &[u8]) -> ApiResult<()> {
        self.size_bytes += piece.len() as u64;
        if self.size_bytes > self.destination.limit_bytes {
            return Err(self.destination.too_large());
        }
        self.allowance.check_at_least(self.size_bytes)?;
        if self.size_bytes >= self.next_look {
            let folder = self.state.blobs.root();
            deleted::ensure_room(&self.state, &self.runtime, folder, LOOK_EVERY_BYTES)?;
            self.next_look = self.size_bytes + LOOK_EVERY_BYTES;
        }
        self.hash.update(piece);
        Ok(self.writer.write_all(piece)?)
    }

    /// The file, now that it is whole.
    pub(super) fn finish(mut self, name: &str) -> ApiResult<Received> {
        self.writer.flush()?;
        let sha256 = format!("{:x}", self.hash.finalize());
        Ok(Received { name: clean_name(name), writer: self.writer, sha256, size_bytes: self.size_bytes })
    }
}

/// Writes a stream of bytes to a nameless file in the store's folder. It holds a thread only while
/// it writes: senders may be slow, and there may be many.
pub(crate) async fn receive(
    state: &AppState,
    allowance: Allowance,
    destination: Destination,
    name: &str,
    mut pieces: impl Stream<Item = ApiResult<Bytes>> + Unpin,
) -> ApiResult<Received> {
    let (name, state, runtime) = (name.to_owned(), state.clone(), Handle::current());
    let begin = move || Intake::new(&state, &runtime, allowance, destination);
    let mut intake = tokio::task::spawn_blocking(begin).await??;
    let mut waiting = Vec::new();
    let mut waiting_bytes = 0;
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        waiting_bytes += piece.len();
        waiting.push(piece);
        if waiting_bytes >= WRITTEN_AT_ONCE_BYTES || waiting.len() == PIECES_WAITING_MAX {
            intake = added(intake, std::mem::take(&mut waiting)).await?;
            waiting_bytes = 0;
        }
    }
    let intake = added(intake, waiting).await?;
    tokio::task::spawn_blocking(move || intake.finish(&name)).await?
}

/// The file with these bytes behind those that are there.
async fn added(mut intake: Intake, pieces: Vec<Bytes>) -> ApiResult<Intake> {
    tokio::task::spawn_blocking(move || {
        pieces.iter().try_for_each(|piece| intake.add(piece))?;
        Ok(intake)
    })
    .await?
}

/// A file name as it may be shown and stored: without folders, without control characters.
pub(super) fn clean_name(name: &str) -> String {
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
