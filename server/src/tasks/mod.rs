//! Background tasks: started by any slice, followed and cancelled through `/tasks`.
//!
//! A task is data: a kind of work (`kind.rs`) and its input. A slice starts one with
//! [`Tasks::start`]. A thread of any process runs the kind's function, which reports through its
//! [`TaskContext`]. It returns the task's `result`, or the error that a direct request would get.
//!
//! Each claim of a task is an *attempt* with a number. An attempt sends heartbeats; if they stop,
//! the task is offered again. Only the attempt whose number is in the database can end the task, so
//! a task has exactly one outcome.

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
pub(crate) use kind::{Kind, Kinds};
#[cfg(test)]
pub(crate) use runner::Queue;
pub use service::Tasks;
pub(crate) use store::{stored_bytes, unfinished_inputs};
pub use task::{StartedTask, Task, TaskState};

use crate::db::Db;
use crate::error::ApiError;
use crate::state::AppState;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(verbs::list))
        .routes(routes!(verbs::read, verbs::cancel))
        .routes(routes!(events::events))
}

/// Bytes of the inputs and results of tasks, by user id. They count towards the quota of projects.
///
/// # Errors
/// If the query fails.
pub(crate) async fn stored_bytes_of_all(db: &Db) -> Result<HashMap<String, u64>, ApiError> {
    Ok(store::stored_bytes_of_all(db).await?.into_iter().collect())
}

#[cfg(test)]
pub(crate) mod tests;
