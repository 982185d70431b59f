//! Opening banks, and how much memory a render takes.

use std::path::Path;

use super::{Args, FLUIDR3, Goal, TIMGM6MB, figure, song_path};
use crate::open::Opened;
use crate::process::{measured, own, text};
use crate::stats::median;

/// Bytes in a mebibyte.
const MIB: f64 = 1_048_576.0;

/// Prints time and memory for each bank.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    let program = std::env::current_exe()?;
    let median = |values| median(values).unwrap_or(f64::NAN);
    for (bank, goal) in [(FLUIDR3, Some(Goal::AtMost(50.0))), (TIMGM6MB, None)] {
        let size_mib = std::fs::metadata(bank)?.len() as f64 / MIB;
        let (mut open_ms, mut open_mib, mut render_mib) = (Vec::new(), Vec::new(), Vec::new());
        let (song, wav) = (song_path("city_blues_redfarn"), folder.join("song.wav"));
        for _ in 0..args.runs {
            let opened: Opened = own(&["open", bank])?;
            open_ms.push(opened.secs * 1000.0);
            open_mib.push(measured(&[text(&program)?, "open", bank])?.peak_bytes as f64 / MIB);
            let render =
                [text(&args.songfoundry)?, "render", text(&song)?, "--soundfont", bank, "-o", text(&wav)?];
            render_mib.push(measured(&render)?.peak_bytes as f64 / MIB);
        }
        let name =
            format!("{} ({size_mib:.0} MiB)", Path::new(bank).file_stem().unwrap_or_default().display());
        figure(&format!("{name}: time to open"), median(open_ms), "ms", goal);
        figure(&format!("{name}: most memory present when opened"), median(open_mib), "MiB", None);
        figure(&format!("{name}: most memory present in a render"), median(render_mib), "MiB", None);
    }
    Ok(())
}
