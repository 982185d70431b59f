//! The streaming converter.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::ResampleError;
use super::filter::{ResamplerFilter, Workspace};
use super::interpolation::{Place, TAPS};
use super::sample::Sample;

/// Frames between the filters that an output frame reaches back from its own time.
const LEAD_FRAMES: usize = TAPS / 2 - 1;

/// How far a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Input frames that were taken.
    pub read: usize,
    /// Output frames that were made.
    pub written: usize,
}

/// Converts a signal of any number of channels from one rate to another, piece by piece.
///
/// Feed it with [`process`](Self::process) until the signal ends, then take what remains with
/// [`finish`](Self::finish). Where pieces begin and end changes nothing.
///
/// ```
/// use dsp_core::resample::{Progress, ResamplerProcessor};
///
/// let clip = vec![0.25_f32; 96_000];
/// let mut resampler = ResamplerProcessor::new(96_000, 44_100, 1)?;
/// let (mut rest, mut block, mut converted) = (&clip[..], [0.0; 256], Vec::new());
/// while !rest.is_empty() {
///     let Progress { read, written } = resampler.process(&[rest], &mut [&mut block]);
///     converted.extend_from_slice(&block[..written]);
///     rest = &rest[read..];
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
    /// For each channel what waits for the first filter, until it has two blocks.
    input: Vec<Vec<S>>,
    input_frames: usize,
    /// For each channel what is between the filters and still needed.
    between: Vec<Vec<S>>,
    between_frames: usize,
    /// The next output frame, in what is between the filters.
    place: Place,
    /// Input frames so far, counted from the signal's first.
    read: u64,
    /// Output frames so far, counted likewise.
    written: u64,
}

impl<S: Sample> ResamplerProcessor<S> {
    /// A converter of `channels` channels between two rates in hertz, with a filter of its own.
    ///
    /// # Errors
    ///
    /// [`ResampleError`] for rates out of range or a ratio that is too fine.
    pub fn new(input_rate_hz: u32, output_rate_hz: u32, channels: usize) -> Result<Self, ResampleError> {
        let filter = ResamplerFilter::new(input_rate_hz, output_rate_hz)?;
        Ok(Self::with_filter(Arc::new(filter), channels))
    }

    /// A converter of `channels` channels with a filter that others use as well.
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
            place: Place { index: 0, phase: 0 },
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

    /// Back to the state of a new converter.
    pub fn reset(&mut self) {
        self.seek(0);
    }

    /// Goes to an output frame. Returns the input frame with which the input must go on, from which
    /// the output is what it would have been from the beginning.
    pub fn seek(&mut self, output_frame: u64) -> u64 {
        let (sharp, interpolation) = (&self.filter.sharp, &self.filter.interpolation);
        let (phases, step) = (interpolation.phases as u128, interpolation.step as u128);
        let time = u128::from(output_frame) * step;
        let first_between = ((time / phases) as u64).saturating_sub(LEAD_FRAMES as u64);
        // Blocks begin at the same frames whatever comes before.
        let skipped_pairs = first_between / sharp.output_frames() as u64;
        let start = skipped_pairs * 2 * sharp.block_frames as u64;
        let before = sharp.lead_frames as u64;
        self.read = start.saturating_sub(before);
        self.written = output_frame;
        // Before the signal's first frame there is silence.
        self.input_frames = before.saturating_sub(start) as usize;
        self.between_frames = if skipped_pairs == 0 { LEAD_FRAMES } else { 0 };
        let start_between = skipped_pairs * sharp.output_frames() as u64;
        let index = (time / phases) as u64 + self.between_frames as u64 - start_between;
        self.place = Place { index: index as usize - LEAD_FRAMES, phase: (time % phases) as usize };
        for channel in &mut self.input {
            channel[..self.input_frames].fill(S::ZERO);
        }
        for channel in &mut self.between {
            channel[..self.between_frames].fill(S::ZERO);
        }
        self.read
    }

    /// Takes input and makes output until the one is used up or the other is full.
    ///
    /// Output lags by up to [`ResamplerFilter::lag_frames`] input frames; what is not out yet is
    /// kept. Values that are not finite count as silence.
    ///
    /// # Panics
    ///
    /// If there are not as many slices as channels, or inputs or outputs differ in length.
    pub fn process(&mut self, input: &[&[S]], output: &mut [&mut [S]]) -> Progress {
        assert_eq!(input.len(), self.input.len(), "one input for each channel");
        let frames = input.first().map_or(0, |channel| channel.len());
        let room = self.check(output);
        let mut progress = Progress { read: 0, written: 0 };
        loop {
            progress.written += self.make(output, progress.written, room);
            let taken = self.take(frames - progress.read, |channel, kept| {
                let part = &input[channel][progress.read..][..kept.len()];
                for (kept, value) in kept.iter_mut().zip(part) {
                    *kept = value.cleaned();
                }
            });
            progress.read += taken;
            self.read += taken as u64;
            if progress.written == room || !self.has_two_blocks() {
                return progress;
            }
            self.filter_two_blocks();
        }
    }

    /// Makes the rest of the output, after the last input frame. Returns how many frames it wrote;
    /// when that is less than there is room for, the signal is complete: in all,
    /// [`ResamplerFilter::output_frames`] of what came in.
    ///
    /// # Panics
    ///
    /// If there are not as many slices as channels, or they differ in length.
    pub fn finish(&mut self, output: &mut [&mut [S]]) -> usize {
        let rest = self.filter.output_frames(self.read).saturating_sub(self.written);
        let room = usize::try_from(rest).unwrap_or(usize::MAX).min(self.check(output));
        let mut written = 0;
        loop {
            written += self.make(output, written, room);
            if written == room {
                return written;
            }
            self.take(usize::MAX, |_, kept| kept.fill(S::ZERO));
            self.filter_two_blocks();
        }
    }

    /// The length of all outputs.
    fn check(&self, output: &[&mut [S]]) -> usize {
        assert_eq!(output.len(), self.input.len(), "one output for each channel");
        let room = output.first().map_or(0, |channel| channel.len());
        assert!(output.iter().all(|channel| channel.len() == room), "outputs of equal length");
        room
    }

    fn has_two_blocks(&self) -> bool {
        self.input_frames == self.filter.sharp.input_frames()
    }

    /// Lets `fill` write up to `frames` more frames of each channel, and says how many.
    fn take(&mut self, frames: usize, mut fill: impl FnMut(usize, &mut [S])) -> usize {
        let taken = frames.min(self.filter.sharp.input_frames() - self.input_frames);
        for (number, channel) in self.input.iter_mut().enumerate() {
            fill(number, &mut channel[self.input_frames..][..taken]);
        }
        self.input_frames += taken;
        taken
    }

    /// Sends two blocks of input through the first filter, when no output can be made without.
    fn filter_two_blocks(&mut self) {
        let sharp = &self.filter.sharp;
        // From an output frame to the next it may be further than there are frames yet.
        let dropped = self.place.index.min(self.between_frames);
        let still_needed = self.between_frames - dropped;
        let done = 2 * sharp.block_frames;
        for (input, between) in self.input.iter_mut().zip(&mut self.between) {
            between.copy_within(dropped..self.between_frames, 0);
            let room = &mut between[still_needed..][..sharp.output_frames()];
            sharp.process(input, &mut self.workspace, room);
            input.copy_within(done.., 0);
        }
        self.place.index -= dropped;
        self.between_frames = still_needed + sharp.output_frames();
        self.input_frames -= done;
    }

    /// Fills the outputs from frame `from` up to `to` as far as what is kept allows, and says how
    /// far.
    fn make(&mut self, output: &mut [&mut [S]], from: usize, to: usize) -> usize {
        let interpolation = &self.filter.interpolation;
        let frames = self.place.ready_frames(self.between_frames, interpolation).min(to - from);
        if frames == 0 {
            return 0;
        }
        for (output, between) in output.chunks_mut(2).zip(self.between.chunks(2)) {
            match (output, between) {
                ([left, right], [left_between, right_between]) => {
                    let outputs = [&mut left[from..from + frames], &mut right[from..from + frames]];
                    S::stereo(interpolation, self.place, [left_between, right_between], outputs);
                }
                ([output], [between]) => {
                    S::mono(interpolation, self.place, between, &mut output[from..from + frames]);
                }
                _ => unreachable!("as many outputs as channels"),
            }
        }
        self.place = self.place.after(frames, interpolation);
        self.written += frames as u64;
        frames
    }
}
