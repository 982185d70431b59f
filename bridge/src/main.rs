//! `songfoundry-bridge`: the native helper process that hosts audio plugins.
//!
//! The service starts a helper for each scan and never loads a plugin itself. A plugin that crashes
//! or hangs thus affects only its helper.

mod process;
mod scan;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use songfoundry_bridge_protocol::Capabilities;

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
    /// Run another command, and end all processes that it starts together with it.
    #[cfg(unix)]
    Supervise {
        #[command(subcommand)]
        command: process::supervise::Supervised,
    },
}

/// Returns the features of this build, which hosts no plugin format yet.
fn capabilities() -> Capabilities {
    Capabilities { version: env!("CARGO_PKG_VERSION").to_owned(), formats: Vec::new(), editor_windows: false }
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Capabilities => println!("{}", serde_json::to_string_pretty(&capabilities())?),
        Command::Scan { file } => scan::run(&file)?,
        #[cfg(unix)]
        Command::Supervise { command } => process::supervise::run(command)?,
    }
    Ok(())
}
