//! A delay by whole frames that changes by fading from one to another.

use alloc::vec;
use alloc::vec::Vec;

use super::super::memory::values_bytes;
use super::super::{CONTROL_FRAMES, Glide};

/// Values below this are silence.
const SILENT: f32 = 1e-18;

/// A delay of left and right.
pub(super) struct PreDelay {
    /// A ring, its size a power of two.
    values: Vec<[f32; 2]>,
    place: usize,
    fade_frames: u32,
    /// A fade begins at multiples of so many frames.
    fade_every_frames: u64,
    wanted_frames: usize,
    /// The delay that is left, and the one that is heard from now on.
    frames: [usize; 2],
    /// Share of the second.
    fade: Glide,
}

impl PreDelay {
    fn size(most_frames: f64) -> usize {
        (libm::ceil(most_frames) as usize + CONTROL_FRAMES).next_power_of_two()
    }

    /// Bytes of a delay of at most `most_frames` frames.
    pub(super) fn memory_bytes(most_frames: f64) -> u64 {
        values_bytes(2 * Self::size(most_frames))
    }

    /// A delay of at most so many frames.
    pub(super) fn new(most_frames: f64, fade_frames: f64) -> Self {
        let size = Self::size(most_frames);
        Self {
            values: vec![[0.0; 2]; size],
            place: 0,
            fade_frames: fade_frames as u32,
            fade_every_frames: (fade_frames as usize).next_multiple_of(CONTROL_FRAMES) as u64,
            wanted_frames: 0,
            frames: [0; 2],
            fade: Glide::new(1.0),
        }
    }

    /// Empties it; the delay is at once what it should be.
    pub(super) fn clear(&mut self) {
        self.values.fill([0.0; 2]);
        self.place = 0;
        self.frames = [self.wanted_frames; 2];
        self.fade = Glide::new(1.0);
    }

    /// The delay that is heard, or fades in.
    pub(super) fn frames(&self) -> usize {
        self.frames[1]
    }

    /// Delays by so many frames, as soon as a fade may begin.
    pub(super) fn set(&mut self, frames: usize) {
        self.wanted_frames = frames;
    }

    /// At a control place: begins to fade to another delay, at fixed places of the clock, wherever
    /// playing started.
    pub(super) fn control(&mut self, place: u64) {
        let may_fade = self.fade.is_at_rest() && place.is_multiple_of(self.fade_every_frames);
        if may_fade && self.frames[1] != self.wanted_frames {
            self.frames = [self.frames[1], self.wanted_frames];
            self.fade = Glide::new(0.0);
            self.fade.set(1.0, self.fade_frames);
        }
    }

    /// Delays frames in place.
    pub(super) fn process(&mut self, [left, right]: [&mut [f32]; 2]) {
        let mask = self.values.len() - 1;
        for (left, right) in left.iter_mut().zip(right) {
            self.values[self.place] =
                [*left, *right].map(|value| if value.abs() < SILENT { 0.0 } else { value });
            let [old, new] = self.frames.map(|frames| self.values[self.place.wrapping_sub(frames) & mask]);
            self.place = (self.place + 1) & mask;
            [*left, *right] = if self.fade.is_at_rest() {
                new
            } else {
                let share = self.fade.next() as f32;
                [0, 1].map(|side| old[side] + (new[side] - old[side]) * share)
            };
        }
    }
}
