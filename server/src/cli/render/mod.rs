//! The command `songfoundry render`, which renders songs to audio files without a service. Like the
//! page, it imports a MIDI file as a project and then renders the project.

mod master_gain;
mod sections;
mod song;
mod sound_args;
mod soundfonts;
mod summary;

use std::io::BufWriter;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use dsp_core::render::MAX_TAIL_SECS;
use schemas::Project;

use self::song::{Song, name_of, stem_of};
use self::sound_args::SoundArgs;
use self::soundfonts::{CommandLineSources, NamedBank};
use self::summary::Summary;
use super::file_args::{FileArgs, OutputFileOptions};
use super::output::{Output, STANDARD_STREAM};
use super::progress::{Progress, interruption};
use super::{Settings, describe};
use crate::rendering::mix::{MixFile, MixOptions, MixReport, render_files};
use crate::rendering::receipt::receipt;
use crate::rendering::selection::{Selection, TickRange};

/// Render MIDI files or projects to audio files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry render song.mid --soundfont /usr/share/sounds/sf2/TimGM6mb.sf2 -o song.wav
  songfoundry render project.json --soundfont bank.sf2 --sample-rate 44100 --bit-depth float32 -o song.wav
  songfoundry render song.mid --soundfont bank.sf2 --lufs -14 --title Song --artist Ada -o song.mp3
  songfoundry render song.mid --soundfont bank.sf2 --lufs -14 -o song.flac --also song.mp3
  songfoundry render *.mid --soundfont bank.sf2 --format flac -o album/
  songfoundry render project.json --soundfont bank.sf2 --sections -o parts/
  zcat song.mid.gz | songfoundry render - --soundfont bank.sf2 --quiet -o - | aplay
  songfoundry render song.mid --soundfont bank.sf2 -o song.wav --json | jq .receipt.pcm_sha256

Progress and warnings go to standard error, the receipt to standard output. The samples are those
that the service exports for the same song, bank and rate; pcm_sha256 in the receipt shows it.

Exit status: 0 if every file was written, 1 if one was not, 2 if the command line is not valid.")]
pub(super) struct Args {
    /// The songs: MIDI files (.mid, .rmi) or projects (.json), also compressed by gzip; `-` is
    /// standard input. Several songs need a folder as the output.
    #[arg(required = true, value_name = "SONG")]
    songs: Vec<PathBuf>,
    /// SF2 or SF3 file. A track that names a SoundFont plays the file of this name; all other
    /// tracks play the first file. May be given several times.
    #[arg(long, value_name = "FILE", required = true)]
    soundfont: Vec<PathBuf>,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    sound: SoundArgs,
    /// Render only this range of ticks (960 per quarter note), without a tail.
    #[arg(long, value_name = "START:END", value_parser = tick_range, conflicts_with = "tail_secs")]
    range: Option<TickRange>,
    /// Render only the track with this id, even if it is muted. May be given several times.
    #[arg(long = "track", value_name = "ID")]
    tracks: Option<Vec<String>>,
    /// Maximum tail after the last item of the song, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = tail_secs)]
    tail_secs: f64,
    /// Fail, and write nothing, if the whole render is silent.
    #[arg(long)]
    strict: bool,
    /// Memory for the render without the SoundFont. A song that needs more is refused. Default: the
    /// setting SF_RENDER_MEMORY_BYTES.
    #[arg(long, value_name = "BYTES")]
    memory_bytes: Option<u64>,
    /// Also write the mix to this file. Its extension sets the format. Options that this format
    /// does not support have their defaults. May be given several times.
    #[arg(long, value_name = "FILE")]
    also: Vec<PathBuf>,
    /// Write each section of the song to a separate file in the output folder, instead of the whole
    /// song: its section items, or the parts between its markers.
    #[arg(long, conflicts_with_all = ["range", "tail_secs", "also"])]
    sections: bool,
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

fn tick_range(text: &str) -> Result<TickRange, String> {
    let ticks = text.split_once(':').and_then(|(start, end)| Some((start.parse().ok()?, end.parse().ok()?)));
    match ticks {
        Some((start_tick, end_tick)) if start_tick < end_tick => Ok(TickRange { start_tick, end_tick }),
        _ => Err(format!("`{text}` is not a range of ticks; expected a start below an end, such as 0:3840")),
    }
}

pub(super) fn run(args: &Args, settings: &Settings) -> anyhow::Result<()> {
    let file = args.file.check()?;
    let further_files = further_files(args)?;
    let outputs = list_outputs(args, &file)?;
    let memory_bytes = match args.memory_bytes {
        Some(bytes) => bytes,
        None => settings.source()?.render_memory_bytes()?,
    };
    let banks = soundfonts::open(&args.soundfont)?;
    let is_interrupted = interruption()?;
    let batch = Batch { args, file, further_files, banks, memory_bytes, is_interrupted };
    let mut failures = 0;
    for (song, output) in args.songs.iter().zip(&outputs) {
        match batch.render(song, output) {
            Ok(()) => {}
            Err(error) if outputs.len() == 1 || batch.is_interrupted.load(Ordering::Relaxed) => {
                return Err(error);
            }
            Err(error) => {
                failures += 1;
                eprintln!("songfoundry: {}", describe(&error));
            }
        }
    }
    if failures > 0 {
        bail!("{failures} of {} songs were not rendered", outputs.len());
    }
    Ok(())
}

/// Returns the path of the output of each song.
///
/// # Errors
/// Two songs would be written to the same file, standard input is named twice, or the output must
/// be a folder.
fn list_outputs(args: &Args, file: &OutputFileOptions) -> anyhow::Result<Vec<PathBuf>> {
    let is_input = |path: &&PathBuf| path.as_os_str() == STANDARD_STREAM;
    if args.songs.iter().filter(is_input).count() > 1 {
        bail!("standard input can be rendered only once");
    }
    let Some(folder) = args.file.folder()? else {
        if args.sections {
            bail!("--sections needs a folder as the output, such as `-o {}/`", args.file.output.display());
        }
        if args.songs.len() > 1 {
            bail!(
                "{} songs need a folder as the output, such as `-o {}/`",
                args.songs.len(),
                args.file.output.display()
            );
        }
        return Ok(vec![args.file.output.clone()]);
    };
    let mut outputs: Vec<PathBuf> = Vec::new();
    for song in &args.songs {
        let output = folder.join(file.file_name(&stem_of(song)));
        if let Some(index) = outputs.iter().position(|earlier_output| *earlier_output == output) {
            bail!(
                "{} and {} would both be written to {}",
                name_of(&args.songs[index]),
                name_of(song),
                output.display()
            );
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// Returns the further files of the mix.
///
/// # Errors
/// There are several songs, or a file is named twice.
fn further_files(args: &Args) -> anyhow::Result<Vec<(PathBuf, OutputFileOptions)>> {
    if !args.also.is_empty() && args.songs.len() > 1 {
        bail!("--also needs a single song; {} songs are given", args.songs.len());
    }
    let mut files: Vec<(PathBuf, OutputFileOptions)> = Vec::new();
    for path in &args.also {
        if *path == args.file.output || files.iter().any(|(earlier_path, _)| earlier_path == path) {
            bail!("{} would be written twice", path.display());
        }
        files.push((path.clone(), args.file.check_further(path)?));
    }
    Ok(files)
}

/// Maximum number of sections that are rendered. The files of all sections are open at the same
/// time.
const SECTIONS_MAX: usize = 200;

/// Renders the songs of one command.
struct Batch<'a> {
    args: &'a Args,
    file: OutputFileOptions,
    /// Further files of the mix.
    further_files: Vec<(PathBuf, OutputFileOptions)>,
    banks: Vec<NamedBank>,
    memory_bytes: u64,
    is_interrupted: Arc<AtomicBool>,
}

impl Batch<'_> {
    /// Renders a song, and prints the summary of each file.
    fn render(&self, song_path: &Path, output_path: &Path) -> anyhow::Result<()> {
        let Self { args, banks, memory_bytes, is_interrupted, .. } = self;
        let name = name_of(song_path);
        let Song { document, project, warnings } = Song::read(song_path)?.with_sound(&args.sound)?;
        let warn = |warning: &String| {
            if !args.file.quiet {
                eprintln!("songfoundry: {name}: {warning}");
            }
        };
        warnings.iter().for_each(warn);
        let selection = Selection { range: None, tracks: args.tracks.clone() };
        if let Some(id) = selection.missing_track(&project) {
            bail!("{name} has no instrument or audio track with the id `{id}`");
        }
        let inputs: Vec<&Path> = args.soundfont.iter().map(PathBuf::as_path).chain([song_path]).collect();
        let mut outputs = Vec::new();
        for (path, file, range) in self.files(&name, &project, output_path)? {
            let options = file.options(project.sample_rate_hz, args.tail_secs);
            let options = MixOptions { selection: Selection { range, ..selection.clone() }, ..options };
            let output = Output::create(&path, &inputs)?;
            outputs.push((path, options, output));
        }
        let Some((_, _, first)) = outputs.first() else { return Ok(()) };
        let mut sources = CommandLineSources::new(banks, *memory_bytes, first.folder());
        let mut progress = Progress::new("rendering", is_interrupted, args.file.quiet);
        let mut observer = |fraction: f64| progress.show(fraction);
        let files = outputs.iter().map(|(_, options, output)| MixFile {
            options: options.clone(),
            destination: BufWriter::new(output.file()),
        });
        let mut reports: Vec<Option<MixReport>> = vec![None; outputs.len()];
        let mut store_report = |index: usize, report| reports[index] = Some(report);
        let render_result =
            render_files(&project, files.collect(), &mut sources, &mut store_report, &mut observer);
        progress.end();
        render_result.map_err(|error| first.failure(error))?;
        if args.strict && reports.iter().flatten().all(|report| report.is_silent) {
            bail!("the whole render is silent; {} was not written (--strict)", output_path.display());
        }
        for ((path, options, output), report) in outputs.into_iter().zip(reports.into_iter().flatten()) {
            let mut standard_output = output.finish()?;
            let render_warnings = report.warnings();
            render_warnings.iter().for_each(warn);
            let summary = Summary {
                output: path,
                duration_secs: report.file.measured.frames as f64 / f64::from(options.sample_rate_hz),
                sample_rate_hz: options.sample_rate_hz,
                bit_depth: options.stated_bit_depth(),
                lufs: report.file.measured.integrated_lufs,
                true_peak_db: report.file.measured.true_peak_dbtp,
                receipt: receipt(&document, &project, &options, sources.soundfonts(), &report),
                warnings: warnings.iter().cloned().chain(render_warnings).collect(),
            };
            match (args.json, args.file.quiet) {
                (true, _) => summary.print_json(&mut standard_output)?,
                (false, false) => summary.print(&mut standard_output)?,
                (false, true) => {}
            }
        }
        Ok(())
    }

    /// Returns the files of a song, each with its part of the song; `None` is the whole song.
    ///
    /// # Errors
    /// With `--sections`, the song has no sections, or more than [`SECTIONS_MAX`].
    fn files(
        &self,
        name: &str,
        project: &Project,
        output_path: &Path,
    ) -> anyhow::Result<Vec<(PathBuf, OutputFileOptions, Option<TickRange>)>> {
        let Self { args, file, further_files, .. } = self;
        if !args.sections {
            let further_files = further_files.iter().map(|(path, file)| (path.as_path(), file));
            let files = iter::once((output_path, file)).chain(further_files);
            return Ok(files.map(|(path, file)| (path.to_owned(), file.clone(), args.range)).collect());
        }
        let sections = sections::sections_of(project)?;
        match sections.len() {
            0 => bail!("{name} has no sections and no markers"),
            1..=SECTIONS_MAX => {}
            count => bail!("{name} has {count} sections; at most {SECTIONS_MAX} can be rendered"),
        }
        let stem = output_path.file_stem().unwrap_or_default().to_string_lossy();
        let files = sections.into_iter().enumerate().map(|(index, section)| {
            let part = section.name_in_file(index);
            let path = output_path.with_file_name(file.file_name(&format!("{stem}{part}")));
            (path, file.clone().of_part(&project.name, &part), Some(section.range))
        });
        Ok(files.collect())
    }
}
