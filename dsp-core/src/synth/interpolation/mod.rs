//! Interpolation between the values of a sample, as its playback speed requires.
//!
//! The loop of a sample is first unrolled into a window, unless the frames are contiguous in the
//! file. Kernels read it at evenly spaced positions, which count in 2^-32 of a frame.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod cubic_avx2;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod cubic_simd128;
mod kernel;
mod pcm16;
mod polynomial;
mod sinc_table;
mod window;

pub(super) use kernel::Kernel;
pub(super) use pcm16::{Pcm16, UNIT_16};
pub(super) use window::{FRAME, SILENT_WINDOW, WINDOW_FRAMES, WINDOW_VALUES, Window};
