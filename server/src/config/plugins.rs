//! Plugins: where they may lie, what looks into them, and how folders are chosen.

use std::path::PathBuf;

use super::{ConfigError, Environment, Source};

/// The plugin helper's name, without what the system adds to names of programs.
const BRIDGE: &str = "songfoundry-bridge";

/// Where plugins may lie, what looks into them, and how folders are chosen.
#[derive(Debug, Clone)]
pub struct PluginsConfig {
    /// Folders below which users may have plugins; `None`: everywhere.
    pub roots: Option<Vec<PathBuf>>,
    /// The program that loads plugins, so that the service does not.
    pub bridge: PathBuf,
    /// Longest time that looking into one module may take, in seconds.
    pub scan_max_secs: u64,
    /// A desktop's own program that shows folder dialogs.
    pub dialog_bridge: Option<PathBuf>,
    /// Longest time that a folder dialog stays open, in seconds.
    pub dialog_max_secs: u64,
}

pub(super) fn load(source: &Source, environment: Environment) -> Result<PluginsConfig, ConfigError> {
    let roots = match (source.folders("SF_PLUGIN_ROOTS")?, environment) {
        (None, Environment::Container) => Some(Vec::new()),
        (roots, _) => roots,
    };
    let bridge = source.text("SF_BRIDGE").0.map_or_else(beside_this_program, PathBuf::from);
    Ok(PluginsConfig {
        roots,
        bridge,
        scan_max_secs: source.whole("SF_PLUGIN_SCAN_MAX_SECS")?,
        dialog_bridge: source.text("SF_DIALOG_BRIDGE").0.map(PathBuf::from),
        dialog_max_secs: source.whole("SF_DIALOG_MAX_SECS")?,
    })
}

/// The helper that was installed together with this program; where that is unknown, the one in
/// `PATH`.
fn beside_this_program() -> PathBuf {
    let name = format!("{BRIDGE}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(&name)));
    beside.unwrap_or_else(|| PathBuf::from(name))
}
