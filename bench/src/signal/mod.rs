//! What happens to a finished mix, beside the C libraries that others use for it: each converts or
//! measures the same buffers in this process, in pieces of the same size, in one thread, in turn.

mod libebur128;
mod soxr;

use std::hint::black_box;

use dsp_core::loudness::{ChannelLayout, Loudness, LoudnessMeter};
use dsp_core::resample::ResamplerProcessor;

use crate::process::own_cpu_secs;
use crate::report::{Goal, figure};
use crate::stats::median;

/// Compares resampling and loudness to libsoxr and libebur128.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How often each is run; medians are printed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: u32,
}

/// Length of the signal.
const SECS: u32 = 60;
/// Frames of each call.
const PIECE: usize = 4_096;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    report(args.runs)
}

/// Prints all figures.
pub(crate) fn report(runs: u32) -> anyhow::Result<()> {
    println!();
    println!(
        "{SECS} s of stereo in pieces of {PIECE} frames, set-up included, {}.",
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

/// Noise under a slow swell, each channel its own.
fn signal(rate_hz: u32) -> [Vec<f32>; 2] {
    [1_u32, 2].map(|seed| {
        let mut state = seed;
        (0..SECS * rate_hz)
            .map(|frame| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / 8_388_608.0 - 1.0;
                let swell = (frame % rate_hz) as f32 / rate_hz as f32;
                0.5 * swell * noise
            })
            .collect()
    })
}

/// Seconds of processor time that something takes.
fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(f64, T)> {
    let start = own_cpu_secs()?;
    let result = black_box(work()?);
    Ok((own_cpu_secs()? - start, result))
}

fn medians(values: [Vec<f64>; 2]) -> [f64; 2] {
    values.map(|values| median(values).unwrap_or(f64::NAN))
}

/// Converts a stereo signal, as `libsoxr` does it.
fn ours(
    [input_hz, output_hz]: [u32; 2],
    [left, right]: [&[f32]; 2],
    [left_out, right_out]: [&mut [f32]; 2],
) -> anyhow::Result<usize> {
    let mut resampler = ResamplerProcessor::new(input_hz, output_hz, 2)?;
    let mut written = 0;
    for (left, right) in left.chunks(PIECE).zip(right.chunks(PIECE)) {
        let mut output = [&mut left_out[written..], &mut right_out[written..]];
        written += resampler.process(&[left, right], &mut output).written;
    }
    written += resampler.finish(&mut [&mut left_out[written..], &mut right_out[written..]]);
    Ok(written)
}

fn resampling(rates_hz: [u32; 2], runs: u32) -> anyhow::Result<()> {
    let [input_hz, output_hz] = rates_hz;
    let library = soxr::Soxr::open()?;
    let input = signal(input_hz);
    let input = [&input[0][..], &input[1][..]];
    let room = (SECS * output_hz + 1) as usize;
    let (mut our_secs, mut their_secs) = (Vec::new(), Vec::new());
    let mut outputs = [const { Vec::new() }; 4];
    for output in &mut outputs {
        output.resize(room, 0.0_f32);
    }
    let [our_left, our_right, their_left, their_right] = &mut outputs;
    for _ in 0..runs {
        let (secs, frames) = timed(|| ours(rates_hz, input, [our_left, our_right]))?;
        anyhow::ensure!(frames == room - 1, "{frames} frames");
        our_secs.push(secs);
        let (secs, frames) = timed(|| library.resample(rates_hz, input, PIECE, [their_left, their_right]))?;
        anyhow::ensure!(frames.abs_diff(room - 1) <= 1, "{frames} frames");
        their_secs.push(secs);
    }
    let [our_secs, their_secs] = medians([our_secs, their_secs]);
    let name = format!("{input_hz} to {output_hz} Hz");
    figure(&format!("{name}: times real time"), f64::from(SECS) / our_secs, "x", None);
    figure(&format!("{name}: to libsoxr VHQ"), their_secs / our_secs, "x", Some(Goal::AtLeast(1.0)));
    let difference: f64 =
        our_left.iter().zip(their_left.iter()).map(|(a, b)| f64::from(a - b) * f64::from(a - b)).sum();
    let power: f64 = our_left.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    // The noise reaches to the Nyquist frequency, where filters roll off differently.
    figure(&format!("{name}: difference from libsoxr"), 10.0 * (difference / power).log10(), "dB", None);
    Ok(())
}

/// Measures all that [`LoudnessMeter`] does: more than is asked of libebur128.
fn our_loudness(rate_hz: u32, [left, right]: [&[f32]; 2]) -> anyhow::Result<Loudness> {
    let mut meter = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo)?;
    for (left, right) in left.chunks(PIECE).zip(right.chunks(PIECE)) {
        meter.add(&[left, right]);
    }
    Ok(meter.loudness())
}

fn loudness(rate_hz: u32, runs: u32) -> anyhow::Result<()> {
    let library = libebur128::LibEbur128::open()?;
    let input = signal(rate_hz);
    let channels = [&input[0][..], &input[1][..]];
    // The library takes frames, ours channels: each gets what it likes, made beforehand.
    let frames: Vec<[f32; 2]> = input[0].iter().zip(&input[1]).map(|(left, right)| [*left, *right]).collect();
    let (mut our_secs, mut their_secs) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (secs, ours) = timed(|| our_loudness(rate_hz, channels))?;
        our_secs.push(secs);
        let (secs, theirs) = timed(|| library.measure(rate_hz, &frames, PIECE))?;
        their_secs.push(secs);
        anyhow::ensure!(
            (ours.integrated_lufs - theirs.integrated_lufs).abs() < 0.01
                && (ours.range_lu - theirs.range_lu).abs() < 0.1
                // Its short filter leaves out much of a noise's treble.
                && ours.true_peak_dbtp > 20.0 * theirs.true_peak.log10() - 0.1,
            "{ours:?} but {theirs:?}"
        );
    }
    let [our_secs, their_secs] = medians([our_secs, their_secs]);
    let name = format!("loudness and true peak at {rate_hz} Hz");
    figure(&format!("{name}: times real time"), f64::from(SECS) / our_secs, "x", None);
    figure(&format!("{name}: to libebur128"), their_secs / our_secs, "x", Some(Goal::AtLeast(1.0)));
    Ok(())
}
