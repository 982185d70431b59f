//! Tempo and key of signals whose tempo and key are known.

use super::*;

const RATE_HZ: u32 = 44_100;

fn analyze(channels: usize, frames: &[f32]) -> Analysis {
    analyze_at(RATE_HZ, channels, frames)
}

fn analyze_at(rate_hz: u32, channels: usize, frames: &[f32]) -> Analysis {
    let mut analyzer = Analyzer::new(rate_hz, channels);
    for chunk in frames.chunks(channels * 4_096) {
        analyzer.add(chunk);
    }
    analyzer.finish()
}

/// Noise from -1 to 1. The field is the state of a linear congruential generator.
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / 8_388_608.0 - 1.0
    }
}

/// Returns drum-like bursts at a tempo. The first of four is louder, and weak off-beats lie between
/// them.
fn beats(bpm: f64, secs: f64) -> Vec<f32> {
    let beat_frames = 60.0 * f64::from(RATE_HZ) / bpm;
    let mut noise = Noise(7);
    (0..(secs * f64::from(RATE_HZ)) as usize)
        .map(|frame| {
            let beat = frame as f64 / beat_frames;
            let half_beat = libm::floor(2.0 * beat);
            let since_secs = (beat - half_beat / 2.0) * 60.0 / bpm;
            let level = match half_beat as usize % 8 {
                0 => 1.0,
                2 | 4 | 6 => 0.7,
                _ => 0.15,
            };
            (level * libm::exp(-since_secs / 0.03)) as f32 * noise.next() * 0.5
        })
        .collect()
}

#[test]
fn the_tempo_of_a_steady_beat_is_found() {
    for bpm in [80.0, 97.3, 120.0, 128.0, 140.5, 160.0] {
        let tempo = analyze(1, &beats(bpm, 30.0)).tempo.expect("the beats have a tempo");
        assert!((tempo.bpm - bpm).abs() < 0.1, "{bpm} bpm gave {tempo:?}");
        assert!(tempo.regularity > 0.4, "too low a regularity: {tempo:?}");
    }
    // With off-beats, a slow or a fast tempo may be found as its double or its half.
    for bpm in [60.0, 180.0] {
        let tempo = analyze(1, &beats(bpm, 30.0)).tempo.expect("the beats have a tempo");
        let octaves = libm::log2(tempo.bpm / bpm);
        assert!(
            (octaves - libm::round(octaves)).abs() < 0.002 && octaves.abs() < 1.1,
            "{bpm} bpm gave {tempo:?}"
        );
    }
}

/// Returns clicks of 2 ms with equal strength at a tempo.
fn clicks(rate_hz: u32, bpm: f64, secs: f64) -> Vec<f32> {
    let beat_frames = 60.0 * f64::from(rate_hz) / bpm;
    (0..(secs * f64::from(rate_hz)) as usize)
        .map(|frame| {
            let since_secs = libm::fmod(frame as f64, beat_frames) / f64::from(rate_hz);
            let tone = libm::sin(core::f64::consts::TAU * 1_500.0 * since_secs);
            if since_secs < 0.002 { 0.5 * tone as f32 } else { 0.0 }
        })
        .collect()
}

#[test]
fn each_of_equal_clicks_is_a_beat() {
    for bpm in (60..=200).step_by(7).chain([87, 100, 174, 200]) {
        for rate_hz in [RATE_HZ, 48_000] {
            let bpm = f64::from(bpm);
            let tempo =
                analyze_at(rate_hz, 1, &clicks(rate_hz, bpm, 12.0)).tempo.expect("the clicks have a tempo");
            assert!((tempo.bpm / bpm - 1.0).abs() < 0.01, "{bpm} at {rate_hz} Hz: {tempo:?}");
        }
    }
}

/// Returns the sum of steady sines.
fn tones(rate_hz: u32, frequencies_hz: &[f64], secs: u32) -> Vec<f32> {
    (0..secs * rate_hz)
        .map(|frame| {
            let turn = core::f64::consts::TAU * f64::from(frame) / f64::from(rate_hz);
            let sum: f64 = frequencies_hz.iter().map(|frequency_hz| libm::sin(turn * frequency_hz)).sum();
            (0.25 * sum) as f32
        })
        .collect()
}

#[test]
fn steady_tones_have_no_tempo() {
    let triad = [261.625_565, 329.627_557, 391.995_436];
    for (rate_hz, frequencies_hz) in [
        (RATE_HZ, &[440.0][..]),
        (11_025, &[1_000.0]),
        (RATE_HZ, &[1_000.0]),
        (RATE_HZ, &[55.0]),
        (48_000, &[110.0]),
        (8_000, &[440.0]),
        (96_000, &[3_000.0]),
        (RATE_HZ, &triad),
        (48_000, &triad),
        (RATE_HZ, &[130.812_783, 164.813_778, 195.997_718]),
    ] {
        let tempo = analyze_at(rate_hz, 1, &tones(rate_hz, frequencies_hz, 10)).tempo;
        assert_eq!(tempo, None, "{frequencies_hz:?} at {rate_hz} Hz");
    }
}

#[test]
fn steady_tones_do_not_change_the_tempo() {
    let steady = tones(RATE_HZ, &[261.625_565, 329.627_557, 391.995_436], 20);
    for (bpm, beat_gain) in [(97.3, 0.5), (128.0, 0.5), (140.5, 0.25)] {
        let mix: Vec<f32> =
            beats(bpm, 20.0).iter().zip(&steady).map(|(beat, tone)| beat_gain * beat + tone).collect();
        let tempo = analyze(1, &mix).tempo.expect("the beats have a tempo");
        assert!((tempo.bpm - bpm).abs() < 0.2, "{bpm} bpm gave {tempo:?}");
    }
}

#[test]
fn signals_without_a_regular_beat_have_no_tempo() {
    let mut noise = Noise(1);
    let hiss: Vec<f32> = (0..20 * RATE_HZ).map(|_| noise.next() * 0.3).collect();
    assert_eq!(analyze(1, &hiss).tempo, None);
    assert_eq!(analyze(1, &vec![0.0; 10 * RATE_HZ as usize]).tempo, None);
    assert_eq!(analyze(1, &beats(120.0, 3.0)).tempo, None, "three seconds are too short for a tempo");
}

/// Renders chords of three tones with overtones, each one second long, in stereo with a silent
/// right channel. The tones are in semitones above middle C.
fn chords(progression: &[[i32; 3]]) -> Vec<f32> {
    let mut output = Vec::new();
    for chord in progression {
        for frame in 0..RATE_HZ {
            let time_secs = f64::from(frame) / f64::from(RATE_HZ);
            let mut value = 0.0;
            for semitones in chord {
                let frequency_hz = 261.625_565 * libm::exp2(f64::from(*semitones) / 12.0);
                for overtone in 1..=5 {
                    let phase = core::f64::consts::TAU * frequency_hz * f64::from(overtone) * time_secs;
                    value += 0.1 * libm::sin(phase) / f64::from(overtone * overtone);
                }
            }
            output.extend([(value * libm::exp(-time_secs)) as f32, 0.0]);
        }
    }
    output
}

fn transposed(progression: &[[i32; 3]], semitones: i32) -> Vec<[i32; 3]> {
    progression.iter().map(|chord| chord.map(|tone| tone + semitones)).collect()
}

#[test]
fn the_key_of_a_cadence_is_found() {
    // Tonic, subdominant, dominant, tonic.
    let major = [[0, 4, 7], [5, 9, 12], [7, 11, 14], [0, 4, 7]];
    let minor = [[0, 3, 7], [5, 8, 12], [7, 11, 14], [0, 3, 7]];
    for tonic in 0..12_u8 {
        for (mode, progression) in [(Mode::Major, major), (Mode::Minor, minor)] {
            let key = analyze(2, &chords(&transposed(&progression, i32::from(tonic) - 5)))
                .key
                .expect("the cadence has a key");
            let expected = (tonic + 7) % 12;
            assert_eq!((key.tonic, key.mode), (expected, mode), "the key is {key:?}");
            assert!(key.correlation > 0.7, "too low a correlation: {key:?}");
        }
    }
}

#[test]
fn signals_without_tones_have_no_key() {
    for constant in [0.0, 0.5, 3.162_277_6e-5] {
        for frames in [RATE_HZ / 4, RATE_HZ, 5 * RATE_HZ] {
            let key = analyze(1, &vec![constant; frames as usize]).key;
            assert_eq!(key, None, "{frames} frames with the value {constant}");
        }
    }
    let clicks: Vec<f32> = (0..5 * RATE_HZ).map(|frame| if frame % 4_410 == 0 { 1.0 } else { 0.0 }).collect();
    // Clicks every tenth of a second are a tone of 10 Hz with all overtones. The overtones cover
    // every pitch class.
    let key = analyze(1, &clicks).key;
    assert!(key.is_none_or(|key| key.correlation < 0.8), "clicks have the key {key:?}");
}
