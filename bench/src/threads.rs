//! A session of 16 tracks.

use std::time::Instant;

use dsp_core::render::{OfflineRender, RenderThreads, SingleThread, TailConfig};
use dsp_core::session::Session;
use serde::{Deserialize, Serialize};

use songfoundry_server::rendering::threads::Threads;

use crate::{SongAndBank, song};

/// Tracks of the session.
const TRACKS: usize = 16;

/// Renders a session of 16 tracks, made of a song's.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: SongAndBank,
    /// Threads that render it.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// How long it took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Rendered {
    /// Seconds that passed.
    pub(crate) secs: f64,
}

/// The song's sounding tracks over and over, until there are 16.
fn sixteen_tracks(mut session: Session) -> anyhow::Result<Session> {
    session.tracks.retain(|track| !track.events.is_empty());
    let own = session.tracks.len();
    anyhow::ensure!(own > 0, "the song has no notes");
    for place in own..TRACKS {
        let mut track = session.tracks[place % own].clone();
        track.id = format!("{}-{place}", track.id);
        session.tracks.push(track);
    }
    session.tracks.truncate(TRACKS);
    Ok(session)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let session = sixteen_tracks(song::session(&args.input.song)?)?;
    let banks = [Some(song::bank_for(&session, &args.input.bank)?)];
    let threads = Threads::new(args.threads);
    let threads: &dyn RenderThreads = match &threads {
        Some(threads) if args.threads > 1 => threads,
        None if args.threads > 1 => anyhow::bail!("the system gives no {} threads", args.threads),
        _ => &SingleThread,
    };
    let start = Instant::now();
    let mut render = OfflineRender::new(&session, &banks, TailConfig { max_secs: 0.0 })?;
    let mut loudest = 0.0_f32;
    while let Some((left, _)) = render.next_block_by(threads) {
        loudest = loudest.max(left[0].abs());
    }
    anyhow::ensure!(loudest > 0.001, "the session was silent");
    println!("{}", serde_json::to_string(&Rendered { secs: start.elapsed().as_secs_f64() })?);
    Ok(())
}
