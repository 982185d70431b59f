//! Writes bits into bytes, starting at the lowest bit of each byte (Vorbis I specification, section
//! 2.1.4).

#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    bits: usize,
}

impl BitWriter {
    /// Writes the lowest `count` bits of a number, the lowest bit first.
    pub(super) fn write(&mut self, number: u32, count: u32) {
        for bit in 0..count {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().expect("a byte") |= ((number >> bit & 1) as u8) << (self.bits % 8);
            self.bits += 1;
        }
    }

    /// Writes a codeword of `count` bits, the highest bit first (section 3.2.1).
    pub(super) fn write_word(&mut self, word: u32, count: u32) {
        (0..count).rev().for_each(|bit| self.write(word >> bit, 1));
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}
