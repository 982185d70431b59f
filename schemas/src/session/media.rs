//! Slots of a project's banks and audio files, and reports of omitted parts.

/// Audio in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolvedAudio {
    /// Audio slot of the session.
    pub slot: u32,
    /// Length in frames at the session's sample rate.
    pub frames: u64,
    /// Sample rate of the file in hertz, in which items count their frames.
    pub file_rate_hz: u32,
}

/// Resolves the banks and audio files of a project to slots.
pub trait MediaResolver {
    /// Slot of the bank of a soundfont id (`None` is the default bank). Tracks for which it returns
    /// `None` play no notes.
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32>;

    /// The audio of a file of the service. Items for which it returns `None` are silent.
    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio>;
}

/// Banks only.
pub(super) struct Banks<F>(pub(super) F);

impl<F: FnMut(Option<&str>) -> Option<u32>> MediaResolver for Banks<F> {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        self.0(soundfont_id)
    }

    fn audio(&mut self, _server_file_id: &str) -> Option<ResolvedAudio> {
        None
    }
}

/// A part of a project that is missing in its session, or changed.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// JSON pointer (RFC 6901) to the part.
    pub pointer: String,
    /// The reason.
    pub reason: LeftOutReason,
}

/// The reason why a part of a project is missing in its session, or changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LeftOutReason {
    /// A plugin, which the engine cannot run.
    #[error("the engine cannot run plugins")]
    Plugin,
    /// A built-in effect that this version does not have.
    #[error("there is no built-in effect \"{name}\"")]
    UnknownEffect {
        /// Name in the project.
        name: String,
    },
    /// A parameter that its effect does not have.
    #[error("the effect has no parameter \"{id}\"")]
    UnknownParameter {
        /// Id in the project.
        id: String,
    },
    /// A value of the wrong type for its parameter, such as an unknown name of a choice.
    #[error("the value has the wrong type for this parameter, or is not one of its choices")]
    InvalidValue,
    /// A number out of range, which is clamped.
    #[error("{value:?} is outside the range {} to {}; {clamped} is used instead", .range[0], .range[1])]
    OutOfRange {
        /// The number.
        value: f64,
        /// The clamped value.
        clamped: f64,
        /// Both ends.
        range: [f64; 2],
    },
    /// An effect with the id of an earlier one; automation could not distinguish them.
    #[error("an earlier effect has the same id \"{id}\"; ids must be unique")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// Automation of an unknown target.
    #[error("the automation target \"{target}\" does not exist")]
    UnknownTarget {
        /// Target in the project.
        target: String,
    },
    /// The id of a missing track.
    #[error("there is no track \"{id}\"")]
    UnknownTrack {
        /// The id.
        id: String,
    },
    /// Audio that is missing.
    #[error("its audio file is missing")]
    MissingAudio,
    /// An impulse response that is longer than its effect allows.
    #[error("the impulse response lasts {secs:.2} s; the limit is {max_secs} s")]
    LongImpulse {
        /// Its length in seconds.
        secs: f64,
        /// The maximum length in seconds.
        max_secs: f64,
    },
    /// An audio item that starts after the end of its audio.
    #[error("the item starts after the end of its audio file")]
    StartsAfterAudio,
}

impl LeftOutReason {
    /// The report for a number that is clamped to a range; `None` inside the range.
    pub(super) fn of_range(value: f64, range: [f64; 2]) -> Option<Self> {
        let clamped = value.clamp(range[0], range[1]);
        (clamped != value).then_some(Self::OutOfRange { value, clamped, range })
    }
}
