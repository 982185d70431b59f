//! Background tasks: started by any slice, followed and cancelled through `/tasks`.
//!
//! A task is data: a kind of work (`jobs/kinds.rs`) and its input. A slice starts one with
//! [`Tasks::start`]; some thread of some process runs the kind's function, which reports through
//! its [`TaskContext`] and returns the task's `result`, or the error that a request would have been
//! answered with.
//!
//! Each time a task is taken up is an *attempt* with a number of its own. An attempt shows that it
//! lives by its beats; when they stay away the task is offered again, and whatever the old attempt
//! still does, only the one whose number stands in the database can end the task. So a task has
//! exactly one outcome.

mod attempt;
mod events;
mod queries;
mod running;
mod service;
mod store;
mod upkeep;
mod verbs;

use std::collections::HashMap;

use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use attempt::TaskContext;
pub use service::Tasks;
pub(crate) use store::unfinished_inputs;

use crate::db::Db;
use crate::error::ApiError;
use crate::raw_json;
use crate::state::AppState;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(verbs::list))
        .routes(routes!(verbs::read, verbs::cancel))
        .routes(routes!(events::events))
}

/// Where a task stands.
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

    fn from_stored(text: &str) -> Self {
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
    /// What kind of work it is, such as `render`.
    pub kind: String,
    /// Where it stands.
    pub state: TaskState,
    /// Share that is done, 0 to 1.
    pub progress: f64,
    /// What it is doing, for a person; may be empty.
    pub message: String,
    /// When it was started, RFC 3339.
    pub created_at: String,
    /// When a thread first took it up, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    pub finished_at: Option<String>,
    /// What came out of it: what the same request would have answered directly.
    #[serde(serialize_with = "raw_json::serialize_optional")]
    #[schema(value_type = Option<Value>)]
    pub result: Option<JsonText>,
    /// The problem (`type`, `title`, `status`, `detail`, `code`) that made it fail.
    pub error: Option<Value>,
}

/// A task that was started in place of a direct answer.
#[derive(Debug, Serialize, ToSchema)]
pub struct StartedTask {
    /// Its id; see `/tasks/{id}`.
    pub task_id: String,
}

/// Bytes of the inputs and results of a user's tasks, which count for the quota of projects.
///
/// # Errors
/// When the database refuses.
pub(crate) async fn stored_bytes(
    connection: &mut sqlx::AnyConnection,
    owner_id: &str,
) -> Result<u64, sqlx::Error> {
    store::stored_bytes(connection, owner_id).await
}

/// The same of all users who have tasks, by their ids.
///
/// # Errors
/// When the database refuses.
pub(crate) async fn stored_bytes_of_all(db: &Db) -> Result<HashMap<String, u64>, ApiError> {
    Ok(store::stored_bytes_of_all(db).await?.into_iter().collect())
}

#[cfg(test)]
pub(crate) mod tests;
