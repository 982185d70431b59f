//! Instruments, effects and rendering: SoundFonts, VST plugins of users, and exports of projects.

mod available;
mod dirs;
mod effects;
mod legacy;
mod modules;
mod pick_dir;
mod render;
pub(crate) mod render_check;
mod render_request;
pub(crate) mod renders;
mod scan;
mod soundfont_render;
pub mod soundfonts;
mod vst;

use std::sync::Arc;
use std::time::Duration;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::audio::FORM_EXTRA_BYTES;
use crate::config::Config;
use crate::db::Db;
use crate::error::ApiError;
use crate::extract::BodyLimit;
use crate::permits::{Bounds, Permits, processors};
use crate::rendering::BankProblem;
use crate::rendering::RenderError;
use crate::rendering::banks::{BankCache, BankLimits};
use crate::rendering::budget::RenderBudget;
use crate::router::with_body_limit;
use crate::state::AppState;
pub use modules::Plugins;
pub(crate) use modules::Scan;
pub(crate) use pick_dir::Picker;
pub use render::RenderAnswer;
pub(crate) use render::{ProjectSources, RENDER, Source, document, with_source};
pub(crate) use render_request::{checked_rate, checked_tail, refuse_unknown};
use soundfonts::Catalogue;
use soundfonts::reduced::ReducedBanks;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let taking_projects =
        OpenApiRouter::new().routes(routes!(render::render)).routes(routes!(soundfont_render::render));
    let limit = BodyLimit::of(config.limits.project_max_bytes, "A project to render");
    let taking_soundfonts = OpenApiRouter::new().routes(routes!(soundfonts::upload::upload));
    let soundfont_limit = BodyLimit {
        form_max_bytes: FORM_EXTRA_BYTES,
        ..BodyLimit::of(config.limits.soundfont_max_bytes, soundfonts::upload::WHAT)
    };
    OpenApiRouter::new()
        .routes(routes!(available::read))
        .routes(routes!(effects::read))
        .routes(routes!(dirs::list, dirs::add, dirs::remove))
        .routes(routes!(scan::scan))
        .routes(routes!(pick_dir::pick))
        .routes(routes!(soundfonts::catalog::read))
        .routes(routes!(soundfonts::download::read))
        .routes(routes!(soundfonts::delete::delete))
        .routes(routes!(renders::read))
        .routes(routes!(renders::delete))
        .routes(routes!(legacy::vst_render))
        .routes(routes!(legacy::vst_fx_process))
        .merge(with_body_limit(taking_projects, limit))
        .merge(with_body_limit(taking_soundfonts, soundfont_limit))
}

/// What makes sound: the banks there are, the opened ones, and who may render now.
#[derive(Debug)]
pub struct Sound {
    /// The SoundFonts of this installation and of its users.
    pub catalogue: Catalogue,
    /// Opened banks.
    pub banks: BankCache,
    /// Memory and time for the renders of this process.
    pub(crate) render_budget: Arc<RenderBudget>,
    /// Banks reduced to what browsers need of them.
    pub(crate) reduced: ReducedBanks,
    /// One upload is opened at a time: its tables take memory.
    uploads: Permits,
    /// Renders that answer directly, weighed by the KiB of their requests.
    renders: Arc<Permits>,
}

impl Sound {
    /// Everything as the settings say; nothing is searched or opened yet.
    #[must_use]
    pub fn new(config: &Config, db: &Db) -> Self {
        let waiting_max = config.limits.work_waiting_max;
        let (running, least) = (RENDERED_AT_ONCE_KIB, RENDERED_AT_ONCE_KIB / RENDERS_AT_ONCE);
        // A render may take an hour. So each user has few, and those of many users share the
        // processors.
        let of_one_user = least * processors().saturating_sub(1).clamp(1, RENDERS_AT_ONCE / 2);
        Self {
            catalogue: Catalogue::new(config, db.clone()),
            banks: BankCache::new(BankLimits {
                total_bytes: config.sound.bank_cache_bytes,
                decoded_bytes: config.sound.bank_decoded_max_bytes,
            }),
            render_budget: RenderBudget::shared(
                config.sound.render_memory_bytes,
                Duration::from_secs(config.sound.render_max_secs),
            ),
            reduced: ReducedBanks::new(config.sound.reduced_banks_bytes, waiting_max),
            uploads: Permits::counted("SoundFonts", 1, waiting_max),
            renders: Arc::new(Permits::weighted(
                "renders",
                Bounds { running, least, of_one_user, waiting: RENDERS_WAITING_KIB, requests: waiting_max },
            )),
        }
    }
}

/// Bodies of the renders that run at once, in KiB: a project takes many times that in memory.
const RENDERED_AT_ONCE_KIB: u32 = 48 * 1024;

/// Most renders that run at once, of small projects.
const RENDERS_AT_ONCE: u32 = 16;

/// Bodies of the renders that may wait, in KiB.
const RENDERS_WAITING_KIB: u64 = 256 * 1024;

/// Seconds after which the memory for SoundFonts may be free again.
const BANK_RETRY_SECS: u64 = 10;

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> Self {
        use dsp_core::wav::WavError;
        let code = match &error {
            RenderError::Session(_) | RenderError::Mixer(_) | RenderError::Synth(_) => "not_playable",
            RenderError::Loudness(_) | RenderError::Resample(_) => "not_playable",
            RenderError::Bank { reason: BankProblem::MemoryInUse { .. }, .. } => {
                return Self::Busy { detail: error.to_string(), retry_after_secs: BANK_RETRY_SECS };
            }
            RenderError::Bank { .. } | RenderError::Banks { .. } => "soundfont_unusable",
            RenderError::TooMuchMemory { .. } => "too_much_memory",
            RenderError::TooMuchWork { .. } => "too_much_work",
            RenderError::TooLong { .. } | RenderError::Wav(WavError::TooLong { .. }) => "too_long",
            RenderError::NoSoundFont => return soundfonts::no_soundfont(),
            RenderError::Cancelled => {
                return Self::Conflict { code: "cancelled", detail: error.to_string() };
            }
            RenderError::Wav(WavError::Io(_)) => {
                return match error {
                    RenderError::Wav(WavError::Io(io)) => io.into(),
                    other => Self::internal(other),
                };
            }
        };
        Self::Unprocessable { code, detail: error.to_string() }
    }
}

#[cfg(test)]
pub(crate) mod tests;
