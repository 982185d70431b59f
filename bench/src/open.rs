//! Opening a bank.

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::song;

/// Opens a bank.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// SoundFont file.
    bank: PathBuf,
}

/// How long it took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// Seconds from the path to a bank that is ready to be played.
    pub(crate) secs: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let bank = song::bank(&args.bank)?;
    let secs = start.elapsed().as_secs_f64();
    anyhow::ensure!(!bank.summary().presets.is_empty(), "{} has no presets", args.bank.display());
    println!("{}", serde_json::to_string(&Opened { secs })?);
    Ok(())
}
