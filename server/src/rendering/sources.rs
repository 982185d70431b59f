//! Where a render gets what a project names, and the slots that the engine finds it in.

use std::sync::Arc;

use dsp_core::session::{Audio, AudioSlot, Session, Slots};
use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::project::{Item, SynthEngine, Track};
use schemas::session::{AudioPlace, LeftOut, Sounds, compile, files_used, presets_used};

use super::budget::{self, MemoryBudget, Reservation};
use super::mix::LeftOutOfRender;
use super::{Observer, RenderError};

/// Recorded audio, ready to be played.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Its samples, at the project's rate.
    pub audio: Audio,
    /// Rate of the file itself, in hertz: projects count its frames by it.
    pub file_rate_hz: u32,
}

/// Opens what a project names.
pub trait Sources {
    /// The bank of a soundfont id (`None`: the default bank), or `None` where there is none.
    ///
    /// # Errors
    /// It is there and cannot be used.
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<Bank>, RenderError>;

    /// The samples of an audio file at the project's rate, or `None` where there is none.
    fn recording(&mut self, server_file_id: &str) -> Option<Recording>;

    /// What the render takes its memory from; by default its own [`budget::DEFAULT_BYTES`].
    fn memory(&self) -> Arc<MemoryBudget> {
        MemoryBudget::new(budget::DEFAULT_BYTES)
    }
}

/// Banks without recordings.
impl<F: FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>> Sources for F {
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<Bank>, RenderError> {
        self(soundfont_id)
    }

    fn recording(&mut self, _server_file_id: &str) -> Option<Recording> {
        None
    }
}

/// A session and what is in its slots.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) session: Session,
    banks: Vec<Option<Bank>>,
    audio: Vec<Option<AudioSlot>>,
    /// What the engine does not play of the project.
    left_out: Vec<LeftOut>,
    /// Held as long as anything of it is rendered.
    _memory: Reservation,
}

impl Prepared {
    /// Opens everything that a project plays, at its own sample rate, once there is memory for rendering it.
    pub(super) fn open(
        project: &Project,
        sources: &mut dyn Sources,
        observer: Observer<'_>,
    ) -> Result<Self, RenderError> {
        let rate_hz = project.sample_rate_hz;
        let mut found = Found { banks: open_banks(project, sources)?, recordings: Vec::new() };
        for id in files_used(project) {
            if let Some(recording) = sources.recording(&id) {
                found.recordings.push((id, recording));
            }
        }
        let compiled = compile(project, rate_hz, &mut found)?;
        let Found { banks, recordings } = found;
        let audio: Vec<Option<AudioSlot>> =
            recordings.into_iter().map(|(_, recording)| Some(AudioSlot::Whole(recording.audio))).collect();
        let of_session = Slots { banks: &[], audio: &audio };
        let memory = sources.memory().reserve(&compiled.session, of_session, observer)?;
        let mut slots = Vec::new();
        for (soundfont_id, bank) in banks {
            let Some(bank) = bank else { continue };
            let slot = slots.len() as u32;
            prepare(&bank, &compiled.session, slot, soundfont_id.as_deref())?;
            slots.push(Some(bank));
        }
        let left_out = compiled.left_out;
        Ok(Self { session: compiled.session, banks: slots, audio, left_out, _memory: memory })
    }

    /// What the engine does not play of the project, in words.
    pub(super) fn left_out_in_words(&self) -> Vec<LeftOutOfRender> {
        let in_words =
            |one: &LeftOut| LeftOutOfRender { pointer: one.pointer.clone(), reason: one.reason.to_string() };
        self.left_out.iter().map(in_words).collect()
    }

    pub(super) fn slots(&self) -> Slots<'_> {
        Slots { banks: &self.banks, audio: &self.audio }
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

/// Whether a track has notes to play.
pub(super) fn has_notes(track: &Track) -> bool {
    track.items.iter().any(|item| matches!(item, Item::Midi(item) if !item.notes.is_empty()))
}

/// A bank by its soundfont id, `None` where there is no such bank.
type NamedBank = (Option<String>, Option<Bank>);

/// The banks that the notes of a project want, each once.
fn open_banks(project: &Project, sources: &mut dyn Sources) -> Result<Vec<NamedBank>, RenderError> {
    let mut banks: Vec<NamedBank> = Vec::new();
    for track in project.tracks.iter().filter(|track| has_notes(track)) {
        let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else { continue };
        if !banks.iter().any(|(id, _)| *id == engine.soundfont_id) {
            let bank = sources.bank(engine.soundfont_id.as_deref())?;
            banks.push((engine.soundfont_id.clone(), bank));
        }
    }
    Ok(banks)
}

/// What was opened, in the order of its slots.
struct Found {
    banks: Vec<NamedBank>,
    recordings: Vec<(String, Recording)>,
}

impl Sounds for Found {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        let mut there = self.banks.iter().filter(|(_, bank)| bank.is_some());
        there.position(|(id, _)| id.as_deref() == soundfont_id).map(|place| place as u32)
    }

    fn audio(&mut self, server_file_id: &str) -> Option<AudioPlace> {
        let slot = self.recordings.iter().position(|(id, _)| id == server_file_id)?;
        let Recording { audio, file_rate_hz } = &self.recordings[slot].1;
        Some(AudioPlace { slot: slot as u32, frames: audio.frames(), file_rate_hz: *file_rate_hz })
    }
}
