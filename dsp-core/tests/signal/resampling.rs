//! Tests of the resampler, mostly of conversions between 44.1, 48 and 96 kHz.

use std::sync::Arc;

use dsp_core::resample::{ResampleError, ResamplerFilter, ResamplerProcessor, Sample, resample};

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler as _, WindowFunction as Window};

use crate::spectrum::{amplitudes, db, rms, subtract_sine, tone};

/// All pairs of the sample rates of exports, in hertz.
const PAIRS: [(u32, u32); 6] = [
    (44_100, 48_000),
    (48_000, 44_100),
    (44_100, 96_000),
    (96_000, 44_100),
    (48_000, 96_000),
    (96_000, 48_000),
];

/// Number of output frames of a measurement.
const MEASURED_FRAMES: usize = 1 << 16;

/// A sample type of the resampler.
trait TestedSample: Sample + Into<f64> {
    const NAME: &'static str;
    /// Limit of images and aliases, in decibels relative to the tone that causes them.
    const PRODUCT_LIMIT_DB: f64;
}

impl TestedSample for f64 {
    const NAME: &'static str = "f64";
    const PRODUCT_LIMIT_DB: f64 = -140.0;
}

impl TestedSample for f32 {
    const NAME: &'static str = "f32";
    const PRODUCT_LIMIT_DB: f64 = -130.0;
}

struct Rig<S: TestedSample> {
    input_hz: f64,
    output_hz: f64,
    resampler: ResamplerProcessor<S>,
}

impl<S: TestedSample> Rig<S> {
    fn new((input_hz, output_hz): (u32, u32)) -> Self {
        let resampler = ResamplerProcessor::new(input_hz, output_hz, 1).unwrap();
        Self { input_hz: f64::from(input_hz), output_hz: f64::from(output_hz), resampler }
    }

    fn lower_nyquist_hz(&self) -> f64 {
        self.input_hz.min(self.output_hz) / 2.0
    }

    /// Returns the output for a tone, without its start where the filter still has silence.
    fn steady(&mut self, frequency_hz: f64, amplitude: f64) -> Vec<f64> {
        let settling = self.resampler.filter().lag_frames();
        let frames = (MEASURED_FRAMES as f64 * self.input_hz / self.output_hz) as usize + 2 * settling;
        let input: Vec<S> = tone(frequency_hz / self.input_hz, 0.1, frames)
            .iter()
            .map(|value| S::from_f64(amplitude * value))
            .collect();
        let from = (settling as f64 * self.output_hz / self.input_hz) as usize;
        let mut output = vec![S::ZERO; from + MEASURED_FRAMES];
        self.resampler.reset();
        assert_eq!(
            self.resampler.process(&[&input], &mut [&mut output]).written_frames,
            from + MEASURED_FRAMES
        );
        output[from..].iter().map(|value| (*value).into()).collect()
    }

    /// Returns the gain in decibels at a frequency below the lower Nyquist frequency.
    fn gain_db(&mut self, frequency_hz: f64) -> f64 {
        let mut output = self.steady(frequency_hz, 1.0);
        db(subtract_sine(&mut output, frequency_hz / self.output_hz))
    }

    /// Returns the level in decibels of the loudest spectral line in the output for a tone, other
    /// than that of the tone.
    fn product_db(&mut self, frequency_hz: f64) -> f64 {
        let mut output = self.steady(frequency_hz, 1.0);
        if frequency_hz < self.lower_nyquist_hz() {
            subtract_sine(&mut output, frequency_hz / self.output_hz);
        }
        db(amplitudes(&output).into_iter().fold(1e-20, f64::max))
    }
}

fn pass_band<S: TestedSample>() {
    for pair in PAIRS {
        let mut rig = Rig::<S>::new(pair);
        let (mut lowest, mut highest) = (f64::MAX, f64::MIN);
        for step in 0..=40 {
            let frequency_hz = if step == 0 { 1.0 } else { f64::from(step) * 500.0 };
            let gain_db = rig.gain_db(frequency_hz);
            lowest = lowest.min(gain_db);
            highest = highest.max(gain_db);
        }
        let edge_hz = 0.95 * rig.lower_nyquist_hz();
        let edge_db = rig.gain_db(edge_hz);
        println!(
            "{} {pair:?}: {lowest:.6} to {highest:.6} dB to 20 kHz; {edge_db:.3} dB at {edge_hz} Hz",
            S::NAME
        );
        assert!(highest - lowest <= 0.01 && highest <= 0.01 && lowest >= -0.01);
        assert!(edge_db >= -10.0 * libm::log10(2.0));
    }
}

#[test]
fn the_ripple_to_20_khz_is_at_most_0_01_db_and_95_percent_of_nyquist_lose_at_most_3_db() {
    pass_band::<f64>();
    pass_band::<f32>();
}

/// Returns tones from 1 Hz to the Nyquist frequency of the input. Most are near the Nyquist
/// frequency of the lower rate.
fn tones_hz<S: TestedSample>(rig: &Rig<S>) -> Vec<f64> {
    let edge = rig.lower_nyquist_hz();
    let fixed = [1.0, 20.0, 100.0, 997.0, 3_000.0, 8_000.0, 12_345.0, 15_000.0, 18_000.0, 19_500.0, 20_000.0];
    let around =
        [0.93, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 0.999, 0.999_9, 1.000_1, 1.001, 1.005, 1.01, 1.02, 1.05];
    let above = [1.1, 1.2, 1.35, 1.5, 1.7, 1.9, 1.99, 2.0, 2.1];
    let mut tones: Vec<f64> = fixed.to_vec();
    tones.extend(around.iter().chain(&above).map(|ratio| ratio * edge));
    tones.push(rig.input_hz / 2.0 - 1.0);
    tones.retain(|frequency_hz| *frequency_hz < rig.input_hz / 2.0);
    tones
}

fn products<S: TestedSample>() {
    for pair in PAIRS {
        let mut rig = Rig::<S>::new(pair);
        let tones = tones_hz(&rig);
        let (mut worst_db, mut worst_hz) = (f64::MIN, 0.0);
        for frequency_hz in &tones {
            let product_db = rig.product_db(*frequency_hz);
            if product_db > worst_db {
                (worst_db, worst_hz) = (product_db, *frequency_hz);
            }
        }
        println!(
            "{} {pair:?}: products of {} tones at most {worst_db:.1} dB, of {worst_hz:.1} Hz",
            S::NAME,
            tones.len()
        );
        assert!(worst_db <= S::PRODUCT_LIMIT_DB);
    }
}

#[test]
fn images_and_aliases_are_140_db_down_in_double_precision() {
    products::<f64>();
}

#[test]
fn images_and_aliases_are_130_db_down_in_single_precision() {
    products::<f32>();
}

#[test]
fn other_rates_have_the_same_products() {
    for pair in [
        (22_050, 44_100),
        (11_025, 96_000),
        (192_000, 44_100),
        (192_000, 8_000),
        (88_200, 96_000),
        (44_101, 48_000),
    ] {
        let mut rig = Rig::<f64>::new(pair);
        let (edge, limit) = (rig.lower_nyquist_hz(), rig.input_hz / 2.0);
        let worst_db = [0.01, 0.5, 0.9, 0.99, 1.01, 1.5]
            .map(|ratio| ratio * edge)
            .into_iter()
            .filter(|frequency_hz| *frequency_hz < limit)
            .map(|frequency_hz| rig.product_db(frequency_hz))
            .fold(f64::MIN, f64::max);
        println!("f64 {pair:?}: products at most {worst_db:.1} dB");
        assert!(worst_db <= f64::PRODUCT_LIMIT_DB);
    }
}

fn distortion_db<S: TestedSample>(pair: (u32, u32)) -> f64 {
    let mut rig = Rig::<S>::new(pair);
    let mut output = rig.steady(997.0, libm::exp10(-1.0 / 20.0));
    let amplitude = subtract_sine(&mut output, 997.0 / rig.output_hz);
    db(rms(&output) * core::f64::consts::SQRT_2 / amplitude)
}

#[test]
fn distortion_and_noise_of_997_hz_are_140_db_down() {
    for pair in PAIRS {
        let (double_db, single_db) = (distortion_db::<f64>(pair), distortion_db::<f32>(pair));
        println!("{pair:?}: THD+N of 997 Hz at -1 dBFS {double_db:.1} dB (f64), {single_db:.1} dB (f32)");
        assert!(double_db <= -140.0);
        // Single precision has larger rounding errors in the Fourier transforms.
        assert!(single_db <= -135.0);
    }
}

#[test]
fn the_output_length_is_rounded_and_an_impulse_keeps_its_time() {
    for (input_hz, output_hz) in PAIRS {
        let ratio = f64::from(output_hz) / f64::from(input_hz);
        let (mut furthest_length, mut furthest_peak) = (0.0_f64, 0.0_f64);
        for frames in [0_usize, 1, 2, 100, 147, 4_409, 44_100] {
            // An impulse becomes the filter's impulse response, with its peak at the same time.
            let mut impulse = vec![0.0_f64; frames];
            let middle = frames / 2;
            if let Some(value) = impulse.get_mut(middle) {
                *value = 1.0;
            }
            let output = resample(input_hz, output_hz, &[&impulse]).unwrap().remove(0);
            assert_eq!(output.len(), libm::round(frames as f64 * ratio) as usize, "{frames} frames");
            furthest_length = furthest_length.max((output.len() as f64 - frames as f64 * ratio).abs());
            if frames >= 100 {
                let peak = (0..output.len()).max_by(|&a, &b| output[a].total_cmp(&output[b])).unwrap();
                let distance = (peak as f64 - middle as f64 * ratio).abs();
                assert!(
                    distance <= 0.5,
                    "{input_hz} to {output_hz} Hz: the impulse is {distance} frames from its time"
                );
                furthest_peak = furthest_peak.max(distance);
            }
        }
        println!(
            "{input_hz} to {output_hz} Hz: lengths differ from the exact ones by at most {furthest_length:.3} \
             frames, the time of an impulse by at most {furthest_peak:.3} frames"
        );
        assert!(furthest_length <= 0.5);
    }
}

/// Returns noise of full scale from a linear congruential generator.
fn noise(frames: usize, mut state: u32) -> Vec<f32> {
    (0..frames)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

/// Converts two channels, with at most `input_frames` of input and `output_frames` of output in
/// each call.
fn in_pieces<S: TestedSample>(
    resampler: &mut ResamplerProcessor<S>,
    input: [&[S]; 2],
    input_frames: usize,
    output_frames: usize,
) -> [Vec<S>; 2] {
    let mut output = [vec![], vec![]];
    let (mut left, mut right) = (vec![S::ZERO; output_frames], vec![S::ZERO; output_frames]);
    let mut append = |left: &[S], right: &[S]| {
        output[0].extend_from_slice(left);
        output[1].extend_from_slice(right);
    };
    let mut start = 0;
    while start < input[0].len() {
        let end = (start + input_frames).min(input[0].len());
        let pieces = input.map(|channel| &channel[start..end]);
        let progress =
            assert_no_alloc::assert_no_alloc(|| resampler.process(&pieces, &mut [&mut left, &mut right]));
        assert!(progress.read_frames + progress.written_frames > 0);
        append(&left[..progress.written_frames], &right[..progress.written_frames]);
        start += progress.read_frames;
    }
    loop {
        let written = assert_no_alloc::assert_no_alloc(|| resampler.finish(&mut [&mut left, &mut right]));
        append(&left[..written], &right[..written]);
        if written < output_frames {
            return output;
        }
    }
}

/// Returns the number of samples with identical bits, and the number of all samples.
fn same_bits<S: TestedSample>(pieces: &[Vec<S>; 2], whole_output: &[Vec<S>]) -> (usize, usize) {
    // The conversion from single to double precision is exact.
    let bits = |value: S| Into::<f64>::into(value).to_bits();
    let channels = pieces.iter().zip(whole_output);
    let same = |(pieces, whole_output): (&Vec<S>, &Vec<S>)| {
        pieces.iter().zip(whole_output).filter(|(a, b)| bits(**a) == bits(**b)).count()
    };
    let most = channels.clone().map(|(pieces, whole_output)| pieces.len().max(whole_output.len())).sum();
    (channels.map(same).sum(), most)
}

fn pieces_and_whole<S: TestedSample>() {
    let [left, right] = [1, 2].map(|seed| {
        noise(20_000, seed).into_iter().map(|value| S::from_f64(f64::from(value))).collect::<Vec<S>>()
    });
    for (input_hz, output_hz) in PAIRS.into_iter().chain([(8_000, 192_000), (192_000, 8_000)]) {
        let whole_output = resample(input_hz, output_hz, &[&left, &right]).unwrap();
        let mut resampler = ResamplerProcessor::new(input_hz, output_hz, 2).unwrap();
        let (mut same, mut all_values) = (0, 0);
        for (input_frames, output_frames) in [(1, 64), (7, 5), (256, 256), (9_999, 3), (20_000, 100_000)] {
            let pieces = in_pieces(&mut resampler, [&left, &right], input_frames, output_frames);
            let (same_of_case, all_of_case) = same_bits(&pieces, &whole_output);
            assert_eq!(
                same_of_case, all_of_case,
                "calls of {input_frames} and {output_frames} frames, {input_hz} to {output_hz} Hz"
            );
            (same, all_values) = (same + same_of_case, all_values + all_of_case);
            resampler.reset();
        }
        println!(
            "{} {input_hz} to {output_hz} Hz: {same} of {all_values} samples do not depend on the call size",
            S::NAME
        );
        assert!(all_values > 0);
    }
}

#[test]
fn the_output_does_not_depend_on_the_call_size_and_nothing_allocates() {
    pieces_and_whole::<f64>();
    pieces_and_whole::<f32>();
}

#[test]
fn channels_are_independent() {
    let channels = [noise(5_000, 1), noise(5_000, 2), noise(5_000, 3)];
    let together = resample(44_100, 48_000, &[&channels[0], &channels[1], &channels[2]]).unwrap();
    for (channel, together) in channels.iter().zip(&together) {
        assert!(resample(44_100, 48_000, &[channel]).unwrap()[0] == *together);
    }
}

#[test]
fn a_seek_equals_playing_from_the_start() {
    let signal = noise(30_000, 5);
    for (input_hz, output_hz) in PAIRS {
        let whole_output = resample(input_hz, output_hz, &[&signal]).unwrap().remove(0);
        let filter = Arc::new(ResamplerFilter::new(input_hz, output_hz).unwrap());
        let mut resampler = ResamplerProcessor::with_filter(filter, 1);
        for start in [0, 1, 50, 1_234, 9_999] {
            let from = resampler.seek(start as u64) as usize;
            let mut remaining = vec![0.0; whole_output.len() - start];
            let written = resampler.process(&[&signal[from..]], &mut [&mut remaining]).written_frames;
            resampler.finish(&mut [&mut remaining[written..]]);
            assert!(remaining == whole_output[start..], "from {start} at {input_hz} to {output_hz} Hz");
        }
    }
}

#[test]
fn a_conversion_between_equal_rates_does_not_change_the_signal() {
    let signal = noise(10_000, 6);
    assert!(resample(48_000, 48_000, &[&signal]).unwrap()[0] == signal);
}

#[test]
fn silence_after_a_signal_is_silent_and_the_output_is_finite() {
    let mut signal = noise(20_000, 7);
    signal[100] = f32::NAN;
    signal[200] = f32::INFINITY;
    signal[300] = f32::MAX;
    signal[301] = f32::MIN;
    signal[5_000..].fill(1e-38);
    let output = resample(44_100, 48_000, &[&signal]).unwrap().remove(0);
    assert!(output.iter().all(|value| value.is_finite()));
    // Less than a block after the end of the signal, the output is exactly 0.
    assert!(output[10_000..].iter().all(|value| *value == 0.0));
    assert!(output[..100].iter().any(|value| *value != 0.0));
}

#[test]
fn unsupported_conversions_are_refused_with_the_limit() {
    let refusal = |input_hz, output_hz| ResamplerFilter::<f64>::new(input_hz, output_hz).unwrap_err();
    assert_eq!(refusal(7_999, 48_000), ResampleError::Rate { rate_hz: 7_999 });
    assert_eq!(refusal(48_000, 192_001), ResampleError::Rate { rate_hz: 192_001 });
    let error = refusal(44_101, 191_999);
    assert!(matches!(error, ResampleError::Ratio { phases: 191_999, .. }), "{error}");
    assert!(error.to_string().ends_with("the limit is 32768"), "{error}");
    for usual_hz in [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000]
    {
        for other_hz in [11_025, 44_100, 48_000, 96_000, 192_000] {
            assert!(ResamplerFilter::<f64>::new(usual_hz, other_hz).is_ok(), "{usual_hz} to {other_hz}");
            assert!(ResamplerFilter::<f64>::new(other_hz, usual_hz).is_ok(), "{other_hz} to {usual_hz}");
        }
    }
}

/// Returns a chord of eight tones up to 18 kHz. It fades in and out, so that filters do not ring at
/// its ends.
fn chord(rate_hz: u32) -> Vec<f64> {
    let frames = rate_hz as usize / 2;
    let mut sum = vec![0.0; frames];
    for frequency_hz in [55.0, 220.5, 997.0, 3_001.0, 7_919.0, 12_345.6, 15_999.0, 17_950.0] {
        for (value, add) in sum.iter_mut().zip(tone(frequency_hz / f64::from(rate_hz), 0.3, frames)) {
            *value += 0.1 * add;
        }
    }
    let swell =
        |frame: usize| libm::pow(libm::sin(core::f64::consts::PI * frame as f64 / frames as f64), 4.0);
    sum.iter().enumerate().map(|(frame, value)| value * swell(frame)).collect()
}

/// Converts a signal with the `rubato` crate, which applies Fourier transforms to whole blocks.
fn rubato((input_hz, output_hz): (u32, u32), input: &[f64]) -> Vec<f64> {
    let (input_hz, output_hz) = (input_hz as usize, output_hz as usize);
    // The block is an even multiple of the smallest block. The delay of half a block is then a
    // whole number of frames.
    let smallest = (1..=input_hz).find(|frames| frames * output_hz % input_hz == 0).unwrap();
    let block = smallest * 2 * (1_024_usize).div_ceil(smallest);
    let window = Window::BlackmanHarris2;
    let mut resampler =
        Fft::<f64>::new_custom(input_hz, output_hz, block, 1, 1, window, FixedSync::Both).unwrap();
    let adapter = InterleavedSlice::new(input, 1, input.len()).unwrap();
    resampler.process_all(&adapter, input.len(), None).unwrap().take_data()
}

#[test]
fn the_output_matches_that_of_rubato() {
    for (input_hz, output_hz) in PAIRS {
        let input = chord(input_hz);
        let expected = rubato((input_hz, output_hz), &input);
        let double = resample(input_hz, output_hz, &[&input]).unwrap().remove(0);
        let single_input: Vec<f32> = input.iter().map(|value| *value as f32).collect();
        let single_channel = resample(input_hz, output_hz, &[&single_input]).unwrap().remove(0);
        assert!(expected.len().abs_diff(double.len()) <= 1, "{} and {} frames", expected.len(), double.len());
        let difference_db = |output: &mut dyn Iterator<Item = f64>| {
            let largest_difference = output.zip(&expected).map(|(a, b)| (a - b).abs()).fold(1e-20, f64::max);
            db(largest_difference)
        };
        let double_db = difference_db(&mut double.iter().copied());
        let single_db = difference_db(&mut single_channel.iter().map(|value| f64::from(*value)));
        println!(
            "({input_hz}, {output_hz}): difference of {double_db:.1} dBFS (f64), {single_db:.1} dBFS (f32)"
        );
        // Both resamplers pass frequencies up to 18 kHz. The difference is due to their stop bands
        // and, for f32, to rounding.
        assert!(double_db <= -140.0);
        assert!(single_db <= -130.0);
    }
}
