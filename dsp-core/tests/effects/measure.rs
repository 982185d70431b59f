//! Makes test signals and measures the output of effects.

use std::f64::consts::{PI, TAU};

use assert_no_alloc::assert_no_alloc;
use dsp_core::effects::{EffectConfig, MusicalTime, effect_kind};
use dsp_core::mixer::{EffectChain, EffectSlot};

/// Sample rate of all tests that do not state another, in hertz.
pub(crate) const RATE_HZ: u32 = 48_000;

/// Samples of the left and the right channel.
pub(crate) type Stereo = [Vec<f32>; 2];

/// Returns an effect configuration without an impulse response.
pub(crate) fn config(sample_rate_hz: u32) -> EffectConfig<'static> {
    EffectConfig { sample_rate_hz, seed: 1, impulse: None }
}

/// Returns a chain of one effect at 120 BPM. The parameters are set before the first frame.
pub(crate) fn chain_of(kind: &str, parameters: &[(&str, f64)]) -> EffectChain {
    chain_at(RATE_HZ, kind, parameters)
}

/// Returns the chain of [`chain_of`] at another sample rate.
pub(crate) fn chain_at(sample_rate_hz: u32, kind: &str, parameters: &[(&str, f64)]) -> EffectChain {
    let kind = effect_kind(kind).unwrap_or_else(|| panic!("no effect {kind:?}"));
    let mut slot = EffectSlot::new("effect", kind, &config(sample_rate_hz));
    for (id, value) in parameters {
        let index = kind.parameter_index(id).unwrap_or_else(|| panic!("no parameter {id:?}"));
        slot.set_parameter(index, *value, 0);
    }
    let mut chain = EffectChain::new(sample_rate_hz);
    chain.push(slot);
    chain.set_time(MusicalTime { bpm: 120.0, beat: 0.0 });
    chain
}

/// Processes audio in one call and asserts that this does not allocate.
pub(crate) fn process(chain: &mut EffectChain, [left, right]: &Stereo) -> Stereo {
    let (mut left, mut right) = (left.clone(), right.clone());
    assert_no_alloc(|| chain.process(&mut left, &mut right, &[]));
    [left, right]
}

/// Processes audio with a side-chain in one call and asserts that this does not allocate.
pub(crate) fn process_with_side_chain(
    chain: &mut EffectChain,
    [left, right]: &Stereo,
    side: &Stereo,
) -> Stereo {
    let (mut left, mut right) = (left.clone(), right.clone());
    assert_no_alloc(|| chain.process(&mut left, &mut right, &[Some([&side[0], &side[1]])]));
    [left, right]
}

/// Processes audio and returns the gain of the left channel at each frame, in decibels.
pub(crate) fn gains_db(chain: &mut EffectChain, input: &Stereo) -> Vec<f64> {
    let output = process(chain, input);
    output[0].iter().zip(&input[0]).map(|(output, input)| db(f64::from(output / input))).collect()
}

/// Returns a constant in both channels. Its level in dBFS is exact at every frame.
pub(crate) fn constant(level_db: f64, frames: usize) -> Stereo {
    steps(&[(level_db, frames)])
}

/// Returns successive constants in both channels, each with a level in dBFS and a number of frames.
pub(crate) fn steps(levels: &[(f64, usize)]) -> Stereo {
    let values: Vec<f32> =
        levels.iter().flat_map(|(level_db, frames)| vec![amplitude(*level_db) as f32; *frames]).collect();
    [values.clone(), values]
}

/// Returns the frames from `start` until the values have completed 63 % (`1 - 1/e`) of their step.
/// The step goes from the value just before `start` to the value just before `end`.
pub(crate) fn frames_to_63(values: &[f64], start: usize, end: usize) -> f64 {
    let (from, to) = (values[start - 1], values[end - 1]);
    let target = from + (to - from) * (1.0 - (-1.0_f64).exp());
    let reached = (start..end)
        .find(|frame| (values[*frame] - target) * (to - from) >= 0.0)
        .expect("the values reach 63 % of their step");
    // The value at `start` has already changed during one frame.
    (reached - start) as f64 + (target - values[reached - 1]) / (values[reached] - values[reached - 1])
}

/// Returns the mean period of periodic values as a number of values. `middle` is the value through
/// which they rise once a period.
pub(crate) fn mean_period(values: &[f64], middle: f64) -> f64 {
    let rises: Vec<f64> = (1..values.len())
        .filter(|index| values[index - 1] < middle && values[*index] >= middle)
        .map(|index| index as f64 - (values[index] - middle) / (values[index] - values[index - 1]))
        .collect();
    assert!(rises.len() > 1, "the values do not repeat");
    (rises[rises.len() - 1] - rises[0]) / (rises.len() - 1) as f64
}

/// Returns the delays of a sine of 1 kHz in milliseconds, at the centres of windows of 10 ms. The
/// first delay is ambiguous by whole periods.
pub(crate) fn delays_ms(values: &[f32]) -> Vec<f64> {
    let mut last = 0.0;
    let frames = RATE_HZ as usize / 100;
    values
        .chunks_exact(frames)
        .map(|window| {
            // A window has a whole number of periods, so each window starts at phase 0 of the sine.
            let (_, phase) = tone(window, 1_000.0);
            let periods = -(phase / TAU + 0.25);
            last = periods + (last - periods).round();
            last
        })
        .collect()
}

/// Returns a sine in both channels.
pub(crate) fn sine(frequency_hz: f64, peak: f64, frames: usize) -> Stereo {
    sine_at(RATE_HZ, frequency_hz, peak, frames)
}

/// Returns the sine of [`sine`] at another sample rate.
pub(crate) fn sine_at(sample_rate_hz: u32, frequency_hz: f64, peak: f64, frames: usize) -> Stereo {
    let values: Vec<f32> = (0..frames)
        .map(|frame| (peak * (TAU * frequency_hz * frame as f64 / f64::from(sample_rate_hz)).sin()) as f32)
        .collect();
    [values.clone(), values]
}

/// Returns a unit impulse in both channels.
pub(crate) fn impulse(frames: usize) -> Stereo {
    let mut values = vec![0.0; frames];
    values[0] = 1.0;
    [values.clone(), values]
}

/// Returns white noise between `-peak` and `peak`. It differs between the channels and is the same
/// in each call.
pub(crate) fn noise(peak: f32, frames: usize) -> Stereo {
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    let mut audio = [Vec::with_capacity(frames), Vec::with_capacity(frames)];
    for _ in 0..frames {
        audio.iter_mut().for_each(|side| side.push(next() * peak));
    }
    audio
}

/// Measures the amplitude and the phase in radians of a frequency, with a Hann window.
pub(crate) fn tone(values: &[f32], frequency_hz: f64) -> (f64, f64) {
    tone_at(RATE_HZ, values, frequency_hz)
}

/// Like [`tone`], at another sample rate.
pub(crate) fn tone_at(sample_rate_hz: u32, values: &[f32], frequency_hz: f64) -> (f64, f64) {
    let (mut re, mut im, mut sum) = (0.0, 0.0, 0.0);
    for (frame, value) in values.iter().enumerate() {
        let window = 0.5 - 0.5 * (TAU * (frame as f64 + 0.5) / values.len() as f64).cos();
        let angle = TAU * frequency_hz * frame as f64 / f64::from(sample_rate_hz);
        re += window * f64::from(*value) * angle.cos();
        im -= window * f64::from(*value) * angle.sin();
        sum += window;
    }
    (2.0 * re.hypot(im) / sum, im.atan2(re))
}

/// Returns the magnitude of a linear effect at a frequency in decibels, from its impulse response.
pub(crate) fn response_db(impulse_response: &[f32], frequency_hz: f64) -> f64 {
    response_at_db(RATE_HZ, impulse_response, frequency_hz)
}

/// Like [`response_db`], at another sample rate.
pub(crate) fn response_at_db(sample_rate_hz: u32, impulse_response: &[f32], frequency_hz: f64) -> f64 {
    let (mut re, mut im) = (0.0, 0.0);
    for (frame, value) in impulse_response.iter().enumerate() {
        let angle = TAU * frequency_hz * frame as f64 / f64::from(sample_rate_hz);
        re += f64::from(*value) * angle.cos();
        im -= f64::from(*value) * angle.sin();
    }
    db(re.hypot(im))
}

/// Returns the ratio of a frequency to a corner frequency, both warped by the bilinear transform.
pub(crate) fn warped_ratio(sample_rate_hz: u32, frequency_hz: f64, corner_hz: f64) -> f64 {
    let tangent = |hz: f64| (PI * hz / f64::from(sample_rate_hz)).tan();
    tangent(frequency_hz) / tangent(corner_hz)
}

/// Converts an amplitude to decibels.
pub(crate) fn db(amplitude: f64) -> f64 {
    20.0 * amplitude.abs().max(1e-30).log10()
}

/// Converts a level in decibels to an amplitude.
pub(crate) fn amplitude(level_db: f64) -> f64 {
    10.0_f64.powf(level_db / 20.0)
}

/// Returns the largest magnitude of some samples.
pub(crate) fn peak(values: &[f32]) -> f64 {
    values.iter().fold(0.0, |peak, value| peak.max(f64::from(value.abs())))
}

/// Returns the root mean square of some samples.
pub(crate) fn rms(values: &[f32]) -> f64 {
    let squares: f64 = values.iter().map(|value| f64::from(*value).powi(2)).sum();
    (squares / values.len() as f64).sqrt()
}

/// Prints a measured value and asserts that it differs from the expected value by at most
/// `tolerance`.
#[track_caller]
pub(crate) fn check(label: &str, measured_value: f64, expected: f64, tolerance: f64) {
    println!("{label}: {measured_value:.4}, expected {expected:.4} +- {tolerance}");
    assert!(
        (measured_value - expected).abs() <= tolerance,
        "{label}: {measured_value}, expected {expected} +- {tolerance}"
    );
}

/// Asserts that resetting an effect to a frame gives the same output as processing silence from the
/// session's start to this frame.
#[track_caller]
pub(crate) fn check_start_position(kind: &str, parameters: &[(&str, f64)]) {
    let bpm = 133.0;
    let input = noise(0.5, 9_600);
    for frame in [32_000, 100_001, 480_077] {
        let mut played_chain = chain_of(kind, parameters);
        played_chain.set_time(MusicalTime { bpm, beat: 0.0 });
        process(&mut played_chain, &[vec![0.0; frame], vec![0.0; frame]]);
        let mut started = chain_of(kind, parameters);
        started.reset(frame as u64);
        started.set_time(MusicalTime { bpm, beat: frame as f64 * bpm / 60.0 / f64::from(RATE_HZ) });
        let (played_chain, started) = (process(&mut played_chain, &input), process(&mut started, &input));
        let max_error = played_chain
            .iter()
            .flatten()
            .zip(started.iter().flatten())
            .fold(0.0, |max_error: f64, (a, b)| max_error.max(f64::from((a - b).abs())));
        check(&format!("difference after a start at frame {frame}"), max_error, 0.0, 1e-6);
    }
}

/// Returns the largest difference between two consecutive values.
pub(crate) fn largest_step(values: &[f32]) -> f64 {
    values.windows(2).fold(0.0, |largest, pair| largest.max(f64::from((pair[1] - pair[0]).abs())))
}
