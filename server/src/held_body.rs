//! Reads request bodies into memory, with a time limit and a shared budget of bytes.
//!
//! A body counts toward the budget as long as its bytes exist, even while they wait for a permit
//! ([`crate::permits`]).

use std::pin::pin;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, header};
use futures_util::{Stream, StreamExt as _};

use crate::body_pace::BodyPace;
use crate::client_address::network_of;
use crate::error::{ApiError, ApiResult};
use crate::fair_bytes::{FairBytes, ReservedBytes};
use crate::peer::peer_of;

/// Number of bytes of each body that do not count. So small requests are accepted even while large
/// ones use up the budget.
const UNCOUNTED_BYTES: usize = 16 * 1024;

/// How long the remainder of a refused body is read. Without this, the client would see a closed
/// connection instead of the answer.
const DISCARD_WITHIN: Duration = Duration::from_secs(5);

/// Memory for bodies of requests. It is an extension of every request.
#[derive(Debug, Clone)]
pub(crate) struct BodyMemory(FairBytes);

impl BodyMemory {
    /// Creates a budget of `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self(FairBytes::new("memory for large request bodies (SF_BODIES_MEMORY_BYTES)", max_bytes))
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
    tokio::time::timeout(whole_max, reading).await.map_err(|_| ApiError::BodyIncomplete)?
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
    bytes: Vec<u8>,
    /// The bytes that are reserved for this body; `None` if the request has no budget.
    reserved: Option<ReservedBytes>,
    /// Length of the body according to `Content-Length`, in bytes.
    announced_bytes: Option<u64>,
}

impl HeldBody {
    /// Returns the body of `request`, which has not been read yet.
    pub(crate) fn of(request: &Request) -> Self {
        let extensions = request.extensions();
        let sender = match (extensions.get::<Sender>(), peer_of(extensions)) {
            (Some(Sender(user_id)), _) => user_id.clone(),
            (None, Some(peer)) => network_of(peer),
            (None, None) => String::new(),
        };
        Self {
            bytes: Vec::new(),
            reserved: extensions.get().map(|BodyMemory(memory)| memory.reservation(&sender)),
            announced_bytes: announced_bytes(request.headers()),
        }
    }

    /// Reads `chunks` to their end.
    ///
    /// # Errors
    /// Errors of the chunks, converted by `refused`; 503 `busy` if the memory for bodies is used
    /// up.
    pub(crate) async fn read<E>(
        mut self,
        chunks: impl Stream<Item = Result<Bytes, E>>,
        refused: impl Fn(E) -> ApiError,
    ) -> ApiResult<Bytes> {
        let mut chunks = pin!(chunks);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(&refused)?;
            if let Err(refusal) = self.grow(chunk.len()) {
                drop((self, chunk));
                let remainder = async { while let Some(Ok(_)) = chunks.next().await {} };
                // It does not matter whether the body ended, because it is refused anyway.
                let _ = tokio::time::timeout(DISCARD_WITHIN, remainder).await;
                return Err(refusal);
            }
            self.bytes.extend_from_slice(&chunk);
        }
        Ok(Bytes::from_owner(CountedBody { bytes: self.bytes, _reserved: self.reserved }))
    }

    /// Allocates memory for `more` bytes, and at least for a quarter of the capacity, so that a
    /// long body is not copied for each chunk.
    fn grow(&mut self, more: usize) -> ApiResult<()> {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        if length + more <= capacity {
            return Ok(());
        }
        let announced =
            self.announced_bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let new_capacity = (length + more).max((capacity + capacity / 4).max(UNCOUNTED_BYTES).min(announced));
        let counted = |bytes: usize| bytes.saturating_sub(UNCOUNTED_BYTES) as u64;
        if let Some(reserved) = &mut self.reserved {
            reserved.grow(counted(new_capacity) - counted(capacity))?;
        }
        self.bytes.reserve_exact(new_capacity - length);
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
        HeldBody::of(&request)
    }

    async fn read(body: HeldBody, count: usize, chunk_bytes: usize) -> ApiResult<Bytes> {
        let chunk = Bytes::from(vec![b'x'; chunk_bytes]);
        let chunks = stream::repeat(Ok::<_, Infallible>(chunk)).take(count);
        body.read(chunks, |error| match error {}).await
    }

    #[tokio::test]
    async fn small_bodies_are_accepted_while_large_ones_use_up_the_budget() {
        let memory = BodyMemory::new(4 * UNCOUNTED_BYTES as u64);
        let mut large = body_of("ada", &memory);
        large.grow(3 * UNCOUNTED_BYTES).expect("half of the memory counts");
        let refused =
            read(body_of("ada", &memory), 40, UNCOUNTED_BYTES / 8).await.expect_err("the budget is used up");
        assert!(refused.to_string().contains("SF_BODIES_MEMORY_BYTES"), "{refused}");
        let bytes = read(body_of("ada", &memory), UNCOUNTED_BYTES, 1).await.expect("a small body");
        assert_eq!(bytes.len(), UNCOUNTED_BYTES);
        read(body_of("bob", &memory), 3, UNCOUNTED_BYTES / 2).await.expect("a body of another user");
        drop(large);
        let bytes =
            read(body_of("ada", &memory), 3, UNCOUNTED_BYTES).await.expect("the budget is free again");
        assert_eq!(bytes.len(), 3 * UNCOUNTED_BYTES);
    }

    #[tokio::test]
    async fn a_body_counts_until_it_is_dropped() {
        let memory = BodyMemory::new(4 * UNCOUNTED_BYTES as u64);
        let read_three = async || read(body_of("ada", &memory), 3, UNCOUNTED_BYTES).await;
        let waiting = read_three().await.expect("half of the memory counts");
        assert!(read_three().await.is_err(), "the first body still exists");
        drop(waiting);
        read_three().await.expect("the memory is free again");
    }
}
