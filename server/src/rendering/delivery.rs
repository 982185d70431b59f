//! The last steps of a render: converts the sample rate, normalizes the loudness, and writes the
//! file.

use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

use dsp_core::analysis::StereoChecker;
use dsp_core::limiter::{LimiterConfig, LimiterProcessor};
use dsp_core::resample::ResamplerProcessor;

use super::encoder::{Encoder, Encoding, WrittenFile};
use super::error::RenderError;
use super::normalization::{
    ATTEMPTS_MAX, NormalizationReport, StagedMix, Target, limit_with_headroom_db, lowered_limit_db,
};
use super::options::MixOptions;
use super::report::FileReport;
use super::temporary::TemporaryFiles;
use super::{CHANNELS, Observer};
use crate::encoding::measure::Measurements;

/// Maximum number of frames of output per conversion.
const CONVERSION_FRAMES: usize = 4_096;

/// Converts the output of the engine to the file's sample rate, writes it to a file and measures
/// it.
pub(super) struct Delivery<W: Write + Seek> {
    /// `None` if the file has the engine's sample rate. The file then contains the engine's
    /// samples.
    converter: Option<Converter>,
    /// Checks the samples before the conversion.
    checker: Option<StereoChecker>,
    output: Output<W>,
}

/// Receives the samples of a file.
enum Output<W: Write + Seek> {
    /// The samples are written immediately.
    File(Encoder<W>),
    /// The samples wait until their loudness is known.
    Normalized { target: Target, staged_mix: Box<StagedMix>, file: NewFile<W> },
}

/// A file that has not been started.
struct NewFile<W: Write + Seek> {
    destination: W,
    options: MixOptions,
    seed: u64,
    encoding: Option<Arc<Encoding>>,
}

/// Kind of audio in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A mix, which the engine has already limited. A conversion of the sample rate can raise
    /// peaks, so the mix is limited again after it.
    Mix,
    /// A part of a mix. It is not limited.
    Part,
    /// A file of a user. It is not limited.
    File,
}

struct Converter {
    resampler: ResamplerProcessor<f32>,
    limiter: Option<OutputLimiter>,
    output: [Vec<f32>; CHANNELS as usize],
}

/// The limiter after the conversion, with its latency compensated.
struct OutputLimiter {
    limiter: LimiterProcessor,
    /// Number of frames that must still be dropped to compensate the latency.
    frames_to_drop: usize,
}

impl OutputLimiter {
    fn new(sample_rate_hz: u32) -> Self {
        let limiter = LimiterProcessor::new(LimiterConfig::for_mix(sample_rate_hz));
        Self { frames_to_drop: limiter.latency_frames(), limiter }
    }

    /// Limits frames in place. Returns how many frames at the start of the block must be dropped.
    fn process(&mut self, left: &mut [f32], right: &mut [f32]) -> usize {
        self.limiter.process(left, right);
        let frames_to_drop = self.frames_to_drop.min(left.len());
        self.frames_to_drop -= frames_to_drop;
        frames_to_drop
    }
}

impl Converter {
    /// Limits the first `frames` frames of the output. Returns the frames to write.
    fn limit_peaks(&mut self, frames: usize) -> [&[f32]; 2] {
        let [left, right] = &mut self.output;
        let (left, right) = (&mut left[..frames], &mut right[..frames]);
        let frames_to_drop = self.limiter.as_mut().map_or(0, |limiter| limiter.process(left, right));
        [&left[frames_to_drop..], &right[frames_to_drop..]]
    }

    /// Returns the last frames, which are still in the limiter's delay.
    fn flush(&mut self) -> [&[f32]; 2] {
        let frames = self.limiter.as_ref().map_or(0, |output| output.limiter.latency_frames());
        self.output.iter_mut().for_each(|values| values[..frames].fill(0.0));
        self.limit_peaks(frames)
    }
}

impl<W: Write + Seek> Output<W> {
    fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        match self {
            Self::File(file) => file.write(left, right),
            Self::Normalized { staged_mix, .. } => staged_mix.write(left, right),
        }
    }

    fn finish(self, observer: Observer<'_>) -> Result<FileReport, RenderError> {
        match self {
            Self::File(file) => {
                let WrittenFile { measurements, clipped_samples, file_sha256 } =
                    file.finish(|_| true, observer)?;
                Ok(FileReport {
                    measured: measurements,
                    clipped_samples,
                    file_sha256,
                    normalization: None,
                    channels: None,
                })
            }
            Self::Normalized { target, staged_mix, file } => {
                file.write_normalized(target, *staged_mix, observer)
            }
        }
    }
}

impl<W: Write + Seek> NewFile<W> {
    /// Writes the file. Writes it again with a lower limit if its true peak exceeds the target.
    fn write_normalized(
        mut self,
        target: Target,
        staged_mix: StagedMix,
        observer: Observer<'_>,
    ) -> Result<FileReport, RenderError> {
        let mut mix = staged_mix.finish()?;
        let (gain_db, peak_reduction_db) = mix.gain_and_excess_db(target);
        let mut limit_db = limit_with_headroom_db(target.true_peak_db, self.options.quantization_peak());
        let mut attempts = 1;
        loop {
            self.destination.seek(SeekFrom::Start(0))?;
            let mut file =
                Encoder::new(&mut self.destination, &self.options, self.seed, self.encoding.as_deref())?;
            mix.normalized(gain_db, limit_db, |left, right| match observer(1.0) {
                true => file.write(left, right),
                false => Err(RenderError::Cancelled),
            })?;
            let is_last = attempts >= ATTEMPTS_MAX;
            let excess = |measurements: &Measurements| {
                measurements
                    .true_peak_dbtp
                    .filter(|true_peak_db| !is_last && *true_peak_db > target.true_peak_db)
            };
            let WrittenFile { measurements, clipped_samples, file_sha256 } =
                file.finish(|measurements| excess(measurements).is_none(), observer)?;
            if let Some(true_peak_db) = excess(&measurements) {
                limit_db = lowered_limit_db(limit_db, true_peak_db, target.true_peak_db);
                attempts += 1;
                continue;
            }
            let normalization = NormalizationReport {
                target_lufs: target.lufs,
                true_peak_max_db: target.true_peak_db,
                original_lufs: Some(mix.loudness.integrated_lufs).filter(|lufs| lufs.is_finite()),
                gain_db,
                peak_reduction_db,
                attempts,
            };
            return Ok(FileReport {
                measured: measurements,
                clipped_samples,
                file_sha256,
                normalization: Some(normalization),
                channels: None,
            });
        }
    }
}

impl<W: Write + Seek> Delivery<W> {
    /// Starts a file. With a temporary file, the samples are kept there until they can be
    /// normalized. Without one, they are not normalized.
    pub(super) fn new(
        destination: W,
        engine_rate_hz: u32,
        options: &MixOptions,
        seed: u64,
        content: Content,
        TemporaryFiles { staging_file, encoding }: TemporaryFiles,
    ) -> Result<Self, RenderError> {
        let rate_hz = options.sample_rate_hz;
        let converter = match rate_hz == engine_rate_hz {
            true => None,
            false => Some(Converter {
                resampler: ResamplerProcessor::new(engine_rate_hz, rate_hz, CHANNELS as usize)?,
                limiter: (content == Content::Mix).then(|| OutputLimiter::new(rate_hz)),
                output: [vec![0.0; CONVERSION_FRAMES], vec![0.0; CONVERSION_FRAMES]],
            }),
        };
        let output = match options.normalization.zip(staging_file) {
            None => Output::File(Encoder::new(destination, options, seed, encoding.as_deref())?),
            Some((target, staged_mix)) => Output::Normalized {
                target,
                staged_mix: Box::new(StagedMix::new(staged_mix, rate_hz)?),
                file: NewFile { destination, options: options.clone(), seed, encoding },
            },
        };
        let checker = match content {
            Content::Mix | Content::File => options.channel_check.then(|| StereoChecker::new(engine_rate_hz)),
            Content::Part => None,
        };
        Ok(Self { converter, checker, output })
    }

    /// Writes the next frames of the engine.
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        if let Some(checker) = &mut self.checker {
            checker.add(left, right);
        }
        let Some(converter) = &mut self.converter else {
            return self.output.write(left, right);
        };
        let mut consumed_frames = 0;
        while consumed_frames < left.len() {
            let input = [&left[consumed_frames..], &right[consumed_frames..]];
            let [out_left, out_right] = &mut converter.output;
            let progress = converter.resampler.process(&input, &mut [&mut out_left[..], &mut out_right[..]]);
            consumed_frames += progress.read_frames;
            let [left, right] = converter.limit_peaks(progress.written_frames);
            self.output.write(left, right)?;
        }
        Ok(())
    }

    /// Completes the file. `observer` can cancel the normalization.
    pub(super) fn finish(mut self, observer: Observer<'_>) -> Result<FileReport, RenderError> {
        if let Some(converter) = &mut self.converter {
            loop {
                let [left, right] = &mut converter.output;
                let frames = converter.resampler.finish(&mut [&mut left[..], &mut right[..]]);
                if frames == 0 {
                    break;
                }
                let [left, right] = converter.limit_peaks(frames);
                self.output.write(left, right)?;
            }
            let [left, right] = converter.flush();
            self.output.write(left, right)?;
        }
        let report = self.output.finish(observer)?;
        Ok(FileReport { channels: self.checker.map(|checker| checker.finish().into()), ..report })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use dsp_core::gain;
    use dsp_core::limiter::MIX_CEILING_DBFS;

    use super::*;
    use crate::encoding::audio_format::{AudioFormat, BitDepth};
    use crate::rendering::selection::Selection;

    const ENGINE_RATE_HZ: u32 = 48_000;

    /// Delivers a square wave of this peak. Returns the file, its measurements and the number of
    /// clipped samples.
    fn deliver(
        peak: f32,
        sample_rate_hz: u32,
        frames: usize,
        content: Content,
    ) -> (Vec<u8>, Measurements, u64) {
        let options = MixOptions {
            sample_rate_hz,
            format: AudioFormat::Wav,
            bit_depth: BitDepth::Pcm16,
            quality: AudioFormat::Wav.quality_default(),
            tags: None,
            noise_shaping: false,
            normalization: None,
            selection: Selection::default(),
            channel_check: false,
            tail_secs: 0.0,
        };
        let mut file = Cursor::new(Vec::new());
        let mut delivery =
            Delivery::new(&mut file, ENGINE_RATE_HZ, &options, 1, content, TemporaryFiles::default())
                .unwrap();
        let square = |frame: usize| if (frame / 5).is_multiple_of(2) { peak } else { -peak };
        let values: Vec<f32> = (0..frames).map(square).collect();
        values.chunks(1_000).for_each(|values| delivery.write(values, values).unwrap());
        let FileReport { measured, clipped_samples, .. } = delivery.finish(&mut |_| true).unwrap();
        (file.into_inner(), measured, clipped_samples)
    }

    #[test]
    fn a_mix_stays_below_its_ceiling_after_a_rate_conversion() {
        let ceiling = gain::from_db(MIX_CEILING_DBFS);
        let dither = 1.5 / 32_768.0;
        for rate_hz in [32_000, 44_100, 88_200, 96_000] {
            let [(_, part, _), (_, mix, clipped_samples)] =
                [Content::Part, Content::Mix].map(|content| deliver(ceiling, rate_hz, 48_000, content));
            let (part, mix) = (part.peak, mix.peak);
            println!(
                "at {rate_hz} Hz: the peak is {part:.3} without the limiter and {mix:.3} with its ceiling of {ceiling:.3}"
            );
            assert!(part > 1.02 * ceiling, "the conversion does not raise the peak");
            assert!(mix <= ceiling + dither && clipped_samples == 0);
        }
    }

    #[test]
    fn the_limiter_passes_a_mix_below_its_ceiling_bit_exactly() {
        for frames in [0, 1, 30, 20_000] {
            let [part, mix] =
                [Content::Part, Content::Mix].map(|content| deliver(0.4, 44_100, frames, content).0);
            assert!(part == mix, "{frames} frames");
        }
    }
}
