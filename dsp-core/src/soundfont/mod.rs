//! Reads SoundFont 2 banks, holds them for playback, and writes reduced banks.
//!
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.

mod bank;
mod content;
mod default_modulators_table;
mod error;
mod generator;
mod generator_table;
mod generators;
mod location;
mod modulator;
mod modulator_lists;
mod modulator_records;
mod records;
mod reduce;
mod riff;
pub(crate) mod sample_positions;
mod samples;
mod skipped;
mod stream;
mod streams;
mod summary;
#[cfg(test)]
mod tests;
mod velocity_to_cutoff;
#[cfg(feature = "vorbis")]
mod vorbis;
mod zones;

pub use bank::Bank;
pub(crate) use default_modulators_table::VELOCITY_TO_CUTOFF;
pub use error::BankError;
pub(crate) use generator::Generator;
pub(crate) use generators::Generators;
pub use location::Location;
pub(crate) use modulator::{Controller, Curve, Destination, Modulator, Source, Transform};
pub(crate) use samples::{Sample, Wave};
pub use skipped::{BankIssue, BankIssueReason};
pub use summary::{BankSummary, PresetSummary, SampleEncoding};
