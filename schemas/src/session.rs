//! Compiles a project to a session: ticks become frames, decibels become gains, and notes and
//! controls become a list of events for each track.
//!
//! A session has the project's tracks in the project's order. Plugin effects play their recorded
//! output, or pass their input. Plugin instruments and unknown fields are left out. [`compile`]
//! reports all parts that are left out or changed, except unknown fields.

mod automation;
mod clips;
mod effects;
mod frozen;
mod instrument_automation;
mod item_chains;
mod media;
mod presets;

pub use clips::{files_named, files_used};
pub use effects::{expected_values, parameter_value};
pub use frozen::without_frozen_parts;
pub use instrument_automation::{InstrumentAutomation, instrument_automation};
pub use media::{MediaResolver, ProjectIssue, ProjectIssueReason, ResolvedAudio};
pub use presets::{presets_used, track_presets};

use dsp_core::gain;
use dsp_core::session::{
    self, Clip, Event, Instrument, SendSettings, Session, TempoChange, Track as SessionTrack, TrackEvent,
};
use dsp_core::tempo::{TICKS_PER_QUARTER, TempoError, TempoMap};

use crate::project::{
    ChorusSettings, Control, Interpolation, MidiItem, ParameterControl, ProgramControl, Project,
    ReverbSettings, Send, SynthEngine, TempoPoint, Track, TrackKind, VelocityToCutoff,
};
use automation::Targets;

/// Controller numbers of data entry, most and least significant byte (MIDI 1.0).
const DATA_ENTRY: [u8; 2] = [6, 38];
/// Controller numbers that select a registered parameter, most and least significant byte (MIDI
/// 1.0).
const RPN_CONTROLLERS: [u8; 2] = [101, 100];
/// Controller numbers that select a non-registered parameter, most and least significant byte (MIDI
/// 1.0).
const NRPN_CONTROLLERS: [u8; 2] = [99, 98];

/// The reason why a project cannot be compiled to a session.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// The tempo map is out of order or out of range.
    #[error("the tempo map cannot be used: {0}")]
    Tempo(#[from] TempoError),
}

/// Returns the tempo map of a project, which converts ticks to frames.
///
/// # Errors
/// The tempo map does not begin at tick 0, does not ascend, or has a tempo outside its range.
pub fn tempo_map(project: &Project) -> Result<TempoMap, SessionError> {
    let changes: Vec<(u64, f64)> =
        project.tempo_map.iter().map(|point| (u64::from(point.tick), point.bpm)).collect();
    Ok(TempoMap::from_bpm(&changes)?)
}

/// A compiled project.
#[derive(Debug, Clone, PartialEq)]
pub struct CompiledProject {
    /// The session for the engine.
    pub session: Session,
    /// The parts of the project that were left out or changed.
    pub left_out: Vec<ProjectIssue>,
}

/// Compiles a project without recorded audio, at a sample rate in hertz.
///
/// `bank_slot` returns the bank slot of a soundfont id (`None` is the default bank). Tracks for
/// which it returns `None` are silent.
///
/// # Errors
/// The tempo map cannot be used.
pub fn build(
    project: &Project,
    sample_rate_hz: u32,
    bank_slot: impl FnMut(Option<&str>) -> Option<u32>,
) -> Result<Session, SessionError> {
    Ok(compile(project, sample_rate_hz, &mut media::Banks(bank_slot))?.session)
}

/// Compiles a project at a sample rate in hertz.
///
/// # Errors
/// The tempo map cannot be used.
pub fn compile(
    project: &Project,
    sample_rate_hz: u32,
    media: &mut dyn MediaResolver,
) -> Result<CompiledProject, SessionError> {
    let clock = Clock { tempo: tempo_map(project)?, sample_rate_hz };
    let mut builder = Builder { project, clock, media, left_out: Vec::new(), length_frames: 0 };
    let tracks: Vec<SessionTrack> =
        project.tracks.iter().enumerate().map(|(index, track)| builder.track(index, track)).collect();
    let master_effects = builder.compile_effects(None, &project.master.effects, "/master/effects");
    let master_targets =
        Targets { sends: &[], effects: &master_effects, has_plugin: false, is_frozen: false };
    let master_automation =
        builder.compile_automation(&project.master.automation, master_targets, "/master/automation");
    let Builder { clock, left_out, length_frames, .. } = builder;
    let session = Session {
        sample_rate_hz,
        polyphony: project.settings.polyphony,
        seed: project.settings.seed,
        interpolation: interpolation(project.settings.interpolation),
        velocity_to_cutoff: velocity_to_cutoff(project.settings.velocity_to_cutoff),
        reverb: reverb(&project.settings.reverb),
        chorus: chorus(&project.settings.chorus),
        tempo: tempo_changes(project, &clock),
        master_effects,
        master_gain: gain::from_db(project.master.volume_db),
        master_automation,
        length_frames,
        tracks,
    };
    Ok(CompiledProject { session, left_out })
}

/// The state of a compilation.
struct Builder<'a> {
    project: &'a Project,
    clock: Clock,
    media: &'a mut dyn MediaResolver,
    left_out: Vec<ProjectIssue>,
    /// End of the last compiled item so far, in frames.
    length_frames: u64,
}

impl Builder<'_> {
    fn report_issue(&mut self, pointer: String, reason: ProjectIssueReason) {
        self.left_out.push(ProjectIssue { pointer, reason });
    }

    fn track_index(&self, id: &str) -> Option<u32> {
        self.project.tracks.iter().position(|track| track.id == id).map(|index| index as u32)
    }

    fn track(&mut self, index: usize, track: &Track) -> SessionTrack {
        let pointer = format!("/tracks/{index}");
        let track = &*track.without_frozen_parts();
        for item in track.midi_items() {
            let end = u64::from(item.start_tick) + u64::from(item.length_ticks);
            self.length_frames = self.length_frames.max(self.clock.frame_at(end));
        }
        let effects = self.compile_effects(Some(&track.id), &track.effects, &format!("{pointer}/effects"));
        // Sends to missing tracks are left out, and so is their automation.
        let (sends, send_settings) = self.sends(track, &pointer);
        let automation = self.compile_automation(
            &track.automation,
            Targets {
                sends: &sends,
                effects: &effects,
                has_plugin: track.plugin_engine().is_some(),
                is_frozen: track.frozen.is_some(),
            },
            &format!("{pointer}/automation"),
        );
        let output = track.output.as_deref().and_then(|id| self.known_track(id, format!("{pointer}/output")));
        let events = events(track, &self.clock);
        let mut clips = self.compile_clips(track, &format!("{pointer}/items"));
        if let Some(frozen_sound) = &track.frozen {
            clips.extend(self.frozen_clip(frozen_sound, format!("{pointer}/frozen")));
        }
        let (events, clips) = match self.instrument_output(track) {
            Some(output) => (Vec::new(), clips.into_iter().chain([output]).collect()),
            None => (events, clips),
        };
        SessionTrack {
            id: track.id.clone(),
            gain: gain::from_db(track.volume_db),
            pan: track.pan as f32,
            mute: track.mute,
            solo: track.solo,
            instrument: instrument(track, self.media),
            events,
            clips,
            effects,
            bypass: track.bypass,
            output,
            sends: send_settings,
            automation,
        }
    }

    /// Returns a clip that plays the recorded output of a track's plugin instrument.
    fn instrument_output(&mut self, track: &Track) -> Option<Clip> {
        if !matches!(track.synth_engine, Some(SynthEngine::Vst2(_) | SynthEngine::Vst3(_))) {
            return None;
        }
        let output = self.media.plugin_output(Some(&track.id), None)?;
        Some(frozen::whole_clip(output))
    }

    fn sends(&mut self, track: &Track, pointer: &str) -> (Vec<Send>, Vec<SendSettings>) {
        let (mut sends, mut settings) = (Vec::new(), Vec::new());
        for (index, send) in track.sends.iter().enumerate() {
            if let Some(destination) = self.known_track(&send.to, format!("{pointer}/sends/{index}/to")) {
                sends.push(send.clone());
                let gain = gain::from_db(send.level_db);
                settings.push(SendSettings { to: destination, gain, pre_fader: send.pre_fader });
            }
        }
        (sends, settings)
    }

    fn known_track(&mut self, id: &str, pointer: String) -> Option<u32> {
        let index = self.track_index(id);
        if index.is_none() {
            self.report_issue(pointer, ProjectIssueReason::UnknownTrack { id: id.into() });
        }
        index
    }
}

fn tempo_changes(project: &Project, clock: &Clock) -> Vec<TempoChange> {
    let change = |point: &TempoPoint| TempoChange {
        frame: clock.frame_at(point.tick.into()),
        bpm: point.bpm,
        beat: f64::from(point.tick) / TICKS_PER_QUARTER as f64,
    };
    project.tempo_map.iter().map(change).collect()
}

fn interpolation(interpolation: Interpolation) -> session::Interpolation {
    match interpolation {
        Interpolation::Linear => session::Interpolation::Linear,
        Interpolation::FourPoint => session::Interpolation::FourPoint,
        Interpolation::Sinc => session::Interpolation::Sinc,
    }
}

fn velocity_to_cutoff(setting: VelocityToCutoff) -> session::VelocityToCutoff {
    match setting {
        VelocityToCutoff::AsStated => session::VelocityToCutoff::AsStated,
        VelocityToCutoff::Specification => session::VelocityToCutoff::Specification,
    }
}

fn reverb(settings: &ReverbSettings) -> session::ReverbSettings {
    session::ReverbSettings {
        room: settings.room as f32,
        damping: settings.damping as f32,
        width: settings.width as f32,
        level: gain::from_db(settings.level_db),
    }
}

fn chorus(settings: &ChorusSettings) -> session::ChorusSettings {
    const MS_PER_SEC: f64 = 1_000.0;
    session::ChorusSettings {
        delay_secs: settings.delay_ms / MS_PER_SEC,
        // A depth above the mean delay would make the delay negative.
        depth_secs: settings.depth_ms.min(settings.delay_ms) / MS_PER_SEC,
        rate_hz: settings.rate_hz,
        level: gain::from_db(settings.level_db),
    }
}

struct Clock {
    tempo: TempoMap,
    sample_rate_hz: u32,
}

impl Clock {
    fn frame_at(&self, tick: u64) -> u64 {
        self.tempo.frame_at(tick, self.sample_rate_hz)
    }
}

/// Bank and program of a preset.
#[derive(Clone, Copy, PartialEq)]
struct Preset {
    bank: u8,
    program: u8,
}

fn track_preset(track: &Track) -> Option<Preset> {
    match &track.synth_engine {
        Some(SynthEngine::SoundFont(engine)) if track.kind == TrackKind::Instrument => {
            Some(Preset { bank: engine.bank, program: engine.program })
        }
        _ => None,
    }
}

/// Returns the preset of an item; `None` if the item specifies neither a bank nor a program.
/// `track` is the preset of the track.
fn item_preset(item: &MidiItem, track: Preset) -> Option<Preset> {
    (item.soundfont_bank.is_some() || item.soundfont_program.is_some()).then(|| Preset {
        bank: item.soundfont_bank.unwrap_or(track.bank),
        program: item.soundfont_program.unwrap_or(track.program),
    })
}

fn instrument(track: &Track, media: &mut dyn MediaResolver) -> Option<Instrument> {
    let preset = track_preset(track)?;
    let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else {
        return None;
    };
    let bank_slot = media.bank_slot(engine.soundfont_id.as_deref())?;
    Some(Instrument { bank_slot, bank: preset.bank.into(), program: preset.program })
}

/// Order of events at the same frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventOrder {
    EndOfEarlierNote,
    Control,
    NoteStart,
    EndOfEmptyNote,
}

fn events(track: &Track, clock: &Clock) -> Vec<TrackEvent> {
    let mut events = Vec::new();
    add_preset_changes(track, clock, &mut events);
    for item in track.midi_items() {
        add_controls(item, clock, &mut events);
        add_notes(item, clock, &mut events);
    }
    // The sort is stable: events with the same order stay in the order of the project.
    events.sort_by_key(|(order, event): &(EventOrder, TrackEvent)| (event.frame, *order));
    events.into_iter().map(|(_, event)| event).collect()
}

/// Adds a preset change at the start of each item with a preset. The next item without a preset
/// returns to that of the track.
fn add_preset_changes(track: &Track, clock: &Clock, events: &mut Vec<(EventOrder, TrackEvent)>) {
    let Some(track_preset) = track_preset(track) else {
        return;
    };
    let mut is_overridden = false;
    for item in track.midi_items() {
        let preset_of_item = item_preset(item, track_preset);
        if preset_of_item.is_some() || is_overridden {
            let Preset { bank, program } = preset_of_item.unwrap_or(track_preset);
            let frame = clock.frame_at(u64::from(item.start_tick));
            events.push((
                EventOrder::Control,
                TrackEvent { frame, event: Event::Preset { bank: bank.into(), program } },
            ));
        }
        is_overridden = preset_of_item.is_some();
    }
}

fn add_controls(item: &MidiItem, clock: &Clock, events: &mut Vec<(EventOrder, TrackEvent)>) {
    for control in item.controls.iter().filter(|control| control.tick() <= item.length_ticks) {
        let frame = clock.frame_at(u64::from(item.start_tick) + u64::from(control.tick()));
        let mut push = |event| events.push((EventOrder::Control, TrackEvent { frame, event }));
        match control {
            Control::Cc(cc) => push(Event::Controller { controller: cc.controller, value: cc.value }),
            Control::Bend(bend) => push(Event::PitchBend { value: bend.value }),
            Control::Pressure(pressure) => push(Event::ChannelPressure { value: pressure.value }),
            Control::KeyPressure(pressure) => {
                push(Event::KeyPressure { key: pressure.key, value: pressure.value });
            }
            &Control::Program(ProgramControl { program, bank: Some(bank), .. }) => {
                push(Event::Preset { bank: bank.into(), program });
            }
            Control::Program(program) => push(Event::Program { program: program.program }),
            Control::Rpn(parameter) => {
                parameter_events(RPN_CONTROLLERS, parameter).into_iter().for_each(push);
            }
            Control::Nrpn(parameter) => {
                parameter_events(NRPN_CONTROLLERS, parameter).into_iter().for_each(push);
            }
        }
    }
}

/// Returns the four controllers that set a parameter: its number, then its value (MIDI 1.0,
/// "Registered and non-registered parameter numbers").
fn parameter_events(number: [u8; 2], parameter: &ParameterControl) -> [Event; 4] {
    let to_data_bytes = |value: u16| [(value >> 7 & 0x7f) as u8, (value & 0x7f) as u8];
    let [number_msb, number_lsb] = number;
    let [data_msb, data_lsb] = DATA_ENTRY;
    let [parameter_msb, parameter_lsb] = to_data_bytes(parameter.parameter);
    let [value_msb, value_lsb] = to_data_bytes(parameter.value);
    [
        Event::Controller { controller: number_msb, value: parameter_msb },
        Event::Controller { controller: number_lsb, value: parameter_lsb },
        Event::Controller { controller: data_msb, value: value_msb },
        Event::Controller { controller: data_lsb, value: value_lsb },
    ]
}

/// Adds the starts and ends of notes, clipped to the item.
fn add_notes(item: &MidiItem, clock: &Clock, events: &mut Vec<(EventOrder, TrackEvent)>) {
    let item_start = u64::from(item.start_tick);
    let item_end = item_start + u64::from(item.length_ticks);
    for note in &item.notes {
        let start = item_start + u64::from(note.tick);
        if start >= item_end {
            continue;
        }
        let end = (start + u64::from(note.length_ticks)).min(item_end);
        let (start, end) = (clock.frame_at(start), clock.frame_at(end));
        let note_on = Event::NoteOn { key: note.pitch, velocity: note.midi_velocity() };
        let end_order = if end > start { EventOrder::EndOfEarlierNote } else { EventOrder::EndOfEmptyNote };
        events.push((EventOrder::NoteStart, TrackEvent { frame: start, event: note_on }));
        events.push((end_order, TrackEvent { frame: end, event: Event::NoteOff { key: note.pitch } }));
    }
}

#[cfg(test)]
mod tests;
