//! Writes the chunks and fields of a SoundFont file (sections 3 to 5).

use alloc::vec::Vec;

use super::super::error::BankError;

/// Returns the field for a name in Latin-1. A number other than 0 is appended, and the name is
/// truncated to the size of the field. Characters outside Latin-1 become question marks.
pub(super) fn name_field(name: &str, number: usize) -> [u8; 20] {
    let mut field = [0; 20];
    let mut digits = [0; 6];
    let mut digit_count = 0;
    let mut remaining = number;
    while remaining > 0 && digit_count < digits.len() {
        digits[digit_count] = b'0' + (remaining % 10) as u8;
        remaining /= 10;
        digit_count += 1;
    }
    let latin = name.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(b'?'));
    let suffix = digits[..digit_count].iter().rev().copied();
    // The last byte is zero and ends the name.
    for (slot, byte) in field[..19].iter_mut().zip(latin.take(19 - digit_count).chain(suffix)) {
        *slot = byte;
    }
    field
}

/// Returns the chunks of the INFO list: version, sound engine and name of the bank. The version is
/// 2.04, which introduced 24-bit samples.
pub(super) fn info_chunk(name: &str) -> Vec<u8> {
    let mut latin: Vec<u8> =
        name.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(b'?')).take(255).collect();
    latin.push(0);
    let mut info_chunk = Vec::new();
    chunk(&mut info_chunk, b"ifil", &[2, 0, 4, 0]);
    chunk(&mut info_chunk, b"isng", b"EMU8000\0");
    chunk(&mut info_chunk, b"INAM", &latin);
    info_chunk
}

/// The sample data: 16-bit values, and the low bytes of 24-bit samples.
pub(super) struct Wave {
    pub(super) high: Vec<u8>,
    pub(super) low: Option<Vec<u8>>,
}

/// Returns the whole file. `table_chunks` are the ids and bodies of the tables, with their terminal
/// records.
pub(super) fn file(
    info_chunk: &[u8],
    wave: &Wave,
    table_chunks: &[(&[u8; 4], Vec<u8>)],
) -> Result<Vec<u8>, BankError> {
    let Wave { high, low } = wave;
    let low_bytes = low.as_ref().map_or(0, |low| low.len().next_multiple_of(2) + HEADER_BYTES);
    let wave_bytes = HEADER_BYTES + high.len() + low_bytes;
    let data_bytes = table_chunks.iter().map(|(_, body)| HEADER_BYTES + body.len()).sum::<usize>();
    let lists = [info_chunk.len(), wave_bytes, data_bytes].map(|bytes| HEADER_BYTES + 4 + bytes);
    let total_bytes = 4 + lists.iter().sum::<usize>();
    if u32::try_from(total_bytes).is_err() {
        return Err(BankError::TooLarge { kind: "bytes", count: total_bytes as u64, limit: u32::MAX.into() });
    }
    let mut file = Vec::with_capacity(HEADER_BYTES + total_bytes);
    header(&mut file, b"RIFF", total_bytes);
    file.extend(b"sfbk");
    header(&mut file, b"LIST", 4 + info_chunk.len());
    file.extend(b"INFO");
    file.extend(info_chunk);
    header(&mut file, b"LIST", 4 + wave_bytes);
    file.extend(b"sdta");
    chunk(&mut file, b"smpl", high);
    if let Some(low) = low {
        chunk(&mut file, b"sm24", low);
    }
    header(&mut file, b"LIST", 4 + data_bytes);
    file.extend(b"pdta");
    for (id, body) in table_chunks {
        chunk(&mut file, id, body);
    }
    Ok(file)
}

/// Size of a chunk header in bytes: id and size.
const HEADER_BYTES: usize = 8;

fn header(output: &mut Vec<u8>, id: &[u8; 4], bytes: usize) {
    output.extend(id);
    output.extend((bytes as u32).to_le_bytes());
}

/// Appends a chunk, padded to an even size.
fn chunk(output: &mut Vec<u8>, id: &[u8; 4], body: &[u8]) {
    let padded_len = body.len().next_multiple_of(2);
    // The size in the header includes the pad byte, which sections 5 and 6 require for texts and
    // sm24.
    header(output, id, padded_len);
    output.extend(body);
    output.resize(output.len() + padded_len - body.len(), 0);
}
