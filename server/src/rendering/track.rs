//! Renders the notes of one track to a WAV file, before fader, pan and limiter. The file can also
//! contain the track's sends to the reverb and the chorus of the mix.

use std::io::{Seek, SeekFrom, Write};

use dsp_core::mixer::Slots;
use dsp_core::render::{TailConfig, TrackRender};
use dsp_core::soundfont::Bank;
use dsp_core::wav::{SampleFormat, WavError};
use schemas::Project;
use schemas::session::presets_used;

use super::budget::BudgetShare;
use super::encoder::check_length;
use super::error::RenderError;
use super::missing::{MissingPreset, missing_presets};
use super::pass::Pass;
use super::{CHANNELS, Observer};

/// Offset of the channel mask in a file of more than two channels (`WAVE_FORMAT_EXTENSIBLE`), in
/// bytes. Before it come the RIFF header, the header of the `fmt ` chunk and the first 20 bytes of
/// that chunk.
const CHANNEL_MASK_OFFSET: u64 = 12 + 8 + 20;

/// The channels of a track that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackChannels {
    /// Left and right.
    Stereo,
    /// Left and right, followed by the mono sends to the reverb and to the chorus.
    WithSends,
}

impl TrackChannels {
    fn count(self) -> usize {
        match self {
            Self::Stereo => 2,
            Self::WithSends => 4,
        }
    }
}

/// Decodes the compressed samples of presets. Each preset is a bank number and a program.
pub type Prepare<'v> = &'v mut dyn FnMut(&[(u16, u8)]) -> Result<(), RenderError>;

/// The instrument of a track.
pub struct TrackVoice<'v> {
    /// The bank that plays the notes.
    pub bank: &'v Bank,
    /// Decodes the compressed samples of presets of this bank.
    pub prepare: Prepare<'v>,
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
    voice: TrackVoice<'_>,
    mut destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<Vec<MissingPreset>, RenderError> {
    let session = schemas::session::build(project, sample_rate_hz, |_| Some(0))?;
    // `check_length` assumes two channels, and four channels need twice the space.
    let size_factor = channels.count() as u64 / CHANNELS;
    check_length(session.length_frames.saturating_mul(size_factor), sample_rate_hz, SampleFormat::Float32)?;
    let Some(track) = session.tracks.first() else { return Ok(Vec::new()) };
    let reservation = voice.budget.reserve(&session, Slots::default(), observer)?;
    (voice.prepare)(&presets_used(&session, 0))?;
    let mut render = TrackRender::new(&session, track, Some(voice.bank), TailConfig { max_secs: tail_secs })?;
    let spec = hound::WavSpec {
        channels: channels.count() as u16,
        sample_rate: sample_rate_hz,
        bits_per_sample: 32,
        sample_format: hound::SampleFormat::Float,
    };
    let mut wav = hound::WavWriter::new(&mut destination, spec).map_err(from_hound)?;
    let mut pass = Pass::begin(&reservation);
    while let Some(outputs) = render.next_block() {
        for frame in 0..outputs[0].len() {
            for output in &outputs[..channels.count()] {
                wav.write_sample(output[frame]).map_err(from_hound)?;
            }
        }
        if pass.is_due() {
            pass.report(render.done_frames(), render.max_frames(), observer)?;
        }
    }
    wav.finalize().map_err(from_hound)?;
    if channels == TrackChannels::WithSends {
        // The channels of the sends have no loudspeaker position, so the channel mask is cleared.
        destination.seek(SeekFrom::Start(CHANNEL_MASK_OFFSET)).map_err(WavError::Io)?;
        destination.write_all(&0_u32.to_le_bytes()).map_err(WavError::Io)?;
        destination.flush().map_err(WavError::Io)?;
    }
    Ok(missing_presets(track, voice.bank))
}

fn from_hound(error: hound::Error) -> WavError {
    match error {
        hound::Error::IoError(error) => WavError::Io(error),
        other => WavError::Io(std::io::Error::other(other)),
    }
}
