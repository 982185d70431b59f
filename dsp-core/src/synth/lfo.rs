//! The low-frequency oscillators of a voice (section 9.1.8). After a delay, each is a triangle wave
//! that starts at 0 and rises.

/// A triangle wave between -1 and 1 that starts after a delay.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lfo {
    /// Number of frames of the delay that have passed.
    delayed_frames: f32,
    /// Position in the cycle, 0 to 1.
    phase: f32,
}

impl Lfo {
    pub(super) fn new() -> Self {
        Self { delayed_frames: 0.0, phase: 0.0 }
    }

    /// Advances by some frames. `cycles_per_frame` is at most 0.5.
    pub(super) fn advance(&mut self, delay_frames: f32, cycles_per_frame: f32, frames: f32) {
        let delayed_frames = (delay_frames - self.delayed_frames).clamp(0.0, frames);
        self.delayed_frames += delayed_frames;
        let phase = self.phase + (frames - delayed_frames) * cycles_per_frame;
        self.phase = phase - libm::floorf(phase);
    }

    /// Returns the current value, -1 to 1.
    pub(super) fn value(&self) -> f32 {
        let quarters = 4.0 * self.phase;
        if self.phase < 0.25 {
            quarters
        } else if self.phase < 0.75 {
            2.0 - quarters
        } else {
            quarters - 4.0
        }
    }
}
