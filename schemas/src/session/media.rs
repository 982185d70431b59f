//! Slots of a project's banks and audio files, and reports of parts that are left out or changed.

/// The audio of a file or of a plugin, in a slot of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolvedAudio {
    /// Audio slot of the session.
    pub slot: u32,
    /// Length in frames at the session's sample rate.
    pub frames: u64,
    /// Sample rate of the file in hertz. Audio items count their frames at this rate.
    pub file_rate_hz: u32,
}

/// Resolves the banks and audio files of a project to slots.
pub trait MediaResolver {
    /// Returns the slot of the bank with a soundfont id (`None` is the default bank). Tracks whose
    /// bank has no slot play no notes.
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32>;

    /// Returns the audio of a file of the service. Items whose file has no audio are silent.
    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio>;

    /// Returns the recorded output of a plugin, from the start of the song on. `track_id` is `None`
    /// for an effect of the master, and `effect_id` for the instrument of the track. Without
    /// recorded output, which is the default, an effect passes its input and an instrument is
    /// silent.
    fn plugin_output(&mut self, _track_id: Option<&str>, _effect_id: Option<&str>) -> Option<ResolvedAudio> {
        None
    }
}

/// A resolver for banks, which has no audio files.
pub(super) struct Banks<F>(pub(super) F);

impl<F: FnMut(Option<&str>) -> Option<u32>> MediaResolver for Banks<F> {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        self.0(soundfont_id)
    }

    fn audio(&mut self, _server_file_id: &str) -> Option<ResolvedAudio> {
        None
    }
}

/// A part of a project that is missing from its session, or that was changed in it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectIssue {
    /// JSON pointer (RFC 6901) to the part.
    pub pointer: String,
    /// Why the part is missing or was changed.
    pub reason: ProjectIssueReason,
}

/// The reason why a part of a project is missing from its session, or was changed in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProjectIssueReason {
    /// A plugin effect whose output is not recorded. The engine cannot run plugins.
    #[error("the engine cannot run plugins")]
    Plugin,
    /// A plugin effect that cannot process audio.
    #[error("the plugin does not process the sound: {reason}")]
    PluginEffect {
        /// Reason, as a sentence without a capital and a full stop.
        reason: String,
    },
    /// The plugin instrument of a track that has notes.
    #[error("the plugin cannot play the notes: {reason}")]
    PluginInstrument {
        /// Reason, as a sentence without a capital and a full stop.
        reason: String,
    },
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
    #[error("{value} is not a valid value of \"{id}\", which must be {expected}")]
    InvalidValue {
        /// The value in the project, in short.
        value: String,
        /// Id of the parameter.
        id: String,
        /// Values that the parameter accepts.
        expected: String,
    },
    /// A number out of range, which is clamped.
    #[error("{value:?} is outside the range {} to {}; {clamped} is used instead", .range[0], .range[1])]
    OutOfRange {
        /// The number in the project, before clamping.
        value: f64,
        /// The value that is used instead, at the nearest end of the range.
        clamped: f64,
        /// Minimum and maximum of the value.
        range: [f64; 2],
    },
    /// An effect with the id of an earlier effect. Automation could not distinguish the two
    /// effects.
    #[error("an earlier effect has the same id \"{id}\"; ids must be unique")]
    DuplicateId {
        /// Id that both effects have.
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
        /// Id in the project, to which no track belongs.
        id: String,
    },
    /// Audio that is missing.
    #[error("the audio file \"{id}\" is missing")]
    MissingAudio {
        /// Id of the file in the project.
        id: String,
    },
    /// An audio item without the id of an audio file.
    #[error("the item has no audio file")]
    NoAudioFile,
    /// An impulse response that is longer than its effect allows.
    #[error("the impulse response lasts {secs:.5} s; the limit is {max_secs} s")]
    LongImpulse {
        /// The length of the impulse response in seconds.
        secs: f64,
        /// The maximum length in seconds.
        max_secs: f64,
    },
    /// An audio item that starts after the end of its audio.
    #[error(
        "the item starts at frame {offset_frames} of its audio file, which has only {frames} frames at the sample rate \
         of the song"
    )]
    StartsAfterAudio {
        /// Start in the audio, in frames at the session's sample rate.
        offset_frames: u64,
        /// Length of the audio, in frames at the session's sample rate.
        frames: u64,
    },
}

impl ProjectIssueReason {
    /// Returns the reason for a number outside `range`, which is clamped; `None` for a number
    /// inside.
    pub(super) fn of_range(value: f64, range: [f64; 2]) -> Option<Self> {
        let clamped = value.clamp(range[0], range[1]);
        (clamped != value).then_some(Self::OutOfRange { value, clamped, range })
    }
}
