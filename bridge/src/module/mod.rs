//! Modules: the libraries and bundles that contain plugins.

mod bundle;
mod library;
mod loader_message;
mod machine;

use std::path::Path;

pub(crate) use bundle::library_path;
pub(crate) use library::{Library, end_at_once};
use songfoundry_bridge_protocol::PluginFormat;

/// Maximum number of plugins that are listed for a module. The largest known modules have a few
/// hundred plugins.
pub(crate) const PLUGINS_MAX: u32 = 2_000;

/// Reason why a module or a plugin cannot be used, as a sentence without a capital and a full stop.
pub(crate) type FailureReason = String;

/// Returns the format of the plugins in a module. VST3 modules are known by their extension.
pub(crate) fn format(module: &Path) -> PluginFormat {
    match module.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vst3")) {
        true => PluginFormat::Vst3,
        false => PluginFormat::Vst2,
    }
}
