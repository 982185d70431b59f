//! Measures how soon the page plays its first note.

use std::process::Command;

use serde::Deserialize;

use super::{Args, FLUIDR3, print_figure};
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

/// Prints the time to the first note.
pub(super) fn report(args: &Args) -> anyhow::Result<()> {
    println!();
    let (mut secs, mut mebibytes) = (Vec::new(), Vec::new());
    for run in 1..=args.runs {
        eprint!("\rbrowser: run {run}");
        let note: FirstNote =
            run_json(Command::new("node").arg(args.scripts.join("first-note.mjs")).args([
                path_text(&args.songfoundry)?,
                path_text(&args.page)?,
                FLUIDR3,
            ]))?;
        secs.push(note.first_note_secs);
        mebibytes.push(note.bank_bytes / 1_048_576.0);
    }
    eprint!("\r{:60}\r", "");
    let median = |values| median(values).unwrap_or(f64::NAN);
    print_figure("Chromium: from opening the page to the first note of a key", median(secs), "s", None);
    print_figure(
        "Chromium: data of FluidR3_GM fetched before the first note",
        median(mebibytes),
        "MiB",
        None,
    );
    Ok(())
}
