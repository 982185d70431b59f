//! A whole project to a WAV file.

use std::io::{Seek, Write};

use dsp_core::limiter::Reduction;
use dsp_core::session::{Crew, OfflineRender, TailConfig};
use dsp_core::wav::SampleFormat;
use schemas::project::{Item, Project, Track, TrackKind};
use serde::Serialize;
use utoipa::ToSchema;

use super::delivery::{Content, Delivery};
use super::measure::Measured;
use super::missing::MissingSound;
use super::pass::Pass;
use super::sources::{Prepared, Sources, has_notes};
use super::{Observer, RenderError, crew};

/// A track whose peak stays below this is silent: -100 dBFS.
pub(super) const SILENT_PEAK: f32 = 1e-5;

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
    /// SoundFonts and presets that the project names and that are not there.
    pub missing_sounds: Vec<MissingSound>,
    /// Whether nothing at all is to be heard in the file.
    pub is_silent: bool,
    /// Where the last item ends, in seconds; the rest of the file is its tail.
    pub song_secs: f64,
    /// Gain reduction of the mix limiter.
    pub limiter: LimiterReport,
}

/// Gain reduction of the mix limiter, at the project's own sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct LimiterReport {
    /// Largest reduction in decibels; 0 where the mix stayed below the ceiling of -3 dBFS.
    pub largest_reduction_db: f64,
    /// For how long the mix was reduced by more than 0.1 dB, in seconds of the song.
    pub reduced_secs: f64,
}

impl LimiterReport {
    fn new(reduction: Reduction, sample_rate_hz: u32) -> Self {
        let least_gain = f64::from(reduction.least_gain);
        Self {
            largest_reduction_db: if least_gain < 1.0 { -20.0 * least_gain.log10() } else { 0.0 },
            reduced_secs: reduction.frames as f64 / f64::from(sample_rate_hz),
        }
    }
}

/// Warning about a silent render.
const SILENT: &str = "The whole render is silent: it never exceeds -100 dBFS.";

impl MixReport {
    /// Warnings about the file, as sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        warnings(&self.missing_sounds, self.is_silent)
    }
}

/// Warnings about a render as sentences: what is missing, and whether nothing is to be heard.
#[must_use]
pub fn warnings(missing: &[MissingSound], is_silent: bool) -> Vec<String> {
    missing.iter().map(MissingSound::in_words).chain(is_silent.then(|| SILENT.to_owned())).collect()
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
/// The engine runs at the project's own sample rate, as it does when the project is played; a file
/// of another rate is converted from that.
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
    // The tracks, then the master.
    let mut track_peaks = vec![0.0_f32; session.tracks.len() + 1];
    let mut pass = Pass::begin(&prepared.reservation);
    while let Some((left, right)) = render.next_block_by(crew) {
        delivery.write(left, right)?;
        if pass.is_due() {
            note_peaks(&mut render, &mut peaks, &mut track_peaks);
            pass.report(render.done_frames(), render.longest_frames(), observer)?;
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
        missing_sounds: prepared.missing().to_vec(),
        is_silent: track_peaks.last().is_none_or(|peak| *peak < SILENT_PEAK),
        song_secs: session.length_frames as f64 / f64::from(rate_hz),
        limiter: LimiterReport::new(render.limiter_reduction(), rate_hz),
    })
}

fn note_peaks(render: &mut OfflineRender, peaks: &mut [f32], track_peaks: &mut [f32]) {
    render.take_peaks(peaks);
    for (highest, pair) in track_peaks.iter_mut().zip(peaks.chunks_exact(2)) {
        *highest = highest.max(pair[0]).max(pair[1]);
    }
}
