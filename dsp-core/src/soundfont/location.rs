//! Names the parts of a bank in messages.

use alloc::string::String;

/// A part of a bank. Numbers count from 0 in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Location {
    /// A whole chunk.
    #[error("chunk {0}")]
    Chunk(&'static str),
    /// A preset of the bank (chunk `phdr`).
    #[error("preset {number} ({name})")]
    Preset {
        /// Number of the preset.
        number: usize,
        /// Name of the preset.
        name: String,
    },
    /// A zone of a preset.
    #[error("preset {number} ({name}), zone {zone}")]
    PresetZone {
        /// The preset's number.
        number: usize,
        /// The preset's name.
        name: String,
        /// The zone's number in the preset.
        zone: usize,
    },
    /// An instrument of the bank (chunk `inst`).
    #[error("instrument {number} ({name})")]
    Instrument {
        /// Number of the instrument.
        number: usize,
        /// Name of the instrument.
        name: String,
    },
    /// A zone of an instrument.
    #[error("instrument {number} ({name}), zone {zone}")]
    InstrumentZone {
        /// The instrument's number.
        number: usize,
        /// The instrument's name.
        name: String,
        /// The zone's number in the instrument.
        zone: usize,
    },
    /// A sample of the bank (chunk `shdr`).
    #[error("sample {number} ({name})")]
    Sample {
        /// Number of the sample.
        number: usize,
        /// Name of the sample.
        name: String,
    },
}
