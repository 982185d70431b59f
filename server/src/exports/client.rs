//! The client that waits for an export.

use crate::permits::Caller;
use crate::tasks::TaskContext;

/// Who waits for an export.
#[derive(Clone, Copy)]
pub(super) enum Client<'a> {
    /// A background task, which stores the result of the export.
    Task(&'a TaskContext),
    /// The caller of a request that is answered directly.
    Caller(&'a Caller),
}

impl Client<'_> {
    /// Whether the client still waits.
    pub(super) fn is_waiting(self) -> bool {
        match self {
            Self::Task(task) => !task.is_cancelled(),
            Self::Caller(caller) => !caller.has_disconnected(),
        }
    }

    /// Reports the progress, 0 to 1. Returns whether the client still waits.
    pub(super) fn report(self, progress: f64, step: &str) -> bool {
        if let Self::Task(task) = self {
            task.report_progress(progress, step);
        }
        self.is_waiting()
    }
}
