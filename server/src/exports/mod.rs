//! Exports: rendered projects, mixdowns, stems, frozen tracks, and notes that a SoundFont or a
//! plugin plays.

mod audio_export;
mod client;
mod file_options;
mod freeze;
mod frozen_track;
mod job;
mod midi_render;
mod mixdown;
mod more_files;
mod new_render;
mod notes;
mod plugin_options;
pub(crate) mod plugin_sound_files;
mod plugin_sounds;
mod preset_options;
mod queries;
mod render;
mod render_analysis;
pub(crate) mod render_files;
mod render_link;
mod render_list;
mod rendered_file;
mod request;
mod song_sounds;
mod sound_options;
mod soundfont_render;
mod soundfont_sound;
mod sources;
mod stem_files;
mod stems;
mod unknown_options;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use audio_export::AUDIO_EXPORT;
pub(crate) use freeze::FREEZE;
pub(crate) use mixdown::MIXDOWN;
pub(crate) use plugin_options::{PluginPreset, plugin_request, setup_of};
pub(crate) use preset_options::check_preset_options;
pub(crate) use render::RENDER;
pub(crate) use stem_files::FOLDER as STEMS_FOLDER;
pub(crate) use stem_files::{FILES as STEM_FILES, faults as stem_faults};
pub(crate) use stems::STEMS;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::permits::{Bounds, Permits, processors};
use crate::rendering::budget::RenderBudget;
use crate::router::with_body_limit;
use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = |subject| BodyLimit::of(config.limits.project_max_bytes, subject);
    let rendering = OpenApiRouter::new()
        .routes(routes!(render::render))
        .routes(routes!(soundfont_render::render))
        .routes(routes!(soundfont_sound::render))
        .routes(routes!(midi_render::render))
        .routes(routes!(song_sounds::render));
    let exporting = OpenApiRouter::new()
        .routes(routes!(mixdown::mixdown))
        .routes(routes!(stems::stems))
        .routes(routes!(freeze::freeze));
    OpenApiRouter::new()
        .routes(routes!(render_list::list))
        .routes(routes!(render_list::read))
        .routes(routes!(render_analysis::analyze))
        .routes(routes!(render_link::create))
        .routes(routes!(render_link::read))
        .routes(routes!(render_files::read))
        .routes(routes!(render_files::delete))
        .routes(routes!(stem_files::read))
        .routes(routes!(song_sounds::read))
        .routes(routes!(audio_export::export))
        .merge(with_body_limit(rendering, limit("A project to render")))
        .merge(with_body_limit(exporting, limit("A project to export")))
}

/// Limits on the renders that run in this process.
#[derive(Debug)]
pub struct Exports {
    /// Memory and time for all renders together.
    budget: Arc<RenderBudget>,
    /// Permits for renders that are answered directly, weighted by the size of their requests in
    /// KiB.
    pub(crate) renders: Arc<Permits>,
    /// Permits to list renders, each of which has a file with its description.
    lists: Permits,
}

impl Exports {
    /// Returns the limits of the settings.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let (running, min_weight) = (RUNNING_RENDERS_MAX_KIB, RUNNING_RENDERS_MAX_KIB / RENDERS_AT_ONCE);
        // A render may take an hour. So each user has few permits, and users share the processors.
        let per_user = min_weight * processors().saturating_sub(1).clamp(1, RENDERS_AT_ONCE / 2);
        let requests = config.limits.work_waiting_max;
        let max_duration = Duration::from_secs(config.sound.render_max_secs);
        let bounds = Bounds {
            running,
            min_weight,
            per_user,
            waiting_weight_max: RENDERS_WAITING_KIB,
            waiting_requests_max: requests,
            reserve_for_idle_users: running,
        };
        Self {
            budget: RenderBudget::shared(config.sound.render_memory_bytes, max_duration),
            renders: Arc::new(Permits::weighted("renders", bounds).with_low_priority()),
            lists: Permits::counted("lists of renders", 4 * processors(), requests),
        }
    }
}

/// Maximum total request size of the renders that run at the same time, in KiB. A project needs
/// many times its size in memory.
const RUNNING_RENDERS_MAX_KIB: u32 = 48 * 1024;

/// Maximum number of renders that run at the same time, if their projects are small.
const RENDERS_AT_ONCE: u32 = 16;

/// Maximum total request size of the renders that wait, in KiB.
const RENDERS_WAITING_KIB: u64 = 128 * 1024;

#[cfg(test)]
mod tests;
