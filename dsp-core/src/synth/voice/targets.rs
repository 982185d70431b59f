//! Computes pitch, gains and filter of a voice for the end of a segment.

use super::super::filter::{Coefficients, FilterParams};
use super::super::gain_ramps::RampClock;
use super::super::units::{cents_to_exact_ratio, higher};
use super::super::voice_params::VoiceParams;
use super::state::{SampleTuning, Voice};

impl Voice {
    /// Whether the coefficients of the filter ramp.
    pub(in crate::synth) fn is_filter_ramping(&self) -> bool {
        self.is_filter_ramping
    }

    /// Whether the filter leaves its input unchanged throughout the segment.
    pub(in crate::synth) fn is_filter_open(&self) -> bool {
        self.is_filter_open
    }

    /// Starts a segment of `frames` frames. [`Self::advance_to`] must have been called for its
    /// first frame.
    pub(in crate::synth) fn start_segment(&mut self, frames: u32, clock: RampClock, sample_rate_hz: f32) {
        self.set_pitch();
        self.end_state = self.state;
        self.end_state.advance(&self.params, frames as f32);
        self.segment_frames = frames;
        // The change of a controller takes the whole smoothing time, which may exceed the segment.
        // This is the fraction of the change in this segment. Envelopes and LFOs reach their values
        // at the end of the segment.
        let smoothing_fraction =
            if self.smoothing_frames > frames { frames as f32 / self.smoothing_frames as f32 } else { 1.0 };
        let frames_reciprocal = 1.0 / frames as f32;
        let fade_in_gain = self.fade_in_gain(self.segment_start + u64::from(frames), sample_rate_hz);
        self.set_gain_targets(smoothing_fraction, frames_reciprocal, clock, fade_in_gain);
        self.set_segment_filter(smoothing_fraction, frames_reciprocal, sample_rate_hz);
    }

    fn set_gain_targets(
        &mut self,
        smoothing_fraction: f32,
        frames_reciprocal: f32,
        clock: RampClock,
        fade_in_gain: f32,
    ) {
        let params = &self.params;
        let tremolo_cb = self.end_state.mod_lfo.value() * params.mod_lfo_to_volume_cb;
        let attenuation_cb = higher(params.attenuation_cb - tremolo_cb, 0.0);
        let attenuation_gain = self.attenuation_gain.gain(attenuation_cb);
        let mut gains = params.output_gains.map(|output| output * attenuation_gain);
        if smoothing_fraction < 1.0 {
            for (gain, start_gain) in gains.iter_mut().zip(self.output_gains[0]) {
                *gain = start_gain + (*gain - start_gain) * smoothing_fraction;
            }
        }
        self.output_gains[1] = gains;
        let envelope = self.end_state.vol_env.gain(&mut self.envelope_gain) * fade_in_gain;
        self.gain_ramps.set_targets(gains.map(|gain| gain * envelope), frames_reciprocal, clock);
    }

    fn set_segment_filter(&mut self, smoothing_fraction: f32, frames_reciprocal: f32, sample_rate_hz: f32) {
        // The ramp is unfinished if an event ended the previous segment early.
        let is_unfinished = self.is_filter_ramping && !self.has_finished_segment;
        if self.is_filter_ramping && self.has_finished_segment {
            self.filter.hold(self.segment_end_filter);
        }
        let previous_end = self.segment_end_filter;
        self.update_filter_target(sample_rate_hz);
        self.segment_end_filter = self.filter_target.1;
        if smoothing_fraction < 1.0 {
            let start_coefficients = if is_unfinished { self.filter.coefficients() } else { previous_end };
            self.segment_end_filter =
                start_coefficients.interpolated(self.segment_end_filter, smoothing_fraction);
        }
        self.is_filter_ramping = is_unfinished || self.segment_end_filter != previous_end;
        self.is_filter_open = !self.is_filter_ramping && self.segment_end_filter == Coefficients::OPEN;
        if self.is_filter_ramping {
            self.filter.set_target(self.segment_end_filter, frames_reciprocal);
        }
    }

    fn set_pitch(&mut self) {
        let VoiceParams { vib_lfo_to_pitch_cents, mod_lfo_to_pitch_cents, mod_env_to_pitch_cents, .. } =
            self.params;
        let modulation = self.state.vib_lfo.value() * vib_lfo_to_pitch_cents
            + self.state.mod_lfo.value() * mod_lfo_to_pitch_cents
            + self.state.mod_env.level() * mod_env_to_pitch_cents
            + self.state.portamento.offset_cents;
        let SampleTuning { root_key, correction_cents, rate_ratio } = self.tuning;
        let key_offset = f32::from(self.note.key) - root_key;
        let cents = key_offset * self.params.scale_tuning_cents
            + correction_cents
            + self.params.pitch_cents
            + modulation;
        if cents != self.pitch_cents {
            self.pitch_cents = cents;
            self.reader.set_speed(rate_ratio * cents_to_exact_ratio(f64::from(cents)));
        }
    }

    /// Computes the filter for the parameters and for the modulation state at the end of the
    /// segment.
    pub(super) fn update_filter_target(&mut self, sample_rate_hz: f32) {
        let params = &self.params;
        let cents = params.cutoff_cents
            + self.end_state.mod_lfo.value() * params.mod_lfo_to_cutoff_cents
            + self.end_state.mod_env.level() * params.mod_env_to_cutoff_cents;
        let filter = FilterParams::new(cents, params.resonance_cb);
        if filter != self.filter_target.0 {
            self.filter_target = (filter, filter.coefficients(sample_rate_hz, &mut self.resonance));
        }
    }
}
