//! `songfoundry-bridge`: the native helper process that hosts audio plugins.
//!
//! The service starts a helper for each scan and never loads a plugin itself. A plugin that crashes
//! or hangs thus affects only its helper.

#[cfg(target_os = "linux")]
mod gui;
mod host;
mod module;
mod process;
mod scan;
mod vst2;
mod vst3;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use songfoundry_bridge_protocol::{Capabilities, PluginFormat};

/// Default limit of the memory of a process that hosts a plugin, in bytes. Large samplers have some
/// gigabytes of sounds in memory.
const HOST_MEMORY_MAX_BYTES: u64 = 4 << 30;

#[derive(Parser)]
#[command(name = "songfoundry-bridge", version, about = "Hosts audio plugins for the Songfoundry service")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the features of this build of the helper as one JSON document.
    Capabilities,
    /// List the plugins in a module, one JSON document per line.
    Scan {
        /// A VST3 or VST2 module: a library or a bundle.
        file: PathBuf,
    },
    /// Host a plugin for the service that started this process.
    Host {
        /// File descriptor of the inherited socket for requests and answers.
        #[arg(long)]
        socket: i32,
        /// Maximum memory of this process.
        #[arg(long, default_value_t = HOST_MEMORY_MAX_BYTES)]
        memory_max_bytes: u64,
    },
    /// Show the own window of a plugin to the service that started this process.
    #[cfg(target_os = "linux")]
    Gui {
        /// File descriptor of the inherited socket for requests and answers.
        #[arg(long)]
        socket: i32,
        /// Maximum memory of this process.
        #[arg(long, default_value_t = HOST_MEMORY_MAX_BYTES)]
        memory_max_bytes: u64,
    },
    /// Run another command, and end all processes that it starts together with it.
    #[cfg(unix)]
    Supervise {
        #[command(subcommand)]
        command: process::supervise::Supervised,
    },
}

/// Returns the features of this build. Only builds for Linux host plugins.
fn capabilities() -> Capabilities {
    let formats = match cfg!(target_os = "linux") {
        true => vec![PluginFormat::Vst2, PluginFormat::Vst3],
        false => Vec::new(),
    };
    Capabilities {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        formats,
        editor_windows: cfg!(target_os = "linux"),
    }
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Capabilities => println!("{}", serde_json::to_string_pretty(&capabilities())?),
        Command::Scan { file } => scan::run(&file)?,
        Command::Host { socket, memory_max_bytes } => host::run(socket, memory_max_bytes)?,
        #[cfg(target_os = "linux")]
        Command::Gui { socket, memory_max_bytes } => gui::run(socket, memory_max_bytes)?,
        #[cfg(unix)]
        Command::Supervise { command } => process::supervise::run(command)?,
    }
    Ok(())
}
