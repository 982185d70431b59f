//! The streaming converter.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::ResampleError;
use super::filter::ResamplerFilter;
use super::kernel::{Place, Sample};

/// Input frames that are kept beyond those that an output frame needs.
const ROOM_FRAMES: usize = 2_048;

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
/// use dsp_core::resample::ResamplerProcessor;
///
/// let mut resampler = ResamplerProcessor::<f32>::new(96_000, 44_100, 2)?;
/// let block = [0.25; 256];
/// let (mut left, mut right) = ([0.0; 128], [0.0; 128]);
/// let mut frames = 0;
/// for _ in 0..375 {
///     // 128 frames of output hold all that 256 of input become.
///     frames += resampler.process(&[&block, &block], &mut [&mut left, &mut right]).written;
/// }
/// loop {
///     let written = resampler.finish(&mut [&mut left, &mut right]);
///     if written == 0 {
///         break;
///     }
///     frames += written;
/// }
/// assert_eq!(frames, 44_100);
/// # Ok::<(), dsp_core::resample::ResampleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ResamplerProcessor<S> {
    filter: Arc<ResamplerFilter<S>>,
    /// For each channel the input frames that are still needed, in room for more.
    kept: Vec<Vec<S>>,
    kept_frames: usize,
    /// The next output frame, in what is kept.
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
        let room = filter.taps + ROOM_FRAMES;
        let mut resampler = Self {
            filter,
            kept: vec![vec![S::ZERO; room]; channels],
            kept_frames: 0,
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

    /// Goes to an output frame. Returns the input frame with which the input must go on, from which the
    /// output is what it would have been from the beginning.
    pub fn seek(&mut self, output_frame: u64) -> u64 {
        let (phases, step) = (self.filter.phases as u128, self.filter.step as u128);
        let time = u128::from(output_frame) * step;
        let before = self.filter.taps as u64 / 2 - 1;
        let frame = (time / phases) as u64;
        // Before the signal's first frame there is silence.
        self.kept_frames = before.saturating_sub(frame) as usize;
        for channel in &mut self.kept {
            channel[..self.kept_frames].fill(S::ZERO);
        }
        self.place = Place { index: 0, phase: (time % phases) as usize };
        self.read = frame.saturating_sub(before);
        self.written = output_frame;
        self.read
    }

    /// Takes input and makes output until the one is used up or the other is full.
    ///
    /// Output lags by [`ResamplerFilter::reach_frames`] input frames; what is not out yet is kept.
    /// Values that are not finite count as silence.
    ///
    /// # Panics
    ///
    /// If there are not as many slices as channels, or inputs or outputs differ in length.
    pub fn process(&mut self, input: &[&[S]], output: &mut [&mut [S]]) -> Progress {
        assert_eq!(input.len(), self.kept.len(), "one input for each channel");
        let frames = input.first().map_or(0, |channel| channel.len());
        let room = self.check(output);
        let mut progress = Progress { read: 0, written: 0 };
        loop {
            let taken = self.take(frames - progress.read, |channel, kept| {
                let part = &input[channel][progress.read..][..kept.len()];
                for (kept, value) in kept.iter_mut().zip(part) {
                    *kept = value.cleaned();
                }
            });
            progress.read += taken;
            self.read += taken as u64;
            let made = self.make(output, progress.written, room);
            progress.written += made;
            if taken == 0 && made == 0 {
                return progress;
            }
        }
    }

    /// Makes the rest of the output, after the last input frame. Returns how many frames it wrote; when
    /// that is less than there is room for, the signal is complete: in all,
    /// [`ResamplerFilter::output_frames`] of what came in.
    ///
    /// # Panics
    ///
    /// If there are not as many slices as channels, or they differ in length.
    pub fn finish(&mut self, output: &mut [&mut [S]]) -> usize {
        let rest = self.filter.output_frames(self.read).saturating_sub(self.written);
        let room = usize::try_from(rest).unwrap_or(usize::MAX).min(self.check(output));
        let mut written = 0;
        while written < room {
            self.take(usize::MAX, |_, kept| kept.fill(S::ZERO));
            written += self.make(output, written, room);
        }
        written
    }

    /// The length of all outputs.
    fn check(&self, output: &[&mut [S]]) -> usize {
        assert_eq!(output.len(), self.kept.len(), "one output for each channel");
        let room = output.first().map_or(0, |channel| channel.len());
        assert!(output.iter().all(|channel| channel.len() == room), "outputs of equal length");
        room
    }

    /// Lets `fill` write up to `frames` more frames of each channel, and says how many.
    fn take(&mut self, frames: usize, mut fill: impl FnMut(usize, &mut [S])) -> usize {
        let room = self.filter.taps + ROOM_FRAMES;
        if frames > 0 && self.kept_frames == room {
            self.forget();
        }
        let taken = frames.min(room - self.kept_frames);
        for (number, channel) in self.kept.iter_mut().enumerate() {
            fill(number, &mut channel[self.kept_frames..][..taken]);
        }
        self.kept_frames += taken;
        taken
    }

    /// Drops the frames before the next output frame's.
    fn forget(&mut self) {
        let dropped = self.place.index;
        for channel in &mut self.kept {
            channel.copy_within(dropped..self.kept_frames, 0);
        }
        self.kept_frames -= dropped;
        self.place.index -= dropped;
    }

    /// Fills the outputs from frame `from` up to `to` as far as what is kept allows, and says how far.
    fn make(&mut self, output: &mut [&mut [S]], from: usize, to: usize) -> usize {
        let frames = self.ready_frames().min(to - from);
        if frames == 0 {
            return 0;
        }
        for (output, kept) in output.chunks_mut(2).zip(self.kept.chunks(2)) {
            match (output, kept) {
                ([left, right], [left_kept, right_kept]) => {
                    let outputs = [&mut left[from..from + frames], &mut right[from..from + frames]];
                    S::stereo(&self.filter, self.place, [left_kept, right_kept], outputs);
                }
                ([output], [kept]) => {
                    S::mono(&self.filter, self.place, kept, &mut output[from..from + frames]);
                }
                _ => unreachable!("as many outputs as channels"),
            }
        }
        self.place = self.place.after(frames, &self.filter);
        self.written += frames as u64;
        frames
    }

    /// Output frames all of whose input is kept.
    fn ready_frames(&self) -> usize {
        let Some(behind) = self.kept_frames.checked_sub(self.place.index + self.filter.taps) else {
            return 0;
        };
        // The last whose first input frame is at most `behind` further.
        let last = ((behind + 1) * self.filter.phases - 1 - self.place.phase) / self.filter.step;
        last + 1
    }
}
