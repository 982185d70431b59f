//! The parts of a voice that change without events: envelopes, LFOs and portamento.

use super::super::envelope::{ModulationEnvelope, VolumeEnvelope};
use super::super::lfo::Lfo;
use super::super::portamento::Portamento;
use super::super::voice_params::VoiceParams;

/// The envelopes, LFOs and portamento of a voice at a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModulationState {
    pub(super) vol_env: VolumeEnvelope,
    pub(super) portamento: Portamento,
    pub(super) mod_env: ModulationEnvelope,
    pub(super) vib_lfo: Lfo,
    pub(super) mod_lfo: Lfo,
    // Number of frames by which `mod_env`, `vib_lfo` and `mod_lfo` lag behind the state. Each of
    // them advances only while it changes a parameter.
    mod_env_lag_frames: f32,
    vib_lfo_lag_frames: f32,
    mod_lfo_lag_frames: f32,
}

impl ModulationState {
    /// Creates the state at the start of a note.
    pub(super) fn new(portamento: Portamento) -> Self {
        Self {
            vol_env: VolumeEnvelope::new(),
            portamento,
            mod_env: ModulationEnvelope::new(),
            vib_lfo: Lfo::new(),
            mod_lfo: Lfo::new(),
            mod_env_lag_frames: 0.0,
            vib_lfo_lag_frames: 0.0,
            mod_lfo_lag_frames: 0.0,
        }
    }

    pub(super) fn advance(&mut self, params: &VoiceParams, frames: f32) {
        self.vol_env.advance(&params.vol_env_times, params.vol_env_sustain_cb, frames);
        if self.portamento.offset_cents != 0.0 {
            self.portamento.advance(frames);
        }
        self.mod_env_lag_frames += frames;
        if params.uses_mod_env() {
            self.catch_up_mod_env(params);
        }
        self.vib_lfo_lag_frames += frames;
        if params.vib_lfo_to_pitch_cents != 0.0 {
            let (delay, cycles) = (params.vib_lfo_delay_frames, params.vib_lfo_cycles_per_frame);
            self.vib_lfo.advance(delay, cycles, self.vib_lfo_lag_frames);
            self.vib_lfo_lag_frames = 0.0;
        }
        self.mod_lfo_lag_frames += frames;
        if params.uses_mod_lfo() {
            let (delay, cycles) = (params.mod_lfo_delay_frames, params.mod_lfo_cycles_per_frame);
            self.mod_lfo.advance(delay, cycles, self.mod_lfo_lag_frames);
            self.mod_lfo_lag_frames = 0.0;
        }
    }

    /// Advances the modulation envelope by the frames by which it lags.
    fn catch_up_mod_env(&mut self, params: &VoiceParams) {
        let frames = core::mem::take(&mut self.mod_env_lag_frames);
        self.mod_env.advance(&params.mod_env_times, params.mod_env_sustain, frames);
    }

    /// Starts the release of both envelopes.
    pub(super) fn release(&mut self, params: &VoiceParams) {
        self.vol_env.release();
        self.catch_up_mod_env(params);
        self.mod_env.release();
    }
}
