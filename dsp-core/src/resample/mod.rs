//! Sample-rate conversion by a fixed rational ratio, for exports and for clips of another rate.
//!
//! Two filters follow each other, as in L. de Soras, "The Quest For The Perfect Resampler" (2005).
//! The first, a long sinc under a Kaiser window, takes away all that lies above the lower of the
//! two Nyquist frequencies, by Fourier transforms, and doubles the rate where the treble needs it.
//! The second goes from there to any rate: a polyphase filter (R. E. Crochiere and L. R. Rabiner,
//! "Multirate Digital Signal Processing", 1983, chapter 4) that can be short because the treble is
//! gone. Both are linear in phase, and their delay is taken out: the first output frame stands at
//! the time of the first input frame.
//!
//! | samples | images and aliases | pass band | half power |
//! |---|---|---|---|
//! | `f64` | at most -140 dB | 0.01 dB to 0.907 of the lower Nyquist frequency | above 0.95 of it |
//! | `f32` | at most -130 dB | the same | the same |
//!
//! Sums are taken in a fixed order, so every machine computes the same bits; blocks begin at fixed
//! frames, so a signal in pieces becomes the same as in one. Channels do not touch each other.

mod filter;
mod fourier;
mod interpolation;
mod processor;
mod sample;

pub use filter::{MAX_PHASES, MAX_RATE_HZ, MIN_RATE_HZ, ResamplerFilter};
pub use processor::{Progress, ResamplerProcessor};
pub use sample::Sample;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Why a rate cannot be converted to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResampleError {
    /// A rate outside [`MIN_RATE_HZ`]..=[`MAX_RATE_HZ`].
    #[error("{rate_hz} Hz cannot be resampled: rates from {MIN_RATE_HZ} to {MAX_RATE_HZ} Hz can")]
    Rate {
        /// The refused rate, in hertz.
        rate_hz: u32,
    },
    /// Two rates whose ratio needs large numbers, and with them a filter of many phases.
    #[error(
        "{input_rate_hz} Hz to {output_rate_hz} Hz needs a filter of {phases} phases; the limit is {MAX_PHASES}"
    )]
    Ratio {
        /// Rate of the input, in hertz.
        input_rate_hz: u32,
        /// Rate of the output, in hertz.
        output_rate_hz: u32,
        /// Phases that the filter would have.
        phases: usize,
    },
}

/// Converts whole signals: one slice for each channel, all of one length; the result has
/// [`ResamplerFilter::output_frames`] frames.
///
/// ```
/// let second = vec![0.0_f32; 44_100];
/// let stereo = dsp_core::resample::resample(44_100, 48_000, &[&second, &second])?;
/// assert_eq!(stereo[1].len(), 48_000);
/// # Ok::<(), dsp_core::resample::ResampleError>(())
/// ```
///
/// # Errors
///
/// [`ResampleError`] for rates out of range or a ratio that is too fine.
///
/// # Panics
///
/// If channels differ in length.
pub fn resample<S: Sample>(
    input_rate_hz: u32,
    output_rate_hz: u32,
    channels: &[&[S]],
) -> Result<Vec<Vec<S>>, ResampleError> {
    let filter = Arc::new(ResamplerFilter::new(input_rate_hz, output_rate_hz)?);
    let input_frames = channels.first().map_or(0, |channel| channel.len());
    let output_frames = filter.output_frames(input_frames as u64) as usize;
    let mut output = vec![vec![S::ZERO; output_frames]; channels.len()];
    let mut slices: Vec<&mut [S]> = output.iter_mut().map(Vec::as_mut_slice).collect();
    let mut resampler = ResamplerProcessor::with_filter(filter, channels.len());
    let written = resampler.process(channels, &mut slices).written;
    let mut rest: Vec<&mut [S]> = slices.into_iter().map(|channel| &mut channel[written..]).collect();
    resampler.finish(&mut rest);
    Ok(output)
}
