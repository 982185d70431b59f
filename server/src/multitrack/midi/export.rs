//! A project as a Standard MIDI file: format 1, 960 ticks to a quarter note.

use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, PitchBend, Smf, Timing, TrackEvent, TrackEventKind};
use schemas::TICKS_PER_QUARTER;
use schemas::json::View;
use schemas::project::{Control, MidiItem, ParameterControl, Project, SynthEngine, Track, TrackKind};

use super::banks::{DRUM_BANK, DRUM_CHANNEL};
use super::channels::{BANK_SELECT, BANK_SELECT_LEAST, Place, allocate, imported_place, read_imported};
use super::exclusives::{Exclusive, stored};

/// Greatest distance of two events: four bytes of seven bits.
const MAX_DELTA_TICKS: u64 = 0x0fff_ffff;

/// Data entry, most and least significant byte.
const DATA_ENTRY: [u8; 2] = [6, 38];
/// Registered parameter number, most and least significant byte.
const RPN: [u8; 2] = [101, 100];
/// Non-registered parameter number, most and least significant byte.
const NRPN: [u8; 2] = [99, 98];

/// Writes a project as a MIDI file: a track of tempos, time signatures and markers, then one for
/// each track that has notes. Velocities are clamped to 1..127; what items cut away is left out, as
/// it is when the project sounds. The controls that an imported file had on channels without notes
/// stand in the first track.
///
/// `document` is what the project was read from. Only there are the fields of an import that the
/// schema does not know: the channels of tracks, and exclusive messages.
pub fn export(document: View<'_>, mut project: Project) -> Vec<u8> {
    read_imported(&mut project, document);
    let project = &project;
    let instruments = project.tracks.iter().filter(|track| track.kind == TrackKind::Instrument);
    let (tracks, noteless): (Vec<&Track>, Vec<&Track>) =
        instruments.partition(|track| first_note_tick(track).is_some());
    let exclusives = stored(document);
    let places = allocate(&tracks, !exclusives.is_empty());
    let mut exclusive_ports: Vec<u8> = exclusives.iter().map(|exclusive| exclusive.port).collect();
    exclusive_ports.retain(|port| *port > 0);
    exclusive_ports.sort_unstable();
    exclusive_ports.dedup();
    let ports = !exclusive_ports.is_empty() || places.iter().any(|place| place.port > 0);
    let header = Header::new(Format::Parallel, Timing::Metrical(u15::new(TICKS_PER_QUARTER as u16)));
    let mut smf = Smf::new(header);
    smf.tracks.push(song_track(project, &unplayed_channels(&noteless, &places), &exclusives));
    for port in exclusive_ports {
        let mut list = EventList::default();
        list.meta(0, MetaMessage::MidiPort(u7::new(port)));
        list.exclusives(&exclusives, port);
        smf.tracks.push(list.into_track(0));
    }
    for (track, place) in tracks.iter().zip(places) {
        smf.tracks.push(note_track(track, place, ports));
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).expect("writing to memory does not fail");
    bytes
}

/// Events by tick, in the order in which they take effect at one tick.
#[derive(Default)]
struct EventList<'a>(Vec<(u64, Turn, TrackEventKind<'a>)>);

/// What comes first among the events of one tick, as in a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Header,
    EndOfEarlierNote,
    Control,
    Start,
    EndOfEmptyNote,
}

impl<'a> EventList<'a> {
    fn meta(&mut self, tick: u64, message: MetaMessage<'a>) {
        self.0.push((tick, Turn::Header, TrackEventKind::Meta(message)));
    }

    /// The system exclusive messages of a port. They say what channels are, so they come first.
    fn exclusives(&mut self, exclusives: &'a [Exclusive], port: u8) {
        for exclusive in exclusives.iter().filter(|exclusive| exclusive.port == port) {
            let kind = if exclusive.escape {
                TrackEventKind::Escape(&exclusive.data)
            } else {
                TrackEventKind::SysEx(&exclusive.data)
            };
            self.0.push((exclusive.tick.into(), Turn::Header, kind));
        }
    }

    fn midi(&mut self, tick: u64, turn: Turn, channel: u8, message: MidiMessage) {
        self.0.push((tick, turn, TrackEventKind::Midi { channel: u4::new(channel), message }));
    }

    /// The events with their distances, closed by an end of track at `end_tick` or after the last.
    fn into_track(mut self, end_tick: u64) -> Vec<TrackEvent<'a>> {
        self.0.sort_by_key(|(tick, turn, _)| (*tick, *turn));
        let last_tick = self.0.last().map_or(0, |(tick, ..)| *tick);
        let end = (end_tick.max(last_tick), Turn::Header, TrackEventKind::Meta(MetaMessage::EndOfTrack));
        let mut now = 0;
        let mut track = Vec::new();
        for (tick, _, kind) in self.0.into_iter().chain([end]) {
            while tick - now > MAX_DELTA_TICKS {
                // Too far for one distance: an empty text stands in between.
                let delta = u28::new(MAX_DELTA_TICKS as u32);
                track.push(TrackEvent { delta, kind: TrackEventKind::Meta(MetaMessage::Text(b"")) });
                now += MAX_DELTA_TICKS;
            }
            track.push(TrackEvent { delta: u28::new((tick - now) as u32), kind });
            now = tick;
        }
        track
    }
}

/// Tracks without notes that were imported, with their channels, as far as no track plays there.
fn unplayed_channels<'a>(noteless: &[&'a Track], places: &[Place]) -> Vec<(&'a Track, u8)> {
    let unplayed = noteless.iter().filter_map(|track| {
        let place = imported_place(track).filter(|place| place.port == 0 && !places.contains(place))?;
        Some((*track, place.channel))
    });
    unplayed.collect()
}

fn song_track<'a>(
    project: &'a Project,
    unplayed: &[(&'a Track, u8)],
    exclusives: &'a [Exclusive],
) -> Vec<TrackEvent<'a>> {
    let mut list = EventList::default();
    list.meta(0, MetaMessage::TrackName(project.name.as_bytes()));
    for point in &project.tempo_map {
        let micros = (60e6 / point.bpm).round().clamp(1.0, f64::from(u24::max_value().as_int()));
        list.meta(point.tick.into(), MetaMessage::Tempo(u24::new(micros as u32)));
    }
    for signature in &project.time_signatures {
        // A click for each beat (24 clocks to a quarter note), and eight 32nds to a quarter note.
        let clocks = (96 / u16::from(signature.denominator)).max(1) as u8;
        let power = signature.denominator.trailing_zeros() as u8;
        let message = MetaMessage::TimeSignature(signature.numerator, power, clocks, 8);
        list.meta(signature.tick.into(), message);
    }
    for marker in &project.markers {
        list.meta(marker.tick.into(), MetaMessage::Marker(marker.name.as_bytes()));
    }
    list.exclusives(exclusives, 0);
    for (track, channel) in unplayed {
        controls(track, *channel, &mut list);
    }
    let end_tick = project.tracks.iter().map(end_tick).max().unwrap_or(0);
    list.into_track(end_tick)
}

fn note_track(track: &Track, place: Place, ports: bool) -> Vec<TrackEvent<'_>> {
    let mut list = EventList::default();
    list.meta(0, MetaMessage::TrackName(track.name.as_bytes()));
    if ports {
        list.meta(0, MetaMessage::MidiPort(u7::new(place.port)));
    }
    let channel = place.channel;
    presets(track, channel, &mut list);
    controls(track, channel, &mut list);
    for item in track.midi_items() {
        notes(item, channel, &mut list);
    }
    list.into_track(end_tick(track))
}

fn controls(track: &Track, channel: u8, list: &mut EventList<'_>) {
    let engine_bank = match &track.synth_engine {
        Some(SynthEngine::SoundFont(engine)) => Some(engine.bank),
        _ => None,
    };
    let mut bank_in_force = engine_bank;
    for item in track.midi_items() {
        for control in sounding_controls(item) {
            let tick = u64::from(item.start_tick) + u64::from(control.tick());
            match control {
                // Banks that are selected by controllers are written as such.
                Control::Cc(cc) if selects_bank(cc.controller) => bank_in_force = None,
                Control::Program(program) => {
                    let changed = program.bank.filter(|bank| bank_in_force.is_some_and(|own| own != *bank));
                    if let Some(bank) = changed {
                        list.midi(tick, Turn::Control, channel, bank_select(bank, channel));
                        bank_in_force = Some(bank);
                    }
                }
                _ => {}
            }
            for message in control_messages(control) {
                list.midi(tick, Turn::Control, channel, message);
            }
        }
    }
}

fn selects_bank(controller: u8) -> bool {
    matches!(controller, BANK_SELECT | BANK_SELECT_LEAST)
}

/// The controller that selects a SoundFont bank on a channel. The drum channel counts its banks
/// from 128 by itself, and MIDI knows 0 to 127.
fn bank_select(bank: u8, channel: u8) -> MidiMessage {
    let value = if channel == DRUM_CHANNEL { bank.saturating_sub(DRUM_BANK) } else { bank.min(127) };
    MidiMessage::Controller { controller: u7::new(BANK_SELECT), value: u7::new(value) }
}

/// The track's preset at its start, unless its own controls choose one by the first note, and
/// the presets of items that have their own.
fn presets<'a>(track: &'a Track, channel: u8, list: &mut EventList<'a>) {
    let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else { return };
    let mut select = |tick: u64, bank: Option<u8>, program: Option<u8>| {
        let bank_select = bank.map(|bank| bank_select(bank, channel));
        let program = program.map(|program| MidiMessage::ProgramChange { program: u7::new(program) });
        for message in [bank_select, program].into_iter().flatten() {
            list.midi(tick, Turn::Control, channel, message);
        }
    };
    let first_note = first_note_tick(track).unwrap_or(0);
    let chosen = |chooses: fn(&Control) -> bool| {
        track.midi_items().into_iter().any(|item| {
            let by_first_note =
                |control: &&Control| u64::from(item.start_tick) + u64::from(control.tick()) <= first_note;
            sounding_controls(item).filter(by_first_note).any(chooses)
        })
    };
    let program_chosen = chosen(|control| matches!(control, Control::Program(_)));
    let bank_chosen = chosen(|control| matches!(control, Control::Cc(cc) if selects_bank(cc.controller)));
    let names_bank = !matches!(engine.bank, 0 | DRUM_BANK);
    select(
        0,
        (names_bank && !bank_chosen).then_some(engine.bank),
        (!program_chosen).then_some(engine.program),
    );
    let mut overridden = false;
    for item in track.midi_items() {
        let own = item.soundfont_bank.is_some() || item.soundfont_program.is_some();
        if own || overridden {
            let bank = item.soundfont_bank.unwrap_or(engine.bank);
            let program = item.soundfont_program.unwrap_or(engine.program);
            select(item.start_tick.into(), Some(bank), Some(program));
        }
        overridden = own;
    }
}

fn notes(item: &MidiItem, channel: u8, list: &mut EventList<'_>) {
    for note in item.notes.iter().filter(|note| note.tick < item.length_ticks) {
        let start = u64::from(item.start_tick) + u64::from(note.tick);
        let length_ticks = note.length_ticks.min(item.length_ticks - note.tick);
        let (key, vel) = (u7::new(note.pitch), u7::new(note.midi_velocity()));
        let end_turn = if length_ticks > 0 { Turn::EndOfEarlierNote } else { Turn::EndOfEmptyNote };
        list.midi(start, Turn::Start, channel, MidiMessage::NoteOn { key, vel });
        let off = MidiMessage::NoteOff { key, vel: u7::new(64) };
        list.midi(start + u64::from(length_ticks), end_turn, channel, off);
    }
}

fn control_messages(control: &Control) -> Vec<MidiMessage> {
    let cc = |controller, value| MidiMessage::Controller {
        controller: u7::new(controller),
        value: u7::new(value),
    };
    let parameter = |number: [u8; 2], control: &ParameterControl| {
        let halves = |value: u16| [(value >> 7 & 0x7f) as u8, (value & 0x7f) as u8];
        let values = [halves(control.parameter), halves(control.value)];
        let controllers = [number, DATA_ENTRY];
        controllers.into_iter().flatten().zip(values.into_iter().flatten()).map(|(c, v)| cc(c, v)).collect()
    };
    match control {
        Control::Cc(control) => vec![cc(control.controller, control.value)],
        Control::Bend(control) => vec![MidiMessage::PitchBend { bend: PitchBend::from_int(control.value) }],
        Control::Pressure(control) => vec![MidiMessage::ChannelAftertouch { vel: u7::new(control.value) }],
        Control::KeyPressure(control) => {
            vec![MidiMessage::Aftertouch { key: u7::new(control.key), vel: u7::new(control.value) }]
        }
        Control::Program(control) => vec![MidiMessage::ProgramChange { program: u7::new(control.program) }],
        Control::Rpn(control) => parameter(RPN, control),
        Control::Nrpn(control) => parameter(NRPN, control),
    }
}

fn sounding_controls(item: &MidiItem) -> impl Iterator<Item = &Control> {
    item.controls.iter().filter(|control| control.tick() <= item.length_ticks)
}

fn first_note_tick(track: &Track) -> Option<u64> {
    let starts = track.midi_items().into_iter().flat_map(|item| {
        let sounding = item.notes.iter().filter(|note| note.tick < item.length_ticks);
        sounding.map(|note| u64::from(item.start_tick) + u64::from(note.tick))
    });
    starts.min()
}

fn end_tick(track: &Track) -> u64 {
    let ends =
        track.midi_items().into_iter().map(|item| u64::from(item.start_tick) + u64::from(item.length_ticks));
    ends.max().unwrap_or(0)
}

#[cfg(test)]
#[path = "export_test.rs"]
mod tests;
