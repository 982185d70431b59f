//! Checks the sizes of the codebooks in a setup header before the decoder allocates memory for
//! them. A few bytes can describe codebooks of terabytes (Vorbis I specification, sections 3.2.1
//! and 4.2.4).

use super::super::skipped::BankIssueReason;

/// Maximum number of values in all codebooks of a stream. The banks of the Debian package
/// musescore-general-soundfont-small have 9,763 in 5,119 entries.
const VALUES_MAX: u64 = 1 << 18;

/// Maximum number of entries in all codebooks of a stream. The decoder builds a tree of the
/// entries.
const ENTRIES_MAX: u64 = 1 << 16;

/// Size of the packet type and the word "vorbis" at the start of the packet, in bytes.
const PREFIX_BYTES: usize = 7;

/// Checks a setup header. Returns the number of entries of its codebooks.
pub(super) fn check(header: &[u8]) -> Result<u64, BankIssueReason> {
    let damage_reason = BankIssueReason::Vorbis("its setup header is invalid");
    let mut bits = Bits { bytes: header.get(PREFIX_BYTES..).ok_or(damage_reason)?, position_bits: 0 };
    let count = bits.read(8).ok_or(damage_reason)? + 1;
    let (mut entries, mut values) = (0, 0);
    for _ in 0..count {
        let codebook = skip_codebook(&mut bits).ok_or(damage_reason)?;
        entries += codebook.entries;
        values += codebook.values;
        if entries > ENTRIES_MAX || values > VALUES_MAX {
            return Err(BankIssueReason::Vorbis(
                "its codebooks have more than 65536 entries or 262144 values",
            ));
        }
    }
    Ok(entries)
}

/// The size of a codebook.
struct Codebook {
    entries: u64,
    /// Number of entries times number of dimensions.
    values: u64,
}

/// Skips a codebook and returns its size; `None` if it is damaged. Returns early for a codebook
/// that is too large, because [`check`] refuses the header.
fn skip_codebook(bits: &mut Bits<'_>) -> Option<Codebook> {
    const SYNC_PATTERN: u32 = 0x56_4342;
    if bits.read(24)? != SYNC_PATTERN {
        return None;
    }
    let (dimensions, entries) = (bits.read(16)?, bits.read(24)?);
    let values = u64::from(dimensions) * u64::from(entries);
    let codebook = Codebook { entries: entries.into(), values };
    if values == 0 {
        return None;
    }
    if values > VALUES_MAX || codebook.entries > ENTRIES_MAX {
        return Some(codebook);
    }
    skip_lengths(bits, entries)?;
    let lookup_values = match bits.read(4)? {
        0 => return Some(codebook),
        1 => lookup1_values(entries, dimensions),
        2 => values,
        _ => return None,
    };
    // Two fields of 32 bits: minimum and step of the values.
    bits.skip(64)?;
    let value_bits = bits.read(4)? + 1;
    // The flag of cumulative values.
    bits.skip(1)?;
    bits.skip(lookup_values * u64::from(value_bits))?;
    Some(codebook)
}

/// Skips the codeword lengths of a codebook.
fn skip_lengths(bits: &mut Bits<'_>, entries: u32) -> Option<()> {
    const LENGTH_BITS: u32 = 5;
    let is_ordered = bits.read(1)? == 1;
    if is_ordered {
        bits.read(LENGTH_BITS)?;
        let mut skipped_entries = 0;
        while skipped_entries < entries {
            skipped_entries += bits.read(u32::BITS - (entries - skipped_entries).leading_zeros())?;
        }
        return (skipped_entries == entries).then_some(());
    }
    let is_sparse = bits.read(1)? == 1;
    for _ in 0..entries {
        if !is_sparse || bits.read(1)? == 1 {
            bits.read(LENGTH_BITS)?;
        }
    }
    Some(())
}

/// Returns the greatest integer whose power of `dimensions` is at most `entries` (section 9.2.3).
fn lookup1_values(entries: u32, dimensions: u32) -> u64 {
    let fits = |base: u64| base.checked_pow(dimensions).is_some_and(|power| power <= u64::from(entries));
    (1..=u64::from(entries)).take_while(|&base| fits(base)).last().unwrap_or(0)
}

/// Reads numbers of up to 32 bits. The least significant bit is first (section 2.1.4).
struct Bits<'a> {
    bytes: &'a [u8],
    /// Number of bits that were read or skipped so far.
    position_bits: u64,
}

impl Bits<'_> {
    fn read(&mut self, count: u32) -> Option<u32> {
        let mut number = 0;
        for bit in 0..count {
            let byte = self.bytes.get(usize::try_from(self.position_bits / 8).ok()?)?;
            number |= u32::from(byte >> (self.position_bits % 8) & 1) << bit;
            self.position_bits += 1;
        }
        Some(number)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.position_bits += count;
        (self.position_bits <= self.bytes.len() as u64 * 8).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{check, lookup1_values};

    #[test]
    fn lookup1_values_are_exact_integer_roots() {
        let cases = [(1_025, 10, 2), (1_023, 10, 1), (3_125, 5, 5), (3_124, 5, 4), (400, 1, 400), (1, 40, 1)];
        for (entries, dimensions, expected) in cases {
            assert_eq!(
                lookup1_values(entries, dimensions),
                expected,
                "{entries} entries, {dimensions} dimensions"
            );
        }
    }

    #[test]
    fn a_codebook_that_would_need_terabytes_is_refused() {
        // One codebook with 65,535 dimensions and 16,777,215 entries.
        let mut header = b"\x05vorbis\x00BCV".to_vec();
        header.extend([0xff; 5]);
        header.extend([0; 100]);
        assert!(check(&header).unwrap_err().to_string().contains("codebooks have more than"));
    }
}
