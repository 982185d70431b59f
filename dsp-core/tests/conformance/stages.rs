//! Tests of envelopes that are released in each of their stages (section 9.1.7), and of samples
//! that start after a delay.

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, Sound, off, on};

/// Returns the left output of a voice without attenuation.
fn full_level() -> f64 {
    Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)]
}

/// Plays a note and releases it after `release_secs`.
fn play_released(rig: &Rig, release_secs: f64, secs: f64) -> Sound {
    rig.play(&[(0.0, on(60, 127)), (release_secs, off(60))], secs)
}

/// A volume envelope with a delay of 0.25 s, an attack of 0.5 s, a hold of 0.25 s, a decay of 96 dB
/// a second, a sustain of -24 dB, and a release of 96 dB a second.
const VOLUME: [(u16, i16); 6] = [
    (DELAY_VOL_ENV, -2_400),
    (ATTACK_VOL_ENV, -1_200),
    (HOLD_VOL_ENV, -2_400),
    (DECAY_VOL_ENV, 0),
    (SUSTAIN_VOL_ENV, 240),
    (RELEASE_VOL_ENV, 0),
];

#[test]
fn the_volume_envelope_falls_from_its_level_at_the_release() {
    // Stage of the release, its time in seconds, and the level at this time in decibels.
    for (stage, secs, level_db) in [
        ("a quarter of the attack", 0.375, -12.04),
        ("three quarters of the attack", 0.625, -2.5),
        ("the hold", 0.9, 0.0),
        ("the decay", 1.125, -12.0),
        ("the sustain", 1.6, -24.0),
    ] {
        let sound = play_released(&Rig::level(&VOLUME), secs, secs + 0.6);
        for later_secs in [0.0, 0.1, 0.25, 0.5] {
            let measured_db = db(sound.left[frame(secs + later_secs)] / full_level());
            let label = format!("{stage}, {later_secs} s later");
            assert_near(&label, measured_db, level_db - 96.0 * later_secs, 0.3);
        }
    }
}

#[test]
fn a_note_released_during_its_delay_is_silent() {
    let sound = play_released(&Rig::level(&VOLUME), 0.2, 1.5);
    assert!(sound.left.iter().all(|value| *value == 0.0));
    assert_eq!(sound.active_voices, 0);
}

#[test]
fn a_second_note_off_is_ignored() {
    let events = [(0.0, on(60, 127)), (0.5, off(60)), (0.75, off(60))];
    let sound = Rig::level(&[(RELEASE_VOL_ENV, 0)]).play(&events, 1.2);
    assert_near("half a second later", db(sound.left[frame(1.0)] / full_level()), -48.0, 0.3);
}

#[test]
fn a_note_of_length_0_sounds_for_10_ms() {
    // Some MIDI files have drum notes of length 0. The shortest release adds a millisecond.
    for rate_hz in [16_000, 44_100, 48_000, 192_000] {
        let rig = Rig::level(&[(RELEASE_VOL_ENV, -12_000)]).with_sample_rate(rate_hz);
        for held_secs in [0.0, 0.002, 0.02] {
            let sound = play_released(&rig, held_secs, 0.1);
            let secs = |frames: usize| frames as f64 / f64::from(rate_hz);
            let end_secs = secs(sound.left.iter().rposition(|value| *value != 0.0).expect("a sound"));
            let label = format!("held for {held_secs} s at {rate_hz} Hz");
            assert_near(&label, end_secs, f64::max(held_secs, 0.01) + 0.001, 0.0005);
            let frame_before = libm::round((end_secs - 0.002) * f64::from(rate_hz)) as usize;
            assert_near(&label, db(sound.left[frame_before] / full_level()), 0.0, 0.01);
        }
    }
}

#[test]
fn a_sample_starts_after_the_delay_of_its_volume_envelope() {
    // The ramp starts to play when the delay of half a second ends.
    let sound = Rig::ramp(&[(SAMPLE_MODES, 0), (DELAY_VOL_ENV, -1_200)]).hold(60, 127, 1.0);
    let unit = full_level() / 32_767.0;
    for expected_frame in [100.0, 5_000.0, 20_000.0] {
        let source_frame = 2.0 * sound.left[frame(0.5 + expected_frame / RATE_HZ)] / unit;
        assert_near(&format!("frame {expected_frame}"), source_frame, expected_frame, 3.0);
    }
}

/// A modulation envelope that raises the pitch by up to an octave. Its delay, attack and hold are
/// those of [`VOLUME`]. The long release of the volume keeps the note audible while the pitch
/// falls.
const PITCH: [(u16, i16); 8] = [
    (MOD_ENV_TO_PITCH, 1_200),
    (DELAY_MOD_ENV, -2_400),
    (ATTACK_MOD_ENV, -1_200),
    (HOLD_MOD_ENV, -2_400),
    (DECAY_MOD_ENV, 0),
    (SUSTAIN_MOD_ENV, 400),
    (RELEASE_MOD_ENV, 0),
    (RELEASE_VOL_ENV, 4_800),
];

#[test]
fn the_modulation_envelope_falls_from_its_level_at_the_release() {
    // Section 9.5.3: after a fraction of the convex attack, the level is 1 + 40 / 96
    // log10(fraction).
    let convex = |fraction: f64| 1.0 + 40.0 / 96.0 * libm::log10(fraction);
    for (stage, secs, level) in [
        ("the delay", 0.1, 0.0),
        ("a quarter of the attack", 0.375, convex(0.25)),
        ("three quarters of the attack", 0.625, convex(0.75)),
        ("the hold", 0.9, 1.0),
        ("the decay", 1.2, 0.8),
        ("the sustain", 1.6, 0.6),
    ] {
        let sound = play_released(&Rig::sine(&PITCH), secs, secs + 1.2);
        for later_secs in [0.05, 0.2, 0.4, 1.1] {
            let octaves = cents_at(&sound.left, secs + later_secs, SINE_HZ) / 1_200.0;
            let label = format!("{stage}, {later_secs} s later");
            assert_near(&label, octaves, (level - later_secs).max(0.0), 0.012);
        }
    }
}

#[test]
fn an_envelope_with_times_of_0_is_at_its_sustain_level_within_3_ms() {
    // Section 8.1.2: -32768 means a time of 0 for the generators that allow it. -12000 timecents
    // are a millisecond.
    let at_once = [
        (DELAY_VOL_ENV, AT_ONCE),
        (ATTACK_VOL_ENV, AT_ONCE),
        (HOLD_VOL_ENV, AT_ONCE),
        (DECAY_VOL_ENV, -12_000),
        (SUSTAIN_VOL_ENV, 120),
    ];
    let sound = Rig::level(&at_once).hold(60, 127, 0.1);
    assert!(sound.left[0] > 0.0);
    for secs in [0.003, 0.01, 0.09] {
        assert_near(&format!("after {secs} s"), db(sound.left[frame(secs)] / full_level()), -12.0, 0.02);
    }
}

#[test]
fn a_note_that_decays_to_silence_ends_while_its_key_is_down() {
    // The note decays by 96 dB in half a second.
    let sound = Rig::level(&[(DECAY_VOL_ENV, -1_200), (SUSTAIN_VOL_ENV, 1_440)]).hold(60, 127, 1.0);
    let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
    // A voice ends 96 dB below full scale. Its peak is 6.02 dB below full scale, so 89.98 dB
    // remain.
    assert_near("the end in seconds", last_frame as f64 / RATE_HZ, 0.5 * (96.0 - 6.02) / 96.0, 0.025);
    assert_eq!(sound.active_voices, 0);
}
