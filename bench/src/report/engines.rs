//! Measures the engine alone: natively, as WebAssembly, and compared with a synthesizer in
//! JavaScript.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::songs::SONGS;
use super::{Args, FLUIDR3, Goal, print_figure, song_path};
use crate::engine::EngineSpeed;
use crate::process::{path_text, run_json, run_subcommand};
use crate::song::SongFiles;
use crate::stats::median;
use crate::threads::RenderTime;

/// Frames per call, which are a render quantum of Web Audio.
const CALL_FRAMES: &str = "128";

/// Output of the Node.js scripts.
#[derive(Debug, Clone, Copy, Deserialize)]
struct NodeSpeed {
    cpu_secs: f64,
    sound_secs: f64,
}

/// Medians of several runs: seconds of processor time per second of sound of each program, and the
/// nanoseconds per voice and frame and the number of voices of the native engine.
struct Loads {
    native: f64,
    wasm: f64,
    spessasynth: f64,
    voice_ns: f64,
    voices: f64,
}

fn node<T: for<'de> Deserialize<'de>>(args: &Args, script: &str, inputs: &[&str]) -> anyhow::Result<T> {
    run_json(Command::new("node").arg(args.scripts.join(script)).args(inputs))
}

fn loads(args: &Args, song: &Path, folder: &Path) -> anyhow::Result<Loads> {
    let song = path_text(song)?;
    let (session, reduced_bank) = (folder.join("song.session"), folder.join("song.sf2"));
    let (session, reduced_bank) = (path_text(&session)?, path_text(&reduced_bank)?);
    let files: SongFiles =
        run_subcommand(&["session", song, FLUIDR3, "--session", session, "--reduced", reduced_bank])?;
    let length = files.length_frames.to_string();
    let (mut native, mut wasm, mut spessasynth) = (Vec::new(), Vec::new(), Vec::new());
    let (mut voice_ns, mut voices) = (Vec::new(), Vec::new());
    for _ in 0..args.runs {
        let speed: EngineSpeed = run_subcommand(&["engine", song, FLUIDR3, "--call-frames", CALL_FRAMES])?;
        native.push(speed.cpu_secs / speed.sound_secs);
        voice_ns.push(speed.voice_frame_ns);
        voices.push(speed.voices);
        let speed: NodeSpeed =
            node(args, "engine.mjs", &[path_text(&args.wasm)?, session, reduced_bank, &length, CALL_FRAMES])?;
        wasm.push(speed.cpu_secs / speed.sound_secs);
        let speed: NodeSpeed = node(args, "spessasynth.mjs", &[song, FLUIDR3, CALL_FRAMES])?;
        spessasynth.push(speed.cpu_secs / speed.sound_secs);
    }
    let median = |values| median(values).unwrap_or(f64::NAN);
    Ok(Loads {
        native: median(native),
        wasm: median(wasm),
        spessasynth: median(spessasynth),
        voice_ns: median(voice_ns),
        voices: median(voices),
    })
}

/// Prints the speed of the engine alone.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    println!(
        "The engine alone: {CALL_FRAMES} frames per call, FluidR3_GM; loading and compiling are not timed."
    );
    println!(
        "{:<22} {:>14} {:>8} {:>12} {:>15} {:>15}",
        "song", "ns per voice", "voices", "x real time", "wasm to native", "wasm to spessa"
    );
    let mut all_times = Vec::new();
    for song in SONGS {
        eprint!("\rengines: {song}          ");
        let loads = loads(args, &song_path(song), folder)?;
        eprint!("\r{:60}\r", "");
        println!(
            "{song:<22} {:>14.2} {:>8.1} {:>12.1} {:>15.2} {:>15.2}",
            loads.voice_ns,
            loads.voices,
            1.0 / loads.native,
            loads.native / loads.wasm,
            loads.spessasynth / loads.wasm
        );
        all_times.push(loads);
    }
    let median = |ratio: fn(&Loads) -> f64| median(all_times.iter().map(ratio)).unwrap_or(f64::NAN);
    let songs = all_times.len();
    print_figure(
        &format!("native, per voice and frame, effects and mix included, median of {songs} songs"),
        median(|loads| loads.voice_ns),
        "ns",
        None,
    );
    print_figure(
        &format!("WebAssembly to native, in Node.js, median of {songs} songs"),
        median(|loads| loads.native / loads.wasm),
        "x",
        Some(Goal::AtLeast(0.5)),
    );
    print_figure(
        &format!("native to spessasynth_core in Node.js, median of {songs} songs"),
        median(|loads| loads.spessasynth / loads.native),
        "x",
        None,
    );
    print_figure(
        &format!("WebAssembly to spessasynth_core, both in Node.js, median of {songs} songs"),
        median(|loads| loads.spessasynth / loads.wasm),
        "x",
        Some(Goal::AtLeast(6.0)),
    );
    Ok(())
}

/// Runs two concurrent processes of one thread each and returns the seconds until both have
/// rendered the session.
fn two_processes(song: &str) -> anyhow::Result<f64> {
    let program = std::env::current_exe()?;
    let start = || {
        Command::new(&program)
            .args(["threads", song, FLUIDR3, "--threads", "1"])
            .stdout(Stdio::piped())
            .spawn()
    };
    let children = [start()?, start()?];
    let mut longest = 0.0_f64;
    for child in children {
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "a render of 16 tracks failed: {}", output.status);
        let text = String::from_utf8(output.stdout)?;
        let render_time: RenderTime =
            serde_json::from_str(text.trim()).context("cannot read the JSON of the render")?;
        longest = longest.max(render_time.secs);
    }
    Ok(longest)
}

/// Prints the gain of a second core.
pub(super) fn report_threads(args: &Args) -> anyhow::Result<()> {
    println!();
    let path = song_path(SONGS[0]);
    let song = path_text(&path)?;
    let (mut shared_secs, mut separate) = (Vec::new(), Vec::new());
    for run_number in 1..=args.runs {
        eprint!("\rthreads: run {run_number}");
        let render_time: RenderTime = run_subcommand(&["threads", song, FLUIDR3, "--threads", "2"])?;
        shared_secs.push(render_time.secs);
        // The two processes have rendered two sessions in this time.
        separate.push(two_processes(song)? / 2.0);
    }
    eprint!("\r{:60}\r", "");
    let median = |values| median(values).unwrap_or(f64::NAN);
    print_figure(
        "a session of 16 tracks: throughput of 2 threads to 2 processes",
        100.0 * median(separate) / median(shared_secs),
        "%",
        Some(Goal::AtLeast(85.0)),
    );
    Ok(())
}
