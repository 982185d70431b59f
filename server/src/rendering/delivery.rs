//! The last steps of a render: converts the sample rate, writes the file and measures it.

use std::io::{Seek, Write};

use dsp_core::limiter::{LimiterConfig, LimiterProcessor};
use dsp_core::resample::ResamplerProcessor;

use super::CHANNELS;
use super::encoder::Encoder;
use super::error::RenderError;
use super::measure::{Measure, Measured};
use super::options::MixOptions;

/// Maximum number of frames of output per conversion.
const CONVERSION_FRAMES: usize = 4_096;

/// Converts what the engine renders to the file's sample rate, writes it into a file and measures
/// it.
pub(super) struct Delivery<W: Write + Seek> {
    /// `None` if the file has the engine's sample rate. The file then contains the engine's
    /// samples.
    converter: Option<Converter>,
    file: MeasuredFile<W>,
}

/// Kind of audio in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A mix, which the engine has already limited. A conversion of the sample rate can raise
    /// peaks, so the mix is limited again after it.
    Mix,
    /// A part of a mix. It is not limited.
    Part,
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
        let limiter = LimiterProcessor::new(LimiterConfig::mix(sample_rate_hz));
        Self { frames_to_drop: limiter.latency_frames(), limiter }
    }

    /// Limits frames in place. Returns how many of them, from the first on, must be dropped.
    fn process(&mut self, left: &mut [f32], right: &mut [f32]) -> usize {
        self.limiter.process(left, right);
        let frames_to_drop = self.frames_to_drop.min(left.len());
        self.frames_to_drop -= frames_to_drop;
        frames_to_drop
    }
}

impl Converter {
    /// Limits the first `frames` frames of the output. Returns the frames to write.
    fn limited(&mut self, frames: usize) -> [&[f32]; 2] {
        let [left, right] = &mut self.output;
        let (left, right) = (&mut left[..frames], &mut right[..frames]);
        let frames_to_drop = self.limiter.as_mut().map_or(0, |limiter| limiter.process(left, right));
        [&left[frames_to_drop..], &right[frames_to_drop..]]
    }

    /// Returns the last frames, which are still in the limiter's delay.
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
    /// Starts a file. The song has `song_frames` frames at the engine's rate, without the tail.
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

    /// Writes the next frames of the engine.
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

    /// Completes the file. Returns its measurements and the number of clipped samples.
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

    /// Delivers a square wave of this peak. Returns the file, its measurements and the number of
    /// clipped samples.
    fn deliver(peak: f32, sample_rate_hz: u32, frames: usize, content: Content) -> (Vec<u8>, Measured, u64) {
        let options = MixOptions {
            sample_rate_hz,
            format: AudioFormat::Wav,
            bit_depth: BitDepth::Pcm16,
            noise_shaping: false,
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
