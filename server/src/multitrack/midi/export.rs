//! Writes a project as a Standard MIDI file of format 1 with 960 ticks per quarter note.

use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, PitchBend, Smf, Timing, TrackEvent, TrackEventKind};
use schemas::TICKS_PER_QUARTER;
use schemas::json::View;
use schemas::project::{Control, MidiItem, ParameterControl, Project, SynthEngine, Track, TrackKind};

use super::banks::{DRUM_BANK, DRUM_CHANNEL};
use super::channels::{
    BANK_SELECT_LSB, BANK_SELECT_MSB, PortChannel, assign_channels, imported_channel, restore_import_fields,
};
use super::exclusives::{SystemExclusive, load};

/// Maximum delta time between two events in ticks: four bytes of seven bits.
const MAX_DELTA_TICKS: u64 = 0x0fff_ffff;

/// Controllers of data entry: most and least significant byte.
const DATA_ENTRY: [u8; 2] = [6, 38];
/// Controllers of the registered parameter number (RPN): most and least significant byte.
const RPN_CONTROLLERS: [u8; 2] = [101, 100];
/// Controllers of the non-registered parameter number (NRPN): most and least significant byte.
const NRPN_CONTROLLERS: [u8; 2] = [99, 98];

/// Writes a project as a MIDI file. The first track has the tempos, time signatures and markers. It
/// is followed by one track for each project track that has notes. Velocities are clamped to
/// 1..127. Events outside their item are left out, as in playback. Controls that were imported from
/// channels without notes are written to the first track.
///
/// `document` is the JSON of the project. It contains the fields of an import that are not in the
/// schema: the channels of tracks, and system exclusive messages.
pub fn export(document: View<'_>, mut project: Project) -> Vec<u8> {
    restore_import_fields(&mut project, document);
    let project = &project;
    let instrument_tracks = project.tracks.iter().filter(|track| track.kind == TrackKind::Instrument);
    let (tracks, noteless): (Vec<&Track>, Vec<&Track>) =
        instrument_tracks.partition(|track| first_note_tick(track).is_some());
    let exclusives = load(document);
    let port_channels = assign_channels(&tracks, !exclusives.is_empty());
    let mut exclusive_ports: Vec<u8> = exclusives.iter().map(|exclusive| exclusive.port).collect();
    exclusive_ports.retain(|port| *port > 0);
    exclusive_ports.sort_unstable();
    exclusive_ports.dedup();
    let has_ports =
        !exclusive_ports.is_empty() || port_channels.iter().any(|port_channel| port_channel.port > 0);
    let header = Header::new(Format::Parallel, Timing::Metrical(u15::new(TICKS_PER_QUARTER as u16)));
    let mut smf = Smf::new(header);
    smf.tracks.push(first_track(project, &unplayed_channels(&noteless, &port_channels), &exclusives));
    for port in exclusive_ports {
        let mut events = EventList::default();
        events.meta(0, MetaMessage::MidiPort(u7::new(port)));
        events.exclusives(&exclusives, port);
        smf.tracks.push(events.into_track(0));
    }
    for (track, port_channel) in tracks.iter().zip(port_channels) {
        smf.tracks.push(note_track(track, port_channel, has_ports));
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).expect("writing to memory does not fail");
    bytes
}

/// Events, each with its tick and its order within that tick.
#[derive(Default)]
struct EventList<'a>(Vec<(u64, EventOrder, TrackEventKind<'a>)>);

/// Order of the events at one tick. Playback of a session uses the same order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventOrder {
    Header,
    NoteOff,
    Control,
    NoteOn,
    EmptyNoteOff,
}

impl<'a> EventList<'a> {
    fn meta(&mut self, tick: u64, message: MetaMessage<'a>) {
        self.0.push((tick, EventOrder::Header, TrackEventKind::Meta(message)));
    }

    /// Adds the system exclusive messages of a port. They precede the other events at their tick,
    /// because they configure channels.
    fn exclusives(&mut self, exclusives: &'a [SystemExclusive], port: u8) {
        for exclusive in exclusives.iter().filter(|exclusive| exclusive.port == port) {
            let kind = if exclusive.is_escape {
                TrackEventKind::Escape(&exclusive.bytes)
            } else {
                TrackEventKind::SysEx(&exclusive.bytes)
            };
            self.0.push((exclusive.tick.into(), EventOrder::Header, kind));
        }
    }

    fn midi(&mut self, tick: u64, order: EventOrder, channel: u8, message: MidiMessage) {
        self.0.push((tick, order, TrackEventKind::Midi { channel: u4::new(channel), message }));
    }

    /// Returns the events with delta times, followed by an end of track at `end_tick` or, if later,
    /// at the last event.
    fn into_track(mut self, end_tick: u64) -> Vec<TrackEvent<'a>> {
        self.0.sort_by_key(|(tick, order, _)| (*tick, *order));
        let last_tick = self.0.last().map_or(0, |(tick, ..)| *tick);
        let end =
            (end_tick.max(last_tick), EventOrder::Header, TrackEventKind::Meta(MetaMessage::EndOfTrack));
        let mut last_event_tick = 0;
        let mut track = Vec::new();
        for (tick, _, kind) in self.0.into_iter().chain([end]) {
            while tick - last_event_tick > MAX_DELTA_TICKS {
                // The distance is too long for one delta time, so an empty text event is inserted.
                let delta = u28::new(MAX_DELTA_TICKS as u32);
                track.push(TrackEvent { delta, kind: TrackEventKind::Meta(MetaMessage::Text(b"")) });
                last_event_tick += MAX_DELTA_TICKS;
            }
            track.push(TrackEvent { delta: u28::new((tick - last_event_tick) as u32), kind });
            last_event_tick = tick;
        }
        track
    }
}

/// Returns the imported tracks without notes whose channel of port 0 no other track has, each with
/// that channel.
fn unplayed_channels<'a>(noteless: &[&'a Track], port_channels: &[PortChannel]) -> Vec<(&'a Track, u8)> {
    let unplayed_tracks = noteless.iter().filter_map(|track| {
        let port_channel = imported_channel(track)
            .filter(|port_channel| port_channel.port == 0 && !port_channels.contains(port_channel))?;
        Some((*track, port_channel.channel))
    });
    unplayed_tracks.collect()
}

fn first_track<'a>(
    project: &'a Project,
    unplayed_tracks: &[(&'a Track, u8)],
    exclusives: &'a [SystemExclusive],
) -> Vec<TrackEvent<'a>> {
    let mut events = EventList::default();
    events.meta(0, MetaMessage::TrackName(project.name.as_bytes()));
    for point in &project.tempo_map {
        let micros = (60e6 / point.bpm).round().clamp(1.0, f64::from(u24::max_value().as_int()));
        events.meta(point.tick.into(), MetaMessage::Tempo(u24::new(micros as u32)));
    }
    for signature in &project.time_signatures {
        // The metronome clicks on each beat (a quarter note has 24 clocks), and a quarter note has
        // eight 32nds.
        let clocks = (96 / u16::from(signature.denominator)).max(1) as u8;
        let power = signature.denominator.trailing_zeros() as u8;
        let message = MetaMessage::TimeSignature(signature.numerator, power, clocks, 8);
        events.meta(signature.tick.into(), message);
    }
    for marker in &project.markers {
        events.meta(marker.tick.into(), MetaMessage::Marker(marker.name.as_bytes()));
    }
    events.exclusives(exclusives, 0);
    for (track, channel) in unplayed_tracks {
        push_controls(track, *channel, &mut events);
    }
    let end_tick = project.tracks.iter().map(end_tick).max().unwrap_or(0);
    events.into_track(end_tick)
}

fn note_track(track: &Track, port_channel: PortChannel, has_ports: bool) -> Vec<TrackEvent<'_>> {
    let mut events = EventList::default();
    events.meta(0, MetaMessage::TrackName(track.name.as_bytes()));
    if has_ports {
        events.meta(0, MetaMessage::MidiPort(u7::new(port_channel.port)));
    }
    let channel = port_channel.channel;
    push_presets(track, channel, &mut events);
    push_controls(track, channel, &mut events);
    for item in track.midi_items() {
        push_notes(item, channel, &mut events);
    }
    events.into_track(end_tick(track))
}

fn push_controls(track: &Track, channel: u8, events: &mut EventList<'_>) {
    let engine_bank = match &track.synth_engine {
        Some(SynthEngine::SoundFont(engine)) => Some(engine.bank),
        _ => None,
    };
    let mut current_bank = engine_bank;
    for item in track.midi_items() {
        for control in controls_within(item) {
            let tick = u64::from(item.start_tick) + u64::from(control.tick());
            match control {
                // Bank select controllers are exported unchanged, so the current bank is no longer
                // known.
                Control::Cc(cc) if selects_bank(cc.controller) => current_bank = None,
                Control::Program(program) => {
                    let changed_bank =
                        program.bank.filter(|bank| current_bank.is_some_and(|current| current != *bank));
                    if let Some(bank) = changed_bank {
                        events.midi(tick, EventOrder::Control, channel, bank_select(bank, channel));
                        current_bank = Some(bank);
                    }
                }
                _ => {}
            }
            for message in control_messages(control) {
                events.midi(tick, EventOrder::Control, channel, message);
            }
        }
    }
}

fn selects_bank(controller: u8) -> bool {
    matches!(controller, BANK_SELECT_MSB | BANK_SELECT_LSB)
}

/// Returns the controller that selects a SoundFont bank on a channel. MIDI banks are 0 to 127. On
/// the drum channel, they represent the SoundFont banks from 128 on.
fn bank_select(bank: u8, channel: u8) -> MidiMessage {
    let value = if channel == DRUM_CHANNEL { bank.saturating_sub(DRUM_BANK) } else { bank.min(127) };
    MidiMessage::Controller { controller: u7::new(BANK_SELECT_MSB), value: u7::new(value) }
}

/// Adds the presets of the track and of its items. The track's preset is added at tick 0, unless
/// controls up to the first note choose one.
fn push_presets<'a>(track: &'a Track, channel: u8, events: &mut EventList<'a>) {
    let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else { return };
    let mut select = |tick: u64, bank: Option<u8>, program: Option<u8>| {
        let bank_select = bank.map(|bank| bank_select(bank, channel));
        let program = program.map(|program| MidiMessage::ProgramChange { program: u7::new(program) });
        for message in [bank_select, program].into_iter().flatten() {
            events.midi(tick, EventOrder::Control, channel, message);
        }
    };
    let first_note = first_note_tick(track).unwrap_or(0);
    let has_control_until_first_note = |is_match: fn(&Control) -> bool| {
        track.midi_items().into_iter().any(|item| {
            let until_first_note =
                |control: &&Control| u64::from(item.start_tick) + u64::from(control.tick()) <= first_note;
            controls_within(item).filter(until_first_note).any(is_match)
        })
    };
    let has_program_change = has_control_until_first_note(|control| matches!(control, Control::Program(_)));
    let has_bank_select = has_control_until_first_note(
        |control| matches!(control, Control::Cc(cc) if selects_bank(cc.controller)),
    );
    let needs_bank_select = !matches!(engine.bank, 0 | DRUM_BANK);
    select(
        0,
        (needs_bank_select && !has_bank_select).then_some(engine.bank),
        (!has_program_change).then_some(engine.program),
    );
    let mut is_overridden = false;
    for item in track.midi_items() {
        let has_preset = item.soundfont_bank.is_some() || item.soundfont_program.is_some();
        if has_preset || is_overridden {
            let bank = item.soundfont_bank.unwrap_or(engine.bank);
            let program = item.soundfont_program.unwrap_or(engine.program);
            select(item.start_tick.into(), Some(bank), Some(program));
        }
        is_overridden = has_preset;
    }
}

fn push_notes(item: &MidiItem, channel: u8, events: &mut EventList<'_>) {
    for note in item.notes.iter().filter(|note| note.tick < item.length_ticks) {
        let start = u64::from(item.start_tick) + u64::from(note.tick);
        let length_ticks = note.length_ticks.min(item.length_ticks - note.tick);
        let (key, vel) = (u7::new(note.pitch), u7::new(note.midi_velocity()));
        let off_order = if length_ticks > 0 { EventOrder::NoteOff } else { EventOrder::EmptyNoteOff };
        events.midi(start, EventOrder::NoteOn, channel, MidiMessage::NoteOn { key, vel });
        let off = MidiMessage::NoteOff { key, vel: u7::new(64) };
        events.midi(start + u64::from(length_ticks), off_order, channel, off);
    }
}

fn control_messages(control: &Control) -> Vec<MidiMessage> {
    let cc = |controller, value| MidiMessage::Controller {
        controller: u7::new(controller),
        value: u7::new(value),
    };
    let parameter = |number: [u8; 2], control: &ParameterControl| {
        let to_data_bytes = |value: u16| [(value >> 7 & 0x7f) as u8, (value & 0x7f) as u8];
        let values = [to_data_bytes(control.parameter), to_data_bytes(control.value)];
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
        Control::Rpn(control) => parameter(RPN_CONTROLLERS, control),
        Control::Nrpn(control) => parameter(NRPN_CONTROLLERS, control),
    }
}

fn controls_within(item: &MidiItem) -> impl Iterator<Item = &Control> {
    item.controls.iter().filter(|control| control.tick() <= item.length_ticks)
}

fn first_note_tick(track: &Track) -> Option<u64> {
    let starts = track.midi_items().into_iter().flat_map(|item| {
        let audible_notes = item.notes.iter().filter(|note| note.tick < item.length_ticks);
        audible_notes.map(|note| u64::from(item.start_tick) + u64::from(note.tick))
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
