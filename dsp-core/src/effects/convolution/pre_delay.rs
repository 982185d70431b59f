//! A delay by whole frames, which crossfades when it changes.

use alloc::vec;
use alloc::vec::Vec;

use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::memory::values_bytes;
use crate::dsp::smoothed_value::SmoothedValue;

/// A sample below this magnitude is silent.
const SILENT: f32 = 1e-18;

/// A stereo delay.
pub(super) struct PreDelay {
    /// A ring whose length is a power of two.
    values: Vec<[f32; 2]>,
    write_index: usize,
    fade_frames: u32,
    /// A crossfade starts at multiples of this number of frames.
    fade_every_frames: u64,
    target_frames: usize,
    /// The delay that fades out, and the current one.
    frames: [usize; 2],
    /// Gain of the current delay.
    fade: SmoothedValue,
}

impl PreDelay {
    fn size(max_frames: f64) -> usize {
        (libm::ceil(max_frames) as usize + CONTROL_FRAMES).next_power_of_two()
    }

    /// Bytes of a delay of at most `max_frames` frames.
    pub(super) fn memory_bytes(max_frames: f64) -> u64 {
        values_bytes(2 * Self::size(max_frames))
    }

    /// A delay of at most `max_frames` frames.
    pub(super) fn new(max_frames: f64, fade_frames: f64) -> Self {
        let size = Self::size(max_frames);
        Self {
            values: vec![[0.0; 2]; size],
            write_index: 0,
            fade_frames: fade_frames as u32,
            fade_every_frames: (fade_frames as usize).next_multiple_of(CONTROL_FRAMES) as u64,
            target_frames: 0,
            frames: [0; 2],
            fade: SmoothedValue::new(1.0),
        }
    }

    /// Clears all samples, and sets the delay at once.
    pub(super) fn clear(&mut self) {
        self.values.fill([0.0; 2]);
        self.write_index = 0;
        self.frames = [self.target_frames; 2];
        self.fade = SmoothedValue::new(1.0);
    }

    /// The current delay.
    pub(super) fn frames(&self) -> usize {
        self.frames[1]
    }

    /// Sets the delay, which changes at the next start of a crossfade.
    pub(super) fn set(&mut self, frames: usize) {
        self.target_frames = frames;
    }

    /// Starts a crossfade at a control point, if one is due. The frame of the start does not depend
    /// on where playback started.
    pub(super) fn control(&mut self, control_point: u64) {
        let may_fade = self.fade.is_steady() && control_point.is_multiple_of(self.fade_every_frames);
        if may_fade && self.frames[1] != self.target_frames {
            self.frames = [self.frames[1], self.target_frames];
            self.fade = SmoothedValue::new(0.0);
            self.fade.set(1.0, self.fade_frames);
        }
    }

    /// Delays frames in place.
    pub(super) fn process(&mut self, [left, right]: [&mut [f32]; 2]) {
        let mask = self.values.len() - 1;
        for (left, right) in left.iter_mut().zip(right) {
            self.values[self.write_index] =
                [*left, *right].map(|value| if value.abs() < SILENT { 0.0 } else { value });
            let [old, new] =
                self.frames.map(|frames| self.values[self.write_index.wrapping_sub(frames) & mask]);
            self.write_index = (self.write_index + 1) & mask;
            [*left, *right] = if self.fade.is_steady() {
                new
            } else {
                let fraction = self.fade.next() as f32;
                [0, 1].map(|side| old[side] + (new[side] - old[side]) * fraction)
            };
        }
    }
}
