//! Tests of the low-pass filter (section 8.1.2, numbers 8 and 9) and its modulation.

use crate::generator::*;
use crate::measure::{assert_near, db, part, rms};
use crate::rig::{Rig, SINE_HZ, Sound, off, on};

/// The frequency of the sine in absolute cents, of which 0 is 8.176 Hz (section 8.1.2, number 8).
const AT_SINE: i16 = 7_051;

/// Returns the filter's gain in decibels for the sine played at a key.
fn response_db(generators: &[(u16, i16)], key: u8) -> f64 {
    let play = |generators: &[(u16, i16)]| {
        let sound = Rig::sine(generators).hold(key, 127, 0.5);
        rms(part(&sound.left, 0.2, 0.5))
    };
    db(play(generators) / play(&[]))
}

/// Returns the gain in decibels of a second-order Butterworth low-pass filter at a frequency of
/// `ratio` times its cutoff.
fn butterworth_db(ratio: f64) -> f64 {
    -10.0 * libm::log10(1.0 + ratio * ratio * ratio * ratio)
}

#[test]
fn the_response_is_minus_3_db_at_the_cutoff_and_minus_12_an_octave_above() {
    for octaves in [-2, -1, 0, 1, 2, 3] {
        let key = (60 + 12 * octaves) as u8;
        let measured_db = response_db(&[(INITIAL_FILTER_FC, AT_SINE)], key);
        let expected = butterworth_db(libm::exp2(f64::from(octaves)));
        // The bilinear transform steepens the slope towards half the sample rate.
        let tolerance = if octaves > 1 { 1.0 } else { 0.15 };
        assert_near(&format!("{octaves} octaves above"), measured_db, expected, tolerance);
    }
}

#[test]
fn an_open_filter_changes_nothing() {
    for key in [36, 60, 96] {
        assert_near("response", response_db(&[(INITIAL_FILTER_FC, 13_500)], key), 0.0, 1e-6);
    }
}

#[test]
fn a_resonance_of_10_db_lowers_the_bass_by_5_db_and_peaks_at_5_db() {
    // Section 8.1.2, number 9, gives this example.
    let generators = [(INITIAL_FILTER_FC, AT_SINE), (INITIAL_FILTER_Q, 100)];
    assert_near("three octaves below", response_db(&generators, 24), -5.0, 0.2);
    // The peak of a second-order filter is a little below its cutoff.
    let peak = (54..=62).map(|key| response_db(&generators, key)).fold(f64::MIN, f64::max);
    assert_near("the peak", peak, 5.0, 0.3);
}

#[test]
fn the_resonance_is_the_height_of_the_peak_above_the_bass() {
    for resonance_cb in [60, 240, 400] {
        let generators = [(INITIAL_FILTER_FC, AT_SINE), (INITIAL_FILTER_Q, resonance_cb)];
        let below = response_db(&generators, 24);
        assert_near("the bass", below, -f64::from(resonance_cb) / 20.0, 0.2);
        // A high peak is narrow, so this searches for the peak in steps of four cents.
        let at = |cents: i16| {
            let tuned = [generators[0], generators[1], (FINE_TUNE, cents)];
            response_db(&tuned, 60)
        };
        let peak =
            (-60..=20).step_by(4).map(at).chain([response_db(&generators, 58)]).fold(f64::MIN, f64::max);
        assert_near("the peak", peak - below, f64::from(resonance_cb) / 10.0, 1.0);
    }
}

/// Returns the level of `sound` around a time in decibels, relative to that of `open`.
fn level_db_at(sound: &Sound, open: &Sound, secs: f64) -> f64 {
    let at = |sound: &Sound| rms(part(&sound.left, secs - 0.02, secs + 0.02));
    db(at(sound) / at(open))
}

#[test]
fn the_modulation_lfo_moves_the_cutoff() {
    // Section 8.1.2, number 10. The LFO has a frequency of 0.5 Hz: 1200 log2(0.5 / 8.176) is -4837.
    let open = Rig::sine(&[]).hold(60, 127, 2.0);
    let modulated =
        Rig::sine(&[(INITIAL_FILTER_FC, AT_SINE), (MOD_LFO_TO_FILTER_FC, 2_400), (FREQ_MOD_LFO, -4_837)]);
    let modulated = modulated.hold(60, 127, 2.0);
    assert_near("two octaves up", level_db_at(&modulated, &open, 0.5), butterworth_db(0.25), 0.1);
    assert_near("in the middle", level_db_at(&modulated, &open, 1.0), butterworth_db(1.0), 0.2);
    assert_near("two octaves down", level_db_at(&modulated, &open, 1.5), butterworth_db(4.0), 0.6);
}

#[test]
fn the_modulation_envelope_moves_the_cutoff() {
    // Section 8.1.2, number 11. The envelope decays to 0 in two seconds and is at half after one.
    let open = Rig::sine(&[]).hold(60, 127, 2.5);
    let modulated = Rig::sine(&[
        (INITIAL_FILTER_FC, AT_SINE - 2_400),
        (MOD_ENV_TO_FILTER_FC, 4_800),
        (DECAY_MOD_ENV, 1_200),
        (SUSTAIN_MOD_ENV, 1_000),
    ]);
    let modulated = modulated.hold(60, 127, 2.5);
    assert_near("two octaves up", level_db_at(&modulated, &open, 0.03), butterworth_db(0.25), 0.1);
    assert_near("half way down", level_db_at(&modulated, &open, 1.0), butterworth_db(1.0), 0.2);
    assert_near("at the end", level_db_at(&modulated, &open, 2.3), butterworth_db(4.0), 0.2);
}

#[test]
fn a_soft_note_has_a_lower_cutoff() {
    // Section 8.4.2: the velocity changes the cutoff by -2400 cents times (127 - velocity) / 128.
    let rig = Rig::sine(&[(INITIAL_FILTER_FC, AT_SINE + 1_200)]).following_the_specification();
    let open = Rig::sine(&[(INITIAL_FILTER_FC, 13_500)]).following_the_specification();
    for velocity in [127_u8, 96, 64, 8] {
        let level = |rig: &Rig| {
            let sound = rig.play(&[(0.0, on(60, velocity)), (0.5, off(60))], 0.5);
            rms(part(&sound.left, 0.2, 0.5))
        };
        let octaves = -1.0 + 2.0 * f64::from(127 - velocity) / 128.0;
        let cutoff_of_open_hz = 20_000.0 * libm::exp2(-2.0 * f64::from(127 - velocity) / 128.0);
        let expected = butterworth_db(libm::exp2(octaves)) - butterworth_db(SINE_HZ / cutoff_of_open_hz);
        assert_near(&format!("velocity {velocity}"), db(level(&rig) / level(&open)), expected, 0.15);
    }
}

#[test]
fn a_filter_continues_to_ring_after_the_end_of_its_sample() {
    // The sample plays once, for 42 ms. A resonance of 30 dB at 110 Hz (4500 cents) then rings for
    // most of a second.
    let rig = Rig::sine(&[(SAMPLE_MODES, 0), (INITIAL_FILTER_FC, 4_500), (INITIAL_FILTER_Q, 300)]);
    let sound = rig.hold(60, 127, 2.0);
    let peak = sound.left.iter().fold(0.0_f64, |peak, value| peak.max(value.abs()));
    // The level is the peak of the last period of 436 frames.
    let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
    let loudest = |part: &[f64]| part.iter().fold(0.0_f64, |peak, value| peak.max(value.abs()));
    let end = db(loudest(&sound.left[last_frame - 436..=last_frame]));
    assert!((-112.0..-96.0).contains(&end), "the voice ends at {end} dBFS, with a peak of {} dBFS", db(peak));
    assert_near("voices at the end", sound.active_voices as f64, 0.0, 0.0);
}

#[test]
fn a_moving_cutoff_with_the_highest_resonance_stays_bounded() {
    // Within the ranges of section 8.1.3, but the output of such a filter grows without limit.
    let generators = [
        (INITIAL_FILTER_FC, 8_000),
        (INITIAL_FILTER_Q, 960),
        (MOD_LFO_TO_FILTER_FC, 12_000),
        (FREQ_MOD_LFO, 4_500),
    ];
    for more_generators in [&[][..], &[(ATTACK_VOL_ENV, 8_000), (MOD_ENV_TO_FILTER_FC, 12_000)]] {
        for key in [36, 60, 96] {
            let sound = Rig::sine(&[&generators[..], more_generators].concat()).hold(key, 127, 3.0);
            let peak = sound.left.iter().fold(0.0, |peak, value| f64::max(peak, value.abs()));
            assert!(sound.left.iter().all(|value| value.is_finite()), "key {key}");
            assert!(peak < 1e6, "key {key}: {peak}");
        }
    }
}
