//! Chunks and fields of a SoundFont file (sections 3 to 5).

use alloc::vec::Vec;

use super::super::error::BankError;

/// The field of a name, truncated to fit, with a number appended unless that is 0. Characters
/// outside Latin-1 become question marks.
pub(super) fn name_field(name: &str, number: usize) -> [u8; 20] {
    let mut field = [0; 20];
    let mut digits = [0; 6];
    let mut used = 0;
    let mut remaining = number;
    while remaining > 0 && used < digits.len() {
        digits[used] = b'0' + (remaining % 10) as u8;
        remaining /= 10;
        used += 1;
    }
    let latin = name.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(b'?'));
    let suffix = digits[..used].iter().rev().copied();
    // The last byte stays zero.
    for (slot, byte) in field[..19].iter_mut().zip(latin.take(19 - used).chain(suffix)) {
        *slot = byte;
    }
    field
}

/// The chunks of the INFO list: version 2.04, for 24-bit samples, and the bank's name.
pub(super) fn info(name: &str) -> Vec<u8> {
    let mut latin: Vec<u8> =
        name.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(b'?')).take(255).collect();
    latin.push(0);
    let mut info = Vec::new();
    chunk(&mut info, b"ifil", &[2, 0, 4, 0]);
    chunk(&mut info, b"isng", b"EMU8000\0");
    chunk(&mut info, b"INAM", &latin);
    info
}

/// The sample data: 16 bits, and the low bytes of 24-bit samples.
pub(super) struct Wave {
    pub(super) high: Vec<u8>,
    pub(super) low: Option<Vec<u8>>,
}

/// The whole file. Each table of `data` ends with its terminal record.
pub(super) fn file(info: &[u8], wave: &Wave, data: &[(&[u8; 4], Vec<u8>)]) -> Result<Vec<u8>, BankError> {
    let Wave { high, low } = wave;
    let low_bytes = low.as_ref().map_or(0, |low| low.len().next_multiple_of(2) + HEADER_BYTES);
    let wave_bytes = HEADER_BYTES + high.len() + low_bytes;
    let data_bytes = data.iter().map(|(_, body)| HEADER_BYTES + body.len()).sum::<usize>();
    let lists = [info.len(), wave_bytes, data_bytes].map(|bytes| HEADER_BYTES + 4 + bytes);
    let total = 4 + lists.iter().sum::<usize>();
    if u32::try_from(total).is_err() {
        return Err(BankError::TooLarge { kind: "bytes", count: total as u64, limit: u32::MAX.into() });
    }
    let mut file = Vec::with_capacity(HEADER_BYTES + total);
    header(&mut file, b"RIFF", total);
    file.extend(b"sfbk");
    header(&mut file, b"LIST", 4 + info.len());
    file.extend(b"INFO");
    file.extend(info);
    header(&mut file, b"LIST", 4 + wave_bytes);
    file.extend(b"sdta");
    chunk(&mut file, b"smpl", high);
    if let Some(low) = low {
        chunk(&mut file, b"sm24", low);
    }
    header(&mut file, b"LIST", 4 + data_bytes);
    file.extend(b"pdta");
    for (id, body) in data {
        chunk(&mut file, id, body);
    }
    Ok(file)
}

const HEADER_BYTES: usize = 8;

fn header(out: &mut Vec<u8>, id: &[u8; 4], bytes: usize) {
    out.extend(id);
    out.extend((bytes as u32).to_le_bytes());
}

/// A chunk, padded to an even size.
fn chunk(out: &mut Vec<u8>, id: &[u8; 4], body: &[u8]) {
    let padded = body.len().next_multiple_of(2);
    // The size includes the pad byte, as sections 5 and 6 require for texts and sm24.
    header(out, id, padded);
    out.extend(body);
    out.resize(out.len() + padded - body.len(), 0);
}
