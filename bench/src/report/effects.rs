//! What effects cost, and a whole song with three on each track: natively, in Node.js and in
//! Chromium.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::{Args, FLUIDR3, Goal, figure, song_path};
use crate::effects::{COPIES, Loads, PLAIN, SONG, kinds};
use crate::process::{json, own, text};
use crate::song::RATE_HZ;
use crate::stats::median;

/// The song that all notes are of.
const NOTES_OF: &str = "tttheme2";

/// What each way of running the engine took, of all runs.
#[derive(Default)]
struct Runs(BTreeMap<String, Vec<f64>>);

impl Runs {
    fn add(&mut self, loads: Loads) {
        for (name, load) in loads {
            self.0.entry(name).or_default().push(load);
        }
    }

    fn load(&self, name: &str) -> f64 {
        self.0.get(name).and_then(|loads| median(loads.iter().copied())).unwrap_or(f64::NAN)
    }

    /// Nanoseconds that one effect of a kind takes for each stereo frame.
    fn effect_ns(&self, kind: &str) -> f64 {
        (self.load(kind) - self.load(PLAIN)) * 1e9 / (f64::from(RATE_HZ) * COPIES as f64)
    }
}

/// Prints what effects cost.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let song = song_path(NOTES_OF);
    let folder = text(folder)?;
    let _lengths: BTreeMap<String, u64> = own(&["effects-write", text(&song)?, FLUIDR3, folder])?;
    let with_script = |script: &str, names: &[&str]| -> anyhow::Result<Loads> {
        json(
            Command::new("node").arg(args.scripts.join(script)).args([text(&args.wasm)?, folder]).args(names),
        )
    };
    // The song first: behind it everything is compiled with optimisation.
    let sessions: Vec<&str> = [SONG].into_iter().chain(kinds()).chain([PLAIN]).collect();
    let (mut native, mut node, mut chromium) = (Runs::default(), Runs::default(), Runs::default());
    for run in 1..=args.runs {
        eprint!("\reffects: run {run}");
        native.add(own(&[&["effects-speed", folder], &sessions[..]].concat())?);
        node.add(with_script("effects.mjs", &sessions)?);
        chromium.add(with_script("effects-chromium.mjs", &[SONG])?);
    }
    eprint!("\r{:60}\r", "");
    println!();
    println!(
        "Effects, 128 frames a call, 48 kHz: {COPIES} tracks that play music with bursts of noise, each with the effect at work,"
    );
    println!("less the same tracks without it; for each stereo frame of one effect.");
    for kind in kinds() {
        figure(&format!("{kind}: native"), native.effect_ns(kind), "ns", None);
        figure(&format!("{kind}: WebAssembly in Node.js"), node.effect_ns(kind), "ns", None);
    }
    println!();
    println!(
        "A song of 24 tracks: the notes of {NOTES_OF} with FluidR3_GM, and tracks of audio that never pause; on each an equalizer"
    );
    println!(
        "of four bands, a compressor and one of the other effects by turns (3 reverbs, a convolution, 4 delays ...)."
    );
    figure(
        "24 tracks with 72 effects: native, one core",
        1.0 / native.load(SONG),
        "x",
        Some(Goal::AtLeast(60.0)),
    );
    figure("24 tracks with 72 effects: Node.js, one core", 1.0 / node.load(SONG), "x", None);
    figure(
        "24 tracks with 72 effects: Chromium, one core",
        1.0 / chromium.load(SONG),
        "x",
        Some(Goal::AtLeast(20.0)),
    );
    Ok(())
}
