//! Renders the same notes with our engine, dry and before the fader and the limiter.

use dsp_core::render::{TailConfig, TrackRender};
use dsp_core::session::{Event, Instrument, Session, Track, TrackEvent};
use dsp_core::soundfont::Bank;

use super::Recording;
use super::notes::{HELD_MS, Note, ON_MS, RELEASE_MS, SLOT_MS, frames};
use crate::song::{POLYPHONY, RATE_HZ};

/// Controllers that both synthesizers receive before each note: full volume and expression, pan in
/// the centre, no reverb and no chorus.
pub(crate) const CONTROLLERS: [(u8, u8); 5] = [(7, 127), (10, 64), (11, 127), (91, 0), (93, 0)];
const ALL_SOUND_OFF: u8 = 120;

/// Known level of our notes relative to FluidSynth's at gain 1, in decibels. It is the sum of:
///
/// - -6.02: our voices have the gain 1/2, as headroom for the sum of many voices;
/// - -1.51: FluidSynth's filter without resonance has its peak at -3.01 dB and compensates half of
///   this, so every voice gains 1.505 dB (`fluid_iir_filter.c`, `fluid_iir_filter_set_q`);
/// - +0.27: FluidSynth maps 127 of the controllers 7 and 11 to 127/128, so each attenuates by 1.37
///   cB. Ours do not attenuate.
pub(crate) const LEVEL_RELATIVE_TO_FLUIDSYNTH_DB: f64 = -7.25;

/// Renders notes one after the other, each in its slot.
pub(crate) fn render(
    bank: &Bank,
    notes: &[Note],
    velocity: u8,
    extra_controllers: &[(u8, u8)],
) -> anyhow::Result<Recording> {
    let mut events = Vec::new();
    for (index, note) in notes.iter().enumerate() {
        let start = index * frames(SLOT_MS);
        let mut push = |offset_ms, event| {
            events.push(TrackEvent { frame: (start + frames(offset_ms)) as u64, event });
        };
        push(0, Event::Preset { bank: note.bank, program: note.program });
        for (controller, value) in CONTROLLERS.into_iter().chain(extra_controllers.iter().copied()) {
            push(0, Event::Controller { controller, value });
        }
        push(ON_MS, Event::NoteOn { key: note.key, velocity });
        push(ON_MS + HELD_MS, Event::NoteOff { key: note.key });
        push(ON_MS + HELD_MS + RELEASE_MS, Event::Controller { controller: ALL_SOUND_OFF, value: 0 });
    }
    let first = notes.first().map_or((0, 0), |note| (note.bank, note.program));
    let track = Track {
        id: "notes".to_owned(),
        instrument: Some(Instrument { bank_slot: 0, bank: first.0, program: first.1 }),
        events,
        ..Track::default()
    };
    let session = Session {
        sample_rate_hz: RATE_HZ,
        polyphony: POLYPHONY,
        length_frames: (notes.len() * frames(SLOT_MS)) as u64,
        ..Session::default()
    };
    let mut render = TrackRender::new(&session, &track, Some(bank), TailConfig { max_secs: 0.0 })?;
    let mut recording = Recording::default();
    while let Some([left, right, ..]) = render.next_block() {
        recording.left.extend_from_slice(left);
        recording.right.extend_from_slice(right);
    }
    Ok(recording)
}
