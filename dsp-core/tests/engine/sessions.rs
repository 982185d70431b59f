//! Makes sessions for tests and measures their output.

use dsp_core::session::{Event, Instrument, Session, Track, TrackEvent};

/// Returns a dry track that plays these notes with the small bank: start frame, end frame and key.
pub(crate) fn track(id: &str, notes: &[(u64, u64, u8)]) -> Track {
    const REVERB_SEND: u8 = 91;
    let mut events =
        vec![TrackEvent { frame: 0, event: Event::Controller { controller: REVERB_SEND, value: 0 } }];
    for &(start, end, key) in notes {
        events.push(TrackEvent { frame: start, event: Event::NoteOn { key, velocity: 100 } });
        events.push(TrackEvent { frame: end, event: Event::NoteOff { key } });
    }
    events.sort_by_key(|event| event.frame);
    Track {
        id: id.to_owned(),
        instrument: Some(Instrument { bank_slot: 0, bank: 0, program: 0 }),
        events,
        ..Track::default()
    }
}

pub(crate) fn session(tracks: Vec<Track>) -> Session {
    let ends = tracks.iter().flat_map(|track| &track.events).map(|event| event.frame);
    Session {
        sample_rate_hz: 48_000,
        polyphony: 64,
        length_frames: ends.max().unwrap_or(0),
        tracks,
        ..Session::default()
    }
}

/// Returns the largest magnitude of some samples.
pub(crate) fn peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak, value| peak.max(value.abs()))
}
