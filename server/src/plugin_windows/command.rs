//! The commands to the thread of a window.

use tokio::sync::oneshot;

use crate::plugin_hosts::HostError;

/// A command to the thread of a window.
#[derive(Debug)]
pub(super) enum Command {
    /// Reads the state of the plugin.
    ReadState(oneshot::Sender<Result<Vec<u8>, HostError>>),
}
