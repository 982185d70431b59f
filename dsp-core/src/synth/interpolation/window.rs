//! Windows: frames of a sample as floats, with the loop unrolled.

/// Number of frames in a window from which a kernel may start to read.
pub(super) const WINDOW_STARTS: usize = 2_048;

/// Number of taps of the longest kernel, which is the windowed sinc.
pub(super) const MAX_TAPS: usize = 16;

/// Maximum number of frames in a window, not counting the taps around them.
pub(in crate::synth) const WINDOW_FRAMES: usize = WINDOW_STARTS - MAX_TAPS;

/// Number of values in a window.
pub(in crate::synth) const WINDOW_VALUES: usize = WINDOW_STARTS + MAX_TAPS;

/// Frames of a sample as floats.
pub(in crate::synth) type Window = [f32; WINDOW_VALUES];

/// A silent window.
pub(in crate::synth) const SILENT_WINDOW: Window = [0.0; WINDOW_VALUES];

/// One frame in the unit of positions, which is 2^-32 of a frame.
pub(in crate::synth) const FRAME_UNITS: u64 = 1 << 32;
