//! Prints all figures with their goals.

mod browser;
mod effects;
mod engines;
mod finished_files;
mod live_effects;
mod live_session;
mod memory;
mod pedalboard_effects;
mod plugin_window;
mod plugins;
mod service;
mod service_memory;
mod songs;
mod worst_bodies;
mod worst_files;

use std::path::{Path, PathBuf};
use std::time::Instant;

/// The folder of the songs, from Debian's package `openttd-openmsx`.
const SONGS: &str = "/usr/share/games/openttd/baseset/openmsx";
/// The large bank, from Debian's package `fluid-soundfont-gm`.
const FLUIDR3: &str = "/usr/share/sounds/sf2/FluidR3_GM.sf2";
/// The small bank, from Debian's package `timgm6mb-soundfont`.
const TIMGM6MB: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// Paths of the other programs, and the number of runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program `songfoundry` from a release build.
    #[arg(long)]
    songfoundry: PathBuf,
    /// The folder of the browser's engine and its bindings.
    #[arg(long)]
    wasm: PathBuf,
    /// The folder of the built page.
    #[arg(long)]
    page: PathBuf,
    /// The folder of the scripts for Node.js.
    #[arg(long)]
    scripts: PathBuf,
    /// The program `songfoundry-bridge` from a release build.
    #[arg(long)]
    bridge: PathBuf,
    /// A Python interpreter with pedalboard.
    #[arg(long)]
    python: PathBuf,
    /// The folder of the scripts for Python.
    #[arg(long)]
    python_scripts: PathBuf,
    /// The folder of the VST3 plugins of dpf-plugins.
    #[arg(long)]
    dpf_plugins: PathBuf,
    /// Number of runs of each program. The medians are printed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: u32,
    /// Parts to leave out: songs, files, engines, effects, pedalboard-effects, threads, memory,
    /// signal, service, live-effects, plugin-window, plugins, browser, service-memory.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Measure only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// The goal of a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
        }
    }
}

/// Prints a figure, its goal, and whether the goal is met.
pub(crate) fn print_figure(name: &str, value: f64, unit: &str, goal: Option<Goal>) {
    let printed_value = if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") };
    let goal_text = match goal {
        None => String::new(),
        Some(goal) => {
            let (word, limit) = match goal {
                Goal::AtLeast(limit) => ("at least", limit),
                Goal::AtMost(limit) => ("at most", limit),
            };
            format!("goal {word} {limit} {unit}: {}", if goal.is_met(value) { "met" } else { "MISSED" })
        }
    };
    println!("{}", format!("{name:<60} {printed_value:>9} {unit:<8} {goal_text}").trim_end());
}

fn song_path(name: &str) -> PathBuf {
    Path::new(SONGS).join(name).with_extension("mid")
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let folder = tempfile::tempdir()?;
    println!(
        "48 kHz, polyphony 256 (ours: on each track), interpolation over four points, reverb and chorus on. Medians of {} runs.",
        args.runs
    );
    println!("Ratios of processor time: above 1, ours is faster.");
    let is_in = |list: &[String], name: &str| list.iter().any(|list_entry| list_entry == name);
    let is_selected =
        |name: &str| !is_in(&args.without, name) && (args.only.is_empty() || is_in(&args.only, name));
    if is_selected("songs") {
        songs::report(args, folder.path())?;
    }
    if is_selected("files") {
        finished_files::report(args, folder.path())?;
    }
    if is_selected("engines") {
        engines::report(args, folder.path())?;
    }
    if is_selected("effects") {
        effects::report(args, folder.path())?;
    }
    if is_selected("pedalboard-effects") {
        pedalboard_effects::report(args, folder.path())?;
    }
    if is_selected("threads") {
        engines::report_threads(args)?;
    }
    if is_selected("memory") {
        memory::report(args, folder.path())?;
    }
    if is_selected("signal") {
        crate::signal::report(args.runs)?;
    }
    if is_selected("service") {
        service::report(args, folder.path())?;
    }
    if is_selected("live-effects") {
        live_effects::report(args, folder.path())?;
    }
    if is_selected("plugin-window") {
        plugin_window::report(args, folder.path())?;
    }
    if is_selected("plugins") {
        plugins::report(args, folder.path())?;
    }
    if is_selected("browser") {
        browser::report(args)?;
    }
    if is_selected("service-memory") {
        service_memory::report(args, folder.path())?;
    }
    eprintln!("All measurements took {:.0} s.", start.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_includes_its_limit() {
        assert!(Goal::AtLeast(3.0).is_met(3.0));
        assert!(!Goal::AtLeast(3.0).is_met(2.99));
        assert!(Goal::AtMost(50.0).is_met(50.0));
        assert!(!Goal::AtMost(50.0).is_met(50.1));
    }
}
