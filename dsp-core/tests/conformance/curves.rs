//! Curves of a modulator's two sources (sections 8.2.2 to 8.2.4 and 9.5.3), and its transform. The
//! destination is the attenuation, of which modulators count centibels in full.

use dsp_core::session::Event;

use crate::generator::INITIAL_ATTENUATION;
use crate::maker::ModulatorRecord;
use crate::measure::{assert_near, db, frame};
use crate::rig::{Rig, bend, control, level, on, tables};

/// Controllers without a default meaning, as sources.
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

/// The concave curve, as a fraction of 96 dB.
fn concave(fraction: f64) -> f64 {
    (-40.0 / 96.0 * libm::log10(1.0 - fraction)).min(1.0)
}

fn convex(fraction: f64) -> f64 {
    1.0 - concave(1.0 - fraction)
}

/// A curve mirrored at the centre.
fn mirrored(curve: fn(f64) -> f64, fraction: f64) -> f64 {
    let turned = 2.0 * fraction - 1.0;
    if turned < 0.0 { -curve(-turned) } else { curve(turned) }
}

fn switch(value: f64) -> f64 {
    if value >= 64.0 { 1.0 } else { 0.0 }
}

/// Source value of a controller value from 0 to 127.
type Law = fn(f64) -> f64;

/// Every curve in both directions and polarities.
const LAWS: [(u16, Law); 16] = [
    (0, |value| value / 128.0),
    (NEGATIVE, |value| (127.0 - value) / 128.0),
    (BIPOLAR, |value| 2.0 * value / 128.0 - 1.0),
    (BIPOLAR | NEGATIVE, |value| 1.0 - 2.0 * value / 128.0),
    (CONCAVE, |value| concave(value / 127.0)),
    (CONCAVE | NEGATIVE, |value| concave(1.0 - value / 127.0)),
    (CONCAVE | BIPOLAR, |value| mirrored(concave, value / 127.0)),
    (CONCAVE | BIPOLAR | NEGATIVE, |value| mirrored(concave, 1.0 - value / 127.0)),
    (CONVEX, |value| convex(value / 127.0)),
    (CONVEX | NEGATIVE, |value| convex(1.0 - value / 127.0)),
    (CONVEX | BIPOLAR, |value| mirrored(convex, value / 127.0)),
    (CONVEX | BIPOLAR | NEGATIVE, |value| mirrored(convex, 1.0 - value / 127.0)),
    (SWITCH, switch),
    (SWITCH | NEGATIVE, |value| 1.0 - switch(value)),
    (SWITCH | BIPOLAR, |value| 2.0 * switch(value) - 1.0),
    (SWITCH | BIPOLAR | NEGATIVE, |value| 1.0 - 2.0 * switch(value)),
];

/// Both ends, both sides of the centre, and values between.
const VALUES: [u8; 9] = [0, 1, 20, 32, 63, 64, 90, 100, 127];

const TOLERANCE_CB: f64 = 0.2;

/// Attenuation of a note by these modulators, with the two controllers at these values, in
/// centibels.
fn attenuation_cb(modulators: &[ModulatorRecord], first: u8, second: u8) -> f64 {
    // 20 dB from the zone, where two fifths count, so that a modulator can subtract some of it.
    let room = [(INITIAL_ATTENUATION, 500)];
    let events: [(f64, Event); 3] =
        [(0.0, control(FIRST, first)), (0.0, control(SECOND, second)), (0.0, on(60, 127))];
    let play = |modulators: &[ModulatorRecord]| {
        Rig::of(&tables(&level(), &room, modulators)).play(&events, 0.1).left[frame(0.09)]
    };
    -10.0 * db(play(modulators) / play(&[]))
}

#[test]
fn the_source_follows_its_curve() {
    for (bits, law) in LAWS {
        let modulators = [[FIRST_SOURCE | bits, INITIAL_ATTENUATION, 100, NONE, LINEAR]];
        for value in VALUES {
            let expected = 100.0 * law(f64::from(value));
            let label = format!("{bits:#x} at {value}");
            assert_near(&label, attenuation_cb(&modulators, value, 0), expected, TOLERANCE_CB);
        }
    }
}

#[test]
fn the_amount_source_follows_its_curve() {
    for (bits, law) in LAWS {
        let modulators = [[NONE, INITIAL_ATTENUATION, 100, SECOND_SOURCE | bits, LINEAR]];
        for value in VALUES {
            let expected = 100.0 * law(f64::from(value));
            let label = format!("{bits:#x} at {value}");
            assert_near(&label, attenuation_cb(&modulators, 0, value), expected, TOLERANCE_CB);
        }
    }
}

#[test]
fn the_wheel_follows_the_same_curves_with_14_bits() {
    const WHEEL: u16 = 14;
    // Source bits, and the source value of a fraction of the wheel's range.
    let laws: [(u16, Law); 6] = [
        (0, |fraction| fraction * 16_383.0 / 16_384.0),
        (CONCAVE, concave),
        (CONVEX | NEGATIVE, |fraction| convex(1.0 - fraction)),
        (CONCAVE | BIPOLAR, |fraction| mirrored(concave, fraction)),
        (CONVEX | BIPOLAR | NEGATIVE, |fraction| mirrored(convex, 1.0 - fraction)),
        (SWITCH | BIPOLAR, |fraction| if fraction > 0.5 { 1.0 } else { -1.0 }),
    ];
    for (bits, law) in laws {
        for value in [-8_192_i16, -4_000, -1, 0, 1, 4_000, 8_191] {
            let level = |modulators: &[ModulatorRecord]| {
                let rig = Rig::of(&tables(&level(), &[(INITIAL_ATTENUATION, 500)], modulators));
                rig.play(&[(0.0, bend(value)), (0.0, on(60, 127))], 0.1).left[frame(0.09)]
            };
            let modulator = [WHEEL | bits, INITIAL_ATTENUATION, 100, NONE, LINEAR];
            let measured = -10.0 * db(level(&[modulator]) / level(&[]));
            let expected = 100.0 * law((f64::from(value) + 8_192.0) / 16_383.0);
            assert_near(&format!("{bits:#x} at {value}"), measured, expected, TOLERANCE_CB);
        }
    }
}

#[test]
fn both_sources_are_multiplied() {
    let pairs = [
        (LAWS[0], LAWS[4]),
        (LAWS[5], LAWS[2]),
        (LAWS[10], LAWS[9]),
        (LAWS[15], LAWS[7]),
        (LAWS[3], LAWS[14]),
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
    // 8.3, number 2: a negative amount, either source negative, and both, whose product is
    // positive.
    let bipolar = |value: u8| 2.0 * f64::from(value) / 128.0 - 1.0;
    for amount in [100_i16, -100] {
        for (first, second) in [(32, 127), (96, 0), (0, 32), (127, 96)] {
            let sources = (FIRST_SOURCE | BIPOLAR, SECOND_SOURCE | BIPOLAR);
            let modulator = [sources.0, INITIAL_ATTENUATION, amount.cast_unsigned(), sources.1, ABSOLUTE];
            let expected = (100.0 * bipolar(first) * bipolar(second)).abs();
            let label = format!("{amount} at {first} and {second}");
            assert_near(&label, attenuation_cb(&[modulator], first, second), expected, TOLERANCE_CB);
        }
    }
}
