//! Parameters of a channel: RPNs, NRPNs, tuning, bank select, resets.

use dsp_core::session::Event;

use crate::generator::*;
use crate::maker::Tables;
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{LOOP, Rig, SINE_HZ, bend, control, off, on, sine, steady};

const BANK_MSB: u8 = 0;
const DATA: u8 = 6;
const VOLUME: u8 = 7;
const EXPRESSION: u8 = 11;
const BANK_LSB: u8 = 32;
const DATA_LSB: u8 = 38;
const INCREMENT: u8 = 96;
const DECREMENT: u8 = 97;

fn registered(parameter: u8) -> [Event; 2] {
    [control(101, 0), control(100, parameter)]
}

/// Selects a generator (9.6.2).
fn generator_parameter(number: u8) -> [Event; 2] {
    [control(99, 120), control(98, number)]
}

/// Enters a value of 14 bits; 8192 is the centre.
fn enter(value: i16) -> [Event; 2] {
    let bits = value + 8_192;
    [control(DATA, (bits >> 7) as u8), control(DATA_LSB, (bits & 127) as u8)]
}

/// Detuning of a note at key 60 after these events, in cents.
fn cents_after(rig: &Rig, events: &[&[Event]]) -> f64 {
    let mut timed: Vec<_> = events.concat().into_iter().map(|event| (0.0, event)).collect();
    timed.push((0.0, on(60, 127)));
    cents_at(&rig.play(&timed, 0.5).left, 0.3, SINE_HZ)
}

const TOLERANCE_CENTS: f64 = 0.3;

#[test]
fn the_range_of_the_wheel_is_registered_parameter_zero() {
    let rig = Rig::sine(&[]);
    for (semitones, cents) in [(0_u8, 0_u8), (7, 0), (12, 50), (24, 0)] {
        let range = [control(DATA, semitones), control(DATA_LSB, cents)];
        let measured = cents_after(&rig, &[&registered(0), &range, &[bend(-8_192)]]);
        let expected = -100.0 * f64::from(semitones) - f64::from(cents);
        assert_near(&format!("{semitones} semitones, {cents} cents"), measured, expected, TOLERANCE_CENTS);
    }
}

#[test]
fn tuning_is_registered_parameters_one_and_two() {
    let rig = Rig::sine(&[]);
    assert_near("50 cents up", cents_after(&rig, &[&registered(1), &enter(4_096)]), 50.0, TOLERANCE_CENTS);
    assert_near(
        "100 cents down",
        cents_after(&rig, &[&registered(1), &enter(-8_192)]),
        -100.0,
        TOLERANCE_CENTS,
    );
    let up = cents_after(&rig, &[&registered(2), &[control(DATA, 64 + 7)]]);
    assert_near("7 semitones up", up, 700.0, TOLERANCE_CENTS);
}

#[test]
fn data_increment_and_decrement_change_the_value() {
    let rig = Rig::sine(&[]);
    let steps = [control(DATA, 64), control(INCREMENT, 0), control(INCREMENT, 0), control(DECREMENT, 0)];
    assert_near("a semitone", cents_after(&rig, &[&registered(2), &steps]), 100.0, TOLERANCE_CENTS);
    // MIDI RP-018: increments are cents of the bend range, which starts at two semitones. A hundred
    // of them are a semitone.
    for (step, count, expected) in [(INCREMENT, 30, 230.0), (INCREMENT, 130, 330.0), (DECREMENT, 1, 199.0)] {
        let steps = vec![control(step, 0); count];
        let measured = cents_after(&rig, &[&registered(0), &steps, &[bend(-8_192)]]);
        assert_near(&format!("{count} steps"), measured, -expected, TOLERANCE_CENTS);
    }
    // 100 cents are 8192 steps of a fine tuning.
    let steps = vec![control(INCREMENT, 0); 2_048];
    assert_near("25 cents", cents_after(&rig, &[&registered(1), &steps]), 25.0, TOLERANCE_CENTS);
}

#[test]
fn data_without_a_selected_parameter_changes_nothing() {
    let rig = Rig::sine(&[]);
    let nothing = [control(101, 127), control(100, 127)];
    let measured = cents_after(&rig, &[&registered(2), &nothing, &[control(DATA, 90)]]);
    assert_near("the null parameter", measured, 0.0, TOLERANCE_CENTS);
}

#[test]
fn generators_are_not_registered_parameters() {
    // 9.6: cents have a unit of one, the cutoff and times of two.
    let rig = Rig::sine(&[]);
    let tuned = cents_after(&rig, &[&generator_parameter(FINE_TUNE as u8), &enter(-40)]);
    assert_near("fine tune", tuned, -40.0, TOLERANCE_CENTS);
    let rig = Rig::level(&[(RELEASE_VOL_ENV, -1_200)]);
    let mut events: Vec<_> = [generator_parameter(RELEASE_VOL_ENV as u8), enter(600)].concat();
    events.push(on(60, 127));
    let mut timed: Vec<_> = events.into_iter().map(|event| (0.0, event)).collect();
    timed.push((0.1, off(60)));
    let sound = rig.play(&timed, 0.7);
    // The release is lengthened from half a second to a second for 96 dB.
    assert_near("the release", db(sound.left[frame(0.6)] / sound.left[frame(0.099)]), -48.0, 0.3);
}

#[test]
fn generator_parameters_change_notes_that_sound() {
    let rig = Rig::level(&[(PAN, 0)]);
    let mut events = vec![(0.0, on(60, 127))];
    events
        .extend([generator_parameter(PAN as u8), enter(250)].concat().into_iter().map(|event| (0.1, event)));
    let sound = rig.play(&events, 0.3);
    let angle = |secs: f64| libm::atan2(sound.right[frame(secs)], sound.left[frame(secs)]).to_degrees();
    assert_near("before", angle(0.09), 45.0, 0.05);
    assert_near("after", angle(0.2), 67.5, 0.05);
}

#[test]
fn generator_numbers_above_a_hundred_are_summed() {
    // 9.6.2: data 100 adds a hundred to the number. There is no generator 152; then 52 is selected
    // again.
    let rig = Rig::sine(&[]);
    let far = [control(99, 120), control(98, 100), control(98, 52)];
    assert_near("generator 152", cents_after(&rig, &[&far, &enter(50)]), 0.0, TOLERANCE_CENTS);
    let again = cents_after(&rig, &[&far, &generator_parameter(52), &enter(50)]);
    assert_near("generator 52", again, 50.0, TOLERANCE_CENTS);
}

/// A bank in which each preset is a different number of semitones above the sine.
fn many_banks() -> Rig {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&sine(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
    for (bank, program, semitones) in PRESETS {
        tables.add_preset(bank, program);
        tables.add_preset_zone((&[(COARSE_TUNE, semitones)], &[]), Some(instrument));
    }
    Rig::of(&tables)
}

/// Bank, program, semitones.
const PRESETS: [(u16, u16, i16); 7] =
    [(0, 0, 0), (0, 5, 1), (1, 5, 2), (8, 5, 3), (128, 0, 4), (128, 5, 5), (127, 5, 6)];

/// The semitones of the preset that plays after bank select and a program change.
fn selected(preset: (u16, u8), msb: u8, lsb: u8, program: u8) -> f64 {
    let rig = many_banks().with_preset(preset.0, preset.1);
    let events = [control(BANK_MSB, msb), control(BANK_LSB, lsb), Event::Program { program }];
    cents_after(&rig, &[&events]) / 100.0
}

#[test]
fn bank_select_follows_gm_gs_and_xg() {
    let check = |label: &str, msb: u8, lsb: u8, expected: f64| {
        assert_near(label, selected((0, 0), msb, lsb, 5), expected, 0.01);
    };
    check("GM", 0, 0, 1.0);
    check("GS, by the most significant byte", 8, 0, 3.0);
    check("GS, with the least significant byte as the map", 8, 2, 3.0);
    check("XG, by the least significant byte", 0, 1, 2.0);
    check("GM2's sounds", 121, 1, 2.0);
    check("GM2's drums", 120, 0, 5.0);
    check("XG's drums", 127, 0, 5.0);
    check("XG's sound effect kits", 126, 0, 5.0);
    check("a missing bank", 77, 0, 1.0);
}

#[test]
fn a_drum_track_stays_on_its_drum_bank() {
    assert_near("another kit", selected((128, 0), 0, 0, 5), 5.0, 0.01);
    assert_near("a missing kit", selected((128, 0), 0, 0, 77), 4.0, 0.01);
    assert_near("a missing program", selected((0, 0), 0, 0, 77), 0.0, 0.01);
}

#[test]
fn reset_all_controllers_leaves_volume_pan_and_sends() {
    // MIDI RP-015.
    let level = |events: &[Event]| {
        let mut timed: Vec<_> = events.iter().map(|event| (0.0, *event)).collect();
        timed.push((0.0, on(60, 127)));
        let sound = Rig::level(&[]).play(&timed, 0.1);
        (sound.left[frame(0.09)], sound.reverb[frame(0.09)])
    };
    let reset = control(121, 0);
    let kept = [control(VOLUME, 64), control(10, 20), control(91, 100)];
    assert_eq!(level(&kept), level(&[&kept[..], &[reset]].concat()));
    assert_eq!(level(&[]), level(&[control(EXPRESSION, 10), reset]));
    let rig = Rig::sine(&[]);
    assert_near("the wheel", cents_after(&rig, &[&[bend(8_191), reset]]), 0.0, TOLERANCE_CENTS);
    let measured = cents_after(&rig, &[&registered(2), &[reset, control(DATA, 90)]]);
    assert_near("the parameter that was selected", measured, 0.0, TOLERANCE_CENTS);
}
