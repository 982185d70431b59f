//! The files of a mix. Each file gets its part of the frames, and the levels for its report.

use std::io::{Seek, Write};
use std::ops::Range;

use dsp_core::limiter::Reduction;
use dsp_core::render::OfflineRender;
use dsp_core::session::{Event, Session};
use schemas::project::Project;

use super::Observer;
use super::chapters::chapters;
use super::delivery::{Content, Delivery};
use super::error::RenderError;
use super::options::MixOptions;
use super::report::{LimiterReport, MixReport, SILENT_PEAK};
use super::sources::{PreparedRender, Sources};
use super::temporary::TemporaryFiles;

/// A file to render.
#[derive(Debug)]
pub struct MixFile<W> {
    /// Sample format and file format of the file, and the part of the song.
    pub options: MixOptions,
    /// Writer of the file.
    pub destination: W,
}

/// A file whose first frame is not rendered yet.
pub(super) struct WaitingFile<W> {
    index: usize,
    pub(super) options: MixOptions,
    /// The range in frames of the session; `None` is the whole song with its tail.
    pub(super) range: Option<Range<u64>>,
    max_frames: u64,
    destination: W,
}

impl<W: Write + Seek> WaitingFile<W> {
    /// Prepares a file. `index` identifies it.
    ///
    /// # Errors
    /// The range or the tempo map of the project cannot be used.
    pub(super) fn new(
        project: &Project,
        session: &Session,
        index: usize,
        file: MixFile<W>,
    ) -> Result<Self, RenderError> {
        let MixFile { mut options, destination } = file;
        let range = options.selection.frames(project, session)?;
        let max_frames = options.max_frames(session, range.as_ref());
        if let Some(tags) = &mut options.tags {
            let frames = range.clone().unwrap_or(0..session.length_frames);
            tags.chapters = chapters(project, session.sample_rate_hz, &frames, options.sample_rate_hz)?;
        }
        Ok(Self { index, options, range, max_frames, destination })
    }

    pub(super) fn start_frame(&self) -> u64 {
        self.range.as_ref().map_or(0, |range| range.start)
    }

    /// Returns the largest size of the file with its temporary files, in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        TemporaryFiles::size_bytes(&self.options, self.max_frames)
    }

    /// Starts the file.
    ///
    /// # Errors
    /// The file or its temporary files cannot be written.
    pub(super) fn start(
        self,
        session: &Session,
        sources: &mut dyn Sources,
    ) -> Result<RunningFile<W>, RenderError> {
        let Self { index, options, range, max_frames, destination } = self;
        let temporary_files = TemporaryFiles::open(&options, max_frames, sources)?;
        let (rate_hz, seed) = (session.sample_rate_hz, session.seed);
        let delivery = Delivery::new(destination, rate_hz, &options, seed, Content::Mix, temporary_files)?;
        Ok(RunningFile { index, range, delivery, levels: Levels::new(session.tracks.len()) })
    }
}

/// A file that is being rendered.
pub(super) struct RunningFile<W: Write + Seek> {
    index: usize,
    range: Option<Range<u64>>,
    delivery: Delivery<W>,
    levels: Levels,
}

impl<W: Write + Seek> RunningFile<W> {
    /// Whether all frames of the file are before `frame`. Always false for a file of the whole
    /// song.
    pub(super) fn ends_before(&self, frame: u64) -> bool {
        self.range.as_ref().is_some_and(|range| range.end <= frame)
    }

    /// Writes the frames that belong to the file. `frame` is the position of the first one in the
    /// session.
    pub(super) fn write(&mut self, frame: u64, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        let Some(range) = &self.range else { return self.delivery.write(left, right) };
        let index = |end: u64| end.saturating_sub(frame).min(left.len() as u64) as usize;
        let frames = index(range.start)..index(range.end);
        self.delivery.write(&left[frames.clone()], &right[frames])
    }

    /// Adds the levels of a part of the mix.
    pub(super) fn add_levels(&mut self, levels: &Levels) {
        self.levels.add(levels);
    }

    /// Completes the file. `audible` are the indices of the tracks that play somewhere in the
    /// song and are not muted. Returns the index of the file and its report.
    pub(super) fn finish(
        self,
        prepared_render: &PreparedRender,
        audible: &[usize],
        observer: Observer<'_>,
    ) -> Result<(usize, MixReport), RenderError> {
        let Self { index, range, delivery, levels } = self;
        let session = &prepared_render.session;
        let frames = range.as_ref().map_or(session.length_frames, |range| range.end - range.start);
        let plays = |track| range.as_ref().is_none_or(|range| plays_in(session, track, range));
        let silent_tracks = audible.iter().filter(|track| levels.is_silent(**track) && plays(**track));
        let report = MixReport {
            silent_tracks: silent_tracks.map(|track| session.tracks[*track].id.clone()).collect(),
            file: delivery.finish(observer)?,
            left_out: prepared_render.left_out_described(),
            missing_sounds: prepared_render.missing().to_vec(),
            damaged_samples: prepared_render.damaged().to_vec(),
            plugin_warnings: prepared_render.plugin_warnings().to_vec(),
            is_silent: levels.is_mix_silent(),
            song_secs: frames as f64 / f64::from(session.sample_rate_hz),
            limiter: LimiterReport::new(levels.reduction, session.sample_rate_hz),
        };
        Ok((index, report))
    }
}

/// Whether a note of a track begins in a range of frames, or a clip plays there.
fn plays_in(session: &Session, track_index: usize, range: &Range<u64>) -> bool {
    let track = &session.tracks[track_index];
    let mut notes = track.events.iter().filter(|event| matches!(event.event, Event::NoteOn { .. }));
    let mut clips = track.clips.iter();
    notes.any(|note| range.contains(&note.frame))
        || clips
            .any(|clip| clip.frame < range.end && clip.frame.saturating_add(clip.length_frames) > range.start)
}

/// Peaks and gain reduction of a part of a mix.
pub(super) struct Levels {
    /// Peaks of left and right of each track, and of the master.
    peaks: Vec<f32>,
    reduction: Reduction,
}

impl Levels {
    /// Returns the levels of silence.
    pub(super) fn new(tracks: usize) -> Self {
        Self { peaks: vec![0.0; 2 * tracks + 2], reduction: Reduction::NONE }
    }

    /// Replaces the levels by those since the last call for this render.
    pub(super) fn read_from(&mut self, render: &mut OfflineRender) {
        render.take_peaks(&mut self.peaks);
        self.reduction = render.take_limiter_reduction();
    }

    fn add(&mut self, levels: &Self) {
        for (peak, added_peak) in self.peaks.iter_mut().zip(&levels.peaks) {
            *peak = peak.max(*added_peak);
        }
        self.reduction = self.reduction.merge(levels.reduction);
    }

    fn is_silent(&self, track_index: usize) -> bool {
        self.peaks[2 * track_index..][..2].iter().all(|peak| *peak < SILENT_PEAK)
    }

    fn is_mix_silent(&self) -> bool {
        self.is_silent(self.peaks.len() / 2 - 1)
    }
}
