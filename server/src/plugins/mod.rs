//! Instruments, effects and rendering: SoundFonts, VST plugins of users, and exports of projects.

mod available;
mod dirs;
mod effects;
mod legacy;
mod modules;
mod pick_dir;
mod render;
mod render_request;
pub(crate) mod renders;
mod scan;
mod soundfont_render;
pub mod soundfonts;
mod vst;

use std::sync::Arc;

use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::audio::FORM_EXTRA_BYTES;
use crate::config::Config;
use crate::db::Db;
use crate::error::ApiError;
use crate::extract::BodyLimit;
use crate::rendering::RenderError;
use crate::rendering::banks::BankCache;
use crate::rendering::budget::MemoryBudget;
use crate::router::with_body_limit;
use crate::state::AppState;
pub use modules::Plugins;
pub(crate) use modules::Scan;
pub(crate) use pick_dir::Picker;
pub use render::RenderAnswer;
pub(crate) use render::{ProjectSources, RENDER, Source, document};
pub(crate) use render_request::{checked_rate, checked_tail};
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
    /// Memory for the renders of this process.
    pub(crate) render_memory: Arc<MemoryBudget>,
    /// Banks reduced to what browsers need of them.
    pub(crate) reduced: ReducedBanks,
    /// One upload is opened at a time.
    upload_place: Arc<Semaphore>,
    /// Renders that answer directly run as many at a time as there are processors.
    render_places: Arc<Semaphore>,
}

impl Sound {
    /// Everything as the settings say; nothing is searched or opened yet.
    #[must_use]
    pub fn new(config: &Config, db: &Db) -> Self {
        let places = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            catalogue: Catalogue::new(config, db.clone()),
            banks: BankCache::new(config.sound.bank_cache_bytes),
            render_memory: MemoryBudget::new(config.sound.render_memory_bytes),
            reduced: ReducedBanks::new(config.sound.reduced_banks_bytes),
            upload_place: Arc::new(Semaphore::new(1)),
            render_places: Arc::new(Semaphore::new(places)),
        }
    }
}

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> Self {
        use dsp_core::wav::WavError;
        let code = match &error {
            RenderError::Session(_) | RenderError::Mixer(_) | RenderError::Synth(_) => "not_playable",
            RenderError::Loudness(_) | RenderError::Resample(_) => "not_playable",
            RenderError::Bank { .. } => "soundfont_unusable",
            RenderError::TooMuchMemory { .. } => "too_much_memory",
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

/// Ends a render whose caller has gone: dropped with the handler, it says so to the observer.
struct Caller(Arc<std::sync::atomic::AtomicBool>);

impl Caller {
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Whether the caller has gone, for the thread that renders.
    fn gone(&self) -> Arc<std::sync::atomic::AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(test)]
pub(crate) mod tests;
