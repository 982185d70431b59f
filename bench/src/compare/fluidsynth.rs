//! Renders notes with the reference, the `fluidsynth` program.
//!
//! The relevant behaviour of version 2.3.1, with files of its source tree, is:
//!
//! - `fluid_synth.c`: controllers 7, 10 and 11 start at 100, 64 and 127; the notes here set them.
//!   The default modulator of pan has the amount 500 instead of section 8.4.6's 1000, which is
//!   the same at the centre.
//! - `fluid_mod.c`, `fluid_mod_get_value`: the default modulator from velocity to filter cutoff
//!   (section 8.4.2) always gives 0.
//! - `fluid_midi.c`, `fluid_player_callback`: events take effect at the start of a block of 64
//!   frames.
//! - `fluid_conv.c`, `fluid_pan`: a voice in the centre has the gain sin(pi/4) on each side, times
//!   the synthesizer's gain.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};

use super::Recording;
use super::notes::{HELD_MS, Note, ON_MS, RELEASE_MS, SLOT_MS};
use super::ours::CONTROLLERS;
use crate::song::RATE_HZ;

/// A quarter note lasts half a second and has 500 ticks, so a tick is a millisecond.
const TICKS_PER_QUARTER: u16 = 500;
const QUARTER_MICROS: u32 = 500_000;
/// Linear gain of FluidSynth. The output is in floats, which do not clip.
pub(crate) const GAIN: f64 = 1.0;
/// General MIDI's drum channel: channel 10, which has the number 9.
const DRUM_CHANNEL: u8 = 9;
const ALL_SOUND_OFF: u8 = 120;

/// Renders notes one after the other, each in its slot.
pub(crate) fn render(
    bank: &Path,
    notes: &[Note],
    velocity: u8,
    extra_controllers: &[(u8, u8)],
    folder: &Path,
) -> anyhow::Result<Recording> {
    let (midi, wav) = (folder.join("notes.mid"), folder.join("notes.wav"));
    song(notes, velocity, extra_controllers).save(&midi)?;
    let output = Command::new("fluidsynth")
        .args(["-n", "-i", "-q", "-R", "0", "-C", "0", "-r", &RATE_HZ.to_string(), "-g", &GAIN.to_string()])
        .args(["-o", "synth.polyphony=256", "-o", "synth.cpu-cores=1", "-O", "float", "-T", "wav", "-F"])
        .arg(&wav)
        .args([bank, &midi])
        .stdin(Stdio::null())
        .output()
        .context("cannot start `fluidsynth`")?;
    if !output.status.success() {
        bail!("fluidsynth failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    read(&wav)
}

/// Returns the notes as a MIDI file of one track.
fn song(notes: &[Note], velocity: u8, extra_controllers: &[(u8, u8)]) -> Smf<'static> {
    let mut track = Vec::new();
    let mut now_ms = 0;
    let mut push = |at_ms: u32, kind| {
        track.push(TrackEvent { delta: u28::new(at_ms - now_ms), kind });
        now_ms = at_ms;
    };
    push(0, TrackEventKind::Meta(MetaMessage::Tempo(u24::new(QUARTER_MICROS))));
    for (index, note) in (0..).zip(notes) {
        let channel = u4::new(if note.is_drum() { DRUM_CHANNEL } else { 0 });
        let mut midi = |at_ms, message| push(at_ms, TrackEventKind::Midi { channel, message });
        let controller = |controller, value| MidiMessage::Controller {
            controller: u7::new(controller),
            value: u7::new(value),
        };
        let start_ms = index * SLOT_MS;
        midi(start_ms, MidiMessage::ProgramChange { program: u7::new(note.program) });
        for (number, value) in CONTROLLERS.into_iter().chain(extra_controllers.iter().copied()) {
            midi(start_ms, controller(number, value));
        }
        let key = u7::new(note.key);
        midi(start_ms + ON_MS, MidiMessage::NoteOn { key, vel: u7::new(velocity) });
        midi(start_ms + ON_MS + HELD_MS, MidiMessage::NoteOff { key, vel: u7::new(64) });
        midi(start_ms + ON_MS + HELD_MS + RELEASE_MS, controller(ALL_SOUND_OFF, 0));
    }
    push(notes.len() as u32 * SLOT_MS, TrackEventKind::Meta(MetaMessage::EndOfTrack));
    let timing = Timing::Metrical(u15::new(TICKS_PER_QUARTER));
    Smf { header: Header::new(Format::SingleTrack, timing), tracks: vec![track] }
}

fn read(wav: &Path) -> anyhow::Result<Recording> {
    let mut reader = hound::WavReader::open(wav)?;
    let spec = reader.spec();
    if (spec.channels, spec.sample_rate, spec.sample_format) != (2, RATE_HZ, hound::SampleFormat::Float) {
        bail!("fluidsynth wrote {spec:?} instead of stereo floats at {RATE_HZ} Hz");
    }
    let mut recording = Recording::default();
    let mut samples = reader.samples::<f32>();
    while let (Some(left), Some(right)) = (samples.next(), samples.next()) {
        recording.left.push(left?);
        recording.right.push(right?);
    }
    Ok(recording)
}
