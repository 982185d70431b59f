//! Renders the mix of a project to an audio file.

use std::io::{Seek, Write};
use std::ops::Range;

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::render::{OfflineRender, RenderThreads, TailConfig};
use schemas::project::{Item, Project, Track, TrackKind};

use super::chapters::chapters;
use super::delivery::{Content, Delivery};
use super::error::RenderError;
pub use super::options::MixOptions;
use super::pass::Pass;
use super::report::LimiterReport;
pub use super::report::{FileReport, LeftOutOfRender, MixReport};
use super::sources::{Prepared, Sources, has_notes};
use super::temporary::Temporary;
use super::{Observer, threads};

/// Peak below which a track counts as silent: -100 dBFS.
pub(super) const SILENT_PEAK: f32 = 1e-5;

/// Renders a project as a complete file into `destination`.
///
/// The engine runs at the project's sample rate, as in playback. If the file has another rate, its
/// samples are converted. With [`MixOptions::normalization`], the mix waits in a temporary file
/// until it is complete.
///
/// # Errors
/// [`RenderError`]; the content of the destination is then undefined.
pub fn render(
    project: &Project,
    options: &MixOptions,
    sources: &mut dyn Sources,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let mut prepared = Prepared::open(project, sources, observer)?;
    let range = options.selection.frames(project, &prepared.session)?;
    options.selection.apply(&mut prepared.session);
    let playing = tracks_that_play(project);
    let max_frames = options.max_frames(&prepared.session, range.as_ref());
    let mut options = options.clone();
    if let Some(tags) = &mut options.tags {
        let frames = range.clone().unwrap_or(0..prepared.session.length_frames);
        tags.chapters = chapters(project, prepared.session.sample_rate_hz, &frames, options.sample_rate_hz)?;
    }
    let files = Temporary::open(&options, max_frames, sources)?;
    let work = Work { playing: &playing, range };
    render_prepared(&prepared, &options, work, threads::shared(), destination, files, observer)
}

/// Returns the indices of the tracks that have notes or audio items.
pub(super) fn tracks_that_play(project: &Project) -> Vec<usize> {
    let plays = |(index, track): (usize, &Track)| {
        let plays = match track.kind {
            TrackKind::Instrument => has_notes(track),
            TrackKind::Audio => track.items.iter().any(|item| matches!(item, Item::Audio(_))),
            TrackKind::Bus | TrackKind::Group => false,
        };
        plays.then_some(index)
    };
    project.tracks.iter().enumerate().filter_map(plays).collect()
}

/// What to render of a prepared session.
#[derive(Debug, Default)]
pub(super) struct Work<'a> {
    /// Indices of the tracks that have notes or audio items.
    playing: &'a [usize],
    /// The frames to render; `None` is the whole song with its tail.
    range: Option<Range<u64>>,
}

pub(super) fn render_prepared(
    prepared: &Prepared,
    options: &MixOptions,
    Work { playing, range }: Work<'_>,
    threads: &dyn RenderThreads,
    destination: impl Write + Seek,
    Temporary { staged, encoding }: Temporary,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let session = &prepared.session;
    let tail = TailConfig { max_secs: options.tail_secs };
    let song_secs = |frames: u64| frames as f64 / f64::from(session.sample_rate_hz);
    let end_secs = song_secs(range.as_ref().map_or(session.length_frames, |range| range.end - range.start));
    let start_frame = range.as_ref().map_or(0, |range| range.start);
    let mut render = match range {
        None => OfflineRender::new(session, prepared.slots(), tail)?,
        Some(range) => OfflineRender::of_range(session, prepared.slots(), range)?,
    };
    let rate_hz = session.sample_rate_hz;
    let seed = session.seed;
    let mut delivery =
        Delivery::new(destination, rate_hz, options, seed, Content::Mix, staged, encoding.as_ref())?;
    let mut peaks = vec![0.0_f32; 2 * session.tracks.len() + 2];
    // Peak of each track, followed by the peak of the master.
    let mut track_peaks = vec![0.0_f32; session.tracks.len() + 1];
    let mut pass = Pass::begin(&prepared.reservation);
    // The frames before a range are rendered, too, because their sound may last into it.
    let mut skipped_frames = 0;
    while start_frame > 0 && render.skip_by(threads) {
        skipped_frames += BLOCK_FRAMES as u64;
        if pass.is_due() {
            pass.report(skipped_frames, start_frame + render.max_frames(), observer)?;
        }
    }
    while let Some((left, right)) = render.next_block_by(threads) {
        delivery.write(left, right)?;
        if pass.is_due() {
            update_peaks(&mut render, &mut peaks, &mut track_peaks);
            pass.report(start_frame + render.done_frames(), start_frame + render.max_frames(), observer)?;
        }
    }
    update_peaks(&mut render, &mut peaks, &mut track_peaks);
    let file = delivery.finish(observer)?;
    // Tracks that the user muted are not reported as silent.
    let is_closed = |index: usize| !render.lets_through(index) || session.tracks[index].gain == 0.0;
    let silent = |index: &&usize| track_peaks[**index] < SILENT_PEAK && !is_closed(**index);
    let silent_tracks =
        playing.iter().filter(silent).map(|&index| session.tracks[index].id.clone()).collect();
    Ok(MixReport {
        file,
        silent_tracks,
        left_out: prepared.left_out_described(),
        missing_sounds: prepared.missing().to_vec(),
        damaged_samples: prepared.damaged().to_vec(),
        is_silent: track_peaks.last().is_none_or(|peak| *peak < SILENT_PEAK),
        song_secs: end_secs,
        limiter: LimiterReport::new(render.limiter_reduction(), rate_hz),
    })
}

fn update_peaks(render: &mut OfflineRender, peaks: &mut [f32], track_peaks: &mut [f32]) {
    render.take_peaks(peaks);
    for (highest, stereo_peaks) in track_peaks.iter_mut().zip(peaks.chunks_exact(2)) {
        *highest = highest.max(stereo_peaks[0]).max(stereo_peaks[1]);
    }
}
