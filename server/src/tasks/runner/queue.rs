//! The runner of a server deployment. It uses `apalis` with PostgreSQL storage, which any number of
//! processes can share.
//!
//! It delivers offers to idle workers within milliseconds. If a worker dies, another worker gets
//! its offers. The table of tasks alone decides which attempt owns a task.

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
use crate::low_priority;
use crate::tasks::delivery::{Deliver, Delivery};

/// Name of the queue within `apalis`.
const QUEUE_NAME: &str = "songfoundry-tasks";

/// Maximum number of a process's connections to the queue: one listens, the others fetch, push and
/// send heartbeats.
const CONNECTIONS_MAX: u32 = 4;

/// Number of heartbeats that a worker sends within the time after which it counts as dead.
const HEARTBEATS_PER_TIMEOUT: u32 = 3;

/// Interval at which a worker polls for offers whose notification it missed.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Delay before a worker restarts after the database has not answered.
const RESTART_DELAY: Duration = Duration::from_secs(2);

/// Time for which answered offers and dead workers are kept, in seconds.
const KEPT_SECS: f64 = 60.0;

/// The queue of offers.
#[derive(Debug)]
pub(crate) struct Queue {
    pool: PgPool,
    config: Config,
    /// Number of workers that this process has started.
    workers: AtomicUsize,
}

impl Queue {
    /// Opens the queue. Creates its tables if they do not exist.
    ///
    /// # Errors
    /// The database refuses the connection, or it lacks PostgreSQL's extension `hstore`.
    pub(crate) async fn open(address: &DatabaseAddress, lost_after: Duration) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(Duration::from_secs(15))
            .connect(address.reveal())
            .await
            .with_context(|| format!("cannot open the task queue in {address} (SF_DATABASE_URL)"))?;
        PostgresStorage::setup(&pool).await.context("cannot create the tables of the task queue")?;
        let missed_max = usize::try_from(HEARTBEATS_PER_TIMEOUT).unwrap_or(1);
        let config = Config::default()
            .queue(QUEUE_NAME)
            .batch_size(1)
            .persist_results(true)
            .heartbeat_interval(lost_after / HEARTBEATS_PER_TIMEOUT)
            .missed_heartbeats(missed_max);
        Ok(Self { pool, config, workers: AtomicUsize::new(0) })
    }

    /// Adds an offer to the queue. Workers receive it after `delay`.
    pub(super) async fn push(&self, delivery: &Delivery, delay: Duration) -> Result<(), ApiError> {
        let task = TaskBuilder::new(serde_json::to_vec(delivery).map_err(ApiError::internal)?);
        let task = if delay.is_zero() { task } else { task.run_after(delay) };
        let mut connection = self.pool.acquire().await?;
        push_tasks(&mut *connection, QUEUE_NAME, vec![task.build()]).await.map_err(ApiError::internal)
    }

    /// Runs tasks on at most `threads` threads until `stop` is cancelled.
    pub(crate) async fn work<D: Deliver>(&self, tasks: &D, threads: usize, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let stop_token = stop.clone();
            let storage = PostgresStorage::<Delivery>::new(&self.pool)
                .with_config(self.config.clone())
                .with_pubsub()
                .poll_with_interval(POLL_INTERVAL);
            let worker = WorkerBuilder::new(self.new_worker_name().as_str())
                .backend(storage)
                .concurrency(threads)
                .data(tasks.clone())
                .build(deliver::<D>);
            let worker_result = worker
                .run_until(async move {
                    stop_token.cancelled().await;
                    Ok::<(), WorkerError>(())
                })
                .await;
            if stop.is_cancelled() {
                break;
            }
            // A worker of `apalis` ends if the database does not answer.
            tracing::warn!(
                ended = ?worker_result,
                "the worker has lost its connection to the task queue; it will restart"
            );
            tokio::time::sleep(RESTART_DELAY).await;
        }
    }

    /// Returns a name that no other worker has or had.
    fn new_worker_name(&self) -> String {
        let number = self.workers.fetch_add(1, Ordering::Relaxed);
        format!("songfoundry-{}-{number}-{}", std::process::id(), uuid::Uuid::new_v4().simple())
    }

    /// Removes answered offers and dead workers that are older than [`KEPT_SECS`].
    ///
    /// # Errors
    /// A query fails.
    pub(crate) async fn tidy(&self) -> Result<(), sqlx::Error> {
        store::delete_old(&self.pool, QUEUE_NAME, KEPT_SECS).await
    }

    /// Closes the connections to the database.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// Runs the task of an offer. The offer counts as answered even if the task fails.
async fn deliver<D: Deliver>(delivery: Delivery, tasks: Data<D>) -> Result<(), BoxDynError> {
    let tasks = (*tasks).clone();
    tokio::task::spawn_blocking(move || low_priority::run(move || tasks.deliver(&delivery))).await??;
    Ok(())
}
