//! Kinds of tasks. Each slice defines its kinds as constants, and `state.rs` lists all of them.

use schemas::json::JsonText;
use serde_json::Value;

use super::context::TaskContext;
use crate::error::ApiResult;
use crate::state::AppState;
use crate::storage::Blobs;

/// A kind of work that can be a task.
#[derive(Debug)]
pub(crate) struct TaskKind {
    /// Name of the kind in the API.
    pub(crate) name: &'static str,
    /// Turns the input into the result, on a thread that may block. It may be interrupted at any
    /// point and run again from the start.
    pub(crate) run: fn(&AppState, &TaskContext, Value) -> ApiResult<JsonText>,
    /// Removes the files that the input refers to, if the task ends while no attempt runs. Blocks.
    /// `None` if tasks of this kind have no files.
    pub(crate) discard: Option<fn(&Blobs, Value) -> ApiResult<()>>,
}

impl TaskKind {
    /// Whether tasks of this kind have files of which the user may have no other copy. Such a task
    /// is claimed again after a restart, even on a desktop.
    pub(crate) fn keeps_files(&self) -> bool {
        self.discard.is_some()
    }
}

/// All kinds of tasks that this version of the service has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kinds(pub(crate) &'static [&'static TaskKind]);

impl Kinds {
    /// Returns the kind with this name.
    pub(super) fn find(self, name: &str) -> Option<&'static TaskKind> {
        self.0.iter().find(|kind| kind.name == name).copied()
    }

    /// Returns the names of the kinds whose tasks have files.
    pub(super) fn names_with_files(self) -> Vec<&'static str> {
        self.0.iter().filter(|kind| kind.keeps_files()).map(|kind| kind.name).collect()
    }
}
