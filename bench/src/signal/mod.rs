//! Compares the speed of resampling and loudness with the usual C libraries. Our code and the
//! libraries take turns to process the same buffers, in this process, on one thread and in chunks
//! of the same size.

mod libebur128;
mod soxr;

use std::hint::black_box;

use dsp_core::loudness::{ChannelLayout, Loudness, LoudnessMeter};
use dsp_core::resample::ResamplerProcessor;

use crate::process::process_cpu_secs;
use crate::report::{Goal, print_figure};
use crate::stats::median;

/// Compares the speed of resampling and of loudness measurement with libsoxr and libebur128.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of runs of each measurement. The medians are printed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: u32,
}

/// Length of the signal in seconds.
const SIGNAL_SECS: u32 = 60;
/// Frames per call.
const CHUNK_FRAMES: usize = 4_096;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    report(args.runs)
}

/// Prints all figures.
pub(crate) fn report(runs: u32) -> anyhow::Result<()> {
    println!();
    println!(
        "{SIGNAL_SECS} s of stereo in chunks of {CHUNK_FRAMES} frames, set-up included, {}.",
        dsp_core::simd::instructions()
    );
    for rates_hz in [[44_100, 48_000], [96_000, 44_100]] {
        resampling(rates_hz, runs)?;
    }
    for rate_hz in [48_000, 96_000] {
        loudness(rate_hz, runs)?;
    }
    Ok(())
}

/// Returns independent noise in each channel, with a slow swell.
fn signal(rate_hz: u32) -> [Vec<f32>; 2] {
    [1_u32, 2].map(|seed| {
        let mut state = seed;
        (0..SIGNAL_SECS * rate_hz)
            .map(|frame| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / 8_388_608.0 - 1.0;
                let swell = (frame % rate_hz) as f32 / rate_hz as f32;
                0.5 * swell * noise
            })
            .collect()
    })
}

/// Runs `work` and measures its processor time in seconds.
fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(f64, T)> {
    let start = process_cpu_secs()?;
    let result = black_box(work()?);
    Ok((process_cpu_secs()? - start, result))
}

fn medians(values: [Vec<f64>; 2]) -> [f64; 2] {
    values.map(|values| median(values).unwrap_or(f64::NAN))
}

/// Resamples a stereo signal with our resampler.
fn resample(
    [input_hz, output_hz]: [u32; 2],
    [left, right]: [&[f32]; 2],
    [left_out, right_out]: [&mut [f32]; 2],
) -> anyhow::Result<usize> {
    let mut resampler = ResamplerProcessor::new(input_hz, output_hz, 2)?;
    let mut written_values = 0;
    for (left, right) in left.chunks(CHUNK_FRAMES).zip(right.chunks(CHUNK_FRAMES)) {
        let mut output = [&mut left_out[written_values..], &mut right_out[written_values..]];
        written_values += resampler.process(&[left, right], &mut output).written_frames;
    }
    written_values +=
        resampler.finish(&mut [&mut left_out[written_values..], &mut right_out[written_values..]]);
    Ok(written_values)
}

fn resampling(rates_hz: [u32; 2], runs: u32) -> anyhow::Result<()> {
    let [input_hz, output_hz] = rates_hz;
    let library = soxr::Soxr::open()?;
    let input = signal(input_hz);
    let input = [&input[0][..], &input[1][..]];
    let capacity_frames = (SIGNAL_SECS * output_hz + 1) as usize;
    let (mut our_secs, mut their_secs) = (Vec::new(), Vec::new());
    let mut outputs = [const { Vec::new() }; 4];
    for output in &mut outputs {
        output.resize(capacity_frames, 0.0_f32);
    }
    let [our_left, our_right, their_left, their_right] = &mut outputs;
    for _ in 0..runs {
        let (secs, frames) = timed(|| resample(rates_hz, input, [our_left, our_right]))?;
        anyhow::ensure!(
            frames == capacity_frames - 1,
            "our resampler wrote {frames} frames, not {}",
            capacity_frames - 1
        );
        our_secs.push(secs);
        let (secs, frames) =
            timed(|| library.resample(rates_hz, input, CHUNK_FRAMES, [their_left, their_right]))?;
        anyhow::ensure!(
            frames.abs_diff(capacity_frames - 1) <= 1,
            "libsoxr wrote {frames} frames, not {}",
            capacity_frames - 1
        );
        their_secs.push(secs);
    }
    let [our_secs, their_secs] = medians([our_secs, their_secs]);
    let name = format!("{input_hz} to {output_hz} Hz");
    print_figure(&format!("{name}: times real time"), f64::from(SIGNAL_SECS) / our_secs, "x", None);
    print_figure(&format!("{name}: to libsoxr VHQ"), their_secs / our_secs, "x", Some(Goal::AtLeast(1.0)));
    let difference: f64 =
        our_left.iter().zip(their_left.iter()).map(|(a, b)| f64::from(a - b) * f64::from(a - b)).sum();
    let power: f64 = our_left.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    // Near the Nyquist frequency, the filters attenuate the noise differently.
    print_figure(
        &format!("{name}: difference from libsoxr"),
        10.0 * (difference / power).log10(),
        "dB",
        None,
    );
    Ok(())
}

/// Measures everything that [`LoudnessMeter`] offers. This is more than libebur128 measures here.
fn our_loudness(rate_hz: u32, [left, right]: [&[f32]; 2]) -> anyhow::Result<Loudness> {
    let mut meter = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo)?;
    for (left, right) in left.chunks(CHUNK_FRAMES).zip(right.chunks(CHUNK_FRAMES)) {
        meter.add(&[left, right]);
    }
    Ok(meter.loudness())
}

fn loudness(rate_hz: u32, runs: u32) -> anyhow::Result<()> {
    let library = libebur128::LibEbur128::open()?;
    let input = signal(rate_hz);
    let channels = [&input[0][..], &input[1][..]];
    // libebur128 reads interleaved frames, our meter separate channels. Making them is not timed.
    let frames: Vec<[f32; 2]> = input[0].iter().zip(&input[1]).map(|(left, right)| [*left, *right]).collect();
    let (mut our_secs, mut their_secs) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (secs, our_result) = timed(|| our_loudness(rate_hz, channels))?;
        our_secs.push(secs);
        let (secs, their_loudness) = timed(|| library.measure(rate_hz, &frames, CHUNK_FRAMES))?;
        their_secs.push(secs);
        anyhow::ensure!(
            (our_result.integrated_lufs - their_loudness.integrated_lufs).abs() < 0.01
                && (our_result.range_lu - their_loudness.range_lu).abs() < 0.1
                // libebur128's short oversampling filter attenuates treble, so its true peaks are
                // lower.
                && our_result.true_peak_dbtp > 20.0 * their_loudness.true_peak.log10() - 0.1,
            "the measurements differ: {our_result:?}, libebur128 {their_loudness:?}"
        );
    }
    let [our_secs, their_secs] = medians([our_secs, their_secs]);
    let name = format!("loudness and true peak at {rate_hz} Hz");
    print_figure(&format!("{name}: times real time"), f64::from(SIGNAL_SECS) / our_secs, "x", None);
    print_figure(&format!("{name}: to libebur128"), their_secs / our_secs, "x", Some(Goal::AtLeast(1.0)));
    Ok(())
}
