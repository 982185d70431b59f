//! A voice's generators in the units of the engine.

use super::envelope::EnvelopeTimes;
use super::filter::{CENT_ZERO_HZ, RESONANCE_MAX_CB};
use super::modulation::Values;
use super::units::{cents_to_ratio, gain_to_centibels, timecents_to_frames};
use crate::session::TRACK_OUTPUTS;
use crate::soundfont::Generator;

/// Linear gain of a voice without any attenuation: leaves room for the sum of many.
const VOICE_GAIN: f32 = 0.5;

/// The same in centibels.
pub(super) const VOICE_ATTENUATION_CB: f32 = 60.2;

/// What a send of 100 % is worth: controllers 91 and 93 reach 20 % by their default modulators
/// (section 8.4.8), and there they should send all of a voice.
const SEND_GAIN: f32 = 5.0;

/// Full attenuation in centibels (section 8.1.3).
const ATTENUATION_MAX_CB: f32 = 1_440.0;

/// Key from which envelope times scale (section 8.1.2, keynumToVolEnvHold).
const SCALING_KEY: f32 = 60.0;

/// Times in frames, levels of modulation in cents or centibels, gains linear.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// The generators' values that the rest was made of.
    values: Values,
    pub(super) attenuation_cb: f32,
    pub(super) output_gains: [f32; TRACK_OUTPUTS],
    /// Coarse and fine tuning, the wheel, and the channel's tuning.
    pub(super) pitch_cents: f32,
    /// Cents from key to key.
    pub(super) scale_tuning: f32,
    pub(super) vibrato_to_pitch: f32,
    pub(super) tremolo_to_pitch: f32,
    pub(super) envelope_to_pitch: f32,
    pub(super) cutoff_cents: f32,
    pub(super) resonance_cb: f32,
    pub(super) tremolo_to_cutoff: f32,
    pub(super) envelope_to_cutoff: f32,
    pub(super) tremolo_to_volume_cb: f32,
    pub(super) vibrato_delay: f32,
    pub(super) vibrato_turns: f32,
    pub(super) tremolo_delay: f32,
    pub(super) tremolo_turns: f32,
    pub(super) volume_times: EnvelopeTimes,
    pub(super) sustain_cb: f32,
    pub(super) modulation_times: EnvelopeTimes,
    pub(super) modulation_sustain: f32,
}

impl Settings {
    /// A voice of which nothing is heard.
    pub(super) const SILENT: Self = Self {
        values: [f32::NAN; Generator::COUNT],
        attenuation_cb: ATTENUATION_MAX_CB,
        output_gains: [0.0; TRACK_OUTPUTS],
        pitch_cents: 0.0,
        scale_tuning: 100.0,
        vibrato_to_pitch: 0.0,
        tremolo_to_pitch: 0.0,
        envelope_to_pitch: 0.0,
        cutoff_cents: 13_500.0,
        resonance_cb: 0.0,
        tremolo_to_cutoff: 0.0,
        envelope_to_cutoff: 0.0,
        tremolo_to_volume_cb: 0.0,
        vibrato_delay: 0.0,
        vibrato_turns: 0.0,
        tremolo_delay: 0.0,
        tremolo_turns: 0.0,
        volume_times: EnvelopeTimes { delay: 0.0, attack: 0.0, hold: 0.0, decay: 0.0, release: 0.0 },
        sustain_cb: 0.0,
        modulation_times: EnvelopeTimes { delay: 0.0, attack: 0.0, hold: 0.0, decay: 0.0, release: 0.0 },
        modulation_sustain: 0.0,
    };

    /// Whether anything follows the modulation envelope.
    pub(super) fn follows_modulation(&self) -> bool {
        self.envelope_to_pitch != 0.0 || self.envelope_to_cutoff != 0.0
    }

    /// Whether anything follows the modulation oscillator.
    pub(super) fn follows_tremolo(&self) -> bool {
        self.tremolo_to_pitch != 0.0 || self.tremolo_to_cutoff != 0.0 || self.tremolo_to_volume_cb != 0.0
    }

    /// Takes over the values of a voice's generators. `tuning_cents` is the channel's.
    pub(super) fn set(&mut self, values: &Values, key: u8, tuning_cents: f32, sample_rate_hz: f32) {
        use Generator::*;
        let get = |generator: Generator| values[generator as usize];
        self.attenuation_cb = get(InitialAttenuation).clamp(0.0, ATTENUATION_MAX_CB);
        self.pitch_cents = 100.0 * get(CoarseTune) + get(FineTune) + tuning_cents;
        self.scale_tuning = get(ScaleTuning);
        self.vibrato_to_pitch = get(VibLfoToPitch);
        self.tremolo_to_pitch = get(ModLfoToPitch);
        self.envelope_to_pitch = get(ModEnvToPitch);
        self.cutoff_cents = get(InitialFilterFc);
        self.resonance_cb = get(InitialFilterQ).clamp(0.0, RESONANCE_MAX_CB);
        self.tremolo_to_cutoff = get(ModLfoToFilterFc);
        self.envelope_to_cutoff = get(ModEnvToFilterFc);
        self.tremolo_to_volume_cb = get(ModLfoToVolume);
        self.sustain_cb = get(SustainVolEnv).clamp(0.0, ATTENUATION_MAX_CB);
        // In tenths of a per cent below full.
        self.modulation_sustain = 1.0 - (get(SustainModEnv) / 1_000.0).clamp(0.0, 1.0);
        let changed = |generators: &[Generator]| {
            generators.iter().any(|generator| self.values[*generator as usize] != get(*generator))
        };
        let outputs_changed = changed(&[Pan, ReverbEffectsSend, ChorusEffectsSend]);
        let oscillators_changed = changed(&[DelayModLfo, FreqModLfo, DelayVibLfo, FreqVibLfo]);
        let volume_changed = changed(&[
            DelayVolEnv,
            AttackVolEnv,
            HoldVolEnv,
            DecayVolEnv,
            ReleaseVolEnv,
            KeynumToVolEnvHold,
            KeynumToVolEnvDecay,
        ]);
        let modulation_changed = changed(&[
            DelayModEnv,
            AttackModEnv,
            HoldModEnv,
            DecayModEnv,
            ReleaseModEnv,
            KeynumToModEnvHold,
            KeynumToModEnvDecay,
        ]);
        let frames = |timecents: f32| timecents_to_frames(timecents, sample_rate_hz);
        let keys = SCALING_KEY - f32::from(key);
        if outputs_changed {
            self.output_gains = output_gains(get(Pan), get(ReverbEffectsSend), get(ChorusEffectsSend));
        }
        if oscillators_changed {
            self.tremolo_delay = delay_frames(get(DelayModLfo), sample_rate_hz);
            self.tremolo_turns = turns_per_frame(get(FreqModLfo), sample_rate_hz);
            self.vibrato_delay = delay_frames(get(DelayVibLfo), sample_rate_hz);
            self.vibrato_turns = turns_per_frame(get(FreqVibLfo), sample_rate_hz);
        }
        if volume_changed {
            self.volume_times = EnvelopeTimes {
                delay: delay_frames(get(DelayVolEnv), sample_rate_hz),
                attack: frames(get(AttackVolEnv)),
                hold: frames(get(HoldVolEnv) + get(KeynumToVolEnvHold) * keys),
                decay: frames(get(DecayVolEnv) + get(KeynumToVolEnvDecay) * keys),
                release: frames(get(ReleaseVolEnv)),
            };
        }
        if modulation_changed {
            self.modulation_times = EnvelopeTimes {
                delay: delay_frames(get(DelayModEnv), sample_rate_hz),
                attack: frames(get(AttackModEnv)),
                hold: frames(get(HoldModEnv) + get(KeynumToModEnvHold) * keys),
                decay: frames(get(DecayModEnv) + get(KeynumToModEnvDecay) * keys),
                release: frames(get(ReleaseModEnv)),
            };
        }
        self.values = *values;
    }
}

/// A delay at the least value that its range has, which is also its default, is none: notes
/// begin where they stand.
fn delay_frames(timecents: f32, sample_rate_hz: f32) -> f32 {
    const LEAST: f32 = -12_000.0;
    if timecents <= LEAST { 0.0 } else { timecents_to_frames(timecents, sample_rate_hz) }
}

fn turns_per_frame(absolute_cents: f32, sample_rate_hz: f32) -> f32 {
    let frequency_hz = CENT_ZERO_HZ * cents_to_ratio(absolute_cents.clamp(-16_000.0, 4_500.0));
    (frequency_hz / sample_rate_hz).min(0.5)
}

/// How much louder a voice may be in an effect than in the mix by a send, in centibels.
pub(super) fn send_lift_cb(tenths: f32) -> f32 {
    let gain = SEND_GAIN * (tenths / 1_000.0).clamp(0.0, 1.0);
    if gain > 1.0 { -gain_to_centibels(gain) } else { 0.0 }
}

/// Gains for a pan in tenths of a per cent to the right, by equal power, and for sends in tenths of
/// a per cent.
fn output_gains(pan: f32, reverb: f32, chorus: f32) -> [f32; TRACK_OUTPUTS] {
    let turn = (pan / 1_000.0 + 0.5).clamp(0.0, 1.0) * core::f32::consts::FRAC_PI_2;
    let send = |tenths: f32| VOICE_GAIN * SEND_GAIN * (tenths / 1_000.0).clamp(0.0, 1.0);
    // A turn to the very right leaves 4e-8 of the cosine.
    let left = if turn >= core::f32::consts::FRAC_PI_2 { 0.0 } else { libm::cosf(turn) };
    [VOICE_GAIN * left, VOICE_GAIN * libm::sinf(turn), send(reverb), send(chorus)]
}
