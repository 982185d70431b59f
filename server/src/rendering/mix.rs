//! Renders the mix of a project to an audio file.

use std::fs::File;
use std::io::{Seek, Write};

use dsp_core::render::{OfflineRender, RenderThreads, TailConfig};
use schemas::project::{Item, Project, Track, TrackKind};

use super::delivery::{Content, Delivered, Delivery};
use super::error::RenderError;
use super::normalization::FRAME_BYTES;
pub use super::options::MixOptions;
use super::pass::Pass;
use super::report::LimiterReport;
pub use super::report::{LeftOutOfRender, MixReport, warnings};
use super::sources::{Prepared, Sources, has_notes};
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
    let prepared = Prepared::open(project, sources, observer)?;
    let playing = tracks_that_play(project);
    let temporary = match options.normalization {
        None => None,
        Some(_) => {
            let size_bytes = options.max_frames(&prepared.session) * FRAME_BYTES as u64;
            Some(sources.temporary_file(size_bytes)?)
        }
    };
    render_prepared(&prepared, options, &playing, threads::shared(), destination, temporary, observer)
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

pub(super) fn render_prepared(
    prepared: &Prepared,
    options: &MixOptions,
    playing: &[usize],
    threads: &dyn RenderThreads,
    destination: impl Write + Seek,
    temporary: Option<File>,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let session = &prepared.session;
    let tail = TailConfig { max_secs: options.tail_secs };
    let mut render = OfflineRender::new(session, prepared.slots(), tail)?;
    let rate_hz = session.sample_rate_hz;
    let seed = session.seed;
    let mut delivery = Delivery::new(destination, rate_hz, options, seed, Content::Mix, temporary)?;
    let mut peaks = vec![0.0_f32; 2 * session.tracks.len() + 2];
    // Peak of each track, followed by the peak of the master.
    let mut track_peaks = vec![0.0_f32; session.tracks.len() + 1];
    let mut pass = Pass::begin(&prepared.reservation);
    while let Some((left, right)) = render.next_block_by(threads) {
        delivery.write(left, right)?;
        if pass.is_due() {
            update_peaks(&mut render, &mut peaks, &mut track_peaks);
            pass.report(render.done_frames(), render.max_frames(), observer)?;
        }
    }
    update_peaks(&mut render, &mut peaks, &mut track_peaks);
    let Delivered { measured, clipped_samples, normalization } = delivery.finish(observer)?;
    // Tracks that the user muted are not reported as silent.
    let is_closed = |index: usize| !render.lets_through(index) || session.tracks[index].gain == 0.0;
    let silent = |index: &&usize| track_peaks[**index] < SILENT_PEAK && !is_closed(**index);
    let silent_tracks =
        playing.iter().filter(silent).map(|&index| session.tracks[index].id.clone()).collect();
    Ok(MixReport {
        measured,
        clipped_samples,
        silent_tracks,
        left_out: prepared.left_out_described(),
        missing_sounds: prepared.missing().to_vec(),
        is_silent: track_peaks.last().is_none_or(|peak| *peak < SILENT_PEAK),
        song_secs: session.length_frames as f64 / f64::from(rate_hz),
        limiter: LimiterReport::new(render.limiter_reduction(), rate_hz),
        normalization,
    })
}

fn update_peaks(render: &mut OfflineRender, peaks: &mut [f32], track_peaks: &mut [f32]) {
    render.take_peaks(peaks);
    for (highest, stereo_peaks) in track_peaks.iter_mut().zip(peaks.chunks_exact(2)) {
        *highest = highest.max(stereo_peaks[0]).max(stereo_peaks[1]);
    }
}
