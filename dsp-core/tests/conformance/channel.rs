//! Tests of a channel's parameters: RPNs, NRPNs, tuning, bank select and resets.

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

/// Selects the NRPN of a generator (section 9.6.2).
fn generator_parameter(number: u8) -> [Event; 2] {
    [control(99, 120), control(98, number)]
}

/// Enters `value`, which is relative to 8192, the centre of the 14-bit range.
fn enter(value: i16) -> [Event; 2] {
    let bits = value + 8_192;
    [control(DATA, (bits >> 7) as u8), control(DATA_LSB, (bits & 127) as u8)]
}

/// Returns the detuning in cents of a note at key 60 that starts after these events.
fn cents_after(rig: &Rig, events: &[&[Event]]) -> f64 {
    let mut timed: Vec<_> = events.concat().into_iter().map(|event| (0.0, event)).collect();
    timed.push((0.0, on(60, 127)));
    cents_at(&rig.play(&timed, 0.5).left, 0.3, SINE_HZ)
}

const TOLERANCE_CENTS: f64 = 0.3;

#[test]
fn registered_parameter_0_is_the_bend_range() {
    let rig = Rig::sine(&[]);
    for (semitones, cents) in [(0_u8, 0_u8), (7, 0), (12, 50), (24, 0)] {
        let range = [control(DATA, semitones), control(DATA_LSB, cents)];
        let measured_cents = cents_after(&rig, &[&registered(0), &range, &[bend(-8_192)]]);
        let expected = -100.0 * f64::from(semitones) - f64::from(cents);
        assert_near(
            &format!("{semitones} semitones, {cents} cents"),
            measured_cents,
            expected,
            TOLERANCE_CENTS,
        );
    }
}

#[test]
fn registered_parameters_1_and_2_are_the_tuning() {
    let rig = Rig::sine(&[]);
    assert_near("50 cents up", cents_after(&rig, &[&registered(1), &enter(4_096)]), 50.0, TOLERANCE_CENTS);
    assert_near(
        "100 cents down",
        cents_after(&rig, &[&registered(1), &enter(-8_192)]),
        -100.0,
        TOLERANCE_CENTS,
    );
    let measured_cents = cents_after(&rig, &[&registered(2), &[control(DATA, 64 + 7)]]);
    assert_near("7 semitones up", measured_cents, 700.0, TOLERANCE_CENTS);
}

#[test]
fn data_increment_and_decrement_change_the_value() {
    let rig = Rig::sine(&[]);
    let steps = [control(DATA, 64), control(INCREMENT, 0), control(INCREMENT, 0), control(DECREMENT, 0)];
    assert_near(
        "two increments and a decrement of the coarse tuning",
        cents_after(&rig, &[&registered(2), &steps]),
        100.0,
        TOLERANCE_CENTS,
    );
    // MIDI RP-018: an increment adds a cent to the bend range, which is two semitones at first.
    for (step, count, expected) in [(INCREMENT, 30, 230.0), (INCREMENT, 130, 330.0), (DECREMENT, 1, 199.0)] {
        let steps = vec![control(step, 0); count];
        let measured_cents = cents_after(&rig, &[&registered(0), &steps, &[bend(-8_192)]]);
        assert_near(
            &format!("{count} steps of controller {step}"),
            measured_cents,
            -expected,
            TOLERANCE_CENTS,
        );
    }
    // 8192 increments of the fine tuning are 100 cents.
    let steps = vec![control(INCREMENT, 0); 2_048];
    assert_near(
        "2048 increments of the fine tuning",
        cents_after(&rig, &[&registered(1), &steps]),
        25.0,
        TOLERANCE_CENTS,
    );
}

#[test]
fn data_without_a_selected_parameter_changes_nothing() {
    let rig = Rig::sine(&[]);
    let null_parameter = [control(101, 127), control(100, 127)];
    let measured_cents = cents_after(&rig, &[&registered(2), &null_parameter, &[control(DATA, 90)]]);
    assert_near("data after the null parameter", measured_cents, 0.0, TOLERANCE_CENTS);
}

#[test]
fn generators_are_nonregistered_parameters() {
    // Section 9.6: one unit of data is a cent of the fine tuning, but two timecents of the release.
    let rig = Rig::sine(&[]);
    let measured_cents = cents_after(&rig, &[&generator_parameter(FINE_TUNE as u8), &enter(-40)]);
    assert_near("fine tune", measured_cents, -40.0, TOLERANCE_CENTS);
    let rig = Rig::level(&[(RELEASE_VOL_ENV, -1_200)]);
    let mut events: Vec<_> = [generator_parameter(RELEASE_VOL_ENV as u8), enter(600)].concat();
    events.push(on(60, 127));
    let mut timed: Vec<_> = events.into_iter().map(|event| (0.0, event)).collect();
    timed.push((0.1, off(60)));
    let sound = rig.play(&timed, 0.7);
    // The data lengthen the release of 96 dB from half a second to a second.
    assert_near(
        "half a second of the release",
        db(sound.left[frame(0.6)] / sound.left[frame(0.099)]),
        -48.0,
        0.3,
    );
}

#[test]
fn generator_parameters_change_sounding_notes() {
    let rig = Rig::level(&[(PAN, 0)]);
    let mut events = vec![(0.0, on(60, 127))];
    events
        .extend([generator_parameter(PAN as u8), enter(250)].concat().into_iter().map(|event| (0.1, event)));
    let sound = rig.play(&events, 0.3);
    let angle = |secs: f64| libm::atan2(sound.right[frame(secs)], sound.left[frame(secs)]).to_degrees();
    assert_near("the angle before", angle(0.09), 45.0, 0.05);
    assert_near("the angle after", angle(0.2), 67.5, 0.05);
}

#[test]
fn generator_numbers_above_a_hundred_are_summed() {
    // Section 9.6.2: an LSB of 100 adds 100 to the number of the next LSB. Generator 152 does not
    // exist, so its data are ignored. Generator 52 is the fine tuning.
    let rig = Rig::sine(&[]);
    let select_152 = [control(99, 120), control(98, 100), control(98, 52)];
    assert_near("generator 152", cents_after(&rig, &[&select_152, &enter(50)]), 0.0, TOLERANCE_CENTS);
    let measured_cents = cents_after(&rig, &[&select_152, &generator_parameter(52), &enter(50)]);
    assert_near("generator 52", measured_cents, 50.0, TOLERANCE_CENTS);
}

/// Returns a rig whose bank has [`PRESETS`].
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

/// Bank, program, and the number of semitones by which the preset is tuned.
const PRESETS: [(u16, u16, i16); 7] =
    [(0, 0, 0), (0, 5, 1), (1, 5, 2), (8, 5, 3), (128, 0, 4), (128, 5, 5), (127, 5, 6)];

/// Selects a bank and a program, and returns the semitones of the preset that then plays. `preset`
/// is the preset at the start.
fn selected_semitones(preset: (u16, u8), msb: u8, lsb: u8, program: u8) -> f64 {
    let rig = many_banks().with_preset(preset.0, preset.1);
    let events = [control(BANK_MSB, msb), control(BANK_LSB, lsb), Event::Program { program }];
    cents_after(&rig, &[&events]) / 100.0
}

#[test]
fn bank_select_follows_gm_gs_and_xg() {
    let check = |label: &str, msb: u8, lsb: u8, expected: f64| {
        assert_near(label, selected_semitones((0, 0), msb, lsb, 5), expected, 0.01);
    };
    check("GM", 0, 0, 1.0);
    check("GS: the MSB is the bank", 8, 0, 3.0);
    check("GS: the LSB is the map and is ignored", 8, 2, 3.0);
    check("XG: the LSB is the bank", 0, 1, 2.0);
    check("melodic sounds of GM2", 121, 1, 2.0);
    check("drums of GM2", 120, 0, 5.0);
    check("drums of XG", 127, 0, 5.0);
    check("sound effect kits of XG", 126, 0, 5.0);
    check("a missing bank", 77, 0, 1.0);
}

#[test]
fn a_program_change_on_a_drum_track_selects_another_kit() {
    assert_near("another kit", selected_semitones((128, 0), 0, 0, 5), 5.0, 0.01);
    assert_near("a missing kit", selected_semitones((128, 0), 0, 0, 77), 4.0, 0.01);
    assert_near("a missing program of a melodic track", selected_semitones((0, 0), 0, 0, 77), 0.0, 0.01);
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
    let settings = [control(VOLUME, 64), control(10, 20), control(91, 100)];
    assert_eq!(level(&settings), level(&[&settings[..], &[reset]].concat()));
    assert_eq!(level(&[]), level(&[control(EXPRESSION, 10), reset]));
    let rig = Rig::sine(&[]);
    assert_near(
        "the pitch wheel after a reset",
        cents_after(&rig, &[&[bend(8_191), reset]]),
        0.0,
        TOLERANCE_CENTS,
    );
    let measured_cents = cents_after(&rig, &[&registered(2), &[reset, control(DATA, 90)]]);
    assert_near("data for the parameter selected before the reset", measured_cents, 0.0, TOLERANCE_CENTS);
}
