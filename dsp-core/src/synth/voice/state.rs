//! The data of a voice. Starts a voice and applies changes of controllers.

use super::super::cached_gain::CachedGain;
use super::super::channel::Channel;
use super::super::control_grid::ControlGrid;
use super::super::envelope::FULL_FALL_CB;
use super::super::filter::{Coefficients, FilterParams, Resonance};
use super::super::filter_bank::VoiceFilter;
use super::super::gain_ramps::GainRamps;
use super::super::generator_values::{GeneratorValues, summed};
use super::super::modulators::{self, Note};
use super::super::portamento::Portamento;
use super::super::sample_reader::SampleReader;
use super::super::units::higher;
use super::super::voice_params::{self, VOICE_ATTENUATION_CB, VoiceParams};
use super::modulation_state::ModulationState;
use crate::block::TRACK_OUTPUTS;
use crate::session::VelocityToCutoff;
use crate::soundfont::{Bank, Generator};

/// Factor for the initial attenuation of a zone. A decibel in the file is 0.4 dB on the EMU8000
/// sound cards and in all common players, so banks are designed for this factor.
const ATTENUATION_FACTOR: f32 = 0.4;

/// Generators of the sends to the shared effects.
const SEND_GENERATORS: [Generator; 2] = [Generator::ReverbEffectsSend, Generator::ChorusEffectsSend];

/// Generators that tune a voice.
const TUNING_GENERATORS: [Generator; 3] =
    [Generator::CoarseTune, Generator::FineTune, Generator::ScaleTuning];

/// The tuning of a sample. Of the generators of the zone, only the overriding root key is included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::synth) struct SampleTuning {
    /// Key at which the sample has its recorded pitch.
    pub(in crate::synth) root_key: f32,
    pub(in crate::synth) correction_cents: f32,
    /// Sample rate of the sample divided by the sample rate of the synthesizer.
    pub(in crate::synth) rate_ratio: f64,
}

/// The tuning of a voice: the tuning of its sample, and the values of [`TUNING_GENERATORS`].
#[derive(Debug, Clone, Copy)]
pub(in crate::synth) struct VoiceTuning {
    sample: SampleTuning,
    generators: [f32; 3],
}

/// Indices of a voice's zones in its bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::synth) struct ZoneIndices {
    pub(in crate::synth) preset: usize,
    pub(in crate::synth) preset_zone: usize,
    pub(in crate::synth) instrument: usize,
    pub(in crate::synth) instrument_zone: usize,
}

/// A zone's sample that sounds for a note, with its envelopes, oscillators and filter.
///
/// The time from one control point to the next is a *segment*. Gains and filter coefficients ramp
/// linearly during a segment.
#[derive(Debug, Clone)]
pub(in crate::synth) struct Voice {
    /// Number of the note since the last reset of the synthesizer. All voices of a note share it.
    pub(in crate::synth) note_id: u64,
    pub(in crate::synth) key: u8,
    pub(in crate::synth) is_key_down: bool,
    pub(in crate::synth) is_held_by_sostenuto: bool,
    pub(in crate::synth) is_released: bool,
    /// Whether the voice fades out fast. Reasons are that it was stolen, that a note of the same
    /// exclusive class has started, or that all notes were ended.
    pub(in crate::synth) is_fading: bool,
    pub(in crate::synth) exclusive_class: i16,
    /// Index of the sample in the bank.
    pub(in crate::synth) sample: usize,
    pub(in crate::synth) reader: SampleReader,
    pub(in crate::synth) gain_ramps: GainRamps,
    pub(in crate::synth) filter: VoiceFilter,
    /// Index of the chunk of this voice among the chunks of its group.
    pub(in crate::synth) chunk_index: usize,
    pub(super) note: Note,
    pub(super) zones: ZoneIndices,
    /// Generator values before modulation: the values of the zones, some replaced by AWE32 NRPNs.
    base_values: GeneratorValues,
    /// Cutoff offset of the default velocity-to-cutoff modulator, in cents.
    velocity_cutoff_cents: f32,
    pub(super) params: VoiceParams,
    pub(super) tuning: SampleTuning,
    /// Lowest initial attenuation for this key and velocity that any values of controllers can
    /// cause.
    min_attenuation_cb: f32,
    /// Highest reverb and chorus send for this key and velocity that any values of controllers can
    /// cause, in tenths of a per cent.
    max_sends: [f32; 2],
    /// Attenuation of the envelope at which a full-scale sample is inaudible with any values of
    /// controllers.
    pub(super) inaudible_attenuation_cb: f32,
    /// Level of the loop's peak below full scale, in centibels. `None` before the loop was
    /// searched.
    pub(super) loop_attenuation_cb: Option<f32>,
    /// State at the start of the segment.
    pub(super) state: ModulationState,
    /// State at the end of the segment.
    pub(super) end_state: ModulationState,
    pub(super) attenuation_gain: CachedGain,
    pub(super) envelope_gain: CachedGain,
    /// An envelope is fast if a full fall takes less than this number of frames.
    pub(super) fast_fall_frames: f32,
    /// Frame of the synthesizer's clock at which the segment starts.
    pub(super) segment_start: u64,
    pub(super) segment_frames: u32,
    /// Offset from the recorded pitch of the sample, in cents.
    pub(super) pitch_cents: f32,
    /// Gains of the outputs without the envelope, at the start and at the end of the segment.
    pub(super) output_gains: [[f32; TRACK_OUTPUTS]; 2],
    /// Filter parameters and coefficients for the end of the segment, without smoothing.
    pub(super) filter_target: (FilterParams, Coefficients),
    /// Filter coefficients at the end of the segment, with smoothing.
    pub(super) segment_end_filter: Coefficients,
    pub(super) resonance: Resonance,
    /// Number of frames, from the start of the segment, until gains and filter reach the values of
    /// a changed controller.
    pub(super) smoothing_frames: u32,
    /// Frame of the clock at which the voice will be released: see [`Self::release_after_minimum`].
    pub(super) release_at: Option<u64>,
    pub(super) started_at: u64,
    pub(super) is_filter_ramping: bool,
    /// Whether the filter leaves its input unchanged throughout the segment.
    pub(super) is_filter_open: bool,
    /// Whether the previous segment was played to its end. An event may end it early.
    pub(super) has_finished_segment: bool,
    /// Frame of the clock at which the fade-in of the voice ends.
    pub(super) fade_in_end: u64,
}

/// The arguments of [`Voice::new`].
pub(in crate::synth) struct VoiceStart {
    /// See [`Voice::note_id`].
    pub(in crate::synth) note_id: u64,
    /// The key that was pressed.
    pub(in crate::synth) key: u8,
    /// Key and velocity that the modulators read.
    pub(in crate::synth) note: Note,
    pub(in crate::synth) zones: ZoneIndices,
    pub(in crate::synth) sample: usize,
    pub(in crate::synth) reader: SampleReader,
    pub(in crate::synth) tuning: SampleTuning,
    pub(in crate::synth) portamento: Portamento,
    /// Attenuation by the soft pedal, in centibels.
    pub(in crate::synth) soft_pedal_cb: f32,
}

/// The parts of a synthesizer that its voices read.
#[derive(Clone, Copy)]
pub(in crate::synth) struct VoiceContext<'a> {
    pub(in crate::synth) bank: &'a Bank,
    pub(in crate::synth) channel: &'a Channel,
    pub(in crate::synth) sample_rate_hz: f32,
    pub(in crate::synth) velocity_to_cutoff: VelocityToCutoff,
    pub(in crate::synth) grid: ControlGrid,
    /// Current frame of the synthesizer's clock.
    pub(in crate::synth) clock: u64,
}

impl Voice {
    pub(in crate::synth) fn new(start: VoiceStart, context: VoiceContext<'_>) -> Self {
        let instrument =
            &context.bank.instruments()[start.zones.instrument].zones[start.zones.instrument_zone];
        let preset = &context.bank.presets()[start.zones.preset].zones[start.zones.preset_zone];
        let mut base_values = summed(&instrument.generators, &preset.generators);
        base_values[Generator::InitialAttenuation as usize] *= ATTENUATION_FACTOR;
        base_values[Generator::InitialAttenuation as usize] += start.soft_pedal_cb;
        context.channel.awe32().replace_generators(&mut base_values);
        let lists = [&instrument.modulators, &preset.modulators];
        let velocity_cutoff_cents = match context.velocity_to_cutoff {
            VelocityToCutoff::Specification => {
                modulators::velocity_cutoff_cents(&instrument.modulators, start.note, context.channel)
            }
            VelocityToCutoff::AsStated => 0.0,
        };
        let bounds = |generator: Generator| {
            let bounds = lists.map(|list| modulators::bounds(list, generator, start.note, context.channel));
            let [(instrument_min, instrument_max), (preset_min, preset_max)] = bounds;
            let value = base_values[generator as usize];
            (value + instrument_min + preset_min, value + instrument_max + preset_max)
        };
        let (min_attenuation_cb, _) = bounds(Generator::InitialAttenuation);
        let max_sends = SEND_GENERATORS.map(|send| bounds(send).1);
        let state = ModulationState::new(start.portamento);
        let mut voice = Self {
            note_id: start.note_id,
            key: start.key,
            is_key_down: true,
            is_held_by_sostenuto: false,
            is_released: false,
            is_fading: false,
            exclusive_class: base_values[Generator::ExclusiveClass as usize] as i16,
            sample: start.sample,
            reader: start.reader,
            gain_ramps: GainRamps::SILENT,
            filter: VoiceFilter::OPEN,
            chunk_index: 0,
            note: start.note,
            zones: start.zones,
            base_values,
            velocity_cutoff_cents,
            params: VoiceParams::SILENT,
            tuning: start.tuning,
            min_attenuation_cb,
            max_sends,
            inaudible_attenuation_cb: f32::INFINITY,
            loop_attenuation_cb: None,
            state,
            end_state: state,
            attenuation_gain: CachedGain::UNITY,
            envelope_gain: CachedGain::UNITY,
            fast_fall_frames: FAST_FALL_SECS * context.sample_rate_hz,
            segment_start: context.clock,
            segment_frames: 0,
            pitch_cents: f32::NAN,
            output_gains: [[0.0; TRACK_OUTPUTS]; 2],
            filter_target: (FilterParams::OPEN, Coefficients::OPEN),
            segment_end_filter: Coefficients::OPEN,
            resonance: Resonance::NONE,
            smoothing_frames: 0,
            release_at: None,
            started_at: context.clock,
            is_filter_ramping: false,
            is_filter_open: true,
            has_finished_segment: false,
            fade_in_end: 0,
        };
        voice.update_params(context);
        voice.update_filter_target(context.sample_rate_hz);
        voice.segment_end_filter = voice.filter_target.1;
        voice.filter = VoiceFilter::new(voice.segment_end_filter);
        voice.is_filter_open = voice.segment_end_filter == Coefficients::OPEN;
        voice
    }

    /// Computes the parameters from the current controllers of the channel.
    pub(in crate::synth) fn update_params(&mut self, context: VoiceContext<'_>) {
        let ZoneIndices { preset, preset_zone, instrument, instrument_zone } = self.zones;
        let mut values = self.base_values;
        context.channel.awe32().replace_realtime_generators(&mut values);
        values[Generator::InitialFilterFc as usize] += self.velocity_cutoff_cents;
        for (value, offset) in values.iter_mut().zip(context.channel.generator_offsets()) {
            *value += offset;
        }
        let instrument_zone = &context.bank.instruments()[instrument].zones[instrument_zone];
        let preset_zone = &context.bank.presets()[preset].zones[preset_zone];
        for list in [&instrument_zone.modulators, &preset_zone.modulators] {
            modulators::add_outputs(list, self.note, context.channel, &mut values);
        }
        let offset = |generator: Generator| context.channel.generator_offsets()[generator as usize];
        let tuning_cents = context.channel.tuning_cents();
        self.params.set_values(&values, self.note.key, tuning_cents, context.sample_rate_hz);
        let sends = SEND_GENERATORS.into_iter().zip(self.max_sends);
        let max_send = sends.map(|(send, max)| max + higher(offset(send), 0.0)).fold(0.0, higher);
        // These can raise the level: the peak of the filter (half the resonance above unity gain),
        // tremolo, NRPNs that reduce the attenuation, and a send above the direct signal.
        let boost_cb = self.params.resonance_cb / 2.0
            + self.params.mod_lfo_to_volume_cb.abs()
            + higher(-offset(Generator::InitialAttenuation), 0.0)
            + voice_params::send_boost_cb(max_send);
        self.inaudible_attenuation_cb =
            FULL_FALL_CB + boost_cb - self.min_attenuation_cb - VOICE_ATTENUATION_CB;
        if self.is_fading {
            self.params.vol_env_times.full_release_frames = FADE_SECS * context.sample_rate_hz;
        }
    }

    /// Like [`Self::update_params`], but ramps the gains and the filter, which prevents clicks.
    pub(in crate::synth) fn update_params_smoothly(&mut self, context: VoiceContext<'_>) {
        self.update_params(context);
        // A voice that starts now has no earlier values from which to ramp.
        if self.started_at != context.clock {
            self.smoothing_frames = context.grid.fine_frames();
        }
    }

    /// Whether two voices may be the channels of a stereo sample: they belong to the same note and
    /// to the same instrument, and the same zone of the preset plays them.
    pub(in crate::synth) fn is_same_layer(&self, voice: &Self) -> bool {
        let ZoneIndices { preset_zone, instrument, .. } = self.zones;
        self.note_id == voice.note_id
            && (preset_zone, instrument) == (voice.zones.preset_zone, voice.zones.instrument)
    }

    /// Returns the index of the preset in the bank.
    pub(in crate::synth) fn preset(&self) -> usize {
        self.zones.preset
    }

    /// Returns the tuning without controllers and modulation.
    pub(in crate::synth) fn tuning(&self) -> VoiceTuning {
        let generators = TUNING_GENERATORS.map(|generator| self.base_values[generator as usize]);
        VoiceTuning { sample: self.tuning, generators }
    }

    /// Sets the tuning. It takes effect with the next call of [`Self::update_params`].
    pub(in crate::synth) fn set_tuning(&mut self, tuning: VoiceTuning) {
        self.tuning = tuning.sample;
        for (generator, value) in TUNING_GENERATORS.into_iter().zip(tuning.generators) {
            self.base_values[generator as usize] = value;
        }
    }
}

/// A voice uses the fine grid if the full fall of an envelope takes less than this time, in
/// seconds. It uses the middle grid below twice this time. It uses the finest grid if the full fall
/// of the volume envelope takes less than a fifth of this time.
const FAST_FALL_SECS: f32 = 0.25;

/// Time in which the fade-out of a voice falls by 96 dB, in seconds.
pub(super) const FADE_SECS: f32 = 0.05;
