//! Requires a minimum rate of request bodies, so that slow senders do not occupy memory, permits
//! and connections.
//!
//! Only the time that the service waits for the client counts. A client may pause for `pause_max`.
//! Each received byte adds a credit of `1 / min_bytes_per_sec`, and the credit is at most
//! `pause_max`. So a client may pause, but must reach the minimum rate on average. A body that is
//! read into memory must also be complete within `whole_max`. This does not apply to a file that is
//! streamed to the disk.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Extensions;
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Body as _, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// Limits on the pace of request bodies.
#[derive(Debug, Clone, Copy)]
pub struct BodyPace {
    /// Maximum pause between two parts of a body.
    pub pause_max: Duration,
    /// Minimum rate in bytes per second; 0 means no minimum.
    pub min_bytes_per_sec: u64,
    /// Maximum time until a body that is read into memory is complete.
    pub whole_max: Duration,
}

impl BodyPace {
    /// Returns `whole_max` from the request's extensions; [`Duration::MAX`] if it was not set.
    pub(crate) fn whole_max(extensions: &Extensions) -> Duration {
        extensions.get::<Self>().map_or(Duration::MAX, |pace| pace.whole_max)
    }

    /// Returns the credit for receiving `bytes`.
    fn credit_for(&self, bytes: usize) -> Duration {
        match self.min_bytes_per_sec {
            0 => self.pause_max,
            rate => Duration::from_secs_f64(bytes as f64 / rate as f64),
        }
    }
}

/// Middleware. If a body arrives more slowly than `pace`, reading it fails with [`TooSlow`].
pub(crate) async fn limit_pace(pace: BodyPace, mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(pace);
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    next.run(request.map(|body| Body::new(PacedBody::new(body, pace)))).await
}

/// A body arrived too slowly.
#[derive(Debug, thiserror::Error)]
#[error(
    "the body arrived too slowly: less than {min_bytes_per_sec} bytes per second, or a pause of {pause_secs} s"
)]
pub(crate) struct TooSlow {
    min_bytes_per_sec: u64,
    pause_secs: f64,
}

struct PacedBody {
    body: Body,
    pace: BodyPace,
    /// Remaining time that the service may wait for the client.
    credit: Duration,
    /// Start of the current wait, if the service waits.
    waiting_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl PacedBody {
    fn new(body: Body, pace: BodyPace) -> Self {
        Self { body, pace, credit: pace.pause_max, waiting_since: None, timer: None }
    }

    /// Completes with [`TooSlow`] when the credit is used up.
    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<TooSlow> {
        if self.waiting_since.is_none() {
            let now = Instant::now();
            self.waiting_since = Some(now);
            let deadline = now + self.credit;
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(deadline),
                None => self.timer = Some(Box::pin(tokio::time::sleep_until(deadline))),
            }
        }
        if let Some(timer) = &mut self.timer {
            ready!(timer.as_mut().poll(context));
        }
        let pause_secs = self.pace.pause_max.as_secs_f64();
        Poll::Ready(TooSlow { min_bytes_per_sec: self.pace.min_bytes_per_sec, pause_secs })
    }
}

impl hyper::body::Body for PacedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            let refusal = ready!(self.poll_timeout(context));
            return Poll::Ready(Some(Err(refusal.into())));
        };
        if let Some(since) = self.waiting_since.take() {
            self.credit = self.credit.saturating_sub(since.elapsed());
        }
        if let Some(Ok(frame)) = &frame {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            self.credit = self.credit.saturating_add(self.pace.credit_for(bytes)).min(self.pace.pause_max);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::post;
    use futures_util::stream;
    use tower::ServiceExt as _;

    use super::*;
    use crate::extract::RawBody;

    const PACE: BodyPace = BodyPace {
        pause_max: Duration::from_millis(200),
        min_bytes_per_sec: 1_000,
        whole_max: Duration::from_secs(60),
    };

    async fn length(RawBody(bytes): RawBody) -> String {
        bytes.len().to_string()
    }

    /// Returns the status of a request whose body has `count` chunks, sent at this interval.
    async fn status(pace: BodyPace, chunk: &'static [u8], interval: Duration, count: usize) -> u16 {
        let body = Body::from_stream(stream::unfold(0, move |sent_bytes| async move {
            tokio::time::sleep(interval).await;
            (sent_bytes < count).then_some((Ok::<_, Error>(chunk), sent_bytes + 1))
        }));
        let router = Router::new()
            .route("/", post(length))
            .layer(from_fn(move |request: Request, next: Next| limit_pace(pace, request, next)));
        let request = Request::post("/").body(body).expect("a request");
        let answer = tokio::time::timeout(Duration::from_secs(10), router.oneshot(request));
        let Ok(response) = answer.await.expect("an answer in time");
        response.status().as_u16()
    }

    #[tokio::test]
    async fn a_body_below_the_minimum_rate_is_refused() {
        assert_eq!(status(PACE, b"x", Duration::from_millis(10), usize::MAX).await, 408);
        let unlimited = BodyPace { min_bytes_per_sec: 0, ..PACE };
        assert_eq!(status(unlimited, b"x", Duration::from_millis(1), 100).await, 200);
    }

    #[tokio::test]
    async fn a_body_with_a_long_pause_is_refused() {
        assert_eq!(status(PACE, &[0; 1_000], Duration::from_secs(60), 2).await, 408);
    }

    #[tokio::test]
    async fn a_body_that_takes_too_long_in_total_is_refused() {
        let pace = BodyPace { whole_max: Duration::from_millis(100), ..PACE };
        assert_eq!(status(pace, &[0; 1_000], Duration::from_millis(5), 100_000).await, 408);
    }

    #[tokio::test]
    async fn a_body_above_the_minimum_rate_passes() {
        // The body has 100 times the minimum rate, and lasts longer than the longest pause.
        assert_eq!(status(PACE, &[0; 500], Duration::from_millis(5), 60).await, 200);
    }
}
