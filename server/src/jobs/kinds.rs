//! What kinds of tasks there are. A slice brings a kind as a constant, and it is listed in
//! [`KINDS`].

use schemas::json::JsonText;
use serde_json::Value;

use crate::blobs::Blobs;
use crate::error::ApiResult;
use crate::state::AppState;
use crate::tasks::TaskContext;
use crate::{audio, multitrack, plugins};

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

/// Every kind.
const KINDS: &[&Kind] = &[
    &plugins::RENDER,
    &audio::ANALYSIS,
    &audio::UPLOAD,
    &multitrack::MIXDOWN,
    &multitrack::STEMS,
    &multitrack::FREEZE,
    #[cfg(test)]
    &crate::tasks::tests::CLOSURE,
];

/// The kind of this name.
pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name).copied()
}
