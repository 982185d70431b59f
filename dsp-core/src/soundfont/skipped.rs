//! Reports the damaged parts of a file. Many files have such parts. Their banks are loaded without
//! them.

use alloc::vec::Vec;

use super::location::Location;

/// A part of the file that is left out or changed, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {reason}")]
pub struct BankIssue {
    /// The part of the file.
    pub location: Location,
    /// Why the part is left out or changed.
    pub reason: BankIssueReason,
}

/// Why a part of a file is left out or changed. The texts continue a [`Location`]: "it" is the
/// part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BankIssueReason {
    /// A list starts after its end, or ends after the end of its table.
    #[error("its {kind} from {start} to {end} are not a valid range: the file has {limit} {kind}")]
    List {
        /// The kind of entry in the plural, such as `zones`.
        kind: &'static str,
        /// Index of the first entry of the list.
        start: usize,
        /// Index after the last entry of the list.
        end: usize,
        /// Number of entries in the table.
        limit: usize,
    },
    /// A list that would exceed the limit for the total length of all lists. Lists of a valid bank
    /// do not overlap and stay below the limit.
    #[error("its {count} {kind} are skipped: overlapping lists would exceed {limit} {kind} in total")]
    SharedList {
        /// The kind of entry in the plural, such as `zones`.
        kind: &'static str,
        /// Number of entries of the list.
        count: usize,
        /// Maximum number of entries of all lists in total.
        limit: usize,
    },
    /// A zone refers to an instrument or sample that the bank does not have.
    #[error("it plays {kind} {index}, but the bank has only {limit} {kind}s")]
    Target {
        /// The kind of target: "instrument" or "sample".
        kind: &'static str,
        /// Index of the instrument or sample.
        index: usize,
        /// Number of instruments or samples in the bank.
        limit: usize,
    },
    /// A zone refers to a sample that cannot be played.
    #[error("it plays sample {0}, which cannot be played")]
    UnplayableSample(usize),
    /// A zone that refers to no instrument or sample and is not the global zone.
    #[error("it plays no {0}")]
    NoTarget(&'static str),
    /// A range that does not precede the other generators (section 8.1.2).
    #[error("its {0} does not precede the other generators and is ignored")]
    MisplacedRange(&'static str),
    /// A range that contains no key or velocity.
    #[error("its {kind} from {low} to {high} is empty")]
    EmptyRange {
        /// The kind of range: `key range` or `velocity range`.
        kind: &'static str,
        /// The stated lowest key or velocity.
        low: u8,
        /// The stated highest key or velocity.
        high: u8,
    },
    /// A generator that the specification does not define.
    #[error("generator {0} is unknown")]
    UnknownGenerator(u16),
    /// A preset whose instruments have more zones than the start of a note may search.
    #[error(
        "its instruments have more than {limit} zones in total; only its first {played_zones} zones are played"
    )]
    TooManyZones {
        /// Number of zones of the preset that are played.
        played_zones: usize,
        /// Maximum total number of zones of the instruments.
        limit: usize,
    },
    /// A second preset of the same bank and program.
    #[error("another preset already has bank {bank} and program {program}")]
    TakenPreset {
        /// Bank number.
        bank: u16,
        /// Program number.
        program: u16,
    },
    /// A modulator with a source that is unknown or not allowed (section 8.2).
    #[error("a modulator has the source {0:#06x}, which is unknown or not allowed")]
    ModulatorSource(u16),
    /// A modulator whose destination is unknown or cannot be modulated.
    #[error("a modulator has the destination {0}, which is unknown or cannot be modulated")]
    ModulatorDestination(u16),
    /// A modulator with an unknown transform (section 8.3).
    #[error("a modulator has the transform {0}, which is unknown")]
    ModulatorTransform(u16),
    /// A modulator with a link to a modulator that does not exist or has no linked source (section
    /// 9.5.4). Also a modulator in a cycle of links, or with a linked source but no link to it.
    #[error("modulator {0} has a broken link and is skipped")]
    ModulatorLink(usize),
    /// More modulators than a zone can have.
    #[error("it has more than {0} modulators, including the default modulators; the excess is ignored")]
    TooManyModulators(usize),
    /// Sample data in the ROM of a sound card.
    #[error("its sample data are in the ROM of a sound card, not in the file (type {0:#06x})")]
    Rom(u16),
    /// A sample that has no frames in the file.
    #[error("it has no frames: it is from frame {start} to {end}, and the file has {limit} frames")]
    SampleFrames {
        /// First frame of the sample.
        start: u32,
        /// Frame after the last frame of the sample.
        end: u32,
        /// Number of frames of sample data in the file.
        limit: usize,
    },
    /// A sample that ends after the end of the sample data. The existing frames are played.
    #[error("it ends at frame {end}, but the file has only {limit} frames; these are played")]
    SampleCut {
        /// Frame after the last frame of the sample.
        end: u32,
        /// Number of frames of sample data in the file.
        limit: usize,
    },
    /// An invalid loop, or no loop although a zone has a loop mode. The sample plays once.
    #[error("its loop from frame {start} to {end} is invalid; it plays without a loop")]
    Loop {
        /// First frame of the loop.
        start: u32,
        /// Frame after the last frame of the loop.
        end: u32,
    },
    /// A sample whose sample rate, in hertz, is not supported.
    #[error("it has a sample rate of {0} Hz; 100 to 768000 Hz are supported")]
    SampleRate(u32),
    /// A chunk of low bytes that does not match the sample data (section 6.2). The samples are
    /// played with 16 bits.
    #[error(
        "its {low_bytes} bytes do not match {frames} frames in a file of version {major}.{minor:02}: \
         files from version 2.04 on need one byte for each frame; the samples are played with 16 bits"
    )]
    LowBytes {
        /// Size of the chunk in bytes.
        low_bytes: usize,
        /// Number of frames of sample data.
        frames: usize,
        /// Major version of the file.
        major: u16,
        /// Minor version of the file.
        minor: u16,
    },
    /// A sample of a bank whose sample data are compressed as a whole (form type `sfpk`).
    #[error("the sample data of the bank are packed; convert the bank to an SF2 file")]
    Packed,
    /// A compressed sample, in a build without the feature `vorbis`.
    #[error("it is compressed with Ogg Vorbis, which this build cannot decode")]
    Compressed,
    /// A compressed sample that cannot be decoded.
    #[error("its Ogg Vorbis stream cannot be decoded: {0}")]
    Vorbis(&'static str),
    /// A compressed sample that is not mono.
    #[error("its Ogg Vorbis stream has {0} channels; only mono streams are supported")]
    VorbisChannels(u8),
    /// A compressed sample that is empty, too long for the size of its stream, or too long for any
    /// stream.
    #[error("its Ogg Vorbis stream has {frames} frames; 1 to {max} are accepted")]
    VorbisFrames {
        /// Number of frames in the stream.
        frames: u64,
        /// Maximum number of frames for a stream of this size, at most 2^26.
        max: u64,
    },
    /// A table with more records than are read.
    #[error("it has {count} records; only the first {limit} are read")]
    TooManyRecords {
        /// Number of records of the table.
        count: usize,
        /// Maximum number of records that are read.
        limit: usize,
    },
    /// A table that is missing, or whose size is not a whole number of records. It is treated as
    /// empty.
    #[error("its {size_bytes} bytes are not a table of {record_bytes}-byte records; it is treated as empty")]
    Table {
        /// Size of the table in bytes; 0 for a missing table.
        size_bytes: usize,
        /// Size of one record in bytes.
        record_bytes: usize,
    },
}

/// Maximum number of entries that are stored. Further entries are only counted.
const ENTRIES_MAX: usize = 1_000;

/// Collects the parts that are left out or changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    pub(super) entries: Vec<BankIssue>,
    /// Number of all entries, including those that are not stored.
    pub(super) total: usize,
}

impl Report {
    pub(super) fn add(&mut self, reason: BankIssueReason, location: impl FnOnce() -> Location) {
        self.total += 1;
        if self.entries.len() < ENTRIES_MAX {
            self.entries.push(BankIssue { location: location(), reason });
        }
    }
}
