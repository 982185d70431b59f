//! One track's notes to a WAV file, before fader, pan and limiter.

use std::io::{Seek, Write};

use dsp_core::session::{TailConfig, TrackRender};
use dsp_core::soundfont::Bank;
use dsp_core::wav::{SampleFormat, WavWriter};
use schemas::Project;

use super::mix::prepare;
use super::{Observer, RenderError, check_length, guarded};

/// Blocks between two reports to the observer.
const REPORT_BLOCKS: u32 = 10;

/// Renders the first track of a project into `destination` as 32-bit floats: the samples that
/// the engine in the page computes for the same track. Returns the number of frames.
///
/// # Errors
/// [`RenderError`]; the destination is then of no use.
pub fn render_first(
    project: &Project,
    sample_rate_hz: u32,
    tail_secs: f64,
    bank: &Bank,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<u64, RenderError> {
    let session = schemas::session::build(project, sample_rate_hz, |_| Some(0))?;
    check_length(session.length_frames, sample_rate_hz, SampleFormat::Float32)?;
    let Some(track) = session.tracks.first() else { return Ok(0) };
    prepare(bank, &session, 0, None)?;
    guarded(|| {
        let tail = TailConfig { max_secs: tail_secs };
        let mut render = TrackRender::new(&session, track, Some(bank), tail)?;
        let mut wav = WavWriter::new(destination, sample_rate_hz, SampleFormat::Float32, session.seed)?;
        let mut blocks = 0;
        while let Some([left, right, ..]) = render.next_block() {
            wav.write(left, right)?;
            blocks += 1;
            if blocks % REPORT_BLOCKS == 0 {
                let share = render.done_frames() as f64 / render.longest_frames().max(1) as f64;
                if !observer(share) {
                    return Err(RenderError::Cancelled);
                }
            }
        }
        wav.finish()?;
        Ok(render.done_frames())
    })
}
