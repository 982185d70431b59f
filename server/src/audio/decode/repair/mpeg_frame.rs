//! Headers of MPEG audio frames of layer III (ISO/IEC 11172-3, section 2.4.1.3; ISO/IEC 13818-3,
//! section 2.4.2.3).

/// Bit rates in kbit/s. The first entry is that of header index 1; index 0 means a free bit rate.
/// The second table also applies to the extension of MPEG-2 to lower sample rates (MPEG-2.5).
const KBITS_MPEG_1: [u32; 14] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBITS_MPEG_2: [u32; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/// Sample rates of MPEG-1 in hertz. MPEG-2 halves them, and MPEG-2.5 halves them again.
const RATES_HZ: [u32; 3] = [44_100, 48_000, 32_000];

/// Size of a frame header in bytes.
pub(super) const HEADER_BYTES: usize = 4;

/// A parsed frame header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// The bytes of the header.
    pub(super) header: [u8; HEADER_BYTES],
    /// Size of the frame with its header, in bytes.
    pub(super) size_bytes: u64,
    /// Version, index of the sample rate, and whether the frame is mono. These stay the same within
    /// a stream.
    kind: (u8, u8, bool),
}

impl Frame {
    /// Parses a header. Returns `None` if it is invalid or has a free bit rate.
    pub(super) fn parse(header: [u8; HEADER_BYTES]) -> Option<Self> {
        let [sync, version, rates, mode] = header;
        let is_layer_3 = version & 0b0000_0110 == 0b0000_0010;
        if sync != 0xFF || version & 0b1110_0000 != 0b1110_0000 || !is_layer_3 {
            return None;
        }
        let version = version >> 3 & 3;
        // Version 1 is reserved; version 0 is MPEG-2.5.
        let (kbits, slots, halves) = match version {
            3 => (&KBITS_MPEG_1, 144, 0),
            2 => (&KBITS_MPEG_2, 72, 1),
            0 => (&KBITS_MPEG_2, 72, 2),
            _ => return None,
        };
        let kbits = *kbits.get(usize::from(rates >> 4).checked_sub(1)?)?;
        let rate_index = rates >> 2 & 3;
        let rate_hz = RATES_HZ.get(usize::from(rate_index))? >> halves;
        let padding = u32::from(rates >> 1 & 1);
        let size_bytes = u64::from(slots * kbits * 1_000 / rate_hz + padding);
        Some(Self { header, size_bytes, kind: (version, rate_index, mode >> 6 == 3) })
    }

    /// Whether both frames can belong to the same stream.
    pub(super) fn is_like(&self, frame: &Self) -> bool {
        self.kind == frame.kind
    }

    /// Returns the number of bytes of side information between the header and the audio (ISO/IEC
    /// 11172-3, section 2.4.1.7).
    pub(super) fn side_bytes(&self) -> usize {
        match self.kind {
            (3, _, false) => 32,
            (3, _, true) | (_, _, false) => 17,
            (_, _, true) => 9,
        }
    }

    /// Returns a silent frame of this size.
    pub(super) fn silent(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size_bytes as usize];
        bytes[..HEADER_BYTES].copy_from_slice(&self.header);
        // Sets the bit that says that the frame has no checksum.
        bytes[1] |= 1;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_determine_the_frame_size() {
        let size = |header| Frame::parse(header).map(|frame| frame.size_bytes);
        // 128 kbit/s at 44.1 kHz, without and with padding.
        assert_eq!(size([0xFF, 0xFB, 0x90, 0x00]), Some(417));
        assert_eq!(size([0xFF, 0xFB, 0x92, 0x00]), Some(418));
        // MPEG-2 with 64 kbit/s at 24 kHz, and MPEG-2.5 with 8 kbit/s at 8 kHz.
        assert_eq!(size([0xFF, 0xF3, 0x84, 0xC0]), Some(192));
        assert_eq!(size([0xFF, 0xE3, 0x18, 0xC0]), Some(72));
        for invalid in [
            [0xFF, 0xFB, 0x00, 0x00],
            [0xFF, 0xFB, 0xF0, 0x00],
            [0xFF, 0xFB, 0x9C, 0x00],
            [0xFF, 0xEB, 0x90, 0x00],
            [0xFF, 0xF1, 0x50, 0x80],
            [0xFE, 0xFB, 0x90, 0x00],
        ] {
            assert_eq!(size(invalid), None, "{invalid:?}");
        }
    }
}
