//! A list of the helper processes that this process has started. Administrators can see and end
//! them.
//!
//! The code that starts a helper keeps it registered until the helper ends, and checks whether an
//! administrator has requested its end. No helper is ended by its process id, because the operating
//! system may have reused the id for another process.
//!
//! [`program`] starts this program again as a helper, and [`limits`] limits such a process.
//! [`bridge`] starts the helper for plugins.

pub(crate) mod bridge;
pub(crate) mod limits;
pub(crate) mod program;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock;

/// A helper process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Helper {
    /// Id of the helper within this process. It is never reused.
    pub id: u64,
    /// Kind of helper: `decoder`, `encoder`, `plugin scan`, `plugin`, `plugin window` or `folder
    /// dialog`.
    pub kind: &'static str,
    /// Process id.
    pub pid: u32,
    /// When the helper was started, RFC 3339.
    pub started_at: String,
    /// Whether the helper was requested to end.
    pub ending: bool,
}

#[derive(Debug, Default)]
struct Inner {
    last_id: AtomicU64,
    running: Mutex<BTreeMap<u64, (Helper, Arc<AtomicBool>)>>,
}

impl Inner {
    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, (Helper, Arc<AtomicBool>)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All running helper processes of this process.
#[derive(Debug, Clone, Default)]
pub struct Helpers(Arc<Inner>);

impl Helpers {
    /// Lists a helper until the returned registration is dropped.
    pub(crate) fn register(&self, kind: &'static str, pid: u32) -> HelperRegistration {
        let id = self.0.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let helper = Helper { id, kind, pid, started_at: clock::now_text(), ending: false };
        let stop = Arc::new(AtomicBool::new(false));
        self.0.running().insert(id, (helper, Arc::clone(&stop)));
        HelperRegistration { helpers: self.clone(), id, stop }
    }

    /// Returns the helpers that run now, the oldest first.
    pub(crate) fn list(&self) -> Vec<Helper> {
        let with_ending_state = |(helper, stop): &(Helper, Arc<AtomicBool>)| Helper {
            ending: stop.load(Ordering::Relaxed),
            ..helper.clone()
        };
        self.0.running().values().map(with_ending_state).collect()
    }

    /// Requests that a helper ends, and returns its description. Returns `None` if it does not run.
    pub(crate) fn end(&self, id: u64) -> Option<Helper> {
        let running = self.0.running();
        let (helper, stop) = running.get(&id)?;
        stop.store(true, Ordering::Relaxed);
        Some(Helper { ending: true, ..helper.clone() })
    }
}

/// The registration of a helper. Dropping it removes the helper from the list.
#[derive(Debug)]
pub(crate) struct HelperRegistration {
    helpers: Helpers,
    id: u64,
    stop: Arc<AtomicBool>,
}

impl HelperRegistration {
    /// Whether the code that started the helper must end it.
    pub(crate) fn is_to_end(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Drop for HelperRegistration {
    fn drop(&mut self) {
        self.helpers.0.running().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_is_listed_while_it_runs_and_can_be_requested_to_end() {
        let helpers = Helpers::default();
        let first = helpers.register("decoder", 7);
        let second = helpers.register("decoder", 8);
        assert_eq!(helpers.list().iter().map(|helper| helper.pid).collect::<Vec<_>>(), [7, 8]);
        let id = helpers.list()[1].id;
        assert!(helpers.end(id).is_some_and(|helper| helper.pid == 8 && helper.ending));
        assert!(second.is_to_end() && !first.is_to_end());
        assert_eq!(helpers.list().iter().map(|helper| helper.ending).collect::<Vec<_>>(), [false, true]);
        drop(second);
        assert_eq!(helpers.end(id), None);
        assert_eq!(helpers.list().len(), 1);
        drop(first);
        let third = helpers.register("decoder", 9);
        assert!(helpers.list()[0].id > id, "ids are not reused");
        drop(third);
    }
}
