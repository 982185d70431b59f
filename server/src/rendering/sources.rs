//! Where a render gets what a project names, and the slots that the engine finds it in.

use dsp_core::mixer::Slots;
use dsp_core::session::{Audio, AudioSlot, Session};
use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::project::{Item, SynthEngine, Track};
use schemas::session::{LeftOut, MediaResolver, ResolvedAudio, compile, files_used, presets_used};

use super::budget::{self, BudgetShare, RenderBudget, Reservation};
use super::error::RenderError;
use super::missing::{MissingSound, OpenedBank, missing_presets};
use super::report::LeftOutOfRender;
use super::{Observer, banks};

/// Name of the default bank where it has no other.
const DEFAULT_NAME: &str = "default";

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
    /// The bank of a soundfont id (`None`: the default bank) or what stands in for it, or `None`
    /// where there is none.
    ///
    /// # Errors
    /// It is there and cannot be used.
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError>;

    /// Decodes the compressed samples of presets of a bank, as long as `go_on` says so. `name` is
    /// for errors.
    ///
    /// # Errors
    /// It cannot be used, or takes too much memory; [`RenderError::Cancelled`] if `go_on` says no.
    fn prepare(
        &mut self,
        bank: &Bank,
        name: &str,
        presets: &[(u16, u8)],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), RenderError> {
        banks::decode(bank, name, presets, go_on)
    }

    /// Memory that all banks together may take, in bytes; by default as much as they need.
    fn bank_memory_bytes(&self) -> u64 {
        u64::MAX
    }

    /// The samples of an audio file at the project's rate, or `None` where there is none.
    fn recording(&mut self, server_file_id: &str) -> Option<Recording>;

    /// The budget of the render's memory and time; by default its own
    /// [`budget::DEFAULT_BYTES`].
    fn budget(&self) -> BudgetShare {
        RenderBudget::unshared(budget::DEFAULT_BYTES).share_of("")
    }
}

/// Banks without recordings. Each is taken for the SoundFont that is named.
impl<F: FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>> Sources for F {
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError> {
        let opened = |bank| OpenedBank {
            bank,
            soundfont_id: soundfont_id.unwrap_or(DEFAULT_NAME).to_owned(),
            stands_in: false,
        };
        Ok(self(soundfont_id)?.map(opened))
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
    /// Parts of the project that the engine does not play.
    left_out: Vec<LeftOut>,
    /// SoundFonts and presets that are named and not there.
    missing: Vec<MissingSound>,
    /// Held as long as anything of it is rendered.
    pub(super) reservation: Reservation,
}

impl Prepared {
    /// Opens everything that a project plays, at its own sample rate, once there is memory for
    /// rendering it.
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
        let missing = missing_sounds(&compiled.session, &banks);
        let audio: Vec<Option<AudioSlot>> =
            recordings.into_iter().map(|(_, recording)| Some(AudioSlot::Whole(recording.audio))).collect();
        let of_session = Slots { banks: &[], audio: &audio };
        let reservation = sources.budget().reserve(&compiled.session, of_session, observer)?;
        let named = |(soundfont_id, opened): NamedBank| {
            Some((soundfont_id.unwrap_or_else(|| DEFAULT_NAME.to_owned()), opened?.bank))
        };
        let in_slot =
            |(slot, (name, bank))| Playing { name, presets: presets_used(&compiled.session, slot), bank };
        let playing: Vec<Playing> = (0..).zip(banks.into_iter().filter_map(named)).map(in_slot).collect();
        check_together(&playing, sources.bank_memory_bytes())?;
        for Playing { name, bank, presets } in &playing {
            sources.prepare(bank, name, presets, &mut || observer(0.0))?;
        }
        let slots = playing.into_iter().map(|one| Some(one.bank)).collect();
        let left_out = compiled.left_out;
        Ok(Self { session: compiled.session, banks: slots, audio, left_out, missing, reservation })
    }

    /// Parts of the project that the engine does not play, in words.
    pub(super) fn left_out_in_words(&self) -> Vec<LeftOutOfRender> {
        let in_words =
            |one: &LeftOut| LeftOutOfRender { pointer: one.pointer.clone(), reason: one.reason.to_string() };
        self.left_out.iter().map(in_words).collect()
    }

    /// SoundFonts and presets that the project names and that are not there.
    pub(super) fn missing(&self) -> &[MissingSound] {
        &self.missing
    }

    pub(super) fn slots(&self) -> Slots<'_> {
        Slots { banks: &self.banks, audio: &self.audio }
    }
}

/// Whether a track has notes to play.
pub(super) fn has_notes(track: &Track) -> bool {
    track.items.iter().any(|item| matches!(item, Item::Midi(item) if !item.notes.is_empty()))
}

/// A bank by the soundfont id that tracks name, `None` where there is no such bank.
type NamedBank = (Option<String>, Option<OpenedBank>);

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

/// A bank of a song, with the presets that are played.
struct Playing {
    name: String,
    bank: Bank,
    presets: Vec<(u16, u8)>,
}

/// Refuses a song whose banks do not fit into memory together, whatever else is played. Each might
/// fit on its own.
fn check_together(playing: &[Playing], limit_bytes: u64) -> Result<(), RenderError> {
    let mut needed_bytes = 0_u64;
    for (number, one) in playing.iter().enumerate() {
        // One bank may stand in for several: what they play of it is counted once.
        if playing[..number].iter().any(|other| other.bank.is_same(&one.bank)) {
            continue;
        }
        let same = playing[number..].iter().filter(|other| other.bank.is_same(&one.bank));
        let presets: Vec<_> = same.flat_map(|other| other.presets.iter().copied()).collect();
        needed_bytes =
            needed_bytes.saturating_add(one.bank.table_bytes() + one.bank.prepared_bytes(&presets));
    }
    if needed_bytes <= limit_bytes || playing.len() < 2 {
        return Ok(());
    }
    let names: Vec<String> = playing.iter().map(|one| format!("`{}`", one.name)).collect();
    Err(RenderError::Banks {
        names: names.join(", "),
        needed_mib: banks::mib(needed_bytes),
        limit_mib: banks::mib(limit_bytes),
    })
}

/// The sounds that tracks name and their banks lack, in the order of the banks.
fn missing_sounds(session: &Session, banks: &[NamedBank]) -> Vec<MissingSound> {
    let mut missing: Vec<MissingSound> = Vec::new();
    let opened = banks.iter().filter_map(|(named, opened)| Some((named, opened.as_ref()?)));
    for (slot, (named, opened)) in (0..).zip(opened) {
        let on_slot =
            |track: &&dsp_core::session::Track| track.instrument.is_some_and(|one| one.bank_slot == slot);
        for track in session.tracks.iter().filter(on_slot) {
            let mut add = |found: MissingSound| {
                let same = |one: &&mut MissingSound| {
                    (&one.soundfont_id, one.preset) == (&found.soundfont_id, found.preset)
                };
                match missing.iter_mut().find(same) {
                    Some(known) => known.tracks.push(track.id.clone()),
                    None => missing.push(found),
                }
            };
            if let Some(named) = named.as_ref().filter(|_| opened.stands_in) {
                add(MissingSound {
                    tracks: vec![track.id.clone()],
                    soundfont_id: named.clone(),
                    preset: None,
                    played_soundfont_id: Some(opened.soundfont_id.clone()),
                    played_preset: None,
                });
            }
            for preset in missing_presets(track, &opened.bank) {
                add(MissingSound {
                    tracks: vec![track.id.clone()],
                    soundfont_id: opened.soundfont_id.clone(),
                    preset: Some(preset.wanted),
                    played_soundfont_id: preset.played.as_ref().map(|_| opened.soundfont_id.clone()),
                    played_preset: preset.played,
                });
            }
        }
    }
    missing
}

/// The opened banks and recordings, in the order of their slots.
struct Found {
    banks: Vec<NamedBank>,
    recordings: Vec<(String, Recording)>,
}

impl MediaResolver for Found {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        let mut there = self.banks.iter().filter(|(_, bank)| bank.is_some());
        there.position(|(id, _)| id.as_deref() == soundfont_id).map(|place| place as u32)
    }

    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio> {
        let slot = self.recordings.iter().position(|(id, _)| id == server_file_id)?;
        let Recording { audio, file_rate_hz } = &self.recordings[slot].1;
        Some(ResolvedAudio { slot: slot as u32, frames: audio.frames(), file_rate_hz: *file_rate_hz })
    }
}
