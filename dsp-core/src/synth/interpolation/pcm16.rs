//! 16-bit values of a sample.

/// A 16-bit value in the byte order of a file, little-endian.
pub(in crate::synth) type Pcm16 = [u8; 2];

/// One step of a 16-bit value, where full scale is 1.
pub(in crate::synth) const UNIT_16: f32 = 1.0 / 32_768.0;

/// Number of values that a cubic reads, and of frames that are interpolated together.
pub(super) const FOUR: usize = 4;
