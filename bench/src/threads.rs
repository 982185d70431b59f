//! Times a session of 16 tracks on several threads.

use std::time::Instant;

use dsp_core::render::{OfflineRender, RenderThreads, SingleThread, TailConfig};
use dsp_core::session::Session;
use serde::{Deserialize, Serialize};

use songfoundry_server::rendering::threads::Threads;

use crate::{SongAndBank, song};

/// Number of tracks of the session.
const TRACKS: usize = 16;

/// Renders a session of 16 tracks, copied from a song.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: SongAndBank,
    /// Number of threads that render the session.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// The measured time of a render.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RenderTime {
    /// Time on the clock in seconds.
    pub(crate) secs: f64,
}

/// Repeats the song's tracks that have events until there are 16.
fn sixteen_tracks(mut session: Session) -> anyhow::Result<Session> {
    session.tracks.retain(|track| !track.events.is_empty());
    let source_count = session.tracks.len();
    anyhow::ensure!(source_count > 0, "the song has no notes");
    for index in source_count..TRACKS {
        let mut track = session.tracks[index % source_count].clone();
        track.id = format!("{}-{index}", track.id);
        session.tracks.push(track);
    }
    session.tracks.truncate(TRACKS);
    Ok(session)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let session = sixteen_tracks(song::read_session(&args.input.song)?)?;
    let banks = [Some(song::open_prepared_bank(&session, &args.input.bank)?)];
    let threads = Threads::new(args.threads);
    let threads: &dyn RenderThreads = match &threads {
        Some(threads) if args.threads > 1 => threads,
        None if args.threads > 1 => anyhow::bail!("the system cannot start {} threads", args.threads),
        _ => &SingleThread,
    };
    let start = Instant::now();
    let mut render = OfflineRender::new(&session, &banks, TailConfig { max_secs: 0.0 })?;
    let mut loudest = 0.0_f32;
    while let Some((left, _)) = render.next_block_on(threads) {
        loudest = loudest.max(left[0].abs());
    }
    anyhow::ensure!(
        loudest > 0.001,
        "the session was silent: the measured peak is {loudest}, expected more than 0.001"
    );
    println!("{}", serde_json::to_string(&RenderTime { secs: start.elapsed().as_secs_f64() })?);
    Ok(())
}
