//! Tests of modulators in the file (sections 7.4, 8.2, 8.3 and 9.5). The destination is mostly the
//! attenuation, which a modulator changes in centibels.

use dsp_core::session::Event;

use crate::generator::*;
use crate::maker::{ModulatorRecord, Tables};
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{LOOP, Rig, SINE_HZ, bend, control, level, on, sine, steady, tables};

/// A controller that no default modulator uses, its source number, and the bit of a bipolar source
/// (section 8.2).
const CONTROLLER: u8 = 16;
const SOURCE: u16 = 0x80 | CONTROLLER as u16;
const BIPOLAR: u16 = 0x200;

/// Numbers of other sources (section 8.2.1).
const NONE: u16 = 0;
const VELOCITY_SOURCE: u16 = 2;
const KEY: u16 = 3;
const KEY_PRESSURE: u16 = 10;
const CHANNEL_PRESSURE: u16 = 13;
const WHEEL: u16 = 14;
const WHEEL_RANGE: u16 = 16;
const LINK: u16 = 127;

const ATTENUATION: u16 = INITIAL_ATTENUATION;
const TO_MODULATOR: u16 = 0x8000;
const ABSOLUTE: u16 = 2;

/// An attenuation of 20 dB, so that a modulator can also reduce the attenuation. Two fifths of the
/// 50 dB count.
const BASE_ATTENUATION: (u16, i16) = (INITIAL_ATTENUATION, 500);

/// Returns the attenuation of a note by these modulators after these events, in centibels.
fn attenuation_cb(modulators: &[ModulatorRecord], events: &[Event], key: u8, velocity: u8) -> f64 {
    let play = |modulators: &[ModulatorRecord]| {
        let mut timed: Vec<_> = events.iter().map(|event| (0.0, *event)).collect();
        timed.push((0.0, on(key, velocity)));
        Rig::of(&tables(&level(), &[BASE_ATTENUATION], modulators)).play(&timed, 0.1).left[frame(0.09)]
    };
    -10.0 * db(play(modulators) / play(&[]))
}

/// Returns the attenuation of a note by these modulators in centibels, with [`CONTROLLER`] at a
/// value.
fn attenuation_by_controller_cb(modulators: &[ModulatorRecord], value: u8) -> f64 {
    attenuation_cb(modulators, &[control(CONTROLLER, value)], 60, 127)
}

/// The concave curve (section 9.5.3): an attenuation of 40 dB a decade as a fraction of 96 dB.
fn concave(fraction: f64) -> f64 {
    (-40.0 / 96.0 * libm::log10(1.0 - fraction)).min(1.0)
}

const TOLERANCE_CB: f64 = 0.2;

#[test]
fn every_source_changes_the_destination() {
    // Section 8.2.1.
    let modulator = |source: u16| [[source, ATTENUATION, 128, NONE, 0]];
    let check = |source: u16, events: &[Event], expected: f64| {
        let measured_cb = attenuation_cb(&modulator(source), events, 70, 90);
        assert_near(&format!("source {source}"), measured_cb, expected, TOLERANCE_CB);
    };
    check(NONE, &[], 128.0);
    check(VELOCITY_SOURCE, &[], 90.0);
    check(KEY, &[], 70.0);
    check(KEY_PRESSURE, &[Event::KeyPressure { key: 70, value: 44 }], 44.0);
    check(KEY_PRESSURE, &[Event::KeyPressure { key: 69, value: 44 }], 0.0);
    check(CHANNEL_PRESSURE, &[Event::ChannelPressure { value: 55 }], 55.0);
    check(WHEEL, &[bend(0)], 64.0);
    check(WHEEL | BIPOLAR, &[bend(-4_096)], -64.0);
    check(SOURCE, &[control(CONTROLLER, 33)], 33.0);
}

#[test]
fn the_bend_range_is_a_source() {
    // Registered parameter 0 sets the bend range to 12 of 127 semitones.
    let range = [control(101, 0), control(100, 0), control(6, 12)];
    let measured_cb = attenuation_cb(&[[WHEEL_RANGE, ATTENUATION, 1_270, NONE, 0]], &range, 60, 127);
    assert_near("12 of 127 semitones", measured_cb, 120.0, 1.0);
}

#[test]
fn the_amount_is_multiplied_by_its_amount_source() {
    let modulators = [[SOURCE, ATTENUATION, 256, VELOCITY_SOURCE, 0]];
    for (value, velocity) in [(64, 64), (127, 32), (0, 127)] {
        let measured_cb = attenuation_cb(&modulators, &[control(CONTROLLER, value)], 60, velocity);
        let expected = 256.0 * f64::from(value) / 128.0 * f64::from(velocity) / 128.0;
        assert_near(&format!("{value} times {velocity}"), measured_cb, expected, TOLERANCE_CB);
    }
}

#[test]
fn the_absolute_transform_removes_the_sign() {
    // Section 8.3, number 2.
    for value in [0_u8, 32, 64, 96] {
        let expected = 100.0 * (2.0 * f64::from(value) / 128.0 - 1.0).abs();
        let measured_cb =
            attenuation_by_controller_cb(&[[SOURCE | BIPOLAR, ATTENUATION, 100, NONE, ABSOLUTE]], value);
        assert_near(&format!("value {value}"), measured_cb, expected, TOLERANCE_CB);
    }
}

#[test]
fn the_output_of_a_linked_modulator_is_a_source_like_a_controller_value() {
    // Section 8.2.1, number 127. The first modulator turns a controller value of 64 into 64 / 128
    // times 128, which is 64; the second modulator adds 64 / 128 times 200 centibels.
    let chain = [[SOURCE, TO_MODULATOR | 1, 128, NONE, 0], [LINK, ATTENUATION, 200, NONE, 0]];
    assert_near("one link", attenuation_by_controller_cb(&chain, 64), 100.0, TOLERANCE_CB);
    assert_near(
        "one link with a controller value of 0",
        attenuation_by_controller_cb(&chain, 0),
        0.0,
        TOLERANCE_CB,
    );
    // The outputs of modulators that are linked to the same modulator add up.
    let linked_modulators = [chain[0], chain[1], [NONE, TO_MODULATOR | 1, 32, NONE, 0]];
    assert_near("two links", attenuation_by_controller_cb(&linked_modulators, 64), 150.0, TOLERANCE_CB);
}

#[test]
fn an_identical_modulator_replaces_the_default_modulator() {
    // Section 9.5.1. Velocity attenuates by up to 0 or 480 centibels instead of 960.
    const DEFAULT_SOURCE: u16 = 0x0502;
    for amount in [0, 480] {
        let rig = Rig::of(&tables(&level(), &[], &[[DEFAULT_SOURCE, ATTENUATION, amount, NONE, 0]]));
        let at = |velocity: u8| rig.hold(60, velocity, 0.1).left[frame(0.09)];
        let expected = f64::from(amount) * concave(1.0 - 32.0 / 127.0) / 10.0;
        assert_near(&format!("an amount of {amount}"), db(at(127) / at(32)), expected, 0.05);
    }
}

#[test]
fn a_zone_replaces_modulators_of_its_global_zone() {
    let modulator = |amount: u16| [[SOURCE, ATTENUATION, amount, NONE, 0]];
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[BASE_ATTENUATION]), &modulator(128)), None);
    tables.add_instrument_zone((&[(KEY_RANGE, i16::from_le_bytes([0, 60]))], &modulator(32)), Some(sample));
    tables.add_instrument_zone((&[(KEY_RANGE, i16::from_le_bytes([61, 127]))], &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let rig = Rig::of(&tables);
    for (key, expected) in [(60, 16.0), (61, 64.0)] {
        let at = |value: u8| {
            rig.play(&[(0.0, control(CONTROLLER, value)), (0.0, on(key, 127))], 0.1).left[frame(0.09)]
        };
        assert_near(&format!("key {key}"), -10.0 * db(at(64) / at(0)), expected, TOLERANCE_CB);
    }
}

#[test]
fn the_modulators_of_a_preset_add_to_those_of_its_instrument() {
    // Section 9.5.1: the modulators of a preset also add to the default modulators.
    let modulators = [[SOURCE, ATTENUATION, 100, NONE, 0]];
    let mut tables = tables(&level(), &[BASE_ATTENUATION], &modulators);
    tables.preset_modulators.extend([[SOURCE, ATTENUATION, 28, NONE, 0], [0x0502, ATTENUATION, 0, NONE, 0]]);
    let rig = Rig::of(&tables);
    let at = |value: u8, velocity: u8| {
        rig.play(&[(0.0, control(CONTROLLER, value)), (0.0, on(60, velocity))], 0.1).left[frame(0.09)]
    };
    assert_near("half of 100 and 28 centibels", -10.0 * db(at(64, 127) / at(0, 127)), 64.0, TOLERANCE_CB);
    assert_near(
        "the default of velocity, plus 0",
        db(at(0, 127) / at(0, 64)),
        -40.0 * libm::log10(64.0 / 127.0),
        0.05,
    );
}

#[test]
fn modulators_follow_controllers_while_the_note_sounds() {
    let rig = Rig::of(&tables(&level(), &[BASE_ATTENUATION], &[[SOURCE, ATTENUATION, 256, NONE, 0]]));
    let sound = rig.play(&[(0.0, on(60, 127)), (0.1, control(CONTROLLER, 64))], 0.3);
    assert_near("128 centibels later", db(sound.left[frame(0.2)] / sound.left[frame(0.09)]), -12.8, 0.05);
}

#[test]
fn modulators_reach_every_pitch_generator() {
    // The modulation wheel at 64 of 128 adds half of each amount to generators 5, 7, 51 and 52.
    let cents_with_wheel = |destination: u16, amount: u16, generators: &[(u16, i16)], secs: f64| {
        let modulators = [[0x80 | 1, destination, amount, NONE, 0], [0x81, VIB_LFO_TO_PITCH, 0, NONE, 0]];
        let rig = Rig::of(&tables(&sine(), generators, &modulators));
        let sound = rig.play(&[(0.0, control(1, 64)), (0.0, on(60, 127))], 1.0);
        cents_at(&sound.left, secs, SINE_HZ)
    };
    // An LFO of 0.5 Hz peaks after half a second.
    assert_near(
        "number 5",
        cents_with_wheel(MOD_LFO_TO_PITCH, 400, &[(FREQ_MOD_LFO, -4_837)], 0.5),
        200.0,
        5.0,
    );
    assert_near("number 7", cents_with_wheel(MOD_ENV_TO_PITCH, 400, &[], 0.5), 200.0, 0.5);
    assert_near("number 51", cents_with_wheel(COARSE_TUNE, 4, &[], 0.5), 200.0, 0.5);
    assert_near("number 52", cents_with_wheel(FINE_TUNE, 80, &[], 0.5), 40.0, 0.5);
}
