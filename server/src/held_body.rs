//! Reads request bodies into memory, with a time limit and a shared budget of bytes.
//!
//! A long body is stored on the disk until it is complete, so that slow senders occupy little
//! memory. If the disk has no space besides its reserve, the body stays in memory. A body counts
//! toward the budget as long as its bytes are in memory, even while they wait for a permit
//! ([`crate::permits`]).

mod waiting_file;

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, header};
use futures_util::{Stream, StreamExt as _};

use self::waiting_file::{BodyDisk, WaitingFile};
use crate::body_pace::BodyPace;
use crate::client_address::network_of;
use crate::error::{ApiError, ApiResult};
use crate::fair_bytes::{FairBytes, ReservedBytes};
use crate::peer::peer_of;

/// Number of bytes of each body that do not count toward the budget. Small requests are thus
/// accepted even while large ones use up the budget.
const UNCOUNTED_BYTES: usize = 16 * 1024;

/// Maximum length of the part of an incomplete body that is kept in memory, in bytes.
const IN_MEMORY_MAX_BYTES: usize = 64 * 1024;

/// Maximum time for reading the remainder of a refused body. Without this, the client would see a
/// closed connection instead of the answer.
const DISCARD_WITHIN: Duration = Duration::from_secs(5);

/// Memory and disk space for bodies of requests. It is an extension of every request.
#[derive(Debug, Clone)]
pub(crate) struct BodyMemory {
    memory: FairBytes,
    disk: BodyDisk,
}

impl BodyMemory {
    /// Creates a budget of `max_bytes` of memory. Long bodies wait in `folder`, and leave
    /// `disk_reserve_bytes` of its disk free.
    pub(crate) fn new(max_bytes: u64, folder: &Path, disk_reserve_bytes: u64) -> Self {
        Self {
            memory: FairBytes::new("memory for large request bodies (SF_BODIES_MEMORY_BYTES)", max_bytes),
            disk: BodyDisk::new(folder, disk_reserve_bytes),
        }
    }
}

/// Id of the user who sends a body. It is an extension of requests with a known user.
#[derive(Debug, Clone)]
pub(crate) struct Sender(pub(crate) String);

/// Waits for `reading`, which reads the body of a request with these extensions.
///
/// # Errors
/// Those of `reading`, and 408 if it takes too long.
pub(crate) async fn in_time<T>(
    extensions: &Extensions,
    reading: impl Future<Output = ApiResult<T>>,
) -> ApiResult<T> {
    let whole_max = BodyPace::whole_max(extensions);
    let too_late = |_| ApiError::BodyIncomplete {
        reason: format!("the body did not arrive within {} s", whole_max.as_secs()),
    };
    tokio::time::timeout(whole_max, reading).await.map_err(too_late)?
}

/// A whole body, which counts until it is dropped.
struct CountedBody {
    bytes: Vec<u8>,
    _reserved: Option<ReservedBytes>,
}

impl AsRef<[u8]> for CountedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body, or a part of one, that is being read into memory.
#[derive(Debug)]
pub(crate) struct HeldBody {
    /// The bytes that are not on the disk.
    bytes: Vec<u8>,
    budget: Option<Budget>,
    /// The beginning of the body, if it is long.
    file: Option<WaitingFile>,
    /// Length of the body according to `Content-Length`, in bytes.
    announced_bytes: Option<u64>,
}

/// Memory and disk space that a body may use.
#[derive(Debug)]
struct Budget {
    sender: String,
    space: BodyMemory,
    /// The memory that is reserved for this body.
    reserved_bytes: ReservedBytes,
    /// Whether the disk had no space for the body.
    is_disk_full: bool,
}

impl HeldBody {
    /// Returns the body of `request`, which has not been read yet.
    pub(crate) fn from_request(request: &Request) -> Self {
        let extensions = request.extensions();
        let sender = match (extensions.get::<Sender>(), peer_of(extensions)) {
            (Some(Sender(user_id)), _) => user_id.clone(),
            (None, Some(peer)) => network_of(peer),
            (None, None) => String::new(),
        };
        let budget = extensions.get::<BodyMemory>().cloned().map(|space| {
            let reserved_bytes = space.memory.reservation(&sender);
            Budget { sender, space, reserved_bytes, is_disk_full: false }
        });
        Self { bytes: Vec::new(), budget, file: None, announced_bytes: announced_bytes(request.headers()) }
    }

    /// Reads `chunks` to their end.
    ///
    /// # Errors
    /// Errors of the chunks, converted by `to_api_error`; 503 `busy` if the memory or the disk
    /// space for bodies is used up.
    pub(crate) async fn read<E>(
        mut self,
        chunks: impl Stream<Item = Result<Bytes, E>>,
        to_api_error: impl Fn(E) -> ApiError,
    ) -> ApiResult<Bytes> {
        let mut chunks = pin!(chunks);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(&to_api_error)?;
            if let Err(refusal) = self.append(&chunk).await {
                drop((self, chunk));
                let remainder = async { while let Some(Ok(_)) = chunks.next().await {} };
                // The outcome is ignored, because the body is refused anyway.
                let _ = tokio::time::timeout(DISCARD_WITHIN, remainder).await;
                return Err(refusal);
            }
        }
        self.complete().await
    }

    async fn append(&mut self, chunk: &[u8]) -> ApiResult<()> {
        self.grow(chunk.len())?;
        self.bytes.extend_from_slice(chunk);
        if self.bytes.len() > IN_MEMORY_MAX_BYTES { self.move_to_disk().await } else { Ok(()) }
    }

    /// Moves the bytes to the disk, unless the disk has no space for the body.
    async fn move_to_disk(&mut self) -> ApiResult<()> {
        let Some(budget) = self.budget.as_mut().filter(|budget| !budget.is_disk_full) else { return Ok(()) };
        let (disk, sender) = (budget.space.disk.clone(), budget.sender.clone());
        let (mut bytes, file) = (std::mem::take(&mut self.bytes), self.file.take());
        let announced_bytes = self.announced_bytes.unwrap_or(bytes.len() as u64);
        let moving = move || -> ApiResult<_> {
            let mut file = match file {
                Some(file) => Some(file),
                None => disk.begin(&sender, announced_bytes)?,
            };
            if let Some(file) = &mut file {
                file.append(&bytes)?;
                bytes.clear();
            }
            Ok((bytes, file))
        };
        (self.bytes, self.file) = tokio::task::spawn_blocking(moving).await??;
        budget.is_disk_full = self.file.is_none();
        Ok(())
    }

    /// Returns the whole body.
    async fn complete(mut self) -> ApiResult<Bytes> {
        if self.file.is_some() {
            self.move_to_disk().await?;
        }
        let Self { bytes, budget, file, .. } = self;
        let (bytes, reserved_bytes) = match (file, budget) {
            (Some(file), Some(Budget { sender, space, reserved_bytes, .. })) => {
                drop((bytes, reserved_bytes));
                let mut reserved_bytes = space.memory.reservation(&sender);
                reserved_bytes.grow(file.length_bytes())?;
                (tokio::task::spawn_blocking(move || file.read()).await??, Some(reserved_bytes))
            }
            (_, budget) => (bytes, budget.map(|budget| budget.reserved_bytes)),
        };
        Ok(Bytes::from_owner(CountedBody { bytes, _reserved: reserved_bytes }))
    }

    /// Allocates memory for `more_bytes` bytes, and at least for a quarter of the capacity, so that
    /// a long body is not copied for each chunk.
    fn grow(&mut self, more_bytes: usize) -> ApiResult<()> {
        let (length_bytes, capacity_bytes) = (self.bytes.len(), self.bytes.capacity());
        if length_bytes + more_bytes <= capacity_bytes {
            return Ok(());
        }
        let new_capacity =
            (length_bytes + more_bytes).max((capacity_bytes + capacity_bytes / 4).max(UNCOUNTED_BYTES));
        let counted_bytes = |bytes: usize| bytes.saturating_sub(UNCOUNTED_BYTES) as u64;
        if let Some(budget) = &mut self.budget {
            budget.reserved_bytes.grow(counted_bytes(new_capacity) - counted_bytes(capacity_bytes))?;
        }
        self.bytes.reserve_exact(new_capacity - length_bytes);
        Ok(())
    }
}

/// Returns the length of a body according to `Content-Length`, in bytes.
pub(crate) fn announced_bytes(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Body;
    use futures_util::stream;

    use super::*;

    fn body_of(user_id: &str, memory: &BodyMemory) -> HeldBody {
        let mut request = Request::new(Body::empty());
        request.extensions_mut().insert(memory.clone());
        request.extensions_mut().insert(Sender(user_id.to_owned()));
        HeldBody::from_request(&request)
    }

    async fn read(body: HeldBody, count: usize, chunk_bytes: usize) -> ApiResult<Bytes> {
        let chunk = Bytes::from(vec![b'x'; chunk_bytes]);
        let chunks = stream::repeat(Ok::<_, Infallible>(chunk)).take(count);
        body.read(chunks, |error| match error {}).await
    }

    /// Returns a budget of memory. Bodies wait in `folder`, unless `is_disk_full`.
    fn budget(folder: &Path, max_bytes: usize, is_disk_full: bool) -> BodyMemory {
        BodyMemory::new(max_bytes as u64, folder, if is_disk_full { u64::MAX } else { 0 })
    }

    const LONG_BYTES: usize = 2 * IN_MEMORY_MAX_BYTES;

    #[tokio::test]
    async fn a_body_counts_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        for is_disk_full in [false, true] {
            let memory = budget(folder.path(), 3 * LONG_BYTES, is_disk_full);
            let read_long = async || read(body_of("ada", &memory), LONG_BYTES / 1024, 1024).await;
            let waiting = read_long().await.expect("half of the memory counts");
            let refused = read_long().await.expect_err("the first body still exists");
            assert!(refused.to_string().contains("SF_BODIES_MEMORY_BYTES"), "{refused}");
            let short_body = read(body_of("ada", &memory), UNCOUNTED_BYTES, 1).await.expect("a short body");
            assert_eq!(short_body.len(), UNCOUNTED_BYTES);
            drop(waiting);
            assert_eq!(read_long().await.expect("the memory is free again").len(), LONG_BYTES);
        }
    }

    #[tokio::test]
    async fn an_unfinished_body_waits_on_the_disk() {
        let folder = tempfile::tempdir().expect("a folder");
        for is_disk_full in [false, true] {
            let memory = budget(folder.path(), 5 * LONG_BYTES, is_disk_full);
            let mut unfinished = body_of("ada", &memory);
            for _ in 0..LONG_BYTES / 1024 {
                unfinished.append(&[b'x'; 1024]).await.expect("within the budget");
            }
            assert_eq!(unfinished.bytes.capacity() >= LONG_BYTES, is_disk_full);
            let bob_request = read(body_of("bob", &memory), 2 * LONG_BYTES / 1024, 1024).await;
            assert_eq!(bob_request.is_err(), is_disk_full, "{bob_request:?}");
            drop(bob_request);
            unfinished.append(b"yz").await.expect("within the budget");
            let bytes = unfinished.complete().await.expect("within the budget");
            assert_eq!((bytes.len(), &bytes[LONG_BYTES - 1..]), (LONG_BYTES + 2, &b"xyz"[..]));
        }
    }
}
