//! The two LFOs (section 9.1.8): triangles that first rise, after a delay.

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{Rig, SINE_HZ, Sound, bend, control, on};

/// 0.5 Hz in absolute cents: 1200 log2(0.5 / 8.176).
const HALF_HZ: i16 = -4_837;

/// Pitch relative to the sine at a time, in cents.
fn at(sound: &Sound, secs: f64) -> f64 {
    cents_at(&sound.left, secs, SINE_HZ)
}

/// Checks a period of two seconds and 600 cents to either side.
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
        assert_near(&format!("{secs} s"), at(sound, delay_secs + secs), expected, 6.0);
    }
    assert_near("the top", at(sound, delay_secs + 0.5), 600.0, 12.0);
    assert_near("the bottom", at(sound, delay_secs + 1.5), -600.0, 12.0);
}

#[test]
fn the_modulation_lfo_moves_the_pitch() {
    // 8.1.2, numbers 5 and 22.
    let rig = Rig::sine(&[(MOD_LFO_TO_PITCH, 600), (FREQ_MOD_LFO, HALF_HZ)]);
    check_triangle(&rig.hold(60, 127, 2.4), 0.0);
}

#[test]
fn the_vibrato_lfo_moves_the_pitch() {
    // 8.1.2, numbers 6 and 24.
    let rig = Rig::sine(&[(VIB_LFO_TO_PITCH, 600), (FREQ_VIB_LFO, HALF_HZ)]);
    check_triangle(&rig.hold(60, 127, 2.4), 0.0);
}

#[test]
fn both_lfos_start_after_their_delays() {
    // 8.1.2, numbers 21 and 23. -1200 timecents: half a second.
    let cases = [
        [(MOD_LFO_TO_PITCH, 600), (FREQ_MOD_LFO, HALF_HZ), (DELAY_MOD_LFO, -1_200)],
        [(VIB_LFO_TO_PITCH, 600), (FREQ_VIB_LFO, HALF_HZ), (DELAY_VIB_LFO, -1_200)],
    ];
    for generators in cases {
        let sound = Rig::sine(&generators).hold(60, 127, 2.9);
        assert_near("during the delay", at(&sound, 0.45), 0.0, 1.0);
        check_triangle(&sound, 0.5);
    }
}

#[test]
fn frequencies_are_in_absolute_cents() {
    // 0 is 8.176 Hz. The pitch crosses its mean upwards once a period.
    for (cents, hertz) in [(0, 8.176), (-1_200, 4.088), (600, 11.562)] {
        let rig = Rig::level(&[(INITIAL_ATTENUATION, 600), (MOD_LFO_TO_VOLUME, 60), (FREQ_MOD_LFO, cents)]);
        let sound = rig.hold(60, 127, 4.0);
        let middle = sound.left[0];
        let ups: Vec<usize> = (1..sound.left.len())
            .filter(|&n| sound.left[n - 1] < middle * 0.999 && sound.left[n] >= middle * 0.999)
            .collect();
        let turns = (ups.len() - 1) as f64 * 48_000.0 / (ups[ups.len() - 1] - ups[0]) as f64;
        assert_near(&format!("{cents} cents"), turns, hertz, hertz * 0.005);
    }
}

#[test]
fn the_modulation_lfo_moves_the_volume() {
    // 8.1.2, number 13: a positive value raises the volume while the oscillator is up.
    let rig = |depth_cb: i16| {
        Rig::level(&[(INITIAL_ATTENUATION, 600), (MOD_LFO_TO_VOLUME, depth_cb), (FREQ_MOD_LFO, HALF_HZ)])
    };
    let still = rig(0).hold(60, 127, 2.0);
    for depth_cb in [60, 120, -120] {
        let sound = rig(depth_cb).hold(60, 127, 2.0);
        let change_db = |secs: f64| db(sound.left[frame(secs)] / still.left[frame(secs)]);
        let depth_db = f64::from(depth_cb) / 10.0;
        assert_near("up", change_db(0.5), depth_db, 0.1);
        assert_near("half way", change_db(0.25), depth_db / 2.0, 0.1);
        assert_near("down", change_db(1.5), -depth_db, 0.1);
    }
}

#[test]
fn all_modulations_of_the_pitch_add_up() {
    // After half a second both LFOs are at their peaks. Added are an envelope at a sustain of 0.7,
    // the wheel's contribution to the vibrato, the tunings and the bend.
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
    assert_near("the sum", at(&sound, 0.5), expected, 5.0);
}
