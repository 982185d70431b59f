//! Generates small banks for tests.

use dsp_core::soundfont::Bank;

#[expect(unused_imports, reason = "tests of other crates use the other items")]
#[path = "../../../../dsp-core/tests/maker/mod.rs"]
mod maker;

use maker::Tables;

/// Sample type of a compressed mono sample.
const VORBIS_MONO: u16 = 0x11;

/// Values of `sampleModes` (SoundFont 2.04, section 8.1.2): the sample is played once, or in a
/// loop.
const ONCE: i16 = 0;
const LOOPED: i16 = 1;

/// Adds a preset 0:0 that plays a sample, and returns the bytes of the file.
fn with_preset(mut tables: Tables, sample: u16, sample_modes: i16) -> Vec<u8> {
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(54, sample_modes)], &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables.bytes()
}

/// Makes an SF2 file with one preset. Its sound is different for each `amplitude`.
pub(crate) fn sf2(amplitude: i16) -> Vec<u8> {
    let mut tables = Tables::new();
    let ramp: Vec<i16> = (0..2_000).map(|n| (n % 50 - 25) * amplitude).collect();
    let sample = tables.add_sample(&ramp, 50..150);
    with_preset(tables, sample, LOOPED)
}

/// Makes an SF2 file whose second sample lies outside the file and is therefore skipped.
pub(super) fn sf2_with_a_bad_sample() -> Vec<u8> {
    let mut tables = Tables::new();
    let ramp: Vec<i16> = (0..200).map(|n| (n % 50 - 25) * 900).collect();
    let sample = tables.add_sample(&ramp, 50..150);
    let bad_sample = tables.add_sample(&ramp, 50..150);
    tables.samples[usize::from(bad_sample)].end = 1_000_000;
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(43, 0x7f40), (54, 1)], &[]), Some(bad_sample));
    tables.add_preset(0, 1);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    with_preset(tables, sample, LOOPED)
}

/// Makes an SF2 file with `count` presets, of which only 0:0 sounds.
pub(super) fn sf2_of_presets(count: u16) -> Vec<u8> {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&[900; 200], 50..150);
    for number in 0..count - 1 {
        tables.add_preset(1 + number / 128, number % 128);
    }
    with_preset(tables, sample, LOOPED)
}

/// Makes an SF2 file without presets.
pub(super) fn sf2_without_presets() -> Vec<u8> {
    Tables::new().bytes()
}

/// Makes an SF3 file with one preset, which plays the first sample of a real bank.
pub(crate) fn sf3() -> Vec<u8> {
    let bank =
        std::fs::read(crate::test_studio::SF3).expect("musescore-general-soundfont-small is installed");
    let is_first_page = |offset: &usize| bank[*offset..].starts_with(b"OggS") && bank[offset + 5] & 2 != 0;
    let mut stream_starts = (0..bank.len() - 5).filter(is_first_page);
    let (start, end) = (stream_starts.next().expect("a stream"), stream_starts.next().expect("another"));
    let mut tables = Tables::new();
    let sample = tables.add_sample(&[], 10..90);
    tables.wave = bank[start..end].to_vec();
    let header = &mut tables.samples[usize::from(sample)];
    (header.start, header.end, header.kind) = (0, (end - start) as u32, VORBIS_MONO);
    with_preset(tables, sample, ONCE)
}

#[test]
fn only_the_bank_with_a_bad_sample_has_skipped_parts() {
    let skipped = |bytes: Vec<u8>| Bank::from_vec(bytes).expect("a bank").skipped_total();
    assert_eq!((skipped(sf2(1_000)), skipped(sf3())), (0, 0));
    assert!(skipped(sf2_with_a_bad_sample()) > 0);
}
