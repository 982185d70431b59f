//! Messages between the Songfoundry service and its native plugin helper.
//!
//! The helper prints JSON on standard output: [`Capabilities`] for the command `capabilities`, and
//! a [`ScanRecord`] on each line for the command `scan`. The command `host` answers requests on a
//! socket ([`host`], [`frame`]), and may process blocks in shared memory ([`live`]). So does the
//! command `gui`, which also shows the plugin's window ([`window`]). The service links this crate
//! and no other part of the helper, because plugins are never loaded into the service's own
//! process.

pub mod frame;
pub mod host;
pub mod live;
pub mod window;

use serde::{Deserialize, Serialize};

/// A plugin format that a helper can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginFormat {
    /// Steinberg VST 2.4.
    Vst2,
    /// Steinberg VST3.
    Vst3,
}

/// Output of `songfoundry-bridge capabilities`: the features of this build of the helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Version of the helper, equal to that of `songfoundry-bridge --version`.
    pub version: String,
    /// Plugin formats that this build can host; empty if this build hosts no plugins.
    pub formats: Vec<PluginFormat>,
    /// Whether the helper can show a plugin's own window.
    pub editor_windows: bool,
}

/// Environment variable with the process id of the service. When that process ends, the helper ends
/// too.
pub const PARENT_VARIABLE: &str = "SF_PARENT_PID";

/// The kind of a plugin, as the module declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    /// The plugin plays notes. A plugin that both plays notes and processes audio is an instrument.
    Instrument,
    /// The plugin processes audio.
    Effect,
    /// The module does not declare the kind.
    Unclassified,
}

/// The properties of a plugin that its module states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedPlugin {
    /// Id of the plugin, independent of the module's path. It is the class id as 32 hexadecimal
    /// digits for VST3, and the unique id as 8 hexadecimal digits for VST2.
    pub plugin_id: String,
    /// Name of the plugin, as the module states it.
    pub name: String,
    /// The vendor; empty if the module does not state it.
    pub vendor: String,
    /// The version as the vendor writes it; empty if the module does not state it.
    pub version: String,
    /// VST3's sub-categories, such as `Fx` and `Reverb`; empty for VST2.
    pub categories: Vec<String>,
    /// The kind of the plugin.
    pub kind: PluginKind,
}

/// A line of the output of `songfoundry-bridge scan FILE`. The last record is
/// [`ScanRecord::End`]. If that record is missing, the module ended the helper during the scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum ScanRecord {
    /// A plugin in the module.
    Plugin(ScannedPlugin),
    /// The module cannot be used.
    Failed {
        /// The reason, as a sentence without a capital and a full stop.
        reason: String,
    },
    /// The list is complete.
    End {
        /// Number of [`ScanRecord::Plugin`] records before this one.
        plugins: u32,
    },
}
