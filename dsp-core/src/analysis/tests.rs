//! Tempo and key of signals whose answers are known.

use super::*;

const RATE_HZ: u32 = 44_100;

fn analyze(channels: usize, frames: &[f32]) -> Analysis {
    let mut analyzer = Analyzer::new(RATE_HZ, channels);
    for part in frames.chunks(channels * 4_096) {
        analyzer.add(part);
    }
    analyzer.finish()
}

/// Noise from a seed, -1 to 1.
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / 8_388_608.0 - 1.0
    }
}

/// Drum-like bursts at a tempo, the first of four louder, with off-beats between them.
fn beats(bpm: f64, secs: f64) -> Vec<f32> {
    let beat_frames = 60.0 * f64::from(RATE_HZ) / bpm;
    let mut noise = Noise(7);
    (0..(secs * f64::from(RATE_HZ)) as usize)
        .map(|frame| {
            let place = frame as f64 / beat_frames;
            let half = libm::floor(2.0 * place);
            let since_secs = (place - half / 2.0) * 60.0 / bpm;
            let level = match half as usize % 8 {
                0 => 1.0,
                2 | 4 | 6 => 0.7,
                _ => 0.15,
            };
            (level * libm::exp(-since_secs / 0.03)) as f32 * noise.next() * 0.5
        })
        .collect()
}

#[test]
fn a_steady_beat_has_its_tempo() {
    for bpm in [80.0, 97.3, 120.0, 128.0, 140.5, 160.0] {
        let tempo = analyze(1, &beats(bpm, 30.0)).tempo.expect("a pulse");
        assert!((tempo.bpm - bpm).abs() < 0.1, "{bpm} was taken for {tempo:?}");
        assert!(tempo.regularity > 0.4, "{tempo:?}");
    }
    // At the ends an octave is a matter of taste.
    for bpm in [60.0, 180.0] {
        let tempo = analyze(1, &beats(bpm, 30.0)).tempo.expect("a pulse");
        let octaves = libm::log2(tempo.bpm / bpm);
        assert!((octaves - libm::round(octaves)).abs() < 0.002 && octaves.abs() < 1.1, "{bpm}: {tempo:?}");
    }
}

#[test]
fn where_nothing_beats_there_is_no_tempo() {
    let mut noise = Noise(1);
    let hiss: Vec<f32> = (0..20 * RATE_HZ).map(|_| noise.next() * 0.3).collect();
    assert_eq!(analyze(1, &hiss).tempo, None);
    assert_eq!(analyze(1, &vec![0.0; 10 * RATE_HZ as usize]).tempo, None);
    assert_eq!(analyze(1, &beats(120.0, 3.0)).tempo, None, "three seconds are too short");
}

/// Chords of three tones with overtones, a second each, by semitones above middle C; stereo with one side empty.
fn chords(progression: &[[i32; 3]]) -> Vec<f32> {
    let mut out = Vec::new();
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
            out.extend([(value * libm::exp(-time_secs)) as f32, 0.0]);
        }
    }
    out
}

fn moved(progression: &[[i32; 3]], semitones: i32) -> Vec<[i32; 3]> {
    progression.iter().map(|chord| chord.map(|tone| tone + semitones)).collect()
}

#[test]
fn a_cadence_has_its_key() {
    // Tonic, subdominant, dominant, tonic.
    let major = [[0, 4, 7], [5, 9, 12], [7, 11, 14], [0, 4, 7]];
    let minor = [[0, 3, 7], [5, 8, 12], [7, 11, 14], [0, 3, 7]];
    for tonic in 0..12_u8 {
        for (mode, progression) in [(Mode::Major, major), (Mode::Minor, minor)] {
            let key = analyze(2, &chords(&moved(&progression, i32::from(tonic) - 5))).key.expect("tones");
            let expected = (tonic + 7) % 12;
            assert_eq!((key.tonic, key.mode), (expected, mode), "{key:?}");
            assert!(key.correlation > 0.7, "{key:?}");
        }
    }
}

#[test]
fn without_tones_there_is_no_key() {
    assert_eq!(analyze(1, &vec![0.0; RATE_HZ as usize]).key, None);
    let clicks: Vec<f32> = (0..5 * RATE_HZ).map(|frame| if frame % 4_410 == 0 { 1.0 } else { 0.0 }).collect();
    // A click every tenth of a second is a tone of 10 Hz with all overtones: every pitch class sounds.
    let key = analyze(1, &clicks).key;
    assert!(key.is_none_or(|key| key.correlation < 0.8), "{key:?}");
}
