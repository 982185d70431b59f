//! Tests of the filter's frequency responses and modulation.

use std::f64::consts::{PI, SQRT_2, TAU};

use dsp_core::effects::effect_kind;
use dsp_core::mixer::EffectChain;

use crate::measure::{
    RATE_HZ, chain_at, chain_of, check, db, frames_to_63, impulse, mean_period, noise, peak, process,
    response_at_db, response_db, rms, sine, tone, warped_ratio,
};

const LOW: f64 = 0.0;
const HIGH: f64 = 1.0;
const BAND: f64 = 2.0;
const NOTCH: f64 = 3.0;

fn response(parameters: &[(&str, f64)]) -> Vec<f32> {
    let [left, _] = process(&mut chain_of("filter", parameters), &impulse(1 << 16));
    left
}

#[test]
fn the_gain_at_the_cut_off_is_minus_3_db() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for kind in [LOW, HIGH] {
            for (slope, cutoff_hz) in
                [(0.0, 60.0), (0.0, 1_000.0), (0.0, 12_000.0), (1.0, 60.0), (1.0, 1_000.0), (1.0, 12_000.0)]
            {
                let parameters =
                    [("type", kind), ("slope", slope), ("cutoff_hz", cutoff_hz), ("resonance_db", 0.0)];
                let [left, _] = process(&mut chain_at(rate_hz, "filter", &parameters), &impulse(1 << 16));
                let label = format!("cut-off at {cutoff_hz} Hz, {rate_hz} Hz, dB");
                check(&label, response_at_db(rate_hz, &left, cutoff_hz), -3.0103, 0.01);
            }
        }
    }
}

#[test]
fn slopes_match_their_names() {
    for (slope, decibels) in [(0.0, 12.0), (1.0, 24.0)] {
        for (kind, far, near) in [(LOW, 800.0, 400.0), (HIGH, 25.0, 50.0)] {
            let cutoff_hz = if kind == LOW { 50.0 } else { 500.0 };
            let parameters =
                [("type", kind), ("slope", slope), ("cutoff_hz", cutoff_hz), ("resonance_db", 0.0)];
            let response = response(&parameters);
            let octave = response_db(&response, near) - response_db(&response, far);
            check("slope, dB/octave", octave, decibels, 0.15);
        }
    }
}

#[test]
fn resonance_is_the_gain_at_the_cut_off() {
    for slope in [0.0, 1.0] {
        for resonance_db in [6.0, 18.0, 36.0] {
            for kind in [LOW, HIGH] {
                let parameters = [
                    ("type", kind),
                    ("slope", slope),
                    ("cutoff_hz", 1_000.0),
                    ("resonance_db", resonance_db),
                ];
                let at_cutoff = response_db(&response(&parameters), 1_000.0);
                check("cut-off, dB", at_cutoff, resonance_db - 3.0103, 0.02);
            }
        }
    }
}

#[test]
fn all_types_match_their_prototypes() {
    // The expected response is that of an analogue prototype at the warped frequency. With a
    // resonance of 6 dB, its Q is 10^(6 / 20) / sqrt(2). `numerator` returns the real and imaginary
    // part.
    let q = 10_f64.powf(0.3) / 2_f64.sqrt();
    for (kind, numerator) in [
        (LOW, (|_| (1.0, 0.0)) as fn(f64) -> (f64, f64)),
        (HIGH, |s| (-s * s, 0.0)),
        (BAND, |s| (0.0, s)),
        (NOTCH, |s| (1.0 - s * s, 0.0)),
    ] {
        for slope in [0.0, 1.0] {
            if slope == 1.0 && (kind == LOW || kind == HIGH) {
                continue;
            }
            let parameters =
                [("type", kind), ("slope", slope), ("cutoff_hz", 1_500.0), ("resonance_db", 6.0)];
            let response = response(&parameters);
            for frequency_hz in [100.0, 700.0, 1_400.0, 2_000.0, 6_000.0, 15_000.0] {
                let s = (PI * frequency_hz / 48_000.0).tan() / (PI * 1_500.0_f64 / 48_000.0).tan();
                let (re, im) = numerator(s);
                let im = if kind == BAND { im / q } else { im };
                let section = db(re.hypot(im)) - db((1.0 - s * s).hypot(s / q));
                let expected = section * (1.0 + slope);
                check(
                    &format!("type {kind} at {frequency_hz} Hz, dB"),
                    response_db(&response, frequency_hz),
                    expected,
                    0.02,
                );
            }
        }
    }
}

#[test]
fn the_modulation_starts_at_phase_0_at_the_start_of_the_session() {
    // A resonant band-pass filter passes a tone at its current frequency better than a tone an
    // octave above it.
    let parameters = [
        ("type", BAND),
        ("cutoff_hz", 1_000.0),
        ("resonance_db", 24.0),
        ("lfo_rate_hz", 1.0),
        ("lfo_octaves", 2.0),
    ];
    let level_at = |frame: usize, frequency_hz: f64| {
        let [left, _] = process(&mut chain_of("filter", &parameters), &sine(frequency_hz, 0.25, 48_000));
        rms(&left[frame - 600..frame + 600])
    };
    for (frame, octaves) in [(12_000, 2.0_f64), (24_000, 0.0), (36_000, -2.0)] {
        let centre = level_at(frame, 1_000.0 * octaves.exp2());
        let octave_above = level_at(frame, 1_000.0 * (octaves + 1.0).exp2());
        println!(
            "frame {frame}: {:.1} dB at the centre, {:.1} dB an octave above",
            db(centre),
            db(octave_above)
        );
        assert!(centre > 4.0 * octave_above);
    }
}

/// Returns the frequency in hertz at which the response of a low-pass filter is -3 dB.
fn cutoff_hz(response: &[f32]) -> f64 {
    let (mut below, mut above) = (5.0_f64, 23_000.0_f64);
    for _ in 0..40 {
        let middle = (below * above).sqrt();
        let is_below = response_db(response, middle) > -3.0103;
        (below, above) = if is_below { (middle, above) } else { (below, middle) };
    }
    below
}

/// Returns a low-pass filter of 12 dB per octave without resonance and with these settings.
fn low_pass(sample_rate_hz: u32, settings: &[(&str, f64)]) -> EffectChain {
    let plain_settings = [("type", LOW), ("slope", 0.0), ("resonance_db", 0.0)];
    chain_at(sample_rate_hz, "filter", &[&plain_settings[..], settings].concat())
}

#[test]
fn modulation_moves_the_cut_off_by_its_octaves() {
    for octaves in [0.5, 2.0, 3.0] {
        for period in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9] {
            // The modulation is so slow that the cut-off is constant during the impulse response.
            let mut chain =
                low_pass(RATE_HZ, &[("cutoff_hz", 1_000.0), ("lfo_rate_hz", 0.01), ("lfo_octaves", octaves)]);
            chain.reset((period * 4_800_000.0) as u64);
            let [left, _] = process(&mut chain, &impulse(4_800));
            let measured_value = (cutoff_hz(&left) / 1_000.0).log2();
            let expected = octaves * (TAU * period).sin();
            check(&format!("octaves after {period} periods of {octaves}"), measured_value, expected, 2e-3);
        }
    }
}

/// Period in frames of the tone that measures the moving cut-off. The tone is far above the
/// cut-off.
const PROBE_FRAMES: usize = 6;

/// Returns the tone for the left channel. It is so quiet that the right channel determines the
/// envelope.
fn probe(frames: usize) -> Vec<f32> {
    let [probe, _] = sine(f64::from(RATE_HZ) / PROBE_FRAMES as f64, 1e-3, frames);
    probe
}

/// Returns the cut-off of [`low_pass`] in octaves above 250 Hz for each period of the filtered
/// [`probe`].
fn cutoff_octaves(sample_rate_hz: u32, filtered_signal: &[f32]) -> Vec<f64> {
    let rate_hz = f64::from(sample_rate_hz);
    let of_period = |period: &[f32]| {
        let gain = rms(period) * 2_f64.sqrt() / 1e-3;
        // The gain of a Butterworth filter is 1 / sqrt(1 + w^4).
        let w = (gain.powi(-2) - 1.0).sqrt().sqrt();
        (((PI / PROBE_FRAMES as f64).tan() / w).atan() * rate_hz / PI / 250.0).log2()
    };
    filtered_signal.chunks_exact(PROBE_FRAMES).map(of_period).collect()
}

#[test]
fn the_period_of_the_modulation_matches_its_rate() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for lfo_rate_hz in [0.5, 3.0, 20.0] {
            let settings = [("cutoff_hz", 250.0), ("lfo_rate_hz", lfo_rate_hz), ("lfo_octaves", 1.0)];
            let probe = probe((2.2 / lfo_rate_hz * f64::from(rate_hz)) as usize + 9_600);
            let [left, _] = process(&mut low_pass(rate_hz, &settings), &[probe.clone(), probe]);
            let periods = mean_period(&cutoff_octaves(rate_hz, &left[4_800..]), 0.0);
            let secs = periods * PROBE_FRAMES as f64 / f64::from(rate_hz);
            let label = format!("period at {lfo_rate_hz} Hz, {rate_hz} Hz, s");
            check(&label, secs, 1.0 / lfo_rate_hz, 1e-3 / lfo_rate_hz);
        }
    }
}

#[test]
fn the_modulation_phase_does_not_depend_on_where_playback_starts() {
    let parameters = [("lfo_octaves", 3.0), ("lfo_rate_hz", 3.0)];
    let input = noise(0.25, 48_000);
    let whole_output = process(&mut chain_of("filter", &parameters), &input);
    for start in [24_000, 24_013] {
        let mut chain = chain_of("filter", &parameters);
        chain.reset(start as u64);
        let later_output = process(&mut chain, &[input[0][start..].to_vec(), input[1][start..].to_vec()]);
        // The comparison starts when the response to earlier input has decayed.
        let difference = whole_output[0][start + 9_600..]
            .iter()
            .zip(&later_output[0][9_600..])
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        println!("from frame {start}: difference of {difference:e}");
        assert!(difference < 1e-6);
    }
}

#[test]
fn the_envelope_moves_the_cut_off_by_its_octaves_times_the_level() {
    // The right channel determines the level, and an impulse on the left measures the filter.
    for (level, octaves) in [(0.5, 6.0), (0.5, -6.0), (1.0, -2.0), (0.25, 3.0), (1.0, 0.0), (2.0, 3.0)] {
        let mut chain = low_pass(RATE_HZ, &[("cutoff_hz", 1_500.0), ("envelope_octaves", octaves)]);
        let right = vec![level as f32; 9_600];
        process(&mut chain, &[vec![0.0; 9_600], right.clone()]);
        let [mut left, _] = impulse(9_600);
        left[0] = 0.1;
        let [left, _] = process(&mut chain, &[left, right]);
        let response: Vec<f32> = left.iter().map(|value| value / 0.1).collect();
        let measured_value = (cutoff_hz(&response) / 1_500.0).log2();
        // A level above 1 counts as 1.
        check(
            &format!("octaves at {level} of {octaves}"),
            measured_value,
            octaves * f64::min(level, 1.0),
            1e-3,
        );
    }
}

#[test]
fn the_envelope_has_its_time_constants() {
    for (rate_hz, attack_ms, release_ms) in
        [(48_000, 5.0, 20.0), (44_100, 20.0, 150.0), (96_000, 20.0, 150.0), (48_000, 200.0, 1_000.0)]
    {
        for amount in [2.0, -2.0] {
            let settings = [
                ("cutoff_hz", 250.0 * f64::exp2(1.0 - 0.5 * amount)),
                ("envelope_octaves", amount),
                ("envelope_attack_ms", attack_ms),
                ("envelope_release_ms", release_ms),
            ];
            let frames = |time_ms: f64| (time_ms * f64::from(rate_hz) / 1e3) as usize;
            let (quiet_frames, rising, falling) =
                (9_600, frames(12.0 * attack_ms), frames(12.0 * release_ms));
            let mut right = vec![0.0; quiet_frames + rising + falling];
            right[quiet_frames..quiet_frames + rising].fill(1.0);
            let [left, _] = process(&mut low_pass(rate_hz, &settings), &[probe(right.len()), right]);
            let octaves = cutoff_octaves(rate_hz, &left);
            let (start, end) = (quiet_frames / PROBE_FRAMES, (quiet_frames + rising) / PROBE_FRAMES);
            // The cut-off ramps between control points, so it reaches a value 32 frames later.
            for (label, time_ms, from, to) in
                [("attack", attack_ms, start, end), ("release", release_ms, end, octaves.len())]
            {
                let measured_value = frames_to_63(&octaves, from, to) * PROBE_FRAMES as f64 - 32.0;
                let expected = frames(time_ms) as f64;
                let label = format!("frames of {time_ms} ms {label}, {amount} octaves, {rate_hz} Hz");
                check(&label, measured_value, expected, 0.005 * expected + 5.0);
            }
        }
    }
}

#[test]
fn the_mix_is_linear() {
    for (kind, mix) in [(LOW, 0.5), (HIGH, 0.5), (LOW, 0.2)] {
        let response = response(&[
            ("type", kind),
            ("slope", 0.0),
            ("cutoff_hz", 1_500.0),
            ("resonance_db", 0.0),
            ("mix", mix),
        ]);
        for frequency_hz in [50.0, 700.0, 1_500.0, 3_000.0, 9_000.0] {
            // At s = j w, the filter is numerator / (1 - w^2 + j sqrt(2) w).
            let w = warped_ratio(RATE_HZ, frequency_hz, 1_500.0);
            let numerator = if kind == LOW { 1.0 } else { -w * w };
            let (re, im) = (1.0 - w * w, SQRT_2 * w);
            let power = re * re + im * im;
            let sum = (1.0 - mix + mix * numerator * re / power).hypot(mix * numerator * im / power);
            let label = format!("type {kind} mixed by {mix} at {frequency_hz} Hz, dB");
            check(&label, response_db(&response, frequency_hz), db(sum), 0.01);
        }
    }
}

#[test]
fn drive_matches_its_formula_and_is_neutral_at_0_db() {
    let curve = |drive_db: f64, x: f64| {
        let d = 10_f64.powf(drive_db / 20.0);
        let t = (d - 1.0) * x.abs();
        d.sqrt() * x * if t <= 3.0 { (27.0 + t * t) / (27.0 + 9.0 * t * t) } else { 1.0 / t }
    };
    for drive_db in [0.0, 6.0, 24.0] {
        for level in [-1.0, -0.3, 0.01, 0.2, 1.0] {
            let parameters = [("drive_db", drive_db), ("cutoff_hz", 20_000.0), ("resonance_db", 0.0)];
            // The low-pass filter does not change a constant, so only the drive does.
            let input = [vec![level as f32; 4_800], vec![level as f32; 4_800]];
            let [left, _] = process(&mut chain_of("filter", &parameters), &input);
            check(
                &format!("{level} at {drive_db} dB"),
                f64::from(left[4_799]),
                curve(drive_db, f64::from(level as f32)),
                1e-6,
            );
        }
    }
}

fn set(chain: &mut EffectChain, id: &str, value: f64, frames: u32) {
    chain.automate(0, effect_kind("filter").unwrap().parameter_index(id).unwrap(), value, frames);
}

#[test]
fn the_fastest_sweeps_are_stable() {
    for kind in [LOW, HIGH, BAND, NOTCH] {
        let mut chain = chain_of("filter", &[("type", kind), ("resonance_db", 36.0)]);
        let [mut left, mut right] = noise(0.25, 96_000);
        for (number, (left, right)) in left.chunks_mut(32).zip(right.chunks_mut(32)).enumerate() {
            set(&mut chain, "cutoff_hz", if number % 2 == 0 { 20_000.0 } else { 20.0 }, 32);
            chain.process(left, right, &[]);
        }
        println!("type {kind}: peak {:.1} during sweeps of ten octaves in 0.67 ms", peak(&left));
        assert!(peak(&left) < 0.25 * 63.1);
    }
}

#[test]
fn changes_do_not_click() {
    // The tone of 200 Hz has no energy above 6 kHz, so energy there is a click.
    let mut chain = chain_of("filter", &[("cutoff_hz", 500.0)]);
    let [mut left, mut right] = sine(200.0, 0.25, 48_000);
    let mut high_pass = chain_of("filter", &[("type", HIGH), ("cutoff_hz", 6_000.0), ("resonance_db", 0.0)]);
    for (number, (left, right)) in left.chunks_mut(4_000).zip(right.chunks_mut(4_000)).enumerate() {
        set(&mut chain, "type", (number % 4) as f64, 0);
        set(&mut chain, "slope", (number / 2 % 2) as f64, 0);
        chain.set_parameter(0, 2, 500.0 + 100.0 * (number % 3) as f64);
        chain.process(left, right, &[]);
    }
    high_pass.process(&mut left, &mut right, &[]);
    let click_db = db(peak(&left[480..]));
    println!("loudest click: {click_db:.1} dBFS");
    assert!(click_db < -66.0, "a click of {click_db} dBFS");
}

#[test]
fn modulation_makes_no_steps() {
    // The cut-off ramps linearly between control points. Steps at the control points, 1500 a
    // second, would show as sidebands.
    let parameters = [("lfo_octaves", 1.0), ("lfo_rate_hz", 2.0), ("cutoff_hz", 1_000.0)];
    let [left, _] = process(&mut chain_of("filter", &parameters), &sine(1_000.0, 0.5, 48_000));
    let carrier = tone(&left[4_800..], 1_000.0).0;
    for sideband_hz in [2_500.0, 4_000.0, 5_500.0] {
        let relative_db = db(tone(&left[4_800..], sideband_hz).0 / carrier);
        println!("{sideband_hz} Hz: {relative_db:.1} dB");
        assert!(relative_db < -90.0);
    }
}
