//! The command `songfoundry render`, which renders a song to an audio file without a service. Like the
//! page, it imports a MIDI file as a project and then renders the project.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use dsp_core::render::MAX_TAIL_SECS;
use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::json::JsonText;
use schemas::upgrade::upgrade;
use schemas::validate::validate;
use serde::Serialize;
use tempfile::NamedTempFile;

use super::{Settings, master_gain};
use crate::bounded_read;
use crate::encoding::tags::{BadTag, Tags, UncheckedTags};
use crate::multitrack::midi::{ImportOptions, import};
use crate::rendering::audio_format::{AudioFormat, BitDepth, in_words};
use crate::rendering::budget::{BudgetShare, RenderBudget};
use crate::rendering::missing::OpenedBank;
use crate::rendering::mix::{MixOptions, MixReport, render};
use crate::rendering::normalization::{LUFS_MIN, NormalizationReport, TRUE_PEAK_MIN_DB, Target};
use crate::rendering::receipt::{Receipt, receipt};
use crate::rendering::selection::Selection;
use crate::rendering::sources::{Recording, Sources};
use crate::rendering::{RenderError, banks};
use crate::serve::stop_signal;
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
    /// Path of the file. Its extension sets the format: .wav, .flac, .mp3, .ogg (Vorbis) or .opus;
    /// a name without an extension gives a WAV file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// 44100, 48000 or 96000 Hz. Default: the project's own rate, or 48000 for MIDI files; if the
    /// format does not support it, the next rate that it supports.
    #[arg(long, value_name = "HZ", value_parser = sample_rate_hz)]
    sample_rate: Option<u32>,
    /// Sample format of a WAV or FLAC file. Default: pcm16.
    #[arg(long, value_enum, ignore_case = true)]
    bit_depth: Option<BitDepth>,
    /// Bit rate of an MP3 file (constant, default 320) or an Opus file (average, default 160).
    #[arg(long, value_name = "KBPS")]
    bit_rate_kbps: Option<u32>,
    /// Quality of an Ogg Vorbis file (default 6) or of an MP3 file with a variable bit rate, 0 to
    /// 10; 10 is the best.
    #[arg(long, value_name = "NUMBER", conflicts_with = "bit_rate_kbps")]
    quality: Option<u32>,
    #[command(flatten)]
    tags: TagArgs,
    /// Move the noise of integer samples to frequencies at which the ear is least sensitive (at
    /// 44100 and 48000 Hz).
    #[arg(long)]
    noise_shaping: bool,
    /// Normalize the loudness of the song to this many LUFS, for example -14 for streaming.
    #[arg(long, value_name = "LUFS", allow_negative_numbers = true, value_parser = lufs)]
    lufs: Option<f64>,
    /// Highest true peak of a normalized song, in dBTP.
    #[arg(long, value_name = "DB", allow_negative_numbers = true, default_value = "-1", requires = "lufs",
          value_parser = true_peak_db)]
    true_peak_db: f64,
    /// Check how the song sounds in mono, and warn of octaves that a mono loudspeaker loses.
    #[arg(long)]
    channel_check: bool,
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

/// The tags of the file.
#[derive(Debug, clap::Args)]
struct TagArgs {
    /// Title of the song.
    #[arg(long)]
    title: Option<String>,
    /// Artist.
    #[arg(long)]
    artist: Option<String>,
    /// Album.
    #[arg(long)]
    album: Option<String>,
    /// Genre.
    #[arg(long)]
    genre: Option<String>,
    /// Year of the recording.
    #[arg(long)]
    year: Option<u32>,
    /// Comment.
    #[arg(long)]
    comment: Option<String>,
    /// International Standard Recording Code, such as GB-A1B-23-00001.
    #[arg(long)]
    isrc: Option<String>,
}

impl TagArgs {
    fn check(&self) -> anyhow::Result<Tags> {
        let Self { title, artist, album, genre, year, comment, isrc } = self;
        let tags = UncheckedTags {
            title: title.clone(),
            artist: artist.clone(),
            album: album.clone(),
            genre: genre.clone(),
            year: *year,
            comment: comment.clone(),
            isrc: isrc.clone(),
        };
        tags.check().map_err(|BadTag { name, problem }| anyhow::anyhow!("--{name} {problem}"))
    }
}

/// Returns the format for the extension of a file name.
fn format_of(output: &Path) -> anyhow::Result<AudioFormat> {
    let Some(extension) = output.extension() else { return Ok(AudioFormat::default()) };
    let extension = extension.to_string_lossy();
    AudioFormat::of_extension(&extension).with_context(|| {
        format!(
            "cannot write {}: the format `{extension}` is not supported; supported formats: {}",
            output.display(),
            in_words(&AudioFormat::EXTENSIONS)
        )
    })
}

fn sample_rate_hz(text: &str) -> Result<u32, String> {
    let rates_hz = AudioFormat::default().sample_rates_hz();
    let rate_hz = text.parse().ok().filter(|rate_hz| rates_hz.contains(rate_hz));
    rate_hz.ok_or_else(|| format!("`{text}` is not one of {}", in_words(rates_hz)))
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

fn lufs(text: &str) -> Result<f64, String> {
    number(text, LUFS_MIN, "LUFS")
}

fn true_peak_db(text: &str) -> Result<f64, String> {
    number(text, TRUE_PEAK_MIN_DB, "dBTP")
}

/// Parses a number from `min` to 0.
fn number(text: &str, min: f64, unit: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (min..=0.0).contains(value));
    value.ok_or_else(|| format!("`{text}` is not a number from {min} to 0 {unit}"))
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
    let format = format_of(&args.output)?;
    if let Some(rate_hz) = args.sample_rate {
        format.check_rate(rate_hz).map_err(anyhow::Error::msg)?;
    }
    let bit_depth = match args.bit_depth {
        Some(depth) => format.check_depth(depth.name()).map_err(anyhow::Error::msg)?,
        None => format.depth_for(BitDepth::default()),
    };
    let quality = format.check_quality(args.bit_rate_kbps, args.quality).map_err(anyhow::Error::msg)?;
    let tags = args.tags.check()?;
    let memory_bytes = match args.memory_bytes {
        Some(bytes) => bytes,
        None => settings.source()?.render_memory_bytes()?,
    };
    let Song { document, project, mut warnings } = Song::read(&args.song)?.with_gain(args.gain_db)?;
    let warn = |warning: &String| eprintln!("songfoundry: {}: {warning}", args.song.display());
    warnings.iter().for_each(warn);
    let bank_name = id_of_name(&args.soundfont.file_stem().unwrap_or_default().to_string_lossy());
    let bank = banks::open(&args.soundfont).with_context(|| format!("{}", args.soundfont.display()))?;
    let options = MixOptions {
        sample_rate_hz: args.sample_rate.unwrap_or_else(|| format.rate_for(project.sample_rate_hz)),
        format,
        bit_depth,
        quality,
        tags: Some(tags),
        noise_shaping: args.noise_shaping,
        normalization: args.lufs.map(|lufs| Target { lufs, true_peak_db: args.true_peak_db }),
        selection: Selection::default(),
        channel_check: args.channel_check,
        tail_secs: args.tail_secs,
    };
    for input in [&args.song, &args.soundfont] {
        if is_same_file(input, &args.output) {
            bail!("{} would replace {}; choose another name", args.output.display(), input.display());
        }
    }
    let interrupted = interruption()?;
    let output = Output::create(&args.output)?;
    let mut sources = SingleBank {
        bank,
        soundfont_id: bank_name.clone(),
        budget: RenderBudget::unshared(memory_bytes).share_of(""),
        folder: output.temporary.path().parent().unwrap_or(Path::new(".")).to_owned(),
    };
    let mut progress = Progress::new();
    let mut observer = |fraction: f64| {
        progress.show(fraction);
        !interrupted.load(Ordering::Relaxed)
    };
    let destination = BufWriter::new(output.temporary.as_file());
    let rendered = render(&project, &options, &mut sources, destination, &mut observer);
    progress.end();
    let report: MixReport = rendered.map_err(|error| match error {
        RenderError::Cancelled => {
            anyhow::anyhow!("interrupted; {} was not written", args.output.display())
        }
        other => other.into(),
    })?;
    if args.strict && report.is_silent {
        bail!("the whole render is silent; {} was not written (--strict)", args.output.display());
    }
    output.finish()?;
    let render_warnings = report.warnings();
    render_warnings.iter().for_each(warn);
    warnings.extend(render_warnings);
    let summary = Summary {
        output: args.output.clone(),
        duration_secs: report.measured.frames as f64 / f64::from(options.sample_rate_hz),
        sample_rate_hz: options.sample_rate_hz,
        bit_depth: options.stated_bit_depth(),
        lufs: report.measured.integrated_lufs,
        true_peak_db: report.measured.true_peak_dbtp,
        receipt: receipt(&document, &project, &options, vec![bank_name], &report),
        warnings,
    };
    print(&summary, args.json)
}

/// Whether two paths lead to the same file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let id = |path: &Path| fs::metadata(path).ok().map(|facts| (facts.dev(), facts.ino()));
        id(one).is_some() && id(one) == id(other)
    }
    #[cfg(not(unix))]
    {
        let full = |path: &Path| fs::canonicalize(path).ok();
        full(one).is_some() && full(one) == full(other)
    }
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

    fn temporary_file(&mut self, _size_bytes: u64) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }

    fn budget(&self) -> BudgetShare {
        self.budget.clone()
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

/// The output file. It gets its name when it is complete. If it is dropped earlier, it is deleted.
struct Output {
    temporary: NamedTempFile,
    destination: PathBuf,
}

impl Output {
    fn create(destination: &Path) -> anyhow::Result<Self> {
        let name = destination.display();
        let destination = match fs::metadata(destination) {
            // Replacing a device would break it for all programs.
            Ok(facts) if !facts.is_file() => bail!("cannot write {name}: it exists and is not a plain file"),
            // The target of a link is written, and the link stays.
            Ok(_) => fs::canonicalize(destination).with_context(|| format!("cannot write {name}"))?,
            Err(_) => destination.to_owned(),
        };
        let Some(file_name) = destination.file_name() else { bail!("{name} is not a file name") };
        let folder = match destination.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut new_file = tempfile::Builder::new();
        let prefix = format!(".{}.", file_name.to_string_lossy());
        new_file.prefix(&prefix).suffix(".part");
        #[cfg(unix)]
        new_file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = new_file.tempfile_in(folder).with_context(|| format!("cannot write {name}"))?;
        Ok(Self { temporary, destination })
    }

    fn finish(self) -> anyhow::Result<()> {
        let name = self.destination.display().to_string();
        self.temporary.as_file().sync_all().with_context(|| format!("cannot write {name}"))?;
        self.temporary.persist(&self.destination).with_context(|| format!("cannot write {name}"))?;
        Ok(())
    }
}

/// Returns a flag that becomes true on Ctrl-C or SIGTERM. These signals no longer end the process,
/// so that it can remove an unfinished file first.
fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signal = {
        let _context = runtime.enter();
        stop_signal().context("cannot listen for signals")?
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&interrupted);
    std::thread::spawn(move || {
        runtime.block_on(signal);
        shared.store(true, Ordering::Relaxed);
    });
    Ok(interrupted)
}

/// Shows the progress on standard error: on a terminal as one line that is updated, otherwise as a
/// line for each quarter.
struct Progress {
    is_terminal: bool,
    shown_percent: u32,
}

impl Progress {
    fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), shown_percent: 0 }
    }

    fn show(&mut self, fraction: f64) {
        let percent = (fraction * 100.0) as u32;
        let step = if self.is_terminal { 1 } else { 25 };
        if percent >= self.shown_percent + step {
            self.shown_percent = percent - percent % step;
            let (start, end) = if self.is_terminal { ("\r", "") } else { ("", "\n") };
            eprint!("{start}rendering {:3} %{end}", self.shown_percent);
        }
    }

    fn end(&self) {
        if self.is_terminal && self.shown_percent > 0 {
            eprintln!();
        }
    }
}

fn print(summary: &Summary, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(summary)?)?;
        return Ok(());
    }
    let level =
        |value: Option<f64>, unit| value.map_or("silence".to_owned(), |value| format!("{value:.1} {unit}"));
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
