//! The metrics. Their names and labels are a public interface, listed in `docs/operations.md`.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::live::{LiveMetrics, OpenLivePlugin, OpenLiveStream};
use crate::clock;
use crate::error::{ApiError, ApiResult};

/// Upper bounds of the histogram buckets of request times, in seconds: from a cached list to a long
/// export.
const REQUEST_BOUNDS_SECS: [f64; 12] =
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 120.0];

/// Upper bounds of the histogram buckets of task times, in seconds.
const TASK_BOUNDS_SECS: [f64; 9] = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0];

/// Labels of a request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub(super) method: String,
    /// The route's template, such as `/api/v1/projects/{id}`.
    pub(super) route: String,
    pub(super) status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    method: String,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskLabels {
    kind: String,
    state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: String,
}

type Seconds = Counter<f64, AtomicU64>;

/// All metrics of this process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_secs: Family<RouteLabels, Histogram, fn() -> Histogram>,
    tasks: Family<TaskLabels, Gauge>,
    tasks_ended: Family<TaskLabels, Counter>,
    task_secs: Family<KindLabel, Histogram, fn() -> Histogram>,
    render_secs: Family<KindLabel, Seconds>,
    rendered_secs: Family<KindLabel, Seconds>,
    storage_bytes: Family<KindLabel, Gauge>,
    disk_free_bytes: Gauge,
    connections: Family<StateLabel, Gauge>,
    connections_max: Gauge,
    orphans: Family<KindLabel, Counter>,
    orphans_bytes: Counter,
    live: LiveMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let histogram_of_requests: fn() -> Histogram = || Histogram::new(REQUEST_BOUNDS_SECS);
        let histogram_of_tasks: fn() -> Histogram = || Histogram::new(TASK_BOUNDS_SECS);
        let mut metrics = Self {
            registry: Registry::with_prefix("songfoundry"),
            requests: Family::default(),
            request_secs: Family::new_with_constructor(histogram_of_requests),
            tasks: Family::default(),
            tasks_ended: Family::default(),
            task_secs: Family::new_with_constructor(histogram_of_tasks),
            render_secs: Family::default(),
            rendered_secs: Family::default(),
            storage_bytes: Family::default(),
            disk_free_bytes: Gauge::default(),
            connections: Family::default(),
            connections_max: Gauge::default(),
            orphans: Family::default(),
            orphans_bytes: Counter::default(),
            live: LiveMetrics::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    /// Registers the metrics with their help texts. The texts have no full stop because the library
    /// adds one.
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "build",
            "Version of the service",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        let start_gauge: Gauge = Gauge::default();
        start_gauge.set(clock::now_unix_secs());
        registry.register(
            "start_time_seconds",
            "When this process started, in seconds since 1970",
            start_gauge,
        );
        registry.register("http_requests", "Requests that were answered", self.requests.clone());
        let help = "Time until an answer began, in seconds";
        registry.register("http_request_seconds", help, self.request_secs.clone());
        registry.register("tasks", "Waiting and running tasks of all users", self.tasks.clone());
        registry.register("tasks_ended", "Tasks that ended in this process", self.tasks_ended.clone());
        registry.register(
            "task_seconds",
            "Time that tasks took in this process, in seconds",
            self.task_secs.clone(),
        );
        let help = "Time spent on renders, in seconds";
        registry.register("render_seconds", help, self.render_secs.clone());
        let help = "Duration of the rendered audio, in seconds";
        registry.register("rendered_audio_seconds", help, self.rendered_secs.clone());
        registry.register("storage_bytes", "Size of the stored files, in bytes", self.storage_bytes.clone());
        let help = "Free space of the storage folder's disk, in bytes";
        registry.register("disk_free_bytes", help, self.disk_free_bytes.clone());
        registry.register("database_connections", "Connections of the pool", self.connections.clone());
        let help = "Maximum number of connections in the pool";
        registry.register("database_connections_max", help, self.connections_max.clone());
        registry.register(
            "orphans_removed",
            "Files quarantined because nothing referred to them",
            self.orphans.clone(),
        );
        registry.register(
            "orphans_removed_bytes",
            "Size of the quarantined files, in bytes",
            self.orphans_bytes.clone(),
        );
        self.live.register(registry);
    }

    /// Counts an answered request. `duration` is the time until the answer began.
    pub(super) fn record_request(&self, labels: RequestLabels, duration: Duration) {
        let route = RouteLabels { method: labels.method.clone(), route: labels.route.clone() };
        self.request_secs.get_or_create(&route).observe(duration.as_secs_f64());
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts a task that ended in this process.
    pub(crate) fn record_task_end(&self, kind: &str, state: &str, duration: Duration) {
        let labels = TaskLabels { kind: kind.to_owned(), state: state.to_owned() };
        self.tasks_ended.get_or_create(&labels).inc();
        self.task_secs.get_or_create(&KindLabel { kind: kind.to_owned() }).observe(duration.as_secs_f64());
    }

    /// Counts a render of a kind, such as `project`, with its duration and the length of its audio.
    pub(crate) fn rendered(&self, kind: &'static str, duration: Duration, audio_secs: f64) {
        let labels = KindLabel { kind: kind.to_owned() };
        self.render_secs.get_or_create(&labels).inc_by(duration.as_secs_f64());
        self.rendered_secs.get_or_create(&labels).inc_by(audio_secs);
    }

    /// Counts an open stream of real-time effects.
    pub(crate) fn open_live_stream(&self) -> OpenLiveStream {
        self.live.open_stream()
    }

    /// Counts an open plugin of real-time effects.
    pub(crate) fn open_live_plugin(&self) -> OpenLivePlugin {
        self.live.open_plugin()
    }

    /// Counts a file that was quarantined because nothing referred to it.
    pub(crate) fn count_quarantined_orphan(&self, folder: &'static str, size_bytes: u64) {
        self.orphans.get_or_create(&KindLabel { kind: folder.to_owned() }).inc();
        self.orphans_bytes.inc_by(size_bytes);
    }

    /// Sets the numbers of waiting and running tasks, by kind and state.
    pub(crate) fn set_tasks(&self, counts: Vec<(String, &'static str, i64)>) {
        // Without this, kinds that no longer have tasks would keep their last count.
        self.tasks.clear();
        for (kind, state, count) in counts {
            let labels = TaskLabels { kind, state: state.to_owned() };
            self.tasks.get_or_create(&labels).set(count);
        }
    }

    /// Sets the size of the stored files of a kind.
    pub(crate) fn set_storage(&self, kind: &'static str, size_bytes: u64) {
        self.storage_bytes.get_or_create(&KindLabel { kind: kind.to_owned() }).set(to_i64(size_bytes));
    }

    /// Sets the free space of the storage folder's disk.
    pub(crate) fn set_disk_free(&self, free_bytes: u64) {
        self.disk_free_bytes.set(to_i64(free_bytes));
    }

    /// Sets the numbers of connections in the database pool.
    pub(crate) fn set_connections(&self, idle_connections: u64, used_connections: u64, max_connections: u64) {
        for (state, count) in [("idle", idle_connections), ("used", used_connections)] {
            self.connections.get_or_create(&StateLabel { state: state.to_owned() }).set(to_i64(count));
        }
        self.connections_max.set(to_i64(max_connections));
    }

    /// Writes all metrics in the OpenMetrics text format.
    pub(crate) fn render_text(&self) -> ApiResult<String> {
        let mut text = String::new();
        text::encode(&mut text, &self.registry).map_err(ApiError::internal)?;
        Ok(text)
    }
}

fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
