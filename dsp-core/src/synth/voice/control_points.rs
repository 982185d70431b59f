//! Segments of a voice: where the last one ended, and how long the next one may be.

use super::super::control_grid::ControlGrid;
use super::super::units::lower;
use super::state::Voice;

impl Voice {
    /// Brings the state to the present, within or at the end of the segment.
    pub(in crate::synth) fn advance_to(&mut self, clock: u64) {
        let passed = (clock - self.segment_start) as u32;
        if passed == 0 {
            return;
        }
        self.has_finished_segment = passed == self.segment_frames;
        if self.has_finished_segment {
            self.state = self.end_state;
            self.output_gains[0] = self.output_gains[1];
        } else {
            self.state.advance(&self.params, passed as f32);
            let fraction = passed as f32 / self.segment_frames.max(1) as f32;
            let [from, to] = self.output_gains;
            self.output_gains[0] =
                core::array::from_fn(|output| from[output] + (to[output] - from[output]) * fraction);
        }
        self.smoothing_frames = self.smoothing_frames.saturating_sub(passed);
        self.segment_start = clock;
        self.segment_frames = 0;
    }

    /// Whether the segment has ended.
    pub(in crate::synth) fn is_segment_over(&self, clock: u64) -> bool {
        self.segment_start + u64::from(self.segment_frames) <= clock
    }

    /// Frames to the end of the segment.
    pub(in crate::synth) fn remaining_segment_frames(&self, clock: u64) -> u32 {
        (self.segment_start + u64::from(self.segment_frames)).saturating_sub(clock) as u32
    }

    /// Frames to a pending release; releases the voice if that is now.
    pub(in crate::synth) fn frames_to_release(&mut self, clock: u64) -> Option<u32> {
        let frames = self.release_at?.saturating_sub(clock);
        if frames == 0 {
            self.release();
            return None;
        }
        Some(u32::try_from(frames).unwrap_or(u32::MAX))
    }

    /// Frames to the next corner of the volume envelope, or of the modulation envelope if it
    /// changes the cutoff.
    pub(in crate::synth) fn frames_to_corner(&self) -> Option<u32> {
        let params = &self.params;
        let volume = self.state.vol_env.frames_to_corner(&params.vol_env_times);
        let cutoff = if params.mod_env_to_cutoff_cents == 0.0 {
            None
        } else {
            self.state.mod_env.frames_to_corner(&params.mod_env_times)
        };
        let frames = match (volume, cutoff) {
            (Some(volume), Some(cutoff)) => lower(volume, cutoff),
            (volume, cutoff) => volume.or(cutoff)?,
        };
        // Rounded down: a ramp that ended after a delay would start to rise before its end.
        Some((frames as u32).max(1))
    }

    /// Frames until the voice becomes inaudible if no event changes it.
    pub(in crate::synth) fn frames_to_silence(&self) -> Option<u32> {
        let params = &self.params;
        let silent_cb = self.inaudible_cb - self.loop_attenuation_cb.unwrap_or(0.0);
        let envelope = &self.state.vol_env;
        let frames =
            envelope.frames_to_attenuation(&params.vol_env_times, params.vol_env_sustain_cb, silent_cb)?;
        Some((frames as u32).saturating_add(1))
    }

    /// Spacing of control points at which linear ramps between them are inaudible. The pitch does
    /// not ramp: it changes in steps.
    pub(in crate::synth) fn grid_frames(&self, grid: ControlGrid) -> u32 {
        let params = &self.params;
        let is_pitch_modulated = params.vib_lfo_to_pitch_cents != 0.0
            || params.mod_lfo_to_pitch_cents != 0.0
            || params.mod_env_to_pitch_cents != 0.0
            || self.state.portamento.offset_cents != 0.0;
        let finest_fall_frames = 0.2 * self.fast_fall_frames;
        let envelope = &self.state.vol_env;
        if envelope.falls_within(&params.vol_env_times, params.vol_env_sustain_cb, finest_fall_frames) {
            grid.finest_frames()
        } else if is_pitch_modulated || self.changes_within(self.fast_fall_frames) {
            grid.fine_frames()
        } else if params.uses_mod_lfo() || self.changes_within(2.0 * self.fast_fall_frames) {
            grid.middle_frames()
        } else {
            grid.coarse_frames()
        }
    }

    /// Whether the volume or the cutoff changes at a rate of a full fall in less than some frames.
    fn changes_within(&self, frames: f32) -> bool {
        let params = &self.params;
        self.state.vol_env.falls_within(&params.vol_env_times, params.vol_env_sustain_cb, frames)
            || params.mod_env_to_cutoff_cents != 0.0
                && self.state.mod_env.changes_within(&params.mod_env_times, params.mod_env_sustain, frames)
    }
}
