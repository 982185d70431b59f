//! MIDI channels: collects the events of each channel, and assigns channels to tracks.

use std::collections::{HashMap, HashSet, VecDeque};

use schemas::json::{JsonKind, View};
use schemas::project::{
    BendControl, CcControl, Control, KeyPressureControl, Note, PressureControl, ProgramControl, SynthEngine,
    Track,
};
use schemas::{Extra, Project};

use super::banks::{BankMessage, BankSelect, DRUM_BANK, DRUM_CHANNEL, MidiStandard};

/// Controller numbers of bank select: the most and the least significant byte.
pub(super) const BANK_SELECT_MSB: u8 = 0;
pub(super) const BANK_SELECT_LSB: u8 = 32;

/// Field of an imported track: true if a message made its channel a drum part, false if a message
/// made channel 10 melodic.
pub(super) const DRUM_PART_FIELD: &str = "midi_drum_part";

/// Number of channels of a MIDI port.
const CHANNELS_PER_PORT: u8 = 16;
/// Number of ports that the port meta event can name.
const PORT_COUNT: u8 = 128;

/// The notes and controls of one channel.
#[derive(Debug, Default)]
pub(super) struct ChannelContent {
    channel: u8,
    pub(super) notes: Vec<Note>,
    pub(super) controls: Vec<Control>,
    /// Indices in `notes` of the notes that have not ended, by key. The oldest comes first.
    active_notes: HashMap<u8, VecDeque<usize>>,
    /// The bank that the next program change selects.
    bank_select: BankSelect,
    system: MidiStandard,
    /// Current bank and program.
    preset: (u8, u8),
    first_note_preset: Option<(u8, u8)>,
    /// Index in `controls` of the program change that set `preset`; `None` once a note has used it.
    unplayed_program: Option<usize>,
    last_tick: u32,
}

impl ChannelContent {
    /// Returns an empty channel. `channel` is 0 to 15.
    pub(super) fn new(channel: u8) -> Self {
        let preset = (BankSelect::default().soundfont_bank(MidiStandard::default(), channel), 0);
        Self { channel, preset, ..Self::default() }
    }

    /// Applies a system exclusive message about banks. Messages and events must be passed in the
    /// order of their ticks.
    pub(super) fn set_banks(&mut self, message: BankMessage) {
        match message {
            BankMessage::System(system) => (self.system, self.bank_select) = (system, BankSelect::default()),
            BankMessage::Part { channel, is_drums } if channel == self.channel => {
                self.bank_select.is_drum_part = Some(is_drums);
            }
            BankMessage::Part { .. } => return,
        }
        // A program change that no note has used yet also gets the new bank.
        let (bank, _) = &mut self.preset;
        match self.unplayed_program.map(|index| &mut self.controls[index]) {
            Some(Control::Program(program)) => {
                *bank = self.bank_select.soundfont_bank(self.system, self.channel);
                program.bank = Some(*bank);
            }
            _ if self.notes.is_empty() => *bank = self.bank_select.soundfont_bank(self.system, self.channel),
            _ => {}
        }
    }

    /// Adds a channel message. `status` is 0x80 to 0xe0, without the channel. Messages must be
    /// passed in the order of their ticks.
    pub(super) fn add(&mut self, tick: u32, status: u8, data_bytes: [u8; 2]) {
        self.last_tick = tick;
        let [first, second] = data_bytes;
        let extra = Extra::default();
        let control = match status {
            0x90 if second > 0 => {
                self.first_note_preset.get_or_insert(self.preset);
                self.unplayed_program = None;
                self.active_notes.entry(first).or_default().push_back(self.notes.len());
                let velocity = f64::from(second) / 127.0;
                self.notes.push(Note { tick, length_ticks: 0, pitch: first, velocity, extra });
                return;
            }
            0x80 | 0x90 => {
                if let Some(index) = self.active_notes.get_mut(&first).and_then(VecDeque::pop_front) {
                    let note = &mut self.notes[index];
                    note.length_ticks = tick - note.tick;
                }
                return;
            }
            0xa0 => Control::KeyPressure(KeyPressureControl { tick, key: first, value: second, extra }),
            0xb0 => {
                match first {
                    BANK_SELECT_MSB => self.bank_select.msb = Some(second),
                    BANK_SELECT_LSB => self.bank_select.lsb = Some(second),
                    _ => {}
                }
                Control::Cc(CcControl { tick, controller: first, value: second, extra })
            }
            0xc0 => {
                let bank = self.bank_select.soundfont_bank(self.system, self.channel);
                self.preset = (bank, first);
                self.unplayed_program = Some(self.controls.len());
                Control::Program(ProgramControl { tick, program: first, bank: Some(bank), extra })
            }
            0xd0 => Control::Pressure(PressureControl { tick, value: first, extra }),
            _ => {
                let value = (i16::from(second) << 7 | i16::from(first)) - 8_192;
                Control::Bend(BendControl { tick, value, extra })
            }
        };
        self.controls.push(control);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.controls.is_empty()
    }

    pub(super) fn has_notes(&self) -> bool {
        self.first_note_preset.is_some()
    }

    /// Returns the number of notes without a note-off message.
    pub(super) fn unended_notes(&self) -> usize {
        self.active_notes.values().map(VecDeque::len).sum()
    }

    /// Returns the length of the shortest item that contains all events. A note must begin before
    /// the item's end.
    pub(super) fn shortest_length_ticks(&self) -> u32 {
        let last_start = self.notes.last().map_or(0, |note| note.tick + 1);
        self.last_tick.max(last_start)
    }

    /// Ends the notes without a note-off message at `tick`.
    pub(super) fn end_notes(&mut self, tick: u32) {
        for &index in self.active_notes.values().flatten() {
            let note = &mut self.notes[index];
            note.length_ticks = tick - note.tick;
        }
    }

    /// Returns the bank and program of the first note. Without notes, returns the last ones that
    /// were selected.
    pub(super) fn preset_at_first_note(&self) -> (u8, u8) {
        self.first_note_preset.unwrap_or(self.preset)
    }
}

/// A MIDI channel, 0 to 15, of a port, 0 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PortChannel {
    pub(super) port: u8,
    pub(super) channel: u8,
}

/// Assigns a channel to each track: the channel from which it was imported, if that is free, or
/// else the next free one. Drum tracks get channel 10 of a port. Drum tracks beyond the 128th share
/// one channel; no other channel is shared.
///
/// With `keeps_part_messages`, the export repeats the messages that made other channels drum parts
/// or channel 10 melodic. Only the tracks imported from those channels then get them.
pub(super) fn assign_channels(tracks: &[&Track], keeps_part_messages: bool) -> Vec<PortChannel> {
    let drum_part_of = |track: &Track| {
        let drums = track.extra.get(DRUM_PART_FIELD).filter(|_| keeps_part_messages)?.as_bool()?;
        Some((imported_channel(track)?, drums))
    };
    let drum_parts: HashMap<PortChannel, bool> =
        tracks.iter().filter_map(|track| drum_part_of(track)).collect();
    let is_for_drums = |port_channel: &PortChannel| {
        drum_parts.get(port_channel).copied().unwrap_or(port_channel.channel == DRUM_CHANNEL)
    };
    let mut used_channels = HashSet::new();
    let mut port_channels: Vec<Option<PortChannel>> = tracks
        .iter()
        .map(|track| {
            imported_channel(track).filter(|port_channel| {
                is_for_drums(port_channel) == plays_drums(track) && used_channels.insert(*port_channel)
            })
        })
        .collect();
    used_channels.extend(drum_parts.keys());
    for (port_channel, track) in port_channels.iter_mut().zip(tracks) {
        if port_channel.is_none() {
            let is_drums = plays_drums(track);
            *port_channel = (0..PORT_COUNT)
                .flat_map(|port| (0..CHANNELS_PER_PORT).map(move |channel| PortChannel { port, channel }))
                .find(|port_channel| {
                    (port_channel.channel == DRUM_CHANNEL) == is_drums && used_channels.insert(*port_channel)
                });
        }
    }
    let shared_port_channel = PortChannel { port: 0, channel: DRUM_CHANNEL };
    port_channels.into_iter().map(|port_channel| port_channel.unwrap_or(shared_port_channel)).collect()
}

/// Whether a track's instrument is a drum kit.
pub(super) fn plays_drums(track: &Track) -> bool {
    matches!(&track.synth_engine, Some(SynthEngine::SoundFont(engine)) if engine.bank >= DRUM_BANK)
}

/// Fields of an imported track that are not in the schema. The first two are numbers, the last is a
/// boolean.
const IMPORTED_FIELDS: [&str; 3] = ["midi_channel", "midi_port", DRUM_PART_FIELD];

/// Copies [`IMPORTED_FIELDS`] from the document of an imported project to the tracks of `project`.
pub(super) fn restore_import_fields(project: &mut Project, document: View<'_>) {
    for (track, view) in project.tracks.iter_mut().zip(document.list("tracks")) {
        for name in IMPORTED_FIELDS {
            let field =
                view.get(name).filter(|field| matches!(field.kind(), JsonKind::Number | JsonKind::Boolean));
            if let Some(field) = field {
                track.extra.insert(name, field.to_value());
            }
        }
    }
}

/// Returns the channel from which a track was imported.
pub(super) fn imported_channel(track: &Track) -> Option<PortChannel> {
    let number = |name: &str, limit: u8| {
        track
            .extra
            .get(name)?
            .as_u64()
            .and_then(|value| u8::try_from(value).ok())
            .filter(|value| *value < limit)
    };
    Some(PortChannel {
        port: number("midi_port", PORT_COUNT).unwrap_or(0),
        channel: number("midi_channel", CHANNELS_PER_PORT)?,
    })
}

#[cfg(test)]
mod tests {
    use schemas::project::{SoundFontEngine, TrackKind};

    use super::*;

    fn track(bank: u8, midi_channel: Option<u8>) -> Track {
        let mut track = Track::new("t", TrackKind::Instrument);
        let engine = SoundFontEngine { soundfont_id: None, bank, program: 0, extra: Extra::default() };
        track.synth_engine = Some(SynthEngine::SoundFont(engine));
        if let Some(channel) = midi_channel {
            track.extra.insert("midi_channel", channel.into());
        }
        track
    }

    fn check(tracks: &[Track], expected: &[(u8, u8)]) {
        let port_channels = assign_channels(&tracks.iter().collect::<Vec<_>>(), false);
        assert_eq!(
            port_channels
                .iter()
                .map(|port_channel| (port_channel.port, port_channel.channel))
                .collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn tracks_keep_their_imported_channels() {
        check(
            &[track(0, None), track(0, Some(0)), track(128, None), track(0, Some(0)), track(128, Some(9))],
            &[(0, 1), (0, 0), (1, 9), (0, 2), (0, 9)],
        );
    }

    #[test]
    fn a_track_whose_instrument_no_longer_fits_gets_another_channel() {
        check(&[track(0, Some(9)), track(128, Some(3)), track(0, Some(200))], &[(0, 0), (0, 9), (0, 1)]);
    }

    #[test]
    fn tracks_beyond_the_fifteenth_use_further_ports() {
        let tracks: Vec<Track> = (0..1_000).map(|_| track(0, None)).collect();
        let port_channels = assign_channels(&tracks.iter().collect::<Vec<_>>(), false);
        assert_eq!(port_channels.iter().collect::<HashSet<_>>().len(), 1_000);
        assert!(port_channels.iter().all(|port_channel| port_channel.channel != DRUM_CHANNEL));
        assert_eq!(port_channels[14], PortChannel { port: 0, channel: 15 });
        assert_eq!(port_channels[15], PortChannel { port: 1, channel: 0 });
    }

    #[test]
    fn drums_share_a_channel_only_when_the_ports_run_out() {
        let tracks: Vec<Track> = (0..130).map(|_| track(128, None)).collect();
        let port_channels = assign_channels(&tracks.iter().collect::<Vec<_>>(), false);
        assert_eq!(port_channels.iter().collect::<HashSet<_>>().len(), 128);
        assert_eq!(port_channels[129], PortChannel { port: 0, channel: DRUM_CHANNEL });
    }

    #[test]
    fn tracks_of_imported_drum_parts_keep_their_channels() {
        let mut tracks = [track(128, Some(10)), track(0, Some(9)), track(0, Some(10)), track(128, Some(4))];
        tracks[0].extra.insert(DRUM_PART_FIELD, true.into());
        tracks[1].extra.insert(DRUM_PART_FIELD, false.into());
        let tracks: Vec<&Track> = tracks.iter().collect();
        let port_channels = |keeps_part_messages| {
            let port_channels = assign_channels(&tracks, keeps_part_messages);
            port_channels
                .into_iter()
                .map(|port_channel| (port_channel.port, port_channel.channel))
                .collect::<Vec<_>>()
        };
        assert_eq!(port_channels(true), [(0, 10), (0, 9), (0, 0), (1, 9)]);
        assert_eq!(port_channels(false), [(0, 9), (0, 0), (0, 10), (1, 9)]);
    }
}
