//! Velocity and the cutoff of the filter (section 8.4.2). Tests modulators in the form of version
//! 2.04 or 2.01, and the default without them.

use crate::generator::*;
use crate::maker::{ModulatorRecord, Tables};
use crate::measure::{assert_near, db, part, rms};
use crate::rig::{LOOP, Rig, SINE_HZ, sine, steady};

/// Linear and falling, from velocity (section 8.2).
const SOFTNESS: u16 = 0x0102;

/// The amount source of version 2.01: 1 below a velocity of 64, 0 from 64 on.
const SWITCH_OF_2_01: u16 = 0x0d02;

fn form_2_04(amount: i16) -> ModulatorRecord {
    [SOFTNESS, INITIAL_FILTER_FC, amount.cast_unsigned(), 0, 0]
}

fn form_2_01(amount: i16) -> ModulatorRecord {
    [SOFTNESS, INITIAL_FILTER_FC, amount.cast_unsigned(), SWITCH_OF_2_01, 0]
}

/// 4 kHz, in absolute cents.
const BASE: i16 = 10_721;

/// An amount that sweeps from 4 kHz to 104 Hz at a velocity of 15.
const SWEEP: i16 = -7_200;

/// The modulators of the four zones of a note.
#[derive(Clone, Copy, Default)]
struct Statement<'a> {
    instrument_global: &'a [ModulatorRecord],
    instrument: &'a [ModulatorRecord],
    preset_global: &'a [ModulatorRecord],
    preset: &'a [ModulatorRecord],
}

impl Statement<'_> {
    /// A bank with a sine at a given pitch, through the filter.
    fn rig(&self, cutoff: i16, sine_cents: f64) -> Rig {
        // Keeps the level independent of the velocity.
        const STEADY_LEVEL: ModulatorRecord = [0x0502, INITIAL_ATTENUATION, 0, 0, 0];
        let from_recorded = sine_cents - 1_200.0 * libm::log2(SINE_HZ / 8.175_799);
        let semitones = libm::floor(from_recorded / 100.0);
        let generators = [
            (INITIAL_FILTER_FC, cutoff),
            (COARSE_TUNE, semitones as i16),
            (FINE_TUNE, libm::round(from_recorded - 100.0 * semitones) as i16),
        ];
        let mut tables = Tables::new();
        let sample = tables.add_sample(&sine(), LOOP);
        let instrument = tables.add_instrument();
        tables.add_instrument_zone((&[], self.instrument_global), None);
        let zone = [self.instrument, &[STEADY_LEVEL]].concat();
        tables.add_instrument_zone((&steady(&generators), &zone), Some(sample));
        tables.add_preset(0, 0);
        tables.add_preset_zone((&[], self.preset_global), None);
        tables.add_preset_zone((&[], self.preset), Some(instrument));
        Rig::of(&tables)
    }
}

/// Checks the cutoff of a bank's filter by the 3 dB that a sine loses there.
fn check(
    label: &str,
    statement: Statement<'_>,
    velocity: u8,
    expected_cents: f64,
    configure: impl Fn(Rig) -> Rig,
) {
    let level = |rig: &Rig| rms(part(&rig.hold(60, velocity, 0.5).left, 0.2, 0.5));
    let filtered = configure(statement.rig(BASE, expected_cents));
    let open = Statement::default().rig(13_500, expected_cents);
    let label = format!("{label}, velocity {velocity}");
    assert_near(&label, db(level(&filtered) / level(&open)), -3.01, 0.2);
    assert_near(&format!("{label}, reduced"), db(level(&filtered.reduced()) / level(&open)), -3.01, 0.2);
}

/// Cutoff in cents for a velocity and an amount, by the form of version 2.04.
fn lowered(amount: i16, velocity: u8) -> f64 {
    f64::from(BASE) + f64::from(amount) * f64::from(127 - velocity) / 128.0
}

const VELOCITIES: [u8; 5] = [127, 100, 64, 40, 15];

#[test]
fn the_form_of_2_04_keeps_its_curve_beside_a_cancelled_form_of_2_01() {
    let (sweep, cancel) = (form_2_04(SWEEP), form_2_01(0));
    let (both, reversed) = ([sweep, cancel], [cancel, sweep]);
    let none = Statement::default();
    let cases = [
        ("in one zone", Statement { instrument: &both, ..none }),
        ("in one zone, reversed", Statement { instrument: &reversed, ..none }),
        ("in the global zone", Statement { instrument_global: &both, ..none }),
        ("in the global zone, reversed", Statement { instrument_global: &reversed, ..none }),
        ("2.04 in the global zone", Statement { instrument_global: &[sweep], instrument: &[cancel], ..none }),
        ("2.01 in the global zone", Statement { instrument_global: &[cancel], instrument: &[sweep], ..none }),
        ("in the preset", Statement { preset: &both, ..none }),
        ("in the preset, reversed", Statement { preset: &reversed, ..none }),
        (
            "2.04 in the global zone of the preset",
            Statement { preset_global: &[sweep], preset: &[cancel], ..none },
        ),
        (
            "2.01 in the global zone of the preset",
            Statement { preset_global: &[cancel], preset: &[sweep], ..none },
        ),
    ];
    for (label, statement) in cases {
        for velocity in VELOCITIES {
            check(label, statement, velocity, lowered(SWEEP, velocity), |rig| rig);
        }
    }
    // From 4 kHz to 104 Hz.
    assert!(lowered(SWEEP, 127) >= 10_440.0 && lowered(SWEEP, 15) < 5_534.0, "3.4 kHz, 200 Hz");
}

#[test]
fn the_form_of_2_04_wins_over_an_amount_of_the_form_of_2_01() {
    // The form of 2.01 acts below a velocity of 64.
    const VELOCITY: u8 = 40;
    const CHANNEL_PRESSURE: u16 = 13;
    const LINK: u16 = 127;
    let (curve, older) = (form_2_04(-2_400), form_2_01(-2_400));
    let (both, reversed) = ([curve, older], [older, curve]);
    // A link after both, of an LFO depth whose source stays at 0.
    let link = |index: u16| [CHANNEL_PRESSURE, 0x8000 | index, 100, 0, 0];
    let linked = [older, link(2), [LINK, MOD_LFO_TO_PITCH, 1, 0, 0], curve];
    let none = Statement::default();
    let cases = [
        ("in one zone", Statement { instrument: &both, ..none }),
        ("in one zone, reversed", Statement { instrument: &reversed, ..none }),
        ("in one zone, with a link", Statement { instrument: &linked, ..none }),
        ("in the global zone", Statement { instrument_global: &both, ..none }),
        ("2.04 in the global zone", Statement { instrument_global: &[curve], instrument: &[older], ..none }),
        ("2.01 in the global zone", Statement { instrument_global: &[older], instrument: &[curve], ..none }),
        ("in the preset", Statement { preset: &both, ..none }),
        ("in the preset, reversed", Statement { preset: &reversed, ..none }),
        (
            "2.01 in the global zone of the preset",
            Statement { preset_global: &[older], preset: &[curve], ..none },
        ),
    ];
    for (label, statement) in cases {
        check(label, statement, VELOCITY, lowered(-2_400, VELOCITY), |rig| rig);
    }
    let flat = [form_2_04(0), older];
    check("2.04 at 0", Statement { instrument: &flat, ..none }, VELOCITY, f64::from(BASE), |rig| rig);
    // A preset's modulators add to those of the instrument (9.5.1).
    let apart = Statement { instrument: &[curve], preset: &[older], ..none };
    check("2.01 in the preset", apart, VELOCITY, lowered(-4_800, VELOCITY), |rig| rig);
}

#[test]
fn a_zone_replaces_the_same_form_of_its_global_zone() {
    let check = |label: &str, statement: Statement<'_>, expected: f64| {
        check(label, statement, 40, expected, |rig| rig);
    };
    let none = Statement::default();
    let sweep = [form_2_04(SWEEP), form_2_01(0)];
    let halved = Statement { instrument_global: &sweep, instrument: &[form_2_04(SWEEP / 2)], ..none };
    check("half of it", halved, lowered(SWEEP / 2, 40));
    let undone = Statement { instrument_global: &sweep, instrument: &[form_2_04(0)], ..none };
    check("removed", undone, f64::from(BASE));
}

#[test]
fn modulators_of_a_bank_apply() {
    let check = |label: &str, statement: Statement<'_>, velocity: u8, expected: f64| {
        check(label, statement, velocity, expected, |rig| rig);
    };
    let none = Statement::default();
    for velocity in [100, 40] {
        // The default itself, stated explicitly.
        let expected = lowered(-2_400, velocity);
        check("2.04", Statement { instrument: &[form_2_04(-2_400)], ..none }, velocity, expected);
        check(
            "2.04, global",
            Statement { instrument_global: &[form_2_04(-2_400)], ..none },
            velocity,
            expected,
        );
        check("2.04 of the preset", Statement { preset: &[form_2_04(-2_400)], ..none }, velocity, expected);
        // The switch is off from 64 on.
        let expected = if velocity < 64 { expected } else { f64::from(BASE) };
        check("2.01", Statement { instrument: &[form_2_01(-2_400)], ..none }, velocity, expected);
    }
}

#[test]
fn velocity_does_not_change_the_cutoff_without_a_modulator() {
    for velocity in [127, 64, 40, 1] {
        check("nothing", Statement::default(), velocity, f64::from(BASE), |rig| rig);
    }
}

#[test]
fn in_specification_mode_the_default_applies_without_a_modulator() {
    let check = |label: &str, statement: Statement<'_>, expected: f64| {
        check(label, statement, 40, expected, Rig::following_the_specification);
    };
    let none = Statement::default();
    check("nothing", none, lowered(-2_400, 40));
    // Either form replaces the default, in either zone of the instrument.
    let base = f64::from(BASE);
    check("2.04 at 0", Statement { instrument: &[form_2_04(0)], ..none }, base);
    check("2.01 at 0", Statement { instrument: &[form_2_01(0)], ..none }, base);
    check("2.04 at 0, global", Statement { instrument_global: &[form_2_04(0)], ..none }, base);
    check("2.01 at 0, global", Statement { instrument_global: &[form_2_01(0)], ..none }, base);
    let both = [form_2_01(0), form_2_04(SWEEP)];
    check("both", Statement { instrument: &both, ..none }, lowered(SWEEP, 40));
    // A preset adds to the default (9.5.1).
    check("2.04 of the preset", Statement { preset: &[form_2_04(-2_400)], ..none }, lowered(-4_800, 40));
    check("2.01 at 0 of the preset", Statement { preset: &[form_2_01(0)], ..none }, lowered(-2_400, 40));
}
