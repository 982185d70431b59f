//! Memory of sample buffers.

/// Returns the bytes of `count` samples.
pub(crate) fn values_bytes(count: usize) -> u64 {
    (count * size_of::<f32>()) as u64
}
