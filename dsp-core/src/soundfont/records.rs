//! Reads tables of records and the fields of a record (section 7).

use alloc::string::String;

use super::error::BankError;

/// Splits the body of a chunk into records of `N` bytes. The last one is the terminal record.
pub(super) fn table<'a, const N: usize>(
    chunk: &'static str,
    body: Option<&'a [u8]>,
) -> Result<&'a [[u8; N]], BankError> {
    let body = body.ok_or(BankError::MissingChunk { chunk })?;
    match body.as_chunks::<N>() {
        (records, []) if !records.is_empty() => Ok(records),
        _ => Err(BankError::BadTable { chunk, size_bytes: body.len(), record_bytes: N }),
    }
}

pub(super) fn u16_at(record: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes([record[offset], record[offset + 1]])
}

pub(super) fn u32_at(record: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes([record[offset], record[offset + 1], record[offset + 2], record[offset + 3]])
}

/// Reads the text of a fixed-size field as Latin-1, up to the first zero byte.
pub(super) fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    let name: String =
        field[..end].iter().map(|&byte| char::from(byte)).filter(|c| !c.is_control()).collect();
    String::from(name.trim())
}

/// Flag in the type of a sample that is compressed with Ogg Vorbis (SF3).
pub(super) const VORBIS_SAMPLE: u16 = 0x10;
