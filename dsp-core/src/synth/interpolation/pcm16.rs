//! 16-bit values of a sample.

/// A 16-bit value in little-endian byte order, as in a file.
pub(in crate::synth) type Pcm16 = [u8; 2];

/// Factor that converts a 16-bit value to a float with a full scale of 1.
pub(in crate::synth) const UNIT_16: f32 = 1.0 / 32_768.0;

/// Number of taps of the cubic, and number of frames that are interpolated together.
pub(super) const VECTOR_LANES: usize = 4;

/// Number of values after the last tap that a kernel reads without using them, if there are any.
pub(in crate::synth) const READ_AHEAD: usize = 13;
