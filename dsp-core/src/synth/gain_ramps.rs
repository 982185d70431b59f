//! Linear gain ramps of a voice, one for each output of its track.

use crate::block::TRACK_OUTPUTS;

/// The clock of the gain ramps of all voices. Targets are set relative to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RampClock {
    /// Number of frames since the clock was last set to 0.
    pub(super) elapsed_frames: u32,
    /// Whether the clock is set to 0 at this frame. All voices then get new targets.
    pub(super) is_restarting: bool,
}

/// The gain ramp of a voice on one output of its track.
#[derive(Clone, Copy)]
pub(super) struct GainRamp {
    /// Gain at frame 0 of the ramp clock.
    pub(super) start: f32,
    /// Change of the linear gain per frame.
    pub(super) step: f32,
}

/// The gains of a voice on the outputs of its track.
#[derive(Debug, Clone, Copy)]
pub(super) struct GainRamps {
    /// Gains at frame 0 of the ramp clock, extrapolated from the current ramps.
    starts: [f32; TRACK_OUTPUTS],
    steps: [f32; TRACK_OUTPUTS],
}

impl GainRamps {
    pub(super) const SILENT: Self = Self { starts: [0.0; TRACK_OUTPUTS], steps: [0.0; TRACK_OUTPUTS] };

    /// Starts ramps from the current gains to the targets. `frames_reciprocal` is 1 divided by the
    /// number of frames of the ramps.
    pub(super) fn set_targets(
        &mut self,
        targets: [f32; TRACK_OUTPUTS],
        frames_reciprocal: f32,
        clock: RampClock,
    ) {
        let elapsed = clock.elapsed_frames as f32;
        let start_frame = if clock.is_restarting { 0.0 } else { elapsed };
        for ((start, step), target) in self.starts.iter_mut().zip(&mut self.steps).zip(targets) {
            let current_gain = *start + *step * elapsed;
            *step = (target - current_gain) * frames_reciprocal;
            *start = current_gain - *step * start_frame;
        }
    }

    /// Restarts the ramps from silence. After `frames` frames, they reach `fraction` of the gains
    /// that the previous ramps would have reached.
    pub(super) fn fade_in(&mut self, elapsed_frames: u32, frames: u32, fraction: f32) {
        let elapsed = elapsed_frames as f32;
        for (start, step) in self.starts.iter_mut().zip(&mut self.steps) {
            let end = (*start + *step * (elapsed + frames as f32)) * fraction;
            *step = end / frames.max(1) as f32;
            *start = -*step * elapsed;
        }
    }

    /// Returns the ramp on an output; `None` if the voice is silent on this output.
    pub(super) fn ramp(&self, output: usize) -> Option<GainRamp> {
        let (start, step) = (self.starts[output], self.steps[output]);
        (start != 0.0 || step != 0.0).then_some(GainRamp { start, step })
    }
}
