//! The runner of a server deployment: `apalis` with its PostgreSQL storage, shared by any number of
//! processes.
//!
//! It brings offers to idle workers within milliseconds, and those of a worker that died to
//! another. Which attempt holds a task, and what comes of it, is decided by the table of tasks
//! alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use apalis::layers::WorkerBuilderExt as _;
use apalis::prelude::{BackendExt as _, BoxDynError, Data, TaskBuilder, WorkerBuilder, WorkerError};
use apalis_postgres::queries::push_tasks;
use apalis_postgres::{Config, PgPool, PostgresStorage};
use sqlx::postgres::PgPoolOptions;
use tokio_util::sync::CancellationToken;

use super::store;
use crate::db::DatabaseAddress;
use crate::error::ApiError;
use crate::tasks::delivery::{Deliver, Delivery};

/// Name of the queue within `apalis`.
const NAME: &str = "songfoundry-tasks";

/// Connections of a process to the queue: one listens, the others fetch, push and show that the
/// worker lives.
const CONNECTIONS_MAX: u32 = 4;

/// Signs of life of a worker within the time after which it counts as gone.
const BEATS: u32 = 3;

/// How often a worker looks for offers of which it was not told.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How long a worker waits before it goes on after the database did not answer.
const START_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// How long offers that were dealt with are kept, in seconds.
const KEPT_SECS: f64 = 3_600.0;

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    pool: PgPool,
    config: Config,
    /// Workers that this process has started.
    workers: AtomicUsize,
}

impl Queue {
    /// Opens the queue, making its tables if needed.
    ///
    /// # Errors
    /// When the database refuses; also if it lacks the extension `hstore`, which belongs to
    /// PostgreSQL.
    pub(crate) async fn open(address: &DatabaseAddress, lost_after: Duration) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(Duration::from_secs(15))
            .connect(address.reveal())
            .await
            .with_context(|| format!("cannot open the task queue in {address} (SF_DATABASE_URL)"))?;
        PostgresStorage::setup(&pool).await.context("cannot make the tables of the task queue")?;
        let beats = usize::try_from(BEATS).unwrap_or(1);
        let config = Config::default()
            .queue(NAME)
            .batch_size(1)
            .persist_results(false)
            .heartbeat_interval(lost_after / BEATS)
            .missed_heartbeats(beats);
        Ok(Self { pool, config, workers: AtomicUsize::new(0) })
    }

    /// Puts an offer into the queue.
    pub(super) async fn push(&self, delivery: &Delivery, delay: Duration) -> Result<(), ApiError> {
        let task = TaskBuilder::new(serde_json::to_vec(delivery).map_err(ApiError::internal)?);
        let task = if delay.is_zero() { task } else { task.run_after(delay) };
        let mut connection = self.pool.acquire().await?;
        push_tasks(&mut *connection, NAME, vec![task.build()]).await.map_err(ApiError::internal)
    }

    /// Runs tasks on at most `threads` threads until `stop`.
    pub(crate) async fn work<D: Deliver>(&self, tasks: &D, threads: usize, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let stopped = stop.clone();
            let storage = PostgresStorage::<Delivery>::new(&self.pool)
                .with_config(self.config.clone())
                .with_pubsub()
                .poll_with_interval(LOOK_EVERY);
            let worker = WorkerBuilder::new(self.new_name().as_str())
                .backend(storage)
                .concurrency(threads)
                .data(tasks.clone())
                .build(deliver::<D>);
            let ended = worker
                .run_until(async move {
                    stopped.cancelled().await;
                    Ok::<(), WorkerError>(())
                })
                .await;
            if stop.is_cancelled() {
                break;
            }
            // A worker of `apalis` ends when the database does not answer it.
            tracing::warn!(?ended, "the worker lost its queue and starts again");
            tokio::time::sleep(START_AGAIN_AFTER).await;
        }
    }

    /// Names no other worker has, also none that ran before.
    fn new_name(&self) -> String {
        let number = self.workers.fetch_add(1, Ordering::Relaxed);
        format!("songfoundry-{}-{number}-{}", std::process::id(), uuid::Uuid::new_v4().simple())
    }

    /// Removes offers that were dealt with, and workers that are long gone.
    ///
    /// # Errors
    /// When the database refuses.
    pub(crate) async fn tidy(&self) -> Result<(), sqlx::Error> {
        store::delete_old(&self.pool, NAME, KEPT_SECS).await
    }

    /// Lets go of the database.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// Answers an offer. Whatever comes of the task, the offer is dealt with.
async fn deliver<D: Deliver>(delivery: Delivery, tasks: Data<D>) -> Result<(), BoxDynError> {
    let tasks = (*tasks).clone();
    tokio::task::spawn_blocking(move || tasks.deliver(&delivery)).await?;
    Ok(())
}
