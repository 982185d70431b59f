//! Errors of renders, and their answers in the API.

use dsp_core::mixer::MixerError;
use dsp_core::soundfont::BankError;
use schemas::session::SessionError;

use crate::encoding::EncodingError;
use crate::error::ApiError;
use crate::plugin_hosts::HostError;

/// Reason why a render failed.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The project cannot become a session.
    #[error("the project cannot be played: {0}")]
    Session(#[from] SessionError),
    /// The engine refused the session.
    #[error("the engine cannot play the project: {0}")]
    Mixer(#[from] MixerError),
    /// The engine refused a track.
    #[error("the engine cannot play the notes: {0}")]
    Synth(#[from] dsp_core::synth::SynthError),
    /// The loudness meter does not support the file's sample rate.
    #[error(transparent)]
    Loudness(#[from] dsp_core::loudness::LoudnessError),
    /// The engine's sample rate cannot be converted to the file's sample rate.
    #[error(transparent)]
    Resample(#[from] dsp_core::resample::ResampleError),
    /// The file could not be written.
    #[error("the file could not be written: {0}")]
    Io(#[from] std::io::Error),
    /// A bank could not be used.
    #[error("the SoundFont `{name}` cannot be used: {reason}")]
    Bank {
        /// Id or file name of the bank.
        name: String,
        /// Reason why the bank could not be used.
        reason: BankProblem,
    },
    /// The SoundFonts of a song together need too much memory.
    #[error(
        "the SoundFonts of the song ({names}) together need {needed_mib} MiB of memory; at most \
         {limit_mib} MiB are allowed (SF_BANK_CACHE_BYTES)"
    )]
    Banks {
        /// Ids or file names of the banks.
        names: String,
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
    },
    /// The render would take longer than the limit.
    #[error(
        "this render would take about {expected_secs} seconds; at most {limit_secs} seconds are allowed (SF_RENDER_MAX_SECS)"
    )]
    TooMuchWork {
        /// Expected duration of the render in seconds.
        expected_secs: u64,
        /// The limit in seconds.
        limit_secs: u64,
    },
    /// The render needs more memory than a song may use.
    #[error(
        "this render needs about {needed_mib} MiB of memory; a song may use at most {limit_mib} MiB \
         (SF_RENDER_MEMORY_BYTES); largest part: {largest_mib} MiB for {largest}"
    )]
    TooMuchMemory {
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit for a song, in MiB.
        limit_mib: u64,
        /// The part that needs the most memory, with its number, such as `delay effects (12)`.
        largest: String,
        /// Memory that this part needs, in MiB.
        largest_mib: u64,
    },
    /// The song is longer than any song that can be rendered.
    #[error("the song lasts {song_secs} seconds; at most {limit_secs} seconds can be rendered")]
    TooLong {
        /// Length of the song in seconds.
        song_secs: u64,
        /// The limit in seconds.
        limit_secs: u64,
    },
    /// No SoundFont is installed, not even a default one.
    #[error("no SoundFont is installed that could play the notes")]
    NoSoundFont,
    /// A hosted plugin failed.
    #[error(transparent)]
    Plugin(#[from] HostError),
    /// A hosted plugin of a song failed.
    #[error("plugin \"{plugin_name}\" ({plugin_id}): {source}")]
    SongPlugin {
        /// Name of the plugin.
        plugin_name: String,
        /// Id of the plugin.
        plugin_id: String,
        /// The failure of the plugin.
        source: HostError,
    },
    /// A plugin cannot play what a request asks for.
    #[error("{detail}")]
    PluginSetup {
        /// Stable name of the error, for programs.
        code: &'static str,
        /// Explanation for people.
        detail: String,
    },
    /// The render was cancelled.
    #[error("the render was cancelled")]
    Cancelled,
}

impl From<EncodingError> for RenderError {
    fn from(error: EncodingError) -> Self {
        match error {
            EncodingError::Cancelled => Self::Cancelled,
            EncodingError::Io(io) => Self::Io(io),
        }
    }
}

/// Reason why a bank cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BankProblem {
    /// The bank's file cannot be read.
    #[error("its file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The bank's content is invalid.
    #[error(transparent)]
    Content(#[from] BankError),
    /// The bank needs more memory than its limit.
    #[error("it needs {needed_mib} MiB of memory; at most {limit_mib} MiB are accepted ({setting})")]
    TooLarge {
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
        /// Name of the setting that sets the limit.
        setting: &'static str,
    },
    /// Other banks in use leave too little memory for this bank.
    #[error(
        "it needs {needed_mib} MiB of memory, and the SoundFonts in use leave too little of the {limit_mib} MiB for all \
         SoundFonts (SF_BANK_CACHE_BYTES); try again in {} seconds",
        BANK_RETRY_SECS
    )]
    MemoryInUse {
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
    },
}

/// Seconds after which clients may try again (`Retry-After`) if SoundFonts in use fill the memory.
const BANK_RETRY_SECS: u64 = 10;

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> Self {
        let code = match &error {
            RenderError::Session(_) | RenderError::Mixer(_) | RenderError::Synth(_) => "not_playable",
            RenderError::Loudness(_) | RenderError::Resample(_) => "not_playable",
            RenderError::Bank { reason: BankProblem::MemoryInUse { .. }, .. } => {
                return Self::Busy { detail: error.to_string(), retry_after_secs: BANK_RETRY_SECS };
            }
            // The bank's file is not at fault: the object storage does not answer.
            RenderError::Bank { reason: BankProblem::Io(io), .. }
                if io.get_ref().is_some_and(|cause| cause.is::<object_store::Error>()) =>
            {
                return match error {
                    RenderError::Bank { reason: BankProblem::Io(io), .. } => io.into(),
                    other_error => Self::internal(other_error),
                };
            }
            RenderError::Bank { .. } | RenderError::Banks { .. } => "soundfont_unusable",
            RenderError::TooMuchMemory { .. } => "too_much_memory",
            RenderError::TooMuchWork { .. } => "too_much_work",
            RenderError::TooLong { .. } => "too_long",
            RenderError::NoSoundFont => return no_soundfont_error(),
            RenderError::Cancelled => {
                return Self::Conflict { code: "cancelled", detail: error.to_string() };
            }
            RenderError::PluginSetup { code, .. } => code,
            RenderError::Io(_) | RenderError::Plugin(_) | RenderError::SongPlugin { .. } => {
                let text = error.to_string();
                return match error {
                    RenderError::Io(io) => io.into(),
                    RenderError::SongPlugin { source, .. } => source.into_api_error(&text),
                    RenderError::Plugin(host_error) => host_error.into(),
                    other_error => Self::internal(other_error),
                };
            }
        };
        Self::Unprocessable { code, detail: error.to_string() }
    }
}

/// Returns the error 501: no SoundFont is installed or uploaded.
fn no_soundfont_error() -> ApiError {
    ApiError::NotImplemented {
        code: "soundfont_render_unavailable",
        detail: "No SoundFont is available to play the notes: upload one, put an SF2 or SF3 file into one of the folders \
                 of SF_SOUNDFONT_DIRS, or install the package timgm6mb-soundfont."
            .to_owned(),
    }
}
