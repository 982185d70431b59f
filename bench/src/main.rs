//! Measures the engine beside other synthesizers. `scripts/bench` prints how fast it is,
//! `scripts/compare` how close it sounds; the other commands are the parts of which these two are
//! made.

mod compare;
mod effects;
mod engine;
mod open;
mod process;
mod render;
mod report;
mod rustysynth_render;
mod signal;
mod song;
mod stats;
mod threads;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "songfoundry-bench", about = "Measures Songfoundry's engine")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All figures with their goals, as `scripts/bench` prints them.
    Report(report::Args),
    /// How close the engine sounds to FluidSynth, note by note.
    Compare(compare::Args),
    /// Renders a MIDI file to a 16-bit WAV file with the engine.
    Render(render::Args),
    /// Renders a MIDI file to a 16-bit WAV file with rustysynth.
    Rustysynth(rustysynth_render::Args),
    /// Writes a song's session and reduced bank, for an engine that runs elsewhere.
    Session(song::Args),
    /// Runs the engine over a song, engine only, and prints its speed as JSON.
    Engine(engine::Args),
    /// Writes the sessions with effects, for an engine that runs elsewhere.
    EffectsWrite(effects::WriteArgs),
    /// Runs the engine over sessions with effects and prints its speed as JSON.
    EffectsSpeed(effects::SpeedArgs),
    /// Opens a bank and prints how long it took as JSON.
    Open(open::Args),
    /// Renders a session of 16 tracks and prints how long it took as JSON.
    Threads(threads::Args),
    /// How fast resampling and loudness are beside C libraries.
    Signal(signal::Args),
    /// Runs a command and prints what it used as JSON.
    Measure {
        /// The command and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

/// A song and the bank that plays it.
#[derive(Debug, Clone, clap::Args)]
struct SongAndBank {
    /// MIDI file.
    song: PathBuf,
    /// SoundFont file.
    bank: PathBuf,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Rustysynth(args) => rustysynth_render::run(&args),
        Command::Session(args) => song::run(&args),
        Command::Engine(args) => engine::run(&args),
        Command::EffectsWrite(args) => effects::write(&args),
        Command::EffectsSpeed(args) => effects::speed(&args),
        Command::Open(args) => open::run(&args),
        Command::Threads(args) => threads::run(&args),
        Command::Signal(args) => signal::run(&args),
        Command::Measure { command } => process::run(&command),
    }
}
