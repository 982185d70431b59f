//! Finds plugin modules and scans them for plugins.
//!
//! No module is loaded into this process: `helper.rs` starts a `songfoundry-bridge` process for
//! each module.

mod helper;
mod names;
mod printed;
mod progress;
mod scan_cache;
mod scanner;
mod search;
mod store;
mod version;

pub use scan_cache::Plugins;
pub(super) use scan_cache::{ModuleRequest, SCAN_CACHE_SECS};
pub(crate) use scanner::Scan;
pub(super) use scanner::{FoundPlugin, UnclassifiedModule};
pub(super) use search::{Limits, Remark, search};
pub(crate) use version::version_of as module_version;
