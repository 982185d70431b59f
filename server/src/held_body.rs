//! Bodies of requests that are held in memory: how long they may take to come, and how many bytes
//! of them there may be.
//!
//! A body counts from its first bytes until it is whole. From then on the work that reads it
//! counts it ([`crate::permits`]).

use std::pin::pin;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, header};
use futures_util::{Stream, StreamExt as _};

use crate::body_pace::BodyPace;
use crate::client_address::network_of;
use crate::error::{ApiError, ApiResult};
use crate::fair_bytes::{FairBytes, Share};
use crate::peer::peer_of;

/// Bytes of each body that do not count: small requests go on while large ones fill the memory.
const UNCOUNTED_BYTES: usize = 16 * 1024;

/// How long the rest of a refused body is read. Without that, the client meets a closed connection
/// in place of the answer.
const DISCARD_WITHIN: Duration = Duration::from_secs(5);

/// Memory for bodies of requests that are coming: an extension of every request.
#[derive(Debug, Clone)]
pub(crate) struct BodyMemory(FairBytes);

impl BodyMemory {
    /// Room for `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self(FairBytes::new("large bodies of requests (SF_BODIES_MEMORY_BYTES)", max_bytes))
    }
}

/// Id of the user who sends a body: an extension of requests whose sender is known.
#[derive(Debug, Clone)]
pub(crate) struct Sender(pub(crate) String);

/// Waits for `reading`, which reads the body of a request with these extensions.
///
/// # Errors
/// Those of reading; 408 when it takes too long.
pub(crate) async fn in_time<T>(
    extensions: &Extensions,
    reading: impl Future<Output = ApiResult<T>>,
) -> ApiResult<T> {
    let whole_max = BodyPace::whole_max(extensions);
    tokio::time::timeout(whole_max, reading).await.map_err(|_| ApiError::BodyIncomplete)?
}

/// A body, or a part of one, on its way into memory.
#[derive(Debug)]
pub(crate) struct HeldBody {
    bytes: Vec<u8>,
    /// What it counts as; `None` where nothing is counted.
    share: Option<Share>,
    /// Length as it was announced.
    announced_bytes: Option<u64>,
}

impl HeldBody {
    /// The body of `request`, of which nothing was read yet.
    pub(crate) fn of(request: &Request) -> Self {
        let extensions = request.extensions();
        let sender = match (extensions.get::<Sender>(), peer_of(extensions)) {
            (Some(Sender(user_id)), _) => user_id.clone(),
            (None, Some(peer)) => network_of(peer),
            (None, None) => String::new(),
        };
        Self {
            bytes: Vec::new(),
            share: extensions.get().map(|BodyMemory(memory)| memory.share(&sender)),
            announced_bytes: announced_bytes(request.headers()),
        }
    }

    /// Reads `pieces` to their end.
    ///
    /// # Errors
    /// `refused` of an error among the pieces; 503 `busy` where the memory for bodies is full.
    pub(crate) async fn read<E>(
        mut self,
        pieces: impl Stream<Item = Result<Bytes, E>>,
        refused: impl Fn(E) -> ApiError,
    ) -> ApiResult<Bytes> {
        let mut pieces = pin!(pieces);
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(&refused)?;
            if let Err(refusal) = self.make_room(piece.len()) {
                drop((self, piece));
                let rest = async { while let Some(Ok(_)) = pieces.next().await {} };
                // Whether all of it came makes no difference.
                let _ = tokio::time::timeout(DISCARD_WITHIN, rest).await;
                return Err(refusal);
            }
            self.bytes.extend_from_slice(&piece);
        }
        Ok(Bytes::from(self.bytes))
    }

    /// Takes memory for `more` bytes, a quarter more than there is at least, so that a long body
    /// is not copied for each piece.
    fn make_room(&mut self, more: usize) -> ApiResult<()> {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        if length + more <= capacity {
            return Ok(());
        }
        let announced =
            self.announced_bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let wanted = (length + more).max((capacity + capacity / 4).max(UNCOUNTED_BYTES).min(announced));
        let counted = |bytes: usize| bytes.saturating_sub(UNCOUNTED_BYTES) as u64;
        if let Some(share) = &mut self.share {
            share.grow(counted(wanted) - counted(capacity))?;
        }
        self.bytes.reserve_exact(wanted - length);
        Ok(())
    }
}

/// The length of a body as its head announces it.
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

    async fn read(body: HeldBody, pieces: usize, bytes: usize) -> ApiResult<Bytes> {
        let piece = Bytes::from(vec![b'x'; bytes]);
        let pieces = stream::repeat(Ok::<_, Infallible>(piece)).take(pieces);
        body.read(pieces, |error| match error {}).await
    }

    #[tokio::test]
    async fn small_bodies_come_through_while_large_ones_fill_the_memory() {
        let memory = BodyMemory::new(4 * UNCOUNTED_BYTES as u64);
        let mut large = body_of("ada", &memory);
        large.make_room(3 * UNCOUNTED_BYTES).expect("half of the memory counts");
        let refused = read(body_of("ada", &memory), 40, UNCOUNTED_BYTES / 8).await.expect_err("no room");
        assert!(refused.to_string().contains("SF_BODIES_MEMORY_BYTES"), "{refused}");
        let whole = read(body_of("ada", &memory), UNCOUNTED_BYTES, 1).await.expect("a small one");
        assert_eq!(whole.len(), UNCOUNTED_BYTES);
        read(body_of("bob", &memory), 3, UNCOUNTED_BYTES / 2).await.expect("another user's");
        drop(large);
        let whole = read(body_of("ada", &memory), 3, UNCOUNTED_BYTES).await.expect("there is room again");
        assert_eq!(whole.len(), 3 * UNCOUNTED_BYTES);
    }
}
