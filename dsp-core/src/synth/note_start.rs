//! Selects the zones of a note and starts their voices.

use super::controllers;
use super::modulators::{self, Note};
use super::portamento::Portamento;
use super::sample_reader::{LoopMode, SampleReader, SampleRegion};
use super::voice::{SampleTuning, Voice, VoiceContext, VoiceStart, ZoneIndices};
use crate::soundfont::sample_positions::{
    COARSE_FRAMES, OFFSET_GENERATORS, offset_positions, playable_range,
};
use crate::soundfont::{Bank, Generator, Generators, Sample};

/// Attenuation of notes that start while the soft pedal is down, in centibels. MIDI does not define
/// the amount.
const SOFT_PEDAL_CB: f32 = 30.0;

/// Iterates over the zones that play a note: pairs of a preset zone and a zone of its instrument.
///
/// Zones whose sample is not decoded are left out. They therefore neither steal voices nor end
/// notes of their exclusive class.
pub(super) fn matching_zones(
    bank: &Bank,
    preset: usize,
    key: u8,
    velocity: u8,
) -> impl Iterator<Item = ZoneIndices> {
    let preset_zones = bank.presets().get(preset).map_or(&[][..], |preset| &preset.zones).iter().enumerate();
    preset_zones
        .filter(move |(_, zone)| zone.keys.contains(key) && zone.velocities.contains(velocity))
        .flat_map(move |(preset_zone, zone)| {
            let instrument = zone.instrument;
            let zones = bank.instruments().get(instrument).map_or(&[][..], |instrument| &instrument.zones);
            zones
                .iter()
                .enumerate()
                .filter(move |(_, zone)| zone.keys.contains(key) && zone.velocities.contains(velocity))
                .filter(|(_, zone)| bank.wave(zone.sample).is_some())
                .map(move |(instrument_zone, _)| ZoneIndices {
                    preset,
                    preset_zone,
                    instrument,
                    instrument_zone,
                })
        })
}

/// A note that starts, with the key and the velocity of its event.
#[derive(Clone, Copy)]
pub(super) struct NoteStart {
    /// Number of the note: see [`Voice::note_id`].
    pub(super) note_id: u64,
    pub(super) key: u8,
    pub(super) velocity: u8,
    pub(super) portamento: Portamento,
}

/// Creates the voice of a zone; `None` if the sample of the zone cannot be played.
pub(super) fn start_voice(context: VoiceContext<'_>, zones: ZoneIndices, start: NoteStart) -> Option<Voice> {
    let NoteStart { note_id, key, velocity, portamento } = start;
    let bank = context.bank;
    let zone = &bank.instruments()[zones.instrument].zones[zones.instrument_zone];
    let generators = &zone.generators;
    let sample = bank.samples().get(zone.sample)?;
    let wave = bank.wave(zone.sample)?;
    let value_or = |generator: Generator, default: u8| {
        u8::try_from(generators.get(generator)).unwrap_or(default).min(127)
    };
    let root_key = value_or(Generator::OverridingRootKey, sample.root_key);
    let note = Note {
        pressed_key: key,
        key: value_or(Generator::Keynum, key),
        velocity: value_or(Generator::Velocity, velocity),
    };
    let preset_zone = &bank.presets()[zones.preset].zones[zones.preset_zone];
    let modulation = |generator: Generator| {
        let channel = context.channel;
        let lists = [&zone.modulators, &preset_zone.modulators];
        let outputs = lists.map(|list| modulators::sum_of_outputs(list, generator, note, channel));
        let nrpn = channel.generator_offsets()[generator as usize];
        libm::roundf(nrpn + outputs[0] + outputs[1]) as i64
    };
    let region = sample_region(sample, generators, modulation, wave.high.len() as i64)?;
    let is_soft = context.channel.is_on(controllers::SOFT);
    let start = VoiceStart {
        note_id,
        key,
        note,
        zones,
        sample: zone.sample,
        reader: SampleReader::new(region),
        tuning: SampleTuning {
            root_key: f32::from(root_key),
            correction_cents: f32::from(sample.correction_cents),
            rate_ratio: f64::from(sample.rate_hz) / f64::from(context.sample_rate_hz),
        },
        portamento,
        soft_pedal_cb: if is_soft { SOFT_PEDAL_CB } else { 0.0 },
    };
    Some(Voice::new(start, context))
}

/// Returns the exclusive class of a zone; 0 if it has none (section 8.1.2, generator 57).
pub(super) fn exclusive_class(bank: &Bank, zones: ZoneIndices) -> i16 {
    let instrument = &bank.instruments()[zones.instrument].zones[zones.instrument_zone];
    let preset = &bank.presets()[zones.preset].zones[zones.preset_zone];
    let [value, offset] =
        [&instrument.generators, &preset.generators].map(|zone| zone.get(Generator::ExclusiveClass));
    value.saturating_add(offset)
}

/// Returns the part of the sample that a note plays.
///
/// The generators of the zone are added to the positions in the sample header (section 8.1.2,
/// generators 0 to 4, 12, 45 and 50). `modulation` returns the sum of modulators and NRPNs for a
/// generator at the start of the note, which is added too. The result is clamped to the frames that
/// the zone can play: see [`playable_range`].
fn sample_region(
    sample: &Sample,
    generators: &Generators,
    modulation: impl Fn(Generator) -> i64,
    wave_frames: i64,
) -> Option<SampleRegion> {
    let positions = offset_positions(sample, generators, wave_frames);
    let [first, last] = playable_range(sample, &positions);
    let [start, end, loop_start, loop_end] = core::array::from_fn(|index| {
        let (fine, coarse) = OFFSET_GENERATORS[index];
        let offset = modulation(fine) + COARSE_FRAMES * modulation(coarse);
        if offset == 0 { positions[index] } else { (positions[index] + offset).clamp(first, last) }
    });
    let can_loop = sample.is_loop_valid && loop_start < loop_end && loop_end > start;
    let mode = match generators.get(Generator::SampleModes) {
        1 if can_loop => LoopMode::Continuous,
        3 if can_loop => LoopMode::UntilRelease,
        _ => LoopMode::None,
    };
    (start < end).then_some(SampleRegion { start, end, loop_start, loop_end, mode })
}
