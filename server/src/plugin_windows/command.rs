//! The commands to the thread of a window.

use axum::response::Response;
use tokio::sync::oneshot;

use crate::error::ApiResult;
use crate::large_answer::Recipient;

/// Maximum number of commands that wait for the thread of a window.
pub(super) const WAITING_COMMANDS_MAX: usize = 4;

/// A command to the thread of a window.
#[derive(Debug)]
pub(super) enum Command {
    /// Reads the state of the plugin. The thread makes the whole answer, so that a window never has
    /// more than one state in memory.
    ReadState {
        /// The client that gets the answer.
        recipient: Recipient,
        /// Gets the answer.
        reply: oneshot::Sender<ApiResult<Response>>,
    },
}
