//! Parts of a project's mix: single tracks with all that belongs to them.
//!
//! A part is made by changing the session, not the engine: the track alone is soloed, so its ways
//! through buses, groups and the shared effects stay open and keep their latencies. The master's
//! limiter must not work, or parts would not add up to the mix: the master turns everything down by
//! a power of two, which floats take without any rounding, and what comes out is turned up again by
//! the same factor.

use std::io::{Seek, Write};

use dsp_core::gain;
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{AutomationTarget, Session};
use schemas::Project;

use super::delivery::{Content, Delivery};
use super::error::RenderError;
use super::measure::Measured;
use super::missing::MissingSound;
use super::mix::{SILENT_PEAK, tracks_that_play};
use super::options::MixOptions;
use super::pass::Pass;
use super::report::LeftOutOfRender;
use super::sources::{Prepared, Sources};
use super::{CHANNELS, Observer, crew};

/// By how much the master turns a part down: peaks of +21 dBFS stay below the limiter's -3 dBFS.
const HEADROOM: f32 = 16.0;

/// A part of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What a track adds to the mix: through its fader, sends, buses and groups, and the master's
    /// fader, without the master's effects. Where nothing but faders is in common, the stems of all
    /// tracks add up to the mix.
    Stem(usize),
    /// A track behind its effects, with what it sends to the shared reverb and chorus, before
    /// fader, pan and sends.
    BeforeFader(usize),
    /// The same behind fader and pan.
    AfterFader(usize),
}

impl Part {
    fn track_index(self) -> usize {
        match self {
            Self::Stem(track_index) | Self::BeforeFader(track_index) | Self::AfterFader(track_index) => {
                track_index
            }
        }
    }
}

/// A finished render of a part.
#[derive(Debug)]
pub struct PartReport {
    /// What was measured on the file.
    pub measured: Measured,
    /// Whether the file is silent but for its dither.
    pub is_silent: bool,
}

/// A project that was opened once, of which several parts are rendered.
#[derive(Debug)]
pub struct Parts {
    prepared: Prepared,
    playing: Vec<usize>,
}

impl Parts {
    /// Opens everything that a project plays, at its own sample rate, once there is memory for
    /// rendering it.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn open(
        project: &Project,
        sources: &mut dyn Sources,
        observer: Observer<'_>,
    ) -> Result<Self, RenderError> {
        let prepared = Prepared::open(project, sources, observer)?;
        Ok(Self { prepared, playing: tracks_that_play(project) })
    }

    /// Indices of the tracks that have something to play and are not muted. Solo does not count: it
    /// is for listening.
    #[must_use]
    pub fn audible_tracks(&self) -> Vec<usize> {
        let tracks = &self.prepared.session.tracks;
        self.playing.iter().copied().filter(|&track_index| !tracks[track_index].mute).collect()
    }

    /// Bytes of a part's file, its header not counted.
    #[must_use]
    pub fn file_bytes(&self, options: &MixOptions) -> u64 {
        let session = &self.prepared.session;
        let secs = session.length_frames as f64 / f64::from(session.sample_rate_hz) + options.tail_secs;
        let frame_bytes = CHANNELS * options.sample_format().bytes_per_sample() as u64;
        (secs * f64::from(options.sample_rate_hz)).ceil() as u64 * frame_bytes
    }

    /// What the engine does not play of the project.
    #[must_use]
    pub fn left_out(&self) -> Vec<LeftOutOfRender> {
        self.prepared.left_out_in_words()
    }

    /// SoundFonts and presets that the project names and that are not there.
    #[must_use]
    pub fn missing_sounds(&self) -> &[MissingSound] {
        self.prepared.missing()
    }

    /// Renders a part into `destination`, which is a whole file afterwards. All parts are as
    /// long: to the last item's end and the whole tail.
    ///
    /// # Errors
    /// [`RenderError`]; the destination is then of no use.
    pub fn render(
        &self,
        part: Part,
        options: &MixOptions,
        destination: impl Write + Seek,
        observer: Observer<'_>,
    ) -> Result<PartReport, RenderError> {
        let session = session_of(&self.prepared.session, part, options.tail_secs);
        let no_tail = TailConfig { max_secs: 0.0 };
        let mut render = OfflineRender::new(&session, self.prepared.slots(), no_tail)?;
        let rate_hz = session.sample_rate_hz;
        let mut delivery =
            Delivery::new(destination, rate_hz, session.length_frames, options, session.seed, Content::Part)?;
        let (mut left, mut right, mut peak) = (Vec::new(), Vec::new(), 0.0_f32);
        let mut pass = Pass::begin(&self.prepared.reservation);
        while let Some((quiet_left, quiet_right)) = render.next_block_by(crew::shared()) {
            for (loud, quiet) in [(&mut left, quiet_left), (&mut right, quiet_right)] {
                loud.clear();
                loud.extend(quiet.iter().map(|sample| sample * HEADROOM));
                peak = loud.iter().fold(peak, |peak, sample| peak.max(sample.abs()));
            }
            delivery.write(&left, &right)?;
            if pass.is_due() {
                pass.report(render.done_frames(), render.max_frames(), observer)?;
            }
        }
        let (measured, _) = delivery.finish()?;
        Ok(PartReport { measured, is_silent: peak < SILENT_PEAK })
    }
}

/// The session in which a part alone is audible, turned down by [`HEADROOM`].
fn session_of(whole: &Session, part: Part, tail_secs: f64) -> Session {
    let mut session = whole.clone();
    let tail_frames = (tail_secs * f64::from(session.sample_rate_hz)) as u64;
    session.length_frames = session.length_frames.saturating_add(tail_frames);
    session.master_effects.clear();
    session.master_automation.retain(|lane| lane.target == AutomationTarget::Volume);
    for track in &mut session.tracks {
        track.solo = false;
    }
    let track = &mut session.tracks[part.track_index()];
    (track.solo, track.mute) = (true, false);
    if !matches!(part, Part::Stem(_)) {
        (track.output, session.master_gain) = (None, 1.0);
        track.sends.clear();
        session.master_automation.clear();
    }
    match part {
        Part::Stem(_) => {}
        Part::AfterFader(_) => {
            track.automation.retain(|lane| !matches!(lane.target, AutomationTarget::Send(_)));
        }
        Part::BeforeFader(_) => {
            (track.gain, track.pan) = (1.0, 0.0);
            track.automation.retain(|lane| matches!(lane.target, AutomationTarget::Effect { .. }));
        }
    }
    session.master_gain /= HEADROOM;
    let headroom_db = gain::to_db(f64::from(HEADROOM));
    for point in session.master_automation.iter_mut().flat_map(|lane| &mut lane.points) {
        point.value -= headroom_db;
    }
    session
}
