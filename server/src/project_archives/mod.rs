//! Code for bundles and DAWproject files. Both are zip archives of a project and its audio files.
//!
//! An import or export of many audio files takes long, so they may run at the same time, one per
//! user. Documents need much memory, so only few are read or written at the same time: an import or
//! an export waits for a permit ([`Import::with_document`], [`Export::with_document`]), and
//! afterwards keeps only lists of files. Each audio file of an import waits for a permit, as all
//! files that are decoded do. So archives with thousands of files do not block the archives and
//! uploads of other users.

mod export;
mod import;
mod upload;

pub(crate) use export::{ArchiveStart, Export, compressed_entry_options};
pub(crate) use import::{Import, created};
pub(crate) use upload::receive;

use crate::permits::{Bounds, Permits, processors};

/// Maximum number of imports, and of exports, that run at the same time.
const ARCHIVES_MAX: u32 = 32;

/// Folder of the storage for temporary archives.
const FOLDER: &str = "bundles";

/// Limits on the work with archives. Imports and exports do not wait for each other.
#[derive(Debug)]
pub(crate) struct ArchiveLimits {
    pub(crate) imports: Permits,
    pub(crate) exports: Permits,
    /// Permits to read a document during an import.
    reading: Permits,
    /// Permits to write a document during an export.
    writing: Permits,
}

impl ArchiveLimits {
    /// Returns the limits. At most `waiting_max` imports, and as many exports, wait.
    pub(crate) fn new(waiting_max: u64) -> Self {
        let archives = |work_name| {
            let bounds = Bounds {
                running: ARCHIVES_MAX,
                min_weight: 1,
                per_user: 1,
                waiting_weight_max: u64::MAX,
                waiting_requests_max: waiting_max,
                reserve_for_idle_users: 0,
            };
            Permits::weighted(work_name, bounds).with_low_priority()
        };
        let documents = |work_name| Permits::counted(work_name, processors(), u64::MAX);
        Self {
            imports: archives("imports of projects"),
            exports: archives("exports of projects"),
            reading: documents("reading imported projects"),
            writing: documents("writing exported projects"),
        }
    }

    /// Returns the number of running imports.
    #[cfg(test)]
    pub(crate) fn running_imports(&self) -> usize {
        self.imports.running()
    }

    /// Waits until all imports have ended.
    #[cfg(test)]
    pub(crate) async fn imports_have_ended(&self) {
        self.imports.run_weighted(u64::MAX, |_| Ok(())).await.expect("runs");
    }
}
