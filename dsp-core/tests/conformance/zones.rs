//! Tests of zones: their ranges, global zones, and zones of presets and instruments.

use crate::generator::*;
use crate::maker::Tables;
use crate::measure::{assert_near, cents, db, frame, pitch_hz};
use crate::rig::{LOOP, Rig, SINE_HZ, level, off, on, sine, steady};

/// Returns the amount of a key range or velocity range.
const fn between(low: u8, high: u8) -> i16 {
    i16::from_le_bytes([low, high])
}

/// Returns the level of a held note, which is 0 if no zone plays it.
fn level_of(rig: &Rig, key: u8, velocity: u8) -> f64 {
    rig.hold(key, velocity, 0.1).left[frame(0.05)]
}

#[test]
fn a_zone_plays_only_the_keys_and_velocities_in_its_ranges() {
    // Section 8.1.2, numbers 43 and 44. Ranges include both ends.
    for in_preset in [false, true] {
        let ranges = [(KEY_RANGE, between(60, 64)), (VEL_RANGE, between(50, 100))];
        let mut tables = Tables::new();
        let sample = tables.add_sample(&level(), LOOP);
        let instrument = tables.add_instrument();
        tables.add_preset(0, 0);
        if in_preset {
            tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
            tables.add_preset_zone((&ranges, &[]), Some(instrument));
        } else {
            tables.add_instrument_zone((&[&ranges[..], &steady(&[])].concat(), &[]), Some(sample));
            tables.add_preset_zone((&[], &[]), Some(instrument));
        }
        let rig = Rig::of(&tables);
        for (key, velocity, sounds) in [
            (60, 50, true),
            (64, 100, true),
            (62, 75, true),
            (59, 75, false),
            (65, 75, false),
            (62, 49, false),
            (62, 101, false),
        ] {
            assert_eq!(level_of(&rig, key, velocity) > 0.0, sounds, "key {key}, velocity {velocity}");
        }
    }
}

#[test]
fn zones_that_overlap_sound_together() {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
    tables.add_instrument_zone(
        (&[&[(KEY_RANGE, between(0, 60))], &steady(&[])[..]].concat(), &[]),
        Some(sample),
    );
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let rig = Rig::of(&tables);
    assert_near("two voices against one", db(level_of(&rig, 60, 127) / level_of(&rig, 61, 127)), 6.02, 0.01);
}

#[test]
fn a_generator_of_the_global_zone_applies_unless_a_zone_has_the_same_generator() {
    // Section 7.7.
    let mut tables = Tables::new();
    let sample = tables.add_sample(&sine(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[(COARSE_TUNE, 5), (FINE_TUNE, 20)]), &[]), None);
    tables.add_instrument_zone((&[(KEY_RANGE, between(0, 60)), (COARSE_TUNE, -2)], &[]), Some(sample));
    tables.add_instrument_zone((&[(KEY_RANGE, between(61, 127))], &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let rig = Rig::of(&tables);
    let pitch = |key: u8| cents(pitch_hz(&rig.hold(key, 127, 0.5).left, 0.05, 0.5), SINE_HZ);
    assert_near("semitones of the zone, cents of the global zone", pitch(60), -180.0, 0.2);
    assert_near("semitones and cents of the global zone", pitch(61), 100.0 + 520.0, 0.2);
}

#[test]
fn generators_of_a_preset_add_to_those_of_its_instrument() {
    // Sections 8.5 and 9.4. In the preset, too, a generator of a zone replaces that of the global
    // zone.
    let mut tables = Tables::new();
    let sample = tables.add_sample(&sine(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[(COARSE_TUNE, 3), (INITIAL_ATTENUATION, 100)]), &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[(COARSE_TUNE, 7), (INITIAL_ATTENUATION, 150), (PAN, 500)], &[]), None);
    tables.add_preset_zone((&[(COARSE_TUNE, 2)], &[]), Some(instrument));
    tables.add_preset(0, 1);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(60, 127, 0.5);
    let single_zone = Rig::of(&tables).with_preset(0, 1).hold(60, 127, 0.5);
    assert_near("3 and 2 semitones", cents(pitch_hz(&sound.right, 0.05, 0.5), SINE_HZ), 500.0, 0.2);
    let power = |sound: &crate::rig::Sound| {
        let side = |side: &[f64]| crate::measure::rms(&side[frame(0.1)..]);
        libm::hypot(side(&sound.left), side(&sound.right))
    };
    assert_near("150 centibels of the file", db(power(&sound) / power(&single_zone)), -6.0, 0.02);
    assert!(sound.left.iter().all(|value| value.abs() < 1e-6), "the sound is not panned to the right");
}

#[test]
fn generators_invalid_in_a_preset_are_ignored() {
    // Section 8.5: only instruments may have generators of addresses, keys, loops and classes.
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
    for program in 0..2 {
        tables.add_preset(0, program);
    }
    tables.presets[1].first_zone = 1;
    let offsets = [
        (START_ADDRS_OFFSET, 900),
        (KEYNUM, 20),
        (VELOCITY, 3),
        (SAMPLE_MODES, 2),
        (EXCLUSIVE_CLASS, 1),
        (OVERRIDING_ROOT_KEY, 1),
    ];
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables.add_preset_zone((&offsets, &[]), Some(instrument));
    let events = [(0.0, on(60, 90)), (0.1, on(70, 90)), (0.2, off(70))];
    let plain_sound = Rig::of(&tables).play(&events, 0.4);
    let same_sound = Rig::of(&tables).with_preset(0, 1).play(&events, 0.4);
    assert!(plain_sound.left == same_sound.left && plain_sound.left[frame(0.3)] > 0.0);
}

#[test]
fn values_are_clamped_to_their_ranges() {
    // Section 8.1.3: the sum of the pans is limited to 50 %, and the attenuation to 0 to 144 dB.
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[(PAN, 400)]), &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[(PAN, 400), (INITIAL_ATTENUATION, -300)], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(60, 127, 0.1);
    assert_eq!(sound.left[frame(0.05)], 0.0);
    // A negative attenuation can at most cancel the 4.15 dB of the default volume (section 8.4.5).
    let full_level = Rig::level(&[(PAN, 500)]).hold(60, 127, 0.1).right[frame(0.05)];
    assert!(db(sound.right[frame(0.05)] / full_level) < 4.16);
}
