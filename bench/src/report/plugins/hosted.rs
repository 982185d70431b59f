//! Opens plugins as the service does.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use songfoundry_bridge_protocol::{PluginFormat, ScanRecord};
use songfoundry_server::config::{Config, Source};
use songfoundry_server::helper_processes::Helpers;
use songfoundry_server::plugin_hosts::{OpenOptions, PluginHost, PluginHosts, PluginRef};

use super::{Args, BLOCK_FRAMES};
use crate::process::path_text;
use crate::song::RATE_HZ;

/// Returns the service's hosts of plugins, with `storage` as storage folder.
pub(super) fn hosts(args: &Args, storage: &Path) -> anyhow::Result<PluginHosts> {
    std::fs::create_dir_all(storage)?;
    let settings = [("SF_STORAGE_DIR", path_text(storage)?), ("SF_BRIDGE", path_text(&args.bridge)?)];
    let config = Config::load(&Source::from_pairs(settings))?;
    Ok(PluginHosts::new(&config, &Helpers::default()))
}

/// Scans a module and returns its first plugin.
pub(super) fn find(args: &Args, module: &Path) -> anyhow::Result<PluginRef> {
    let output = Command::new(&args.bridge).arg("scan").arg(module).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let plugin_id = text
        .lines()
        .find_map(|line| match serde_json::from_str(line) {
            Ok(ScanRecord::Plugin(plugin)) => Some(plugin.plugin_id),
            _ => None,
        })
        .with_context(|| format!("{} has no plugin: {text}", module.display()))?;
    let is_vst3 = module.extension().is_some_and(|extension| extension == "vst3");
    let format = if is_vst3 { PluginFormat::Vst3 } else { PluginFormat::Vst2 };
    Ok(PluginRef { module: module.to_owned(), format, plugin_id })
}

/// Opens a plugin in a new process.
pub(super) fn open<'a>(hosts: &'a PluginHosts, plugin: &PluginRef) -> anyhow::Result<PluginHost<'a>> {
    let options = OpenOptions {
        sample_rate_hz: RATE_HZ,
        block_frames_max: BLOCK_FRAMES,
        is_real_time: false,
        can_show_window: false,
        is_cancelled: &|| false,
    };
    PluginHost::open(hosts, plugin, options).with_context(|| plugin.module.display().to_string())
}
