//! A whole project to a WAV file.

use std::io::{Seek, Write};

use dsp_core::session::{Audio, AudioSlot, Crew, OfflineRender, Session, Slots, TailConfig};
use dsp_core::soundfont::Bank;
use dsp_core::wav::{SampleFormat, WavWriter};
use schemas::project::{Item, Project, SynthEngine, Track, TrackKind};
use schemas::session::{AudioPlace, Compiled, LeftOut, Sounds, files_used, presets_used};

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
    /// What of the project was not played: plugins, and what this version does not know or have.
    pub left_out: Vec<LeftOut>,
    /// Where the last item ends, in frames; the rest of the file is its tail.
    pub song_frames: u64,
}

/// Audio that items and effects of a project name.
#[derive(Debug, Clone)]
pub struct AudioFile {
    /// The audio at the rate of the render.
    pub audio: Audio,
    /// Sample rate of the file itself in hertz: items count their frames by it.
    pub file_rate_hz: u32,
}

/// Renders a project into `destination`, which is a whole WAV file afterwards.
///
/// `bank` opens the bank of a soundfont id (`None`: the default bank), or says that there is none; `audio`
/// opens the audio of a file of the service at the rate of the render, or says that there is none.
///
/// # Errors
/// [`RenderError`]; the destination is then of no use.
pub fn render(
    project: &Project,
    options: &MixOptions,
    bank: impl FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>,
    audio: impl FnMut(&str) -> Result<Option<AudioFile>, RenderError>,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let song = Song::of(project, options.sample_rate_hz, bank, audio)?;
    let playing = tracks_that_play(project, &song.session);
    let mut report = render_session(&song, options, &playing, crew::shared(), destination, observer)?;
    report.left_out = song.left_out;
    Ok(report)
}

/// A project ready to be rendered.
pub(super) struct Song {
    pub(super) session: Session,
    banks: Vec<Option<Bank>>,
    audio: Vec<Option<AudioSlot>>,
    left_out: Vec<LeftOut>,
}

/// Which slots hold what a project names.
struct Places {
    banks: Vec<(Option<String>, Option<u32>)>,
    audio: Vec<(String, Option<AudioPlace>)>,
}

impl Sounds for Places {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        self.banks.iter().find(|(id, _)| id.as_deref() == soundfont_id).and_then(|(_, slot)| *slot)
    }

    fn audio(&mut self, server_file_id: &str) -> Option<AudioPlace> {
        self.audio.iter().find(|(id, _)| id == server_file_id).and_then(|(_, place)| *place)
    }
}

impl Song {
    /// The project's session, and what is in its slots.
    pub(super) fn of(
        project: &Project,
        sample_rate_hz: u32,
        mut bank: impl FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>,
        mut audio: impl FnMut(&str) -> Result<Option<AudioFile>, RenderError>,
    ) -> Result<Self, RenderError> {
        let (mut banks, mut audio_slots) = (Vec::new(), Vec::new());
        let mut places = Places { banks: Vec::new(), audio: Vec::new() };
        for track in project.tracks.iter().filter(|track| has_notes(track)) {
            let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else { continue };
            if places.banks.iter().any(|(id, _)| *id == engine.soundfont_id) {
                continue;
            }
            let slot = bank(engine.soundfont_id.as_deref())?.map(|bank| {
                banks.push(Some(bank));
                banks.len() as u32 - 1
            });
            places.banks.push((engine.soundfont_id.clone(), slot));
        }
        for id in files_used(project) {
            let place = audio(&id)?.map(|AudioFile { audio, file_rate_hz }| {
                let (slot, frames) = (audio_slots.len() as u32, audio.frames());
                audio_slots.push(Some(AudioSlot::Whole(audio)));
                AudioPlace { slot, frames, file_rate_hz }
            });
            places.audio.push((id, place));
        }
        let Compiled { session, left_out } = schemas::session::compile(project, sample_rate_hz, &mut places)?;
        for (id, slot) in &places.banks {
            let Some(slot) = slot else { continue };
            if let Some(bank) = &banks[*slot as usize] {
                prepare(bank, &session, *slot, id.as_deref())?;
            }
        }
        Ok(Self { session, banks, audio: audio_slots, left_out })
    }
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

/// Places of the tracks that have something to play: notes for an instrument, or audio.
fn tracks_that_play(project: &Project, session: &Session) -> Vec<usize> {
    let plays = |(place, track): (usize, &Track)| {
        let has_sound = track.kind == TrackKind::Instrument && has_notes(track);
        (has_sound || !session.tracks[place].clips.is_empty()).then_some(place)
    };
    project.tracks.iter().enumerate().filter_map(plays).collect()
}

pub(super) fn render_session(
    song: &Song,
    options: &MixOptions,
    playing: &[usize],
    crew: &dyn Crew,
    destination: impl Write + Seek,
    observer: Observer<'_>,
) -> Result<MixReport, RenderError> {
    let tail = TailConfig { max_secs: options.tail_secs };
    let Song { session, banks, audio, .. } = song;
    let mut render = OfflineRender::new(session, Slots { banks, audio }, tail)?;
    check_length(session.length_frames, session.sample_rate_hz, options.format)?;
    let mut measure = Measure::new(session.sample_rate_hz, options.format)?;
    let mut wav = WavWriter::new(destination, session.sample_rate_hz, options.format, session.seed)?;
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
        left_out: Vec::new(),
        song_frames: session.length_frames,
    })
}

fn note_peaks(render: &mut OfflineRender, peaks: &mut [f32], track_peaks: &mut [f32]) {
    render.take_peaks(peaks);
    for (highest, pair) in track_peaks.iter_mut().zip(peaks.chunks_exact(2)) {
        *highest = highest.max(pair[0]).max(pair[1]);
    }
}
