//! Tests that banks with random modulation have similar levels at every sample rate, and the same
//! output at any call size.

use dsp_core::session::Event;

use crate::generator::*;
use crate::measure::{db, rms};
use crate::rig::{Rig, off, on};

/// Returns generators of all modulation sources with random amounts from the middle of their
/// ranges.
fn random_generators(seed: u32) -> Vec<(u16, i16)> {
    let mut state = seed;
    let mut between = |low: i16, high: i16| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + ((state >> 8) % (i32::from(high) - i32::from(low) + 1) as u32) as i16
    };
    let ranges = [
        (MOD_LFO_TO_PITCH, -100, 100),
        (VIB_LFO_TO_PITCH, -100, 100),
        (MOD_ENV_TO_PITCH, -1_200, 1_200),
        (INITIAL_FILTER_FC, 5_000, 11_000),
        (INITIAL_FILTER_Q, 0, 150),
        (MOD_LFO_TO_FILTER_FC, -600, 600),
        (MOD_ENV_TO_FILTER_FC, -2_400, 2_400),
        (MOD_LFO_TO_VOLUME, -100, 100),
        (DELAY_MOD_LFO, -6_000, 0),
        (FREQ_MOD_LFO, -3_000, 500),
        (DELAY_VIB_LFO, -6_000, 0),
        (FREQ_VIB_LFO, -3_000, 500),
        (DELAY_MOD_ENV, -7_000, -3_000),
        (ATTACK_MOD_ENV, -6_000, 0),
        (HOLD_MOD_ENV, -7_000, -2_000),
        (DECAY_MOD_ENV, -4_000, 1_000),
        (SUSTAIN_MOD_ENV, 0, 1_000),
        (RELEASE_MOD_ENV, -4_000, 1_000),
        (DELAY_VOL_ENV, -7_000, -3_000),
        (ATTACK_VOL_ENV, -6_000, -1_000),
        (HOLD_VOL_ENV, -7_000, -2_000),
        (DECAY_VOL_ENV, -4_000, 1_000),
        (SUSTAIN_VOL_ENV, 0, 300),
        (RELEASE_VOL_ENV, -4_000, 1_000),
        (INITIAL_ATTENUATION, 200, 400),
    ];
    ranges.map(|(number, low, high)| (number, between(low, high))).to_vec()
}

fn note() -> [(f64, Event); 2] {
    [(0.0, on(60, 127)), (0.8, off(60))]
}

/// Returns the RMS levels of a note every 10 ms, each measured over 20 ms.
fn levels(generators: &[(u16, i16)], rate_hz: u32) -> Vec<f64> {
    let sound = Rig::sine(generators).with_sample_rate(rate_hz).play(&note(), 1.5).left;
    let frame = |hundredths: u32| (hundredths * rate_hz / 100) as usize;
    (0..140).map(|hundredths| rms(&sound[frame(hundredths)..frame(hundredths + 2)])).collect()
}

/// Levels up to this linear value, -70 dBFS, are not compared.
const AUDIBLE: f64 = 3e-4;

/// Maximum difference of levels in decibels. It is not 0, because the frames of a 20 ms window
/// differ between sample rates. The control grid is also coarser at low rates.
const MAX_DIFFERENCE_DB: f64 = 0.8;

#[test]
fn levels_are_similar_at_every_sample_rate() {
    for seed in 0..60 {
        let generators = random_generators(seed * 7_919 + 1);
        let reference = levels(&generators, 192_000);
        for rate_hz in [16_000, 22_050, 44_100, 48_000, 96_000] {
            let levels = levels(&generators, rate_hz);
            let audible_levels = levels.iter().zip(&reference).filter(|(_, reference)| **reference > AUDIBLE);
            let differences_db: Vec<f64> =
                audible_levels.map(|(level, reference)| db(level / reference).abs()).collect();
            assert!(differences_db.len() > 3, "seed {seed} is silent");
            let largest_db = differences_db.into_iter().fold(0.0, f64::max);
            assert!(largest_db < MAX_DIFFERENCE_DB, "seed {seed} at {rate_hz} Hz: {largest_db} dB apart");
        }
    }
}

#[test]
fn the_output_does_not_depend_on_the_call_size() {
    for (seed, call_frames) in (100..).zip([1, 3, 77, 333, 4_095].repeat(6)) {
        let generators = random_generators(seed * 7_919 + 1);
        let whole_sound = Rig::sine(&generators).play(&note(), 1.5);
        let pieces = Rig::sine(&generators).with_call_frames(&[call_frames]).play(&note(), 1.5);
        assert!(whole_sound.left.iter().any(|value| value.abs() > 1e-4), "seed {seed} is silent");
        assert!(whole_sound.left == pieces.left, "seed {seed} in calls of {call_frames}");
        assert!(whole_sound.reverb == pieces.reverb, "seed {seed} in calls of {call_frames}: the send");
    }
}
