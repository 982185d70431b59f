//! Heartbeats and headers of server-sent event streams, for proxies in between.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};

/// Interval of heartbeats while there are no events. Proxies close idle connections after a minute.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// A heartbeat: a comment, which readers of events skip (HTML Living Standard, section 9.2.5).
pub(crate) const HEARTBEAT: &str = ":\n\n";

/// Header that makes nginx and similar proxies pass on each event immediately.
pub(crate) fn unbuffered() -> (HeaderName, HeaderValue) {
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
}
