//! Hosts plugins. Each plugin runs in a separate process (`songfoundry-bridge host`), which is
//! started for one task, or for an effect of a real-time chain, and ends with it. The slice
//! `plugins` finds plugins; this slice runs them.
//!
//! A plugin may crash, hang or send invalid data. Each of these is an ordinary [`HostError`]. When
//! the [`PluginHost`] is dropped, the processes of the plugin have ended, and its socket and its
//! folder have been removed.

#[cfg(unix)]
mod connection;
mod error;
mod formats;
#[cfg(unix)]
mod helper;
#[cfg(not(unix))]
#[path = "no_helper.rs"]
mod helper;
mod host;
#[cfg(target_os = "linux")]
mod live_link;
#[cfg(not(target_os = "linux"))]
#[path = "no_live_link.rs"]
mod live_link;
mod problems;

use std::path::PathBuf;
use std::time::Duration;

pub use error::HostError;
pub use host::{Audio, OpenOptions, PluginHost};
pub use live_link::LiveLink;
pub(crate) use problems::HostProblems;
use songfoundry_bridge_protocol::PluginFormat;
use tokio::runtime::Handle;

use crate::config::Config;
use crate::helper_processes::Helpers;
use crate::helper_processes::bridge::Bridge;
use crate::permits::{Bounds, Permits};
use formats::Formats;

/// Folder in the storage folder for the home folders of plugins.
const HOMES_FOLDER: &str = "plugin-homes";

/// A plugin that a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginRef {
    /// Path of the plugin's module.
    pub module: PathBuf,
    /// Format of the module.
    pub format: PluginFormat,
    /// Id of the plugin in its module.
    pub plugin_id: String,
}

/// The program that hosts plugins, and the limits on the plugins that it hosts.
#[derive(Debug)]
pub struct PluginHosts {
    bridge: Bridge,
    formats: Formats,
    answer_max: Duration,
    /// Maximum memory of the process of a plugin, in bytes.
    memory_max_bytes: u64,
    /// Folder in which each hosted plugin gets a home folder.
    homes: PathBuf,
    permits: Permits,
}

impl PluginHosts {
    /// Makes a host of plugins. Deletes home folders that remain from a killed process.
    #[must_use]
    pub fn new(config: &Config, helpers: &Helpers) -> Self {
        let plugins = &config.plugins;
        let bounds = Bounds {
            running: plugins.hosts_max,
            min_weight: 1,
            per_user: plugins.hosts_per_user.min(plugins.hosts_max),
            // The operations that host a plugin limit how many of them wait.
            waiting_weight_max: u64::MAX,
            waiting_requests_max: u64::MAX,
            reserve_for_idle_users: 0,
        };
        let homes = config.storage.dir.join(HOMES_FOLDER);
        if let Err(error) = std::fs::remove_dir_all(&homes)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(path = ?homes, %error, "cannot delete the old home folders of plugins");
        }
        Self {
            bridge: Bridge::new(plugins.bridge.clone(), helpers.clone()),
            formats: Formats::default(),
            answer_max: Duration::from_secs(plugins.answer_max_secs),
            memory_max_bytes: plugins.memory_max_bytes,
            homes,
            permits: Permits::weighted("hosted plugins", bounds),
        }
    }

    /// Waits for a permit to host a plugin for a user, and then runs `work`, which hosts one
    /// plugin. Blocks.
    ///
    /// # Errors
    /// [`HostError::Cancelled`] if `is_cancelled` returns true while the plugin waits.
    pub(crate) fn run<T>(
        &self,
        runtime: &Handle,
        user_id: &str,
        is_cancelled: &dyn Fn() -> bool,
        part: impl FnOnce() -> T,
    ) -> Result<T, HostError> {
        let permit_result = self.permits.run_part_of(runtime, user_id, is_cancelled, part);
        permit_result.map_err(std::io::Error::other)?.ok_or(HostError::Cancelled)
    }

    /// Takes all permits, so that no further plugin is hosted until the result is dropped.
    #[cfg(test)]
    pub(crate) fn take_all(&self) -> impl Sized + use<> {
        self.permits.take_all()
    }

    /// Returns the formats that the program can host.
    ///
    /// # Errors
    /// [`HostError::NotStarted`] if the program cannot be started.
    pub async fn formats(&self) -> Result<Vec<PluginFormat>, HostError> {
        self.formats.get(&self.bridge).await
    }

    /// Checks that the program can host a format.
    ///
    /// # Errors
    /// [`HostError::NotStarted`] or [`HostError::UnsupportedFormat`].
    pub async fn check_format(&self, format: PluginFormat) -> Result<(), HostError> {
        match self.formats().await?.contains(&format) {
            true => Ok(()),
            false => Err(HostError::UnsupportedFormat(format)),
        }
    }
}

#[cfg(all(test, unix))]
pub(crate) mod scripted;
#[cfg(all(test, unix))]
mod tests;
