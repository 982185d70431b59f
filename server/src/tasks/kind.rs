//! Kinds of tasks. A slice has its kinds as constants, which `state.rs` lists.

use schemas::json::JsonText;
use serde_json::Value;

use super::context::TaskContext;
use crate::error::ApiResult;
use crate::state::AppState;
use crate::storage::Blobs;

/// A kind of work that can be a task.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Name, as the API shows it.
    pub(crate) name: &'static str,
    /// Does it: on a thread that may block, for the task's owner, from its input to its result. It
    /// may be run again after it was cut off at any place.
    pub(crate) run: fn(&AppState, &TaskContext, Value) -> ApiResult<JsonText>,
    /// Removes the files that a task of this kind has beside the database, by its input, where the
    /// task ends while it waits. Blocks.
    pub(crate) discard: Option<fn(&Blobs, Value) -> ApiResult<()>>,
}

impl Kind {
    /// Whether a task of this kind has files of its own, which whoever started it may have nowhere
    /// else. It is taken up again after its process has ended, on a desktop too.
    pub(crate) fn keeps_files(&self) -> bool {
        self.discard.is_some()
    }
}

/// Every kind of task that this version knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kinds(pub(crate) &'static [&'static Kind]);

impl Kinds {
    /// The kind of this name.
    pub(super) fn find(self, name: &str) -> Option<&'static Kind> {
        self.0.iter().find(|kind| kind.name == name).copied()
    }

    /// Names of the kinds whose tasks have files of their own.
    pub(super) fn with_files(self) -> Vec<&'static str> {
        self.0.iter().filter(|kind| kind.keeps_files()).map(|kind| kind.name).collect()
    }
}
