//! Renders parts of a mix: single tracks with their sends, buses and groups.
//!
//! To render a part, the session is changed instead of the engine. The part's track is the only
//! soloed track, so its routes through buses, groups and shared effects stay open and keep their
//! latencies. The master's limiter must not reduce the signal, because the parts would otherwise
//! not add up to the mix. Therefore the gain of the master is divided by a power of two, and the
//! output is multiplied by it. Both are exact in floats.

use std::io::{Seek, Write};
use std::sync::Arc;

use dsp_core::gain;
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{AutomationTarget, Session};
use schemas::Project;

use super::delivery::{Content, Delivery};
use super::encoder::Encoding;
use super::error::RenderError;
use super::missing::MissingSound;
use super::mix::tracks_with_content;
use super::options::MixOptions;
use super::pass::Pass;
use super::report::{LeftOutOfRender, SILENT_PEAK, warnings};
use super::sources::{PreparedRender, RenderedTracks, Sources};
use super::temporary::TemporaryFiles;
use super::{Observer, threads};
use crate::encoding::measure::Measurements;

/// Factor by which the gain of the master is divided. Peaks up to +21 dBFS then stay below the
/// limiter's ceiling of -3 dBFS.
const HEADROOM_FACTOR: f32 = 16.0;

/// A part of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A track's contribution to the mix: through its fader, its sends, the buses and groups, and
    /// the master's fader, but without the master's effects. If tracks share only faders and
    /// reverbs, all stems add up to the mix.
    Stem(usize),
    /// Like [`Self::Stem`], but also through the master's effects and limiter, as if only this
    /// track played. The limiter is not linear, so the stems do not add up to the mix.
    ThroughMaster(usize),
    /// A track after its effects, with its sends to the shared reverb and chorus. Its fader, pan
    /// and other sends do not apply.
    BeforeFader(usize),
    /// Like [`Self::BeforeFader`], but after fader and pan.
    AfterFader(usize),
}

impl Part {
    fn track_index(self) -> usize {
        match self {
            Self::Stem(track_index)
            | Self::ThroughMaster(track_index)
            | Self::BeforeFader(track_index)
            | Self::AfterFader(track_index) => track_index,
        }
    }
}

/// Result of rendering a part.
#[derive(Debug)]
pub struct PartReport {
    /// Measurements of the file.
    pub measured: Measurements,
    /// Whether the file is silent apart from its dither.
    pub is_silent: bool,
}

/// A project that is opened once in order to render several of its parts.
#[derive(Debug)]
pub struct Parts {
    prepared_render: PreparedRender,
    playing_tracks: Vec<usize>,
    options: MixOptions,
    encoding: Option<Arc<Encoding>>,
}

impl Parts {
    /// Reserves memory for a project's renders, and opens its banks and audio at the project's
    /// sample rate. All parts are rendered with `options`, and are parts of the tracks in
    /// `rendered`.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn open(
        project: &Project,
        options: MixOptions,
        sources: &mut dyn Sources,
        rendered: RenderedTracks<'_>,
        observer: Observer<'_>,
    ) -> Result<Self, RenderError> {
        let prepared_render = PreparedRender::open(project, sources, rendered, observer)?;
        let encoding = Encoding::open(&options, options.max_frames(&prepared_render.session, None), sources)?
            .map(Arc::new);
        Ok(Self { prepared_render, playing_tracks: tracks_with_content(project), options, encoding })
    }

    /// Returns the indices of the unmuted tracks that have notes or audio items. Solo does not
    /// matter, because it is meant for listening.
    #[must_use]
    pub fn audible_tracks(&self) -> Vec<usize> {
        let tracks = &self.prepared_render.session.tracks;
        self.playing_tracks.iter().copied().filter(|&track_index| !tracks[track_index].mute).collect()
    }

    /// Returns the largest size of a part's file in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.options.max_file_bytes(self.options.max_frames(&self.prepared_render.session, None))
    }

    /// Returns the parts of the project that the engine cannot play, with the reasons.
    #[must_use]
    pub fn left_out(&self) -> Vec<LeftOutOfRender> {
        self.prepared_render.left_out_described()
    }

    /// Returns the missing SoundFonts and presets of the project.
    #[must_use]
    pub fn missing_sounds(&self) -> &[MissingSound] {
        self.prepared_render.missing()
    }

    /// Returns warnings about files of these parts, as sentences. `is_silent` says whether the
    /// files are silent.
    #[must_use]
    pub fn warnings(&self, is_silent: bool) -> Vec<String> {
        let prepared = &self.prepared_render;
        warnings(prepared.missing(), prepared.damaged(), prepared.plugin_warnings(), is_silent)
    }

    /// Renders a part as a complete file into `destination`. `sources` must be the sources of
    /// [`Self::open`]. All parts have the same length: up to the end of the last item, plus the
    /// maximum tail.
    ///
    /// # Errors
    /// [`RenderError`]; the content of the destination is then undefined.
    pub fn render(
        &mut self,
        part: Part,
        sources: &mut dyn Sources,
        destination: impl Write + Seek,
        observer: Observer<'_>,
    ) -> Result<PartReport, RenderError> {
        let mut session = part_session(&self.prepared_render.session, part, self.options.tail_secs);
        // Plugins get the song without the tail of the part, as in a mix, so that the parts have
        // the same plugin sounds as the mix.
        let part_frames =
            std::mem::replace(&mut session.length_frames, self.prepared_render.session.length_frames);
        let mut plugins_observer = |_| observer(0.0);
        self.prepared_render.play_plugin_effects(&mut session, sources, &mut plugins_observer)?;
        session.length_frames = part_frames;
        let options = &self.options;
        let temporary_files = TemporaryFiles { staging_file: None, encoding: self.encoding.clone() };
        let no_tail = TailConfig { max_secs: 0.0 };
        let mut render = OfflineRender::new(&session, self.prepared_render.slots(), no_tail)?;
        let (rate_hz, seed) = (session.sample_rate_hz, session.seed);
        let (factor, content) = match part {
            Part::ThroughMaster(_) => (1.0, Content::Mix),
            Part::Stem(_) | Part::BeforeFader(_) | Part::AfterFader(_) => (HEADROOM_FACTOR, Content::Part),
        };
        let mut delivery = Delivery::new(destination, rate_hz, options, seed, content, temporary_files)?;
        let (mut left, mut right, mut peak) = (Vec::new(), Vec::new(), 0.0_f32);
        let mut pass = Pass::begin(&self.prepared_render.reservation);
        while let Some((input_left, input_right)) = render.next_block_on(threads::shared_threads()) {
            for (output, input) in [(&mut left, input_left), (&mut right, input_right)] {
                output.clear();
                output.extend(input.iter().map(|sample| sample * factor));
                peak = output.iter().fold(peak, |peak, sample| peak.max(sample.abs()));
            }
            delivery.write(&left, &right)?;
            if pass.is_due() {
                pass.report(render.done_frames(), render.max_frames(), observer)?;
            }
        }
        let measurements = delivery.finish(observer)?.measured;
        Ok(PartReport { measured: measurements, is_silent: peak < SILENT_PEAK })
    }
}

/// Returns a session in which only this part is audible. Unless the part passes through the master,
/// the gain of the master is divided by [`HEADROOM_FACTOR`].
fn part_session(mix: &Session, part: Part, tail_secs: f64) -> Session {
    let mut session = mix.clone();
    let tail_frames = (tail_secs * f64::from(session.sample_rate_hz)) as u64;
    session.length_frames = session.length_frames.saturating_add(tail_frames);
    for track in &mut session.tracks {
        track.solo = false;
    }
    let track = &mut session.tracks[part.track_index()];
    (track.solo, track.mute) = (true, false);
    if matches!(part, Part::ThroughMaster(_)) {
        return session;
    }
    session.master_effects.clear();
    session.master_automation.retain(|lane| lane.target == AutomationTarget::Volume);
    if !matches!(part, Part::Stem(_)) {
        (track.output, session.master_gain) = (None, 1.0);
        track.sends.clear();
        session.master_automation.clear();
    }
    match part {
        Part::Stem(_) | Part::ThroughMaster(_) => {}
        Part::AfterFader(_) => {
            track.automation.retain(|lane| !matches!(lane.target, AutomationTarget::Send(_)));
        }
        Part::BeforeFader(_) => {
            (track.gain, track.pan) = (1.0, 0.0);
            track.automation.retain(|lane| matches!(lane.target, AutomationTarget::Effect { .. }));
        }
    }
    session.master_gain /= HEADROOM_FACTOR;
    let headroom_db = gain::to_db(f64::from(HEADROOM_FACTOR));
    for point in session.master_automation.iter_mut().flat_map(|lane| &mut lane.points) {
        point.value -= headroom_db;
    }
    session
}
