//! Replaces the missing blocks of an effect in another process by its delayed input.

use crate::dsp::delay_line::DelayLine;
use crate::dsp::smoothed_value::SmoothedValue;

/// Crossfade time between the output of the effect and its delayed input, in seconds.
const FADE_SECS: f64 = 0.01;

/// Passes the output of an effect while it is available, and otherwise the input with the same
/// delay.
///
/// When the output of a block is missing, a crossfade from it is impossible. Instead, the step
/// between the last frame and the delayed input is added to the input as an offset that ramps to 0.
/// When the output is available again, the delayed input crossfades to it.
pub struct DryFallback {
    dry: [DelayLine; 2],
    /// Gain of the output of the effect; the remainder is the delayed input.
    wet: SmoothedValue,
    /// Frames of output until the latency of a new effect has passed.
    warm_up_frames: usize,
    last: [f32; 2],
    step: [f32; 2],
    step_gain: SmoothedValue,
    fade_frames: u32,
}

impl DryFallback {
    /// Creates the fallback of an effect with a latency in frames, at a sample rate in hertz.
    pub fn new(sample_rate_hz: u32, latency_frames: usize) -> Self {
        Self {
            dry: [DelayLine::new(latency_frames), DelayLine::new(latency_frames)],
            wet: SmoothedValue::new(1.0),
            warm_up_frames: 0,
            last: [0.0; 2],
            step: [0.0; 2],
            step_gain: SmoothedValue::new(0.0),
            fade_frames: libm::round(FADE_SECS * f64::from(sample_rate_hz)) as u32,
        }
    }

    /// Returns the crossfade time in frames.
    pub(super) fn fade_frames(&self) -> u32 {
        self.fade_frames
    }

    /// Changes the latency of the effect, with a crossfade of its delayed input. Allocates memory.
    pub fn set_latency(&mut self, latency_frames: usize) {
        self.dry.iter_mut().for_each(|delay| delay.set_frames(latency_frames, self.fade_frames));
    }

    /// Replaces the effect by a new one, which becomes audible when it has processed as many frames
    /// as its latency.
    pub fn restart(&mut self) {
        self.warm_up_frames = self.dry[0].frames();
        self.wet.set_target(0.0, 0);
    }

    /// Clears the audio state. The next output is audible at once.
    pub fn clear(&mut self) {
        self.dry.iter_mut().for_each(DelayLine::clear);
        self.wet.set_target(1.0, 0);
        self.warm_up_frames = 0;
        (self.last, self.step) = ([0.0; 2], [0.0; 2]);
        self.step_gain.set_target(0.0, 0);
    }

    /// Whether only the output of the effect is audible.
    pub fn is_wet(&self) -> bool {
        self.wet.is_steady_at(1.0) && self.step_gain.is_steady_at(0.0)
    }

    /// Replaces the input in `left` and `right`, whose values are finite, by the output of the
    /// effect for the same frames, or by the delayed input if `output` is `None`.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32], output: Option<[&[f32]; 2]>) {
        let frames = left.len();
        self.dry[0].process(left);
        self.dry[1].process(right);
        match output {
            None => self.miss([left[0], right[0]]),
            Some(_) if self.warm_up_frames > 0 => {
                self.warm_up_frames = self.warm_up_frames.saturating_sub(frames);
            }
            Some(_) => self.wet.set_if_new(1.0, self.fade_frames),
        }
        if let (Some(output), true) = (output, self.is_wet()) {
            left.copy_from_slice(output[0]);
            right.copy_from_slice(output[1]);
        } else {
            for frame in 0..frames {
                let (wet, step_gain) = (self.wet.next() as f32, self.step_gain.next() as f32);
                for (side, values) in [&mut *left, &mut *right].into_iter().enumerate() {
                    if let Some(output) = output {
                        values[frame] = output[side][frame] * wet + values[frame] * (1.0 - wet);
                    }
                    values[frame] += self.step[side] * step_gain;
                }
            }
        }
        self.last = [left[frames - 1], right[frames - 1]];
    }

    /// Starts the delayed input, whose first frame is `dry`, if the output was audible.
    fn miss(&mut self, dry: [f32; 2]) {
        if self.wet.is_steady_at(0.0) {
            return;
        }
        self.step = [self.last[0] - dry[0], self.last[1] - dry[1]];
        self.wet.set_target(0.0, 0);
        self.step_gain.set_target(1.0, 0);
        self.step_gain.set_target(0.0, self.fade_frames);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    const FRAMES: usize = 256;

    /// Sends blocks of a constant 1 to an effect whose output is 3. Returns the left channel.
    fn constant(fallback: &mut DryFallback, answered: &[bool]) -> Vec<f32> {
        let (output, mut signal) = (vec![3.0; FRAMES], Vec::new());
        for is_answered in answered {
            let (mut left, mut right) = (vec![1.0; FRAMES], vec![1.0; FRAMES]);
            fallback.process(&mut left, &mut right, is_answered.then_some([&output, &output]));
            assert_eq!(left, right);
            signal.extend(left);
        }
        signal
    }

    fn assert_smooth(signal: &[f32]) {
        for (frame, pair) in signal.windows(2).enumerate() {
            assert!((pair[0] - pair[1]).abs() < 0.01, "click at frame {frame}: {pair:?}");
        }
    }

    #[test]
    fn missing_blocks_are_the_delayed_input_without_a_click() {
        let mut fallback = DryFallback::new(48_000, 480);
        assert_eq!(constant(&mut fallback, &[true; 3]), [3.0; 3 * FRAMES]);
        let missing = constant(&mut fallback, &[true, false, false, false, true, true, true, true]);
        assert_smooth(&missing);
        // The step has ended, and the output has returned.
        assert_eq!((missing[3 * FRAMES], missing.last()), (1.0, Some(&3.0)));
        assert!(fallback.is_wet());
        // Blocks are missing again while the output fades in.
        assert_smooth(&constant(&mut fallback, &[true, false, true, false, true, false, false, true]));
        assert!(!fallback.is_wet());
    }

    #[test]
    fn a_new_effect_is_audible_after_its_latency() {
        let mut fallback = DryFallback::new(48_000, 480);
        constant(&mut fallback, &[true, true, false, false, false]);
        fallback.restart();
        let restarted = constant(&mut fallback, &[true; 6]);
        assert_smooth(&restarted);
        assert_eq!((restarted[2 * FRAMES - 1], restarted.last()), (1.0, Some(&3.0)));
        fallback.clear();
        assert_eq!(constant(&mut fallback, &[true]), [3.0; FRAMES]);
    }
}
