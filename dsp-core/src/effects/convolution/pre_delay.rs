//! A delay of a whole number of frames, which crossfades when its time changes.

use alloc::vec;
use alloc::vec::Vec;

use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::memory::values_bytes;
use crate::dsp::smoothed_value::SmoothedValue;

/// A sample below this magnitude counts as silent.
const SILENT_MAGNITUDE: f32 = 1e-18;

/// A stereo delay by a whole number of frames, with crossfades.
pub(super) struct PreDelay {
    /// Ring buffer of stereo frames. Its length is a power of two.
    values: Vec<[f32; 2]>,
    write_index: usize,
    fade_frames: u32,
    /// A crossfade starts at multiples of this number of frames.
    fade_every_frames: u64,
    target_frames: usize,
    /// The delay that fades out and the current delay, in frames.
    frames: [usize; 2],
    /// Gain of the current delay.
    current_gain: SmoothedValue,
}

impl PreDelay {
    fn size(max_frames: f64) -> usize {
        (libm::ceil(max_frames) as usize + CONTROL_FRAMES).next_power_of_two()
    }

    /// Returns the size of a delay of at most `max_frames` frames in bytes.
    pub(super) fn memory_bytes(max_frames: f64) -> u64 {
        values_bytes(2 * Self::size(max_frames))
    }

    /// Creates a delay of at most `max_frames` frames, which crossfades within `fade_frames`
    /// frames.
    pub(super) fn new(max_frames: f64, fade_frames: f64) -> Self {
        let size = Self::size(max_frames);
        Self {
            values: vec![[0.0; 2]; size],
            write_index: 0,
            fade_frames: fade_frames as u32,
            fade_every_frames: (fade_frames as usize).next_multiple_of(CONTROL_FRAMES) as u64,
            target_frames: 0,
            frames: [0; 2],
            current_gain: SmoothedValue::new(1.0),
        }
    }

    /// Clears all samples, and sets the delay immediately, without a crossfade.
    pub(super) fn clear(&mut self) {
        self.values.fill([0.0; 2]);
        self.write_index = 0;
        self.frames = [self.target_frames; 2];
        self.current_gain = SmoothedValue::new(1.0);
    }

    /// Returns the current delay in frames.
    pub(super) fn frames(&self) -> usize {
        self.frames[1]
    }

    /// Sets the delay in frames. It takes effect at the start of the next crossfade.
    pub(super) fn set_frames(&mut self, frames: usize) {
        self.target_frames = frames;
    }

    /// Starts a crossfade at a control point if the delay has changed and the control point is a
    /// multiple of `fade_every_frames`. Such a frame does not depend on where playback started.
    pub(super) fn process_control_point(&mut self, control_point: u64) {
        let may_fade = self.current_gain.is_steady() && control_point.is_multiple_of(self.fade_every_frames);
        if may_fade && self.frames[1] != self.target_frames {
            self.frames = [self.frames[1], self.target_frames];
            self.current_gain = SmoothedValue::new(0.0);
            self.current_gain.set_target(1.0, self.fade_frames);
        }
    }

    /// Delays frames in place.
    pub(super) fn process(&mut self, [left, right]: [&mut [f32]; 2]) {
        let mask = self.values.len() - 1;
        for (left, right) in left.iter_mut().zip(right) {
            self.values[self.write_index] =
                [*left, *right].map(|value| if value.abs() < SILENT_MAGNITUDE { 0.0 } else { value });
            let [old, new] =
                self.frames.map(|frames| self.values[self.write_index.wrapping_sub(frames) & mask]);
            self.write_index = (self.write_index + 1) & mask;
            [*left, *right] = if self.current_gain.is_steady() {
                new
            } else {
                let fraction = self.current_gain.next() as f32;
                [0, 1].map(|side| old[side] + (new[side] - old[side]) * fraction)
            };
        }
    }
}
