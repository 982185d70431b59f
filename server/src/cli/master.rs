//! The command `songfoundry master`, which converts an audio file: loudness, sample rate, dither,
//! format and tags.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;

use super::file_args::FileArgs;
use super::levels::level;
use super::output::Output;
use super::progress::{Progress, interruption};
use crate::audio::decode_file;
use crate::encoding::audio_format::BitDepth;
use crate::rendering::convert::convert;
use crate::rendering::normalization::NormalizationReport;
use crate::rendering::workspace::Workspace;

/// Convert an audio file: loudness, sample rate, dither, format and tags.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry master mix.wav --lufs -14 -o master.wav
  songfoundry master mix.wav --lufs -16 --title Episode --artist Ada -o episode.mp3
  songfoundry master mix.flac --sample-rate 44100 --bit-depth pcm16 --noise-shaping -o cd.wav

Inputs are WAV, AIFF, FLAC, MP3, Ogg Vorbis and M4A files; the output is stereo. Progress goes to
standard error, the measurements of the output to standard output.

Exit status: 0 if the file was written, 1 if it was not, 2 if the command line is not valid.")]
pub(super) struct Args {
    /// The file to convert.
    input: PathBuf,
    #[command(flatten)]
    file: FileArgs,
    /// Print the measurements as JSON.
    #[arg(long)]
    json: bool,
}

/// Measurements of the output.
#[derive(Debug, Serialize)]
struct Summary {
    output: PathBuf,
    duration_secs: f64,
    sample_rate_hz: u32,
    bit_depth: Option<BitDepth>,
    lufs: Option<f64>,
    loudness_range_lu: f64,
    true_peak_db: Option<f64>,
    peak: f64,
    clipped_samples: u64,
    normalization: Option<NormalizationReport>,
    pcm_sha256: String,
    warnings: Vec<String>,
}

/// Makes temporary files beside the output.
struct OutputFolderWorkspace<'o>(&'o Output);

impl Workspace for OutputFolderWorkspace<'_> {
    fn temporary_file(&mut self) -> io::Result<std::fs::File> {
        tempfile::tempfile_in(self.0.folder())
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let file = args.file.check()?;
    let input = args.input.display();
    let is_interrupted = interruption()?;
    let stem = args.input.file_stem().unwrap_or_default().to_string_lossy();
    let output_path = match args.file.folder()? {
        Some(folder) => folder.join(file.file_name(&stem)),
        None => args.file.output.clone(),
    };
    let output = Output::create(&output_path, &[&args.input])?;
    let mut decoding = Progress::new("reading", &is_interrupted, args.file.quiet);
    let mut observer = |fraction: f64| decoding.show(fraction);
    let decode_result = decode_file(&args.input, output.folder(), &mut observer);
    decoding.end();
    let mut samples = decode_result.with_context(|| format!("{input}"))?;
    let shape = samples.shape();
    let options = file.options(shape.sample_rate_hz, 0.0);
    let mut converting = Progress::new("converting", &is_interrupted, args.file.quiet);
    let mut observer = |fraction: f64| converting.show(fraction);
    let destination = BufWriter::new(output.file());
    let convert_result = convert(
        &mut samples,
        shape,
        &options,
        &mut OutputFolderWorkspace(&output),
        destination,
        &mut observer,
    );
    converting.end();
    let report = convert_result.map_err(|error| output.failure(error))?;
    let mut standard_output = output.finish()?;
    let measurements = &report.measured;
    let mut warnings = samples.warnings().to_vec();
    warnings.extend(report.warnings(measurements.peak == 0.0));
    if !args.file.quiet {
        warnings.iter().for_each(|warning| eprintln!("songfoundry: {input}: {warning}"));
    }
    let summary = Summary {
        output: output_path,
        duration_secs: measurements.frames as f64 / f64::from(options.sample_rate_hz),
        sample_rate_hz: options.sample_rate_hz,
        bit_depth: options.stated_bit_depth(),
        lufs: measurements.integrated_lufs,
        loudness_range_lu: measurements.range_lu,
        true_peak_db: measurements.true_peak_dbtp,
        peak: f64::from(measurements.peak),
        clipped_samples: report.clipped_samples,
        normalization: report.normalization,
        pcm_sha256: measurements.pcm_sha256.clone(),
        warnings,
    };
    match (args.json, args.file.quiet) {
        (true, _) => writeln!(standard_output, "{}", serde_json::to_string_pretty(&summary)?)?,
        (false, false) => print(&summary, &mut standard_output)?,
        (false, true) => {}
    }
    Ok(())
}

fn print(summary: &Summary, standard_output: &mut dyn Write) -> io::Result<()> {
    writeln!(standard_output, "{}", summary.output.display())?;
    writeln!(standard_output, "  duration        {:.3} s", summary.duration_secs)?;
    writeln!(standard_output, "  rate            {} Hz", summary.sample_rate_hz)?;
    writeln!(standard_output, "  loudness        {}", level(summary.lufs, "LUFS"))?;
    writeln!(standard_output, "  loudness range  {:.1} LU", summary.loudness_range_lu)?;
    writeln!(standard_output, "  true peak       {}", level(summary.true_peak_db, "dBTP"))?;
    writeln!(
        standard_output,
        "  peak            {:.6}, {} samples clipped",
        summary.peak, summary.clipped_samples
    )?;
    writeln!(standard_output, "  pcm sha256      {}", summary.pcm_sha256)?;
    Ok(())
}
