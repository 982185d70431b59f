//! Progress of a scan that runs in this process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Progress of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::plugins) struct ScanStatus {
    /// Number of modules that the search found.
    pub(in crate::plugins) modules: usize,
    /// Number of modules whose scan has ended, or that need no scan.
    pub(in crate::plugins) done: usize,
    /// Modules that are being scanned. The first has been scanned for the longest time.
    pub(in crate::plugins) current: Vec<PathBuf>,
}

/// The status of the running scan; `None` if no scan runs.
#[derive(Debug, Default)]
pub(super) struct ScanProgress(Mutex<Option<ScanStatus>>);

impl ScanProgress {
    /// Begins a scan, which first searches for modules.
    pub(super) fn begin(&self) {
        *self.lock() = Some(ScanStatus::default());
    }

    /// Ends the scan.
    pub(super) fn end(&self) {
        *self.lock() = None;
    }

    /// Sets the number of modules that the search found.
    pub(super) fn set_modules(&self, modules: usize) {
        self.update(|status| status.modules = modules);
    }

    /// Counts modules that need no scan as done.
    pub(super) fn skip(&self, modules: usize) {
        self.update(|status| status.done += modules);
    }

    /// Runs the scan of one module, and counts the module as done afterwards.
    pub(super) fn during<T>(&self, module: &Path, scan: impl FnOnce() -> T) -> T {
        self.update(|status| status.current.push(module.to_owned()));
        let result = scan();
        self.update(|status| {
            status.current.retain(|path| path != module);
            status.done += 1;
        });
        result
    }

    /// Returns the status of the running scan.
    pub(super) fn status(&self) -> Option<ScanStatus> {
        self.lock().clone()
    }

    fn update(&self, change: impl FnOnce(&mut ScanStatus)) {
        if let Some(status) = self.lock().as_mut() {
            change(status);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<ScanStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScanStatus {
    /// Returns the completed fraction, from 0 to 1.
    pub(in crate::plugins) fn fraction(&self) -> f64 {
        self.done as f64 / self.modules.max(1) as f64
    }

    /// Describes the status, such as `3 of 40 modules, now Foo.vst3`.
    pub(in crate::plugins) fn in_words(&self) -> String {
        if self.modules == 0 {
            return "Searching for modules".to_owned();
        }
        let name = self.current.first().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
        let current = name.map_or_else(String::new, |name| format!(", now {name}"));
        format!("{} of {} modules{current}", self.done, self.modules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_names_the_module_that_has_been_scanned_for_the_longest_time() {
        let progress = ScanProgress::default();
        assert_eq!(progress.status(), None);
        progress.begin();
        let in_words = || progress.status().map(|status| status.in_words());
        assert_eq!(in_words().as_deref(), Some("Searching for modules"));
        progress.set_modules(4);
        progress.skip(1);
        let during =
            progress.during(Path::new("/a/One.vst3"), || progress.during(Path::new("/a/Two.vst3"), in_words));
        assert_eq!(during.as_deref(), Some("1 of 4 modules, now One.vst3"));
        assert_eq!(in_words().as_deref(), Some("3 of 4 modules"));
        assert_eq!(progress.status().map(|status| status.fraction()), Some(0.75));
        progress.end();
        assert_eq!(progress.status(), None);
    }
}
