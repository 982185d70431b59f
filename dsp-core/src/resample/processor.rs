//! Converts a signal in chunks.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::error::ResampleError;
use super::filter::{ResamplerFilter, Workspace};
use super::polyphase::{Position, TAPS};
use super::sample::Sample;

/// Number of frames between the filters before an output frame on which it depends.
const LEAD_FRAMES: usize = TAPS / 2 - 1;

/// The progress of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of input frames that were read.
    pub read: usize,
    /// Number of output frames that were written.
    pub written: usize,
}

/// Converts a signal of any number of channels from one rate to another, in parts.
///
/// [`process`](Self::process) reads the signal, then [`finish`](Self::finish) writes the remaining
/// output. The output does not depend on the size of the parts.
///
/// ```
/// use dsp_core::resample::{Progress, ResamplerProcessor};
///
/// let clip = vec![0.25_f32; 96_000];
/// let mut resampler = ResamplerProcessor::new(96_000, 44_100, 1)?;
/// let (mut remaining, mut block, mut converted) = (&clip[..], [0.0; 256], Vec::new());
/// while !remaining.is_empty() {
///     let Progress { read, written } = resampler.process(&[remaining], &mut [&mut block]);
///     converted.extend_from_slice(&block[..written]);
///     remaining = &remaining[read..];
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
    /// For each channel, the input of the first filter, up to two blocks.
    input: Vec<Vec<S>>,
    input_frames: usize,
    /// For each channel, the frames between the filters that are still needed.
    between: Vec<Vec<S>>,
    between_frames: usize,
    /// Position of the next output frame in the frames between the filters.
    position: Position,
    /// Number of input frames so far, from the start of the signal.
    read: u64,
    /// Number of output frames so far, from the start of the signal.
    written: u64,
}

impl<S: Sample> ResamplerProcessor<S> {
    /// A converter of `channels` channels between two rates in hertz, with a new filter.
    ///
    /// # Errors
    ///
    /// [`ResampleError`] for rates out of range or a ratio that needs too many phases.
    pub fn new(input_rate_hz: u32, output_rate_hz: u32, channels: usize) -> Result<Self, ResampleError> {
        let filter = ResamplerFilter::new(input_rate_hz, output_rate_hz)?;
        Ok(Self::with_filter(Arc::new(filter), channels))
    }

    /// A converter of `channels` channels with a shared filter.
    pub fn with_filter(filter: Arc<ResamplerFilter<S>>, channels: usize) -> Self {
        let input = vec![S::ZERO; filter.sharp.input_frames()];
        let between = vec![S::ZERO; filter.sharp.output_frames() + TAPS];
        let mut resampler = Self {
            workspace: filter.sharp.workspace(),
            filter,
            input: vec![input; channels],
            input_frames: 0,
            between: vec![between; channels],
            between_frames: 0,
            position: Position { index: 0, phase: 0 },
            read: 0,
            written: 0,
        };
        resampler.reset();
        resampler
    }

    /// The filter, for [`ResamplerFilter::output_frames`] and for other converters.
    pub fn filter(&self) -> &Arc<ResamplerFilter<S>> {
        &self.filter
    }

    /// Resets to the state of a new converter.
    pub fn reset(&mut self) {
        self.seek(0);
    }

    /// Seeks to an output frame. Returns the input frame from which input must follow. The output
    /// is then the same as that of a conversion from the start.
    pub fn seek(&mut self, output_frame: u64) -> u64 {
        let (sharp, polyphase) = (&self.filter.sharp, &self.filter.polyphase);
        let (phases, step) = (polyphase.phases as u128, polyphase.step as u128);
        let time = u128::from(output_frame) * step;
        let first_between = ((time / phases) as u64).saturating_sub(LEAD_FRAMES as u64);
        // Blocks start at fixed frames.
        let skipped_pairs = first_between / sharp.output_frames() as u64;
        let start = skipped_pairs * 2 * sharp.block_frames as u64;
        let before = sharp.lead_frames as u64;
        self.read = start.saturating_sub(before);
        self.written = output_frame;
        // The signal is silent before its first frame.
        self.input_frames = before.saturating_sub(start) as usize;
        self.between_frames = if skipped_pairs == 0 { LEAD_FRAMES } else { 0 };
        let start_between = skipped_pairs * sharp.output_frames() as u64;
        let index = (time / phases) as u64 + self.between_frames as u64 - start_between;
        self.position = Position { index: index as usize - LEAD_FRAMES, phase: (time % phases) as usize };
        for channel in &mut self.input {
            channel[..self.input_frames].fill(S::ZERO);
        }
        for channel in &mut self.between {
            channel[..self.between_frames].fill(S::ZERO);
        }
        self.read
    }

    /// Reads input and writes output until all input is read or the output is full.
    ///
    /// The output lags by up to [`ResamplerFilter::lag_frames`] input frames. Values that are not
    /// finite are treated as silence.
    ///
    /// # Panics
    ///
    /// If the number of slices is not the number of channels, or inputs or outputs differ in
    /// length.
    pub fn process(&mut self, input: &[&[S]], output: &mut [&mut [S]]) -> Progress {
        assert_eq!(input.len(), self.input.len(), "one input for each channel");
        let frames = input.first().map_or(0, |channel| channel.len());
        let room = self.check(output);
        let mut progress = Progress { read: 0, written: 0 };
        loop {
            progress.written += self.write(output, progress.written, room);
            let stored = self.store(frames - progress.read, |channel, kept| {
                let part = &input[channel][progress.read..][..kept.len()];
                for (kept, value) in kept.iter_mut().zip(part) {
                    *kept = value.cleaned();
                }
            });
            progress.read += stored;
            self.read += stored as u64;
            if progress.written == room || !self.has_two_blocks() {
                return progress;
            }
            self.filter_two_blocks();
        }
    }

    /// Writes the remaining output after the last input frame. Returns the number of frames. If it
    /// is less than the length of the output, the signal is complete and has
    /// [`ResamplerFilter::output_frames`] frames.
    ///
    /// # Panics
    ///
    /// If the number of slices is not the number of channels, or they differ in length.
    pub fn finish(&mut self, output: &mut [&mut [S]]) -> usize {
        let remaining = self.filter.output_frames(self.read).saturating_sub(self.written);
        let room = usize::try_from(remaining).unwrap_or(usize::MAX).min(self.check(output));
        let mut written = 0;
        loop {
            written += self.write(output, written, room);
            if written == room {
                return written;
            }
            self.store(usize::MAX, |_, kept| kept.fill(S::ZERO));
            self.filter_two_blocks();
        }
    }

    /// Checks the outputs and returns their length.
    fn check(&self, output: &[&mut [S]]) -> usize {
        assert_eq!(output.len(), self.input.len(), "one output for each channel");
        let room = output.first().map_or(0, |channel| channel.len());
        assert!(output.iter().all(|channel| channel.len() == room), "outputs of equal length");
        room
    }

    fn has_two_blocks(&self) -> bool {
        self.input_frames == self.filter.sharp.input_frames()
    }

    /// Lets `fill` write up to `frames` input frames of each channel. Returns the number of frames.
    fn store(&mut self, frames: usize, mut fill: impl FnMut(usize, &mut [S])) -> usize {
        let stored = frames.min(self.filter.sharp.input_frames() - self.input_frames);
        for (index, channel) in self.input.iter_mut().enumerate() {
            fill(index, &mut channel[self.input_frames..][..stored]);
        }
        self.input_frames += stored;
        stored
    }

    /// Filters two blocks of input by the first filter.
    fn filter_two_blocks(&mut self) {
        let sharp = &self.filter.sharp;
        // The next output frame may depend on frames that do not exist yet.
        let dropped = self.position.index.min(self.between_frames);
        let still_needed = self.between_frames - dropped;
        let done = 2 * sharp.block_frames;
        for (input, between) in self.input.iter_mut().zip(&mut self.between) {
            between.copy_within(dropped..self.between_frames, 0);
            let room = &mut between[still_needed..][..sharp.output_frames()];
            sharp.process(input, &mut self.workspace, room);
            input.copy_within(done.., 0);
        }
        self.position.index -= dropped;
        self.between_frames = still_needed + sharp.output_frames();
        self.input_frames -= done;
    }

    /// Writes output frames from `from` up to `to` as far as the stored frames suffice. Returns the
    /// number of frames.
    fn write(&mut self, output: &mut [&mut [S]], from: usize, to: usize) -> usize {
        let polyphase = &self.filter.polyphase;
        let frames = self.position.ready_frames(self.between_frames, polyphase).min(to - from);
        if frames == 0 {
            return 0;
        }
        for (output, between) in output.chunks_mut(2).zip(self.between.chunks(2)) {
            match (output, between) {
                ([left, right], [left_between, right_between]) => {
                    let outputs = [&mut left[from..from + frames], &mut right[from..from + frames]];
                    S::stereo(polyphase, self.position, [left_between, right_between], outputs);
                }
                ([output], [between]) => {
                    S::mono(polyphase, self.position, between, &mut output[from..from + frames]);
                }
                _ => unreachable!("one output for each channel"),
            }
        }
        self.position = self.position.after(frames, polyphase);
        self.written += frames as u64;
        frames
    }
}
