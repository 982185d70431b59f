//! The command `songfoundry render`, which renders a song to an audio file without a service. Like
//! the page, it imports a MIDI file as a project and then renders the project.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dsp_core::render::MAX_TAIL_SECS;
use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::json::JsonText;
use schemas::upgrade::upgrade;
use schemas::validate::validate;
use serde::Serialize;

use super::file_args::FileArgs;
use super::levels::level;
use super::output::Output;
use super::progress::{Progress, interruption};
use super::{Settings, master_gain};
use crate::bounded_read;
use crate::multitrack::midi::{ImportOptions, import};
use crate::rendering::audio_format::BitDepth;
use crate::rendering::budget::{BudgetShare, RenderBudget};
use crate::rendering::missing::OpenedBank;
use crate::rendering::mix::{MixReport, render};
use crate::rendering::normalization::NormalizationReport;
use crate::rendering::receipt::{Receipt, receipt};
use crate::rendering::sources::{Recording, Sources};
use crate::rendering::workspace::Workspace;
use crate::rendering::{RenderError, banks};
use crate::soundfonts::id_of_name;

/// Maximum size of a song file, in bytes. Real projects and MIDI files are far smaller.
const SONG_MAX_BYTES: u64 = 1 << 30;

/// Render a MIDI file or a project to an audio file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry render song.mid --soundfont /usr/share/sounds/sf2/TimGM6mb.sf2 -o song.wav
  songfoundry render project.json --soundfont bank.sf2 --sample-rate 44100 --bit-depth float32 -o song.wav
  songfoundry render song.mid --soundfont bank.sf2 --lufs -14 --title Song --artist Ada -o song.mp3
  songfoundry render song.mid --soundfont bank.sf2 -o song.wav --json | jq .receipt.pcm_sha256

Progress goes to standard error, the receipt to standard output. The samples are those that the
service exports for the same song, bank and rate; pcm_sha256 in the receipt shows it.")]
pub(super) struct Args {
    /// The song: a MIDI file (.mid, .rmi) or a project (.json).
    song: PathBuf,
    /// SF2 or SF3 file that plays every track.
    #[arg(long, value_name = "FILE")]
    soundfont: PathBuf,
    #[command(flatten)]
    file: FileArgs,
    /// Longest tail after the last item of the song, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = tail_secs)]
    tail_secs: f64,
    /// Fail, and write nothing, if the whole render is silent.
    #[arg(long)]
    strict: bool,
    /// Gain of the whole song in decibels, applied before the limiter.
    #[arg(long, value_name = "DB", default_value = "0", allow_negative_numbers = true, value_parser = gain_db)]
    gain_db: f64,
    /// Memory for the render without the SoundFont. A song that needs more is refused. Default: the
    /// setting SF_RENDER_MEMORY_BYTES.
    #[arg(long, value_name = "BYTES")]
    memory_bytes: Option<u64>,
    /// Print the receipt as JSON.
    #[arg(long)]
    json: bool,
}

fn tail_secs(text: &str) -> Result<f64, String> {
    let secs: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if (0.0..=MAX_TAIL_SECS).contains(&secs) {
        Ok(secs)
    } else {
        Err(format!("{secs} is outside 0 to {MAX_TAIL_SECS} seconds"))
    }
}

fn gain_db(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite());
    value.ok_or_else(|| format!("`{text}` is not a number of decibels"))
}

/// The summary that is printed at the end.
#[derive(Debug, Serialize)]
struct Summary {
    output: PathBuf,
    duration_secs: f64,
    sample_rate_hz: u32,
    bit_depth: Option<BitDepth>,
    lufs: Option<f64>,
    true_peak_db: Option<f64>,
    receipt: Receipt,
    warnings: Vec<String>,
}

pub(super) fn run(args: &Args, settings: &Settings) -> anyhow::Result<()> {
    let file = args.file.check()?;
    let memory_bytes = match args.memory_bytes {
        Some(bytes) => bytes,
        None => settings.source()?.render_memory_bytes()?,
    };
    let Song { document, project, mut warnings } = Song::read(&args.song)?.with_gain(args.gain_db)?;
    let warn = |warning: &String| eprintln!("songfoundry: {}: {warning}", args.song.display());
    warnings.iter().for_each(warn);
    let bank_name = id_of_name(&args.soundfont.file_stem().unwrap_or_default().to_string_lossy());
    let bank = banks::open(&args.soundfont).with_context(|| format!("{}", args.soundfont.display()))?;
    let options = file.options(project.sample_rate_hz, args.tail_secs);
    let interrupted = interruption()?;
    let output = Output::create(&args.file.output, &[&args.song, &args.soundfont])?;
    let mut sources = SingleBank {
        bank,
        soundfont_id: bank_name.clone(),
        budget: RenderBudget::unshared(memory_bytes).share_of(""),
        folder: output.folder().to_owned(),
    };
    let mut progress = Progress::new("rendering", &interrupted);
    let mut observer = |fraction: f64| progress.show(fraction);
    let destination = BufWriter::new(output.file());
    let rendered = render(&project, &options, &mut sources, destination, &mut observer);
    progress.end();
    let report: MixReport = rendered.map_err(|error| output.failure(error))?;
    if args.strict && report.is_silent {
        bail!("the whole render is silent; {} was not written (--strict)", args.file.output.display());
    }
    output.finish()?;
    let render_warnings = report.warnings();
    render_warnings.iter().for_each(warn);
    warnings.extend(render_warnings);
    let summary = Summary {
        output: args.file.output.clone(),
        duration_secs: report.file.measured.frames as f64 / f64::from(options.sample_rate_hz),
        sample_rate_hz: options.sample_rate_hz,
        bit_depth: options.stated_bit_depth(),
        lufs: report.file.measured.integrated_lufs,
        true_peak_db: report.file.measured.true_peak_dbtp,
        receipt: receipt(&document, &project, &options, vec![bank_name], &report),
        warnings,
    };
    print(&summary, args.json)
}

/// Sources that play every track with the SoundFont of the command line.
struct SingleBank {
    bank: Bank,
    soundfont_id: String,
    budget: BudgetShare,
    /// Folder for temporary files.
    folder: PathBuf,
}

impl Sources for SingleBank {
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError> {
        Ok(Some(OpenedBank {
            bank: self.bank.clone(),
            soundfont_id: self.soundfont_id.clone(),
            is_substitute: soundfont_id.is_some_and(|named| id_of_name(named) != self.soundfont_id),
            is_upload: false,
        }))
    }

    fn recording(&mut self, _server_file_id: &str) -> Option<Recording> {
        None
    }

    fn budget(&self) -> BudgetShare {
        self.budget.clone()
    }
}

impl Workspace for SingleBank {
    fn temporary_file(&mut self) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }
}

/// A song that was read from a file, as a project.
struct Song {
    document: JsonText,
    project: Project,
    warnings: Vec<String>,
}

impl Song {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        let bytes =
            bounded_read::read(path, SONG_MAX_BYTES).with_context(|| format!("cannot read {name}"))?;
        let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if is_json { Self::from_json(&bytes) } else { Self::from_midi(&bytes, path) }
            .with_context(|| format!("{name}"))
    }

    /// Adds `gain_db` to the song's master.
    fn with_gain(mut self, gain_db: f64) -> anyhow::Result<Self> {
        if gain_db != 0.0 {
            master_gain::add(&mut self.project, gain_db)?;
            self.document = JsonText::read(&serde_json::to_vec(&self.project)?)?;
        }
        Ok(self)
    }

    fn from_midi(bytes: &[u8], path: &Path) -> anyhow::Result<Self> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let options =
            ImportOptions { project_id: "render".into(), name: Some(stem.into_owned()), soundfont_id: None };
        let imported = import(bytes, options)?;
        let document = JsonText::read(&serde_json::to_vec(&imported.project)?)?;
        Ok(Self { document, project: imported.project, warnings: imported.warnings })
    }

    fn from_json(bytes: &[u8]) -> anyhow::Result<Self> {
        let document = JsonText::read(bytes).context("this is not a JSON document")?;
        let document = upgrade(&document, "render")?;
        if let Err(violations) = validate(&document) {
            let lines: Vec<String> = violations
                .iter()
                .map(|violation| {
                    format!(
                        "\n  at {}: {}",
                        if violation.pointer.is_empty() { "/" } else { &violation.pointer },
                        violation.detail
                    )
                })
                .collect();
            bail!("this is not a valid project:{}", lines.concat());
        }
        let project = schemas::read::project(&document)?;
        Ok(Self { document, project, warnings: Vec::new() })
    }
}

fn print(summary: &Summary, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(summary)?)?;
        return Ok(());
    }
    let receipt = &summary.receipt;
    writeln!(out, "{}", summary.output.display())?;
    writeln!(out, "  duration     {:.3} s (song {:.3} s)", summary.duration_secs, receipt.song_secs)?;
    writeln!(out, "  rate         {} Hz", summary.sample_rate_hz)?;
    writeln!(out, "  loudness     {}", level(summary.lufs, "LUFS"))?;
    writeln!(out, "  true peak    {}", level(summary.true_peak_db, "dBTP"))?;
    writeln!(out, "  peak         {:.6}, {} samples clipped", receipt.peak, receipt.clipped_samples)?;
    let limiter = receipt.limiter;
    if limiter.largest_reduction_db > 0.0 {
        let (reduction_db, secs) = (limiter.largest_reduction_db, limiter.reduced_secs);
        writeln!(
            out,
            "  limiter      up to {reduction_db:.1} dB of gain reduction; more than 0.1 dB for {secs:.1} s"
        )?;
    }
    if let Some(NormalizationReport { gain_db, peak_reduction_db, target_lufs, .. }) = receipt.normalization {
        writeln!(
            out,
            "  normalized   to {target_lufs:.1} LUFS: gain {gain_db:+.1} dB, peaks limited by up to {peak_reduction_db:.1} dB"
        )?;
    }
    if !receipt.silent_tracks.is_empty() {
        writeln!(out, "  silent       {}", receipt.silent_tracks.join(", "))?;
    }
    for part in &receipt.left_out {
        writeln!(out, "  left out     {}: {}", part.pointer, part.reason)?;
    }
    writeln!(out, "  pcm sha256   {}", receipt.pcm_sha256)?;
    Ok(())
}
