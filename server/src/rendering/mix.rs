//! Renders the mix of a project to one or several audio files.

use std::io::{Seek, Write};
use std::ops::Range;

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::render::{OfflineRender, RenderThreads, TailConfig};
use schemas::project::{EffectType, Item, Project, Track, TrackKind};

use super::error::RenderError;
pub use super::mix_file::MixFile;
use super::mix_file::{Levels, RunningFile, WaitingFile};
pub use super::options::MixOptions;
use super::pass::Pass;
pub use super::report::{FileReport, LeftOutOfRender, MixReport};
use super::sources::{PreparedRender, RenderedTracks, Sources, has_notes, plugin_tracks};
use super::{Observer, threads};

/// Progress of a render after its plugins have rendered their sounds, if the project has plugins.
const PLUGINS_PROGRESS: f64 = 0.5;

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
    let mut report = None;
    let file = MixFile { options: options.clone(), destination };
    render_files(project, vec![file], sources, &mut |_, file_report| report = Some(file_report), observer)?;
    report.ok_or_else(|| std::io::Error::other("the file of a mix has no report").into())
}

/// Renders a project as several complete files, which have the same tracks and the same tail.
///
/// The mix is rendered once for all files with a range, and once for all others: each file gets its
/// part of the mix. `on_finished` gets the index and the report of each file.
///
/// # Errors
/// [`RenderError`]; the content of the unfinished destinations is then undefined.
pub fn render_files<W: Write + Seek>(
    project: &Project,
    files: Vec<MixFile<W>>,
    sources: &mut dyn Sources,
    on_finished: &mut dyn FnMut(usize, MixReport),
    observer: Observer<'_>,
) -> Result<(), RenderError> {
    let selection = files.first().map(|file| file.options.selection.clone()).unwrap_or_default();
    let is_needed = |index: usize| selection.plays(&project.tracks[index]);
    let [instruments_end, mix_start] = plugin_progress(project, plugin_tracks(project, &is_needed).len());
    let mut instrument_observer = |progress: f64| observer(instruments_end * progress);
    let mut prepared_render =
        PreparedRender::open(project, sources, RenderedTracks::Routed(&is_needed), &mut instrument_observer)?;
    let mut session = std::mem::take(&mut prepared_render.session);
    selection.apply(&mut session);
    let mut effect_observer =
        |progress: f64| observer(instruments_end + (mix_start - instruments_end) * progress);
    prepared_render.play_plugin_effects(&mut session, sources, &mut effect_observer)?;
    prepared_render.session = session;
    let playing_tracks = tracks_with_content(project);
    let (mut whole_pass, mut range_pass) = (MixPass { files: Vec::new() }, MixPass { files: Vec::new() });
    let mut size_bytes = 0_u64;
    for (index, file) in files.into_iter().enumerate() {
        let file = WaitingFile::new(project, &prepared_render.session, index, file)?;
        size_bytes = size_bytes.saturating_add(file.size_bytes());
        let pass = if file.range.is_some() { &mut range_pass } else { &mut whole_pass };
        pass.files.push(file);
    }
    sources.ensure_room(size_bytes)?;
    let passes: Vec<_> = [whole_pass, range_pass].into_iter().filter(|pass| !pass.files.is_empty()).collect();
    let count = passes.len() as f64;
    for (number, pass) in passes.into_iter().enumerate() {
        let mut observer =
            |progress: f64| observer(mix_start + (1.0 - mix_start) * (number as f64 + progress) / count);
        pass.render(
            &prepared_render,
            &playing_tracks,
            threads::shared_threads(),
            sources,
            on_finished,
            &mut observer,
        )?;
    }
    Ok(())
}

/// Returns the progress after the plugin instruments, and after the plugin effects, have rendered.
fn plugin_progress(project: &Project, instruments: usize) -> [f64; 2] {
    let effects = project.tracks.iter().flat_map(|track| &track.effects).chain(&project.master.effects);
    let effects = effects.filter(|effect| effect.effect_type != EffectType::Builtin).count();
    match instruments + effects {
        0 => [0.0, 0.0],
        plugins => [PLUGINS_PROGRESS * instruments as f64 / plugins as f64, PLUGINS_PROGRESS],
    }
}

/// Returns the indices of the tracks that have notes or audio items, or are frozen.
pub(super) fn tracks_with_content(project: &Project) -> Vec<usize> {
    let plays = |(index, track): (usize, &Track)| {
        let plays = match track.kind {
            _ if track.frozen.is_some() => true,
            TrackKind::Instrument => has_notes(track),
            TrackKind::Audio => track.items.iter().any(|item| matches!(item, Item::Audio(_))),
            TrackKind::Bus | TrackKind::Group => false,
        };
        plays.then_some(index)
    };
    project.tracks.iter().enumerate().filter_map(plays).collect()
}

/// One pass of the engine over a song, and the files that get their parts of the mix from it.
/// Either all files have a range, or none has.
pub(super) struct MixPass<W: Write + Seek> {
    pub(super) files: Vec<WaitingFile<W>>,
}

impl<W: Write + Seek> MixPass<W> {
    /// Returns the range of frames that includes the ranges of all files.
    fn range(&self) -> Option<Range<u64>> {
        let ranges = || self.files.iter().filter_map(|file| file.range.as_ref());
        let start = ranges().map(|range| range.start).min()?;
        let end = ranges().map(|range| range.end).max()?;
        Some(start..end)
    }

    /// Renders the files. `playing_tracks` are the indices of the tracks that have notes or audio
    /// items.
    pub(super) fn render(
        mut self,
        prepared_render: &PreparedRender,
        playing_tracks: &[usize],
        threads: &dyn RenderThreads,
        sources: &mut dyn Sources,
        on_finished: &mut dyn FnMut(usize, MixReport),
        observer: Observer<'_>,
    ) -> Result<(), RenderError> {
        let session = &prepared_render.session;
        let range = self.range();
        let mut frame = range.as_ref().map_or(0, |range| range.start);
        let tail = TailConfig { max_secs: self.files.first().map_or(0.0, |file| file.options.tail_secs) };
        let mut render = match range {
            None => OfflineRender::new(session, prepared_render.slots(), tail)?,
            Some(range) => OfflineRender::of_range(session, prepared_render.slots(), range)?,
        };
        let max_frames = frame + render.max_frames();
        // Tracks that the user muted are not reported as silent.
        let is_open = |index: &usize| render.lets_through(*index) && session.tracks[*index].gain != 0.0;
        let audible_tracks: Vec<usize> = playing_tracks.iter().copied().filter(is_open).collect();
        let mut pass = Pass::begin(&prepared_render.reservation);
        // The frames before a range are rendered too, because notes and tails can last into the
        // range.
        let mut skipped_frames = 0;
        while frame > 0 && render.skip_block(threads) {
            skipped_frames += BLOCK_FRAMES as u64;
            if pass.is_due() {
                pass.report(skipped_frames, max_frames, observer)?;
            }
        }
        let mut levels = Levels::new(session.tracks.len());
        levels.read_from(&mut render);
        self.files.sort_by_key(|file| std::cmp::Reverse(file.start_frame()));
        let mut running_files: Vec<RunningFile<W>> = Vec::new();
        loop {
            let next_frame = frame + BLOCK_FRAMES as u64;
            if self.files.last().is_some_and(|file| file.start_frame() < next_frame) {
                levels.read_from(&mut render);
                running_files.iter_mut().for_each(|file| file.add_levels(&levels));
                while let Some(file) = self.files.pop_if(|file| file.start_frame() < next_frame) {
                    running_files.push(file.start(session, sources)?);
                }
            }
            let Some((left, right)) = render.next_block_on(threads) else { break };
            for file in &mut running_files {
                file.write(frame, left, right)?;
            }
            frame += left.len() as u64;
            let is_due = pass.is_due();
            let ends = running_files.iter().any(|file| file.ends_before(frame));
            if is_due || ends {
                levels.read_from(&mut render);
                running_files.iter_mut().for_each(|file| file.add_levels(&levels));
            }
            let progress = frame as f64 / max_frames.max(1) as f64;
            for file in running_files.extract_if(.., |file| file.ends_before(frame)) {
                let (index, report) =
                    file.finish(prepared_render, &audible_tracks, &mut |_| observer(progress))?;
                on_finished(index, report);
            }
            if is_due {
                pass.report(frame, max_frames, observer)?;
            }
        }
        levels.read_from(&mut render);
        for mut file in running_files {
            file.add_levels(&levels);
            let (index, report) = file.finish(prepared_render, &audible_tracks, observer)?;
            on_finished(index, report);
        }
        Ok(())
    }
}
