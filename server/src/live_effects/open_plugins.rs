//! Counts the plugins of each account that process in real time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::PluginsConfig;

/// The number of plugins by account.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenPlugins(Arc<Mutex<HashMap<String, usize>>>);

/// A plugin, which counts until this value is dropped.
#[derive(Debug)]
pub(super) struct OpenPlugin {
    plugins: OpenPlugins,
    user_id: String,
}

impl OpenPlugins {
    /// Counts a new plugin of an account.
    ///
    /// # Errors
    /// A text with the limit, if the account or the service has too many plugins.
    pub(super) fn open(&self, user_id: &str, config: &PluginsConfig) -> Result<OpenPlugin, String> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, own) = (counts.values().sum::<usize>(), counts.get(user_id).copied().unwrap_or(0));
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
        counts.insert(user_id.to_owned(), own + 1);
        Ok(OpenPlugin { plugins: self.clone(), user_id: user_id.to_owned() })
    }
}

impl Drop for OpenPlugin {
    fn drop(&mut self) {
        let mut counts = self.plugins.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.user_id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.user_id);
            }
        }
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
        assert!(plugins.0.lock().expect("not poisoned").is_empty());
    }
}
