//! Progress of a scan that runs in this process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far a scan is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::plugins) struct ScanStatus {
    /// Number of modules that the search found.
    pub(in crate::plugins) modules: usize,
    /// Number of modules whose scan has ended, or that need none.
    pub(in crate::plugins) done: usize,
    /// Modules that are being scanned. The first has been scanned for the longest time.
    pub(in crate::plugins) current: Vec<PathBuf>,
}

/// The status of the scan that runs now.
#[derive(Debug, Default)]
pub(super) struct ScanProgress(Mutex<ScanStatus>);

impl ScanProgress {
    /// Begins a scan of this number of modules.
    pub(super) fn begin(&self, modules: usize) {
        *self.lock() = ScanStatus { modules, ..ScanStatus::default() };
    }

    /// Ends the scan.
    pub(super) fn end(&self) {
        *self.lock() = ScanStatus::default();
    }

    /// Counts modules that need no scan.
    pub(super) fn skip(&self, modules: usize) {
        self.lock().done += modules;
    }

    /// Runs the scan of one module.
    pub(super) fn during<T>(&self, module: &Path, scan: impl FnOnce() -> T) -> T {
        self.lock().current.push(module.to_owned());
        let result = scan();
        let mut status = self.lock();
        status.current.retain(|path| path != module);
        status.done += 1;
        result
    }

    /// Returns the status of the running scan. Without one, the number of modules is 0.
    pub(super) fn status(&self) -> ScanStatus {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, ScanStatus> {
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
        assert_eq!(progress.status().in_words(), "Searching for modules");
        progress.begin(4);
        progress.skip(1);
        let status = progress.during(Path::new("/a/One.vst3"), || {
            progress.during(Path::new("/a/Two.vst3"), || progress.status())
        });
        assert_eq!(status.in_words(), "1 of 4 modules, now One.vst3");
        assert_eq!(progress.status().in_words(), "3 of 4 modules");
        assert_eq!(progress.status().fraction().to_bits(), 0.75_f64.to_bits());
        progress.end();
        assert_eq!(progress.status(), ScanStatus::default());
    }
}
