//! Interpolation between the values of a sample, for playback at any speed.
//!
//! Unless the frames are contiguous in the file, they are first copied into a window with the loop
//! unrolled. Kernels compute the values at evenly spaced positions. The unit of positions is 2^-32
//! of a frame.

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
pub(super) use pcm16::{Pcm16, READ_AHEAD, UNIT_16};
pub(super) use window::{FRAME_UNITS, SILENT_WINDOW, WINDOW_FRAMES, WINDOW_VALUES, Window};
