//! Standard MIDI files: read into a project, and written from one.

mod banks;
mod channels;
mod exclusives;
mod export;
mod file;
mod import;
#[cfg(test)]
mod songs_test;

pub use export::export;
pub use import::{ImportOptions, Imported, import};

use schemas::limits::{MAX_EVENT_BYTES, event_bytes};

/// The MIDI file of a project that has just been imported.
#[cfg(test)]
fn exported(project: &schemas::Project) -> Vec<u8> {
    let value = serde_json::to_value(project).expect("a project is JSON");
    export(schemas::json::JsonText::of_value(&value).view(), project.clone())
}

/// Why a MIDI file cannot become a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MidiError {
    /// It does not begin with `MThd`.
    #[error("this is not a MIDI file: it does not begin with MThd")]
    NotMidi,
    /// A RIFF wrapper without content.
    #[error("this RMID file contains no MIDI data")]
    EmptyRmid,
    /// It ends within its header.
    #[error("the file ends within its header")]
    HeaderCutShort,
    /// A format that does not exist.
    #[error("MIDI file format {format} is unknown; formats 0, 1 and 2 can be read")]
    UnknownFormat {
        /// The format in the header.
        format: u16,
    },
    /// A resolution of zero.
    #[error("the header gives 0 ticks per quarter note or video frame; at least 1 is needed")]
    NoTiming,
    /// A frame rate that SMPTE does not define.
    #[error(
        "the header gives a time code of {frames} frames a second; SMPTE has 24, 25, 29 (drop frame) and 30"
    )]
    UnknownFrameRate {
        /// Frames a second in the header.
        frames: i16,
    },
    /// A header without anything after it.
    #[error("the file has no tracks")]
    NoTracks,
    /// More of something than a project can have.
    #[error("the file has more than {limit} {what}, the maximum for a project")]
    TooMany {
        /// Name of the exceeded quantity.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// Its notes and controllers need more memory than a project may.
    #[error(
        "the first {notes} notes and {controls} controllers of the file need {} bytes of memory; a project may use {} \
         for them",
        event_bytes(*.notes, *.controls), MAX_EVENT_BYTES
    )]
    TooLarge {
        /// Notes before the limit is exceeded.
        notes: usize,
        /// Channel messages other than notes before the limit is exceeded.
        controls: usize,
    },
    /// Longer than a project can be.
    #[error("the file is {quarters} quarter notes long, and a project has at most {limit_quarters}")]
    TooLong {
        /// Length of the file in quarter notes.
        quarters: u64,
        /// The limit in quarter notes.
        limit_quarters: u64,
    },
}
