//! Modules with plugins: which files they are, and what is in them.
//!
//! No module is ever loaded into this process: `helper.rs` lets `songfoundry-bridge` do it, a
//! process for each module.

mod helper;
mod kept;
mod names;
mod scanner;
mod search;
mod store;
mod version;

pub use kept::Plugins;
pub(super) use kept::SCAN_CACHE_SECS;
pub(crate) use scanner::Scan;
pub(super) use scanner::{FoundPlugin, Unclassified};
pub(super) use search::{Limits, Remark, search};
