//! `songfoundry-bridge`: the native helper process that hosts audio plugins.
//!
//! The service starts one helper per job and never loads a plugin itself. A plugin that crashes or
//! hangs thus takes down only a helper.

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
    /// Print, as one JSON document, what this build of the helper can do.
    Capabilities,
    /// List the plugins in a module, a JSON document on each line.
    Scan {
        /// A VST3 or VST2 module: a library or a bundle.
        file: PathBuf,
    },
}

/// The features of this build. It hosts no plugin format yet.
fn capabilities() -> Capabilities {
    Capabilities { version: env!("CARGO_PKG_VERSION").to_owned(), formats: Vec::new(), editor_windows: false }
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Capabilities => println!("{}", serde_json::to_string_pretty(&capabilities())?),
        Command::Scan { file } => scan::run(&file)?,
    }
    Ok(())
}
