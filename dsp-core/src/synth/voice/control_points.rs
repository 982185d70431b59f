//! Advances a voice through its segments and computes the length of the next segment.

use super::super::control_grid::ControlGrid;
use super::super::units::lower;
use super::state::Voice;

impl Voice {
    /// Advances the state to the clock, which lies within the segment or at its end.
    pub(in crate::synth) fn advance_to(&mut self, clock: u64) {
        let passed_frames = (clock - self.segment_start) as u32;
        if passed_frames == 0 {
            return;
        }
        self.has_finished_segment = passed_frames == self.segment_frames;
        if self.has_finished_segment {
            self.state = self.end_state;
            self.output_gains[0] = self.output_gains[1];
        } else {
            self.state.advance(&self.params, passed_frames as f32);
            let fraction = passed_frames as f32 / self.segment_frames.max(1) as f32;
            let [start_gains, end_gains] = self.output_gains;
            self.output_gains[0] = core::array::from_fn(|output| {
                start_gains[output] + (end_gains[output] - start_gains[output]) * fraction
            });
        }
        self.smoothing_frames = self.smoothing_frames.saturating_sub(passed_frames);
        self.segment_start = clock;
        self.segment_frames = 0;
    }

    /// Whether the segment has ended.
    pub(in crate::synth) fn is_segment_over(&self, clock: u64) -> bool {
        self.segment_start + u64::from(self.segment_frames) <= clock
    }

    /// Returns the number of frames to the end of the segment.
    pub(in crate::synth) fn remaining_segment_frames(&self, clock: u64) -> u32 {
        (self.segment_start + u64::from(self.segment_frames)).saturating_sub(clock) as u32
    }

    /// Returns the number of frames to a pending release. Releases the voice if the release is due.
    pub(in crate::synth) fn frames_to_release(&mut self, clock: u64) -> Option<u32> {
        let frames = self.release_at?.saturating_sub(clock);
        if frames == 0 {
            self.release();
            return None;
        }
        Some(u32::try_from(frames).unwrap_or(u32::MAX))
    }

    /// Returns the number of frames to the next corner of the volume envelope. Corners of the
    /// modulation envelope count too if the envelope changes the cutoff.
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
        // Rounded down: if the segment ended after the delay, the gain would start to rise during
        // the delay.
        Some((frames as u32).max(1))
    }

    /// Returns the number of frames until the voice is inaudible, if no event changes it before.
    pub(in crate::synth) fn frames_to_silence(&self) -> Option<u32> {
        let params = &self.params;
        let silent_cb = self.inaudible_attenuation_cb - self.loop_attenuation_cb.unwrap_or(0.0);
        let envelope = &self.state.vol_env;
        let frames =
            envelope.frames_to_attenuation(&params.vol_env_times, params.vol_env_sustain_cb, silent_cb)?;
        Some((frames as u32).saturating_add(1))
    }

    /// Returns a spacing of control points at which the deviation of the linear ramps from the
    /// envelopes is inaudible. The pitch does not ramp, but changes in steps.
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

    /// Whether an envelope changes fast: the volume envelope falls, or the modulation envelope
    /// changes the cutoff. A fall is fast if a full fall takes less than `frames` frames. An attack
    /// of the modulation envelope is always fast.
    fn changes_within(&self, frames: f32) -> bool {
        let params = &self.params;
        self.state.vol_env.falls_within(&params.vol_env_times, params.vol_env_sustain_cb, frames)
            || params.mod_env_to_cutoff_cents != 0.0
                && self.state.mod_env.changes_within(&params.mod_env_times, params.mod_env_sustain, frames)
    }
}
