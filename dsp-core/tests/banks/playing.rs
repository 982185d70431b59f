//! Plays the presets of a bank, each in a separate player and all together in a mix.

use dsp_core::mixer::TrackPlayer;
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Event, Instrument, Session, Track, TrackEvent};
use dsp_core::soundfont::Bank;

use crate::counting::cost;

/// The preset that the cases break, an intact preset, and a drum kit that the banks do not have.
pub(crate) const PRESETS: [(u16, u8); 3] = [(0, 0), (0, 1), (128, 0)];

const SAMPLE_RATE_HZ: u32 = 48_000;
const LENGTH_FRAMES: u64 = 24_000;

/// Frames that one call renders.
const CALL_FRAMES: usize = 500;

const POLYPHONY: u16 = 32;

/// Maximum number of voices beyond the polyphony: stolen voices that still fade out.
const FADING_VOICES: usize = 64;

/// Maximum memory of a player in bytes, whatever the bank.
const PLAYER_BYTES: usize = 128 << 10;

/// Maximum length of a mix after the end of the session, in seconds.
const TAIL_SECS: f64 = 0.5;

/// Frames of a block. The last block of a mix may end after the tail.
const BLOCK_FRAMES: u64 = 256;

/// Notes across the keyboard, with changes of controllers and of the pitch wheel.
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
    // With a centred pitch wheel and full velocity, the last note is audible.
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

/// Renders the track of preset `number` and returns the bits of its four outputs. Checks that
/// rendering does not allocate and does not exceed the voice limit.
pub(crate) fn track(bank: &Bank, number: usize) -> Vec<u32> {
    let session = session();
    let (player, player_cost) = cost(|| TrackPlayer::new(&session, &session.tracks[number], Some(bank)));
    println!("a player: {} bytes", player_cost.peak_bytes);
    assert!(player_cost.peak_bytes <= PLAYER_BYTES, "a player takes {} bytes", player_cost.peak_bytes);
    let mut player = player.expect("a player");
    let mut outputs = [const { [0.0_f32; CALL_FRAMES] }; 4];
    let mut bits = Vec::new();
    for _ in 0..LENGTH_FRAMES / CALL_FRAMES as u64 {
        let ((), cost) = cost(|| player.process(outputs.each_mut().map(|output| &mut output[..])));
        assert_eq!(cost.allocations, 0, "allocations while rendering");
        let voices = player.active_voice_count();
        let limit = usize::from(POLYPHONY) + FADING_VOICES;
        assert!(voices <= limit, "{voices} voices sound, more than {limit}");
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
    let max_frames = LENGTH_FRAMES + (TAIL_SECS * f64::from(SAMPLE_RATE_HZ)) as u64 + BLOCK_FRAMES;
    let mut frames = 0;
    while let Some((left, right)) = render.next_block() {
        assert!(left.iter().chain(right).all(|value| value.is_finite()), "a value of the mix is not finite");
        frames += left.len() as u64;
        assert!(!left.is_empty() && frames <= max_frames, "the mix does not end within {max_frames} frames");
    }
    assert!(frames >= LENGTH_FRAMES, "the mix ends after {frames} of {LENGTH_FRAMES} frames");
}
