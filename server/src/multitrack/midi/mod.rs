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
    /// The file is something else.
    #[error("this is not a MIDI file: it does not begin with MThd")]
    NotMidi,
    /// A RIFF wrapper without content.
    #[error("this RMID file holds no MIDI data")]
    EmptyRmid,
    /// Too short to be read at all.
    #[error("the file ends within its header")]
    HeaderCutShort,
    /// A format that does not exist.
    #[error("MIDI file format {format} is unknown; formats 0, 1 and 2 can be read")]
    UnknownFormat {
        /// The format in the header.
        format: u16,
    },
    /// A resolution of zero.
    #[error("the header says that a quarter note has no ticks")]
    NoTiming,
    /// A time code that is none of SMPTE's.
    #[error("the header names a time code of {frames} frames a second, which does not exist")]
    UnknownFrameRate {
        /// Frames a second in the header.
        frames: i16,
    },
    /// A header without anything after it.
    #[error("the file holds no tracks")]
    NoTracks,
    /// More of something than a project can hold.
    #[error("the file holds more than {limit} {what}, the most that a project can have")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// More notes and controllers than a project has memory for.
    #[error(
        "the first {notes} notes and {controls} controllers of the file take {} bytes in a project, and it has at most {} \
         for them",
        event_bytes(*.notes, *.controls), MAX_EVENT_BYTES
    )]
    TooLarge {
        /// Notes up to where the limit is passed.
        notes: usize,
        /// Controllers up to there: every channel message but notes.
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
