//! Reads a MIDI file into a project, with a track for each channel.

use std::collections::BTreeMap;

use schemas::Project;
use schemas::limits::{MAX_EVENT_BYTES, MAX_TICK, event_bytes};
use schemas::project::{
    Item, Marker, MidiItem, SoundFontEngine, SynthEngine, TempoPoint, TimeSignature, Track, TrackKind,
};
use schemas::{Extra, TICKS_PER_QUARTER};

use super::MidiError;
use super::banks::{BankMessage, bank_message};
use super::banks::{DRUM_BANK, DRUM_CHANNEL};
use super::channels::{ChannelContent, DRUM_PART_FIELD};
use super::exclusives::{MAX_BYTES, MAX_MESSAGES, SystemExclusive};
use super::file::{EventKind, MidiFile, Timing};

/// Properties of the new project that the file does not determine.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Id of the new project.
    pub project_id: String,
    /// Name of the project; `None` uses the name in the file.
    pub name: Option<String>,
    /// Id of the SoundFont bank that the tracks play; `None` selects the service's default bank.
    pub soundfont_id: Option<String>,
}

/// A project made from a MIDI file.
#[derive(Debug)]
pub struct ImportedProject {
    /// The project made from the file.
    pub project: Project,
    /// Warnings, as sentences, about data of the file that could not be read or represented.
    pub warnings: Vec<String>,
}

/// Volume of the tracks of an imported song, in decibels.
///
/// MIDI files do not specify their loudness, and the mix of many exceeds the limiter's ceiling of
/// -3 dBFS. Measured on 101 songs (Debian's openttd-openmsx, freedoom and playmidi) with TimGM6mb:
/// at 0 dB, the limiter reduces 95 % of them by at most 8.51 dB. At -9 dB, it reduces 98 of them by
/// at most 1 dB. FluidR3 is 3 dB louder: with it at -9 dB, only 89 songs stay within 1 dB, and the
/// loudest is reduced by 4.1 dB. So the volume is -12 dB. Tracks have this level rather than the
/// master, because the tracks may be moved to another song.
const IMPORTED_TRACK_DB: f64 = -12.0;

/// Maximum number of tempos, of time signatures or of markers in a project, as in its schema.
const MAX_SONG_EVENTS: usize = 100_000;
/// Maximum number of tracks in a project, as in its schema.
const MAX_TRACKS: usize = 1_000;
/// Tempos that a project can have, in quarter notes per minute, as in its schema.
const BPM_RANGE: core::ops::RangeInclusive<f64> = 1.0..=100_000.0;
/// Largest exponent of a time signature's denominator, as in the schema: 2^7 = 128.
const MAX_DENOMINATOR_POWER: u8 = 7;

/// Reads a MIDI file into a project: one track for each port and channel that is used. Ticks become
/// 960ths of a quarter note. Tracks of the file that use one channel become one track, because they
/// share the channel's state.
///
/// # Errors
/// The file is not a MIDI file, or it exceeds a limit of a project.
pub fn import(bytes: &[u8], options: ImportOptions) -> Result<ImportedProject, MidiError> {
    let mut file = MidiFile::read(bytes)?;
    let scale = TickScale { timing: file.timing };
    let ends: Vec<u32> =
        file.tracks.iter().map(|track| scale.tick(track.end_tick)).collect::<Result<_, _>>()?;
    let mut warnings = core::mem::take(&mut file.warnings);
    if file.format == 2 && file.tracks.len() > 1 {
        warnings.push(format!(
            "The file has {} independent patterns (format 2); they become parallel tracks.",
            file.tracks.len()
        ));
    }
    let mut project = Project::new(options.project_id, options.name.unwrap_or_else(|| song_name(&file)));
    read_song_events(&file, &scale, &mut project, &mut warnings)?;
    let exclusives = collect_exclusives(&file, &scale, &mut warnings)?;
    super::exclusives::store(&mut project, &exclusives);
    let channels = collect_channels(&file, &scale, &ends)?;
    let unended_note_count: usize = channels.iter().map(|channel| channel.content.unended_notes()).sum();
    match unended_note_count {
        0 => {}
        1 => warnings.push("1 note has no note-off; it lasts to the end of its clip.".into()),
        _ => {
            warnings.push(format!(
                "{unended_note_count} notes have no note-off; they last to the ends of their clips."
            ));
        }
    }
    if channels.iter().all(|channel| channel.content.notes.is_empty()) {
        warnings.push("The file has no notes.".into());
    }
    if channels.len() > MAX_TRACKS {
        return Err(MidiError::TooMany { kind: "channels", limit: MAX_TRACKS });
    }
    let names = channel_names(&file, &channels);
    project.tracks = channels
        .into_iter()
        .zip(names)
        .enumerate()
        .map(|(index, (channel, name))| build_track(index + 1, channel, name, options.soundfont_id.clone()))
        .collect();
    Ok(ImportedProject { project, warnings })
}

/// Converts ticks of the file to 960ths of a quarter note.
struct TickScale {
    timing: Timing,
}

impl TickScale {
    fn tick(&self, tick: u64) -> Result<u32, MidiError> {
        /// Files timed in seconds are imported at 120 quarter notes per minute.
        const TICKS_PER_SECOND: u128 = 2 * TICKS_PER_QUARTER as u128;
        let (multiplier, divisor) = match self.timing {
            Timing::TicksPerQuarter(ticks) => (u128::from(TICKS_PER_QUARTER), u128::from(ticks)),
            Timing::TicksPerSecond { ticks, seconds } => {
                (TICKS_PER_SECOND * u128::from(seconds), u128::from(ticks))
            }
        };
        let scaled_tick = (u128::from(tick) * multiplier + divisor / 2) / divisor;
        let too_long = MidiError::TooLong {
            quarters: (scaled_tick / u128::from(TICKS_PER_QUARTER)) as u64,
            limit_quarters: u64::from(MAX_TICK / TICKS_PER_QUARTER),
        };
        u32::try_from(scaled_tick).ok().filter(|&tick| tick <= MAX_TICK).ok_or(too_long)
    }
}

/// Returns the song's name: the name of the only track, or of a first track without notes.
fn song_name(file: &MidiFile) -> String {
    let first = &file.tracks[0];
    let has_notes =
        first.events.iter().any(|event| matches!(event.kind, EventKind::Channel { status: 0x90, .. }));
    let name = first.events.iter().find_map(|event| match &event.kind {
        EventKind::TrackName(name) => Some(name.clone()),
        _ => None,
    });
    name.filter(|_| file.tracks.len() == 1 || !has_notes).unwrap_or_else(|| "Imported MIDI".into())
}

/// Reads tempos, time signatures and markers into `project`.
fn read_song_events(
    file: &MidiFile,
    scale: &TickScale,
    project: &mut Project,
    warnings: &mut Vec<String>,
) -> Result<(), MidiError> {
    let is_timed_in_seconds = matches!(file.timing, Timing::TicksPerSecond { .. });
    // Both maps are keyed by tick. If several events have the same tick, the last one is kept.
    let mut tempos = BTreeMap::new();
    let mut signatures = BTreeMap::new();
    let mut has_ignored_tempos = false;
    let mut out_of_range = Vec::new();
    let mut events: Vec<_> = file.tracks.iter().flat_map(|track| &track.events).collect();
    events.sort_by_key(|event| event.tick);
    for event in events {
        match &event.kind {
            EventKind::Tempo(_) if is_timed_in_seconds => has_ignored_tempos = true,
            EventKind::Tempo(micros) => {
                let exact_bpm = 60e6 / f64::from(*micros);
                let bpm = exact_bpm.clamp(*BPM_RANGE.start(), *BPM_RANGE.end());
                // Zero microseconds cannot be a tempo.
                let is_ignored = *micros == 0;
                if !BPM_RANGE.contains(&exact_bpm) {
                    let outcome =
                        if is_ignored { "ignored".to_owned() } else { format!("changed to {bpm} BPM") };
                    out_of_range.push(format!(
                        "A tempo of {micros} {} per quarter note is outside {} to {} BPM and was {outcome}.",
                        if *micros == 1 { "microsecond" } else { "microseconds" },
                        BPM_RANGE.start(),
                        BPM_RANGE.end()
                    ));
                }
                if !is_ignored {
                    tempos.insert(scale.tick(event.tick)?, bpm);
                }
            }
            &EventKind::TimeSignature { numerator, denominator_power } => {
                if numerator == 0 || denominator_power > MAX_DENOMINATOR_POWER {
                    out_of_range.push(format!(
                        "A time signature of {numerator}/2^{denominator_power} was ignored; expected a numerator of at least 1 \
                         and a denominator of at most 2^{MAX_DENOMINATOR_POWER}."
                    ));
                } else {
                    signatures.insert(scale.tick(event.tick)?, (numerator, 1 << denominator_power));
                }
            }
            EventKind::Marker(name) => {
                let tick = scale.tick(event.tick)?;
                project.markers.push(Marker { tick, name: name.clone(), extra: Extra::default() });
            }
            _ => {}
        }
    }
    for (kind, count) in
        [("tempos", tempos.len()), ("time signatures", signatures.len()), ("markers", project.markers.len())]
    {
        if count >= MAX_SONG_EVENTS {
            return Err(MidiError::TooMany { kind, limit: MAX_SONG_EVENTS });
        }
    }
    tempos.entry(0).or_insert(dsp_core::tempo::DEFAULT_BPM);
    signatures.entry(0).or_insert((4, 4));
    let tempo = |(tick, bpm)| TempoPoint { tick, bpm, extra: Extra::default() };
    project.tempo_map = tempos.into_iter().map(tempo).collect();
    let signature = |(tick, (numerator, denominator))| TimeSignature {
        tick,
        numerator,
        denominator,
        extra: Extra::default(),
    };
    project.time_signatures = signatures.into_iter().map(signature).collect();
    if has_ignored_tempos {
        warnings.push("The file is timed in seconds instead of beats; its tempos are ignored.".into());
    }
    match out_of_range.as_slice() {
        [] => {}
        [warning] => warnings.push(warning.clone()),
        [first, _] => warnings.push(format!("{first} 1 other value is out of range too.")),
        [first, other_tempos @ ..] => {
            warnings.push(format!("{first} {} other values are out of range too.", other_tempos.len()));
        }
    }
    Ok(())
}

/// Collects the file's system exclusive messages, up to the limits for a project.
fn collect_exclusives(
    file: &MidiFile,
    scale: &TickScale,
    warnings: &mut Vec<String>,
) -> Result<Vec<SystemExclusive>, MidiError> {
    let mut exclusives = Vec::new();
    let (mut total_bytes, mut left_out) = (0, 0);
    for track in &file.tracks {
        let mut current_port = 0;
        for event in &track.events {
            match &event.kind {
                EventKind::Port(port) => current_port = *port,
                EventKind::Exclusive { is_escape, data_bytes } => {
                    let tick = scale.tick(event.tick)?;
                    total_bytes += data_bytes.len();
                    if total_bytes > MAX_BYTES || exclusives.len() >= MAX_MESSAGES {
                        left_out += 1;
                        continue;
                    }
                    let port = current_port;
                    exclusives.push(SystemExclusive {
                        tick,
                        port,
                        is_escape: *is_escape,
                        bytes: data_bytes.clone(),
                    });
                }
                _ => {}
            }
        }
    }
    if left_out > 0 {
        let messages = if left_out == 1 { "message is" } else { "messages are" };
        warnings.push(format!("{left_out} system exclusive {messages} left out: a project can have at most {MAX_MESSAGES} messages and {MAX_BYTES} bytes."));
    }
    // The sort is stable, so events at one tick stay in the order of the file.
    exclusives.sort_by_key(|exclusive| exclusive.tick);
    Ok(exclusives)
}

/// Collects the messages about banks, each with its tick in the file and its port.
fn collect_bank_messages(file: &MidiFile) -> Vec<(u64, u8, BankMessage)> {
    let mut messages = Vec::new();
    for track in &file.tracks {
        let mut current_port = 0;
        for event in &track.events {
            match &event.kind {
                EventKind::Port(port) => current_port = *port,
                EventKind::Exclusive { is_escape: false, data_bytes } => {
                    messages
                        .extend(bank_message(data_bytes).map(|message| (event.tick, current_port, message)));
                }
                _ => {}
            }
        }
    }
    messages.sort_by_key(|&(tick, ..)| tick);
    messages.truncate(MAX_MESSAGES);
    messages
}

/// A channel of a port. `first_track` is the file's track with the channel's first note or, without
/// notes, its first event.
struct Channel {
    port: u8,
    channel: u8,
    first_track: usize,
    length_ticks: u32,
    content: ChannelContent,
}

/// Collects the events of each channel by ascending tick. The channels are in the order of the
/// tracks that use them first.
fn collect_channels(file: &MidiFile, scale: &TickScale, ends: &[u32]) -> Result<Vec<Channel>, MidiError> {
    let mut events = Vec::new();
    for (index, track) in file.tracks.iter().enumerate() {
        let mut current_port = 0;
        for event in &track.events {
            match event.kind {
                EventKind::Port(port) => current_port = port,
                EventKind::Channel { status, channel, data_bytes } => {
                    events.push((event.tick, index, current_port, channel, status, data_bytes));
                }
                _ => {}
            }
        }
    }
    // The sort is stable, so events at one tick stay in the order of the file.
    events.sort_by_key(|&(tick, ..)| tick);
    let bank_messages = collect_bank_messages(file);
    // At one tick, bank messages of all tracks apply before channel messages.
    let mut bank_messages = bank_messages.iter().peekable();
    let mut earlier_messages: Vec<(u8, BankMessage)> = Vec::new();
    let mut by_port_channel: BTreeMap<(u8, u8), Channel> = BTreeMap::new();
    let (mut notes, mut controls) = (0, 0);
    for (tick, track, port, channel, status, data_bytes) in events {
        while let Some(&(_, message_port, message)) =
            bank_messages.next_if(|(message_tick, ..)| *message_tick <= tick)
        {
            if let BankMessage::System(_) = message {
                earlier_messages.retain(|(port, _)| *port != message_port);
            }
            earlier_messages.push((message_port, message));
            for entry in by_port_channel.values_mut().filter(|entry| entry.port == message_port) {
                entry.content.set_banks(message);
            }
        }
        let entry = by_port_channel.entry((port, channel)).or_insert_with(|| {
            let mut content = ChannelContent::new(channel);
            for (_, message) in earlier_messages.iter().filter(|(message_port, _)| *message_port == port) {
                content.set_banks(*message);
            }
            Channel { port, channel, first_track: track, length_ticks: 0, content }
        });
        if !entry.content.has_notes() && status == 0x90 && data_bytes[1] > 0 {
            entry.first_track = track;
        }
        entry.length_ticks = entry.length_ticks.max(ends[track]);
        entry.content.add(scale.tick(tick)?, status, data_bytes);
        match status {
            0x80 => {}
            0x90 => notes += usize::from(data_bytes[1] > 0),
            _ => controls += 1,
        }
        if event_bytes(notes, controls) > MAX_EVENT_BYTES {
            return Err(MidiError::TooLarge { notes, controls });
        }
    }
    let mut channels: Vec<Channel> =
        by_port_channel.into_values().filter(|channel| !channel.content.is_empty()).collect();
    // The song is as long as its longest track, even if that track has only tempos. The channels
    // that end last are extended to the song's end, and so are channels with notes that lack a
    // note-off.
    let song_end_tick = ends.iter().copied().max().unwrap_or(0);
    let last_end_tick = channels.iter().map(|channel| channel.length_ticks).max().unwrap_or(0);
    for channel in &mut channels {
        if channel.length_ticks == last_end_tick || channel.content.unended_notes() > 0 {
            channel.length_ticks = song_end_tick;
        }
        channel.length_ticks = channel.length_ticks.max(channel.content.shortest_length_ticks());
        channel.content.end_notes(channel.length_ticks);
    }
    channels.sort_by_key(|channel| (channel.first_track, channel.port, channel.channel));
    Ok(channels)
}

/// Returns a name for each channel: the name of its track or instrument. If several channels share
/// that track, the channel's number is added.
fn channel_names(file: &MidiFile, channels: &[Channel]) -> Vec<String> {
    let track_name = |index: usize| {
        let events = || file.tracks[index].events.iter().map(|event| &event.kind);
        let track = events().find_map(|kind| match kind {
            EventKind::TrackName(name) => Some(name),
            _ => None,
        });
        let instrument = events().find_map(|kind| match kind {
            EventKind::InstrumentName(name) => Some(name),
            _ => None,
        });
        // In a file of one track, the track's name is the song's name.
        if file.tracks.len() == 1 { instrument } else { track.or(instrument) }
    };
    let name = |channel: &Channel| {
        let number = channel.channel + 1;
        let sharing_channels =
            channels.iter().filter(|candidate| candidate.first_track == channel.first_track).count() > 1;
        match track_name(channel.first_track) {
            Some(name) if sharing_channels => format!("{name} ({number})"),
            Some(name) => name.clone(),
            None if channel.content.preset_at_first_note().0 == DRUM_BANK => "Drums".into(),
            None => format!("Channel {number}"),
        }
    };
    channels.iter().map(name).collect()
}

fn build_track(number: usize, channel: Channel, name: String, soundfont_id: Option<String>) -> Track {
    let (bank, program) = channel.content.preset_at_first_note();
    let mut track = Track::new(format!("track-{number}"), TrackKind::Instrument);
    track.synth_engine = Some(SynthEngine::SoundFont(SoundFontEngine {
        soundfont_id,
        bank,
        program,
        extra: Extra::default(),
    }));
    track.volume_db = IMPORTED_TRACK_DB;
    track.extra.insert("midi_channel", channel.channel.into());
    if (bank == DRUM_BANK) != (channel.channel == DRUM_CHANNEL) {
        track.extra.insert(DRUM_PART_FIELD, (bank == DRUM_BANK).into());
    }
    if channel.port > 0 {
        track.extra.insert("midi_port", channel.port.into());
    }
    track.items = vec![Item::Midi(MidiItem {
        id: format!("item-{number}"),
        name: Some(name.clone()),
        start_tick: 0,
        length_ticks: channel.length_ticks,
        notes: channel.content.notes,
        controls: channel.content.controls,
        ..MidiItem::default()
    })];
    track.name = name;
    track
}

#[cfg(test)]
#[path = "import_test.rs"]
mod tests;
