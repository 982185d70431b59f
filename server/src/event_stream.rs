//! Heartbeats and headers of server-sent event streams, which proxies between the service and its
//! clients need.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};

/// Interval of heartbeats while there are no events. Many proxies close connections that are idle
/// for a minute.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// A heartbeat. It is a comment, which clients skip (HTML Living Standard, section 9.2.5).
pub(crate) const HEARTBEAT: &str = ":\n\n";

/// Returns a header that makes nginx and similar proxies forward each event immediately.
pub(crate) fn unbuffered() -> (HeaderName, HeaderValue) {
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
}
