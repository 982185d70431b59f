//! A whole project to a WAV file.

use std::io::{Seek, Write};

use dsp_core::session::{Crew, OfflineRender, TailConfig};
use dsp_core::wav::SampleFormat;
use schemas::project::{Item, Project, Track, TrackKind};
use serde::Serialize;
use utoipa::ToSchema;

use super::delivery::{Content, Delivery};
use super::measure::Measured;
use super::sources::{Prepared, Sources, has_notes};
use super::{Observer, RenderError, crew};

/// A track whose peak stays below this is silent: -100 dBFS.
const SILENT_PEAK: f32 = 1e-5;

/// Blocks between two reports to the observer: at 48 kHz some 20 a second of song.
const REPORT_BLOCKS: u32 = 10;

/// How a project is to be rendered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixOptions {
    /// Sample rate of the file in hertz.
    pub sample_rate_hz: u32,
    /// How samples stand in the file.
    pub format: SampleFormat,
    /// Longest time in seconds that the sound may ring on after the last item.
    pub tail_secs: f64,
}

/// What a render was.
#[derive(Debug, Clone, PartialEq)]
pub struct MixReport {
    /// What was measured on the file.
    pub measured: Measured,
    /// Samples beyond full scale before they were clipped to it.
    pub clipped_samples: u64,
    /// Ids of tracks that should have been heard and were not.
    pub silent_tracks: Vec<String>,
    /// What the engine does not play of the project.
    pub left_out: Vec<LeftOutOfRender>,
    /// Where the last item ends, in seconds; the rest of the file is its tail.
    pub song_secs: f64,
}

/// Something of a project that is not in a render.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeftOutOfRender {
    /// JSON pointer to it.
    pub pointer: String,
    /// Why.
    pub reason: String,
}

/// Renders a project into `destination`, which is a whole WAV file afterwards.
///
/// The engine runs at the project's own sample rate, as it does when the project is played; a file of another
/// rate is converted from that.
///
/// # Errors
/// [`RenderError`]; the destination is then of no use.
pub fn render(
    project: &Project,
    options: &MixOptions,
    sources: &mut dyn Sources,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let prepared = Prepared::open(project, sources, observer)?;
    let playing = tracks_that_play(project);
    render_prepared(&prepared, options, &playing, crew::shared(), destination, observer)
}

/// Places of the tracks that have something to play.
pub(super) fn tracks_that_play(project: &Project) -> Vec<usize> {
    let plays = |(place, track): (usize, &Track)| {
        let plays = match track.kind {
            TrackKind::Instrument => has_notes(track),
            TrackKind::Audio => track.items.iter().any(|item| matches!(item, Item::Audio(_))),
            TrackKind::Bus | TrackKind::Group => false,
        };
        plays.then_some(place)
    };
    project.tracks.iter().enumerate().filter_map(plays).collect()
}

pub(super) fn render_prepared(
    prepared: &Prepared,
    options: &MixOptions,
    playing: &[usize],
    crew: &dyn Crew,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let session = &prepared.session;
    let tail = TailConfig { max_secs: options.tail_secs };
    let mut render = OfflineRender::new(session, prepared.slots(), tail)?;
    let rate_hz = session.sample_rate_hz;
    let mut delivery =
        Delivery::new(destination, rate_hz, session.length_frames, options, session.seed, Content::Mix)?;
    let mut peaks = vec![0.0_f32; 2 * session.tracks.len() + 2];
    let mut track_peaks = vec![0.0_f32; session.tracks.len()];
    let mut blocks = 0;
    while let Some((left, right)) = render.next_block_by(crew) {
        delivery.write(left, right)?;
        blocks += 1;
        if blocks % REPORT_BLOCKS == 0 {
            note_peaks(&mut render, &mut peaks, &mut track_peaks);
            let share = render.done_frames() as f64 / render.longest_frames().max(1) as f64;
            if !observer(share) {
                return Err(RenderError::Cancelled);
            }
        }
    }
    note_peaks(&mut render, &mut peaks, &mut track_peaks);
    let (measured, clipped_samples) = delivery.finish()?;
    // Closed by hand, as by a switch, is not silent by mistake.
    let closed = |place: usize| !render.lets_through(place) || session.tracks[place].gain == 0.0;
    let silent = |place: &&usize| track_peaks[**place] < SILENT_PEAK && !closed(**place);
    let silent_tracks =
        playing.iter().filter(silent).map(|&place| session.tracks[place].id.clone()).collect();
    Ok(MixReport {
        measured,
        clipped_samples,
        silent_tracks,
        left_out: prepared.left_out_in_words(),
        song_secs: session.length_frames as f64 / f64::from(rate_hz),
    })
}

fn note_peaks(render: &mut OfflineRender, peaks: &mut [f32], track_peaks: &mut [f32]) {
    render.take_peaks(peaks);
    for (highest, pair) in track_peaks.iter_mut().zip(peaks.chunks_exact(2)) {
        *highest = highest.max(pair[0]).max(pair[1]);
    }
}
