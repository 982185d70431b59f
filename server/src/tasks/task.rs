//! Tasks as the API shows them.

use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::raw_json;

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Waits for a thread.
    Queued,
    /// Is being worked on.
    Running,
    /// Done; `result` holds the outcome.
    Succeeded,
    /// Went wrong; `error` says how.
    Failed,
    /// Stopped on request.
    Cancelled,
}

impl TaskState {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(super) fn from_stored(text: &str) -> Self {
        match text {
            "queued" => Self::Queued,
            "running" => Self::Running,
            "succeeded" => Self::Succeeded,
            "cancelled" => Self::Cancelled,
            _ => Self::Failed,
        }
    }

    /// Whether nothing will change any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// A task as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Task {
    /// Id, a UUID.
    pub id: String,
    /// Kind of task, such as `render`.
    pub kind: String,
    /// State.
    pub state: TaskState,
    /// Progress, 0 to 1.
    pub progress: f64,
    /// Current step, for people; may be empty.
    pub message: String,
    /// When it was started, RFC 3339.
    pub created_at: String,
    /// When its first attempt began, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    pub finished_at: Option<String>,
    /// Result: the body that the direct request would answer.
    #[serde(serialize_with = "raw_json::serialize_optional")]
    #[schema(value_type = Option<Value>)]
    pub result: Option<JsonText>,
    /// The problem (`type`, `title`, `status`, `detail`, `code`) that made it fail.
    pub error: Option<Value>,
}

/// A task that continues the work of the request.
#[derive(Debug, Serialize, ToSchema)]
pub struct StartedTask {
    /// Its id; see `/tasks/{id}`.
    pub task_id: String,
}
