//! Converts the sample rate of a signal in chunks.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::error::ResampleError;
use super::filter::{ResamplerFilter, Workspace};
use super::polyphase::{Position, TAPS};
use super::sample::Sample;

/// Number of frames of the second filter's input that lie before an output frame and on which the
/// output frame depends.
const LEAD_FRAMES: usize = TAPS / 2 - 1;

/// Number of frames that a call of [`ResamplerProcessor::process`] read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of input frames that were read.
    pub read_frames: usize,
    /// Number of output frames that were written.
    pub written_frames: usize,
}

/// Converts a signal of any number of channels from one sample rate to another, in chunks.
///
/// [`process`](Self::process) reads the signal. After the last input, [`finish`](Self::finish)
/// writes the remaining output. The output does not depend on the size of the chunks.
///
/// ```
/// use dsp_core::resample::{Progress, ResamplerProcessor};
///
/// let clip = vec![0.25_f32; 96_000];
/// let mut resampler = ResamplerProcessor::new(96_000, 44_100, 1)?;
/// let (mut remaining, mut block, mut converted) = (&clip[..], [0.0; 256], Vec::new());
/// while !remaining.is_empty() {
///     let Progress { read_frames, written_frames } = resampler.process(&[remaining], &mut [&mut block]);
///     converted.extend_from_slice(&block[..written_frames]);
///     remaining = &remaining[read_frames..];
/// }
/// loop {
///     let written = resampler.finish(&mut [&mut block]);
///     converted.extend_from_slice(&block[..written]);
///     if written < block.len() {
///         break;
///     }
/// }
/// assert_eq!(converted.len(), 44_100);
/// # Ok::<(), dsp_core::resample::ResampleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ResamplerProcessor<S: Sample> {
    filter: Arc<ResamplerFilter<S>>,
    workspace: Workspace<S>,
    /// Input of the first filter for each channel, until it suffices for two blocks.
    input: Vec<Vec<S>>,
    input_frames: usize,
    /// Output of the first filter for each channel, as far as the second filter still needs it.
    intermediate: Vec<Vec<S>>,
    intermediate_frames: usize,
    /// Position of the next output frame in `intermediate`.
    position: Position,
    /// Number of input frames so far, from the start of the signal.
    read_frames: u64,
    /// Number of output frames so far, from the start of the signal.
    written_frames: u64,
}

impl<S: Sample> ResamplerProcessor<S> {
    /// Creates a converter for `channels` channels and two sample rates in hertz, with a new
    /// filter.
    ///
    /// # Errors
    ///
    /// [`ResampleError`] for rates out of range or a ratio that needs too many phases.
    pub fn new(input_rate_hz: u32, output_rate_hz: u32, channels: usize) -> Result<Self, ResampleError> {
        let filter = ResamplerFilter::new(input_rate_hz, output_rate_hz)?;
        Ok(Self::with_filter(Arc::new(filter), channels))
    }

    /// Creates a converter for `channels` channels with a shared filter.
    pub fn with_filter(filter: Arc<ResamplerFilter<S>>, channels: usize) -> Self {
        let input = vec![S::ZERO; filter.sharp.input_frames()];
        let between = vec![S::ZERO; filter.sharp.output_frames() + TAPS];
        let mut resampler = Self {
            workspace: filter.sharp.workspace(),
            filter,
            input: vec![input; channels],
            input_frames: 0,
            intermediate: vec![between; channels],
            intermediate_frames: 0,
            position: Position { index: 0, phase: 0 },
            read_frames: 0,
            written_frames: 0,
        };
        resampler.reset();
        resampler
    }

    /// Returns the filter, which other converters can share.
    pub fn filter(&self) -> &Arc<ResamplerFilter<S>> {
        &self.filter
    }

    /// Resets to the state of a new converter.
    pub fn reset(&mut self) {
        self.seek(0);
    }

    /// Seeks to an output frame. Returns the input frame at which the next call of
    /// [`process`](Self::process) must start. The output is the same as in a conversion from the
    /// start.
    pub fn seek(&mut self, output_frame: u64) -> u64 {
        let (sharp, polyphase) = (&self.filter.sharp, &self.filter.polyphase);
        let (phases, step) = (polyphase.phases as u128, polyphase.step as u128);
        // The time of the output frame, in phases of the second filter's input.
        let time = u128::from(output_frame) * step;
        let first_between = ((time / phases) as u64).saturating_sub(LEAD_FRAMES as u64);
        // Blocks start at fixed frames of the signal.
        let skipped_pairs = first_between / sharp.output_frames() as u64;
        let start_frame = skipped_pairs * 2 * sharp.block_frames as u64;
        let lead_frames = sharp.lead_frames as u64;
        self.read_frames = start_frame.saturating_sub(lead_frames);
        self.written_frames = output_frame;
        // The signal is silent before its first frame.
        self.input_frames = lead_frames.saturating_sub(start_frame) as usize;
        self.intermediate_frames = if skipped_pairs == 0 { LEAD_FRAMES } else { 0 };
        let start_between = skipped_pairs * sharp.output_frames() as u64;
        let index = (time / phases) as u64 + self.intermediate_frames as u64 - start_between;
        self.position = Position { index: index as usize - LEAD_FRAMES, phase: (time % phases) as usize };
        for channel in &mut self.input {
            channel[..self.input_frames].fill(S::ZERO);
        }
        for channel in &mut self.intermediate {
            channel[..self.intermediate_frames].fill(S::ZERO);
        }
        self.read_frames
    }

    /// Reads input and writes output until all input is read or the output is full.
    ///
    /// The output lags behind the input by up to [`ResamplerFilter::lag_frames`] input frames.
    /// Samples that are not finite are treated as silence.
    ///
    /// # Panics
    ///
    /// Panics if the number of slices is not the number of channels, or if the slices of `output`
    /// differ in length. Also panics if a slice of `input` is shorter than the first one.
    pub fn process(&mut self, input: &[&[S]], output: &mut [&mut [S]]) -> Progress {
        assert_eq!(input.len(), self.input.len(), "`input` must have one slice per channel");
        let frames = input.first().map_or(0, |channel| channel.len());
        let capacity = self.output_frames(output);
        let mut progress = Progress { read_frames: 0, written_frames: 0 };
        loop {
            progress.written_frames += self.write(output, progress.written_frames, capacity);
            let stored_frames = self.store(frames - progress.read_frames, |channel, slots| {
                let samples = &input[channel][progress.read_frames..][..slots.len()];
                for (slot, sample) in slots.iter_mut().zip(samples) {
                    *slot = sample.sanitize();
                }
            });
            progress.read_frames += stored_frames;
            self.read_frames += stored_frames as u64;
            if progress.written_frames == capacity || !self.has_two_blocks() {
                return progress;
            }
            self.filter_two_blocks();
        }
    }

    /// Writes the output that remains after the last input frame. Returns the number of written
    /// frames. If this number is less than the length of `output`, the signal is complete and has
    /// [`ResamplerFilter::output_frames`] frames.
    ///
    /// # Panics
    ///
    /// Panics if the number of slices is not the number of channels, or if the slices differ in
    /// length.
    pub fn finish(&mut self, output: &mut [&mut [S]]) -> usize {
        let remaining = self.filter.output_frames(self.read_frames).saturating_sub(self.written_frames);
        let capacity = usize::try_from(remaining).unwrap_or(usize::MAX).min(self.output_frames(output));
        let mut written_frames = 0;
        loop {
            written_frames += self.write(output, written_frames, capacity);
            if written_frames == capacity {
                return written_frames;
            }
            self.store(usize::MAX, |_, slots| slots.fill(S::ZERO));
            self.filter_two_blocks();
        }
    }

    /// Checks the slices of `output` and returns their length.
    fn output_frames(&self, output: &[&mut [S]]) -> usize {
        assert_eq!(output.len(), self.input.len(), "`output` must have one slice per channel");
        let frames = output.first().map_or(0, |channel| channel.len());
        assert!(
            output.iter().all(|channel| channel.len() == frames),
            "the slices of `output` must have the same length"
        );
        frames
    }

    fn has_two_blocks(&self) -> bool {
        self.input_frames == self.filter.sharp.input_frames()
    }

    /// Calls `fill` with the index of each channel and the free part of its input buffer, at most
    /// `frames` frames. Returns the number of frames.
    fn store(&mut self, frames: usize, mut fill: impl FnMut(usize, &mut [S])) -> usize {
        let stored_frames = frames.min(self.filter.sharp.input_frames() - self.input_frames);
        for (index, channel) in self.input.iter_mut().enumerate() {
            fill(index, &mut channel[self.input_frames..][..stored_frames]);
        }
        self.input_frames += stored_frames;
        stored_frames
    }

    /// Applies the first filter to two blocks of input.
    fn filter_two_blocks(&mut self) {
        let sharp = &self.filter.sharp;
        // The position may lie beyond the frames that exist.
        let dropped_frames = self.position.index.min(self.intermediate_frames);
        let still_needed = self.intermediate_frames - dropped_frames;
        let filtered_frames = 2 * sharp.block_frames;
        for (input, between) in self.input.iter_mut().zip(&mut self.intermediate) {
            between.copy_within(dropped_frames..self.intermediate_frames, 0);
            let output = &mut between[still_needed..][..sharp.output_frames()];
            sharp.process(input, &mut self.workspace, output);
            input.copy_within(filtered_frames.., 0);
        }
        self.position.index -= dropped_frames;
        self.intermediate_frames = still_needed + sharp.output_frames();
        self.input_frames -= filtered_frames;
    }

    /// Writes the output frames from `start_frame` to `end_frame` (exclusive) that the stored
    /// frames suffice for. Returns the number of written frames.
    fn write(&mut self, output: &mut [&mut [S]], start_frame: usize, end_frame: usize) -> usize {
        let polyphase = &self.filter.polyphase;
        let frames =
            self.position.ready_frames(self.intermediate_frames, polyphase).min(end_frame - start_frame);
        if frames == 0 {
            return 0;
        }
        for (output, between) in output.chunks_mut(2).zip(self.intermediate.chunks(2)) {
            match (output, between) {
                ([left, right], [left_between, right_between]) => {
                    let outputs = [
                        &mut left[start_frame..start_frame + frames],
                        &mut right[start_frame..start_frame + frames],
                    ];
                    S::stereo(polyphase, self.position, [left_between, right_between], outputs);
                }
                ([output], [between]) => {
                    S::mono(
                        polyphase,
                        self.position,
                        between,
                        &mut output[start_frame..start_frame + frames],
                    );
                }
                _ => unreachable!("`output` has one slice for each channel"),
            }
        }
        self.position = self.position.after(frames, polyphase);
        self.written_frames += frames as u64;
        frames
    }
}
