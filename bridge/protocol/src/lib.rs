//! Messages between the Songfoundry service and its native plugin helper.
//!
//! The helper answers on standard output with one JSON document per command. This crate is
//! the only part of the helper that the service links: plugins are never loaded into the
//! service's own process.

use serde::{Deserialize, Serialize};

/// A plugin format that a helper can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginFormat {
    /// Steinberg VST 2.4.
    Vst2,
    /// Steinberg VST 3.
    Vst3,
}

/// What `songfoundry-bridge capabilities` prints: what this build of the helper can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Version of the helper, as in `songfoundry-bridge --version`.
    pub version: String,
    /// Plugin formats that this build can scan and host; empty when it hosts none.
    pub formats: Vec<PluginFormat>,
    /// Whether the helper can show a plugin's own window.
    pub editor_windows: bool,
}
