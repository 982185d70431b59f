//! Reads the decoded copy of a stored or decoded file as stereo.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use tokio::runtime::Handle;

use super::decode::{Job, Limits, Refusal, Report};
use super::decoder::{Decoder, Failure};
use super::float_wav::FloatWavReader;
use super::measure::{AudioAnalysis, measure};
use super::store::find;
use super::{ContentKeys, download};
use crate::error::ApiResult;
use crate::helper_processes::Helpers;
use crate::rendering::convert::{FrameSource, SourceShape};
use crate::state::AppState;

/// Number of frames per read.
const READ_FRAMES: u64 = 4_096;

/// Limits of files that the command line decodes.
const COMMAND_LIMITS: Limits =
    Limits { max_secs: 24 * 60 * 60, max_channels: 32, max_output_bytes: 1 << 37, wall_secs: 30 * 60 };

/// The decoded copy of a file.
#[derive(Debug)]
pub(crate) struct StoredSamples {
    reader: FloatWavReader<BufReader<File>>,
    report: Report,
    interleaved_samples: Vec<f32>,
}

impl StoredSamples {
    fn new(samples: File, report: Report) -> io::Result<Self> {
        let reader = FloatWavReader::new(BufReader::new(samples), report.channels, 0, report.frames)?;
        Ok(Self { reader, report, interleaved_samples: Vec::new() })
    }

    /// Returns the length and the sample rate.
    pub(crate) fn shape(&self) -> SourceShape {
        SourceShape { sample_rate_hz: self.report.sample_rate_hz, frames: self.report.frames }
    }

    /// Returns faults of the file, as sentences.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.report.warnings
    }
}

impl FrameSource for StoredSamples {
    fn read(&mut self, left: &mut Vec<f32>, right: &mut Vec<f32>) -> io::Result<()> {
        self.reader.read(READ_FRAMES, &mut self.interleaved_samples)?;
        let channels = self.report.channels.max(1) as usize;
        left.clear();
        left.extend(self.interleaved_samples.iter().step_by(channels));
        right.clear();
        right.extend(self.interleaved_samples.iter().skip(channels - 1).step_by(channels));
        Ok(())
    }
}

/// A file of a user that is opened for reading.
pub(crate) struct OpenedFile {
    pub(crate) name: String,
    pub(crate) sha256: String,
    pub(crate) samples: StoredSamples,
}

/// Opens the decoded copy of a user's file. Blocks.
///
/// # Errors
/// 404 if the user has no such file.
pub(crate) fn open_samples(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    id: &str,
) -> ApiResult<OpenedFile> {
    let stored_file = runtime.block_on(find(state, owner_id, id))?;
    let content_keys = ContentKeys::new(&stored_file.content.sha256)?;
    let samples = runtime.block_on(download::open(state, content_keys.samples, id))?;
    let samples = StoredSamples::new(samples, stored_file.content.report.clone())?;
    Ok(OpenedFile { name: stored_file.file.name, sha256: stored_file.content.sha256, samples })
}

/// Checks that a user has a file.
///
/// # Errors
/// 404 if the user has no such file.
pub(crate) async fn require(state: &AppState, owner_id: &str, id: &str) -> ApiResult<()> {
    find(state, owner_id, id).await?;
    Ok(())
}

/// Decodes a file for the command line, to a temporary file in `folder`. `observer` receives the
/// progress, 0 to 1, and returns whether to continue.
///
/// # Errors
/// If the file is not supported, damaged or too long, or cannot be read.
pub(crate) fn decode_file(
    path: &Path,
    folder: &Path,
    observer: &mut dyn FnMut(f64) -> bool,
) -> anyhow::Result<StoredSamples> {
    let (samples, report) = decode(path, folder, observer)?;
    Ok(StoredSamples::new(samples, report)?)
}

/// Measures a file for the command line. During the measurement, its decoded copy is in the
/// system's folder for temporary files.
///
/// # Errors
/// Those of [`decode_file`].
pub(crate) fn analyze_file(
    path: &Path,
    observer: &mut dyn FnMut(f64) -> bool,
) -> anyhow::Result<AudioAnalysis> {
    let (samples, report) = decode(path, &std::env::temp_dir(), observer)?;
    Ok(measure(BufReader::new(samples), &report, observer)?)
}

fn decode(
    path: &Path,
    folder: &Path,
    observer: &mut dyn FnMut(f64) -> bool,
) -> anyhow::Result<(File, Report)> {
    let folder = tempfile::tempdir_in(std::path::absolute(folder)?)?;
    let output = |name: &str| -> io::Result<PathBuf> {
        File::create_new(folder.path().join(name))?;
        Ok(name.into())
    };
    // The decoder process runs in the folder of its outputs.
    let input = std::path::absolute(path)?;
    File::open(&input)?;
    let job = Job { input, samples: output("samples")?, peaks: output("peaks")?, limits: COMMAND_LIMITS };
    let decoder = Decoder::of_this_program(Helpers::default())?;
    let report = decoder.run(folder.path(), &job, observer).map_err(|failure| match failure {
        Failure::Refused(refusal) => anyhow::anyhow!(describe_refusal(refusal)),
        Failure::Cancelled => anyhow::anyhow!("interrupted"),
        Failure::Io(error) => error.into(),
    })?;
    // The opened file stays readable after its folder is deleted.
    Ok((File::open(folder.path().join("samples"))?, report))
}

/// Returns a refusal as a clause about the file, without a full stop.
fn describe_refusal(refusal: Refusal) -> String {
    match refusal {
        Refusal::Unsupported(reason) | Refusal::Malformed(reason) | Refusal::Limit(reason) => {
            format!("it {reason}")
        }
        Refusal::TooSlow(limit_secs) => format!("decoding it was stopped after {limit_secs} seconds"),
        Refusal::NoRoom => "the folder for temporary files is full".to_owned(),
        Refusal::Io(text) => text,
    }
}
