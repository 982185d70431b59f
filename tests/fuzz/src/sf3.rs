//! Compressed SoundFonts (SF3), and single Ogg Vorbis streams, which become the sample of a bank.

use std::fs;

use crate::choices::Choices;
use crate::maker::Tables;
use crate::{Seed, banks, encoder, mutate, streams};

const SF3: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

/// Sample type of a mono stream (section 7.10, and the flag of SF3).
const MONO_STREAM: u16 = 0x11;

/// Number of streams from an installed bank, and maximum bytes of one.
const INSTALLED: usize = 12;
const INSTALLED_MAX_BYTES: usize = 12 << 10;

/// Panics if a bank or a stream is played incorrectly.
pub fn check(input: &[u8]) {
    if input.starts_with(b"OggS") {
        banks::check(&bank(&[input]).bytes());
    } else {
        banks::check(input);
    }
}

/// Mutates pages of a stream, or tables of a bank.
pub fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    if bytes.starts_with(b"OggS") {
        return mutate::ogg::mutate(bytes, choices);
    }
    match choices.below(4) {
        0 => mutate::bank::tables(bytes, choices),
        _ => mutate::bank::stream(bytes, choices),
    }
}

/// A bank with a preset for each stream.
fn bank(all: &[&[u8]]) -> Tables {
    let mut tables = Tables { version: (3, 0), ..Tables::new() };
    for (program, stream) in all.iter().enumerate() {
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

/// Generated streams and banks.
pub fn seeds() -> Vec<Seed> {
    let encoded = encoder::stream(&banks::ramp().repeat(4));
    let silent = streams::silent(10_000, &[3]);
    let large_book = streams::silent(4_096, &[10]);
    let mut mixed = bank(&[&encoded, &silent]);
    // PCM after the streams, and two headers with the same stream.
    mixed.wave.resize(mixed.wave.len().next_multiple_of(2), 0);
    let pcm = mixed.add_sample(&banks::ramp(), 50..150);
    let shared = mixed.samples[0].clone();
    mixed.samples.push(shared);
    let instrument = mixed.add_instrument();
    mixed.add_instrument_zone((&[(54, 1)], &[]), Some(pcm));
    mixed.add_instrument_zone((&[(54, 3), (0, 20)], &[]), Some(pcm + 1));
    mixed.add_preset(128, 0);
    mixed.add_preset_zone((&[], &[]), Some(instrument));
    [
        ("encoded.sf3", bank(&[&encoded]).bytes()),
        ("mixed.sf3", mixed.bytes()),
        ("encoded.ogg", encoded),
        ("silent.ogg", silent),
        ("large-codebook.ogg", large_book),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// Streams of an installed bank.
pub fn installed_seeds() -> Vec<Seed> {
    let file = fs::read(SF3).expect(SF3);
    let is_first_page = |at: &usize| file[*at..].starts_with(b"OggS") && file[at + 5] & 2 != 0;
    let starts: Vec<usize> = (0..file.len() - 5).filter(is_first_page).collect();
    let streams = starts.windows(2).map(|pair| &file[pair[0]..pair[1]]);
    let small = streams.filter(|stream| stream.len() <= INSTALLED_MAX_BYTES).take(INSTALLED).enumerate();
    small.map(|(number, stream)| (format!("{number}.ogg"), stream.to_vec())).collect()
}
