//! Tasks as they appear in the API.

use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::raw_json;

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// The task waits for a thread.
    Queued,
    /// The task is running.
    Running,
    /// The task has succeeded. `result` has its result.
    Succeeded,
    /// The task has failed. `error` has the reason.
    Failed,
    /// The task was stopped on request.
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

    /// Whether the task has ended, so its state will not change any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// A background task.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Task {
    /// Id of the task, a UUID.
    pub id: String,
    /// Kind of task, such as `render`.
    pub kind: String,
    /// State of the task.
    pub state: TaskState,
    /// Progress of the task, from 0 to 1.
    pub progress: f64,
    /// Text for users about the current step; may be empty.
    pub message: String,
    /// Time when the task was created, RFC 3339.
    pub created_at: String,
    /// Time when the first attempt started, RFC 3339; null before that.
    pub started_at: Option<String>,
    /// Time when the task ended, RFC 3339; null before that.
    pub finished_at: Option<String>,
    /// Result of the task: the body of the answer that a direct request would get. Null unless the
    /// task has succeeded.
    #[serde(serialize_with = "raw_json::serialize_optional")]
    #[schema(value_type = Option<Value>)]
    pub result: Option<JsonText>,
    /// Problem that made the task fail, with `type`, `title`, `status`, `detail` and `code`. Null
    /// unless the task has failed.
    pub error: Option<Value>,
}

/// The task that does the work of the request.
#[derive(Debug, Serialize, ToSchema)]
pub struct StartedTask {
    /// Id of the task, for `/tasks/{id}`.
    pub task_id: String,
}
