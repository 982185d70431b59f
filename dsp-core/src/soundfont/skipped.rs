//! What was left out of a bank, and why: real files have bad regions, and a bank is played
//! without them.

use alloc::string::String;
use alloc::vec::Vec;

/// Something that a bank was loaded without.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Skipped {
    /// Where it stands.
    pub place: Place,
    /// What is wrong with it.
    pub reason: Reason,
}

/// A place in a bank. Numbers count from 0 in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Place {
    /// A whole chunk.
    #[error("chunk {0}")]
    Chunk(&'static str),
    /// A preset.
    #[error("preset {number} ({name})")]
    Preset {
        /// Its number.
        number: usize,
        /// Its name.
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
    /// An instrument.
    #[error("instrument {number} ({name})")]
    Instrument {
        /// Its number.
        number: usize,
        /// Its name.
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
    /// A sample.
    #[error("sample {number} ({name})")]
    Sample {
        /// Its number.
        number: usize,
        /// Its name.
        name: String,
    },
}

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A list begins after its end or ends outside its table.
    #[error("its {what} run from {start} to {end}, of {limit}")]
    List {
        /// What the list holds.
        what: &'static str,
        /// Index of its first entry.
        start: usize,
        /// Index behind its last entry.
        end: usize,
        /// Entries in the table.
        limit: usize,
    },
    /// A list that would be read too often together with the lists before it, which it overlaps.
    #[error("its {count} {what} are too many: lists of the bank overlap and may have {limit} together")]
    SharedList {
        /// What the list holds.
        what: &'static str,
        /// Its entries.
        count: usize,
        /// Most entries of all lists together.
        limit: usize,
    },
    /// It names something that the bank does not have.
    #[error("it plays {what} {index}, of {limit}")]
    Target {
        /// Kind of what it names.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        limit: usize,
    },
    /// It names a sample that cannot be played.
    #[error("it plays sample {0}, which cannot be played")]
    UnplayableSample(usize),
    /// A zone that plays nothing and is not the first one.
    #[error("it plays no {0}")]
    NoTarget(&'static str),
    /// A range that does not stand before the other generators (section 8.1.2).
    #[error("its {0} does not stand before the other generators and does not count")]
    MisplacedRange(&'static str),
    /// A range of which no key or velocity is part.
    #[error("its {what} from {low} to {high} is empty")]
    EmptyRange {
        /// Which range.
        what: &'static str,
        /// Lowest value.
        low: u8,
        /// Highest value.
        high: u8,
    },
    /// A generator that the specification does not know.
    #[error("generator {0} is unknown")]
    UnknownGenerator(u16),
    /// More zones than can be looked at when a note starts.
    #[error("its instruments have more than {limit} zones together; it plays the first {from} of its own")]
    TooManyZones {
        /// Zones of the preset that are kept.
        from: usize,
        /// Most zones of instruments that they lead to.
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
    /// A modulator of something that cannot be modulated.
    #[error("a modulator ends in generator {0}, which is unknown or cannot be modulated")]
    ModulatorDestination(u16),
    /// A modulator with an unknown transform (section 8.3).
    #[error("a modulator has the transform {0}, which is unknown")]
    ModulatorTransform(u16),
    /// A link to a modulator that is not there or takes no links, a circle of links, or a
    /// modulator that waits for a link and gets none (section 9.5.4).
    #[error("modulator {0} is part of links that lead nowhere")]
    ModulatorLink(usize),
    /// More modulators than a zone can have.
    #[error("it has more than {0} modulators, its defaults included")]
    TooManyModulators(usize),
    /// Sample data in the sound card's ROM.
    #[error("its sound is in a ROM (type {0:#06x})")]
    Rom(u16),
    /// A sample without any frames in the file.
    #[error("it runs from frame {start} to {end}, of {limit}")]
    SampleFrames {
        /// First frame.
        start: u32,
        /// Frame behind the last one.
        end: u32,
        /// Frames of sample data.
        limit: usize,
    },
    /// A sample that goes on behind the end of the sample data; what is there is played.
    #[error("it ends at frame {end}, of {limit}, and is played as far as it goes")]
    SampleCut {
        /// Frame behind the last one.
        end: u32,
        /// Frames of sample data.
        limit: usize,
    },
    /// A loop that cannot be followed, or none where a zone wants one; the sample plays once.
    #[error("its loop from frame {start} to {end} cannot be followed")]
    Loop {
        /// First frame.
        start: u32,
        /// Frame behind the last one.
        end: u32,
    },
    /// A sample with a rate that cannot be meant.
    #[error("it has a rate of {0} Hz; 100 to 768000 can be played")]
    SampleRate(u32),
    /// Low bytes that do not belong to the sample data (section 6.2); 16 bits are played.
    #[error("its {low_bytes} low bytes do not fit {frames} frames of version {major}.{minor}")]
    LowBytes {
        /// Size of the chunk.
        low_bytes: usize,
        /// Frames of sample data.
        frames: usize,
        /// Major version of the file.
        major: u16,
        /// Minor version of the file.
        minor: u16,
    },
    /// A sample without a stream of its own in a bank whose sample data was packed (form type
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
    /// A compressed sample that says it is empty or unbelievably long.
    #[error("its Ogg Vorbis stream of {frames} frames is not between 1 and {most}")]
    VorbisFrames {
        /// Frames in the stream.
        frames: u64,
        /// Most that a stream of its size may have.
        most: u64,
    },
    /// A table with more records than are read.
    #[error("it has {count} records; the first {limit} are read")]
    TooManyRecords {
        /// Records of the table.
        count: usize,
        /// Most that are read.
        limit: usize,
    },
    /// A table that is missing or does not hold whole records; it counts as empty.
    #[error("it is not a table of {record_bytes}-byte records")]
    Table {
        /// Size of one record.
        record_bytes: usize,
    },
}

/// Most entries that are kept; the rest is only counted.
const MOST_ENTRIES: usize = 1_000;

/// Collects what is left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    pub(super) entries: Vec<Skipped>,
    /// All of them, those beyond the limit included.
    pub(super) total: usize,
}

impl Report {
    pub(super) fn add(&mut self, reason: Reason, place: impl FnOnce() -> Place) {
        self.total += 1;
        if self.entries.len() < MOST_ENTRIES {
            self.entries.push(Skipped { place: place(), reason });
        }
    }
}
