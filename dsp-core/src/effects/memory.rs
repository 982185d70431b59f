//! How much memory effects take, computed before they are made.

/// Tables and buffers of fixed size that an effect may have beside its own fields.
const SMALL_BYTES: usize = 4 * 1024;

/// Bytes of an effect without delay lines.
pub(super) fn inline_bytes<E>(_sample_rate_hz: u32, _impulse_frames: u64) -> u64 {
    (size_of::<E>() + SMALL_BYTES) as u64
}

/// Bytes of `count` values.
pub(super) fn values_bytes(count: usize) -> u64 {
    (count * size_of::<f32>()) as u64
}
