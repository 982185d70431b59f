//! Tables of records and their fields (section 7).

use alloc::string::String;

use super::error::BankError;

/// The records of a table, `N` bytes each, with the terminal record.
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

/// The text of a fixed-size field, up to the first zero byte, read as Latin-1.
pub(super) fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    let name: String =
        field[..end].iter().map(|&byte| char::from(byte)).filter(|c| !c.is_control()).collect();
    String::from(name.trim())
}

/// Flag in a sample's type that marks Ogg Vorbis data (SF3).
pub(super) const VORBIS_SAMPLE: u16 = 0x10;
