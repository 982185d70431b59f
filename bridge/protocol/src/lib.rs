//! Messages between the Songfoundry service and its native plugin helper.
//!
//! The helper answers on standard output with JSON: `capabilities` with one document, `scan` with a
//! [`ScanRecord`] on each line. This crate is the only part of the helper that the service links:
//! plugins are never loaded into the service's own process.

use serde::{Deserialize, Serialize};

/// A plugin format that a helper can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginFormat {
    /// Steinberg VST 2.4.
    Vst2,
    /// Steinberg VST 3.
    Vst3,
}

/// Output of `songfoundry-bridge capabilities`: the features of this build of the helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Version of the helper, as in `songfoundry-bridge --version`.
    pub version: String,
    /// Plugin formats that this build can scan and host; empty if it hosts none.
    pub formats: Vec<PluginFormat>,
    /// Whether the helper can show a plugin's own window.
    pub editor_windows: bool,
}

/// Environment variable with the process id of the parent. When the parent ends, the helper ends
/// too.
pub const PARENT_VARIABLE: &str = "SF_PARENT_PID";

/// The purpose of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    /// Plays notes. A plugin that both plays notes and processes audio is an instrument.
    Instrument,
    /// Processes audio.
    Effect,
    /// Neither is stated.
    Unclassified,
}

/// A plugin as its module lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedPlugin {
    /// Id of the plugin, independent of the module's path. For VST3 it is the 32 hexadecimal digits
    /// of the class, for VST2 the 8 of the unique id.
    pub plugin_id: String,
    /// Name in the module.
    pub name: String,
    /// The vendor; empty if the module does not state it.
    pub vendor: String,
    /// The version as the vendor writes it; empty if the module does not state it.
    pub version: String,
    /// VST3's sub-categories, such as `Fx` and `Reverb`; empty for VST2.
    pub categories: Vec<String>,
    /// The purpose of the plugin.
    pub kind: PluginKind,
}

/// A line of the output of `songfoundry-bridge scan FILE`. The last record is always
/// [`ScanRecord::End`]; if it is missing, the module has ended the helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum ScanRecord {
    /// A plugin in the module.
    Plugin(ScannedPlugin),
    /// The module cannot be used.
    Failed {
        /// The reason.
        reason: String,
    },
    /// The list is complete.
    End {
        /// Number of listed plugins.
        plugins: u32,
    },
}
