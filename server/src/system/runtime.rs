//! `GET /system/runtime`.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::CurrentUser;
use crate::config::{BlobStore, Environment};
use crate::db::{self, DatabaseKind};
use crate::error::ApiResult;
use crate::extract::Json;
use crate::state::AppState;

/// The environment of this process.
#[derive(Debug, Serialize, ToSchema)]
pub struct Runtime {
    /// Kind of deployment.
    pub environment: Environment,
    /// Name of the operating system.
    pub os: &'static str,
    /// Architecture of the processor.
    pub architecture: &'static str,
    /// Number of processors that this process may use.
    pub processors: usize,
    /// Time when this process started, RFC 3339.
    pub started_at: String,
    /// Time since this process started, in seconds.
    pub uptime_secs: u64,
    /// Kind of database: `sqlite` or `postgresql`.
    pub database: &'static str,
    /// Schema version of the database.
    pub database_form: i64,
    /// Kind of file storage: `folder`, `shared_folder` or `s3`.
    pub blob_store: &'static str,
    /// Runner of tasks: `threads` of this process, or a `queue` that several processes share.
    pub tasks: &'static str,
    /// Number of tasks that this process runs at a time (`SF_TASK_WORKERS`); 0 if only workers run
    /// them.
    pub task_workers: usize,
}

/// Describes the environment of this process.
#[utoipa::path(get, path = "/system/runtime", tag = "system",
    responses((status = 200, body = Runtime)))]
pub(super) async fn runtime(State(state): State<AppState>, _: CurrentUser) -> ApiResult<Json<Runtime>> {
    let kind = db::kind(&state.db);
    let runs_tasks = kind == DatabaseKind::Sqlite || state.config.tasks.serves_tasks;
    Ok(Json(Runtime {
        environment: state.config.environment,
        os: std::env::consts::OS,
        architecture: std::env::consts::ARCH,
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        started_at: state.start_time.timestamp.clone(),
        uptime_secs: state.start_time.instant.elapsed().as_secs(),
        database: match kind {
            DatabaseKind::Sqlite => "sqlite",
            DatabaseKind::Postgres => "postgresql",
        },
        database_form: db::schema_version(&state.db).await?,
        blob_store: match state.config.storage.blobs {
            BlobStore::Local => "folder",
            BlobStore::SharedFolder(_) => "shared_folder",
            BlobStore::S3(_) => "s3",
        },
        tasks: match kind {
            DatabaseKind::Sqlite => "threads",
            DatabaseKind::Postgres => "queue",
        },
        task_workers: if runs_tasks { state.config.tasks.workers } else { 0 },
    }))
}
