//! Songs in the engine's terms.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dsp_core::session::Session;
use dsp_core::soundfont::Bank;
use serde::{Deserialize, Serialize};
use songfoundry_server::multitrack::midi::{ImportOptions, import};
use songfoundry_server::rendering::banks;

use crate::SongAndBank;

/// Sample rate of every measurement, in hertz.
pub(crate) const RATE_HZ: u32 = 48_000;
/// Voices that each synthesizer may sound at a time; ours: on each track.
pub(crate) const POLYPHONY: u16 = 256;

/// Writes a song's session and bank.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: SongAndBank,
    /// Where the session goes, as the bytes that the browser's engine takes.
    #[arg(long)]
    session: PathBuf,
    /// Where the bank goes, reduced to what the session plays.
    #[arg(long)]
    reduced: PathBuf,
}

/// What was written.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    /// Length of the session in frames.
    pub(crate) length_frames: u64,
    /// Size of the reduced bank in bytes.
    pub(crate) bank_bytes: usize,
}

/// The session of a MIDI file whose every track plays the bank in slot 0.
pub(crate) fn session(song: &Path) -> anyhow::Result<Session> {
    let bytes = fs::read(song).with_context(|| song.display().to_string())?;
    let mut project =
        import(&bytes, ImportOptions::default()).with_context(|| song.display().to_string())?.project;
    project.settings.polyphony = POLYPHONY;
    Ok(schemas::session::build(&project, RATE_HZ, |_| Some(0))?)
}

/// A bank as the service opens it.
pub(crate) fn bank(path: &Path) -> anyhow::Result<Bank> {
    banks::open(path).with_context(|| path.display().to_string())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let session = session(&args.input.song)?;
    fs::write(&args.session, postcard::to_allocvec(&session)?)?;
    let bank_bytes = fs::read(&args.input.bank)?;
    fs::write(&args.reduced, &bank_bytes)?;
    let written = Written { length_frames: session.length_frames, bank_bytes: bank_bytes.len() };
    println!("{}", serde_json::to_string(&written)?);
    Ok(())
}
