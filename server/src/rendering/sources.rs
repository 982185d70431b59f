//! Opens the banks and recordings of a project, and puts each into its slot of the engine.

use std::collections::HashSet;

use dsp_core::mixer::Slots;
use dsp_core::render::{tracks_feeding, tracks_needed_by};
use dsp_core::session::{self, Audio, AudioSlot, Clip, Session};
use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::project::{Item, PluginEngine, SynthEngine, Track, TrackKind};
use schemas::session::{
    InstrumentAutomation, MediaResolver, ProjectIssue, ProjectIssueReason, ResolvedAudio, compile,
    files_used, instrument_automation, presets_used,
};

use songfoundry_bridge_protocol::PluginFormat;

use super::budget::{self, BudgetShare, RenderBudget, Reservation};
use super::damaged_samples::DamagedSamples;
use super::error::RenderError;
use super::length::check_length;
use super::missing::{MissingSound, OpenedBank, missing_presets};
use super::pass::Pass;
use super::plugin_effects::{PluginEffectOfProject, PluginEffectPart, audible_effects};
use super::plugin_track::{AutomationCurve, PluginWarning};
use super::report::LeftOutOfRender;
use super::workspace::Workspace;
use super::{Observer, banks};

/// Name of the default bank if it has no id.
const DEFAULT_NAME: &str = "default";

/// Decoded audio of a file.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Samples at the project's sample rate.
    pub audio: Audio,
    /// Sample rate of the original file in hertz. Projects count positions in frames of that file.
    pub file_rate_hz: u32,
}

/// Opens the banks and recordings that a project refers to.
pub trait Sources: Workspace {
    /// Returns the bank with this id or its substitute; without an id, the default bank. Returns
    /// `None` if there is neither.
    ///
    /// # Errors
    /// The bank exists but cannot be used.
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError>;

    /// Decodes the compressed samples of some presets of a bank. Stops when `should_continue`
    /// returns false. `name` is the bank's name in errors.
    ///
    /// # Errors
    /// The bank cannot be used or needs too much memory; [`RenderError::Cancelled`] if
    /// `should_continue` returned false.
    fn prepare(
        &mut self,
        bank: &Bank,
        name: &str,
        presets: &[(u16, u8)],
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), RenderError> {
        banks::decode(bank, name, presets, should_continue)
    }

    /// Returns the limits on the memory of all banks together, and of the uploaded ones, in bytes.
    /// The default is no limit.
    fn bank_memory_bytes(&self) -> (u64, u64) {
        (u64::MAX, u64::MAX)
    }

    /// Returns the samples of an audio file at the project's sample rate; `None` if there is no
    /// such file.
    fn recording(&mut self, server_file_id: &str) -> Option<Recording>;

    /// Renders the notes of a track with its plugin instrument. The default is that there are no
    /// plugins.
    ///
    /// # Errors
    /// The plugin exists but fails; [`RenderError::Cancelled`] if `observer` returned false.
    fn plugin_sound(
        &mut self,
        _part: &PluginPart<'_>,
        _observer: Observer<'_>,
    ) -> Result<PluginSound, RenderError> {
        Ok(PluginSound::Missing { reason: "there is no plugin helper".to_owned() })
    }

    /// Processes the input of a plugin effect. The default is that there are no plugins.
    ///
    /// # Errors
    /// The plugin exists but fails; [`RenderError::Cancelled`] if `observer` returned false.
    fn plugin_effect_sound(
        &mut self,
        _part: &PluginEffectPart<'_>,
        _observer: Observer<'_>,
    ) -> Result<PluginSound, RenderError> {
        Ok(PluginSound::Missing { reason: "there is no plugin helper".to_owned() })
    }

    /// Returns the budget for memory and time. The default is [`budget::DEFAULT_BYTES`] for this
    /// render alone.
    fn budget(&self) -> BudgetShare {
        RenderBudget::unshared(budget::DEFAULT_BYTES).share_of("")
    }
}

impl<F: FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>> Workspace for F {}

/// A function that opens banks can serve as sources. It has no recordings, and its banks never
/// count as substitutes.
impl<F: FnMut(Option<&str>) -> Result<Option<Bank>, RenderError>> Sources for F {
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError> {
        let opened_bank = |bank| OpenedBank {
            bank,
            soundfont_id: soundfont_id.unwrap_or(DEFAULT_NAME).to_owned(),
            version: String::new(),
            is_substitute: false,
            is_upload: false,
        };
        Ok(self(soundfont_id)?.map(opened_bank))
    }

    fn recording(&mut self, _server_file_id: &str) -> Option<Recording> {
        None
    }
}

/// The notes of a track that a plugin instrument plays.
#[derive(Debug)]
pub struct PluginPart<'p> {
    /// Format of the plugin.
    pub format: PluginFormat,
    /// Id of the track.
    pub track_id: &'p str,
    /// The plugin, its state and the values of its parameters.
    pub engine: &'p PluginEngine,
    /// Automation of its parameters.
    pub automation: Vec<AutomationCurve>,
    /// A session with this track only.
    pub session: Session,
    /// Memory and time of the whole render.
    pub reservation: &'p Reservation,
}

/// The sound of a plugin instrument or a plugin effect.
#[derive(Debug)]
pub enum PluginSound {
    /// The plugin has rendered the sound.
    Rendered {
        /// The sound from the start of the song, before later effects and faders.
        audio: Audio,
        /// Text that changes with everything that determines the sound.
        version: String,
        /// Whether no sample is audible.
        is_silent: bool,
        /// Faults of the sound.
        warnings: Vec<PluginWarning>,
    },
    /// The plugin cannot be used here. The track is silent, or the effect passes its input.
    Missing {
        /// Reason, as a clause without a capital letter and a full stop.
        reason: String,
    },
}

/// The tracks that a render plays.
#[derive(Clone, Copy)]
pub enum RenderedTracks<'t> {
    /// The tracks with these indices, through buses, groups and the master.
    Routed(&'t dyn Fn(usize) -> bool),
    /// The track with this index, up to its fader.
    UpToFader(usize),
}

/// A session, with the banks and the audio in its slots.
#[derive(Debug)]
pub(super) struct PreparedRender {
    pub(super) session: Session,
    banks: Vec<Option<Bank>>,
    audio: Vec<Option<AudioSlot>>,
    /// Versions of the banks and of the audio in their slots.
    bank_versions: Vec<String>,
    audio_versions: Vec<String>,
    plugin_effects: Vec<PluginEffectOfProject>,
    /// Parts of the project that the engine cannot play.
    left_out: Vec<ProjectIssue>,
    /// SoundFonts and presets that are missing.
    missing_sounds: Vec<MissingSound>,
    /// Samples that are silent because they cannot be decoded.
    damaged_samples: Vec<DamagedSamples>,
    /// Warnings about the sounds of plugins, as sentences.
    plugin_warnings: Vec<String>,
    /// Memory reservation, which lasts while the session is rendered.
    pub(super) reservation: Reservation,
}

impl PreparedRender {
    /// Reserves memory for a project's render, and opens its banks and audio at the project's
    /// sample rate. Renders the sound of the plugin instruments that the rendered tracks need.
    pub(super) fn open(
        project: &Project,
        sources: &mut dyn Sources,
        rendered_tracks: RenderedTracks<'_>,
        observer: Observer<'_>,
    ) -> Result<Self, RenderError> {
        let rate_hz = project.sample_rate_hz;
        let mut opened_sounds = OpenedSounds {
            banks: open_banks(project, sources)?,
            recordings: open_recordings(project, sources),
        };
        let mut compiled_project = compile(project, rate_hz, &mut opened_sounds)?;
        check_length(&compiled_project.session)?;
        let OpenedSounds { banks, recordings } = opened_sounds;
        let missing_sounds = missing_sounds(&compiled_project.session, &banks);
        // The content of an audio file never changes.
        let mut audio_versions: Vec<String> = recordings.iter().map(|(id, _)| id.clone()).collect();
        let mut audio: Vec<Option<AudioSlot>> =
            recordings.into_iter().map(|(_, recording)| Some(AudioSlot::Whole(recording.audio))).collect();
        let audio_slots = Slots { banks: &[], audio: &audio };
        let reservation = sources.budget().reserve(&compiled_project.session, audio_slots, observer)?;
        let name_bank = |(soundfont_id, opened_bank): NamedBank| {
            Some((soundfont_id.unwrap_or_else(|| DEFAULT_NAME.to_owned()), opened_bank?))
        };
        let in_slot = |(slot, (name, opened_bank)): (_, (_, OpenedBank))| UsedBank {
            name,
            presets: presets_used(&compiled_project.session, slot),
            bank: opened_bank.bank,
            version: opened_bank.version,
            is_upload: opened_bank.is_upload,
        };
        let used_banks: Vec<UsedBank> =
            (0..).zip(banks.into_iter().filter_map(name_bank)).map(in_slot).collect();
        let (all_max_bytes, uploads_max_bytes) = sources.bank_memory_bytes();
        check_total_memory(used_banks.iter(), all_max_bytes)?;
        check_total_memory(used_banks.iter().filter(|used_bank| used_bank.is_upload), uploads_max_bytes)?;
        for UsedBank { name, bank, presets, .. } in &used_banks {
            sources.prepare(bank, name, presets, &mut || observer(0.0))?;
        }
        let is_needed = needed_tracks(&compiled_project.session, rendered_tracks);
        let plugin_tracks = plugin_tracks(project, &|index| is_needed[index]);
        let track_count = plugin_tracks.len() as f64;
        let mut plugin_warnings = Vec::new();
        for (number, PluginTrackOfProject { index, format, engine }) in plugin_tracks.into_iter().enumerate()
        {
            let session = session_of_track(&compiled_project.session, index);
            let automation = automation_of_track(project, index)?;
            let track_id = &project.tracks[index].id;
            let part =
                PluginPart { format, track_id, engine, automation, session, reservation: &reservation };
            let mut track_observer = |progress: f64| observer((number as f64 + progress) / track_count);
            match sources.plugin_sound(&part, &mut track_observer)? {
                PluginSound::Rendered { audio: sound, version, warnings, .. } => {
                    add_warnings(&mut plugin_warnings, Some(track_id), &warnings);
                    play_sound(&mut compiled_project.session.tracks[index], &sound, audio.len());
                    audio.push(Some(AudioSlot::Whole(sound)));
                    audio_versions.push(version);
                }
                PluginSound::Missing { reason } => compiled_project.left_out.push(ProjectIssue {
                    pointer: format!("/tracks/{index}/synth_engine"),
                    reason: ProjectIssueReason::PluginInstrument { reason },
                }),
            }
        }
        let damaged_of =
            |used_bank: &UsedBank| DamagedSamples::find(&used_bank.bank, &used_bank.name, &used_bank.presets);
        let damaged_samples = used_banks.iter().filter_map(damaged_of).collect();
        let bank_versions = used_banks.iter().map(|used_bank| used_bank.version.clone()).collect();
        let slots = used_banks.into_iter().map(|used_bank| Some(used_bank.bank)).collect();
        let mut left_out = compiled_project.left_out;
        // `play_plugin_effects` reports the plugin effects that cannot process their input.
        left_out.retain(|issue| issue.reason != ProjectIssueReason::Plugin);
        Ok(Self {
            session: compiled_project.session,
            banks: slots,
            audio,
            bank_versions,
            audio_versions,
            plugin_effects: PluginEffectOfProject::all(project)?,
            left_out,
            missing_sounds,
            damaged_samples,
            plugin_warnings,
            reservation,
        })
    }

    /// Makes the audible plugin effects of a session process their input. `session` is
    /// [`Self::session`], or a part of it.
    pub(super) fn play_plugin_effects(
        &mut self,
        session: &mut Session,
        sources: &mut dyn Sources,
        observer: Observer<'_>,
    ) -> Result<(), RenderError> {
        let of_project = std::mem::take(&mut self.plugin_effects);
        let play_result = self.play_effects(&of_project, session, sources, observer);
        self.plugin_effects = of_project;
        play_result
    }

    fn play_effects(
        &mut self,
        of_project: &[PluginEffectOfProject],
        session: &mut Session,
        sources: &mut dyn Sources,
        observer: Observer<'_>,
    ) -> Result<(), RenderError> {
        let effects = audible_effects(session, of_project);
        let (count, effect_count) = (effects.len() as u64, effects.len() as f64);
        for (number, effect) in effects.into_iter().enumerate() {
            // Progress is reported even for stored sounds, because finding them takes time.
            Pass::begin(&self.reservation).report(number as u64, count, observer)?;
            let mut effect_observer = |progress: f64| observer((number as f64 + progress) / effect_count);
            let slot_versions = [&self.bank_versions[..], &self.audio_versions[..]];
            let part = effect.part(session, self.slots(), slot_versions, &self.reservation);
            let sound = sources.plugin_effect_sound(&part, &mut effect_observer)?;
            drop(part);
            match sound {
                PluginSound::Rendered { audio, version, warnings, .. } => {
                    let track_id = effect.of_project.track_id.as_deref();
                    add_warnings(&mut self.plugin_warnings, track_id, &warnings);
                    let slot = self.slot_of(audio, version);
                    if let Some(settings) = effect.settings_mut(session) {
                        settings.audio_slot = Some(slot);
                    }
                }
                PluginSound::Missing { reason } => {
                    let pointer = effect.of_project.pointer.clone();
                    if self.left_out.iter().all(|issue| issue.pointer != pointer) {
                        let reason = ProjectIssueReason::PluginEffect { reason };
                        self.left_out.push(ProjectIssue { pointer, reason });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the slot of a plugin's sound, which several parts of a project may share.
    fn slot_of(&mut self, audio: Audio, version: String) -> u32 {
        let known_version = self.audio_versions.iter().position(|known_version| *known_version == version);
        let slot = known_version.unwrap_or_else(|| {
            self.audio.push(Some(AudioSlot::Whole(audio)));
            self.audio_versions.push(version);
            self.audio.len() - 1
        });
        slot as u32
    }

    /// Returns the parts of the project that the engine cannot play, with the reasons as text.
    pub(super) fn left_out_described(&self) -> Vec<LeftOutOfRender> {
        let describe = |part: &ProjectIssue| LeftOutOfRender {
            pointer: part.pointer.clone(),
            reason: part.reason.to_string(),
        };
        self.left_out.iter().map(describe).collect()
    }

    /// Returns the SoundFonts and presets of the project that are missing.
    pub(super) fn missing(&self) -> &[MissingSound] {
        &self.missing_sounds
    }

    /// Returns the samples of SoundFonts that are silent because they cannot be decoded.
    pub(super) fn damaged(&self) -> &[DamagedSamples] {
        &self.damaged_samples
    }

    /// Returns the warnings about the sounds of plugins, as sentences.
    pub(super) fn plugin_warnings(&self) -> &[String] {
        &self.plugin_warnings
    }

    pub(super) fn slots(&self) -> Slots<'_> {
        Slots { banks: &self.banks, audio: &self.audio }
    }
}

/// A track of a project that has a plugin instrument, and notes for it.
pub(super) struct PluginTrackOfProject<'p> {
    index: usize,
    format: PluginFormat,
    engine: &'p PluginEngine,
}

/// Returns the needed tracks with a plugin instrument and notes for it.
pub(super) fn plugin_tracks<'p>(
    project: &'p Project,
    is_needed: &dyn Fn(usize) -> bool,
) -> Vec<PluginTrackOfProject<'p>> {
    let with_plugin = |(index, track): (usize, &'p Track)| {
        let (format, engine) = match track.synth_engine.as_ref()? {
            SynthEngine::SoundFont(_) => return None,
            SynthEngine::Vst2(engine) => (PluginFormat::Vst2, engine),
            SynthEngine::Vst3(engine) => (PluginFormat::Vst3, engine),
        };
        let plays = track.kind == TrackKind::Instrument && has_notes(track);
        (plays && is_needed(index)).then_some(PluginTrackOfProject { index, format, engine })
    };
    project.tracks.iter().enumerate().filter_map(with_plugin).collect()
}

/// Returns for each track whether a render of some tracks needs it. It is needed if it is one of
/// them, or if it feeds one of them or a side-chain that is audible with it. A muted track is
/// needed only as the side-chain of an effect.
fn needed_tracks(session: &Session, rendered_tracks: RenderedTracks<'_>) -> Vec<bool> {
    let tracks = &session.tracks;
    let is_rendered: Vec<bool> = match rendered_tracks {
        RenderedTracks::Routed(is_rendered) => (0..tracks.len()).map(is_rendered).collect(),
        RenderedTracks::UpToFader(rendered_tracks) => {
            (0..tracks.len()).map(|index| index == rendered_tracks).collect()
        }
    };
    let effects = tracks.iter().flat_map(|track| &track.effects).chain(&session.master_effects);
    let sources: HashSet<usize> =
        effects.filter_map(|effect| effect.side_chain).map(|source| source as usize).collect();
    let is_in_signal = match rendered_tracks {
        RenderedTracks::Routed(_) => tracks_needed_by(session, &is_rendered),
        RenderedTracks::UpToFader(rendered_tracks) => tracks_feeding(tracks, rendered_tracks),
    };
    let may_play = |index: usize| is_in_signal[index] && (!tracks[index].mute || sources.contains(&index));
    (0..tracks.len()).map(|index| is_rendered[index] || may_play(index)).collect()
}

/// Returns a session with the notes of one track and the tempo of the song. It ends with the last
/// note or control, like the sound of `POST /plugins/midi-render`, which the page plays.
fn session_of_track(session: &Session, index: usize) -> Session {
    let events = session.tracks[index].events.clone();
    Session {
        sample_rate_hz: session.sample_rate_hz,
        tempo: session.tempo.clone(),
        length_frames: events.last().map_or(0, |event| event.frame),
        tracks: vec![session::Track { events, ..session::Track::default() }],
        ..Session::default()
    }
}

/// Returns the automation of a track's plugin instrument.
fn automation_of_track(project: &Project, index: usize) -> Result<Vec<AutomationCurve>, RenderError> {
    let lanes = instrument_automation(project, &project.tracks[index], project.sample_rate_hz)?;
    let curve = |InstrumentAutomation { parameter_id, points }| AutomationCurve {
        parameter: parameter_id.to_string(),
        points,
    };
    Ok(lanes.into_iter().map(curve).collect())
}

/// Makes a track play the sound of its plugin instrument, which is in the slot `slot`, instead of
/// its notes.
fn play_sound(track: &mut session::Track, sound: &Audio, slot: usize) {
    track.events.clear();
    track.clips.push(Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: sound.frames(),
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: slot as u32,
    });
}

/// Adds warnings about the sound of a plugin of a track or, without a track, of the master. The
/// plugins of a song may render for several files, so each warning is added only once.
fn add_warnings(all_warnings: &mut Vec<String>, track_id: Option<&str>, warnings: &[PluginWarning]) {
    let owner = track_id.map_or_else(|| "master".to_owned(), |id| format!("track `{id}`"));
    for warning in warnings.iter().map(|warning| warning.in_words(Some(&owner))) {
        if !all_warnings.contains(&warning) {
            all_warnings.push(warning);
        }
    }
}

/// Whether a track has notes.
pub(super) fn has_notes(track: &Track) -> bool {
    track.items.iter().any(|item| matches!(item, Item::Midi(item) if !item.notes.is_empty()))
}

/// A `soundfont_id` that tracks use, and the bank that was opened for it; `None` if there is no
/// bank.
type NamedBank = (Option<String>, Option<OpenedBank>);

/// Opens the bank of each track with notes. A bank of several tracks is opened only once.
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

/// Opens the audio files of a project, except missing ones.
fn open_recordings(project: &Project, sources: &mut dyn Sources) -> Vec<(String, Recording)> {
    let recording_with_id = |id: String| sources.recording(&id).map(|recording| (id, recording));
    files_used(project).into_iter().filter_map(recording_with_id).collect()
}

/// Returns the end of the last item of a track, in frames from the start of the song.
///
/// # Errors
/// The tempo map cannot be used.
pub fn track_end(project: &Project, index: usize, sources: &mut dyn Sources) -> Result<u64, RenderError> {
    let Track { id, kind, items, .. } = &project.tracks[index];
    let track = Track { items: items.clone(), ..Track::new(id.clone(), *kind) };
    let song = Project {
        sample_rate_hz: project.sample_rate_hz,
        tempo_map: project.tempo_map.clone(),
        tracks: vec![track],
        ..Project::new("", "")
    };
    let mut opened_sounds = OpenedSounds { banks: Vec::new(), recordings: open_recordings(&song, sources) };
    Ok(compile(&song, song.sample_rate_hz, &mut opened_sounds)?.session.length_frames)
}

/// A bank of a song, with the presets that are played.
struct UsedBank {
    name: String,
    bank: Bank,
    version: String,
    presets: Vec<(u16, u8)>,
    is_upload: bool,
}

/// Refuses a song whose banks together need more memory than `limit_bytes`. A single bank is
/// checked against its own limits instead.
fn check_total_memory<'u>(
    used_banks: impl Iterator<Item = &'u UsedBank>,
    limit_bytes: u64,
) -> Result<(), RenderError> {
    let used_banks: Vec<&UsedBank> = used_banks.collect();
    let mut needed_bytes = 0_u64;
    for (index, used_bank) in used_banks.iter().enumerate() {
        // One bank may replace several missing ones. Its presets are counted only once.
        if used_banks[..index].iter().any(|earlier_use| earlier_use.bank.is_same(&used_bank.bank)) {
            continue;
        }
        let same_bank_uses =
            used_banks[index..].iter().filter(|later_use| later_use.bank.is_same(&used_bank.bank));
        let presets: Vec<_> =
            same_bank_uses.flat_map(|later_use| later_use.presets.iter().copied()).collect();
        needed_bytes = needed_bytes
            .saturating_add(used_bank.bank.table_bytes() + used_bank.bank.prepared_bytes(&presets));
    }
    if needed_bytes <= limit_bytes || used_banks.len() < 2 {
        return Ok(());
    }
    let names: Vec<String> = used_banks.iter().map(|used_bank| format!("`{}`", used_bank.name)).collect();
    Err(RenderError::Banks {
        names: names.join(", "),
        needed_mib: banks::mib(needed_bytes),
        limit_mib: banks::mib(limit_bytes),
    })
}

/// Returns the missing SoundFonts and presets, in the order of the banks.
fn missing_sounds(session: &Session, banks: &[NamedBank]) -> Vec<MissingSound> {
    let mut missing_sounds: Vec<MissingSound> = Vec::new();
    let opened_banks =
        banks.iter().filter_map(|(bank_name, opened_bank)| Some((bank_name, opened_bank.as_ref()?)));
    for (slot, (bank_name, opened_bank)) in (0..).zip(opened_banks) {
        let on_slot =
            |track: &&session::Track| track.instrument.is_some_and(|instrument| instrument.bank_slot == slot);
        for track in session.tracks.iter().filter(on_slot) {
            let mut add = |new_sound: MissingSound| {
                let is_same_sound = |sound: &&mut MissingSound| {
                    (&sound.soundfont_id, sound.preset) == (&new_sound.soundfont_id, new_sound.preset)
                };
                match missing_sounds.iter_mut().find(is_same_sound) {
                    Some(existing_sound) => existing_sound.tracks.push(track.id.clone()),
                    None => missing_sounds.push(new_sound),
                }
            };
            if let Some(bank_name) = bank_name.as_ref().filter(|_| opened_bank.is_substitute) {
                add(MissingSound {
                    tracks: vec![track.id.clone()],
                    soundfont_id: bank_name.clone(),
                    preset: None,
                    played_soundfont_id: Some(opened_bank.soundfont_id.clone()),
                    played_preset: None,
                });
            }
            for preset in missing_presets(track, &opened_bank.bank) {
                add(MissingSound {
                    tracks: vec![track.id.clone()],
                    soundfont_id: opened_bank.soundfont_id.clone(),
                    preset: Some(preset.requested),
                    played_soundfont_id: preset.played.as_ref().map(|_| opened_bank.soundfont_id.clone()),
                    played_preset: preset.played,
                });
            }
        }
    }
    missing_sounds
}

/// The opened banks and recordings, in the order of their slots.
struct OpenedSounds {
    banks: Vec<NamedBank>,
    recordings: Vec<(String, Recording)>,
}

impl MediaResolver for OpenedSounds {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        let mut opened_banks = self.banks.iter().filter(|(_, bank)| bank.is_some());
        opened_banks.position(|(id, _)| id.as_deref() == soundfont_id).map(|index| index as u32)
    }

    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio> {
        let slot = self.recordings.iter().position(|(id, _)| id == server_file_id)?;
        let Recording { audio, file_rate_hz } = &self.recordings[slot].1;
        Some(ResolvedAudio { slot: slot as u32, frames: audio.frames(), file_rate_hz: *file_rate_hz })
    }
}
