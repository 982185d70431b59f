//! The parts of a file that a bank was loaded without, and the reasons. Many files have damaged
//! parts, and their banks are played without these.

use alloc::vec::Vec;

use super::location::Location;

/// A part of the file that a bank was loaded without.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {reason}")]
pub struct Skipped {
    /// The part of the file.
    pub location: Location,
    /// The problem.
    pub reason: Reason,
}

/// Why a part of a file was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A list begins after its end or ends outside its table.
    #[error("its {kind} from {start} to {end} are outside the {limit} of the file")]
    List {
        /// The kind of entry.
        kind: &'static str,
        /// Index of its first entry.
        start: usize,
        /// Index after its last entry.
        end: usize,
        /// Number of entries in the table.
        limit: usize,
    },
    /// A list that overlaps others, whose total length exceeds the limit.
    #[error("its {count} {kind} are too many: lists of the bank overlap and may have {limit} together")]
    SharedList {
        /// The kind of entry.
        kind: &'static str,
        /// Number of its entries.
        count: usize,
        /// Maximum number of entries of all lists together.
        limit: usize,
    },
    /// It refers to an instrument or sample that the bank does not have.
    #[error("it plays {kind} {index}, of {limit}")]
    Target {
        /// "instrument" or "sample".
        kind: &'static str,
        /// The index.
        index: usize,
        /// Number of them in the bank.
        limit: usize,
    },
    /// It refers to a sample that cannot be played.
    #[error("it plays sample {0}, which cannot be played")]
    UnplayableSample(usize),
    /// A zone that refers to nothing and is not the global zone.
    #[error("it plays no {0}")]
    NoTarget(&'static str),
    /// A range that does not precede the other generators (section 8.1.2).
    #[error("its {0} does not precede the other generators and is ignored")]
    MisplacedRange(&'static str),
    /// A range without any key or velocity.
    #[error("its {kind} from {low} to {high} is empty")]
    EmptyRange {
        /// The kind of range.
        kind: &'static str,
        /// Lowest value.
        low: u8,
        /// Highest value.
        high: u8,
    },
    /// A generator that the specification does not know.
    #[error("generator {0} is unknown")]
    UnknownGenerator(u16),
    /// More zones than a note can search.
    #[error("its instruments have more than {limit} zones together; it plays the first {from} of its own")]
    TooManyZones {
        /// Number of zones of the preset that are kept.
        from: usize,
        /// Maximum number of zones of their instruments.
        limit: usize,
    },
    /// A second preset of the same bank and program.
    #[error("bank {bank} program {program} is taken by another preset")]
    TakenPreset {
        /// Bank number.
        bank: u16,
        /// Program number.
        program: u16,
    },
    /// A modulator with a source that is unknown or not allowed (section 8.2).
    #[error("a modulator has the source {0:#06x}, which is unknown or not allowed")]
    ModulatorSource(u16),
    /// A modulator of a generator that cannot be modulated.
    #[error("a modulator has the destination {0}, which is unknown or cannot be modulated")]
    ModulatorDestination(u16),
    /// A modulator with an unknown transform (section 8.3).
    #[error("a modulator has the transform {0}, which is unknown")]
    ModulatorTransform(u16),
    /// A link to a modulator that does not exist or has no linked source (section 9.5.4). Also a
    /// cycle of links, or a linked source without a link.
    #[error("modulator {0} has a broken link")]
    ModulatorLink(usize),
    /// More modulators than a zone can have.
    #[error("it has more than {0} modulators, its defaults included")]
    TooManyModulators(usize),
    /// Sample data in the ROM of a sound card.
    #[error("its sample data are in a ROM (type {0:#06x})")]
    Rom(u16),
    /// A sample without any frames in the file.
    #[error("it has no frames: it is from frame {start} to {end}, of {limit}")]
    SampleFrames {
        /// First frame.
        start: u32,
        /// Frame after the last one.
        end: u32,
        /// Number of frames of sample data.
        limit: usize,
    },
    /// A sample that ends after the end of the sample data. The existing frames are played.
    #[error("it ends at frame {end}, of {limit}; the existing frames are played")]
    SampleCut {
        /// Frame after the last one.
        end: u32,
        /// Number of frames of sample data.
        limit: usize,
    },
    /// An invalid loop, or no loop although a zone has a loop mode. The sample plays once.
    #[error("its loop from frame {start} to {end} is invalid")]
    Loop {
        /// First frame.
        start: u32,
        /// Frame after the last one.
        end: u32,
    },
    /// A sample with an implausible rate.
    #[error("it has a rate of {0} Hz; 100 to 768000 can be played")]
    SampleRate(u32),
    /// Low bytes that do not match the sample data (section 6.2). The samples play with 16 bits.
    #[error("its {low_bytes} low bytes do not fit {frames} frames of version {major}.{minor}")]
    LowBytes {
        /// Size of the chunk.
        low_bytes: usize,
        /// Number of frames of sample data.
        frames: usize,
        /// Major version of the file.
        major: u16,
        /// Minor version of the file.
        minor: u16,
    },
    /// A sample without an Ogg Vorbis stream in a bank whose sample data are packed (form type
    /// `sfpk`).
    #[error("the bank's sample data is packed; unpacked, as an SF2, it can be played")]
    Packed,
    /// A compressed sample in a build that plays PCM only.
    #[error("it is Ogg Vorbis, which this build does not decode")]
    Compressed,
    /// A compressed sample that cannot be decoded.
    #[error("its Ogg Vorbis stream cannot be decoded: {0}")]
    Vorbis(&'static str),
    /// A compressed sample that is not mono.
    #[error("its Ogg Vorbis stream has {0} channels; samples have one")]
    VorbisChannels(u8),
    /// A compressed sample that is empty or implausibly long.
    #[error("its Ogg Vorbis stream has {frames} frames; 1 to {max} are accepted")]
    VorbisFrames {
        /// Number of frames in the stream.
        frames: u64,
        /// Maximum for a stream of its size.
        max: u64,
    },
    /// A table with more records than are read.
    #[error("it has {count} records; the first {limit} are read")]
    TooManyRecords {
        /// Number of records of the table.
        count: usize,
        /// Maximum number of records that are read.
        limit: usize,
    },
    /// A table that is missing or does not hold whole records. It is treated as empty.
    #[error("it is not a table of {record_bytes}-byte records")]
    Table {
        /// Size of one record.
        record_bytes: usize,
    },
}

/// Maximum number of entries that are stored. Further ones are counted only.
const ENTRIES_MAX: usize = 1_000;

/// Collects the parts that are left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    pub(super) entries: Vec<Skipped>,
    /// Number of all parts, including those beyond the limit.
    pub(super) total: usize,
}

impl Report {
    pub(super) fn add(&mut self, reason: Reason, location: impl FnOnce() -> Location) {
        self.total += 1;
        if self.entries.len() < ENTRIES_MAX {
            self.entries.push(Skipped { location: location(), reason });
        }
    }
}
