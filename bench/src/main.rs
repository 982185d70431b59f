//! Compares the engine with other synthesizers. `scripts/bench` compares its speed and memory,
//! `scripts/compare` its sound. Both scripts use the commands of this program.

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

#[derive(Debug, Parser)]
#[command(name = "songfoundry-bench", about = "Measures Songfoundry's engine")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prints all figures with their goals, as `scripts/bench` does.
    Report(report::Args),
    /// Compares the engine's sound with FluidSynth's, note by note.
    Compare(compare::Args),
    /// Renders a MIDI file to a 16-bit WAV file with the engine.
    Render(render::Args),
    /// Renders a MIDI file to a 16-bit WAV file with rustysynth.
    Rustysynth(rustysynth_render::Args),
    /// Writes a song's session and reduced bank for the engine in Node.js.
    Session(song::Args),
    /// Plays a song with the engine alone and prints its speed as JSON.
    Engine(engine::Args),
    /// Writes the sessions with effects for all engines.
    EffectsWrite(effects::WriteArgs),
    /// Plays sessions with effects and prints the processor time of each as JSON.
    EffectsSpeed(effects::SpeedArgs),
    /// Processes a recording with single effects and prints the processor time of each as JSON.
    EffectsBlocks(effects::BlocksArgs),
    /// Opens a bank and prints the time as JSON.
    Open(open::Args),
    /// Renders a session of 16 tracks and prints the time as JSON.
    Threads(threads::Args),
    /// Compares the speed of resampling and loudness with C libraries.
    Signal(signal::Args),
    /// Runs a command and prints its processor time and memory as JSON.
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
        Command::EffectsBlocks(args) => effects::blocks(&args),
        Command::Open(args) => open::run(&args),
        Command::Threads(args) => threads::run(&args),
        Command::Signal(args) => signal::run(&args),
        Command::Measure { command } => process::run(&command),
    }
}
