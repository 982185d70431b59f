//! Tests of the two LFOs (section 9.1.8). Their waveform is a triangle that first rises, after a
//! delay.

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{Rig, SINE_HZ, Sound, bend, control, on};

/// A frequency of 0.5 Hz in absolute cents: 1200 log2(0.5 / 8.176).
const HALF_HZ: i16 = -4_837;

/// Returns the pitch at a time in cents, relative to the sine.
fn pitch_at(sound: &Sound, secs: f64) -> f64 {
    cents_at(&sound.left, secs, SINE_HZ)
}

/// Checks a triangle with a period of two seconds and a depth of 600 cents up and down.
fn check_triangle(sound: &Sound, delay_secs: f64) {
    let points = [
        (0.05, 60.0),
        (0.25, 300.0),
        (0.75, 300.0),
        (1.0, 0.0),
        (1.25, -300.0),
        (1.75, -300.0),
        (2.25, 300.0),
    ];
    for (secs, expected) in points {
        assert_near(&format!("{secs} s"), pitch_at(sound, delay_secs + secs), expected, 6.0);
    }
    assert_near("the peak", pitch_at(sound, delay_secs + 0.5), 600.0, 12.0);
    assert_near("the trough", pitch_at(sound, delay_secs + 1.5), -600.0, 12.0);
}

#[test]
fn the_modulation_lfo_moves_the_pitch() {
    // Section 8.1.2, numbers 5 and 22.
    let rig = Rig::sine(&[(MOD_LFO_TO_PITCH, 600), (FREQ_MOD_LFO, HALF_HZ)]);
    check_triangle(&rig.hold(60, 127, 2.4), 0.0);
}

#[test]
fn the_vibrato_lfo_moves_the_pitch() {
    // Section 8.1.2, numbers 6 and 24.
    let rig = Rig::sine(&[(VIB_LFO_TO_PITCH, 600), (FREQ_VIB_LFO, HALF_HZ)]);
    check_triangle(&rig.hold(60, 127, 2.4), 0.0);
}

#[test]
fn both_lfos_start_after_their_delays() {
    // Section 8.1.2, numbers 21 and 23. -1200 timecents are half a second.
    let cases = [
        [(MOD_LFO_TO_PITCH, 600), (FREQ_MOD_LFO, HALF_HZ), (DELAY_MOD_LFO, -1_200)],
        [(VIB_LFO_TO_PITCH, 600), (FREQ_VIB_LFO, HALF_HZ), (DELAY_VIB_LFO, -1_200)],
    ];
    for generators in cases {
        let sound = Rig::sine(&generators).hold(60, 127, 2.9);
        assert_near("during the delay", pitch_at(&sound, 0.45), 0.0, 1.0);
        check_triangle(&sound, 0.5);
    }
}

#[test]
fn frequencies_are_in_absolute_cents() {
    // 0 cents are 8.176 Hz. The level rises through its mean once a period.
    for (cents, hertz) in [(0, 8.176), (-1_200, 4.088), (600, 11.562)] {
        let rig = Rig::level(&[(INITIAL_ATTENUATION, 600), (MOD_LFO_TO_VOLUME, 60), (FREQ_MOD_LFO, cents)]);
        let sound = rig.hold(60, 127, 4.0);
        let middle = sound.left[0];
        let rising_crossings: Vec<usize> = (1..sound.left.len())
            .filter(|&n| sound.left[n - 1] < middle * 0.999 && sound.left[n] >= middle * 0.999)
            .collect();
        let measured_hz = (rising_crossings.len() - 1) as f64 * 48_000.0
            / (rising_crossings[rising_crossings.len() - 1] - rising_crossings[0]) as f64;
        assert_near(&format!("{cents} cents"), measured_hz, hertz, hertz * 0.005);
    }
}

#[test]
fn the_modulation_lfo_moves_the_volume() {
    // Section 8.1.2, number 13: a positive amount raises the volume while the LFO is positive.
    let rig = |depth_cb: i16| {
        Rig::level(&[(INITIAL_ATTENUATION, 600), (MOD_LFO_TO_VOLUME, depth_cb), (FREQ_MOD_LFO, HALF_HZ)])
    };
    let unmodulated = rig(0).hold(60, 127, 2.0);
    for depth_cb in [60, 120, -120] {
        let sound = rig(depth_cb).hold(60, 127, 2.0);
        let change_db = |secs: f64| db(sound.left[frame(secs)] / unmodulated.left[frame(secs)]);
        let depth_db = f64::from(depth_cb) / 10.0;
        assert_near("the peak", change_db(0.5), depth_db, 0.1);
        assert_near("half of the peak", change_db(0.25), depth_db / 2.0, 0.1);
        assert_near("the trough", change_db(1.5), -depth_db, 0.1);
    }
}

#[test]
fn all_modulations_of_the_pitch_add_up() {
    // Both LFOs peak after half a second. The envelope at its sustain of 0.7, the modulation
    // wheel's vibrato, the tunings, the pitch wheel and the key add to the pitch.
    let rig = Rig::sine(&[
        (MOD_LFO_TO_PITCH, 100),
        (FREQ_MOD_LFO, HALF_HZ),
        (VIB_LFO_TO_PITCH, 50),
        (FREQ_VIB_LFO, HALF_HZ),
        (MOD_ENV_TO_PITCH, 300),
        (SUSTAIN_MOD_ENV, 300),
        (COARSE_TUNE, -3),
        (FINE_TUNE, 20),
    ]);
    let events = [(0.0, control(1, 64)), (0.0, bend(4_096)), (0.0, on(62, 127))];
    let sound = rig.play(&events, 1.0);
    let expected = 100.0 + (50.0 + 25.0) + 210.0 - 300.0 + 20.0 + 200.0 + 100.0;
    assert_near("the sum", pitch_at(&sound, 0.5), expected, 5.0);
}
