//! The command line: `songfoundry serve | worker | render | master | analyze | admin | config |
//! openapi`.
//!
//! Each command is a file with a struct `Args` and a function `run`, and a variant of `Command`.

mod admin;
mod analyze;
mod config;
mod file_args;
mod levels;
mod master;
mod openapi;
mod output;
mod progress;
mod render;
mod serve;
mod standard_output;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::allocator;
use crate::config::{Config, ConfigError, Source};

/// A self-hosted music workstation: the service, and its audio engine on the command line.
#[derive(Debug, Parser)]
#[command(name = "songfoundry", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli {
    /// Settings file. If this is left out, `songfoundry.toml` in the current folder is read.
    #[arg(long, global = true, value_name = "FILE", env = "SF_CONFIG")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  songfoundry serve                      Start, and open the printed address in a browser
  SF_PORT=0 songfoundry serve            Start on a free port
  songfoundry render song.mid --soundfont bank.sf2 -o song.wav
                                         Render a song without a service
  songfoundry master mix.wav --lufs -14 -o master.flac
                                         Normalize and convert an audio file
  songfoundry admin create-user ada      Create an account and print its first password
  songfoundry admin backup /backup/today Save all data, while the service runs
  songfoundry config                     All settings: value, default, unit, range, meaning

Help for a command: songfoundry help <command>";

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the service and print its address.
    Serve(serve::Args),
    /// Run background tasks beside a service on PostgreSQL.
    Worker(worker::Args),
    /// Render a MIDI file or a project to an audio file.
    Render(Box<render::Args>),
    /// Convert an audio file: loudness, sample rate, dither, format and tags.
    Master(Box<master::Args>),
    /// Measure an audio file: loudness, peaks, spectrum, tempo and key.
    Analyze(analyze::Args),
    /// Manage accounts, backups and the storage.
    Admin(admin::Args),
    /// Decode one audio file for the service, in a process with separate limits.
    #[command(hide = true)]
    Decode,
    /// Encode one audio file, in a process with separate limits.
    #[command(hide = true)]
    Encode,
    /// Print every setting with its value, default, unit and range.
    Config(config::Args),
    /// Print the description of the API.
    Openapi(openapi::Args),
}

/// Parses the command line and runs the command.
#[must_use]
pub fn run() -> ExitCode {
    allocator::set_up();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(help_or_error) => return print_help_or_error(&help_or_error),
    };
    let settings = Settings { file: cli.config };
    let outcome = match cli.command {
        Command::Serve(args) => serve::run(&args, &settings),
        Command::Worker(args) => worker::run(&args, &settings),
        Command::Render(args) => render::run(&args, &settings),
        Command::Master(args) => master::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Admin(args) => admin::run(&args, &settings),
        Command::Decode => crate::audio::decoder::child::run(),
        Command::Encode => crate::encoding::child::run(),
        Command::Config(args) => config::run(&args, &settings),
        Command::Openapi(args) => openapi::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Prints an error. Returns the exit code.
fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("songfoundry: {}", describe(error));
    ExitCode::FAILURE
}

/// Prints the help or an error of the command line. Returns the exit code.
fn print_help_or_error(help_or_error: &clap::Error) -> ExitCode {
    match standard_output::check(help_or_error.print()) {
        Ok(()) => ExitCode::from(u8::try_from(help_or_error.exit_code()).unwrap_or(1)),
        Err(error) => fail(&error),
    }
}

/// Returns an error and its causes in one line. Leaves out a cause if the text before it already
/// ends with it.
fn describe(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// The settings file of a command.
#[derive(Debug)]
struct Settings {
    file: Option<PathBuf>,
}

impl Settings {
    fn source(&self) -> Result<Source, ConfigError> {
        Source::from_process(self.file.as_deref())
    }

    fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&self.source()?)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::describe;

    #[test]
    fn a_repeated_cause_is_printed_once() {
        let error = anyhow!("no such file").context("it cannot be read: no such file").context("a.sf2");
        assert_eq!(describe(&error), "a.sf2: it cannot be read: no such file");
        assert_eq!(describe(&anyhow!("b").context("a")), "a: b");
    }
}
