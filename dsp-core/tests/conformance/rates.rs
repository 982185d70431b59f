//! Tests that pitches, times and filters are the same at every sample rate of the engine.

use crate::generator::*;
use crate::measure::{assert_near, cents, db, pitch_hz, rms};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, off, on};

const RATES_HZ: [u32; 5] = [16_000, 22_050, 44_100, 96_000, 192_000];

/// Returns the frame at a time in seconds.
fn frame(rate_hz: u32, secs: f64) -> usize {
    libm::round(secs * f64::from(rate_hz)) as usize
}

#[test]
fn a_key_has_the_same_pitch_at_every_sample_rate() {
    for rate_hz in RATES_HZ {
        let rig = Rig::sine(&[]).with_sample_rate(rate_hz);
        let scale = f64::from(rate_hz) / RATE_HZ;
        for key in [36, 60, 67, 84] {
            let sound = rig.hold(key, 127, 1.0);
            let measured = cents(scale * pitch_hz(&sound.left, 0.1 * scale, 0.9 * scale), SINE_HZ);
            let expected = 100.0 * (f64::from(key) - 60.0);
            assert_near(&format!("key {key} at {rate_hz} Hz"), measured, expected, 0.2);
        }
    }
}

#[test]
fn the_volume_envelope_has_the_same_times_at_every_sample_rate() {
    // The envelope has a delay of 0.1 s, an attack of 0.2 s, a hold of 0.15 s, a decay of 1 s to a
    // sustain of -40 dB, and a release of 0.5 s. `factor` shortens all of these.
    for (factor, tolerance) in [(1.0, 0.05), (0.2, 0.05), (0.1, 0.05), (0.05, 0.05), (0.02, 0.05)] {
        let timecents = |secs: f64| libm::round(1_200.0 * libm::log2(secs * factor)) as i16;
        let mut rig = Rig::level(&[
            (DELAY_VOL_ENV, timecents(0.1)),
            (ATTACK_VOL_ENV, timecents(0.2)),
            (HOLD_VOL_ENV, timecents(0.15)),
            (DECAY_VOL_ENV, timecents(1.0)),
            (SUSTAIN_VOL_ENV, 400),
            (RELEASE_VOL_ENV, timecents(0.5)),
        ]);
        for rate_hz in RATES_HZ {
            rig = rig.with_sample_rate(rate_hz);
            let sound = rig.play(&[(0.0, on(60, 127)), (1.5 * factor, off(60))], 2.2 * factor).left;
            let full_level = sound.iter().copied().fold(0.0, f64::max);
            let secs =
                |index: Option<usize>| index.map_or(f64::NAN, |index| index as f64 / f64::from(rate_hz));
            let rise_secs =
                |fraction: f64| secs(sound.iter().position(|value| *value > fraction * full_level));
            let fall_secs = |level_db: f64| {
                let gain = full_level * libm::pow(10.0, level_db / 20.0);
                secs(sound.iter().rposition(|value| *value >= gain))
            };
            let check = |label: &str, measured_secs: f64, expected_secs: f64| {
                let label = format!("{label} at {rate_hz} Hz, {factor} of the times");
                assert_near(&label, measured_secs / (factor * expected_secs), 1.0, tolerance);
            };
            check("the delay", rise_secs(0.0), 0.1);
            check("the attack", rise_secs(0.75) - rise_secs(0.25), 0.1);
            check("the hold", fall_secs(-1.0) - factor / 96.0 - rise_secs(0.9999), 0.15);
            check("the decay", fall_secs(-35.0) - fall_secs(-5.0), 30.0 / 96.0);
            check("the release", fall_secs(-80.0) - fall_secs(-45.0), 0.5 * 35.0 / 96.0);
        }
    }
}

#[test]
fn the_modulation_envelope_has_the_same_times_at_every_sample_rate() {
    // The pitch rises by an octave after a quarter of a second and then falls for half a second.
    let mut rig = Rig::sine(&[
        (MOD_ENV_TO_PITCH, 1_200),
        (DELAY_MOD_ENV, -2_400),
        (ATTACK_MOD_ENV, AT_ONCE),
        (HOLD_MOD_ENV, AT_ONCE),
        (DECAY_MOD_ENV, -1_200),
        (SUSTAIN_MOD_ENV, 1_000),
    ]);
    for rate_hz in RATES_HZ {
        rig = rig.with_sample_rate(rate_hz);
        let sound = rig.hold(60, 127, 1.0);
        let scale = f64::from(rate_hz) / RATE_HZ;
        let octaves_at = |secs: f64| {
            let (from, to) = ((secs - 0.0125) * scale, (secs + 0.0125) * scale);
            cents(scale * pitch_hz(&sound.left, from, to), SINE_HZ) / 1_200.0
        };
        for (secs, expected) in [(0.23, 0.0), (0.35, 0.8), (0.5, 0.5), (0.65, 0.2), (0.8, 0.0)] {
            assert_near(&format!("{secs} s at {rate_hz} Hz"), octaves_at(secs), expected, 0.02);
        }
    }
}

#[test]
fn the_response_is_minus_3_db_at_the_cutoff_at_every_sample_rate() {
    // 480 Hz are 1200 log2(480 / 8.176), or 7051 cents. The other cutoffs are four, three and two
    // octaves below this, and three octaves above.
    for (cutoff_cents, key) in [(2_251, 12), (3_451, 24), (4_651, 36), (7_051, 60), (10_651, 96)] {
        for rate_hz in RATES_HZ {
            let level = |generators: &[(u16, i16)]| {
                let sound = Rig::sine(generators).with_sample_rate(rate_hz).hold(key, 127, 1.2);
                rms(&sound.left[frame(rate_hz, 0.2)..])
            };
            let measured = db(level(&[(INITIAL_FILTER_FC, cutoff_cents)]) / level(&[]));
            assert_near(&format!("{cutoff_cents} cents at {rate_hz} Hz"), measured, -3.01, 0.12);
        }
    }
}

#[test]
fn lfos_have_the_same_frequency_at_every_sample_rate() {
    // The LFO makes a tremolo of 8.176 Hz after a delay of half a second.
    for rate_hz in RATES_HZ {
        let rig = Rig::level(&[
            (INITIAL_ATTENUATION, 600),
            (MOD_LFO_TO_VOLUME, 60),
            (FREQ_MOD_LFO, 0),
            (DELAY_MOD_LFO, -1_200),
        ]);
        let sound = rig.with_sample_rate(rate_hz).hold(60, 127, 4.0).left;
        let during_delay = frame(rate_hz, 0.25);
        let middle = sound[during_delay] * 1.01;
        let rising_crossings: Vec<usize> =
            (during_delay..sound.len()).filter(|&n| sound[n - 1] < middle && sound[n] >= middle).collect();
        let last = rising_crossings[rising_crossings.len() - 1];
        let measured_hz =
            (rising_crossings.len() - 1) as f64 * f64::from(rate_hz) / (last - rising_crossings[0]) as f64;
        assert_near(&format!("the rate at {rate_hz} Hz"), measured_hz, 8.176, 8.176 * 0.005);
        assert_near("the delay", rising_crossings[0] as f64 / f64::from(rate_hz), 0.5, 0.025);
    }
}
