//! A libFuzzer target: whatever bytes come, the engine refuses them or plays them, in finite
//! numbers, and a smaller bank made of them plays the same.
//!
//! `FUZZ_SEEDS` names a folder to which the seeds are written first.

#![no_main]

#[path = "../../tests/maker/mod.rs"]
mod maker;
mod mutation;
mod seeds;

use dsp_core::session::{Event, Instrument, Session, Track, TrackEvent, TrackPlayer};
use dsp_core::soundfont::{Bank, BankError};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

const BLOCK_FRAMES: usize = 300;
const BLOCKS: u64 = 4;

/// Most presets of a bank that are played.
const MOST_PRESETS: usize = 3;

fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            seeds::write(folder.as_ref()).expect("a folder for the seeds");
        }
    },
    |file: &[u8]| {
        if let Ok(bank) = Bank::from_bytes(file) {
            play(&bank);
        }
    }
);

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutation::mutate(data, size, max_size, seed)
});

fn play(bank: &Bank) {
    for skipped in bank.skipped() {
        assert!(!skipped.to_string().is_empty());
    }
    let programs =
        bank.summary().presets.iter().filter_map(|it| Some((it.bank, u8::try_from(it.program).ok()?)));
    let mut presets: Vec<(u16, u8)> =
        programs.filter(|&(_, program)| program < 128).take(MOST_PRESETS).collect();
    presets.push((128, 0));
    match bank.prepare(&presets) {
        Ok(()) => {}
        Err(BankError::TooLong { .. }) => return,
        Err(error) => panic!("{error}"),
    }
    let file = bank.reduced(&presets).expect("a smaller bank");
    let small = Bank::from_vec(file).expect("a sound bank");
    assert!(small.skipped().is_empty(), "{:?}", small.skipped());
    for preset in presets {
        let whole = render(bank, preset);
        assert!(whole == render(&small, preset), "{preset:?} differs in the smaller bank");
    }
}

/// The bits of what a preset sounds like.
fn render(bank: &Bank, (bank_number, program): (u16, u8)) -> Vec<u32> {
    let track = Track {
        id: String::new(),
        instrument: Some(Instrument { bank_slot: 0, bank: bank_number, program }),
        events: events(),
        ..Track::default()
    };
    let session = Session {
        sample_rate_hz: 48_000,
        polyphony: 8,
        length_frames: BLOCKS * BLOCK_FRAMES as u64,
        ..Session::default()
    };
    let mut player = TrackPlayer::new(&session, &track, Some(bank)).expect("a player");
    let mut outputs = [const { [0.0_f32; BLOCK_FRAMES] }; 4];
    let mut bits = Vec::new();
    for _ in 0..BLOCKS {
        player.process(outputs.each_mut().map(|output| &mut output[..]));
        let values = outputs.iter().flatten();
        bits.extend(values.inspect(|value| assert!(value.is_finite())).map(|value| value.to_bits()));
    }
    bits
}

fn events() -> Vec<TrackEvent> {
    let mut events: Vec<TrackEvent> = [(0, 60, 100), (100, 0, 1), (200, 127, 127), (300, 36, 64)]
        .map(|(frame, key, velocity)| TrackEvent { frame, event: Event::NoteOn { key, velocity } })
        .to_vec();
    events.push(TrackEvent { frame: 400, event: Event::PitchBend { value: 8_191 } });
    events.push(TrackEvent { frame: 500, event: Event::Controller { controller: 1, value: 127 } });
    events.push(TrackEvent { frame: 700, event: Event::NoteOff { key: 60 } });
    events
}
