//! Notices that a client has left while its request waits for an answer.
//!
//! hyper reads no further while it works on a request and has bytes of another one, so it does not
//! see that the client has closed the connection. The request would keep its place in line, and the
//! connection its place among those of its address. So clients may not send more than hyper reads
//! while a whole request waits.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use hyper::body::{Body as _, Frame, SizeHint};
use tokio::sync::watch;

use super::shared_stream::SharedStream;

/// Time until the connection is looked at for the first time, and longest time between two looks.
/// It has to be found unread twice, since hyper may be about to read.
const FIRST_LOOK_AFTER: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The number of the request that has come as a whole and waits for its answer; 0: none does.
#[derive(Debug, Clone)]
pub(super) struct Waiting(watch::Sender<u64>);

impl Waiting {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// The request with a body that says when it has come as a whole. `number` tells it apart.
    pub(super) fn watch(&self, request: Request, number: u64) -> Request {
        request.map(|body| {
            let watched = WatchedBody { body, number, waiting: self.clone() };
            watched.note_end();
            Body::new(watched)
        })
    }

    /// Notes that there is an answer.
    pub(super) fn end(&self) {
        self.0.send_replace(0);
    }

    /// Ends when the client has left.
    pub(super) async fn client_left(&self, stream: &SharedStream) {
        let mut waiting = self.0.subscribe();
        loop {
            // `self` sends as long as this runs.
            let number = waiting.wait_for(|number| *number > 0).await.map_or(0, |number| *number);
            let (mut look_after, mut was_unread) = (FIRST_LOOK_AFTER, false);
            loop {
                tokio::time::sleep(look_after).await;
                let is_unread = stream.has_end_or_unread_bytes();
                if *waiting.borrow() != number {
                    break;
                }
                if is_unread && was_unread {
                    return;
                }
                (look_after, was_unread) = ((2 * look_after).min(LOOK_EVERY), is_unread);
            }
        }
    }
}

struct WatchedBody {
    body: Body,
    number: u64,
    waiting: Waiting,
}

impl WatchedBody {
    fn note_end(&self) {
        if self.body.is_end_stream() {
            self.waiting.0.send_replace(self.number);
        }
    }
}

impl hyper::body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() {
            self.waiting.0.send_replace(self.number);
        }
        self.note_end();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
