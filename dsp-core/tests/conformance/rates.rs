//! The same results at every sample rate of the engine.

use crate::generator::*;
use crate::measure::{assert_near, cents, db, pitch_hz, rms};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, off, on};

const RATES_HZ: [u32; 5] = [16_000, 22_050, 44_100, 96_000, 192_000];

/// The frame at a time in seconds.
fn frame(rate_hz: u32, secs: f64) -> usize {
    libm::round(secs * f64::from(rate_hz)) as usize
}

#[test]
fn a_key_has_its_pitch() {
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
fn the_volume_envelope_keeps_its_times() {
    // Delay 0.1 s, attack 0.2 s, hold 0.15 s, decay 1 s to 40 dB below, release 0.5 s; and
    // fractions of these.
    for (part, tolerance) in [(1.0, 0.05), (0.2, 0.05), (0.1, 0.05), (0.05, 0.05), (0.02, 0.05)] {
        let timecents = |secs: f64| libm::round(1_200.0 * libm::log2(secs * part)) as i16;
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
            let sound = rig.play(&[(0.0, on(60, 127)), (1.5 * part, off(60))], 2.2 * part).left;
            let full = sound.iter().copied().fold(0.0, f64::max);
            let secs =
                |index: Option<usize>| index.map_or(f64::NAN, |index| index as f64 / f64::from(rate_hz));
            let risen = |fraction: f64| secs(sound.iter().position(|value| *value > fraction * full));
            let fallen = |level_db: f64| {
                let gain = full * libm::pow(10.0, level_db / 20.0);
                secs(sound.iter().rposition(|value| *value >= gain))
            };
            let check = |label: &str, measured_secs: f64, expected_secs: f64| {
                let label = format!("{label} at {rate_hz} Hz, {part} of the times");
                assert_near(&label, measured_secs / (part * expected_secs), 1.0, tolerance);
            };
            check("the delay", risen(0.0), 0.1);
            check("the attack", risen(0.75) - risen(0.25), 0.1);
            check("the hold", fallen(-1.0) - part / 96.0 - risen(0.9999), 0.15);
            check("the decay", fallen(-35.0) - fallen(-5.0), 30.0 / 96.0);
            check("the release", fallen(-80.0) - fallen(-45.0), 0.5 * 35.0 / 96.0);
        }
    }
}

#[test]
fn the_modulation_envelope_keeps_its_times() {
    // An octave up after a quarter of a second, then a fall of half a second.
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
fn the_response_is_minus_3_db_at_the_cutoff() {
    // 1200 log2(480 / 8.176) is 7051; the other cutoffs are four, three and two octaves below, and
    // three above.
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
fn lfos_keep_their_rate() {
    // 8.176 Hz as tremolo, after a delay of half a second.
    for rate_hz in RATES_HZ {
        let rig = Rig::level(&[
            (INITIAL_ATTENUATION, 600),
            (MOD_LFO_TO_VOLUME, 60),
            (FREQ_MOD_LFO, 0),
            (DELAY_MOD_LFO, -1_200),
        ]);
        let sound = rig.with_sample_rate(rate_hz).hold(60, 127, 4.0).left;
        let still = frame(rate_hz, 0.25);
        let middle = sound[still] * 1.01;
        let ups: Vec<usize> =
            (still..sound.len()).filter(|&n| sound[n - 1] < middle && sound[n] >= middle).collect();
        let last = ups[ups.len() - 1];
        let turns_hz = (ups.len() - 1) as f64 * f64::from(rate_hz) / (last - ups[0]) as f64;
        assert_near(&format!("the rate at {rate_hz} Hz"), turns_hz, 8.176, 8.176 * 0.005);
        assert_near("the delay", ups[0] as f64 / f64::from(rate_hz), 0.5, 0.025);
    }
}
