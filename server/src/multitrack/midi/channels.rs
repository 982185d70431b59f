//! MIDI channels: what one of them plays, and which one a track gets.

use std::collections::{HashMap, HashSet, VecDeque};

use schemas::json::{Kind, View};
use schemas::project::{
    BendControl, CcControl, Control, KeyPressureControl, Note, PressureControl, ProgramControl, SynthEngine,
    Track,
};
use schemas::{Extra, Project};

use super::banks::{BankMessage, BankSelect, DRUM_BANK, DRUM_CHANNEL, System};

/// Bank select, most and least significant byte.
pub(super) const BANK_SELECT: u8 = 0;
pub(super) const BANK_SELECT_LEAST: u8 = 32;

/// Field of an imported track whose channel played drums, or did not, because the file said so.
pub(super) const DRUM_PART: &str = "midi_drum_part";

/// Channels of a port.
const CHANNELS: u8 = 16;
/// Ports that the port meta event can name.
const PORTS: u8 = 128;

/// The notes and controls of one channel.
#[derive(Debug, Default)]
pub(super) struct ChannelContent {
    channel: u8,
    pub(super) notes: Vec<Note>,
    pub(super) controls: Vec<Control>,
    /// Places in `notes` of those that sound, by key, the oldest first.
    open: HashMap<u8, VecDeque<usize>>,
    /// What the next program change selects.
    select: BankSelect,
    system: System,
    /// Bank and program in force.
    preset: (u8, u8),
    at_first_note: Option<(u8, u8)>,
    /// Place in `controls` of the program change that chose the preset, if no note followed it.
    unplayed_program: Option<usize>,
    last_tick: u32,
}

impl ChannelContent {
    /// Nothing yet, on a channel from 0 to 15.
    pub(super) fn new(channel: u8) -> Self {
        let preset = (BankSelect::default().soundfont_bank(System::default(), channel), 0);
        Self { channel, preset, ..Self::default() }
    }

    /// What a system exclusive message says about banks; ticks ascend.
    pub(super) fn set_banks(&mut self, message: BankMessage) {
        match message {
            BankMessage::System(system) => (self.system, self.select) = (system, BankSelect::default()),
            BankMessage::Part { channel, drums } if channel == self.channel => {
                self.select.drums = Some(drums);
            }
            BankMessage::Part { .. } => return,
        }
        // The part changes at once, and with it what was selected and has not been played.
        let (bank, _) = &mut self.preset;
        match self.unplayed_program.map(|place| &mut self.controls[place]) {
            Some(Control::Program(program)) => {
                *bank = self.select.soundfont_bank(self.system, self.channel);
                program.bank = Some(*bank);
            }
            _ if self.notes.is_empty() => *bank = self.select.soundfont_bank(self.system, self.channel),
            _ => {}
        }
    }

    /// Adds a channel message; ticks ascend.
    pub(super) fn add(&mut self, tick: u32, status: u8, data: [u8; 2]) {
        self.last_tick = tick;
        let [first, second] = data;
        let extra = Extra::default();
        let control = match status {
            0x90 if second > 0 => {
                self.at_first_note.get_or_insert(self.preset);
                self.unplayed_program = None;
                self.open.entry(first).or_default().push_back(self.notes.len());
                let velocity = f64::from(second) / 127.0;
                self.notes.push(Note { tick, length_ticks: 0, pitch: first, velocity, extra });
                return;
            }
            0x80 | 0x90 => {
                if let Some(place) = self.open.get_mut(&first).and_then(VecDeque::pop_front) {
                    let note = &mut self.notes[place];
                    note.length_ticks = tick - note.tick;
                }
                return;
            }
            0xa0 => Control::KeyPressure(KeyPressureControl { tick, key: first, value: second, extra }),
            0xb0 => {
                match first {
                    BANK_SELECT => self.select.most = Some(second),
                    BANK_SELECT_LEAST => self.select.least = Some(second),
                    _ => {}
                }
                Control::Cc(CcControl { tick, controller: first, value: second, extra })
            }
            0xc0 => {
                let bank = self.select.soundfont_bank(self.system, self.channel);
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

    pub(super) fn has_begun_notes(&self) -> bool {
        self.at_first_note.is_some()
    }

    /// Notes that have no end in the file.
    pub(super) fn endless_notes(&self) -> usize {
        self.open.values().map(VecDeque::len).sum()
    }

    /// The shortest item that holds every event: a note must begin before its end.
    pub(super) fn shortest_length_ticks(&self) -> u32 {
        let last_start = self.notes.last().map_or(0, |note| note.tick + 1);
        self.last_tick.max(last_start)
    }

    /// Ends the notes that the file never ends.
    pub(super) fn end_notes(&mut self, tick: u32) {
        for &place in self.open.values().flatten() {
            let note = &mut self.notes[place];
            note.length_ticks = tick - note.tick;
        }
    }

    /// Bank and program in force at the first note; without notes, at the end.
    pub(super) fn preset_at_first_note(&self) -> (u8, u8) {
        self.at_first_note.unwrap_or(self.preset)
    }
}

/// A channel of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) port: u8,
    pub(super) channel: u8,
}

/// Gives each track a channel of its own: the one it was imported from where that is free,
/// drums on channel 10. Only drum tracks beyond the 128th share one.
///
/// `keeps_parts` says that the messages are written again that made drums of other channels, or
/// something else of channel 10. Those channels are only for the tracks that came from there.
pub(super) fn allocate(tracks: &[&Track], keeps_parts: bool) -> Vec<Place> {
    let part_of = |track: &Track| {
        let drums = track.extra.get(DRUM_PART).filter(|_| keeps_parts)?.as_bool()?;
        Some((imported_place(track)?, drums))
    };
    let parts: HashMap<Place, bool> = tracks.iter().filter_map(|track| part_of(track)).collect();
    let is_for_drums = |place: &Place| parts.get(place).copied().unwrap_or(place.channel == DRUM_CHANNEL);
    let mut taken = HashSet::new();
    let mut places: Vec<Option<Place>> = tracks
        .iter()
        .map(|track| {
            imported_place(track)
                .filter(|place| is_for_drums(place) == plays_drums(track) && taken.insert(*place))
        })
        .collect();
    taken.extend(parts.keys());
    for (place, track) in places.iter_mut().zip(tracks) {
        if place.is_none() {
            let drums = plays_drums(track);
            *place = (0..PORTS)
                .flat_map(|port| (0..CHANNELS).map(move |channel| Place { port, channel }))
                .find(|place| (place.channel == DRUM_CHANNEL) == drums && taken.insert(*place));
        }
    }
    let shared = Place { port: 0, channel: DRUM_CHANNEL };
    places.into_iter().map(|place| place.unwrap_or(shared)).collect()
}

/// Whether a track's instrument is a drum kit.
pub(super) fn plays_drums(track: &Track) -> bool {
    matches!(&track.synth_engine, Some(SynthEngine::SoundFont(engine)) if engine.bank >= DRUM_BANK)
}

/// Fields of an imported track that the schema does not know: two numbers and a boolean.
const IMPORTED_FIELDS: [&str; 3] = ["midi_channel", "midi_port", DRUM_PART];

/// Gives the tracks of a project back what the document has of their import.
pub(super) fn read_imported(project: &mut Project, document: View<'_>) {
    for (track, view) in project.tracks.iter_mut().zip(document.list("tracks")) {
        for name in IMPORTED_FIELDS {
            let field = view.get(name).filter(|field| matches!(field.kind(), Kind::Number | Kind::Boolean));
            if let Some(field) = field {
                track.extra.insert(name, field.to_value());
            }
        }
    }
}

/// Where the file had an imported track.
pub(super) fn imported_place(track: &Track) -> Option<Place> {
    let number = |name: &str, limit: u8| {
        track
            .extra
            .get(name)?
            .as_u64()
            .and_then(|value| u8::try_from(value).ok())
            .filter(|value| *value < limit)
    };
    Some(Place { port: number("midi_port", PORTS).unwrap_or(0), channel: number("midi_channel", CHANNELS)? })
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
        let places = allocate(&tracks.iter().collect::<Vec<_>>(), false);
        assert_eq!(places.iter().map(|place| (place.port, place.channel)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn imported_channels_come_first() {
        check(
            &[track(0, None), track(0, Some(0)), track(128, None), track(0, Some(0)), track(128, Some(9))],
            &[(0, 1), (0, 0), (1, 9), (0, 2), (0, 9)],
        );
    }

    #[test]
    fn a_changed_instrument_leaves_the_channel_of_its_import() {
        check(&[track(0, Some(9)), track(128, Some(3)), track(0, Some(200))], &[(0, 0), (0, 9), (0, 1)]);
    }

    #[test]
    fn more_than_fifteen_tracks_go_to_further_ports() {
        let tracks: Vec<Track> = (0..1_000).map(|_| track(0, None)).collect();
        let places = allocate(&tracks.iter().collect::<Vec<_>>(), false);
        assert_eq!(places.iter().collect::<HashSet<_>>().len(), 1_000);
        assert!(places.iter().all(|place| place.channel != DRUM_CHANNEL));
        assert_eq!(places[14], Place { port: 0, channel: 15 });
        assert_eq!(places[15], Place { port: 1, channel: 0 });
    }

    #[test]
    fn drums_share_a_channel_only_when_the_ports_run_out() {
        let tracks: Vec<Track> = (0..130).map(|_| track(128, None)).collect();
        let places = allocate(&tracks.iter().collect::<Vec<_>>(), false);
        assert_eq!(places.iter().collect::<HashSet<_>>().len(), 128);
        assert_eq!(places[129], Place { port: 0, channel: DRUM_CHANNEL });
    }

    #[test]
    fn parts_that_the_file_made_stay_where_they_were() {
        let mut tracks = [track(128, Some(10)), track(0, Some(9)), track(0, Some(10)), track(128, Some(4))];
        tracks[0].extra.insert(DRUM_PART, true.into());
        tracks[1].extra.insert(DRUM_PART, false.into());
        let tracks: Vec<&Track> = tracks.iter().collect();
        let places = |keeps_parts| {
            let places = allocate(&tracks, keeps_parts);
            places.into_iter().map(|place| (place.port, place.channel)).collect::<Vec<_>>()
        };
        assert_eq!(places(true), [(0, 10), (0, 9), (0, 0), (1, 9)]);
        assert_eq!(places(false), [(0, 9), (0, 0), (0, 10), (1, 9)]);
    }
}
