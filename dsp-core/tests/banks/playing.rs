//! Everything that a bank can be asked for.

use dsp_core::session::{
    Event, Instrument, OfflineRender, Session, TailConfig, Track, TrackEvent, TrackPlayer,
};
use dsp_core::soundfont::Bank;

/// The preset that a case breaks, one that it leaves alone, and a kit that no bank here has.
pub(crate) const PRESETS: [(u16, u8); 3] = [(0, 0), (0, 1), (128, 0)];

const SAMPLE_RATE_HZ: u32 = 48_000;
const LENGTH_FRAMES: u64 = 24_000;

/// Notes on keys from end to end of the keyboard, with controllers and the wheel moving.
fn events() -> Vec<TrackEvent> {
    let mut events = Vec::new();
    let mut add = |frame: u64, event: Event| events.push(TrackEvent { frame, event });
    for (number, key) in (0..=127_u8).step_by(7).enumerate() {
        let frame = number as u64 * 1_000;
        add(frame, Event::NoteOn { key, velocity: 127 - key / 2 });
        add(frame, Event::Controller { controller: 1, value: key });
        add(frame + 200, Event::PitchBend { value: (i16::from(key) - 64) * 120 });
        add(frame + 400, Event::ChannelPressure { value: key });
        add(frame + 3_100, Event::NoteOff { key });
    }
    // Full attack and the lowest pitch, too, are heard: sooner or later everything is at rest.
    add(19_000, Event::PitchBend { value: 0 });
    add(19_000, Event::NoteOn { key: 60, velocity: 127 });
    events.sort_by_key(|event| event.frame);
    events
}

pub(crate) fn session() -> Session {
    let track = |(bank, program): (u16, u8)| Track {
        id: format!("{bank}:{program}"),
        instrument: Some(Instrument { bank_slot: 0, bank, program }),
        events: events(),
        ..Track::default()
    };
    Session {
        sample_rate_hz: SAMPLE_RATE_HZ,
        polyphony: 32,
        length_frames: LENGTH_FRAMES,
        tracks: PRESETS.map(track).to_vec(),
        ..Session::default()
    }
}

/// What a preset's track sounds like by itself: the bits of its four outputs.
pub(crate) fn track(bank: &Bank, number: usize) -> Vec<u32> {
    let session = session();
    let mut player = TrackPlayer::new(&session, &session.tracks[number], Some(bank)).expect("a player");
    let mut outputs = [const { [0.0_f32; 500] }; 4];
    let mut bits = Vec::new();
    for _ in 0..LENGTH_FRAMES / 500 {
        player.process(outputs.each_mut().map(|output| &mut output[..]));
        bits.extend(outputs.iter().flatten().map(|value| value.to_bits()));
    }
    bits
}

pub(crate) fn peak(bits: &[u32]) -> f32 {
    bits.iter().map(|&bits| f32::from_bits(bits).abs()).fold(0.0, f32::max)
}

/// Renders the whole session; every value has to be a number.
pub(crate) fn mix(bank: &Bank) {
    let banks = [Some(bank.clone())];
    let mut render = OfflineRender::new(&session(), &banks, TailConfig { max_secs: 0.5 }).expect("a render");
    while let Some((left, right)) = render.next_block() {
        assert!(left.iter().chain(right).all(|value| value.is_finite()), "the mix has no finite value");
    }
}
