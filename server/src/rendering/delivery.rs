//! The last steps of a render: from the engine's sample rate to the file's, into the file, and measured
//! on the way.

use std::io::{Seek, Write};

use dsp_core::dither::NoiseShaping;
use dsp_core::resample::ResamplerProcessor;
use dsp_core::wav::WavWriter;

use super::measure::{Measure, Measured};
use super::mix::MixOptions;
use super::{CHANNELS, RenderError, check_length};

/// Frames that are converted at a time.
const CONVERTED_FRAMES: usize = 4_096;

/// Writes what the engine renders into a WAV file.
pub(super) struct Delivery<W: Write + Seek> {
    /// None where the file has the engine's rate: then its samples are the engine's.
    converter: Option<Converter>,
    file: MeasuredFile<W>,
}

struct Converter {
    resampler: ResamplerProcessor<f32>,
    output: [Vec<f32>; CHANNELS as usize],
}

struct MeasuredFile<W: Write + Seek> {
    wav: WavWriter<W>,
    measure: Measure,
}

impl<W: Write + Seek> MeasuredFile<W> {
    fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        self.measure.add(self.wav.write(left, right)?);
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
    ) -> Result<Self, RenderError> {
        let rate_hz = options.sample_rate_hz;
        let converter = match rate_hz == engine_rate_hz {
            true => None,
            false => Some(Converter {
                resampler: ResamplerProcessor::new(engine_rate_hz, rate_hz, CHANNELS as usize)?,
                output: [vec![0.0; CONVERTED_FRAMES], vec![0.0; CONVERTED_FRAMES]],
            }),
        };
        let frames =
            converter.as_ref().map_or(song_frames, |own| own.resampler.filter().output_frames(song_frames));
        check_length(frames, rate_hz, options.format)?;
        let wav = WavWriter::new(destination, rate_hz, options.format, NoiseShaping::Off, seed)?;
        let measure = Measure::new(rate_hz, options.format)?;
        Ok(Self { converter, file: MeasuredFile { wav, measure } })
    }

    /// Writes the engine's next frames.
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        let Some(Converter { resampler, output: [out_left, out_right] }) = &mut self.converter else {
            return self.file.write(left, right);
        };
        let mut taken = 0;
        while taken < left.len() {
            let rest = [&left[taken..], &right[taken..]];
            let progress = resampler.process(&rest, &mut [&mut out_left[..], &mut out_right[..]]);
            taken += progress.read;
            self.file.write(&out_left[..progress.written], &out_right[..progress.written])?;
        }
        Ok(())
    }

    /// Completes the file. Returns what was measured, and how many samples lay beyond full scale.
    pub(super) fn finish(mut self) -> Result<(Measured, u64), RenderError> {
        if let Some(Converter { resampler, output: [left, right] }) = &mut self.converter {
            loop {
                let frames = resampler.finish(&mut [&mut left[..], &mut right[..]]);
                if frames == 0 {
                    break;
                }
                self.file.write(&left[..frames], &right[..frames])?;
            }
        }
        let MeasuredFile { wav, measure } = self.file;
        let clipped_samples = wav.clipped_samples();
        wav.finish()?;
        Ok((measure.finish(), clipped_samples))
    }
}
