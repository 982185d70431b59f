//! Shared parts of server-sent event streams, so that proxies pass events on at once.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};

/// How often a comment is sent while nothing happens: well within the minute after which proxies
/// give up.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// A heartbeat: a comment, which readers of events skip (HTML Living Standard, section 9.2.5).
pub(crate) const HEARTBEAT: &str = ":\n\n";

/// Asks nginx, and proxies that follow it, to pass each event on at once.
pub(crate) fn unbuffered() -> (HeaderName, HeaderValue) {
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
}
