//! Tests of modulators from velocity to the filter cutoff (section 8.4.2), in the forms of versions
//! 2.04 and 2.01, and of the default modulator.

use crate::generator::*;
use crate::maker::{ModulatorRecord, Tables};
use crate::measure::{assert_near, db, part, rms};
use crate::rig::{LOOP, Rig, SINE_HZ, sine, steady};

/// The velocity on a linear, falling curve as a source (section 8.2).
const SOFTNESS: u16 = 0x0102;

/// The amount source in version 2.01: a switch that is 1 below a velocity of 64 and 0 from 64 on.
const SWITCH_OF_2_01: u16 = 0x0d02;

/// The modulator in the form of version 2.04.
fn form_2_04(amount: i16) -> ModulatorRecord {
    [SOFTNESS, INITIAL_FILTER_FC, amount.cast_unsigned(), 0, 0]
}

/// The modulator in the form of version 2.01.
fn form_2_01(amount: i16) -> ModulatorRecord {
    [SOFTNESS, INITIAL_FILTER_FC, amount.cast_unsigned(), SWITCH_OF_2_01, 0]
}

/// A cutoff of 4 kHz in absolute cents.
const BASE: i16 = 10_721;

/// An amount in cents that lowers the cutoff from 4 kHz to 104 Hz at a velocity of 15.
const SWEEP: i16 = -7_200;

/// The modulators in each of the four zones that a note uses.
#[derive(Clone, Copy, Default)]
struct ZoneModulators<'a> {
    instrument_global: &'a [ModulatorRecord],
    instrument: &'a [ModulatorRecord],
    preset_global: &'a [ModulatorRecord],
    preset: &'a [ModulatorRecord],
}

impl ZoneModulators<'_> {
    /// Returns a rig that plays a sine through the filter. `cutoff` and `sine_cents` are in
    /// absolute cents.
    fn rig(&self, cutoff: i16, sine_cents: f64) -> Rig {
        // This modulator makes the level independent of the velocity.
        const STEADY_LEVEL: ModulatorRecord = [0x0502, INITIAL_ATTENUATION, 0, 0, 0];
        let tuning_cents = sine_cents - 1_200.0 * libm::log2(SINE_HZ / 8.175_799);
        let semitones = libm::floor(tuning_cents / 100.0);
        let generators = [
            (INITIAL_FILTER_FC, cutoff),
            (COARSE_TUNE, semitones as i16),
            (FINE_TUNE, libm::round(tuning_cents - 100.0 * semitones) as i16),
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

/// Checks that the filter attenuates a sine at the expected cutoff by 3 dB, also in a reduced bank.
fn check(
    label: &str,
    modulators: ZoneModulators<'_>,
    velocity: u8,
    expected_cents: f64,
    configure: impl Fn(Rig) -> Rig,
) {
    let level = |rig: &Rig| rms(part(&rig.hold(60, velocity, 0.5).left, 0.2, 0.5));
    let filtered_rig = configure(modulators.rig(BASE, expected_cents));
    let open_sound = ZoneModulators::default().rig(13_500, expected_cents);
    let label = format!("{label}, velocity {velocity}");
    assert_near(&label, db(level(&filtered_rig) / level(&open_sound)), -3.01, 0.2);
    assert_near(
        &format!("{label}, reduced"),
        db(level(&filtered_rig.reduced()) / level(&open_sound)),
        -3.01,
        0.2,
    );
}

/// Returns the cutoff in absolute cents that the form of version 2.04 sets at a velocity.
fn cutoff_cents(amount: i16, velocity: u8) -> f64 {
    f64::from(BASE) + f64::from(amount) * f64::from(127 - velocity) / 128.0
}

const VELOCITIES: [u8; 5] = [127, 100, 64, 40, 15];

#[test]
fn the_form_of_2_04_applies_if_the_form_of_2_01_has_an_amount_of_0() {
    let (sweep, cancel) = (form_2_04(SWEEP), form_2_01(0));
    let (both_modulators, reversed) = ([sweep, cancel], [cancel, sweep]);
    let none = ZoneModulators::default();
    let cases = [
        ("in one zone", ZoneModulators { instrument: &both_modulators, ..none }),
        ("in one zone, reversed", ZoneModulators { instrument: &reversed, ..none }),
        ("in the global zone", ZoneModulators { instrument_global: &both_modulators, ..none }),
        ("in the global zone, reversed", ZoneModulators { instrument_global: &reversed, ..none }),
        (
            "2.04 in the global zone",
            ZoneModulators { instrument_global: &[sweep], instrument: &[cancel], ..none },
        ),
        (
            "2.01 in the global zone",
            ZoneModulators { instrument_global: &[cancel], instrument: &[sweep], ..none },
        ),
        ("in the preset", ZoneModulators { preset: &both_modulators, ..none }),
        ("in the preset, reversed", ZoneModulators { preset: &reversed, ..none }),
        (
            "2.04 in the global zone of the preset",
            ZoneModulators { preset_global: &[sweep], preset: &[cancel], ..none },
        ),
        (
            "2.01 in the global zone of the preset",
            ZoneModulators { preset_global: &[cancel], preset: &[sweep], ..none },
        ),
    ];
    for (label, modulators) in cases {
        for velocity in VELOCITIES {
            check(label, modulators, velocity, cutoff_cents(SWEEP, velocity), |rig| rig);
        }
    }
    // The sweep covers at least the range from 3.4 kHz to 200 Hz.
    assert!(
        cutoff_cents(SWEEP, 127) >= 10_440.0 && cutoff_cents(SWEEP, 15) < 5_534.0,
        "the sweep is too small"
    );
}

#[test]
fn the_form_of_2_04_applies_instead_of_the_form_of_2_01() {
    // The form of 2.01 has an effect only below a velocity of 64.
    const VELOCITY: u8 = 40;
    const CHANNEL_PRESSURE: u16 = 13;
    const LINK: u16 = 127;
    let (newer, older) = (form_2_04(-2_400), form_2_01(-2_400));
    let (both_modulators, reversed) = ([newer, older], [older, newer]);
    // The two forms may surround linked modulators. These change an LFO depth by channel pressure,
    // which stays at 0.
    let link = |index: u16| [CHANNEL_PRESSURE, 0x8000 | index, 100, 0, 0];
    let linked_modulators = [older, link(2), [LINK, MOD_LFO_TO_PITCH, 1, 0, 0], newer];
    let none = ZoneModulators::default();
    let cases = [
        ("in one zone", ZoneModulators { instrument: &both_modulators, ..none }),
        ("in one zone, reversed", ZoneModulators { instrument: &reversed, ..none }),
        ("in one zone, with a link", ZoneModulators { instrument: &linked_modulators, ..none }),
        ("in the global zone", ZoneModulators { instrument_global: &both_modulators, ..none }),
        (
            "2.04 in the global zone",
            ZoneModulators { instrument_global: &[newer], instrument: &[older], ..none },
        ),
        (
            "2.01 in the global zone",
            ZoneModulators { instrument_global: &[older], instrument: &[newer], ..none },
        ),
        ("in the preset", ZoneModulators { preset: &both_modulators, ..none }),
        ("in the preset, reversed", ZoneModulators { preset: &reversed, ..none }),
        (
            "2.01 in the global zone of the preset",
            ZoneModulators { preset_global: &[older], preset: &[newer], ..none },
        ),
    ];
    for (label, modulators) in cases {
        check(label, modulators, VELOCITY, cutoff_cents(-2_400, VELOCITY), |rig| rig);
    }
    let removed_modulators = [form_2_04(0), older];
    check(
        "2.04 with an amount of 0",
        ZoneModulators { instrument: &removed_modulators, ..none },
        VELOCITY,
        f64::from(BASE),
        |rig| rig,
    );
    // Modulators of a preset add to those of the instrument (section 9.5.1).
    let in_two_levels = ZoneModulators { instrument: &[newer], preset: &[older], ..none };
    check("2.01 in the preset", in_two_levels, VELOCITY, cutoff_cents(-4_800, VELOCITY), |rig| rig);
}

#[test]
fn a_zone_replaces_the_same_form_of_its_global_zone() {
    let check = |label: &str, modulators: ZoneModulators<'_>, expected: f64| {
        check(label, modulators, 40, expected, |rig| rig);
    };
    let none = ZoneModulators::default();
    let sweep = [form_2_04(SWEEP), form_2_01(0)];
    let halved_modulators =
        ZoneModulators { instrument_global: &sweep, instrument: &[form_2_04(SWEEP / 2)], ..none };
    check("half of the amount", halved_modulators, cutoff_cents(SWEEP / 2, 40));
    let removed_modulators =
        ZoneModulators { instrument_global: &sweep, instrument: &[form_2_04(0)], ..none };
    check("an amount of 0", removed_modulators, f64::from(BASE));
}

#[test]
fn modulators_from_velocity_to_cutoff_in_a_bank_apply() {
    let check = |label: &str, modulators: ZoneModulators<'_>, velocity: u8, expected: f64| {
        check(label, modulators, velocity, expected, |rig| rig);
    };
    let none = ZoneModulators::default();
    for velocity in [100, 40] {
        // The bank states the default modulator explicitly.
        let expected = cutoff_cents(-2_400, velocity);
        check("2.04", ZoneModulators { instrument: &[form_2_04(-2_400)], ..none }, velocity, expected);
        check(
            "2.04, global",
            ZoneModulators { instrument_global: &[form_2_04(-2_400)], ..none },
            velocity,
            expected,
        );
        check(
            "2.04 of the preset",
            ZoneModulators { preset: &[form_2_04(-2_400)], ..none },
            velocity,
            expected,
        );
        // The switch of version 2.01 is 0 from a velocity of 64 on.
        let expected = if velocity < 64 { expected } else { f64::from(BASE) };
        check("2.01", ZoneModulators { instrument: &[form_2_01(-2_400)], ..none }, velocity, expected);
    }
}

#[test]
fn velocity_does_not_change_the_cutoff_without_a_modulator() {
    for velocity in [127, 64, 40, 1] {
        check("no modulator", ZoneModulators::default(), velocity, f64::from(BASE), |rig| rig);
    }
}

#[test]
fn in_specification_mode_the_default_applies_without_a_modulator() {
    let check = |label: &str, modulators: ZoneModulators<'_>, expected: f64| {
        check(label, modulators, 40, expected, Rig::following_the_specification);
    };
    let none = ZoneModulators::default();
    check("no modulator", none, cutoff_cents(-2_400, 40));
    // In either zone of the instrument, each form replaces the default.
    let base = f64::from(BASE);
    check("2.04 at 0", ZoneModulators { instrument: &[form_2_04(0)], ..none }, base);
    check("2.01 at 0", ZoneModulators { instrument: &[form_2_01(0)], ..none }, base);
    check("2.04 at 0, global", ZoneModulators { instrument_global: &[form_2_04(0)], ..none }, base);
    check("2.01 at 0, global", ZoneModulators { instrument_global: &[form_2_01(0)], ..none }, base);
    let both_modulators = [form_2_01(0), form_2_04(SWEEP)];
    check("both forms", ZoneModulators { instrument: &both_modulators, ..none }, cutoff_cents(SWEEP, 40));
    // Modulators of a preset add to the default (section 9.5.1).
    check(
        "2.04 of the preset",
        ZoneModulators { preset: &[form_2_04(-2_400)], ..none },
        cutoff_cents(-4_800, 40),
    );
    check(
        "2.01 at 0 of the preset",
        ZoneModulators { preset: &[form_2_01(0)], ..none },
        cutoff_cents(-2_400, 40),
    );
}
