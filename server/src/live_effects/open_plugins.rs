//! Counts the plugins of each account that process in real time, and their processes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::PluginsConfig;

/// Maximum number of processes for each plugin of the limits: that of a plugin, that of one which
/// it replaces and which still fades out, and one that is ending.
const PROCESSES_PER_PLUGIN: usize = 3;

/// The numbers of plugins and processes by account.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenPlugins(Arc<Mutex<HashMap<String, Counts>>>);

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    plugins: usize,
    processes: usize,
}

/// A plugin, which counts until this value is dropped.
#[derive(Debug)]
pub(super) struct OpenPlugin {
    plugins: OpenPlugins,
    user_id: String,
}

/// A process of a plugin, which counts until this value is dropped. A plugin that has left its
/// chain does not count, but its process takes a while to end.
#[derive(Debug)]
pub(super) struct OpenProcess {
    plugins: OpenPlugins,
    user_id: String,
}

impl OpenPlugins {
    /// Counts a new plugin of an account.
    ///
    /// # Errors
    /// A text with the limit, if the account or the service has too many plugins or processes.
    pub(super) fn open(&self, user_id: &str, config: &PluginsConfig) -> Result<OpenPlugin, String> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own_counts = counts.get(user_id).copied().unwrap_or_default();
        let (all, own) = (counts.values().map(|counts| counts.plugins).sum::<usize>(), own_counts.plugins);
        if own >= config.live_per_user {
            return Err(format!(
                "the account runs {own} plugins in real time, the maximum (SF_LIVE_PLUGINS_PER_USER)"
            ));
        }
        if all >= config.live_max {
            return Err(format!(
                "the service runs {all} plugins in real time, the maximum (SF_LIVE_PLUGINS_MAX)"
            ));
        }
        let processes = counts.values().map(|counts| counts.processes).sum::<usize>();
        if own_counts.processes >= config.live_per_user.saturating_mul(PROCESSES_PER_PLUGIN)
            || processes >= config.live_max.saturating_mul(PROCESSES_PER_PLUGIN)
        {
            return Err("too many processes of earlier plugins have not ended yet; try again soon".to_owned());
        }
        counts.entry(user_id.to_owned()).or_default().plugins += 1;
        Ok(OpenPlugin { plugins: self.clone(), user_id: user_id.to_owned() })
    }

    /// Counts a new process of a plugin of an account.
    pub(super) fn start_process(&self, user_id: &str) -> OpenProcess {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.entry(user_id.to_owned()).or_default().processes += 1;
        OpenProcess { plugins: self.clone(), user_id: user_id.to_owned() }
    }

    fn reduce(&self, user_id: &str, reduce: impl FnOnce(&mut Counts)) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = counts.get_mut(user_id) {
            reduce(own);
            if own.plugins == 0 && own.processes == 0 {
                counts.remove(user_id);
            }
        }
    }
}

impl Drop for OpenPlugin {
    fn drop(&mut self) {
        self.plugins.reduce(&self.user_id, |counts| counts.plugins -= 1);
    }
}

impl Drop for OpenProcess {
    fn drop(&mut self) {
        self.plugins.reduce(&self.user_id, |counts| counts.processes -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};

    #[test]
    fn an_account_and_the_service_have_limits() {
        let source = Source::from_pairs([
            ("SF_LIVE_PLUGINS_MAX", "3".to_owned()),
            ("SF_LIVE_PLUGINS_PER_USER", "2".to_owned()),
        ]);
        let config = Config::load(&source).expect("valid settings").plugins;
        let plugins = OpenPlugins::default();
        let mut open: Vec<_> =
            (0..2).map(|_| plugins.open("ada", &config).expect("below the limit")).collect();
        let error = plugins.open("ada", &config).expect_err("too many");
        assert!(error.contains("2 plugins") && error.contains("SF_LIVE_PLUGINS_PER_USER"), "{error}");
        open.push(plugins.open("bob", &config).expect("another account"));
        let error = plugins.open("bob", &config).expect_err("too many");
        assert!(error.contains("3 plugins") && error.contains("SF_LIVE_PLUGINS_MAX"), "{error}");
        open.remove(0);
        open.push(plugins.open("bob", &config).expect("one has ended"));
        open.clear();
        // Plugins that leave at once leave processes, which count until they have ended.
        let mut processes: Vec<_> = (0..6).map(|_| plugins.start_process("ada")).collect();
        let error = plugins.open("ada", &config).expect_err("too many processes");
        assert!(error.contains("not ended yet"), "{error}");
        drop(plugins.open("bob", &config).expect("another account"));
        processes.extend((0..3).map(|_| plugins.start_process("bob")));
        plugins.open("bob", &config).expect_err("too many processes of the service");
        processes.truncate(5);
        drop(plugins.open("ada", &config).expect("one has ended"));
        processes.clear();
        assert!(plugins.0.lock().expect("not poisoned").is_empty());
    }
}
