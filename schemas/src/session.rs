//! A project in the engine's terms: ticks become frames, decibels become gains, notes and
//! controls become one list of events for each track.
//!
//! SoundFont instruments are described; plugins, audio items, buses, sends, effects and
//! automation are not part of a session, and their tracks are in it as silent ones, so that a
//! session has the project's tracks in the project's order.

mod presets;

pub use presets::{presets_used, track_presets};

use dsp_core::gain;
use dsp_core::session::{self, Event, Instrument, Session, Track as SessionTrack, TrackEvent};
use dsp_core::tempo::{TempoError, TempoMap};

use crate::project::{
    ChorusSettings, Control, Interpolation, Item, MidiItem, ParameterControl, ProgramControl, Project,
    ReverbSettings, SynthEngine, Track, TrackKind,
};

/// Data entry, most and least significant byte.
const DATA_ENTRY: [u8; 2] = [6, 38];
/// Registered parameter number, most and least significant byte.
const RPN: [u8; 2] = [101, 100];
/// Non-registered parameter number, most and least significant byte.
const NRPN: [u8; 2] = [99, 98];

/// Why a project has no session.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// The tempo map is out of order or out of range.
    #[error("the tempo map cannot be used: {0}")]
    Tempo(#[from] TempoError),
}

/// The tempo changes of a project, able to turn its ticks into frames.
///
/// # Errors
/// The tempo map does not begin at tick 0, does not ascend, or has a tempo outside its range.
pub fn tempo_map(project: &Project) -> Result<TempoMap, SessionError> {
    let changes: Vec<(u64, f64)> =
        project.tempo_map.iter().map(|point| (u64::from(point.tick), point.bpm)).collect();
    Ok(TempoMap::from_bpm(&changes)?)
}

/// Describes a project to the engine at a sample rate in hertz.
///
/// `bank_slot` says at which place the caller will give the engine the bank of a soundfont id
/// (`None` is the default bank), or `None` where there is no such bank: that track is silent.
///
/// # Errors
/// The tempo map cannot be used.
pub fn build(
    project: &Project,
    sample_rate_hz: u32,
    mut bank_slot: impl FnMut(Option<&str>) -> Option<u32>,
) -> Result<Session, SessionError> {
    let clock = Clock { tempo: tempo_map(project)?, sample_rate_hz };
    let any_solo = project.tracks.iter().any(|track| track.solo);
    let tracks = project
        .tracks
        .iter()
        .map(|track| SessionTrack {
            id: track.id.clone(),
            gain: gain::from_db(track.volume_db),
            pan: track.pan as f32,
            audible: !track.mute && (track.solo || !any_solo),
            instrument: instrument(track, &mut bank_slot),
            events: events(track, &clock),
        })
        .collect();
    Ok(Session {
        sample_rate_hz,
        polyphony: project.settings.polyphony,
        seed: project.settings.seed,
        interpolation: interpolation(project.settings.interpolation),
        reverb: reverb(&project.settings.reverb),
        chorus: chorus(&project.settings.chorus),
        master_gain: gain::from_db(project.master.volume_db),
        length_frames: project.tracks.iter().map(|track| end_frame(track, &clock)).max().unwrap_or(0),
        tracks,
    })
}

fn interpolation(interpolation: Interpolation) -> session::Interpolation {
    match interpolation {
        Interpolation::Linear => session::Interpolation::Linear,
        Interpolation::FourPoint => session::Interpolation::FourPoint,
        Interpolation::Sinc => session::Interpolation::Sinc,
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
        // A delay cannot drift to below nothing.
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

/// The preset that an item asks for, if it asks for one.
fn item_preset(item: &MidiItem, track: Preset) -> Option<Preset> {
    (item.soundfont_bank.is_some() || item.soundfont_program.is_some()).then(|| Preset {
        bank: item.soundfont_bank.unwrap_or(track.bank),
        program: item.soundfont_program.unwrap_or(track.program),
    })
}

fn instrument(track: &Track, bank_slot: &mut impl FnMut(Option<&str>) -> Option<u32>) -> Option<Instrument> {
    let preset = track_preset(track)?;
    let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else {
        return None;
    };
    let bank_slot = bank_slot(engine.soundfont_id.as_deref())?;
    Some(Instrument { bank_slot, bank: preset.bank.into(), program: preset.program })
}

fn end_frame(track: &Track, clock: &Clock) -> u64 {
    let end = |item: &Item| match item {
        Item::Midi(item) => clock.frame_at(u64::from(item.start_tick) + u64::from(item.length_ticks)),
        Item::Audio(item) => {
            clock.frame_at(u64::from(item.start_tick)).saturating_add(item.length_frames.unwrap_or(0))
        }
        Item::Section(_) => 0,
    };
    track.items.iter().map(end).max().unwrap_or(0)
}

/// What happens first among the events of one frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    EndOfEarlierNote,
    Control,
    Start,
    EndOfEmptyNote,
}

fn events(track: &Track, clock: &Clock) -> Vec<TrackEvent> {
    let mut list = Vec::new();
    presets(track, clock, &mut list);
    for item in track.midi_items() {
        controls(item, clock, &mut list);
        notes(item, clock, &mut list);
    }
    // Stable: events of one turn stay in the order of the project.
    list.sort_by_key(|(turn, event): &(Turn, TrackEvent)| (event.frame, *turn));
    list.into_iter().map(|(_, event)| event).collect()
}

/// Presets of items, and back to the track's where an item without one follows.
fn presets(track: &Track, clock: &Clock, list: &mut Vec<(Turn, TrackEvent)>) {
    let Some(track_preset) = track_preset(track) else {
        return;
    };
    let mut overridden = false;
    for item in track.midi_items() {
        let own = item_preset(item, track_preset);
        if own.is_some() || overridden {
            let Preset { bank, program } = own.unwrap_or(track_preset);
            let frame = clock.frame_at(u64::from(item.start_tick));
            list.push((
                Turn::Control,
                TrackEvent { frame, event: Event::Preset { bank: bank.into(), program } },
            ));
        }
        overridden = own.is_some();
    }
}

fn controls(item: &MidiItem, clock: &Clock, list: &mut Vec<(Turn, TrackEvent)>) {
    for control in item.controls.iter().filter(|control| control.tick() <= item.length_ticks) {
        let frame = clock.frame_at(u64::from(item.start_tick) + u64::from(control.tick()));
        let mut push = |event| list.push((Turn::Control, TrackEvent { frame, event }));
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
            Control::Rpn(parameter) => parameter_events(RPN, parameter).into_iter().for_each(push),
            Control::Nrpn(parameter) => parameter_events(NRPN, parameter).into_iter().for_each(push),
        }
    }
}

/// The four controllers that set a parameter (MIDI 1.0, "Registered and non-registered
/// parameter numbers"): its number, then its value.
fn parameter_events(number: [u8; 2], parameter: &ParameterControl) -> [Event; 4] {
    let halves = |value: u16| [(value >> 7 & 0x7f) as u8, (value & 0x7f) as u8];
    let [number_msb, number_lsb] = number;
    let [data_msb, data_lsb] = DATA_ENTRY;
    let [parameter_msb, parameter_lsb] = halves(parameter.parameter);
    let [value_msb, value_lsb] = halves(parameter.value);
    [
        Event::Controller { controller: number_msb, value: parameter_msb },
        Event::Controller { controller: number_lsb, value: parameter_lsb },
        Event::Controller { controller: data_msb, value: value_msb },
        Event::Controller { controller: data_lsb, value: value_lsb },
    ]
}

/// Starts and ends of notes; what lies outside the item is cut away.
fn notes(item: &MidiItem, clock: &Clock, list: &mut Vec<(Turn, TrackEvent)>) {
    let item_start = u64::from(item.start_tick);
    let item_end = item_start + u64::from(item.length_ticks);
    for note in &item.notes {
        let start = item_start + u64::from(note.tick);
        if start >= item_end {
            continue;
        }
        let end = (start + u64::from(note.length_ticks)).min(item_end);
        let (start, end) = (clock.frame_at(start), clock.frame_at(end));
        let on = Event::NoteOn { key: note.pitch, velocity: note.midi_velocity() };
        let end_turn = if end > start { Turn::EndOfEarlierNote } else { Turn::EndOfEmptyNote };
        list.push((Turn::Start, TrackEvent { frame: start, event: on }));
        list.push((end_turn, TrackEvent { frame: end, event: Event::NoteOff { key: note.pitch } }));
    }
}

#[cfg(test)]
mod tests;
