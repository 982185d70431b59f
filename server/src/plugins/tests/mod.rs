//! Plugins and the folders of users through the real router.

mod dirs;
mod effects;
mod pick_dir;
mod vst;
