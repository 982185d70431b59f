//! Measures effects, and a song with three on each track: natively, in Node.js and in Chromium.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::{Args, FLUIDR3, Goal, print_figure, song_path};
use crate::effects::{EFFECT_TRACKS, Loads, PLAIN, SONG, effect_ids};
use crate::process::{path_text, run_json, run_subcommand};
use crate::song::RATE_HZ;
use crate::stats::median;

/// The song that the sessions play.
const SONG_NAME: &str = "tttheme2";

/// Loads by name of the session, with one load for each run.
#[derive(Default)]
struct RunLoads(BTreeMap<String, Vec<f64>>);

impl RunLoads {
    fn add(&mut self, loads: Loads) {
        for (name, load) in loads {
            self.0.entry(name).or_default().push(load);
        }
    }

    fn load(&self, name: &str) -> f64 {
        self.0.get(name).and_then(|loads| median(loads.iter().copied())).unwrap_or(f64::NAN)
    }

    /// Returns the nanoseconds per stereo frame of one effect.
    fn effect_ns(&self, kind: &str) -> f64 {
        (self.load(kind) - self.load(PLAIN)) * 1e9 / (f64::from(RATE_HZ) * EFFECT_TRACKS as f64)
    }
}

/// Prints the processor time of effects.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let song = song_path(SONG_NAME);
    let folder = path_text(folder)?;
    let _lengths: BTreeMap<String, u64> =
        run_subcommand(&["effects-write", path_text(&song)?, FLUIDR3, folder])?;
    let with_script = |script: &str, names: &[&str]| -> anyhow::Result<Loads> {
        run_json(
            Command::new("node")
                .arg(args.scripts.join(script))
                .args([path_text(&args.wasm)?, folder])
                .args(names),
        )
    };
    // The song is played first, so that all code is compiled with optimization when the effects are
    // measured.
    let sessions: Vec<&str> = [SONG].into_iter().chain(effect_ids()).chain([PLAIN]).collect();
    let (mut native, mut node, mut chromium) =
        (RunLoads::default(), RunLoads::default(), RunLoads::default());
    for run_number in 1..=args.runs {
        eprint!("\reffects: run {run_number}");
        native.add(run_subcommand(&[&["effects-speed", folder], &sessions[..]].concat())?);
        node.add(with_script("effects.mjs", &sessions)?);
        chromium.add(with_script("effects-chromium.mjs", &[SONG])?);
    }
    eprint!("\r{:60}\r", "");
    println!();
    println!(
        "Effects at 48 kHz, 128 frames per call: {EFFECT_TRACKS} tracks of music with noise bursts, each with the effect,"
    );
    println!("minus the same tracks without it; per stereo frame of one effect.");
    for kind in effect_ids() {
        print_figure(&format!("{kind}: native"), native.effect_ns(kind), "ns", None);
        print_figure(&format!("{kind}: WebAssembly in Node.js"), node.effect_ns(kind), "ns", None);
    }
    println!();
    println!(
        "A song of 24 tracks: the notes of {SONG_NAME} with FluidR3_GM, and tracks of continuous audio. Each has an equalizer"
    );
    println!(
        "of four bands, a compressor and one other effect (in all 3 reverbs, a convolution, 4 delays ...)."
    );
    print_figure(
        "24 tracks with 72 effects: native, one core",
        1.0 / native.load(SONG),
        "x",
        Some(Goal::AtLeast(60.0)),
    );
    print_figure("24 tracks with 72 effects: Node.js, one core", 1.0 / node.load(SONG), "x", None);
    print_figure(
        "24 tracks with 72 effects: Chromium, one core",
        1.0 / chromium.load(SONG),
        "x",
        Some(Goal::AtLeast(20.0)),
    );
    Ok(())
}
