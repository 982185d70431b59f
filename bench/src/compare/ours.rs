//! Our engine, playing the notes that FluidSynth plays: dry, before fader and limiter.

use dsp_core::session::{Event, Instrument, Session, TailConfig, Track, TrackEvent, TrackRender};
use dsp_core::soundfont::Bank;

use super::Sound;
use super::notes::{HELD_MS, Note, ON_MS, RELEASE_MS, SLOT_MS, frames};
use crate::song::{POLYPHONY, RATE_HZ};

/// Controllers that both synthesizers are told before each note: full volume and expression,
/// pan in the middle, nothing to reverb and chorus.
pub(crate) const CONTROLLERS: [(u8, u8); 5] = [(7, 127), (10, 64), (11, 127), (91, 0), (93, 0)];
const ALL_SOUND_OFF: u8 = 120;

/// What a note of ours has over FluidSynth's of the same gain, in decibels, by construction: both give a voice in the
/// centre sin(pi/4) on each side.
pub(crate) const OVER_FLUIDSYNTH_DB: f64 = 0.0;

/// Renders notes one after the other, each in its slot.
pub(crate) fn render(bank: &Bank, notes: &[Note], velocity: u8) -> anyhow::Result<Sound> {
    let mut events = Vec::new();
    for (place, note) in notes.iter().enumerate() {
        let start = place * frames(SLOT_MS);
        let mut push = |offset_ms, event| {
            events.push(TrackEvent { frame: (start + frames(offset_ms)) as u64, event });
        };
        push(0, Event::Preset { bank: note.bank, program: note.program });
        for (controller, value) in CONTROLLERS {
            push(0, Event::Controller { controller, value });
        }
        push(ON_MS, Event::NoteOn { key: note.key, velocity });
        push(ON_MS + HELD_MS, Event::NoteOff { key: note.key });
        push(ON_MS + HELD_MS + RELEASE_MS, Event::Controller { controller: ALL_SOUND_OFF, value: 0 });
    }
    let first = notes.first().map_or((0, 0), |note| (note.bank, note.program));
    let track = Track {
        id: "notes".to_owned(),
        gain: 1.0,
        pan: 0.0,
        audible: true,
        instrument: Some(Instrument { bank_slot: 0, bank: first.0, program: first.1 }),
        events,
    };
    let session = Session {
        sample_rate_hz: RATE_HZ,
        polyphony: POLYPHONY,
        seed: 0,
        interpolation: Default::default(),
        reverb: Default::default(),
        chorus: Default::default(),
        master_gain: 1.0,
        length_frames: (notes.len() * frames(SLOT_MS)) as u64,
        tracks: Vec::new(),
    };
    let mut render = TrackRender::new(&session, &track, Some(bank), TailConfig { max_secs: 0.0 })?;
    let mut sound = Sound::default();
    while let Some((left, right)) = render.next_block() {
        sound.left.extend_from_slice(left);
        sound.right.extend_from_slice(right);
    }
    Ok(sound)
}
