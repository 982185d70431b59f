//! VST plugins in answers of the API.

use serde::Serialize;
use songfoundry_bridge_protocol::PluginFormat;
use utoipa::ToSchema;

use super::modules::FoundPlugin;

/// Format of a plugin.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum VstFormat {
    /// VST 2.4.
    Vst2,
    /// VST3.
    Vst3,
}

impl From<PluginFormat> for VstFormat {
    fn from(format: PluginFormat) -> Self {
        match format {
            PluginFormat::Vst2 => Self::Vst2,
            PluginFormat::Vst3 => Self::Vst3,
        }
    }
}

/// A VST plugin.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct VstPlugin {
    /// Identifies the plugin in projects, independently of its path: the 32 hexadecimal digits of a
    /// VST3 class id, or the 8 hexadecimal digits of a VST2 unique id.
    plugin_id: String,
    /// Name of the plugin, from its module.
    name: String,
    /// Plugin format: VST2 or VST3.
    format: VstFormat,
    /// Vendor of the plugin; empty if the module does not name one.
    vendor: String,
    /// Version of the plugin as its vendor writes it; empty if the module has none.
    version: String,
    /// Sub-categories of VST3, such as `Fx` and `Reverb`; empty for VST2.
    categories: Vec<String>,
    /// Path of the plugin's module.
    path: String,
}

impl From<&FoundPlugin> for VstPlugin {
    fn from(scanned_plugin: &FoundPlugin) -> Self {
        let plugin = scanned_plugin.plugin.clone();
        Self {
            plugin_id: plugin.plugin_id,
            name: plugin.name,
            format: scanned_plugin.format.into(),
            vendor: plugin.vendor,
            version: plugin.version,
            categories: plugin.categories,
            path: scanned_plugin.module.display().to_string(),
        }
    }
}
