//! The test cases of EBU Tech 3341 (table 1), for any loudness meter. Tones have 1 kHz and the same
//! phase on all channels. Levels are peaks in dBFS.

use dsp_core::loudness::{ChannelLayout, LoudnessMeter};
use dsp_core::meters::MasterMeter;
use dsp_core::resample::resample;

use crate::spectrum::tone;

pub(crate) const RATE_HZ: u32 = 48_000;
/// Tolerance of Tech 3341, in LU.
pub(crate) const TOLERANCE_LU: f64 = 0.1;

pub(crate) fn frames(secs: f64) -> usize {
    libm::round(secs * f64::from(RATE_HZ)) as usize
}

/// Returns a channel of successive tones. Each has a length in seconds and a level in dBFS, of
/// which minus infinity is silence.
pub(crate) fn parts(parts: &[(f64, f64)]) -> Vec<f32> {
    let total_frames: usize = parts.iter().map(|(secs, _)| frames(*secs)).sum();
    let mut signal = tone(1_000.0 / f64::from(RATE_HZ), 0.0, total_frames);
    let mut start = 0;
    for (secs, level_dbfs) in parts {
        let end = start + frames(*secs);
        for value in &mut signal[start..end] {
            *value *= libm::exp10(level_dbfs / 20.0);
        }
        start = end;
    }
    signal.into_iter().map(|value| value as f32).collect()
}

pub(crate) const SILENCE: f64 = f64::NEG_INFINITY;

#[track_caller]
pub(crate) fn assert_lufs(case: &str, measured_value: f64, expected: f64) {
    println!("{case}: {measured_value:.3} LUFS");
    assert!(
        (measured_value - expected).abs() <= TOLERANCE_LU,
        "{case}: measured {measured_value} LUFS, expected {expected} LUFS"
    );
}

#[track_caller]
pub(crate) fn assert_dbtp(case: &str, measured_value: f64, expected: f64) {
    println!("{case}: {measured_value:.3} dBTP");
    let error = measured_value - expected;
    assert!(
        (-0.4..=0.2).contains(&error),
        "{case}: measured {measured_value} dBTP, expected {expected} dBTP"
    );
}

/// A loudness meter at [`RATE_HZ`] that receives the same signal on both channels.
pub(crate) trait Meter {
    const NAME: &'static str;

    fn new() -> Self;
    fn add(&mut self, channel: &[f32]);
    fn momentary_lufs(&self) -> f64;
    fn short_term_lufs(&self) -> f64;
    fn integrated_lufs(&self) -> f64;
    fn max_momentary_lufs(&self) -> f64;
    fn max_short_term_lufs(&self) -> f64;
}

impl Meter for LoudnessMeter {
    const NAME: &'static str = "finished";

    fn new() -> Self {
        Self::new(RATE_HZ, ChannelLayout::Stereo).unwrap()
    }

    fn add(&mut self, channel: &[f32]) {
        self.add(&[channel, channel]);
    }

    fn momentary_lufs(&self) -> f64 {
        self.momentary_lufs()
    }

    fn short_term_lufs(&self) -> f64 {
        self.short_term_lufs()
    }

    fn integrated_lufs(&self) -> f64 {
        self.loudness().integrated_lufs
    }

    fn max_momentary_lufs(&self) -> f64 {
        self.loudness().max_momentary_lufs
    }

    fn max_short_term_lufs(&self) -> f64 {
        self.loudness().max_short_term_lufs
    }
}

/// A master meter that is read every 10 ms, with the highest readings so far.
pub(crate) struct WatchedMasterMeter {
    meter: MasterMeter,
    highest: [f64; 2],
}

impl Meter for WatchedMasterMeter {
    const NAME: &'static str = "master";

    fn new() -> Self {
        Self { meter: MasterMeter::new(RATE_HZ), highest: [f64::NEG_INFINITY; 2] }
    }

    fn add(&mut self, channel: &[f32]) {
        for chunk in channel.chunks(frames(0.01)) {
            self.meter.process([chunk, chunk], true);
            let readings = self.meter.read();
            let [momentary, short_term] = &mut self.highest;
            *momentary = momentary.max(readings.momentary_lufs);
            *short_term = short_term.max(readings.short_term_lufs);
        }
    }

    fn momentary_lufs(&self) -> f64 {
        self.meter.read().momentary_lufs
    }

    fn short_term_lufs(&self) -> f64 {
        self.meter.read().short_term_lufs
    }

    fn integrated_lufs(&self) -> f64 {
        self.meter.read().integrated_lufs
    }

    fn max_momentary_lufs(&self) -> f64 {
        self.highest[0]
    }

    fn max_short_term_lufs(&self) -> f64 {
        self.highest[1]
    }
}

/// Returns a meter that has measured a channel.
fn measured<M: Meter>(channel: &[f32]) -> M {
    let mut meter = M::new();
    meter.add(channel);
    meter
}

/// Tests cases 1 and 2: steady tones.
pub(crate) fn steady_tones<M: Meter>() {
    for (case, level) in [(1, -23.0), (2, -33.0)] {
        let meter: M = measured(&parts(&[(20.0, level)]));
        let case = format!("3341-{case}, {}", M::NAME);
        assert_lufs(&format!("{case}: M"), meter.momentary_lufs(), level);
        assert_lufs(&format!("{case}: S"), meter.short_term_lufs(), level);
        assert_lufs(&format!("{case}: I"), meter.integrated_lufs(), level);
    }
}

/// Tests cases 3 to 5: the gates of the integrated loudness.
pub(crate) fn gates<M: Meter>() {
    let case_3 = [(10.0, -36.0), (60.0, -23.0), (10.0, -36.0)];
    let case_4 = [(10.0, -72.0), (10.0, -36.0), (60.0, -23.0), (10.0, -36.0), (10.0, -72.0)];
    let case_5 = [(20.0, -26.0), (20.1, -20.0), (20.0, -26.0)];
    for (case, signal) in [(3, &case_3[..]), (4, &case_4), (5, &case_5)] {
        let meter: M = measured(&parts(signal));
        assert_lufs(&format!("3341-{case}, {}: I", M::NAME), meter.integrated_lufs(), -23.0);
    }
}

/// Measures a channel and reads the meter every 10 ms. Returns the lowest and the highest reading
/// from `from_secs` on.
fn readings<M: Meter>(channel: &[f32], from_secs: f64, read: impl Fn(&M) -> f64) -> (f64, f64) {
    let mut meter = M::new();
    let (mut lowest, mut highest) = (f64::MAX, f64::MIN);
    let step = frames(0.01);
    for (number, chunk) in channel.chunks(step).enumerate() {
        meter.add(chunk);
        if (number + 1) * step >= frames(from_secs) {
            lowest = lowest.min(read(&meter));
            highest = highest.max(read(&meter));
        }
    }
    (lowest, highest)
}

/// Tests cases 9 and 12: levels that alternate with the period of the meter's window.
pub(crate) fn alternating_levels<M: Meter>() {
    let case_9 = parts(&[(1.34, -20.0), (1.66, -30.0)].repeat(5));
    let (lowest, highest) = readings(&case_9, 3.0, M::short_term_lufs);
    assert_lufs(&format!("3341-9, {}: lowest S", M::NAME), lowest, -23.0);
    assert_lufs(&format!("3341-9, {}: highest S", M::NAME), highest, -23.0);
    let case_12 = parts(&[(0.18, -20.0), (0.22, -30.0)].repeat(25));
    let (lowest, highest) = readings(&case_12, 1.0, M::momentary_lufs);
    assert_lufs(&format!("3341-12, {}: lowest M", M::NAME), lowest, -23.0);
    assert_lufs(&format!("3341-12, {}: highest M", M::NAME), highest, -23.0);
}

/// Tests cases 10 and 13: a tone after silence of different lengths.
pub(crate) fn tones_after_silence<M: Meter>() {
    for i in 0..20 {
        let block_start = f64::from(i);
        let meter: M = measured(&parts(&[(block_start * 0.15, SILENCE), (3.0, -23.0), (1.0, SILENCE)]));
        assert_lufs(&format!("3341-10-{i}, {}: max S", M::NAME), meter.max_short_term_lufs(), -23.0);
        let meter: M = measured(&parts(&[(block_start * 0.02, SILENCE), (0.4, -23.0), (1.0, SILENCE)]));
        assert_lufs(&format!("3341-13-{i}, {}: max M", M::NAME), meter.max_momentary_lufs(), -23.0);
    }
}

/// Tests cases 11 and 14: successive tones with rising levels between silences.
pub(crate) fn rising_tones<M: Meter>() {
    let (mut short_term, mut momentary) = (M::new(), M::new());
    for i in 0..20 {
        let (block_start, level) = (f64::from(i), -38.0 + f64::from(i));
        let block_end = 3.0 - block_start * 0.15;
        short_term.add(&parts(&[(block_start * 0.15, SILENCE), (3.0, level), (block_end, SILENCE)]));
        assert_lufs(&format!("3341-11-{i}, {}: max S", M::NAME), short_term.max_short_term_lufs(), level);
        let block_end = 0.4 - block_start * 0.02;
        momentary.add(&parts(&[(block_start * 0.02, SILENCE), (0.4, level), (block_end, SILENCE)]));
        assert_lufs(&format!("3341-14-{i}, {}: max M", M::NAME), momentary.max_momentary_lufs(), level);
    }
}

/// A signal whose true peak is known.
pub(crate) struct PeakCase {
    pub(crate) number: u32,
    pub(crate) signal: Vec<f64>,
    pub(crate) expected_dbtp: f64,
}

/// Fades a signal in and out. Each fade takes `fade_frames` frames.
pub(crate) fn fade(signal: &mut [f64], fade_frames: usize) {
    let frames = signal.len();
    for n in 0..fade_frames {
        let gain = n as f64 / fade_frames as f64;
        signal[n] *= gain;
        signal[frames - 1 - n] *= gain;
    }
}

/// Returns the signals of cases 15 to 23 at a sample rate.
pub(crate) fn peak_cases(rate_hz: u32) -> Vec<PeakCase> {
    let tones = [
        (15, 4.0, 0.0, 0.5, -6.0),
        (16, 4.0, 45.0, 0.5, -6.0),
        (17, 6.0, 60.0, 0.5, -6.0),
        (18, 8.0, 67.5, 0.5, -6.0),
        (19, 4.0, 45.0, 1.41, 3.0),
    ];
    let tones = tones.into_iter().map(|(number, divisor, degrees, amplitude, expected_dbtp)| {
        let mut signal = tone(1.0 / divisor, degrees / 360.0, rate_hz as usize);
        signal.iter_mut().for_each(|value| *value *= amplitude);
        fade(&mut signal, rate_hz as usize / 100);
        PeakCase { number, signal, expected_dbtp }
    });
    let mut at_four_times = burst(rate_hz as usize);
    fade(&mut at_four_times, rate_hz as usize / 25);
    let bursts = (0..4).map(|offset| {
        // The signal is converted to a fourth of its rate. Only the ratio of the rates matters.
        let signal = resample(192_000, 48_000, &[&at_four_times[offset..]]).unwrap().remove(0);
        PeakCase { number: 20 + offset as u32, signal, expected_dbtp: 0.0 }
    });
    tones.chain(bursts).collect()
}

/// Returns a tone of amplitude 0.5 at a sixth of the sample rate. One inserted period has amplitude
/// 1 and a fourth of the sample rate. The signal has four times the sample rate.
fn burst(quarter_secs: usize) -> Vec<f64> {
    let sixth = tone(1.0 / 24.0, 0.0, quarter_secs / 24 * 24);
    let mut signal: Vec<f64> = sixth.iter().map(|value| 0.5 * value).collect();
    let mut end = signal.clone();
    signal.extend(tone(1.0 / 16.0, 0.0, 16));
    signal.append(&mut end);
    signal
}
