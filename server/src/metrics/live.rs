//! Metrics of the effects that process in real time.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Metrics of the effects that process in real time.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveMetrics {
    streams: Gauge,
    blocks: Counter,
    late_blocks: Counter,
    block_secs: BlockTimes,
    plugins: Gauge,
    plugin_blocks: Counter,
    plugin_late_blocks: Counter,
    plugin_restarts: Counter,
    plugin_secs: BlockTimes,
}

impl LiveMetrics {
    /// Registers the metrics with their help texts, to which the library adds a full stop.
    pub(super) fn register(&self, registry: &mut Registry) {
        let LiveMetrics { streams, blocks, late_blocks, block_secs, .. } = self.clone();
        registry.register("live_streams", "Open streams of real-time effects", streams);
        registry.register("live_blocks", "Blocks that real-time effects have processed", blocks);
        let help = "Blocks that were answered more than 5 ms after they arrived";
        registry.register("live_late_blocks", help, late_blocks);
        let help = "Time from a block's arrival to its answer, in seconds";
        registry.register("live_block_seconds", help, block_secs.0);
        let LiveMetrics { plugins, plugin_blocks, plugin_late_blocks, plugin_restarts, plugin_secs, .. } =
            self.clone();
        registry.register("live_plugins", "Plugins that process in real time", plugins);
        registry.register("live_plugin_blocks", "Blocks that were due from these plugins", plugin_blocks);
        let help = "Blocks that these plugins did not answer in time";
        registry.register("live_plugin_late_blocks", help, plugin_late_blocks);
        let help = "Starts of these plugins after a failure";
        registry.register("live_plugin_restarts", help, plugin_restarts);
        let help = "Time from sending a block to a plugin to its answer, in seconds";
        registry.register("live_plugin_block_seconds", help, plugin_secs.0);
    }

    /// Counts an open stream until the result is dropped.
    pub(super) fn open_stream(&self) -> OpenLiveStream {
        self.streams.inc();
        OpenLiveStream(self.clone())
    }

    /// Counts an open plugin until the result is dropped.
    pub(super) fn open_plugin(&self) -> OpenLivePlugin {
        self.plugins.inc();
        OpenLivePlugin(self.clone())
    }
}

/// Bounds of the histograms of blocks in seconds, up to the duration of a block at 48 kHz and
/// beyond.
const BLOCK_BOUNDS_SECS: [f64; 12] =
    [0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.003, 0.004, 0.005, 0.01, 0.02];

/// A histogram of the times of blocks.
#[derive(Debug, Clone)]
struct BlockTimes(Histogram);

impl Default for BlockTimes {
    fn default() -> Self {
        Self(Histogram::new(BLOCK_BOUNDS_SECS))
    }
}

/// Counts a plugin that processes in real time as open until this value is dropped.
#[derive(Debug)]
pub(crate) struct OpenLivePlugin(LiveMetrics);

impl OpenLivePlugin {
    /// Counts a block. `round_trip` is the time until its answer, or `None` if the answer was late.
    pub(crate) fn count_block(&self, round_trip: Option<Duration>) {
        self.0.plugin_blocks.inc();
        match round_trip {
            Some(time) => self.0.plugin_secs.0.observe(time.as_secs_f64()),
            None => _ = self.0.plugin_late_blocks.inc(),
        }
    }

    /// Counts a start after a failure.
    pub(crate) fn count_restart(&self) {
        self.0.plugin_restarts.inc();
    }
}

impl Drop for OpenLivePlugin {
    fn drop(&mut self) {
        self.0.plugins.dec();
    }
}

/// Counts a stream of a client as open until this value is dropped.
#[derive(Debug)]
pub(crate) struct OpenLiveStream(LiveMetrics);

impl OpenLiveStream {
    /// Counts a processed block and the time from its arrival to its answer.
    pub(crate) fn count_block(&self, is_late: bool, time: Duration) {
        self.0.blocks.inc();
        self.0.block_secs.0.observe(time.as_secs_f64());
        self.0.late_blocks.inc_by(u64::from(is_late));
    }
}

impl Drop for OpenLiveStream {
    fn drop(&mut self) {
        self.0.streams.dec();
    }
}
