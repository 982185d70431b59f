//! Fuzz target for SoundFonts. The engine must refuse a bank or play it with finite output, and its
//! reduced bank must have the same output.

use std::fs;

use dsp_core::mixer::TrackPlayer;
use dsp_core::session::{Event, Instrument, Session, Track, TrackEvent};
use dsp_core::soundfont::Bank;

use crate::choices::Choices;
use crate::maker::{ModulatorRecord, Tables};
use crate::{Seed, mutate, with_memory_limit};

const SF2: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// Maximum bytes of a seed from an installed bank. Small seeds are mutated faster.
const INSTALLED_MAX_BYTES: usize = 48 << 10;

const BLOCK_FRAMES: usize = 300;
const BLOCKS: u64 = 4;

/// Maximum number of presets of a bank that are played.
const MAX_PRESETS: usize = 3;

/// Returns the maximum memory of a bank's tables: a multiple of the file's size, and the memory of
/// an empty bank.
fn table_limit_bytes(file: &[u8]) -> usize {
    16 * file.len() + (1 << 20)
}

/// Maximum bytes of decoded samples, which limits the time of a run. The service has a setting for
/// this.
const DECODED_MAX_BYTES: u64 = 32 << 20;

/// Memory of a decoder for the tables of its codebooks, in addition to the decoded frames.
const DECODER_BYTES: usize = 64 << 20;

/// Panics if a bank is played incorrectly.
pub fn check(file: &[u8]) {
    let Ok(bank) = with_memory_limit(table_limit_bytes(file), "a bank", || Bank::from_bytes(file)) else {
        return;
    };
    for skipped in bank.issues() {
        assert!(!skipped.to_string().is_empty());
    }
    let programs = bank
        .summary()
        .presets
        .iter()
        .filter_map(|preset| Some((preset.bank, u8::try_from(preset.program).ok()?)));
    let mut presets: Vec<(u16, u8)> =
        programs.filter(|&(_, program)| program < 128).take(MAX_PRESETS).collect();
    presets.push((128, 0));
    let announced_bytes = bank.undecoded_bytes(&presets);
    if announced_bytes > DECODED_MAX_BYTES {
        return;
    }
    let prepare = || bank.prepare(&presets).unwrap_or_else(|error| panic!("{error}"));
    // Decoding needs the announced frames twice, because they are copied while they are assembled.
    with_memory_limit(2 * announced_bytes as usize + DECODER_BYTES, "decoding a bank", prepare);
    assert!(
        bank.decoded_bytes() <= announced_bytes,
        "{} bytes were decoded, and {announced_bytes} announced",
        bank.decoded_bytes()
    );
    let file = bank.write_reduced(&presets).expect("a smaller bank");
    let small_bank = Bank::from_vec(file).expect("a valid bank");
    assert!(small_bank.issues().is_empty(), "{:?}", small_bank.issues());
    for preset in presets {
        let (whole_bank, small_bank) = (render(&bank, preset), render(&small_bank, preset));
        let differing = whole_bank.iter().zip(&small_bank).position(|(whole_bank, small_bank)| whole_bank != small_bank);
        if let Some(index) = differing {
            let [whole_bank, small_bank] = [&whole_bank, &small_bank].map(|bits| f32::from_bits(bits[index]));
            panic!("{preset:?} differs in the smaller bank: value {index} is {small_bank:e} instead of {whole_bank:e}");
        }
    }
}

/// Renders a preset and returns the bits of its output.
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

/// Mutates the tables, names or sample data of a bank.
pub fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    mutate::bank::tables(bytes, choices)
}

/// Returns generated banks.
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, tables: Tables| (name.to_owned(), tables.bytes());
    vec![seed("looped.sf2", looped()), seed("modulated.sf2", modulated()), seed("empty.sf2", Tables::new())]
}

/// Returns each small enough preset of an installed bank as a separate bank.
pub fn installed_seeds() -> Vec<Seed> {
    let whole_bank = Bank::from_vec(fs::read(SF2).expect(SF2)).expect(SF2);
    let programs = whole_bank.summary().presets.iter().map(|preset| (preset.bank, preset.program as u8));
    let files = programs.map(|(bank, program)| {
        (format!("{bank}-{program}.sf2"), whole_bank.write_reduced(&[(bank, program)]).expect("a smaller bank"))
    });
    files.filter(|(_, file)| file.len() < INSTALLED_MAX_BYTES).collect()
}

pub(crate) fn ramp() -> Vec<i16> {
    (0..200).map(|n| (n % 50 - 25) * 1_000).collect()
}

/// Returns a bank with two presets, global zones, ranges, loops and 24-bit samples.
pub(crate) fn looped() -> Tables {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&ramp(), 50..150);
    let other_sample = tables.add_sample(&ramp(), 10..190);
    tables.low = Some(vec![0x77; tables.wave.len() / 2]);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(38, -4_000), (34, -6_000)], &[]), None);
    tables.add_instrument_zone((&[(43, 0x4000), (54, 1), (17, -200)], &[]), Some(sample));
    tables.add_instrument_zone((&[(44, 0x7f20), (54, 3), (0, 10), (3, -5), (57, 1)], &[]), Some(other_sample));
    for (bank, program) in [(0, 0), (128, 0)] {
        tables.add_preset(bank, program);
        tables.add_preset_zone((&[(48, 20)], &[]), None);
        tables.add_preset_zone((&[(51, program as i16 + 1)], &[]), Some(instrument));
    }
    tables
}

/// Returns a bank with modulators in instruments and presets. Some modulators are linked.
fn modulated() -> Tables {
    let records: [ModulatorRecord; 4] =
        [[2, 8, 0, 0, 0], [0x81, 0x8003, 900, 0, 0], [0x020e, 52, 500, 0x10, 2], [127, 17, 300, 0, 0]];
    let mut tables = Tables::new();
    let sample = tables.add_sample(&ramp(), 50..150);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(22, 600)], &[[0x0502, 48, 400, 0, 0], [0x81, 5, 70, 0, 0]]), None);
    tables.add_instrument_zone((&[(54, 1), (8, 9_000), (9, 100)], &records), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &records), Some(instrument));
    tables
}
