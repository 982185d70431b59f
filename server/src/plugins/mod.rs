//! VST plugins of users: plugin folders, plugin modules and scans. Also lists the engine's effects.

mod available;
mod dirs;
mod effects;
mod legacy;
mod modules;
mod pick_dir;
mod queries;
mod scan;
mod soundfont_files;
mod vst;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;
pub use modules::Plugins;
pub(crate) use modules::{Scan, module_version};
pub(crate) use pick_dir::Picker;
pub(crate) use scan::SCAN_TASK;
pub(crate) use soundfont_files::soundfont_files;
pub use vst::VstFormat;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(available::read))
        .routes(routes!(effects::read))
        .routes(routes!(dirs::list, dirs::add, dirs::remove))
        .routes(routes!(scan::scan))
        .routes(routes!(pick_dir::pick))
        .routes(routes!(legacy::vst_render))
        .routes(routes!(legacy::vst_fx_process))
}

#[cfg(test)]
pub(crate) mod tests;
