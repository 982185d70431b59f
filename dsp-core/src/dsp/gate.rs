//! Opens and closes a signal without a click.

use super::smoothed_value::SmoothedValue;

/// Length of a fade, in seconds.
const FADE_SECS: f64 = 0.01;

/// Opens and closes a signal by linear fades of 10 ms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gate {
    gain: SmoothedValue,
    /// Frames until the fade begins.
    wait_frames: usize,
    fade_frames: u32,
}

impl Gate {
    /// Creates an open gate.
    pub(crate) fn new_open(sample_rate_hz: u32) -> Self {
        let fade_frames = libm::round(FADE_SECS * f64::from(sample_rate_hz)) as u32;
        Self { gain: SmoothedValue::new(1.0), wait_frames: 0, fade_frames }
    }

    /// Fades in after `wait_frames` frames if the gate is closed, and immediately if it is closing.
    /// Does nothing if the gate is open or opening.
    pub(crate) fn fade_in(&mut self, wait_frames: usize) {
        if self.gain.target() == 0.0 {
            self.wait_frames = if self.gain.value() == 0.0 { wait_frames } else { 0 };
            self.gain.set_target(1.0, self.fade_frames);
        }
    }

    /// Starts to fade out if the gate is open or opening.
    pub(crate) fn fade_out(&mut self) {
        if self.gain.target() == 1.0 {
            self.wait_frames = 0;
            self.gain.set_target(0.0, self.fade_frames);
        }
    }

    /// Closes the gate immediately, without a fade.
    pub(crate) fn close(&mut self) {
        (self.gain, self.wait_frames) = (SmoothedValue::new(0.0), 0);
    }

    /// Skips to the end of a fade.
    pub(crate) fn finish(&mut self) {
        self.gain.finish();
        self.wait_frames = 0;
    }

    /// Whether the gate is open or opening.
    pub(crate) fn is_opening(&self) -> bool {
        self.gain.target() == 1.0
    }

    /// Whether the gate is fully open and not fading.
    pub(crate) fn is_open(&self) -> bool {
        self.gain.is_steady_at(1.0)
    }

    /// Whether the gate is closed and not fading.
    pub(crate) fn is_closed(&self) -> bool {
        self.gain.is_steady_at(0.0)
    }

    /// Advances by `frames` frames.
    pub(crate) fn advance(&mut self, frames: usize) {
        let waiting_frames = frames.min(self.wait_frames);
        self.wait_frames -= waiting_frames;
        self.gain.advance(frames - waiting_frames);
    }

    /// Writes the gains of the next frames into `gains` and advances by as many frames.
    pub(crate) fn fill(&mut self, gains: &mut [f32]) {
        let waiting_frames = gains.len().min(self.wait_frames);
        self.wait_frames -= waiting_frames;
        let (waiting_gains, fading_gains) = gains.split_at_mut(waiting_frames);
        waiting_gains.fill(self.gain.value() as f32);
        self.gain.fill(fading_gains);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_stays_closed_for_the_wait_time_and_then_fades_in() {
        let mut gate = Gate::new_open(200);
        gate.close();
        gate.fade_in(3);
        assert!(gate.is_opening() && !gate.is_open());
        let mut gains = [9.0; 6];
        gate.fill(&mut gains[..4]);
        gate.fill(&mut gains[4..]);
        assert_eq!(gains, [0.0, 0.0, 0.0, 0.0, 0.5, 1.0]);
        assert!(gate.is_open());
    }

    #[test]
    fn a_fade_that_is_reversed_starts_from_its_gain() {
        let mut gate = Gate::new_open(400);
        gate.fade_out();
        gate.advance(2);
        gate.fade_in(100);
        let mut gains = [9.0; 5];
        gate.fill(&mut gains);
        assert_eq!(gains, [0.5, 0.625, 0.75, 0.875, 1.0]);
    }
}
