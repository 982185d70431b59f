//! Background tasks. Any slice can start one; users follow and cancel them through `/tasks`.
//!
//! A task consists of its kind of work (`kind.rs`) and its input. A slice starts a task with
//! [`Tasks::start`]. A thread of any process then runs the function of the kind, which reports its
//! progress through its [`TaskContext`]. The function returns the task's `result`, or the error
//! that a direct request would get.
//!
//! Each claim of a task is an *attempt* with a number. The attempt sends heartbeats. If they stop,
//! the task is offered again. Only the attempt whose number is in the database can end the task.
//! Therefore a task has exactly one outcome.

mod attempt;
mod context;
mod delivery;
mod events;
mod followed;
mod kind;
mod queries;
mod runner;
mod running;
mod service;
mod store;
mod task;
mod upkeep;
mod verbs;

use std::collections::HashMap;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use context::TaskContext;
pub(crate) use kind::{Kinds, TaskKind};
#[cfg(test)]
pub(crate) use runner::Queue;
pub use service::Tasks;
pub(crate) use store::{read_unfinished_inputs, stored_bytes};
pub use task::{StartedTask, Task, TaskState};

use crate::db::Db;
use crate::error::ApiError;
use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(verbs::list))
        .routes(routes!(verbs::read, verbs::cancel))
        .routes(routes!(events::events))
}

/// Returns the total size of the inputs and results of tasks in bytes, by user id. It counts
/// towards the quota of projects.
///
/// # Errors
/// The query fails.
pub(crate) async fn read_stored_bytes_of_all(db: &Db) -> Result<HashMap<String, u64>, ApiError> {
    Ok(store::read_stored_bytes_of_all(db).await?.into_iter().collect())
}

#[cfg(test)]
pub(crate) mod tests;
