//! Lists the parameters of plugins, with the plugins' own texts, and saves their settings as preset
//! files.

mod answer_cache;
mod list;
mod preset_file;
mod reading;
mod sample_texts;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::permits::{Bounds, Permits};
use crate::router::with_body_limit;
use crate::state::AppState;
use answer_cache::AnswerCache;

/// Maximum total size of the requests that run at the same time, in KiB. A state may have 64 MiB.
const RUNNING_MAX_KIB: u32 = 256 * 1024;

/// Maximum number of requests that run at the same time, if they are small. The number of hosted
/// plugins has a separate limit.
const LISTS_AT_ONCE: u32 = 16;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.limits.project_max_bytes, "The state of a plugin");
    with_body_limit(
        OpenApiRouter::new().routes(routes!(list::list)).routes(routes!(preset_file::save)),
        limit,
    )
}

/// Limits and cached answers of this slice.
#[derive(Debug)]
pub struct PluginParameters {
    /// Permits for lists, weighted by the size of their requests in KiB.
    pub(crate) permits: Permits,
    cache: AnswerCache,
}

impl PluginParameters {
    /// Returns the limits of the settings, and an empty cache.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let bounds = Bounds {
            running: RUNNING_MAX_KIB,
            min_weight: RUNNING_MAX_KIB / LISTS_AT_ONCE,
            per_user: RUNNING_MAX_KIB / 2,
            waiting_weight_max: u64::from(RUNNING_MAX_KIB),
            waiting_requests_max: config.limits.work_waiting_max,
            reserve_for_idle_users: 0,
        };
        Self { permits: Permits::weighted("lists of parameters", bounds), cache: AnswerCache::default() }
    }
}

#[cfg(test)]
mod tests;
