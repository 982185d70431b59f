//! From a note to the voices that it starts.

use super::channel::controller;
use super::modulation::{self, Note};
use super::playback::{LoopMode, Playback, Region};
use super::voice::{Glide, Start, Surroundings, Tuning, Voice, ZonePlace};
use crate::soundfont::places::{self, COARSE_FRAMES, OFFSETS};
use crate::soundfont::{Bank, Generator, Generators, Sample};

/// Attenuation of notes that are struck with the soft pedal down. MIDI leaves the amount open.
const SOFT_PEDAL_CB: f32 = 30.0;

/// A zone of a preset and one of its instrument that play a note, if their sample can be played:
/// one that cannot be decoded takes no voice from others and ends none.
pub(super) fn zones(bank: &Bank, preset: usize, key: u8, velocity: u8) -> impl Iterator<Item = ZonePlace> {
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
                .map(move |(instrument_zone, _)| ZonePlace {
                    preset,
                    preset_zone,
                    instrument,
                    instrument_zone,
                })
        })
}

/// The voice of a zone, or `None` if its sample cannot be played.
pub(super) fn voice(
    around: Surroundings<'_>,
    zones: ZonePlace,
    serial: u64,
    key: u8,
    velocity: u8,
    glide: Glide,
) -> Option<Voice> {
    let bank = around.bank;
    let zone = &bank.instruments()[zones.instrument].zones[zones.instrument_zone];
    let generators = &zone.generators;
    let sample = bank.samples().get(zone.sample)?;
    let wave = bank.wave(zone.sample)?;
    let fixed =
        |generator: Generator, own: u8| u8::try_from(generators.get(generator)).unwrap_or(own).min(127);
    let root_key = fixed(Generator::OverridingRootKey, sample.root_key);
    let note = Note {
        struck_key: key,
        key: fixed(Generator::Keynum, key),
        velocity: fixed(Generator::Velocity, velocity),
    };
    let preset_zone = &bank.presets()[zones.preset].zones[zones.preset_zone];
    let pushed = |generator: Generator| {
        let channel = around.channel;
        let lists = [&zone.modulators, &preset_zone.modulators];
        let modulated = lists.map(|list| modulation::sum(list, generator, note, channel));
        let nrpn = channel.generator_offsets()[generator as usize];
        libm::roundf(nrpn + modulated[0] + modulated[1]) as i64
    };
    let region = region(sample, generators, pushed, wave.high.len() as i64)?;
    let soft = around.channel.is_on(controller::SOFT);
    let start = Start {
        serial,
        key,
        note,
        zones,
        sample: zone.sample,
        playback: Playback::new(region),
        tuning: Tuning {
            root_key: f32::from(root_key),
            correction_cents: f32::from(sample.correction_cents),
            rate_ratio: f64::from(sample.rate_hz) / f64::from(around.sample_rate_hz),
        },
        glide,
        softer_cb: if soft { SOFT_PEDAL_CB } else { 0.0 },
    };
    Some(Voice::new(start, around))
}

/// The exclusive class of a zone's voice, 0 for none (section 8.1.2, generator 57).
pub(super) fn exclusive_class(bank: &Bank, zones: ZonePlace) -> i16 {
    let instrument = &bank.instruments()[zones.instrument].zones[zones.instrument_zone];
    let preset = &bank.presets()[zones.preset].zones[zones.preset_zone];
    let [own, offset] =
        [&instrument.generators, &preset.generators].map(|zone| zone.get(Generator::ExclusiveClass));
    own.saturating_add(offset)
}

/// Where a note plays its sample: the header's places, moved by the offsets of the zone, and from
/// there, within what the zone can play, by those that its modulators and NRPNs say as the note
/// starts (section 8.1.2, generators 0 to 4, 12, 45 and 50).
fn region(
    sample: &Sample,
    generators: &Generators,
    pushed: impl Fn(Generator) -> i64,
    wave_frames: i64,
) -> Option<Region> {
    let moved = places::moved(sample, generators, wave_frames);
    let [first, last] = places::reach(sample, &moved);
    let [start, end, loop_start, loop_end] = core::array::from_fn(|place| {
        let (fine, coarse) = OFFSETS[place];
        let pushed = pushed(fine) + COARSE_FRAMES * pushed(coarse);
        if pushed == 0 { moved[place] } else { (moved[place] + pushed).clamp(first, last) }
    });
    let can_loop = sample.loop_ok && loop_start < loop_end && loop_end > start;
    let mode = match generators.get(Generator::SampleModes) {
        1 if can_loop => LoopMode::Always,
        3 if can_loop => LoopMode::UntilRelease,
        _ => LoopMode::Once,
    };
    (start < end).then_some(Region { start, end, loop_start, loop_end, mode })
}
