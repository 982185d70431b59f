//! How soon the page makes a sound.

use std::process::Command;

use serde::Deserialize;

use super::{Args, FLUIDR3, figure};
use crate::process::{json, text};
use crate::stats::median;

/// What the script prints.
#[derive(Debug, Clone, Copy, Deserialize)]
struct FirstNote {
    /// From the request for the page to the first sample of a note that is not silent.
    first_note_secs: f64,
    /// Bytes of SoundFonts that came by then.
    bank_bytes: f64,
}

/// Prints the time to the first note.
pub(super) fn report(args: &Args) -> anyhow::Result<()> {
    println!();
    let (mut secs, mut mebibytes) = (Vec::new(), Vec::new());
    for run in 1..=args.runs {
        eprint!("\rbrowser: run {run}");
        let note: FirstNote = json(Command::new("node").arg(args.scripts.join("first-note.mjs")).args([
            text(&args.songfoundry)?,
            text(&args.page)?,
            FLUIDR3,
        ]))?;
        secs.push(note.first_note_secs);
        mebibytes.push(note.bank_bytes / 1_048_576.0);
    }
    eprint!("\r{:60}\r", "");
    let median = |values| median(values).unwrap_or(f64::NAN);
    figure("Chromium: from opening the page to the first note of a key", median(secs), "s", None);
    figure("Chromium: SoundFont fetched by then, of FluidR3_GM", median(mebibytes), "MiB", None);
    Ok(())
}
