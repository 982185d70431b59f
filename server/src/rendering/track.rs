//! Renders the notes of one track to a WAV file, before fader, pan and limiter. The file can also
//! contain the track's sends to the reverb and the chorus of the mix.

use std::io::{Seek, Write};

use dsp_core::mixer::Slots;
use dsp_core::render::{TailConfig, TrackRender};
use dsp_core::soundfont::Bank;
use dsp_core::wav::FloatWavWriter;
use schemas::Project;
use schemas::session::presets_used;

use super::Observer;
use super::budget::BudgetShare;
use super::error::RenderError;
use super::length::check_length;
use super::missing::{MissingPreset, missing_presets};
use super::pass::Pass;

/// The channels of a track that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackChannels {
    /// Left and right.
    Stereo,
    /// Left and right, followed by the mono sends to the reverb and to the chorus.
    WithSends,
}

impl TrackChannels {
    /// Number of channels.
    pub fn count(self) -> usize {
        match self {
            Self::Stereo => 2,
            Self::WithSends => 4,
        }
    }
}

/// Decodes the compressed samples of presets. Each preset is a bank number and a program.
pub type PreparePresets<'v> = &'v mut dyn FnMut(&[(u16, u8)]) -> Result<(), RenderError>;

/// The instrument of a track.
pub struct TrackInstrument<'v> {
    /// The bank that plays the notes.
    pub bank: &'v Bank,
    /// Decodes the compressed samples of presets of this bank.
    pub prepare: PreparePresets<'v>,
    /// Budget for the memory and the time of the render.
    pub budget: BudgetShare,
}

/// Renders the first track of a project into `destination` as 32-bit floats. The samples are those
/// that the engine in the web page computes for the same track. Returns the presets that the notes
/// use but the bank lacks.
///
/// # Errors
/// [`RenderError`]; the content of the destination is then undefined.
pub fn render_first(
    project: &Project,
    sample_rate_hz: u32,
    tail_secs: f64,
    channels: TrackChannels,
    voice: TrackInstrument<'_>,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<Vec<MissingPreset>, RenderError> {
    let session = schemas::session::build(project, sample_rate_hz, |_| Some(0))?;
    check_length(&session)?;
    let Some(track) = session.tracks.first() else { return Ok(Vec::new()) };
    let reservation = voice.budget.reserve(&session, Slots::default(), observer)?;
    (voice.prepare)(&presets_used(&session, 0))?;
    let mut render = TrackRender::new(&session, track, Some(voice.bank), TailConfig { max_secs: tail_secs })?;
    let mut wav = FloatWavWriter::new(destination, channels.count() as u32, sample_rate_hz)?;
    let mut frames = Vec::new();
    let mut pass = Pass::begin(&reservation);
    while let Some(outputs) = render.next_block() {
        frames.clear();
        for frame in 0..outputs[0].len() {
            frames.extend(outputs[..channels.count()].iter().map(|output| output[frame]));
        }
        wav.write(&frames)?;
        if pass.is_due() {
            pass.report(render.done_frames(), render.max_frames(), observer)?;
        }
    }
    wav.finish()?;
    Ok(missing_presets(track, voice.bank))
}
