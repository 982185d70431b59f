//! Measures the page in Chromium: sizes, start, first note, a large song, and long sessions.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Args, FLUIDR3, Goal, TIMGM6MB, print_figure};
use crate::process::{path_text, run_json};
use crate::stats::median;

/// Output of `first-note.mjs`.
#[derive(Debug, Clone, Copy, Deserialize)]
struct FirstNote {
    /// Seconds from opening the page to the first audible sample of a note.
    first_note_secs: f64,
    /// Bytes of SoundFonts that the page had received by then.
    bank_bytes: f64,
}

/// Output of `page-start.mjs`.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Starts {
    cold: PageStart,
    warm: PageStart,
}

/// Seconds from opening the page.
#[derive(Debug, Clone, Copy, Deserialize)]
struct PageStart {
    first_paint_secs: f64,
    interactive_secs: f64,
    sound_secs: f64,
}

/// Output of `page-speed.mjs`, for a song of 100 tracks, 5,000 clips and 20,000 notes.
#[derive(Debug, Clone, Copy, Deserialize)]
struct PageSpeed {
    idle_percent: f64,
    note_script_ms: f64,
    playing_fps: f64,
    playing_frame_p95_ms: f64,
}

/// Output of `page-endurance.mjs`.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Endurance {
    drop_outs: f64,
    heap_mib: f64,
    growth_mib: f64,
}

/// Seconds for which the song of 24 tracks plays.
const PLAY_SECS: &str = "300";
/// Edits of an hour, one each three seconds.
const EDITS: &str = "1200";

/// Prints the figures of the page.
pub(super) fn report(args: &Args) -> anyhow::Result<()> {
    println!();
    report_sizes(&args.page)?;
    report_start(args)?;
    report_first_note(args)?;
    report_large_song(args)?;
    report_endurance(args)
}

/// Runs a script for Node.js that starts the service with the bank.
fn run_script<T: DeserializeOwned>(
    args: &Args,
    name: &str,
    bank: &str,
    more_args: &[&str],
) -> anyhow::Result<T> {
    let paths = [path_text(&args.songfoundry)?, path_text(&args.page)?, bank];
    run_json(Command::new("node").arg(args.scripts.join(name)).args(paths).args(more_args))
}

/// Runs a script as often as the report asks for.
fn run_script_often<T: DeserializeOwned>(args: &Args, name: &str, bank: &str) -> anyhow::Result<Vec<T>> {
    let mut results = Vec::new();
    for run_number in 1..=args.runs {
        eprint!("\r{name}: run {run_number}");
        results.push(run_script(args, name, bank, &[])?);
    }
    eprint!("\r{:60}\r", "");
    Ok(results)
}

fn median_of<T>(results: &[T], value: impl Fn(&T) -> f64) -> f64 {
    median(results.iter().map(value)).unwrap_or(f64::NAN)
}

/// Prints the compressed sizes of the scripts that the page names, and of the engine.
fn report_sizes(page: &Path) -> anyhow::Result<()> {
    let html = fs::read_to_string(page.join("index.html"))?;
    let compressed_kilobytes = |path: &str| -> anyhow::Result<f64> {
        let file = page.join(path);
        let copy = page.join(format!("{path}.br"));
        let size = fs::metadata(copy).or_else(|_| fs::metadata(file)).with_context(|| path.to_owned())?.len();
        Ok(size as f64 / 1000.0)
    };
    let mut start_kilobytes = 0.0;
    for part in html.split("\"/").skip(1) {
        let path = part.split(['?', '"']).next().unwrap_or_default();
        if Path::new(path).extension().is_some_and(|extension| extension == "js") {
            start_kilobytes += compressed_kilobytes(path)?;
        }
    }
    print_figure("Page: scripts at the start, Brotli", start_kilobytes, "KB", Some(Goal::AtMost(160.0)));
    let engine = compressed_kilobytes("assets/dsp_wasm_bg.wasm")?;
    print_figure("Page: engine, Brotli", engine, "KB", Some(Goal::AtMost(460.0)));
    Ok(())
}

/// Prints the times from opening the page with the demo song to its sound.
fn report_start(args: &Args) -> anyhow::Result<()> {
    let starts: Vec<Starts> = run_script_often(args, "page-start.mjs", TIMGM6MB)?;
    let secs = |name: &str, value: &dyn Fn(&Starts) -> f64, goal| {
        print_figure(&format!("Chromium: {name}"), median_of(&starts, value), "s", goal);
    };
    secs("first paint, empty cache", &|start| start.cold.first_paint_secs, None);
    secs("interactive, empty cache", &|start| start.cold.interactive_secs, None);
    secs("sound of the demo song, empty cache", &|start| start.cold.sound_secs, None);
    secs("first paint, filled cache", &|start| start.warm.first_paint_secs, None);
    secs("interactive, filled cache", &|start| start.warm.interactive_secs, Some(Goal::AtMost(1.1)));
    secs("sound of the demo song, filled cache", &|start| start.warm.sound_secs, Some(Goal::AtMost(3.0)));
    Ok(())
}

/// Prints the time to the first note.
fn report_first_note(args: &Args) -> anyhow::Result<()> {
    let notes: Vec<FirstNote> = run_script_often(args, "first-note.mjs", FLUIDR3)?;
    let secs = median_of(&notes, |note| note.first_note_secs);
    print_figure("Chromium: from opening the page to the first note of a key", secs, "s", None);
    let mebibytes = median_of(&notes, |note| note.bank_bytes / 1_048_576.0);
    print_figure("Chromium: data of FluidR3_GM fetched before the first note", mebibytes, "MiB", None);
    Ok(())
}

/// Prints the work of the page with a large song.
fn report_large_song(args: &Args) -> anyhow::Result<()> {
    let speeds: Vec<PageSpeed> = run_script_often(args, "page-speed.mjs", TIMGM6MB)?;
    let figure = |name: &str, value: &dyn Fn(&PageSpeed) -> f64, unit: &str, goal| {
        print_figure(&format!("Chromium, 100 tracks: {name}"), median_of(&speeds, value), unit, Some(goal));
    };
    figure("script for a drawn note", &|speed| speed.note_script_ms, "ms", Goal::AtMost(16.0));
    figure("frames while playing", &|speed| speed.playing_fps, "a second", Goal::AtLeast(59.0));
    figure("95 % of frames within", &|speed| speed.playing_frame_p95_ms, "ms", Goal::AtMost(25.0));
    figure("main thread while idle", &|speed| speed.idle_percent, "%", Goal::AtMost(10.0));
    Ok(())
}

/// Prints the drop-outs of a long playback and the growth of memory in a long session of editing.
fn report_endurance(args: &Args) -> anyhow::Result<()> {
    let figures: Endurance = run_script(args, "page-endurance.mjs", TIMGM6MB, &[PLAY_SECS, EDITS])?;
    let Endurance { drop_outs, heap_mib, growth_mib } = figures;
    print_figure("Chromium, 24 tracks: drop-outs in 5 minutes", drop_outs, "", Some(Goal::AtMost(0.0)));
    print_figure("Chromium, 24 tracks: heap before an hour of edits", heap_mib, "MiB", None);
    print_figure(
        "Chromium, 24 tracks: growth of the heap by them",
        growth_mib,
        "MiB",
        Some(Goal::AtMost(4.0)),
    );
    Ok(())
}
