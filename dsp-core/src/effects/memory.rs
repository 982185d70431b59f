//! Upper limits of the memory of effects, in bytes.

/// Maximum size in bytes of tables and buffers of fixed size, in addition to an effect's fields.
const SMALL_BYTES: usize = 4 * 1024;

/// Returns the maximum size in bytes of an effect of type `E` without delay lines.
pub(super) fn inline_bytes<E>(_sample_rate_hz: u32, _impulse_frames: u64) -> u64 {
    (size_of::<E>() + SMALL_BYTES) as u64
}
