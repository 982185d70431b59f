//! Renders a project with its banks to an audio file, for the API and the command line.
//!
//! Memory does not grow with the length of a song, because blocks are dithered, measured and
//! written one by one. Tracks are rendered on all processors. The samples are the same as on one
//! processor.

pub mod banks;
pub mod budget;
pub mod channel_check;
mod chapters;
pub mod convert;
mod damaged_samples;
mod delivery;
mod encoder;
mod error;
mod length;
pub(crate) mod memory;
pub mod missing;
pub mod mix;
mod mix_file;
pub mod normalization;
mod options;
pub mod parts;
mod pass;
pub mod plugin_effects;
pub mod plugin_track;
pub mod receipt;
mod report;
pub mod selection;
pub mod song_plugins;
pub mod sources;
mod temporary;
pub mod threads;
pub mod track;
mod wav_chunks;
pub mod workspace;

pub(crate) use encoder::wav_pcm_sha256;
pub use error::{BankProblem, RenderError};
pub(crate) use length::check_length;

/// Number of channels of a render.
pub const CHANNELS: u64 = 2;

/// Version of the engine in receipts. All crates of the workspace have the same version.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Receives the progress of a render, from 0 to 1. Returns false to cancel the render.
pub type Observer<'a> = &'a mut dyn FnMut(f64) -> bool;

#[cfg(test)]
mod tests;
