//! VST3: the scan of a module and the host of a plugin. Each object that the host gives to plugins
//! has a file.

mod component_handler;
mod editor;
mod events;
mod factory;
mod host_application;
mod instance;
mod message;
mod midi_mapping;
mod parameter_changes;
mod parameters;
mod plugin;
mod preset;
mod process_data;
mod run_loop;
mod scan;
mod stream;
mod text;

pub(crate) use plugin::Vst3Plugin;
pub(crate) use scan::scan;
