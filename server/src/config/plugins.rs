//! Settings of plugins: their folders, the helper that scans and hosts them, and folder dialogs.

use std::path::PathBuf;

use super::plugin_folders::usual_folders;
use super::{ConfigError, Environment, Source};

/// File name of the plugin helper, without the suffix of the operating system.
const BRIDGE: &str = "songfoundry-bridge";

/// Maximum of the default of `SF_PLUGIN_SCANS_MAX`. With more scans at a time, most of them would
/// wait for the disk.
const DEFAULT_SCANS_MAX: usize = 8;

/// Folders of plugins, the helper that scans and hosts them, and folder dialogs.
#[derive(Debug, Clone)]
pub struct PluginsConfig {
    /// Folders in which users may add plugin folders. `None` allows all folders.
    pub roots: Option<Vec<PathBuf>>,
    /// Folders that are suggested as plugin folders, even if they do not exist.
    pub suggested_dirs: Vec<PathBuf>,
    /// The plugin helper, which loads plugins outside the service's process.
    pub bridge: PathBuf,
    /// Maximum time for scanning one module, in seconds.
    pub scan_max_secs: u64,
    /// Maximum number of modules that this process scans at a time.
    pub scans_max: usize,
    /// Maximum time for one answer of a hosted plugin, in seconds.
    pub answer_max_secs: u64,
    /// Maximum memory of the process of a hosted plugin, in bytes.
    pub memory_max_bytes: u64,
    /// Maximum number of plugins that this process hosts at a time.
    pub hosts_max: u32,
    /// Maximum number of plugins that this process hosts for one user at a time.
    pub hosts_per_user: u32,
    /// Maximum number of plugins that process in real time in this process.
    pub live_max: usize,
    /// Maximum number of plugins that process in real time for one user in this process.
    pub live_per_user: usize,
    /// Maximum time of a plugin for a block in real time, in milliseconds; 0 means three quarters
    /// of the block, but at most 4.
    pub live_block_max_ms: u64,
    /// Maximum number of windows of plugins that this process shows at a time.
    pub windows_max: u32,
    /// Maximum number of windows of plugins that this process shows to one user at a time.
    pub windows_per_user: u32,
    /// Time without a client after which a window of a plugin is closed, in seconds.
    pub window_idle_secs: u64,
    /// A program of the desktop that shows folder dialogs.
    pub dialog_bridge: Option<PathBuf>,
    /// Maximum time for which a folder dialog stays open, in seconds.
    pub dialog_max_secs: u64,
}

pub(super) fn load(source: &Source, environment: Environment) -> Result<PluginsConfig, ConfigError> {
    let roots = match (source.folders("SF_PLUGIN_ROOTS")?, environment) {
        (None, Environment::Container) => Some(Vec::new()),
        (roots, _) => roots,
    };
    let suggested_dirs = match source.folders("SF_PLUGIN_SUGGESTED_DIRS")? {
        Some(dirs) => dirs,
        None => {
            let variable = |name: &str| std::env::var_os(name);
            usual_folders(std::env::consts::OS, dirs::home_dir().as_deref(), &variable)
        }
    };
    let scans_max = match source.integer("SF_PLUGIN_SCANS_MAX")? {
        0 => std::thread::available_parallelism().map_or(1, usize::from).min(DEFAULT_SCANS_MAX),
        modules => usize::try_from(modules).unwrap_or(1),
    };
    let count = |key| source.integer(key).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    let bridge = source.text("SF_BRIDGE").0.map_or_else(default_bridge, PathBuf::from);
    Ok(PluginsConfig {
        roots,
        suggested_dirs,
        bridge,
        scan_max_secs: source.integer("SF_PLUGIN_SCAN_MAX_SECS")?,
        scans_max,
        answer_max_secs: source.integer("SF_PLUGIN_ANSWER_MAX_SECS")?,
        memory_max_bytes: source.integer("SF_PLUGIN_MEMORY_MAX_BYTES")?,
        hosts_max: count("SF_PLUGIN_HOSTS_MAX")?,
        hosts_per_user: count("SF_PLUGIN_HOSTS_PER_USER")?,
        live_max: count("SF_LIVE_PLUGINS_MAX")? as usize,
        live_per_user: count("SF_LIVE_PLUGINS_PER_USER")? as usize,
        live_block_max_ms: source.integer("SF_LIVE_PLUGIN_BLOCK_MAX_MS")?,
        windows_max: count("SF_PLUGIN_WINDOWS_MAX")?,
        windows_per_user: count("SF_PLUGIN_WINDOWS_PER_USER")?,
        window_idle_secs: source.integer("SF_PLUGIN_WINDOW_IDLE_SECS")?,
        dialog_bridge: source.text("SF_DIALOG_BRIDGE").0.map(PathBuf::from),
        dialog_max_secs: source.integer("SF_DIALOG_MAX_SECS")?,
    })
}

/// Returns the path of the helper next to this program, or its name, which is searched in `PATH`,
/// if this program's folder is unknown.
fn default_bridge() -> PathBuf {
    let name = format!("{BRIDGE}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(&name)));
    beside.unwrap_or_else(|| PathBuf::from(name))
}
