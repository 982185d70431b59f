//! Tests of zones whose compressed sample cannot be decoded, in an instrument with intact zones.

use dsp_core::mixer::TrackPlayer;
use dsp_core::session::{Event, Instrument, Session, Track, TrackEvent};
use dsp_core::soundfont::Bank;

use crate::maker::Tables;
use crate::streams::silent;

/// Type of a compressed mono sample.
const VORBIS_MONO: u16 = 0x11;

const CALL_FRAMES: usize = 500;
const CALLS: u64 = 60;

/// The minimum polyphony of a session.
const POLYPHONY: u16 = 8;

/// Returns a bank with one preset that plays a looped PCM sample. If `has_damaged_zone`, the same
/// keys also play a sample with a damaged Ogg Vorbis stream.
fn bank(has_damaged_zone: bool) -> Bank {
    let mut tables = Tables { version: (3, 0), ..Tables::new() };
    let ramp: Vec<i16> = (0..200).map(|n| (n % 50 - 25) * 1_000).collect();
    let intact = tables.add_sample(&ramp, 50..150);
    let damaged_bank = tables.add_sample(&[], 10..90);
    let mut stream = silent(1_000, &[3]);
    // This damages a header page, so the length on the last page can still be read.
    stream[60] ^= 0xff;
    let start = tables.wave.len();
    tables.wave.extend(stream);
    let header = &mut tables.samples[usize::from(damaged_bank)];
    (header.start, header.end, header.kind) = (start as u32, tables.wave.len() as u32, VORBIS_MONO);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(54, 1)], &[]), Some(intact));
    if has_damaged_zone {
        tables.add_instrument_zone((&[(54, 1), (57, 1)], &[]), Some(damaged_bank));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let bank = Bank::from_bytes(&tables.bytes()).expect("a bank");
    bank.prepare(&[(0, 0)]).expect("a damaged sample is skipped");
    assert_eq!(bank.issues().len(), usize::from(has_damaged_zone), "{:?}", bank.issues());
    bank
}

/// Starts as many notes as the session has voices and returns the bits of the player's outputs. No
/// note is released.
fn held_notes(bank: &Bank) -> Vec<u32> {
    let note = |frame, key| TrackEvent { frame, event: Event::NoteOn { key, velocity: 100 } };
    let track = Track {
        instrument: Some(Instrument { bank_slot: 0, bank: 0, program: 0 }),
        events: (0..POLYPHONY).map(|n| note(3_000 * u64::from(n), 60 + n as u8)).collect(),
        ..Track::default()
    };
    let session = Session {
        sample_rate_hz: 48_000,
        polyphony: POLYPHONY,
        length_frames: CALLS * CALL_FRAMES as u64,
        ..Session::default()
    };
    let mut player = TrackPlayer::new(&session, &track, Some(bank)).expect("a player");
    let mut outputs = [const { [0.0_f32; CALL_FRAMES] }; 4];
    let mut bits = Vec::new();
    for _ in 0..CALLS {
        player.process(outputs.each_mut().map(|output| &mut output[..]));
        bits.extend(outputs.iter().flatten().map(|value| value.to_bits()));
    }
    bits
}

#[test]
fn a_zone_that_cannot_be_decoded_steals_no_voice() {
    let (damaged_bank, intact) = (bank(true), bank(false));
    let expected = held_notes(&intact);
    assert!(expected.iter().any(|bits| f32::from_bits(*bits) != 0.0));
    assert!(held_notes(&damaged_bank) == expected, "a damaged zone changes the output");
    let reduced_bank =
        Bank::from_vec(damaged_bank.write_reduced(&[(0, 0)]).expect("a smaller bank")).expect("a bank");
    assert!(held_notes(&reduced_bank) == expected, "the reduced bank has another output");
}
