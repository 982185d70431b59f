//! From a project and its banks to a WAV file: the one way to sound of the API and of the
//! command line.
//!
//! Memory does not grow with the length of a song: blocks go from the engine through dither
//! into the file, and are measured on the way. The tracks of a project are rendered on all
//! processors, with the same samples as on one.

pub mod audio_format;
pub mod banks;
pub mod budget;
pub mod crew;
mod delivery;
mod encoder;
mod error;
mod measure;
pub(crate) mod memory;
pub mod missing;
pub mod mix;
mod options;
pub mod parts;
mod pass;
pub mod receipt;
mod report;
pub mod sources;
pub mod track;

pub(crate) use encoder::pcm_sha256;
pub use error::{BankProblem, RenderError};

/// Channels of everything that is rendered.
pub const CHANNELS: u64 = 2;

/// Version of the engine, for receipts: the workspace has one version for all crates.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Follows a render: gets the share that is done, 0 to 1, and says whether to go on.
pub type Observer<'a> = &'a mut dyn FnMut(f64) -> bool;

#[cfg(test)]
mod tests;
