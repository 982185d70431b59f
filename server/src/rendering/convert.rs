//! Converts an audio file: sample rate, loudness, dither, format and tags.

use std::io::{self, Seek, Write};

use super::Observer;
use super::delivery::{Content, Delivery};
use super::error::RenderError;
use super::options::MixOptions;
use super::report::FileReport;
use super::temporary::TemporaryFiles;
use super::workspace::Workspace;

/// Seed of the dither of converted files.
const DITHER_SEED: u64 = 0;

/// Frames of a file, as stereo.
pub trait FrameSource {
    /// Replaces the content of `left` and `right` with the next frames. At the end, both are empty.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(&mut self, left: &mut Vec<f32>, right: &mut Vec<f32>) -> io::Result<()>;
}

/// Length and sample rate of a file.
#[derive(Debug, Clone, Copy)]
pub struct SourceShape {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Number of frames.
    pub frames: u64,
}

/// Converts a file into `destination`. Without a normalization, a conversion of the sample rate can
/// raise peaks above full scale. Integer samples are then clipped, and the report counts them.
///
/// # Errors
/// [`RenderError`]; the content of the destination is then undefined.
pub fn convert(
    source: &mut dyn FrameSource,
    shape: SourceShape,
    options: &MixOptions,
    workspace: &mut dyn Workspace,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<FileReport, RenderError> {
    let ratio = f64::from(options.sample_rate_hz) / f64::from(shape.sample_rate_hz.max(1));
    let max_frames = (shape.frames as f64 * ratio).ceil() as u64;
    let temporary_files = TemporaryFiles::open(options, max_frames, workspace)?;
    let rate_hz = shape.sample_rate_hz;
    let mut delivery =
        Delivery::new(destination, rate_hz, options, DITHER_SEED, Content::File, temporary_files)?;
    let (mut left, mut right, mut frames) = (Vec::new(), Vec::new(), 0);
    loop {
        source.read(&mut left, &mut right)?;
        if left.is_empty() {
            return delivery.finish(observer);
        }
        delivery.write(&left, &right)?;
        frames += left.len() as u64;
        if !observer(frames as f64 / shape.frames.max(1) as f64) {
            return Err(RenderError::Cancelled);
        }
    }
}
