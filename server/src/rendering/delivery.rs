//! The last steps of a render: converts the sample rate, writes the file and measures it.

use std::io::{Seek, Write};

use dsp_core::limiter::{LimiterConfig, LimiterProcessor};
use dsp_core::resample::ResamplerProcessor;

use super::CHANNELS;
use super::encoder::Encoder;
use super::error::RenderError;
use super::measure::{Measure, Measured};
use super::options::MixOptions;

/// Frames per conversion.
const CONVERSION_FRAMES: usize = 4_096;

/// Writes what the engine renders into a file.
pub(super) struct Delivery<W: Write + Seek> {
    /// `None` if the file has the engine's rate: its samples are then the engine's.
    converter: Option<Converter>,
    file: MeasuredFile<W>,
}

/// The kind of sound in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A mix, which the engine has limited. It is limited again after a conversion, which can raise
    /// peaks.
    Mix,
    /// A part of a mix, which is not limited.
    Part,
}

struct Converter {
    resampler: ResamplerProcessor<f32>,
    limiter: Option<OutputLimiter>,
    output: [Vec<f32>; CHANNELS as usize],
}

/// The limiter after the conversion. Its latency is compensated.
struct OutputLimiter {
    limiter: LimiterProcessor,
    /// Latency frames that are still to be dropped.
    early_frames: usize,
}

impl OutputLimiter {
    fn new(sample_rate_hz: u32) -> Self {
        let limiter = LimiterProcessor::new(LimiterConfig::mix(sample_rate_hz));
        Self { early_frames: limiter.latency_frames(), limiter }
    }

    /// Limits frames in place. Returns how many of the first frames to drop.
    fn process(&mut self, left: &mut [f32], right: &mut [f32]) -> usize {
        self.limiter.process(left, right);
        let early_frames = self.early_frames.min(left.len());
        self.early_frames -= early_frames;
        early_frames
    }
}

impl Converter {
    /// Limits the first `frames` frames of the output and returns those to write.
    fn limited(&mut self, frames: usize) -> [&[f32]; 2] {
        let [left, right] = &mut self.output;
        let (left, right) = (&mut left[..frames], &mut right[..frames]);
        let early_frames = self.limiter.as_mut().map_or(0, |limiter| limiter.process(left, right));
        [&left[early_frames..], &right[early_frames..]]
    }

    /// Returns the last frames, which the limiter still holds.
    fn flush(&mut self) -> [&[f32]; 2] {
        let frames = self.limiter.as_ref().map_or(0, |output| output.limiter.latency_frames());
        self.output.iter_mut().for_each(|values| values[..frames].fill(0.0));
        self.limited(frames)
    }
}

struct MeasuredFile<W: Write + Seek> {
    encoder: Encoder<W>,
    measure: Measure,
}

impl<W: Write + Seek> MeasuredFile<W> {
    fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        self.measure.add(self.encoder.write(left, right)?);
        Ok(())
    }
}

impl<W: Write + Seek> Delivery<W> {
    /// Starts a file of `song_frames` frames at the engine's rate without its tail.
    pub(super) fn new(
        destination: W,
        engine_rate_hz: u32,
        song_frames: u64,
        options: &MixOptions,
        seed: u64,
        content: Content,
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
        let frames = converter
            .as_ref()
            .map_or(song_frames, |converter| converter.resampler.filter().output_frames(song_frames));
        let encoder = Encoder::new(destination, frames, options, seed)?;
        let measure = Measure::new(rate_hz, options.sample_format())?;
        Ok(Self { converter, file: MeasuredFile { encoder, measure } })
    }

    /// Writes further frames of the engine.
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        let Some(converter) = &mut self.converter else {
            return self.file.write(left, right);
        };
        let mut consumed = 0;
        while consumed < left.len() {
            let input = [&left[consumed..], &right[consumed..]];
            let [out_left, out_right] = &mut converter.output;
            let progress = converter.resampler.process(&input, &mut [&mut out_left[..], &mut out_right[..]]);
            consumed += progress.read;
            let [left, right] = converter.limited(progress.written);
            self.file.write(left, right)?;
        }
        Ok(())
    }

    /// Completes the file. Returns its measurements and the number of samples beyond full scale.
    pub(super) fn finish(mut self) -> Result<(Measured, u64), RenderError> {
        if let Some(converter) = &mut self.converter {
            loop {
                let [left, right] = &mut converter.output;
                let frames = converter.resampler.finish(&mut [&mut left[..], &mut right[..]]);
                if frames == 0 {
                    break;
                }
                let [left, right] = converter.limited(frames);
                self.file.write(left, right)?;
            }
            let [left, right] = converter.flush();
            self.file.write(left, right)?;
        }
        let MeasuredFile { encoder, measure } = self.file;
        let clipped_samples = encoder.finish()?;
        Ok((measure.finish(), clipped_samples))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use dsp_core::gain;
    use dsp_core::limiter::MIX_CEILING_DBFS;

    use super::*;
    use crate::rendering::audio_format::{AudioFormat, BitDepth};

    const ENGINE_RATE_HZ: u32 = 48_000;

    /// Writes a square wave with `peak`. Returns the file, its measurements and the clipped
    /// samples.
    fn deliver(peak: f32, sample_rate_hz: u32, frames: usize, content: Content) -> (Vec<u8>, Measured, u64) {
        let options = MixOptions {
            sample_rate_hz,
            format: AudioFormat::Wav,
            bit_depth: BitDepth::Pcm16,
            tail_secs: 0.0,
        };
        let mut file = Cursor::new(Vec::new());
        let mut delivery =
            Delivery::new(&mut file, ENGINE_RATE_HZ, frames as u64, &options, 1, content).unwrap();
        let square = |frame: usize| if (frame / 5).is_multiple_of(2) { peak } else { -peak };
        let values: Vec<f32> = (0..frames).map(square).collect();
        values.chunks(1_000).for_each(|values| delivery.write(values, values).unwrap());
        let (measured, clipped_samples) = delivery.finish().unwrap();
        (file.into_inner(), measured, clipped_samples)
    }

    #[test]
    fn a_mix_stays_below_its_ceiling_at_another_rate() {
        let ceiling = gain::from_db(MIX_CEILING_DBFS);
        let dither = 1.5 / 32_768.0;
        for rate_hz in [32_000, 44_100, 88_200, 96_000] {
            let [(_, part, _), (_, mix, clipped_samples)] =
                [Content::Part, Content::Mix].map(|content| deliver(ceiling, rate_hz, 48_000, content));
            let (part, mix) = (part.peak, mix.peak);
            println!(
                "at {rate_hz} Hz: a peak of {part:.3} without, {mix:.3} with the ceiling of {ceiling:.3}"
            );
            assert!(part > 1.02 * ceiling, "the conversion raises the peak");
            assert!(mix <= ceiling + dither && clipped_samples == 0);
        }
    }

    #[test]
    fn a_mix_below_the_ceiling_passes_bit_exactly() {
        for frames in [0, 1, 30, 20_000] {
            let [part, mix] =
                [Content::Part, Content::Mix].map(|content| deliver(0.4, 44_100, frames, content).0);
            assert!(part == mix, "{frames} frames");
        }
    }
}
