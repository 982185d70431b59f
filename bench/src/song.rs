//! Turns MIDI files into sessions of the engine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dsp_core::session::Session;
use dsp_core::soundfont::Bank;
use midly::num::{u4, u7, u28};
use midly::{Format, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};
use schemas::session::presets_used;
use serde::{Deserialize, Serialize};
use songfoundry_server::multitrack::midi::{ImportOptions, import};
use songfoundry_server::rendering::banks;

use crate::SongAndBank;

/// Sample rate of every measurement, in hertz.
pub(crate) const RATE_HZ: u32 = 48_000;
/// Polyphony of each synthesizer. Our engine has this polyphony on each track.
pub(crate) const POLYPHONY: u16 = 256;
/// Seconds from a song's last event to all sound off.
const END_SECS: f64 = 2.0;
/// Length of a quarter note in a file without tempo events, in microseconds (Standard MIDI Files
/// 1.0).
const QUARTER_MICROS: u32 = 500_000;
const ALL_SOUND_OFF: u8 = 120;

/// Writes a song's session and bank.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: SongAndBank,
    /// File for the session, in the form that the browser's engine reads.
    #[arg(long)]
    session: PathBuf,
    /// File for the bank, reduced to the presets that the session plays.
    #[arg(long)]
    reduced: PathBuf,
}

/// Sizes of the written files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SongFiles {
    /// Length of the session in frames.
    pub(crate) length_frames: u64,
    /// Size of the reduced bank in bytes.
    pub(crate) bank_bytes: usize,
}

/// Returns the session of a MIDI file. Every track plays the bank in slot 0.
pub(crate) fn read_session(song: &Path) -> anyhow::Result<Session> {
    let bytes = fs::read(song).with_context(|| song.display().to_string())?;
    let mut project =
        import(&bytes, ImportOptions::default()).with_context(|| song.display().to_string())?.project;
    project.settings.polyphony = POLYPHONY;
    Ok(schemas::session::build(&project, RATE_HZ, |_| Some(0))?)
}

/// Copies a song to `copy` and adds all sound off on all channels, [`END_SECS`] after its last
/// event. Without it, synthesizers render notes that never end for different times.
pub(crate) fn copy_with_all_sound_off(song: &Path, copy: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(song).with_context(|| song.display().to_string())?;
    let mut midi = Smf::parse(&bytes).with_context(|| song.display().to_string())?;
    let Timing::Metrical(ticks_per_quarter) = midi.header.timing else {
        bail!("{} has SMPTE timing, not ticks per quarter note", song.display());
    };
    let (mut end_tick, mut last_tempo) = (0, (0, QUARTER_MICROS));
    for track in &midi.tracks {
        let mut tick = 0;
        for track_event in track {
            tick += track_event.delta.as_int();
            if let TrackEventKind::Meta(MetaMessage::Tempo(micros)) = track_event.kind
                && tick >= last_tempo.0
            {
                last_tempo = (tick, micros.as_int());
            }
        }
        end_tick = end_tick.max(tick);
    }
    let tail_ticks = END_SECS * 1e6 / f64::from(last_tempo.1) * f64::from(ticks_per_quarter.as_int());
    let event = |delta, kind| TrackEvent { delta: u28::new(delta), kind };
    let mut end: Vec<TrackEvent<'_>> = (0..16)
        .map(|channel| {
            let message = MidiMessage::Controller { controller: u7::new(ALL_SOUND_OFF), value: u7::new(0) };
            event(0, TrackEventKind::Midi { channel: u4::new(channel), message })
        })
        .collect();
    end[0].delta = u28::new(end_tick + tail_ticks as u32);
    end.push(event(0, TrackEventKind::Meta(MetaMessage::EndOfTrack)));
    midi.tracks.push(end);
    midi.header.format = Format::Parallel;
    Ok(midi.save(copy)?)
}

/// Opens a bank as the service does.
pub(crate) fn open_bank(path: &Path) -> anyhow::Result<Bank> {
    banks::open(path).with_context(|| path.display().to_string())
}

/// Opens a bank and prepares the presets of a session.
pub(crate) fn open_prepared_bank(session: &Session, path: &Path) -> anyhow::Result<Bank> {
    let bank = open_bank(path)?;
    bank.prepare(&presets_used(session, 0)).with_context(|| path.display().to_string())?;
    Ok(bank)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let session = read_session(&args.input.song)?;
    fs::write(&args.session, postcard::to_allocvec(&session)?)?;
    let reduced =
        open_prepared_bank(&session, &args.input.bank)?.write_reduced(&presets_used(&session, 0))?;
    fs::write(&args.reduced, &reduced)?;
    let files = SongFiles { length_frames: session.length_frames, bank_bytes: reduced.len() };
    println!("{}", serde_json::to_string(&files)?);
    Ok(())
}
