//! Tracks the activity of a connection, to detect an idle connection or a client that does not
//! read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

/// The activity of a connection's client.
#[derive(Debug)]
pub(super) struct Activity {
    opened_at: Instant,
    /// Time of the client's last activity, in milliseconds after `opened_at`.
    last_ms: AtomicU64,
    /// Number of requests whose answers have not ended.
    open_requests: AtomicUsize,
    /// Number of answers that wait because the client does not read.
    unread_answers: AtomicUsize,
    had_request: AtomicBool,
}

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// The connection has had no request yet.
    Unused,
    /// No request is open.
    Idle,
    /// The service works on a request, or waits for more of its body.
    Working,
    /// The client does not read an answer.
    Stalled,
}

impl Activity {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            opened_at: Instant::now(),
            last_ms: AtomicU64::new(0),
            open_requests: AtomicUsize::new(0),
            unread_answers: AtomicUsize::new(0),
            had_request: AtomicBool::new(false),
        })
    }

    /// Records that the client is active now.
    pub(super) fn record(&self) {
        let now_ms = u64::try_from(self.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Returns the time of the client's last activity, or the time when the connection was opened.
    pub(super) fn last_active_at(&self) -> Instant {
        self.opened_at + Duration::from_millis(self.last_ms.load(Ordering::Relaxed))
    }

    /// Returns the time since the client's last activity.
    pub(super) fn idle_time(&self) -> Duration {
        self.last_active_at().elapsed()
    }

    /// Whether no request is open.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state(), ConnectionState::Unused | ConnectionState::Idle)
    }

    pub(super) fn state(&self) -> ConnectionState {
        if self.unread_answers.load(Ordering::Relaxed) > 0 {
            ConnectionState::Stalled
        } else if self.open_requests.load(Ordering::Relaxed) > 0 {
            ConnectionState::Working
        } else if self.had_request.load(Ordering::Relaxed) {
            ConnectionState::Idle
        } else {
            ConnectionState::Unused
        }
    }

    /// Begins a request. Returns the request with a body that records activity, and an exchange
    /// that must watch the answer.
    pub(super) fn begin(self: &Arc<Self>, request: Request) -> (Request, Exchange) {
        self.had_request.store(true, Ordering::Relaxed);
        self.open_requests.fetch_add(1, Ordering::Relaxed);
        self.record();
        let activity = Arc::clone(self);
        let request = request.map(|body| {
            Body::new(body.map_frame(move |frame| {
                activity.record();
                frame
            }))
        });
        (request, Exchange { activity: Arc::clone(self), is_unread: false })
    }
}

/// An open request. Dropping it ends the request.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    is_unread: bool,
}

impl Exchange {
    /// Returns the answer with a body that records when the client reads it.
    pub(super) fn watch(self, answer: Response) -> Response {
        answer.map(|body| Body::new(WatchedBody { body, exchange: self }))
    }

    fn set_unread(&mut self, is_unread: bool) {
        if self.is_unread != is_unread {
            self.is_unread = is_unread;
            if is_unread {
                self.activity.unread_answers.fetch_add(1, Ordering::Relaxed);
            } else {
                self.activity.unread_answers.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.set_unread(false);
        self.activity.record();
        self.activity.open_requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer. hyper polls it only when the client can receive another frame.
struct WatchedBody {
    body: Body,
    exchange: Exchange,
}

impl hyper::body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.exchange.activity.record();
        self.exchange.set_unread(false);
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.exchange.set_unread(matches!(frame, Some(Ok(_))));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
