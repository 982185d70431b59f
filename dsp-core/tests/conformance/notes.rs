//! Tests of the start and end frames of notes, of pedals, portamento and exclusive classes.

use dsp_core::session::Event;

use crate::generator::*;
use crate::maker::{ModulatorRecord, Tables};
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{LOOP, Rig, SINE_HZ, Sound, control, level, off, on, sine, steady, tables};

const PORTAMENTO_TIME: u8 = 5;
const SUSTAIN: u8 = 64;
const PORTAMENTO: u8 = 65;
const SOSTENUTO: u8 = 66;
const SOFT: u8 = 67;
const PORTAMENTO_CONTROL: u8 = 84;

/// Returns the level at a time in decibels, relative to one note of full velocity.
fn db_at(sound: &Sound, secs: f64) -> f64 {
    let full_level = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    db(sound.left[frame(secs)] / full_level)
}

#[test]
fn a_note_starts_at_its_frame() {
    let rig = Rig::level(&[]);
    for first in [0_usize, 1, 7, 63, 64, 65, 1_000, 12_345] {
        let sound = rig.play(&[(first as f64 / 48_000.0, on(60, 127))], 0.3);
        assert!(sound.left[..first].iter().all(|value| *value == 0.0));
        assert!(sound.left[first] > 0.0, "a note at frame {first}");
    }
}

#[test]
fn a_note_ends_at_its_frame() {
    // The shortest release, -12000 timecents, takes a millisecond.
    let rig = Rig::level(&[(RELEASE_VOL_ENV, -12_000)]);
    for last in [4_801_usize, 5_000, 7_777] {
        let sound = rig.play(&[(0.0, on(60, 127)), (last as f64 / 48_000.0, off(60))], 0.3);
        let value_before = sound.left[last - 1];
        assert_near("before", db(value_before / sound.left[4_000]), 0.0, 0.001);
        assert!(
            sound.left[last + 64..].iter().all(|value| value.abs() < value_before * 1e-3),
            "frame {last}"
        );
    }
}

#[test]
fn a_fixed_velocity_applies_to_all_notes() {
    // Section 8.1.2, number 47.
    let rig = Rig::level(&[(VELOCITY, 64)]);
    for velocity in [1, 64, 127] {
        assert_near(
            "level",
            db_at(&rig.hold(60, velocity, 0.1), 0.09),
            40.0 * libm::log10(64.0 / 127.0),
            0.02,
        );
    }
}

/// Returns a rig whose notes have a release of a tenth of a second.
fn rig_with_short_release() -> Rig {
    Rig::level(&[(RELEASE_VOL_ENV, -4_000)])
}

#[test]
fn the_sustain_pedal_holds_released_notes() {
    let events =
        [(0.0, control(SUSTAIN, 127)), (0.0, on(60, 127)), (0.1, off(60)), (1.0, control(SUSTAIN, 0))];
    let sound = rig_with_short_release().play(&events, 1.5);
    assert_near("held by the pedal", db_at(&sound, 0.9), 0.0, 0.01);
    assert_eq!(sound.left[frame(1.2)], 0.0);
    // With a value below 64 the pedal is up.
    let pedal_up = [(0.0, control(SUSTAIN, 63)), (0.0, on(60, 127)), (0.1, off(60))];
    assert_eq!(rig_with_short_release().play(&pedal_up, 0.5).left[frame(0.4)], 0.0);
}

#[test]
fn the_sostenuto_pedal_holds_only_notes_that_sounded_when_it_went_down() {
    let events = [
        (0.0, on(60, 127)),
        (0.1, control(SOSTENUTO, 127)),
        (0.2, on(64, 127)),
        (0.3, off(60)),
        (0.3, off(64)),
        (1.0, control(SOSTENUTO, 0)),
    ];
    let sound = rig_with_short_release().play(&events, 1.5);
    assert_near("two notes", db_at(&sound, 0.29), 6.02, 0.01);
    assert_near("the first note", db_at(&sound, 0.9), 0.0, 0.01);
    assert_eq!(sound.left[frame(1.2)], 0.0);
}

#[test]
fn the_soft_pedal_lowers_new_notes_by_three_decibels() {
    let rig = Rig::level(&[]);
    let softer = rig.play(&[(0.0, control(SOFT, 127)), (0.0, on(60, 127))], 0.1);
    assert_near("a new note", db_at(&softer, 0.09), -3.0, 0.01);
    let unchanged_sound = rig.play(&[(0.0, on(60, 127)), (0.05, control(SOFT, 127))], 0.1);
    assert_near("a sounding note", db_at(&unchanged_sound, 0.09), 0.0, 0.01);
}

#[test]
fn portamento_slides_linearly_from_the_last_key() {
    // With controller 5 at 64, the portamento takes 3 ms times 2^(64 / 12), which is 0.121 s.
    let events = [
        (0.0, control(PORTAMENTO, 127)),
        (0.0, control(PORTAMENTO_TIME, 64)),
        (0.0, on(60, 127)),
        (0.2, off(60)),
        (0.5, on(72, 127)),
    ];
    let rig = Rig::sine(&[(RELEASE_VOL_ENV, -12_000)]);
    let sound = rig.play(&events, 1.0);
    let portamento_secs = 0.003 * libm::exp2(64.0 / 12.0);
    assert_near("no portamento on the first note", cents_at(&sound.left, 0.1, SINE_HZ), 0.0, 0.5);
    for fraction in [0.25, 0.5, 0.75] {
        let measured_cents = cents_at(&sound.left, 0.5 + fraction * portamento_secs, SINE_HZ);
        assert_near(&format!("{fraction} of the portamento"), measured_cents, 1_200.0 * fraction, 20.0);
    }
    assert_near("after the portamento", cents_at(&sound.left, 0.7, SINE_HZ), 1_200.0, 0.5);
}

#[test]
fn controller_84_sets_the_start_key_of_the_next_portamento() {
    let events = [
        (0.0, control(PORTAMENTO_TIME, 90)),
        (0.0, control(PORTAMENTO_CONTROL, 48)),
        (0.0, on(60, 127)),
        (1.0, off(60)),
        (1.5, on(67, 127)),
    ];
    let sound = Rig::sine(&[(RELEASE_VOL_ENV, -12_000)]).play(&events, 2.0);
    let portamento_secs = 0.003 * libm::exp2(90.0 / 12.0);
    assert_near(
        "half of the portamento",
        cents_at(&sound.left, portamento_secs / 2.0, SINE_HZ),
        -600.0,
        10.0,
    );
    assert_near("the next note, without portamento", cents_at(&sound.left, 1.6, SINE_HZ), 700.0, 0.5);
}

#[test]
fn a_note_ends_other_notes_of_its_exclusive_class() {
    // Section 8.1.2, number 57. Keys 0 to 60 are in class 1, keys 61 to 99 in class 2, and keys 100
    // to 127 in no class.
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    for (low, high, class) in [(0, 60, 1), (61, 99, 2), (100, 127, 0)] {
        let generators = [(KEY_RANGE, i16::from_le_bytes([low, high])), (EXCLUSIVE_CLASS, class)];
        tables.add_instrument_zone((&[&generators[..], &steady(&[])].concat(), &[]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let rig = Rig::of(&tables);
    let play = |first: u8, second: u8| rig.play(&[(0.0, on(first, 127)), (0.2, on(second, 127))], 0.4);
    assert_near("the same class", db_at(&play(50, 55), 0.3), 0.0, 0.01);
    assert_near("another class", db_at(&play(50, 70), 0.3), 6.02, 0.01);
    assert_near("no class", db_at(&play(100, 110), 0.3), 6.02, 0.01);
}

#[test]
fn a_note_does_not_end_notes_of_the_same_exclusive_class_in_another_preset() {
    // Section 8.1.2, number 57: "within the scope of a preset".
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[(EXCLUSIVE_CLASS, 1)]), &[]), Some(sample));
    for program in [0, 1] {
        tables.add_preset(0, program);
        tables.add_preset_zone((&[], &[]), Some(instrument));
    }
    let rig = Rig::of(&tables);
    let program = (0.1, Event::Program { program: 1 });
    let low_note = rig.play(&[(0.0, on(50, 127)), program, (0.2, on(55, 127))], 0.4);
    let same_sound = rig.play(&[(0.0, on(50, 127)), (0.2, on(55, 127))], 0.4);
    assert_near("another preset", db_at(&low_note, 0.3), 6.02, 0.01);
    assert_near("the same preset", db_at(&same_sound, 0.3), 0.0, 0.01);
}

#[test]
fn key_pressure_acts_on_the_pressed_key() {
    // Section 8.1.2, number 46: the generator keynum replaces the pressed key by another sounding
    // key.
    const PRESSURE_TO_TUNE: ModulatorRecord = [10, FINE_TUNE, 100, 0, 0];
    let rig = Rig::of(&tables(&sine(), &[(KEYNUM, 72)], &[PRESSURE_TO_TUNE]));
    let pitch = |key: u8| {
        let events = [(0.0, Event::KeyPressure { key, value: 64 }), (0.0, on(60, 127))];
        cents_at(&rig.play(&events, 0.5).left, 0.3, 2.0 * SINE_HZ)
    };
    assert_near("pressure on the pressed key", pitch(60), 50.0, 0.5);
    assert_near("pressure on the key that sounds", pitch(72), 0.0, 0.5);
}

#[test]
fn two_zones_of_one_note_in_the_same_exclusive_class_both_sound() {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    for _ in 0..2 {
        tables.add_instrument_zone((&steady(&[(EXCLUSIVE_CLASS, 3)]), &[]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    assert_near("both zones", db_at(&Rig::of(&tables).hold(60, 127, 0.3), 0.2), 6.02, 0.01);
}

#[test]
fn all_notes_off_releases_notes_and_all_sound_off_ends_them_in_50_ms() {
    // The release of 96 dB in eight seconds (3600 timecents) falls by 12 dB a second.
    let rig = Rig::level(&[(RELEASE_VOL_ENV, 3_600)]);
    let play = |event: Event| rig.play(&[(0.0, on(60, 127)), (0.1, event)], 0.7);
    assert_near("all notes off", db_at(&play(control(123, 0)), 0.6), -6.0, 0.1);
    let silent_sound = play(control(120, 0));
    let is_silent = silent_sound.left[frame(0.16)..].iter().all(|value| *value == 0.0);
    assert!(is_silent, "the note sounds 60 ms after all sound off");
}

#[test]
fn a_velocity_of_zero_releases_the_note() {
    let sound = rig_with_short_release().play(&[(0.0, on(60, 127)), (0.1, on(60, 0))], 0.5);
    assert_near("before", db_at(&sound, 0.09), 0.0, 0.01);
    assert_eq!(sound.left[frame(0.4)], 0.0);
}
