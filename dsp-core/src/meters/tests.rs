use super::master_meter::{MasterMeter, MasterReadings};
use assert_no_alloc::assert_no_alloc;

/// Returns two different channels of noise from a linear congruential generator.
fn noise(frames: usize) -> [Vec<f32>; 2] {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        0.25 * ((state >> 8) as f32 / 8_388_608.0 - 1.0)
    };
    [(); 2].map(|()| (0..frames).map(|_| next()).collect())
}

fn measure(meter: &mut MasterMeter, [left, right]: &[Vec<f32>; 2], call_frames: usize) -> MasterReadings {
    assert_no_alloc(|| {
        for (left, right) in left.chunks(call_frames).zip(right.chunks(call_frames)) {
            meter.process([left, right], true);
        }
        meter.read()
    })
}

#[test]
fn readings_do_not_depend_on_the_call_size_and_processing_does_not_allocate() {
    let signal = noise(100_003);
    for rate_hz in [44_100, 48_000, 96_000] {
        let mut meter = MasterMeter::new(rate_hz);
        let whole_reading = measure(&mut meter, &signal, 100_003);
        assert!(
            whole_reading.integrated_lufs.is_finite()
                && whole_reading.spectrum_db.iter().all(|db| db.is_finite())
        );
        for call_frames in [1, 7, 128, 1_024] {
            assert_no_alloc(|| meter.reset());
            assert_eq!(
                measure(&mut meter, &signal, call_frames),
                whole_reading,
                "calls of {call_frames} frames at {rate_hz} Hz"
            );
        }
    }
}

#[test]
fn every_instruction_set_computes_the_same_readings() {
    let signal = noise(100_000);
    let readings = || measure(&mut MasterMeter::new(48_000), &signal, 100_000);
    let best_readings = readings();
    crate::simd::force_baseline(true);
    let baseline = readings();
    crate::simd::force_baseline(false);
    assert_eq!(best_readings, baseline);
}

#[test]
fn samples_that_are_not_finite_or_too_high_are_treated_as_silence() {
    let mut meter = MasterMeter::new(48_000);
    let invalid = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX].repeat(24_000);
    meter.process([&invalid, &invalid], true);
    let silence = MasterMeter::new(48_000).read();
    assert_eq!(meter.read(), silence);
    assert_eq!((silence.integrated_lufs, silence.correlation), (f64::NEG_INFINITY, 0.0));
    assert!(silence.spectrum_db.iter().all(|db| *db == f64::NEG_INFINITY));
}

#[test]
fn all_readings_but_the_peaks_decay_in_silence() {
    let mut meter = MasterMeter::new(48_000);
    let [left, right] = noise(48_000);
    meter.process([&left, &right], true);
    let after_sound = meter.read();
    for _ in 0..20 {
        meter.process([&[0.0; 48_000], &[0.0; 48_000]], true);
    }
    let decayed_reading = meter.read();
    assert_eq!(decayed_reading.momentary_lufs, f64::NEG_INFINITY);
    assert_eq!((decayed_reading.rms_db, decayed_reading.correlation), ([f64::NEG_INFINITY; 2], 0.0));
    assert!(decayed_reading.spectrum_db.iter().all(|db| *db == f64::NEG_INFINITY));
    assert_eq!(decayed_reading.true_peak_dbtp, after_sound.true_peak_dbtp);
}

#[test]
fn integrated_loudness_leaves_out_frames_that_do_not_count() {
    let [quiet_left, quiet_right] = noise(96_000);
    let [loud_left, loud_right] =
        noise(96_000).map(|channel| channel.iter().map(|value| 3.0 * value).collect::<Vec<_>>());
    let mut meter = MasterMeter::new(48_000);
    meter.process([&quiet_left, &quiet_right], true);
    let first_reading = meter.read();
    // 1234 frames are neither a whole number of intervals nor a whole number of gating blocks.
    for _ in 0..10 {
        meter.process([&loud_left[..1_234], &loud_right[..1_234]], false);
        meter.process([&loud_left[..9_600], &loud_right[..9_600]], true);
    }
    meter.process([&loud_left, &loud_right], false);
    let paused = meter.read();
    assert_eq!(paused.integrated_lufs, first_reading.integrated_lufs);
    assert!(paused.momentary_lufs > first_reading.momentary_lufs + 9.0);
    assert!(paused.true_peak_dbtp > first_reading.true_peak_dbtp + 9.0);
    meter.process([&loud_left, &loud_right], true);
    assert!(meter.read().integrated_lufs > first_reading.integrated_lufs + 3.0);
}

#[test]
fn a_restart_resets_only_integrated_loudness_and_peaks() {
    let [left, right] = noise(96_100);
    let mut meter = MasterMeter::new(48_000);
    meter.process([&left, &right], true);
    let first_reading = meter.read();
    assert_no_alloc(|| meter.restart());
    let silence = MasterMeter::new(48_000).read();
    let expected = MasterReadings {
        integrated_lufs: silence.integrated_lufs,
        true_peak_dbtp: silence.true_peak_dbtp,
        sample_peak_dbfs: silence.sample_peak_dbfs,
        ..first_reading
    };
    assert_eq!(meter.read(), expected);
    let [left, right] =
        noise(48_000).map(|channel| channel.iter().map(|value| 0.1 * value).collect::<Vec<_>>());
    meter.process([&left, &right], true);
    assert!((meter.read().integrated_lufs - first_reading.integrated_lufs + 20.0).abs() < 0.2);
}
