//! A delay by a number of frames that may change during playback.

use alloc::vec;
use alloc::vec::Vec;

use super::smoothed_value::SmoothedValue;

/// Delays one channel.
///
/// After a change, the output crossfades to the new delay as soon as the line contains enough input
/// for it. The output neither clicks nor pauses.
#[derive(Debug, Clone)]
pub(crate) struct DelayLine {
    /// The first ring is the current ring. Rings of newer delays follow, to which the output
    /// crossfades in this order. The rings from the index [`Self::active_rings`] on are no longer
    /// used. They stay allocated, because processing must not free memory.
    rings: Vec<Ring>,
    active_rings: usize,
    /// Gain of the first ring during the crossfade to the second ring.
    crossfade: SmoothedValue,
    fade_frames: u32,
    /// Number of frames for which the output may still be audible if the input stays silent.
    tail_frames: usize,
}

/// Ring buffer with as many values of the input as the delay has frames.
#[derive(Debug, Clone)]
struct Ring {
    values: Vec<f32>,
    /// Index of the oldest value, which is the next output. The next input replaces it.
    index: usize,
    /// Number of input frames until all values in the ring come from the input.
    missing_frames: usize,
}

impl Ring {
    fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], index: 0, missing_frames: 0 }
    }

    /// Returns a ring of another length with the newest values of this ring.
    fn resized(&self, frames: usize) -> Self {
        let count = self.values.len();
        let copied_frames = count.min(frames);
        let mut ring = Self::new(frames);
        for age in 1..=copied_frames {
            ring.values[frames - age] = self.values[(self.index + count - age) % count];
        }
        ring.missing_frames = frames - copied_frames + self.missing_frames.min(copied_frames);
        ring
    }

    /// Writes a value and returns the value that is due.
    fn push(&mut self, value: f32) -> f32 {
        self.missing_frames = self.missing_frames.saturating_sub(1);
        let Some(oldest) = self.values.get_mut(self.index) else { return value };
        let output = core::mem::replace(oldest, value);
        self.advance(1);
        output
    }

    fn advance(&mut self, frames: usize) {
        self.index += frames;
        if self.index == self.values.len() {
            self.index = 0;
        }
    }

    fn clear(&mut self) {
        self.values.fill(0.0);
        (self.index, self.missing_frames) = (0, 0);
    }
}

impl DelayLine {
    /// Creates a delay of `frames` frames, filled with silence.
    pub(crate) fn new(frames: usize) -> Self {
        Self {
            rings: vec![Ring::new(frames)],
            active_rings: 1,
            crossfade: SmoothedValue::new(1.0),
            fade_frames: 0,
            tail_frames: 0,
        }
    }

    /// Returns the delay in frames. During a change, that is the new delay.
    pub(crate) fn frames(&self) -> usize {
        self.rings[self.active_rings - 1].values.len()
    }

    /// Changes the delay to `frames` frames, with a crossfade of `fade_frames` frames. Allocates
    /// memory.
    pub(crate) fn set_frames(&mut self, frames: usize, fade_frames: u32) {
        if self.frames() == frames {
            return;
        }
        let is_fading = self.active_rings > 1 && self.crossfade.value() < 1.0;
        self.rings.truncate(if is_fading { 2 } else { 1 });
        let longest = self.rings.iter().max_by_key(|ring| ring.values.len());
        self.rings.extend(longest.map(|ring| ring.resized(frames)));
        self.active_rings = self.rings.len();
        if !is_fading {
            self.fade_frames = fade_frames;
            self.start_crossfade();
        }
    }

    fn start_crossfade(&mut self) {
        self.crossfade = SmoothedValue::new(1.0);
        self.crossfade.set_target(0.0, self.fade_frames);
    }

    /// Whether a change of the delay is in progress.
    pub(crate) fn is_changing(&self) -> bool {
        self.active_rings > 1
    }

    /// Whether the output equals the input.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_changing() && self.frames() == 0
    }

    /// Delays values in place.
    pub(crate) fn process(&mut self, mut values: &mut [f32]) {
        self.tail_frames = self.longest_frames();
        if self.is_changing() {
            values.iter_mut().for_each(|value| *value = self.next(*value));
            return;
        }
        let ring = &mut self.rings[0];
        while !values.is_empty() && !ring.values.is_empty() {
            let chunk_frames = values.len().min(ring.values.len() - ring.index);
            let (chunk, remaining) = values.split_at_mut(chunk_frames);
            chunk.swap_with_slice(&mut ring.values[ring.index..ring.index + chunk_frames]);
            ring.advance(chunk_frames);
            values = remaining;
        }
    }

    /// Delays `values` times `gain` and adds the output to `sum`, a slice of the same length.
    pub(crate) fn process_into(&mut self, mut sum: &mut [f32], mut values: &[f32], gain: f32) {
        self.tail_frames = self.longest_frames();
        if self.is_changing() {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += self.next(value * gain));
            return;
        }
        let ring = &mut self.rings[0];
        if ring.values.is_empty() {
            return sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * gain);
        }
        while !values.is_empty() {
            let chunk_frames = values.len().min(ring.values.len() - ring.index);
            let delayed = &mut ring.values[ring.index..ring.index + chunk_frames];
            for ((sum, delayed), value) in sum.iter_mut().zip(delayed).zip(values) {
                *sum += *delayed;
                *delayed = value * gain;
            }
            ring.advance(chunk_frames);
            (sum, values) = (&mut sum[chunk_frames..], &values[chunk_frames..]);
        }
    }

    /// Processes one frame during a change of the delay.
    fn next(&mut self, input: f32) -> f32 {
        let [current, following @ ..] = &mut self.rings[..self.active_rings] else { return input };
        let mut output = current.push(input);
        let Some((next, queued_values)) = following.split_first_mut() else { return output };
        let next_output = next.push(input);
        queued_values.iter_mut().for_each(|ring| _ = ring.push(input));
        if next.missing_frames == 0 {
            let gain = self.crossfade.next() as f32;
            output = output * gain + next_output * (1.0 - gain);
            if self.crossfade.is_steady() {
                self.rings[..self.active_rings].rotate_left(1);
                self.active_rings -= 1;
                // A delay that was set during this crossfade needs another crossfade.
                self.start_crossfade();
            }
        }
        output
    }

    fn longest_frames(&self) -> usize {
        self.rings[..self.active_rings].iter().map(|ring| ring.values.len()).max().unwrap_or(0)
    }

    /// Whether the output may be audible while the input is silent.
    pub(crate) fn is_ringing(&self) -> bool {
        self.tail_frames > 0
    }

    /// Like [`Self::process_into`] with a gain of 1, but for silent input. Adds nothing unless
    /// [`Self::is_ringing`] is true. `silence` consists of zeros and is as long as `sum`.
    pub(crate) fn drain_into(&mut self, sum: &mut [f32], silence: &[f32]) {
        if self.is_ringing() {
            let tail_frames = self.tail_frames.saturating_sub(sum.len());
            self.process_into(sum, silence, 1.0);
            self.tail_frames = tail_frames;
        }
        self.settle_if_silent();
    }

    /// Like [`Self::process`], but for silent input. Replaces `values` by the output.
    pub(crate) fn drain(&mut self, values: &mut [f32]) {
        values.fill(0.0);
        if self.is_ringing() {
            let tail_frames = self.tail_frames.saturating_sub(values.len());
            self.process(values);
            self.tail_frames = tail_frames;
        }
        self.settle_if_silent();
    }

    /// Ends a change of the delay immediately if the line is silent. The caller calls this only for
    /// silent input.
    pub(crate) fn settle_if_silent(&mut self) {
        if self.is_changing() && !self.is_ringing() {
            self.clear();
        }
    }

    /// Fills the line with silence and ends a change of the delay.
    pub(crate) fn clear(&mut self) {
        self.rings[..self.active_rings].rotate_right(1);
        self.active_rings = 1;
        self.rings[0].clear();
        self.tail_frames = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processing_into_a_sum_adds_the_output_of_processing() {
        let (mut first_line, mut second_line) = (DelayLine::new(5), DelayLine::new(5));
        let values: Vec<f32> = (1..=40).map(|value| value as f32).collect();
        let (mut processed, mut sum) = (values.clone(), values.clone());
        processed.iter_mut().for_each(|value| *value *= 0.5);
        processed.chunks_mut(7).for_each(|values| first_line.process(values));
        sum.chunks_mut(3)
            .zip(values.chunks(3))
            .for_each(|(sum, values)| second_line.process_into(sum, values, 0.5));
        let expected = values.iter().zip(processed).map(|(value, late_value)| value + late_value);
        assert!(sum.into_iter().eq(expected));
    }

    #[test]
    fn draining_outputs_the_same_as_processing_zeros() {
        let (mut first_line, mut second_line) = (DelayLine::new(9), DelayLine::new(9));
        for call in 0..40 {
            let values = [call as f32; 4];
            let (mut sum, mut expected) = ([1.0; 4], [1.0; 4]);
            if call % 7 < 2 {
                first_line.process_into(&mut sum, &values, 0.5);
                second_line.process_into(&mut expected, &values, 0.5);
            } else {
                first_line.drain_into(&mut sum, &[0.0; 4]);
                second_line.process_into(&mut expected, &[0.0; 4], 0.5);
            }
            assert_eq!(sum, expected, "output of call {call}");
        }
        let (mut drained_values, mut expected) = ([9.0; 12], [0.0; 12]);
        first_line.drain(&mut drained_values);
        second_line.process(&mut expected);
        assert_eq!(drained_values, expected);
        assert!(!first_line.is_ringing() && second_line.is_ringing());
    }

    #[test]
    fn the_delay_does_not_depend_on_the_call_size() {
        for frames in [0, 1, 3, 7, 100] {
            for call_frames in [1, 2, 5, 64] {
                let mut delay = DelayLine::new(frames);
                let mut values: Vec<f32> = (1..=50).map(|value| value as f32).collect();
                values.chunks_mut(call_frames).for_each(|values| delay.process(values));
                let expected =
                    (0..50).map(|index| if index < frames { 0.0 } else { (index - frames + 1) as f32 });
                assert!(
                    values.iter().copied().eq(expected),
                    "delay of {frames} frames in calls of {call_frames} frames"
                );
            }
        }
    }

    /// Returns the output for the input 1, 2, 3 and so on. `changes` has pairs of a frame and the
    /// delay that is set before this frame.
    fn outputs(first_frames: usize, changes: &[(usize, usize)], method: usize) -> Vec<f32> {
        let mut delay = DelayLine::new(first_frames);
        let mut values: Vec<f32> = (1..=60).map(|value| value as f32).collect();
        for (frame, value) in values.iter_mut().enumerate() {
            if let Some((_, frames)) = changes.iter().find(|(change_frame, _)| *change_frame == frame) {
                delay.set_frames(*frames, 4);
            }
            if method == 1 {
                delay.process(core::slice::from_mut(value));
            } else {
                let (mut sum, input) = ([0.0], [*value]);
                delay.process_into(&mut sum, &input, 1.0);
                *value = sum[0];
            }
        }
        assert!(!delay.is_changing());
        values
    }

    #[test]
    fn a_change_of_the_delay_crossfades_without_a_step_and_ends_at_the_new_delay() {
        for (from, to) in [(0, 6), (6, 0), (3, 8), (8, 3), (0, 1)] {
            for method in [1, 2] {
                let values = outputs(from, &[(20, to)], method);
                let expected = |frame: usize, delay: usize| (frame + 1 - delay) as f32;
                for (frame, output) in values.iter().copied().enumerate() {
                    let new_output = frame as f32 + 1.0 - to as f32;
                    if frame < 20 {
                        assert_eq!(output, if frame < from { 0.0 } else { expected(frame, from) });
                    } else if frame >= 20 + to.saturating_sub(from) + 4 {
                        assert_eq!(
                            output, new_output,
                            "delay changed from {from} to {to}, output at frame {frame}"
                        );
                    }
                }
                let steps = values.windows(2).map(|pair| (pair[1] - pair[0]).abs());
                assert!(
                    steps.fold(0.0, f32::max) <= 3.0,
                    "a change of the delay from {from} to {to} makes a step: {values:?}"
                );
            }
        }
    }

    #[test]
    fn a_delay_that_changes_again_during_a_crossfade_ends_at_the_last_delay() {
        for second_change_frame in [21, 22, 24, 26, 28] {
            let values = outputs(2, &[(20, 6), (second_change_frame, 1)], 1);
            assert_eq!(values[50], 50.0, "second change at frame {second_change_frame}");
            let steps = values.windows(2).map(|pair| (pair[1] - pair[0]).abs());
            assert!(
                steps.fold(0.0, f32::max) <= 3.0,
                "a second change at frame {second_change_frame} makes a step: {values:?}"
            );
        }
    }

    #[test]
    fn a_change_of_the_delay_ends_at_once_when_the_line_becomes_silent() {
        let mut delay = DelayLine::new(2);
        delay.process(&mut [1.0]);
        delay.set_frames(3, 100);
        let mut values = [0.0; 8];
        delay.drain(&mut values);
        assert!((values[1] - 1.0).abs() < 0.02, "the output is not delayed by two frames: {values:?}");
        assert!(!delay.is_changing() && delay.frames() == 3);
        let mut values = [1.0, 0.0, 0.0, 0.0];
        delay.process(&mut values);
        assert_eq!(values, [0.0, 0.0, 0.0, 1.0]);
    }
}
