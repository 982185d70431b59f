//! Mutations of inputs that keep checksums and sizes correct.

pub(crate) mod bank;
pub(crate) mod chunks;
pub(crate) mod flac;
pub(crate) mod json;
pub(crate) mod ogg;
pub(crate) mod xml;

use libfuzzer_sys::fuzzer_mutate;

use crate::choices::Choices;

/// 16-bit values at which the meaning of a field may change.
const WORDS: [u16; 12] = [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff];

/// Maximum number of bytes that one mutation adds.
const GROWTH_BYTES: usize = 64;

/// Mutates bytes arbitrarily. Their number may change.
pub(crate) fn any(bytes: &mut Vec<u8>) {
    let size = bytes.len();
    bytes.resize(size + GROWTH_BYTES, 0);
    let size = fuzzer_mutate(bytes, size, size + GROWTH_BYTES);
    bytes.truncate(size);
}

/// Mutates bytes arbitrarily and keeps their number.
pub(crate) fn in_place(bytes: &mut [u8]) {
    let size = bytes.len();
    if size > 0 {
        fuzzer_mutate(bytes, size, size);
    }
}

/// Mutates one little-endian 16-bit word.
pub(crate) fn word(bytes: &mut [u8], choices: &mut Choices) {
    if bytes.len() < 2 {
        return;
    }
    let offset = choices.below(bytes.len() / 2) * 2;
    let old_word = u16::from_le_bytes([bytes[offset], bytes[offset + 1]]);
    let word = match choices.below(4) {
        0 => old_word.wrapping_add(1),
        1 => old_word.wrapping_sub(1),
        2 => choices.below(64) as u16,
        _ => *choices.among(&WORDS),
    };
    bytes[offset..offset + 2].copy_from_slice(&word.to_le_bytes());
}

/// Duplicates, removes or swaps records of `record_bytes` bytes.
pub(crate) fn records(bytes: &mut Vec<u8>, record_bytes: usize, choices: &mut Choices) {
    let count = bytes.len() / record_bytes;
    if count == 0 {
        return;
    }
    let offset = choices.below(count) * record_bytes;
    match choices.below(3) {
        0 => {
            let copy = bytes[offset..offset + record_bytes].to_vec();
            bytes.splice(offset..offset, copy);
        }
        1 => drop(bytes.drain(offset..offset + record_bytes)),
        _ => {
            let other_offset = choices.below(count) * record_bytes;
            let copy = bytes[offset..offset + record_bytes].to_vec();
            bytes.copy_within(other_offset..other_offset + record_bytes, offset);
            bytes[other_offset..other_offset + record_bytes].copy_from_slice(&copy);
        }
    }
}
