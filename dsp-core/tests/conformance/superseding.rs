//! Tests which of two modulators with the same sources and destination applies (sections 7.4, 8.4
//! and 9.5.1).

use crate::generator::*;
use crate::maker::{ModulatorRecord, Tables};
use crate::measure::{assert_near, db, frame, part, rms};
use crate::rig::{LOOP, Rig, control, level, on, sine, steady, tables};

const CONTROLLER: u8 = 16;
const SOURCE: u16 = 0x80 | CONTROLLER as u16;
const NEGATIVE: u16 = 0x100;
const ABSOLUTE: u16 = 2;
const VELOCITY: u16 = 2;

const TOLERANCE_CB: f64 = 0.2;

fn to_attenuation(amount: u16) -> ModulatorRecord {
    [SOURCE, INITIAL_ATTENUATION, amount, 0, 0]
}

/// Returns the attenuation by the controller at 64 of 128, in centibels.
fn attenuation_cb(rig: &Rig) -> f64 {
    let at =
        |value: u8| rig.play(&[(0.0, control(CONTROLLER, value)), (0.0, on(60, 127))], 0.1).left[frame(0.09)];
    -10.0 * db(at(64) / at(0))
}

#[test]
fn the_later_of_two_identical_modulators_in_a_zone_applies() {
    // Section 7.4: modulators that differ only in the amount are identical. The controller at 64 of
    // 128 applies half of an amount.
    let check = |label: &str, second: ModulatorRecord, expected: f64| {
        let rig = Rig::of(&tables(&level(), &[], &[to_attenuation(40), second]));
        assert_near(label, attenuation_cb(&rig), expected, TOLERANCE_CB);
    };
    check("another amount", to_attenuation(100), 50.0);
    // Other modulators add up. The first modulator adds 20 centibels. The second modulator has
    // another amount source, another direction or the absolute transform.
    check("an amount source", [SOURCE, INITIAL_ATTENUATION, 100, VELOCITY, 0], 20.0 + 50.0 * 127.0 / 128.0);
    check("a direction", [SOURCE | NEGATIVE, INITIAL_ATTENUATION, 100, 0, 0], 20.0 - 50.0);
    check("a transform", [SOURCE, INITIAL_ATTENUATION, (-100_i16).cast_unsigned(), 0, ABSOLUTE], 20.0 + 50.0);
}

/// Returns a rig with modulators in a global zone and in another zone, both of the preset or both
/// of the instrument.
fn two_levels(in_preset: bool, global: &[ModulatorRecord], zone: &[ModulatorRecord]) -> Rig {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    let steady = steady(&[]);
    if in_preset {
        tables.add_instrument_zone((&steady, &[]), Some(sample));
        tables.add_preset(0, 0);
        tables.add_preset_zone((&[], global), None);
        tables.add_preset_zone((&[], zone), Some(instrument));
    } else {
        tables.add_instrument_zone((&[], global), None);
        tables.add_instrument_zone((&steady, zone), Some(sample));
        tables.add_preset(0, 0);
        tables.add_preset_zone((&[], &[]), Some(instrument));
    }
    Rig::of(&tables)
}

#[test]
fn a_zone_overrides_its_global_zone_in_presets_and_instruments() {
    for in_preset in [false, true] {
        let check = |label: &str, global: &[ModulatorRecord], zone: &[ModulatorRecord], expected: f64| {
            let measured_cb = attenuation_cb(&two_levels(in_preset, global, zone));
            assert_near(&format!("{label}, in the preset: {in_preset}"), measured_cb, expected, TOLERANCE_CB);
        };
        check("only in the global zone", &[to_attenuation(100)], &[], 50.0);
        check("in both zones", &[to_attenuation(100)], &[to_attenuation(60)], 30.0);
        check("removed by an amount of 0", &[to_attenuation(100)], &[to_attenuation(0)], 0.0);
        let with_amount_source = [[SOURCE, INITIAL_ATTENUATION, 60, VELOCITY, 0]];
        check(
            "different modulators",
            &[to_attenuation(100)],
            &with_amount_source,
            50.0 + 30.0 * 127.0 / 128.0,
        );
    }
}

#[test]
fn a_modulator_of_the_preset_adds_to_an_identical_one_of_the_instrument() {
    // Section 9.5.1. With the controller at half, the instrument adds 50 and the preset 14
    // centibels.
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[], &[to_attenuation(100)]), None);
    tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[to_attenuation(28)]), None);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    assert_near("the sum", attenuation_cb(&Rig::of(&tables)), 64.0, TOLERANCE_CB);
}

#[test]
fn a_modulator_of_the_preset_adds_to_an_identical_default_modulator() {
    // Section 8.4.5: the default of volume has an amount of 960 centibels. Twice this amount is 80
    // dB a decade.
    let mut tables = tables(&level(), &[], &[]);
    tables.preset_modulators.push([0x0587, INITIAL_ATTENUATION, 960, 0, 0]);
    let rig = Rig::of(&tables);
    let at = |value: u8| rig.play(&[(0.0, control(7, value)), (0.0, on(60, 127))], 0.1).left[frame(0.09)];
    assert_near("volume 64 against 127", db(at(64) / at(127)), 80.0 * libm::log10(64.0 / 127.0), 0.05);
}

#[test]
fn the_forms_of_2_04_and_2_01_replace_the_default_from_velocity_to_cutoff() {
    // Section 8.4.2 has another form in version 2.01, with a switch as amount source. With an
    // amount of 0, either form removes the default of -2400 cents. At velocity 1, the default would
    // attenuate a sine at the cutoff by 24 dB.
    const OF_2_04: ModulatorRecord = [0x0102, INITIAL_FILTER_FC, 0, 0, 0];
    const OF_2_01: ModulatorRecord = [0x0102, INITIAL_FILTER_FC, 0, 0x0d02, 0];
    let response_db = |modulators: &[ModulatorRecord]| {
        let level = |cutoff: i16| {
            let mut modulators = modulators.to_vec();
            // This modulator makes the level independent of the velocity.
            modulators.push([0x0502, INITIAL_ATTENUATION, 0, 0, 0]);
            let rig = Rig::of(&tables(&sine(), &[(INITIAL_FILTER_FC, cutoff)], &modulators))
                .following_the_specification();
            rms(part(&rig.hold(60, 1, 0.5).left, 0.2, 0.5))
        };
        db(level(7_051) / level(13_500))
    };
    assert_near("2.04", response_db(&[OF_2_04]), -3.01, 0.1);
    assert_near("2.01", response_db(&[OF_2_01]), -3.01, 0.1);
    // The sine is 2 * 126 / 128 octaves above the lowered cutoff. A Butterworth filter has a gain
    // of -10 log10(1 + 2^(4 * octaves)) dB there.
    let expected = -10.0 * libm::log10(1.0 + libm::exp2(8.0 * 126.0 / 128.0));
    assert_near("the default", response_db(&[]), expected, 0.15);
}
