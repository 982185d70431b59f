//! Tests of the curves of a modulator's two sources (sections 8.2.2 to 8.2.4 and 9.5.3) and of its
//! transform. The destination is the attenuation, which a modulator changes in centibels.

use dsp_core::session::Event;

use crate::generator::INITIAL_ATTENUATION;
use crate::maker::ModulatorRecord;
use crate::measure::{assert_near, db, frame};
use crate::rig::{Rig, bend, control, level, on, tables};

/// Controllers that no default modulator uses, and their source numbers.
const FIRST: u8 = 16;
const SECOND: u8 = 17;
const FIRST_SOURCE: u16 = 0x80 | FIRST as u16;
const SECOND_SOURCE: u16 = 0x80 | SECOND as u16;
const NONE: u16 = 0;

/// Bits of a source (section 8.2).
const NEGATIVE: u16 = 0x100;
const BIPOLAR: u16 = 0x200;
const CONCAVE: u16 = 1 << 10;
const CONVEX: u16 = 2 << 10;
const SWITCH: u16 = 3 << 10;

/// Transforms (section 8.3).
const LINEAR: u16 = 0;
const ABSOLUTE: u16 = 2;

/// The concave curve (section 9.5.3): an attenuation of 40 dB a decade as a fraction of 96 dB.
fn concave(fraction: f64) -> f64 {
    (-40.0 / 96.0 * libm::log10(1.0 - fraction)).min(1.0)
}

fn convex(fraction: f64) -> f64 {
    1.0 - concave(1.0 - fraction)
}

/// The bipolar form of a curve, which is symmetric about the centre.
fn bipolar(curve: fn(f64) -> f64, fraction: f64) -> f64 {
    let value = 2.0 * fraction - 1.0;
    if value < 0.0 { -curve(-value) } else { curve(value) }
}

fn switch(value: f64) -> f64 {
    if value >= 64.0 { 1.0 } else { 0.0 }
}

/// A function from a controller value of 0 to 127 to the value of the source.
type Curve = fn(f64) -> f64;

/// Source bits and function of every curve in both directions and polarities.
const CURVES: [(u16, Curve); 16] = [
    (0, |value| value / 128.0),
    (NEGATIVE, |value| (127.0 - value) / 128.0),
    (BIPOLAR, |value| 2.0 * value / 128.0 - 1.0),
    (BIPOLAR | NEGATIVE, |value| 1.0 - 2.0 * value / 128.0),
    (CONCAVE, |value| concave(value / 127.0)),
    (CONCAVE | NEGATIVE, |value| concave(1.0 - value / 127.0)),
    (CONCAVE | BIPOLAR, |value| bipolar(concave, value / 127.0)),
    (CONCAVE | BIPOLAR | NEGATIVE, |value| bipolar(concave, 1.0 - value / 127.0)),
    (CONVEX, |value| convex(value / 127.0)),
    (CONVEX | NEGATIVE, |value| convex(1.0 - value / 127.0)),
    (CONVEX | BIPOLAR, |value| bipolar(convex, value / 127.0)),
    (CONVEX | BIPOLAR | NEGATIVE, |value| bipolar(convex, 1.0 - value / 127.0)),
    (SWITCH, switch),
    (SWITCH | NEGATIVE, |value| 1.0 - switch(value)),
    (SWITCH | BIPOLAR, |value| 2.0 * switch(value) - 1.0),
    (SWITCH | BIPOLAR | NEGATIVE, |value| 1.0 - 2.0 * switch(value)),
];

/// Controller values at both ends, at both sides of the centre, and between these.
const VALUES: [u8; 9] = [0, 1, 20, 32, 63, 64, 90, 100, 127];

const TOLERANCE_CB: f64 = 0.2;

/// Returns the attenuation of a note by these modulators in centibels. `first` and `second` are the
/// values of the two controllers.
fn attenuation_cb(modulators: &[ModulatorRecord], first: u8, second: u8) -> f64 {
    // An attenuation of 20 dB, so that a modulator can also reduce the attenuation. Two fifths of
    // the zone's 50 dB count.
    let base = [(INITIAL_ATTENUATION, 500)];
    let events: [(f64, Event); 3] =
        [(0.0, control(FIRST, first)), (0.0, control(SECOND, second)), (0.0, on(60, 127))];
    let play = |modulators: &[ModulatorRecord]| {
        Rig::of(&tables(&level(), &base, modulators)).play(&events, 0.1).left[frame(0.09)]
    };
    -10.0 * db(play(modulators) / play(&[]))
}

#[test]
fn the_source_follows_its_curve() {
    for (bits, curve) in CURVES {
        let modulators = [[FIRST_SOURCE | bits, INITIAL_ATTENUATION, 100, NONE, LINEAR]];
        for value in VALUES {
            let expected = 100.0 * curve(f64::from(value));
            let label = format!("{bits:#x} at {value}");
            assert_near(&label, attenuation_cb(&modulators, value, 0), expected, TOLERANCE_CB);
        }
    }
}

#[test]
fn the_amount_source_follows_its_curve() {
    for (bits, curve) in CURVES {
        let modulators = [[NONE, INITIAL_ATTENUATION, 100, SECOND_SOURCE | bits, LINEAR]];
        for value in VALUES {
            let expected = 100.0 * curve(f64::from(value));
            let label = format!("{bits:#x} at {value}");
            assert_near(&label, attenuation_cb(&modulators, 0, value), expected, TOLERANCE_CB);
        }
    }
}

#[test]
fn the_pitch_wheel_follows_the_same_curves_with_14_bits() {
    const WHEEL: u16 = 14;
    // Source bits, and the function from a fraction of the wheel's range to the source value.
    let curves: [(u16, Curve); 6] = [
        (0, |fraction| fraction * 16_383.0 / 16_384.0),
        (CONCAVE, concave),
        (CONVEX | NEGATIVE, |fraction| convex(1.0 - fraction)),
        (CONCAVE | BIPOLAR, |fraction| bipolar(concave, fraction)),
        (CONVEX | BIPOLAR | NEGATIVE, |fraction| bipolar(convex, 1.0 - fraction)),
        (SWITCH | BIPOLAR, |fraction| if fraction > 0.5 { 1.0 } else { -1.0 }),
    ];
    for (bits, curve) in curves {
        for value in [-8_192_i16, -4_000, -1, 0, 1, 4_000, 8_191] {
            let level = |modulators: &[ModulatorRecord]| {
                let rig = Rig::of(&tables(&level(), &[(INITIAL_ATTENUATION, 500)], modulators));
                rig.play(&[(0.0, bend(value)), (0.0, on(60, 127))], 0.1).left[frame(0.09)]
            };
            let modulator = [WHEEL | bits, INITIAL_ATTENUATION, 100, NONE, LINEAR];
            let measured_cb = -10.0 * db(level(&[modulator]) / level(&[]));
            let expected = 100.0 * curve((f64::from(value) + 8_192.0) / 16_383.0);
            assert_near(&format!("{bits:#x} at {value}"), measured_cb, expected, TOLERANCE_CB);
        }
    }
}

#[test]
fn both_sources_are_multiplied() {
    let pairs = [
        (CURVES[0], CURVES[4]),
        (CURVES[5], CURVES[2]),
        (CURVES[10], CURVES[9]),
        (CURVES[15], CURVES[7]),
        (CURVES[3], CURVES[14]),
    ];
    for ((first_bits, first_law), (second_bits, second_law)) in pairs {
        let (first_source, second_source) = (FIRST_SOURCE | first_bits, SECOND_SOURCE | second_bits);
        let modulators = [[first_source, INITIAL_ATTENUATION, 100, second_source, LINEAR]];
        for (first, second) in [(40, 40), (100, 20), (20, 110), (127, 127)] {
            let expected = 100.0 * first_law(f64::from(first)) * second_law(f64::from(second));
            let label = format!("{first_bits:#x} at {first} and {second_bits:#x} at {second}");
            assert_near(&label, attenuation_cb(&modulators, first, second), expected, TOLERANCE_CB);
        }
    }
}

#[test]
fn the_absolute_transform_removes_the_sign_of_the_product() {
    // Section 8.3, number 2. In the cases below, neither, one, two or all three of the amount and
    // the source values are negative.
    let linear = |value: u8| 2.0 * f64::from(value) / 128.0 - 1.0;
    for amount in [100_i16, -100] {
        for (first, second) in [(32, 127), (96, 0), (0, 32), (127, 96)] {
            let sources = (FIRST_SOURCE | BIPOLAR, SECOND_SOURCE | BIPOLAR);
            let modulator = [sources.0, INITIAL_ATTENUATION, amount.cast_unsigned(), sources.1, ABSOLUTE];
            let expected = (100.0 * linear(first) * linear(second)).abs();
            let label = format!("{amount} at {first} and {second}");
            assert_near(&label, attenuation_cb(&[modulator], first, second), expected, TOLERANCE_CB);
        }
    }
}
