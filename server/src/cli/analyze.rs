//! The command `songfoundry analyze`, which measures an audio file.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;

use super::levels::level;
use super::progress::{Progress, interruption};
use super::standard_output::print_line;
use crate::audio::analyze_file;

/// Measure an audio file: loudness, peaks, spectrum, tempo and key.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry analyze mix.wav
  songfoundry analyze mix.flac --json | jq .lufs

Inputs are WAV, AIFF, FLAC, MP3, Ogg Vorbis and M4A files. The measurements are those of the
service's POST /audio/{id}/analyze.")]
pub(super) struct Args {
    /// The file to measure.
    input: PathBuf,
    /// Print the measurements as JSON, with the levels of all third-octave bands.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let is_interrupted = interruption()?;
    let mut progress = Progress::new("measuring", &is_interrupted, false);
    let mut observer = |fraction: f64| progress.show(fraction);
    let analysis_result = analyze_file(&args.input, &mut observer);
    progress.end();
    let analysis = analysis_result.with_context(|| args.input.display().to_string())?;
    if args.json {
        return print_line(&serde_json::to_string_pretty(&analysis)?);
    }
    let mut output = String::new();
    writeln!(output, "{}", args.input.display())?;
    writeln!(output, "  duration        {:.3} s", analysis.duration_secs)?;
    writeln!(output, "  rate            {} Hz", analysis.sample_rate_hz)?;
    writeln!(output, "  loudness        {}", level(analysis.lufs, "LUFS"))?;
    writeln!(output, "  loudness range  {:.1} LU", analysis.loudness_range_lu)?;
    writeln!(output, "  momentary       {} at most", level(analysis.max_momentary_lufs, "LUFS"))?;
    writeln!(output, "  short-term      {} at most", level(analysis.max_short_term_lufs, "LUFS"))?;
    writeln!(output, "  true peak       {}", level(analysis.true_peak_db, "dBTP"))?;
    writeln!(output, "  sample peak     {}", level(analysis.sample_peak_db, "dBFS"))?;
    if let Some(centroid_hz) = analysis.spectral_centroid_hz {
        writeln!(output, "  centroid        {centroid_hz:.0} Hz")?;
    }
    if let Some(tempo) = analysis.tempo {
        writeln!(output, "  tempo           {:.1} BPM (estimate)", tempo.bpm)?;
    }
    if let Some(key) = analysis.key {
        writeln!(output, "  key             {} {} (estimate)", key.tonic, key.mode)?;
    }
    print_line(output.trim_end())
}
