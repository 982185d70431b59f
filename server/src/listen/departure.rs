//! Detects that a client has disconnected while its request waits for an answer.
//!
//! While hyper works on a request and has buffered bytes of the next one, it does not read from the
//! connection. Therefore it does not notice that the client has closed the connection: the request
//! would keep waiting, and the connection would keep counting for its address. For this reason, a
//! connection with unread bytes is closed too. Clients must not send more than hyper reads while a
//! complete request waits.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use hyper::body::{Body as _, Frame, SizeHint};
use tokio::sync::watch;

use super::shared_stream::SharedStream;

/// Time until the first check of a connection, and maximum interval between checks. Unread bytes
/// must be found in two consecutive checks, because hyper may be about to read them.
const FIRST_CHECK_AFTER: Duration = Duration::from_millis(20);
const CHECK_EVERY: Duration = Duration::from_millis(250);

/// The request that is being answered on a connection.
#[derive(Debug, Clone)]
pub(super) struct PendingRequest {
    /// The number of the complete request that waits for its answer; 0 if there is none.
    number: watch::Sender<u64>,
    /// Whether a part of the last request's body was not read.
    has_unread_body: Arc<AtomicBool>,
}

impl PendingRequest {
    pub(super) fn new() -> Self {
        Self { number: watch::Sender::new(0), has_unread_body: Arc::default() }
    }

    /// Returns the request with a body that reports when it is complete. `number` identifies the
    /// request.
    pub(super) fn watch(&self, request: Request, number: u64) -> Request {
        request.map(|body| {
            let watched_body = WatchedBody { body, number, pending_request: self.clone() };
            self.has_unread_body.store(true, Ordering::Relaxed);
            watched_body.report_end();
            Body::new(watched_body)
        })
    }

    /// Records that the request has been answered.
    pub(super) fn end(&self) {
        self.number.send_replace(0);
    }

    /// Whether a part of the last request's body was not read.
    pub(super) fn has_unread_body(&self) -> bool {
        self.has_unread_body.load(Ordering::Relaxed)
    }

    /// Completes when the client has disconnected.
    pub(super) async fn client_disconnected(&self, stream: &SharedStream) {
        let mut request_numbers = self.number.subscribe();
        loop {
            // The sender is a field of `self`, so it exists while this future runs.
            let number = request_numbers.wait_for(|number| *number > 0).await.map_or(0, |number| *number);
            let (mut check_after, mut was_unread) = (FIRST_CHECK_AFTER, false);
            loop {
                tokio::time::sleep(check_after).await;
                let is_unread = stream.has_end_or_unread_bytes();
                if *request_numbers.borrow() != number {
                    break;
                }
                if is_unread && was_unread {
                    return;
                }
                (check_after, was_unread) = ((2 * check_after).min(CHECK_EVERY), is_unread);
            }
        }
    }
}

struct WatchedBody {
    body: Body,
    number: u64,
    pending_request: PendingRequest,
}

impl WatchedBody {
    fn report_end(&self) {
        if self.body.is_end_stream() {
            self.report_complete();
        }
    }

    fn report_complete(&self) {
        self.pending_request.has_unread_body.store(false, Ordering::Relaxed);
        self.pending_request.number.send_replace(self.number);
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
            self.report_complete();
        }
        self.report_end();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
