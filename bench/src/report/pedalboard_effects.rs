//! Compares the speed of effects with those of the same kind in pedalboard, whose effects are those
//! of the C++ library JUCE.

use std::path::Path;
use std::process::Command;

use super::{Args, FLUIDR3, Goal, print_figure, song_path};
use crate::SongAndBank;
use crate::effects::{BLOCK_FRAMES, FrameTimes, PASSES, PLAIN, write_recording};
use crate::process::{path_text, run_json, run_subcommand};
use crate::song::RATE_HZ;
use crate::stats::median;

/// The kinds of effects that both have. pedalboard's distortion and bit crusher are other kinds: one
/// function per sample, without oversampling or a lower sample rate.
const KINDS: [&str; 9] =
    ["equalizer", "filter", "compressor", "gate", "limiter", "phaser", "delay", "chorus", "reverb"];

/// The song of the recording, and the length of the recording in seconds.
const SONG_NAME: &str = "tttheme2";
const RECORDING_SECS: u64 = 60;

/// Returns the median time of an effect in nanoseconds per frame, without that of an empty chain in
/// the same run.
fn effect_ns(runs: &[FrameTimes], kind: &str) -> f64 {
    let time = |run: &FrameTimes| Some(run.get(kind)? - run.get(PLAIN)?);
    median(runs.iter().filter_map(time)).unwrap_or(f64::NAN)
}

/// Prints the time of each effect.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let audio = folder.join("recording.f32");
    let input = SongAndBank { song: song_path(SONG_NAME), bank: FLUIDR3.into() };
    write_recording(&input, RECORDING_SECS, &audio)?;
    let audio = path_text(&audio)?;
    let numbers = [RATE_HZ as usize, BLOCK_FRAMES, PASSES].map(|number| number.to_string());
    let names = [&[PLAIN], &KINDS[..]].concat();
    let (mut our_secs, mut their_secs) = (Vec::new(), Vec::new());
    // The programs run in turn, so that other load of the machine affects both equally.
    for run in 1..=args.runs {
        eprint!("\reffects beside pedalboard: run {run}");
        our_secs.push(run_subcommand(&[&["effects-blocks", audio], &names[..]].concat())?);
        let script = args.python_scripts.join("pedalboard_effects.py");
        their_secs.push(run_json(Command::new(&args.python).arg(script).arg(audio).args(&numbers))?);
    }
    eprint!("\r{:60}\r", "");
    println!();
    println!(
        "Effects and those of pedalboard: {RECORDING_SECS} s of stereo at {RATE_HZ} Hz in blocks of {BLOCK_FRAMES} frames, one \
         thread."
    );
    println!("Processor time per frame, without that of an empty chain.");
    for kind in KINDS {
        let [our_ns, their_ns] = [&our_secs, &their_secs].map(|runs| effect_ns(runs, kind));
        print_figure(kind, our_ns, "ns", None);
        print_figure(&format!("{kind}: pedalboard"), their_ns, "ns", None);
        print_figure("  speed to pedalboard", their_ns / our_ns, "x", Some(Goal::AtLeast(1.0)));
    }
    Ok(())
}
