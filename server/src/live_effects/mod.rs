//! Effects that process the master mix of a client in real time, over a WebSocket.
//!
//! `connect.rs` checks the caller of a handshake, `connection.rs` receives and sends the messages
//! of one WebSocket, `stream.rs` carries them out. `built_in.rs` has the effects of the engine,
//! `plugin.rs` those of plugins, whose processes `plugin_thread.rs` starts. `pace.rs` limits the
//! speed of a stream.

mod built_in;
mod chain_request;
mod change_chain;
mod connect;
mod connection;
mod incident;
mod message;
mod midi_message;
mod midi_queue;
mod open_plugins;
mod open_streams;
mod pace;
mod parameter_ids;
mod plugin;
mod plugin_mix;
mod plugin_request;
mod plugin_thread;
mod priority;
mod real_time_runtime;
mod song_time;
mod statistics;
mod stream;
mod time_histogram;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::fair_bytes::FairBytes;
use crate::state::AppState;
use open_plugins::OpenPlugins;
use open_streams::OpenStreams;
use real_time_runtime::RealTimeRuntime;

/// Maximum memory of the effects of all streams, in bytes.
const MEMORY_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Streams of all clients, and the threads that process them.
#[derive(Debug)]
pub struct LiveEffects {
    open_streams: OpenStreams,
    open_plugins: OpenPlugins,
    /// Memory budget of the effects.
    memory: FairBytes,
    runtime: RealTimeRuntime,
}

impl Default for LiveEffects {
    fn default() -> Self {
        Self {
            open_streams: OpenStreams::default(),
            open_plugins: OpenPlugins::default(),
            memory: FairBytes::new("memory for real-time effects", MEMORY_MAX_BYTES),
            runtime: RealTimeRuntime::default(),
        }
    }
}

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(connect::connect))
}

#[cfg(test)]
mod tests;
