//! A whole project to a WAV file.

use std::io::{Seek, Write};

use dsp_core::dither::NoiseShaping;
use dsp_core::session::{Crew, OfflineRender, Session, TailConfig};
use dsp_core::soundfont::Bank;
use dsp_core::wav::{SampleFormat, WavWriter};
use schemas::project::{Item, Project, SynthEngine, Track, TrackKind};
use schemas::session::presets_used;

use super::measure::{Measure, Measured};
use super::{Observer, RenderError, check_length, crew};

/// A track whose peak stays below this is silent: -100 dBFS.
const SILENT_PEAK: f32 = 1e-5;

/// Blocks between two reports to the observer: at 48 kHz some 20 a second of song.
const REPORT_BLOCKS: u32 = 10;

/// How a project is to be rendered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixOptions {
    /// Sample rate in hertz.
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
    /// Where the last item ends, in frames; the rest of the file is its tail.
    pub song_frames: u64,
}

/// Renders a project into `destination`, which is a whole WAV file afterwards.
///
/// `bank` opens the bank of a soundfont id (`None`: the default bank), or says that there is none.
///
/// # Errors
/// [`RenderError`]; the destination is then of no use.
pub fn render(
    project: &Project,
    options: &MixOptions,
    bank: impl FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let (session, banks) = session(project, options.sample_rate_hz, bank)?;
    let playing = tracks_with_notes(project);
    render_session(&session, &banks, options, &playing, crew::shared(), destination, observer)
}

/// The project's session and the banks of its slots.
pub(super) fn session(
    project: &Project,
    sample_rate_hz: u32,
    mut bank: impl FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>,
) -> Result<(Session, Vec<Option<Bank>>), RenderError> {
    let mut banks: Vec<Option<Bank>> = Vec::new();
    let mut slots: Vec<(Option<String>, Option<u32>)> = Vec::new();
    for track in project.tracks.iter().filter(|track| has_notes(track)) {
        let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else { continue };
        if slots.iter().any(|(id, _)| *id == engine.soundfont_id) {
            continue;
        }
        let slot = bank(engine.soundfont_id.as_deref())?.map(|bank| {
            banks.push(Some(bank));
            banks.len() as u32 - 1
        });
        slots.push((engine.soundfont_id.clone(), slot));
    }
    let slot_of =
        |id: Option<&str>| slots.iter().find(|(own, _)| own.as_deref() == id).and_then(|(_, slot)| *slot);
    let session = schemas::session::build(project, sample_rate_hz, slot_of)?;
    for (id, slot) in &slots {
        let Some(slot) = slot else { continue };
        if let Some(bank) = &banks[*slot as usize] {
            prepare(bank, &session, *slot, id.as_deref())?;
        }
    }
    Ok((session, banks))
}

/// Decodes what a session plays of a bank with compressed samples.
pub(super) fn prepare(
    bank: &Bank,
    session: &Session,
    slot: u32,
    soundfont_id: Option<&str>,
) -> Result<(), RenderError> {
    bank.prepare(&presets_used(session, slot)).map_err(|error| RenderError::Bank {
        name: soundfont_id.unwrap_or("default").to_owned(),
        reason: error.into(),
    })
}

fn has_notes(track: &Track) -> bool {
    track.items.iter().any(|item| matches!(item, Item::Midi(item) if !item.notes.is_empty()))
}

/// Places of the tracks that have notes.
fn tracks_with_notes(project: &Project) -> Vec<usize> {
    let plays = |(place, track): (usize, &Track)| {
        (track.kind == TrackKind::Instrument && has_notes(track)).then_some(place)
    };
    project.tracks.iter().enumerate().filter_map(plays).collect()
}

pub(super) fn render_session(
    session: &Session,
    banks: &[Option<Bank>],
    options: &MixOptions,
    playing: &[usize],
    crew: &dyn Crew,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let tail = TailConfig { max_secs: options.tail_secs };
    let mut render = OfflineRender::new(session, banks, tail)?;
    check_length(session.length_frames, session.sample_rate_hz, options.format)?;
    let mut measure = Measure::new(session.sample_rate_hz, options.format)?;
    let mut wav =
        WavWriter::new(destination, session.sample_rate_hz, options.format, NoiseShaping::Off, session.seed)?;
    let mut peaks = vec![0.0_f32; 2 * session.tracks.len() + 2];
    let mut track_peaks = vec![0.0_f32; session.tracks.len()];
    let mut blocks = 0;
    while let Some((left, right)) = render.next_block_by(crew) {
        measure.add(wav.write(left, right)?);
        blocks += 1;
        if blocks % REPORT_BLOCKS == 0 {
            note_peaks(&mut render, &mut peaks, &mut track_peaks);
            let share = render.done_frames() as f64 / render.longest_frames().max(1) as f64;
            if !observer(share) {
                return Err(RenderError::Cancelled);
            }
        }
    }
    note_peaks(&mut render, &mut peaks, &mut track_peaks);
    let clipped_samples = wav.clipped_samples();
    wav.finish()?;
    // Closed by hand, as by a switch, is not silent by mistake.
    let closed = |place: usize| !render.lets_through(place) || session.tracks[place].gain == 0.0;
    let silent = |place: &&usize| track_peaks[**place] < SILENT_PEAK && !closed(**place);
    let silent_tracks =
        playing.iter().filter(silent).map(|&place| session.tracks[place].id.clone()).collect();
    Ok(MixReport {
        measured: measure.finish(),
        clipped_samples,
        silent_tracks,
        song_frames: session.length_frames,
    })
}

fn note_peaks(render: &mut OfflineRender, peaks: &mut [f32], track_peaks: &mut [f32]) {
    render.take_peaks(peaks);
    for (highest, pair) in track_peaks.iter_mut().zip(peaks.chunks_exact(2)) {
        *highest = highest.max(pair[0]).max(pair[1]);
    }
}
