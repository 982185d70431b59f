//! The threads that process streams. They are apart from those of requests, so that a request that
//! occupies its thread does not delay a block.

use std::future::Future;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use super::priority;

/// The threads, which start with the first stream.
#[derive(Debug, Default)]
pub(super) struct RealTimeRuntime(OnceLock<Option<Runtime>>);

impl RealTimeRuntime {
    /// Runs a future on these threads, or on the current ones if the system starts no threads.
    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let start = || {
            Builder::new_multi_thread()
                .thread_name("real-time")
                .on_thread_start(priority::raise_this_thread)
                .enable_all()
                .build()
                .inspect_err(|error| tracing::warn!(%error, "cannot start threads for real-time effects"))
                .ok()
        };
        match self.0.get_or_init(start) {
            Some(runtime) => drop(runtime.spawn(future)),
            None => drop(tokio::spawn(future)),
        }
    }
}

impl Drop for RealTimeRuntime {
    fn drop(&mut self) {
        // The last reference may be dropped by a thread that must not block.
        if let Some(Some(runtime)) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
