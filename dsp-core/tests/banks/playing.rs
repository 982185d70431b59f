//! Plays a bank in all supported ways.

use dsp_core::mixer::TrackPlayer;
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Event, Instrument, Session, Track, TrackEvent};
use dsp_core::soundfont::Bank;

use crate::counting::cost;

/// The preset that a case breaks, an intact one, and a kit that no bank here has.
pub(crate) const PRESETS: [(u16, u8); 3] = [(0, 0), (0, 1), (128, 0)];

const SAMPLE_RATE_HZ: u32 = 48_000;
const LENGTH_FRAMES: u64 = 24_000;

/// Frames of a call.
const CALL_FRAMES: usize = 500;

const POLYPHONY: u16 = 32;

/// Fading voices beyond the polyphony: the maximum that a frame may compute.
const SPARE_VOICES: usize = 64;

/// Maximum memory of a player for any bank, in bytes.
const PLAYER_BYTES: usize = 128 << 10;

/// Longest tail of a mix, in seconds.
const TAIL_SECS: f64 = 0.5;

/// Frames that a mix may have beyond its length and its tail: the remainder of a block.
const MAX_FRAMES_OF_BLOCK: u64 = 256;

/// Notes across the keyboard, with controllers and the wheel moving.
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
    // A last note at full attack with a centred wheel, which is audible.
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
        polyphony: POLYPHONY,
        length_frames: LENGTH_FRAMES,
        tracks: PRESETS.map(track).to_vec(),
        ..Session::default()
    }
}

/// The bits of the four outputs of a preset's track. Checks that calls do not allocate and do not
/// exceed the voice limit, whatever the bank.
pub(crate) fn track(bank: &Bank, number: usize) -> Vec<u32> {
    let session = session();
    let (player, making) = cost(|| TrackPlayer::new(&session, &session.tracks[number], Some(bank)));
    println!("a player: {} bytes", making.peak_bytes);
    assert!(making.peak_bytes <= PLAYER_BYTES, "a player takes {} bytes", making.peak_bytes);
    let mut player = player.expect("a player");
    let mut outputs = [const { [0.0_f32; CALL_FRAMES] }; 4];
    let mut bits = Vec::new();
    for _ in 0..LENGTH_FRAMES / CALL_FRAMES as u64 {
        let ((), cost) = cost(|| player.process(outputs.each_mut().map(|output| &mut output[..])));
        assert_eq!(cost.requests, 0, "playing asks for memory");
        let voices = player.active_voices();
        assert!(voices <= usize::from(POLYPHONY) + SPARE_VOICES, "{voices} voices");
        bits.extend(outputs.iter().flatten().map(|value| value.to_bits()));
    }
    bits
}

pub(crate) fn peak(bits: &[u32]) -> f32 {
    bits.iter().map(|&bits| f32::from_bits(bits).abs()).fold(0.0, f32::max)
}

/// Renders the whole session; checks that it ends and that every value is finite.
pub(crate) fn mix(bank: &Bank) {
    let banks = [Some(bank.clone())];
    let mut render =
        OfflineRender::new(&session(), &banks, TailConfig { max_secs: TAIL_SECS }).expect("a render");
    let max_frames = LENGTH_FRAMES + (TAIL_SECS * f64::from(SAMPLE_RATE_HZ)) as u64 + MAX_FRAMES_OF_BLOCK;
    let mut frames = 0;
    while let Some((left, right)) = render.next_block() {
        assert!(left.iter().chain(right).all(|value| value.is_finite()), "the mix has no finite value");
        frames += left.len() as u64;
        assert!(!left.is_empty() && frames <= max_frames, "the mix goes on after {frames} frames");
    }
    assert!(frames >= LENGTH_FRAMES, "the mix ends after {frames} frames");
}
