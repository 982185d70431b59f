//! Tests of the pitch of a voice without modulation.

use crate::generator::*;
use crate::measure::{assert_near, cents, pitch_hz};
use crate::rig::{Rig, SINE_HZ, sine, tables};

/// Returns the pitch of a key in cents, relative to the recorded sine.
fn cents_of(rig: &Rig, key: u8) -> f64 {
    let sound = rig.hold(key, 127, 0.5);
    cents(pitch_hz(&sound.left, 0.05, 0.5), SINE_HZ)
}

const TOLERANCE_CENTS: f64 = 0.2;

#[test]
fn keys_are_100_cents_apart_and_the_root_key_has_the_recorded_pitch() {
    let rig = Rig::sine(&[]);
    for key in [24, 48, 59, 60, 61, 72, 91] {
        let expected = 100.0 * (f64::from(key) - 60.0);
        assert_near(&format!("key {key}"), cents_of(&rig, key), expected, TOLERANCE_CENTS);
    }
}

#[test]
fn coarse_tune_is_in_semitones_and_fine_tune_in_cents() {
    // Section 8.1.2, numbers 51 and 52.
    let cases = [
        (&[(COARSE_TUNE, 7)][..], 700.0),
        (&[(COARSE_TUNE, -12)], -1_200.0),
        (&[(FINE_TUNE, 33)], 33.0),
        (&[(COARSE_TUNE, 1), (FINE_TUNE, -99)], 1.0),
    ];
    for (generators, expected) in cases {
        assert_near("tuning", cents_of(&Rig::sine(generators), 60), expected, TOLERANCE_CENTS);
    }
}

#[test]
fn scale_tuning_sets_the_cents_between_keys() {
    // Section 8.1.2, number 56. With 0, all keys have the same pitch.
    for (scale, key, expected) in [(50, 72, 600.0), (0, 90, 0.0), (100, 67, 700.0), (1_200, 61, 1_200.0)] {
        let rig = Rig::sine(&[(SCALE_TUNING, scale)]);
        assert_near(&format!("scale {scale}"), cents_of(&rig, key), expected, TOLERANCE_CENTS);
    }
}

#[test]
fn the_overriding_root_key_replaces_that_of_the_sample() {
    // Section 8.1.2, number 58.
    let rig = Rig::sine(&[(OVERRIDING_ROOT_KEY, 48)]);
    assert_near("an octave above the root", cents_of(&rig, 60), 1_200.0, TOLERANCE_CENTS);
}

#[test]
fn the_generator_keynum_sets_the_pitch_of_all_keys() {
    // Section 8.1.2, number 46.
    let rig = Rig::sine(&[(KEYNUM, 67)]);
    for key in [30, 60, 100] {
        assert_near(&format!("key {key}"), cents_of(&rig, key), 700.0, TOLERANCE_CENTS);
    }
}

#[test]
fn the_sample_rate_root_key_and_correction_of_the_sample_header_tune_the_sample() {
    // Section 7.10. A root key of 255 counts as 60.
    let cases: [(u32, u8, i8, f64); 4] =
        [(24_000, 60, 0, -1_200.0), (48_000, 69, 0, -900.0), (48_000, 60, -25, -25.0), (48_000, 255, 0, 0.0)];
    for (rate_hz, root_key, correction_cents, expected) in cases {
        let mut tables = tables(&sine(), &[], &[]);
        let sample = &mut tables.samples[0];
        (sample.rate_hz, sample.root_key, sample.correction_cents) = (rate_hz, root_key, correction_cents);
        let measured_cents = cents_of(&Rig::of(&tables), 60);
        assert_near(
            &format!("{rate_hz} Hz, root key {root_key}, {correction_cents} cents"),
            measured_cents,
            expected,
            TOLERANCE_CENTS,
        );
    }
}
