//! Times opening a bank.

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

/// Time to open a bank.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct OpenTime {
    /// Seconds from the path to a bank ready to play.
    pub(crate) secs: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let bank = song::open_bank(&args.bank)?;
    let secs = start.elapsed().as_secs_f64();
    anyhow::ensure!(!bank.summary().presets.is_empty(), "{} has no presets", args.bank.display());
    println!("{}", serde_json::to_string(&OpenTime { secs })?);
    Ok(())
}
