//! Where the engine will find what a project names, and what it will not.

/// Where a piece of audio is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudioPlace {
    /// Audio slot of the session.
    pub slot: u32,
    /// Length in frames at the session's sample rate.
    pub frames: u64,
    /// Sample rate of the file in hertz: items count their frames by it.
    pub file_rate_hz: u32,
}

/// Knows where the caller will put what a project names.
pub trait Sounds {
    /// Slot of the bank of a soundfont id (`None` is the default bank), or `None` where there is no
    /// such bank: its tracks play no notes.
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32>;

    /// Where the audio of a file of the service is, or `None` where there is none: its items are
    /// silent.
    fn audio(&mut self, server_file_id: &str) -> Option<AudioPlace>;
}

/// Banks alone.
pub(super) struct Banks<F>(pub(super) F);

impl<F: FnMut(Option<&str>) -> Option<u32>> Sounds for Banks<F> {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        self.0(soundfont_id)
    }

    fn audio(&mut self, _server_file_id: &str) -> Option<AudioPlace> {
        None
    }
}

/// Something of a project that is not part of its session, or not as it stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// JSON pointer (RFC 6901) to it.
    pub pointer: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why something is not part of a session, or not as the project says.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LeftOutReason {
    /// A plugin, which the engine does not run.
    #[error("plugins are not part of what the engine plays")]
    Plugin,
    /// A built-in effect that this version does not have.
    #[error("there is no built-in effect \"{name}\"")]
    UnknownEffect {
        /// What the project calls it.
        name: String,
    },
    /// A parameter that its effect does not have.
    #[error("the effect has no parameter \"{id}\"")]
    UnknownParameter {
        /// What the project calls it.
        id: String,
    },
    /// A value that its parameter cannot have, such as the name of a choice that is none of its
    /// choices.
    #[error("the parameter has no such value")]
    Value,
    /// A number outside the range of what it is for, which counts as the nearer end.
    #[error("{value:?} counts as {counts_as}: the range is {} to {}", .range[0], .range[1])]
    OutOfRange {
        /// The number.
        value: f64,
        /// The end of the range that it counts as.
        counts_as: f64,
        /// Both ends.
        range: [f64; 2],
    },
    /// An effect with the id of one before it, which automation could not tell from that.
    #[error("an effect before it has the id \"{id}\" already")]
    SecondOfId {
        /// The id.
        id: String,
    },
    /// An automation of something that is not there.
    #[error("there is nothing that goes by \"{target}\"")]
    UnknownTarget {
        /// What the project calls it.
        target: String,
    },
    /// The id of a track that is not there.
    #[error("there is no track \"{id}\"")]
    UnknownTrack {
        /// The id.
        id: String,
    },
    /// Audio that the caller does not have.
    #[error("its audio is not there")]
    Audio,
    /// An impulse response that is longer than its effect takes.
    #[error("it lasts {secs:.2} s, longer than the {max_secs} s that an impulse response may last")]
    LongImpulse {
        /// How long it is, in seconds.
        secs: f64,
        /// How long it may be, in seconds.
        max_secs: f64,
    },
    /// An audio item of which nothing can sound.
    #[error("it begins behind the end of its audio")]
    BehindAudio,
}

impl LeftOutReason {
    /// What is to be said of a number that is held within a range; nothing where it lies inside.
    pub(super) fn of_range(value: f64, range: [f64; 2]) -> Option<Self> {
        let counts_as = value.clamp(range[0], range[1]);
        (counts_as != value).then_some(Self::OutOfRange { value, counts_as, range })
    }
}
