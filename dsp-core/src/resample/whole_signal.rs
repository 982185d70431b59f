//! Converts the sample rate of whole signals.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::error::ResampleError;
use super::filter::ResamplerFilter;
use super::processor::ResamplerProcessor;
use super::sample::Sample;

/// Converts the sample rate of a whole signal. `channels` has one slice per channel, all of the
/// same length. Returns [`ResamplerFilter::output_frames`] samples for each channel.
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
/// [`ResampleError`] for rates out of range or a ratio that needs too many phases.
///
/// # Panics
///
/// Panics if a channel is shorter than the first one.
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
    let written_frames = resampler.process(channels, &mut slices).written_frames;
    let mut remaining: Vec<&mut [S]> =
        slices.into_iter().map(|channel| &mut channel[written_frames..]).collect();
    resampler.finish(&mut remaining);
    Ok(output)
}
