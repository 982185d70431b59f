//! The last steps of a render: from the engine's sample rate to the file's, into the file, and
//! measured on the way.

use std::io::{Seek, Write};

use dsp_core::limiter::{LimiterConfig, LimiterProcessor};
use dsp_core::resample::ResamplerProcessor;

use super::CHANNELS;
use super::encoder::Encoder;
use super::error::RenderError;
use super::measure::{Measure, Measured};
use super::options::MixOptions;

/// Frames that are converted at a time.
const CONVERTED_FRAMES: usize = 4_096;

/// Writes what the engine renders into a file.
pub(super) struct Delivery<W: Write + Seek> {
    /// None where the file has the engine's rate: then its samples are the engine's.
    converter: Option<Converter>,
    file: MeasuredFile<W>,
}

/// The kind of sound in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A mix, which the engine has limited: where conversion raises its peaks, they are held at the
    /// ceiling again.
    Mix,
    /// A part of one, which is not limited.
    Part,
}

struct Converter {
    resampler: ResamplerProcessor<f32>,
    ceiling: Option<Ceiling>,
    output: [Vec<f32>; CHANNELS as usize],
}

/// The limiter of the mix behind the conversion. Its latency is taken out.
struct Ceiling {
    limiter: LimiterProcessor,
    /// Frames to come that are from before the start.
    early_frames: usize,
}

impl Ceiling {
    fn new(sample_rate_hz: u32) -> Self {
        let limiter = LimiterProcessor::new(LimiterConfig::mix(sample_rate_hz));
        Self { early_frames: limiter.latency_frames(), limiter }
    }

    /// Limits frames in place, and says how many of the first ones are to be left out.
    fn process(&mut self, left: &mut [f32], right: &mut [f32]) -> usize {
        self.limiter.process(left, right);
        let early_frames = self.early_frames.min(left.len());
        self.early_frames -= early_frames;
        early_frames
    }
}

impl Converter {
    /// The first converted frames as they are to be written.
    fn finished(&mut self, frames: usize) -> [&[f32]; 2] {
        let [left, right] = &mut self.output;
        let (left, right) = (&mut left[..frames], &mut right[..frames]);
        let early_frames = self.ceiling.as_mut().map_or(0, |ceiling| ceiling.process(left, right));
        [&left[early_frames..], &right[early_frames..]]
    }

    /// The last frames, at most as long as the output.
    fn rest(&mut self) -> [&[f32]; 2] {
        let frames = self.ceiling.as_ref().map_or(0, |ceiling| ceiling.limiter.latency_frames());
        self.output.iter_mut().for_each(|values| values[..frames].fill(0.0));
        self.finished(frames)
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
    /// Starts the file of a render of so many frames at the engine's rate, its tail not counted.
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
                ceiling: (content == Content::Mix).then(|| Ceiling::new(rate_hz)),
                output: [vec![0.0; CONVERTED_FRAMES], vec![0.0; CONVERTED_FRAMES]],
            }),
        };
        let frames =
            converter.as_ref().map_or(song_frames, |own| own.resampler.filter().output_frames(song_frames));
        let encoder = Encoder::new(destination, frames, options, seed)?;
        let measure = Measure::new(rate_hz, options.sample_format())?;
        Ok(Self { converter, file: MeasuredFile { encoder, measure } })
    }

    /// Writes the engine's next frames.
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        let Some(converter) = &mut self.converter else {
            return self.file.write(left, right);
        };
        let mut taken = 0;
        while taken < left.len() {
            let rest = [&left[taken..], &right[taken..]];
            let [out_left, out_right] = &mut converter.output;
            let progress = converter.resampler.process(&rest, &mut [&mut out_left[..], &mut out_right[..]]);
            taken += progress.read;
            let [left, right] = converter.finished(progress.written);
            self.file.write(left, right)?;
        }
        Ok(())
    }

    /// Completes the file. Returns what was measured, and how many samples lay beyond full scale.
    pub(super) fn finish(mut self) -> Result<(Measured, u64), RenderError> {
        if let Some(converter) = &mut self.converter {
            loop {
                let [left, right] = &mut converter.output;
                let frames = converter.resampler.finish(&mut [&mut left[..], &mut right[..]]);
                if frames == 0 {
                    break;
                }
                let [left, right] = converter.finished(frames);
                self.file.write(left, right)?;
            }
            let [left, right] = converter.rest();
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

    /// The file of a square wave of such a peak at a rate, and what was measured on it.
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
            assert!(part > 1.02 * ceiling, "the conversion raises it");
            assert!(mix <= ceiling + dither && clipped_samples == 0);
        }
    }

    #[test]
    fn what_stays_below_the_ceiling_is_as_long_and_the_same_to_the_bit() {
        for frames in [0, 1, 30, 20_000] {
            let [part, mix] =
                [Content::Part, Content::Mix].map(|content| deliver(0.4, 44_100, frames, content).0);
            assert!(part == mix, "{frames} frames");
        }
    }
}
