//! Tests plugins and plugin folders through the real router.

mod dirs;
mod effects;
mod pick_dir;
mod vst;
