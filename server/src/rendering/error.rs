//! Errors of renders, and their answers in the API.

use dsp_core::mixer::MixerError;
use dsp_core::soundfont::BankError;
use dsp_core::wav::WavError;
use schemas::session::SessionError;

use crate::error::ApiError;

/// Why a render failed.
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
    /// The loudness meter does not support the sample rate.
    #[error(transparent)]
    Loudness(#[from] dsp_core::loudness::LoudnessError),
    /// The engine's sample rate cannot be converted to the file's.
    #[error(transparent)]
    Resample(#[from] dsp_core::resample::ResampleError),
    /// The file could not be written.
    #[error(transparent)]
    Wav(#[from] WavError),
    /// A bank could not be opened.
    #[error("the SoundFont `{name}` cannot be used: {reason}")]
    Bank {
        /// Id or file name of the bank.
        name: String,
        /// The problem.
        reason: BankProblem,
    },
    /// The SoundFonts of a song need too much memory together.
    #[error(
        "the SoundFonts of the song ({names}) need {needed_mib} MiB of memory together; SoundFonts may take \
         {limit_mib} MiB (SF_BANK_CACHE_BYTES)"
    )]
    Banks {
        /// Ids or file names of the banks.
        names: String,
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
    },
    /// The render takes longer than the limit.
    #[error(
        "rendering this takes about {expected_secs} seconds, and a render may take {limit_secs} (SF_RENDER_MAX_SECS)"
    )]
    TooMuchWork {
        /// Projected duration in seconds.
        expected_secs: u64,
        /// The limit in seconds.
        limit_secs: u64,
    },
    /// The render needs more memory than a song may use.
    #[error(
        "rendering this needs about {needed_mib} MiB of memory, and a song may have {limit_mib} MiB \
         (SF_RENDER_MEMORY_BYTES); {largest} need {largest_mib} MiB of that"
    )]
    TooMuchMemory {
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit for a song, in MiB.
        limit_mib: u64,
        /// The largest consumer, with its count.
        largest: String,
        /// Memory of the largest consumer, in MiB.
        largest_mib: u64,
    },
    /// The song does not fit into a WAV file.
    #[error("the song lasts {song_secs} seconds, and a WAV file of this kind holds at most {limit_secs}")]
    TooLong {
        /// Length of the song in seconds.
        song_secs: u64,
        /// The limit in seconds.
        limit_secs: u64,
    },
    /// No SoundFont is installed, not even a default.
    #[error("no SoundFont is installed to play the notes")]
    NoSoundFont,
    /// The render was cancelled.
    #[error("the render was cancelled")]
    Cancelled,
}

/// Why a bank cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BankProblem {
    /// Its file cannot be read.
    #[error("its file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// Its content is invalid.
    #[error(transparent)]
    Content(#[from] BankError),
    /// It needs more memory than its limit.
    #[error("it needs {needed_mib} MiB of memory; at most {limit_mib} MiB are accepted ({setting})")]
    TooLarge {
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
        /// The setting with the limit.
        setting: &'static str,
    },
    /// Other banks in use leave too little memory for it.
    #[error(
        "it needs {needed_mib} MiB of memory, and SoundFonts that are being played fill the {limit_mib} MiB that all \
         may take (SF_BANK_CACHE_BYTES); try again in a moment"
    )]
    MemoryInUse {
        /// Needed memory in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
    },
}

/// `Retry-After` while SoundFonts in use fill the memory, in seconds.
const BANK_RETRY_SECS: u64 = 10;

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> Self {
        let code = match &error {
            RenderError::Session(_) | RenderError::Mixer(_) | RenderError::Synth(_) => "not_playable",
            RenderError::Loudness(_) | RenderError::Resample(_) => "not_playable",
            RenderError::Bank { reason: BankProblem::MemoryInUse { .. }, .. } => {
                return Self::Busy { detail: error.to_string(), retry_after_secs: BANK_RETRY_SECS };
            }
            // The file is fine, and its storage does not answer.
            RenderError::Bank { reason: BankProblem::Io(io), .. }
                if io.get_ref().is_some_and(|cause| cause.is::<object_store::Error>()) =>
            {
                return match error {
                    RenderError::Bank { reason: BankProblem::Io(io), .. } => io.into(),
                    other => Self::internal(other),
                };
            }
            RenderError::Bank { .. } | RenderError::Banks { .. } => "soundfont_unusable",
            RenderError::TooMuchMemory { .. } => "too_much_memory",
            RenderError::TooMuchWork { .. } => "too_much_work",
            RenderError::TooLong { .. } | RenderError::Wav(WavError::TooLong { .. }) => "too_long",
            RenderError::NoSoundFont => return no_soundfont(),
            RenderError::Cancelled => {
                return Self::Conflict { code: "cancelled", detail: error.to_string() };
            }
            RenderError::Wav(WavError::Io(_)) => {
                return match error {
                    RenderError::Wav(WavError::Io(io)) => io.into(),
                    other => Self::internal(other),
                };
            }
        };
        Self::Unprocessable { code, detail: error.to_string() }
    }
}

/// 501: no SoundFont is installed or uploaded.
fn no_soundfont() -> ApiError {
    ApiError::NotImplemented {
        code: "soundfont_render_unavailable",
        detail: "No SoundFont is available to play the notes: upload one, put an SF2 or SF3 file into one of the folders \
                 of SF_SOUNDFONT_DIRS, or install the package timgm6mb-soundfont."
            .to_owned(),
    }
}
