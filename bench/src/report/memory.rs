//! Measures opening banks, and the memory of a render.

use std::path::Path;

use super::{Args, FLUIDR3, Goal, TIMGM6MB, print_figure, song_path};
use crate::open::OpenTime;
use crate::process::{measure, path_text, run_subcommand};
use crate::stats::median;

/// Number of bytes in a mebibyte.
const MIB: f64 = 1_048_576.0;

/// Prints the time and the memory of each bank.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    let program = std::env::current_exe()?;
    let median = |values| median(values).unwrap_or(f64::NAN);
    for (bank, goal) in [(FLUIDR3, Some(Goal::AtMost(50.0))), (TIMGM6MB, None)] {
        let size_mib = std::fs::metadata(bank)?.len() as f64 / MIB;
        let (mut open_ms, mut open_mib, mut render_mib) = (Vec::new(), Vec::new(), Vec::new());
        let (song, wav) = (song_path("city_blues_redfarn"), folder.join("song.wav"));
        for _ in 0..args.runs {
            let open_time: OpenTime = run_subcommand(&["open", bank])?;
            open_ms.push(open_time.secs * 1000.0);
            open_mib.push(measure(&[path_text(&program)?, "open", bank])?.peak_bytes as f64 / MIB);
            let render = [
                path_text(&args.songfoundry)?,
                "render",
                path_text(&song)?,
                "--soundfont",
                bank,
                "-o",
                path_text(&wav)?,
            ];
            render_mib.push(measure(&render)?.peak_bytes as f64 / MIB);
        }
        let name =
            format!("{} ({size_mib:.0} MiB)", Path::new(bank).file_stem().unwrap_or_default().display());
        print_figure(&format!("{name}: time to open"), median(open_ms), "ms", goal);
        print_figure(&format!("{name}: peak memory of opening"), median(open_mib), "MiB", None);
        print_figure(&format!("{name}: peak memory of a render"), median(render_mib), "MiB", None);
    }
    Ok(())
}
