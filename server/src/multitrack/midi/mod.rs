//! Reads Standard MIDI files into projects, and writes projects as Standard MIDI files.

mod banks;
mod channels;
mod exclusives;
mod export;
mod file;
mod import;
#[cfg(test)]
mod songs_test;

pub use export::export;
pub use import::{ImportOptions, ImportedProject, import};

use schemas::limits::{MAX_EVENT_BYTES, event_bytes};

/// Exports a project that has just been imported.
#[cfg(test)]
fn exported(project: &schemas::Project) -> Vec<u8> {
    let value = serde_json::to_value(project).expect("a project is JSON");
    export(schemas::json::JsonText::of_value(&value).view(), project.clone())
}

/// Reason why a MIDI file cannot become a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MidiError {
    /// The file does not begin with `MThd`.
    #[error("this is not a MIDI file: it does not begin with MThd")]
    NotMidi,
    /// The RIFF wrapper (RMID) contains no MIDI data.
    #[error("this RMID file contains no MIDI data")]
    EmptyRmid,
    /// The file ends within its header.
    #[error("the file ends within its header")]
    HeaderCutShort,
    /// The format in the header does not exist.
    #[error("MIDI file format {format} is unknown; formats 0, 1 and 2 can be read")]
    UnknownFormat {
        /// The format in the header.
        format: u16,
    },
    /// The resolution in the header is zero.
    #[error("the header says 0 ticks per quarter note or video frame; at least 1 is needed")]
    NoTiming,
    /// SMPTE does not define the frame rate in the header.
    #[error(
        "the header says a time code of {frames} frames per second; SMPTE defines 24, 25, 29 (drop frame) and 30"
    )]
    UnknownFrameRate {
        /// Frames per second in the header.
        frames: i16,
    },
    /// The header is not followed by tracks.
    #[error("the file has no tracks")]
    NoTracks,
    /// The file has more tempos, time signatures, markers or tracks than a project can have.
    #[error("the file has more than {limit} {kind}, the maximum for a project")]
    TooMany {
        /// Name of the elements of which there are too many, in the plural.
        kind: &'static str,
        /// Maximum number of them in a project.
        limit: usize,
    },
    /// The notes and other channel messages need more memory than a project may use.
    #[error(
        "the first {notes} notes and {controls} other channel messages of the file need {} bytes of memory; a project \
         may use {} for them",
        event_bytes(*.notes, *.controls), MAX_EVENT_BYTES
    )]
    TooLarge {
        /// Notes before the limit is exceeded.
        notes: usize,
        /// Channel messages other than notes before the limit is exceeded.
        controls: usize,
    },
    /// The file is longer than a project can be.
    #[error("the file is {quarters} quarter notes long, and a project can have at most {limit_quarters}")]
    TooLong {
        /// Length of the file in quarter notes.
        quarters: u64,
        /// The limit in quarter notes.
        limit_quarters: u64,
    },
}
