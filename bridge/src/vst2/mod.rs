//! VST 2.4: the scan of a module and the host of a plugin.
//!
//! The layout of structures and the numbers follow VST 2.4; no VST header is used.

mod callback;
mod description;
mod editor;
mod effect;
mod midi;
mod plugin;
mod preset;
mod scan;
mod state;

pub(crate) use plugin::Vst2Plugin;
pub(crate) use scan::scan;
