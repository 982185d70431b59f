//! Memory of sample buffers.

/// Returns the size of `count` samples in bytes.
pub(crate) fn values_bytes(count: usize) -> u64 {
    (count * size_of::<f32>()) as u64
}
