//! The parameters of a voice: its generators, converted to gains, frames and cents.

use super::envelope::EnvelopeTimes;
use super::filter::{CENT_ZERO_HZ, RESONANCE_MAX_CB};
use super::generator_values::GeneratorValues;
use super::units::{cents_to_ratio, gain_to_centibels, timecents_to_frames};
use crate::block::TRACK_OUTPUTS;
use crate::soundfont::Generator;

/// Linear gain of a voice without attenuation. It is below 1 to leave headroom for many voices.
const VOICE_GAIN: f32 = 0.5;

/// [`VOICE_GAIN`] as an attenuation in centibels.
pub(super) const VOICE_ATTENUATION_CB: f32 = 60.2;

/// Linear gain of a send of 100 %. The default modulators of controllers 91 and 93 reach 20 %
/// (sections 8.4.8 and 8.4.9), which is a send with unity gain.
const SEND_GAIN: f32 = 5.0;

/// Maximum attenuation in centibels (section 8.1.3).
const ATTENUATION_MAX_CB: f32 = 1_440.0;

/// Key at which key scaling does not change the envelope times (section 8.1.2, keynumToVolEnvHold).
const SCALING_KEY: f32 = 60.0;

/// Parameters of a voice after modulation by controllers. Gains are linear.
#[derive(Debug, Clone, Copy)]
pub(super) struct VoiceParams {
    /// The generator values from which the other fields were computed.
    values: GeneratorValues,
    pub(super) attenuation_cb: f32,
    /// Gains of left, right, reverb send and chorus send.
    pub(super) output_gains: [f32; TRACK_OUTPUTS],
    /// Sum of coarse and fine tuning, pitch bend and the channel's tuning, in cents.
    pub(super) pitch_cents: f32,
    /// Pitch interval from one key to the next, in cents.
    pub(super) scale_tuning_cents: f32,
    pub(super) vib_lfo_to_pitch_cents: f32,
    pub(super) mod_lfo_to_pitch_cents: f32,
    pub(super) mod_env_to_pitch_cents: f32,
    pub(super) cutoff_cents: f32,
    pub(super) resonance_cb: f32,
    pub(super) mod_lfo_to_cutoff_cents: f32,
    pub(super) mod_env_to_cutoff_cents: f32,
    pub(super) mod_lfo_to_volume_cb: f32,
    pub(super) vib_lfo_delay_frames: f32,
    pub(super) vib_lfo_cycles_per_frame: f32,
    pub(super) mod_lfo_delay_frames: f32,
    pub(super) mod_lfo_cycles_per_frame: f32,
    pub(super) vol_env_times: EnvelopeTimes,
    pub(super) vol_env_sustain_cb: f32,
    pub(super) mod_env_times: EnvelopeTimes,
    pub(super) mod_env_sustain: f32,
}

impl VoiceParams {
    /// Parameters before the first call of [`Self::set_values`]: full attenuation, and generator
    /// values that differ from any others.
    pub(super) const SILENT: Self = Self {
        values: [f32::NAN; Generator::COUNT],
        attenuation_cb: ATTENUATION_MAX_CB,
        output_gains: [0.0; TRACK_OUTPUTS],
        pitch_cents: 0.0,
        scale_tuning_cents: 100.0,
        vib_lfo_to_pitch_cents: 0.0,
        mod_lfo_to_pitch_cents: 0.0,
        mod_env_to_pitch_cents: 0.0,
        cutoff_cents: 13_500.0,
        resonance_cb: 0.0,
        mod_lfo_to_cutoff_cents: 0.0,
        mod_env_to_cutoff_cents: 0.0,
        mod_lfo_to_volume_cb: 0.0,
        vib_lfo_delay_frames: 0.0,
        vib_lfo_cycles_per_frame: 0.0,
        mod_lfo_delay_frames: 0.0,
        mod_lfo_cycles_per_frame: 0.0,
        vol_env_times: EnvelopeTimes {
            delay_frames: 0.0,
            attack_frames: 0.0,
            hold_frames: 0.0,
            full_decay_frames: 0.0,
            full_release_frames: 0.0,
        },
        vol_env_sustain_cb: 0.0,
        mod_env_times: EnvelopeTimes {
            delay_frames: 0.0,
            attack_frames: 0.0,
            hold_frames: 0.0,
            full_decay_frames: 0.0,
            full_release_frames: 0.0,
        },
        mod_env_sustain: 0.0,
    };

    /// Whether the modulation envelope changes the pitch or the cutoff.
    pub(super) fn uses_mod_env(&self) -> bool {
        self.mod_env_to_pitch_cents != 0.0 || self.mod_env_to_cutoff_cents != 0.0
    }

    /// Whether the modulation LFO changes the pitch, the cutoff or the volume.
    pub(super) fn uses_mod_lfo(&self) -> bool {
        self.mod_lfo_to_pitch_cents != 0.0
            || self.mod_lfo_to_cutoff_cents != 0.0
            || self.mod_lfo_to_volume_cb != 0.0
    }

    /// Computes the parameters from generator values. `tuning_cents` is the tuning of the channel.
    /// Times and gains are computed only if their generators have changed.
    pub(super) fn set_values(
        &mut self,
        values: &GeneratorValues,
        key: u8,
        tuning_cents: f32,
        sample_rate_hz: f32,
    ) {
        use Generator::*;
        let get = |generator: Generator| values[generator as usize];
        self.attenuation_cb = get(InitialAttenuation).clamp(0.0, ATTENUATION_MAX_CB);
        self.pitch_cents = 100.0 * get(CoarseTune) + get(FineTune) + tuning_cents;
        self.scale_tuning_cents = get(ScaleTuning);
        self.vib_lfo_to_pitch_cents = get(VibLfoToPitch);
        self.mod_lfo_to_pitch_cents = get(ModLfoToPitch);
        self.mod_env_to_pitch_cents = get(ModEnvToPitch);
        self.cutoff_cents = get(InitialFilterFc);
        self.resonance_cb = get(InitialFilterQ).clamp(0.0, RESONANCE_MAX_CB);
        self.mod_lfo_to_cutoff_cents = get(ModLfoToFilterFc);
        self.mod_env_to_cutoff_cents = get(ModEnvToFilterFc);
        self.mod_lfo_to_volume_cb = get(ModLfoToVolume);
        self.vol_env_sustain_cb = get(SustainVolEnv).clamp(0.0, ATTENUATION_MAX_CB);
        // The generator is a decrease from full scale in tenths of a per cent.
        self.mod_env_sustain = 1.0 - (get(SustainModEnv) / 1_000.0).clamp(0.0, 1.0);
        let has_changed = |generators: &[Generator]| {
            generators.iter().any(|generator| self.values[*generator as usize] != get(*generator))
        };
        let have_outputs_changed = has_changed(&[Pan, ReverbEffectsSend, ChorusEffectsSend]);
        let have_lfos_changed = has_changed(&[DelayModLfo, FreqModLfo, DelayVibLfo, FreqVibLfo]);
        let has_vol_env_changed = has_changed(&[
            DelayVolEnv,
            AttackVolEnv,
            HoldVolEnv,
            DecayVolEnv,
            ReleaseVolEnv,
            KeynumToVolEnvHold,
            KeynumToVolEnvDecay,
        ]);
        let has_mod_env_changed = has_changed(&[
            DelayModEnv,
            AttackModEnv,
            HoldModEnv,
            DecayModEnv,
            ReleaseModEnv,
            KeynumToModEnvHold,
            KeynumToModEnvDecay,
        ]);
        let frames = |timecents: f32| timecents_to_frames(timecents, sample_rate_hz);
        let keys_below = SCALING_KEY - f32::from(key);
        if have_outputs_changed {
            self.output_gains = output_gains(get(Pan), get(ReverbEffectsSend), get(ChorusEffectsSend));
        }
        if have_lfos_changed {
            self.mod_lfo_delay_frames = delay_frames(get(DelayModLfo), sample_rate_hz);
            self.mod_lfo_cycles_per_frame = cycles_per_frame(get(FreqModLfo), sample_rate_hz);
            self.vib_lfo_delay_frames = delay_frames(get(DelayVibLfo), sample_rate_hz);
            self.vib_lfo_cycles_per_frame = cycles_per_frame(get(FreqVibLfo), sample_rate_hz);
        }
        if has_vol_env_changed {
            self.vol_env_times = EnvelopeTimes {
                delay_frames: delay_frames(get(DelayVolEnv), sample_rate_hz),
                attack_frames: frames(get(AttackVolEnv)),
                hold_frames: frames(get(HoldVolEnv) + get(KeynumToVolEnvHold) * keys_below),
                full_decay_frames: frames(get(DecayVolEnv) + get(KeynumToVolEnvDecay) * keys_below),
                full_release_frames: frames(get(ReleaseVolEnv)),
            };
        }
        if has_mod_env_changed {
            self.mod_env_times = EnvelopeTimes {
                delay_frames: delay_frames(get(DelayModEnv), sample_rate_hz),
                attack_frames: frames(get(AttackModEnv)),
                hold_frames: frames(get(HoldModEnv) + get(KeynumToModEnvHold) * keys_below),
                full_decay_frames: frames(get(DecayModEnv) + get(KeynumToModEnvDecay) * keys_below),
                full_release_frames: frames(get(ReleaseModEnv)),
            };
        }
        self.values = *values;
    }
}

/// Converts the delay of an envelope or LFO to frames. The minimum and default of -12000 timecents
/// (1 ms) is treated as no delay. Notes therefore start exactly at the frames of their events.
fn delay_frames(timecents: f32, sample_rate_hz: f32) -> f32 {
    const DELAY_MIN_TIMECENTS: f32 = -12_000.0;
    if timecents <= DELAY_MIN_TIMECENTS { 0.0 } else { timecents_to_frames(timecents, sample_rate_hz) }
}

fn cycles_per_frame(absolute_cents: f32, sample_rate_hz: f32) -> f32 {
    let frequency_hz = CENT_ZERO_HZ * cents_to_ratio(absolute_cents.clamp(-16_000.0, 4_500.0));
    (frequency_hz / sample_rate_hz).min(0.5)
}

/// Returns the level of a send above the direct signal in centibels, at least 0. `tenths` is the
/// send in tenths of a per cent.
pub(super) fn send_boost_cb(tenths: f32) -> f32 {
    let gain = SEND_GAIN * (tenths / 1_000.0).clamp(0.0, 1.0);
    if gain > 1.0 { -gain_to_centibels(gain) } else { 0.0 }
}

/// Returns the gains of left and right, with equal-power panning, and of the sends. All arguments
/// are in tenths of a per cent. A positive pan is to the right.
fn output_gains(pan: f32, reverb: f32, chorus: f32) -> [f32; TRACK_OUTPUTS] {
    let angle = (pan / 1_000.0 + 0.5).clamp(0.0, 1.0) * core::f32::consts::FRAC_PI_2;
    let send = |tenths: f32| VOICE_GAIN * SEND_GAIN * (tenths / 1_000.0).clamp(0.0, 1.0);
    // The computed cosine of a quarter turn is 4e-8 instead of 0.
    let left = if angle >= core::f32::consts::FRAC_PI_2 { 0.0 } else { libm::cosf(angle) };
    [VOICE_GAIN * left, VOICE_GAIN * libm::sinf(angle), send(reverb), send(chorus)]
}
