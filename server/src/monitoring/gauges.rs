//! Measures the gauges for a request to `/metrics`.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::error::ApiResult;
use crate::exports::{STEM_FILES, plugin_sound_files, render_files};
use crate::state::AppState;
use crate::{audio, db, disk, soundfonts};

/// Time for which the measured sizes of the database and of stored files stay valid. Measuring
/// lists all files, which is slow with object storage.
const SUMS_VALID_FOR: Duration = Duration::from_secs(60);

/// Time of the last measurement of the stored files by this process.
#[derive(Debug, Default)]
pub(crate) struct LastMeasurement(Mutex<Option<Instant>>);

impl LastMeasurement {
    /// Whether a new measurement is due. If so, records that it starts now.
    fn claim_if_due(&self) -> bool {
        let mut measured_at = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = measured_at.is_none_or(|instant| instant.elapsed() >= SUMS_VALID_FOR);
        if is_due {
            *measured_at = Some(Instant::now());
        }
        is_due
    }
}

/// Measures all gauges, except sizes that were measured less than [`SUMS_VALID_FOR`] ago.
pub(super) async fn update(state: &AppState) -> ApiResult<()> {
    let metrics = &state.metrics;
    let unfinished_counts = state.tasks.count_unfinished_by_kind().await?;
    metrics.set_tasks(
        unfinished_counts.into_iter().map(|(kind, state, count)| (kind, state.as_str(), count)).collect(),
    );
    let (open_connections, idle_connections) = (u64::from(state.db.size()), state.db.num_idle() as u64);
    let max = u64::from(state.config.storage.database_limits.connections_max);
    metrics.set_connections(idle_connections, open_connections.saturating_sub(idle_connections), max);
    if let Some(free_bytes) = disk::free_bytes(&state.config.storage.dir)? {
        metrics.set_disk_free(free_bytes);
    }
    if !state.storage_sums.claim_if_due() {
        return Ok(());
    }
    let blobs = state.blobs.clone();
    let sums = tokio::task::spawn_blocking(move || -> ApiResult<_> {
        let sum = |folder| -> ApiResult<u64> {
            Ok(blobs.sizes(folder)?.iter().map(|(_, size_bytes)| size_bytes).sum())
        };
        Ok([
            ("audio", sum(audio::FOLDER)?),
            ("soundfonts", sum(soundfonts::FILE_KIND.folder)?),
            ("renders", sum(render_files::FOLDER)?),
            ("stems", sum(STEM_FILES.folder)?),
            ("plugin_sounds", sum(plugin_sound_files::FOLDER)?),
        ])
    });
    for (kind, size_bytes) in sums.await?? {
        metrics.set_storage(kind, size_bytes);
    }
    metrics.set_storage("database", db::measure_size_bytes(&state.db).await?);
    Ok(())
}
