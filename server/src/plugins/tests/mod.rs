//! Tests plugins and plugin folders through the real router.

mod dirs;
mod effects;
mod installation;
pub(crate) mod midi_render;
mod midi_render_faults;
mod missing_plugins;
mod pick_dir;
mod project_effects;
mod project_faults;
mod project_formats;
mod project_instruments;
mod scans;
pub(crate) mod vst;
