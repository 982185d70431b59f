//! Writes SF3 banks, whose samples are Ogg Vorbis streams.

use super::maker::Tables;

/// Type of a compressed mono sample.
const VORBIS_MONO: u16 = 0x11;

/// Returns an SF3 bank with these streams. Each stream has `headers` sample headers, and preset 0:0
/// plays them all.
pub(crate) fn sf3(streams: &[Vec<u8>], headers: usize) -> Vec<u8> {
    let mut tables = Tables::new();
    let instrument = tables.add_instrument();
    let mut start = 0;
    for stream in streams {
        let end = start + stream.len() as u32;
        for _ in 0..headers {
            let sample = tables.add_sample(&[], 0..0);
            let header = &mut tables.samples[usize::from(sample)];
            (header.start, header.end, header.kind) = (start, end, VORBIS_MONO);
            tables.add_instrument_zone((&[], &[]), Some(sample));
        }
        start = end;
    }
    tables.wave = streams.concat();
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables.bytes()
}
