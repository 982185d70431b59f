//! Fuzz target for compressed SoundFonts (SF3), and for single Ogg Vorbis streams, which become the
//! sample of a bank.

use std::fs;

use crate::choices::Choices;
use crate::maker::Tables;
use crate::{Seed, banks, encoder, mutate, streams};

const SF3: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

/// Sample type of a mono stream (SoundFont 2.04, section 7.10, and the flag of SF3).
const MONO_STREAM: u16 = 0x11;

/// Number of streams that are seeds from an installed bank.
const INSTALLED_STREAMS: usize = 12;
/// Maximum bytes of a stream from an installed bank.
const INSTALLED_MAX_BYTES: usize = 12 << 10;

/// Panics if a bank or a stream is played incorrectly.
pub fn check(input: &[u8]) {
    if input.starts_with(b"OggS") {
        banks::check(&bank(&[input]).bytes());
    } else {
        banks::check(input);
    }
}

/// Mutates a page of a stream, or a table or a stream of a bank.
pub fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    if bytes.starts_with(b"OggS") {
        return mutate::ogg::mutate(bytes, choices);
    }
    match choices.below(4) {
        0 => mutate::bank::tables(bytes, choices),
        _ => mutate::bank::stream(bytes, choices),
    }
}

/// Returns a bank with a preset for each stream.
fn bank(streams: &[&[u8]]) -> Tables {
    let mut tables = Tables { version: (3, 0), ..Tables::new() };
    for (program, stream) in streams.iter().enumerate() {
        let sample = tables.add_sample(&[], 10..90);
        let start = tables.wave.len();
        tables.wave.extend(*stream);
        let header = &mut tables.samples[usize::from(sample)];
        (header.start, header.end, header.kind) = (start as u32, tables.wave.len() as u32, MONO_STREAM);
        let instrument = tables.add_instrument();
        tables.add_instrument_zone((&[(54, 1)], &[]), Some(sample));
        tables.add_preset(0, program as u16);
        tables.add_preset_zone((&[], &[]), Some(instrument));
    }
    tables
}

/// Returns generated streams and banks.
pub fn seeds() -> Vec<Seed> {
    let encoded_stream = encoder::stream(&banks::ramp().repeat(4));
    let silent_stream = streams::silent(10_000, &[3]);
    let large_book = streams::silent(4_096, &[10]);
    let mut mixed_bank = bank(&[&encoded_stream, &silent_stream]);
    // This bank has PCM after the streams, and two sample headers with the same stream.
    mixed_bank.wave.resize(mixed_bank.wave.len().next_multiple_of(2), 0);
    let pcm = mixed_bank.add_sample(&banks::ramp(), 50..150);
    let shared_sample = mixed_bank.samples[0].clone();
    mixed_bank.samples.push(shared_sample);
    let instrument = mixed_bank.add_instrument();
    mixed_bank.add_instrument_zone((&[(54, 1)], &[]), Some(pcm));
    mixed_bank.add_instrument_zone((&[(54, 3), (0, 20)], &[]), Some(pcm + 1));
    mixed_bank.add_preset(128, 0);
    mixed_bank.add_preset_zone((&[], &[]), Some(instrument));
    [
        ("encoded.sf3", bank(&[&encoded_stream]).bytes()),
        ("mixed.sf3", mixed_bank.bytes()),
        ("encoded.ogg", encoded_stream),
        ("silent.ogg", silent_stream),
        ("large-codebook.ogg", large_book),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// Returns streams of an installed bank.
pub fn installed_seeds() -> Vec<Seed> {
    let file = fs::read(SF3).expect(SF3);
    let is_first_page = |offset: &usize| file[*offset..].starts_with(b"OggS") && file[offset + 5] & 2 != 0;
    let starts: Vec<usize> = (0..file.len() - 5).filter(is_first_page).collect();
    let streams = starts.windows(2).map(|pair| &file[pair[0]..pair[1]]);
    let small_bank =
        streams.filter(|stream| stream.len() <= INSTALLED_MAX_BYTES).take(INSTALLED_STREAMS).enumerate();
    small_bank.map(|(number, stream)| (format!("{number}.ogg"), stream.to_vec())).collect()
}
