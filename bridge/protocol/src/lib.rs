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

/// Environment variable with the number of the process that waits for the helper: when that has
/// ended, the helper ends as well.
pub const PARENT_VARIABLE: &str = "SF_PARENT_PID";

/// What a plugin is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    /// Plays notes. One that does both, playing notes and changing sound, is an instrument.
    Instrument,
    /// Changes sound.
    Effect,
    /// Says neither.
    Unclassified,
}

/// A plugin as its module lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedPlugin {
    /// Identifies the plugin, wherever its module lies: of VST3 the 32 hexadecimal digits of its
    /// class, of VST2 the 8 of its unique number.
    pub plugin_id: String,
    /// Name in the module.
    pub name: String,
    /// Who made it; empty where the module does not say.
    pub vendor: String,
    /// Its version in the maker's own way; empty where the module does not say.
    pub version: String,
    /// VST3's sub-categories, such as `Fx` and `Reverb`; of VST2 none.
    pub categories: Vec<String>,
    /// What it is for.
    pub kind: PluginKind,
}

/// A line that `songfoundry-bridge scan FILE` prints. The last is always [`ScanRecord::End`]: where
/// it is missing the module has ended the helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum ScanRecord {
    /// A plugin in the module.
    Plugin(ScannedPlugin),
    /// The module cannot be used.
    Failed {
        /// Why.
        reason: String,
    },
    /// All is said.
    End {
        /// How many plugins were listed.
        plugins: u32,
    },
}
