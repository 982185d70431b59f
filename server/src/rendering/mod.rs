//! From a project and its banks to a WAV file: the one way to sound of the API and of the
//! command line.
//!
//! Memory does not grow with the length of a song: blocks go from the engine through dither
//! into the file, and are measured on the way. The tracks of a project are rendered on all
//! processors, with the same samples as on one.

pub mod banks;
pub mod budget;
pub mod crew;
mod delivery;
mod measure;
pub(crate) mod memory;
pub mod missing;
pub mod mix;
pub mod parts;
pub mod receipt;
pub mod sources;
pub mod track;

use dsp_core::session::MixerError;
use dsp_core::soundfont::BankError;
use dsp_core::wav::{MAX_AUDIO_BYTES, SampleFormat, WavError};
use schemas::session::SessionError;

/// Channels of everything that is rendered.
pub const CHANNELS: u64 = 2;

/// Version of the engine, for receipts: the workspace has one version for all crates.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why something could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The project has no session.
    #[error("the project cannot be played: {0}")]
    Session(#[from] SessionError),
    /// The engine refused the session.
    #[error("the engine cannot play the project: {0}")]
    Mixer(#[from] MixerError),
    /// The engine refused one track.
    #[error("the engine cannot play the notes: {0}")]
    Synth(#[from] dsp_core::synth::SynthError),
    /// The loudness meter does not know the sample rate.
    #[error(transparent)]
    Loudness(#[from] dsp_core::loudness::LoudnessError),
    /// The engine's rate does not become the file's.
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
        /// What is wrong with it.
        reason: BankProblem,
    },
    /// It would need more memory than renders may have.
    #[error(
        "rendering this needs about {needed_mib} MiB of memory, and renders may have {limit_mib} MiB \
         (SF_RENDER_MEMORY_BYTES); {largest} need {largest_mib} MiB of that"
    )]
    TooMuchMemory {
        /// Estimated need in MiB.
        needed_mib: u64,
        /// Limit of all renders together, in MiB.
        limit_mib: u64,
        /// The largest share, with its count.
        largest: String,
        /// How much that is, in MiB.
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
    /// Not even a default bank is there.
    #[error("no SoundFont is installed that could play the notes")]
    NoSoundFont,
    /// Somebody asked to stop.
    #[error("the render was cancelled")]
    Cancelled,
}

/// What is wrong with a bank's file.
#[derive(Debug, thiserror::Error)]
pub enum BankProblem {
    /// It cannot be read.
    #[error("its file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It holds something wrong.
    #[error(transparent)]
    Content(#[from] BankError),
    /// It takes more memory than is accepted.
    #[error("it needs {needed_mib} MiB of memory; at most {limit_mib} MiB are accepted ({setting})")]
    TooLarge {
        /// Estimated need in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
        /// The setting of the limit.
        setting: &'static str,
    },
    /// There is no memory left for it now.
    #[error(
        "it needs {needed_mib} MiB of memory, and SoundFonts that are being played fill the {limit_mib} MiB that all \
         may take (SF_BANK_CACHE_BYTES); try again in a moment"
    )]
    MemoryInUse {
        /// Estimated need in MiB.
        needed_mib: u64,
        /// The limit in MiB.
        limit_mib: u64,
    },
}

/// Follows a render: gets the share that is done, 0 to 1, and says whether to go on.
pub type Observer<'a> = &'a mut dyn FnMut(f64) -> bool;

/// Refuses what a WAV file cannot hold before hours are spent on it.
fn check_length(frames: u64, sample_rate_hz: u32, format: SampleFormat) -> Result<(), RenderError> {
    let limit_frames = MAX_AUDIO_BYTES / (CHANNELS * format.bytes_per_sample() as u64);
    if frames > limit_frames {
        let rate_hz = u64::from(sample_rate_hz);
        return Err(RenderError::TooLong { song_secs: frames / rate_hz, limit_secs: limit_frames / rate_hz });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
