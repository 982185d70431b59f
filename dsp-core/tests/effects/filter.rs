//! Curves and movements of the filter.

use std::f64::consts::PI;

use dsp_core::chain::Chain;
use dsp_core::effects::effect_kind;

use crate::measure::{chain_of, check, db, impulse, noise, peak, response_db, rms, sine, through, tone};

const LOW: f64 = 0.0;
const HIGH: f64 = 1.0;
const BAND: f64 = 2.0;
const NOTCH: f64 = 3.0;

fn response(parameters: &[(&str, f64)]) -> Vec<f32> {
    let [left, _] = through(&mut chain_of("filter", parameters), &impulse(1 << 16));
    left
}

#[test]
fn the_cut_off_is_3_db_down() {
    for kind in [LOW, HIGH] {
        for slope in [0.0, 1.0] {
            for cutoff_hz in [60.0, 1_000.0, 12_000.0] {
                let parameters =
                    [("type", kind), ("slope", slope), ("cutoff_hz", cutoff_hz), ("resonance_db", 0.0)];
                check("cut-off, dB", response_db(&response(&parameters), cutoff_hz), -3.0103, 0.01);
            }
        }
    }
}

#[test]
fn slopes_are_what_they_say() {
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
fn resonance_lifts_the_cut_off_by_its_decibels() {
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
fn all_types_are_their_prototypes() {
    // Analogue prototypes at the warped frequency, one section: Q = 10^(6 / 20) / sqrt(2).
    let q = 10_f64.powf(0.3) / 2_f64.sqrt();
    for (kind, top) in [
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
                let (re, im) = top(s);
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
fn the_oscillator_swings_by_its_octaves_in_time_with_the_clock() {
    // Noise through a band-pass filter: its level at a quarter of the swing's period tells where the filter is.
    let parameters = [
        ("type", BAND),
        ("cutoff_hz", 1_000.0),
        ("resonance_db", 24.0),
        ("lfo_rate_hz", 1.0),
        ("lfo_octaves", 2.0),
    ];
    let level_at = |frame: usize, frequency_hz: f64| {
        let [left, _] = through(&mut chain_of("filter", &parameters), &sine(frequency_hz, 0.25, 48_000));
        rms(&left[frame - 600..frame + 600])
    };
    for (frame, octaves) in [(12_000, 2.0_f64), (24_000, 0.0), (36_000, -2.0)] {
        let here = level_at(frame, 1_000.0 * octaves.exp2());
        let elsewhere = level_at(frame, 1_000.0 * (octaves + 1.0).exp2());
        println!("frame {frame}: {:.1} dB there, {:.1} dB an octave on", db(here), db(elsewhere));
        assert!(here > 4.0 * elsewhere);
    }
}

#[test]
fn the_oscillator_is_where_it_would_be_had_it_run_from_the_start() {
    let parameters = [("lfo_octaves", 3.0), ("lfo_rate_hz", 3.0)];
    let input = noise(0.25, 48_000);
    let whole = through(&mut chain_of("filter", &parameters), &input);
    for start in [24_000, 24_013] {
        let mut chain = chain_of("filter", &parameters);
        chain.reset(start as u64);
        let later = through(&mut chain, &[input[0][start..].to_vec(), input[1][start..].to_vec()]);
        // What rang before the start has died away.
        let difference = whole[0][start + 9_600..]
            .iter()
            .zip(&later[0][9_600..])
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        println!("from frame {start}: {difference:e} off");
        assert!(difference < 1e-6);
    }
}

#[test]
fn the_envelope_opens_the_filter() {
    let parameters = [
        ("type", LOW),
        ("cutoff_hz", 100.0),
        ("resonance_db", 0.0),
        ("envelope_octaves", 6.0),
        ("envelope_attack_ms", 0.1),
        ("envelope_release_ms", 2_000.0),
        ("slope", 0.0),
    ];
    // A steady tone of peak 0.5 holds the follower near 0.5: three octaves, so 800 Hz.
    let [left, _] = through(&mut chain_of("filter", &parameters), &sine(800.0, 0.5, 96_000));
    check("at the cut-off that the level sets, dB", db(tone(&left[48_000..], 800.0).0 / 0.5), -3.01, 0.3);
}

#[test]
fn drive_bends_as_its_formula_says_and_is_nothing_at_0_db() {
    let curve = |drive_db: f64, x: f64| {
        let d = 10_f64.powf(drive_db / 20.0);
        let t = (d - 1.0) * x.abs();
        d.sqrt() * x * if t <= 3.0 { (27.0 + t * t) / (27.0 + 9.0 * t * t) } else { 1.0 / t }
    };
    for drive_db in [0.0, 6.0, 24.0] {
        for level in [-1.0, -0.3, 0.01, 0.2, 1.0] {
            let parameters = [("drive_db", drive_db), ("cutoff_hz", 20_000.0), ("resonance_db", 0.0)];
            // A constant passes a low-pass filter as it is.
            let input = [vec![level as f32; 4_800], vec![level as f32; 4_800]];
            let [left, _] = through(&mut chain_of("filter", &parameters), &input);
            check(
                &format!("{level} at {drive_db} dB"),
                f64::from(left[4_799]),
                curve(drive_db, f64::from(level as f32)),
                1e-6,
            );
        }
    }
}

fn set(chain: &mut Chain, id: &str, value: f64, frames: u32) {
    chain.automate(0, effect_kind("filter").unwrap().parameter_place(id).unwrap(), value, frames);
}

#[test]
fn the_fastest_sweeps_stay_stable() {
    for kind in [LOW, HIGH, BAND, NOTCH] {
        let mut chain = chain_of("filter", &[("type", kind), ("resonance_db", 36.0)]);
        let [mut left, mut right] = noise(0.25, 96_000);
        for (number, (left, right)) in left.chunks_mut(32).zip(right.chunks_mut(32)).enumerate() {
            set(&mut chain, "cutoff_hz", if number % 2 == 0 { 20_000.0 } else { 20.0 }, 32);
            chain.process(left, right, &[]);
        }
        println!("type {kind}: peak {:.1} under sweeps of ten octaves each 0.67 ms", peak(&left));
        assert!(peak(&left) < 0.25 * 63.1);
    }
}

#[test]
fn changes_do_not_click() {
    // A tone of 200 Hz has nothing above 4 kHz; what is there after a change is a click.
    let mut chain = chain_of("filter", &[("cutoff_hz", 500.0)]);
    let [mut left, mut right] = sine(200.0, 0.25, 48_000);
    let mut listener = chain_of("filter", &[("type", HIGH), ("cutoff_hz", 6_000.0), ("resonance_db", 0.0)]);
    for (number, (left, right)) in left.chunks_mut(4_000).zip(right.chunks_mut(4_000)).enumerate() {
        set(&mut chain, "type", (number % 4) as f64, 0);
        set(&mut chain, "slope", (number / 2 % 2) as f64, 0);
        chain.set(0, 2, 500.0 + 100.0 * (number % 3) as f64);
        chain.process(left, right, &[]);
    }
    listener.process(&mut left, &mut right, &[]);
    let click_db = db(peak(&left[480..]));
    println!("loudest click: {click_db:.1} dBFS");
    assert!(click_db < -66.0, "{click_db}");
}

#[test]
fn a_swept_tone_has_no_steps() {
    // The cut-off glides by control places; between them it goes straight. Steps of 1.5 kHz would show as sidebands.
    let parameters = [("lfo_octaves", 1.0), ("lfo_rate_hz", 2.0), ("cutoff_hz", 1_000.0)];
    let [left, _] = through(&mut chain_of("filter", &parameters), &sine(1_000.0, 0.5, 48_000));
    let carrier = tone(&left[4_800..], 1_000.0).0;
    for sideband_hz in [2_500.0, 4_000.0, 5_500.0] {
        let relative_db = db(tone(&left[4_800..], sideband_hz).0 / carrier);
        println!("{sideband_hz} Hz: {relative_db:.1} dB");
        assert!(relative_db < -90.0);
    }
}
