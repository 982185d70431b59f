//! Selects the interpolation kernel.

use super::pcm16::Pcm16;
use super::polynomial::{Cubic, Linear, cubic_pcm16, interpolate};
use super::sinc_table::SincTable;
use super::window::{MAX_TAPS, Window};
use crate::session::Interpolation;

/// The interpolation kernel of a synthesizer's voices.
#[derive(Debug, Clone)]
pub(in crate::synth) enum Kernel {
    Linear,
    FourPoint,
    Sinc(SincTable),
}

/// Interpolates 16-bit values. The arguments are the values, the fraction of the position, the step
/// and the output. They have the same meaning as in [`Kernel::read`].
pub(in crate::synth) type Pcm16Reader = fn(&[Pcm16], u32, u64, &mut [f32]);

impl Kernel {
    pub(in crate::synth) fn new(interpolation: Interpolation) -> Self {
        match interpolation {
            Interpolation::Linear => Self::Linear,
            Interpolation::FourPoint => Self::FourPoint,
            Interpolation::Sinc => Self::Sinc(SincTable::new()),
        }
    }

    /// Returns the number of values that the kernel reads before the frame of a position.
    pub(in crate::synth) fn taps_before(&self) -> usize {
        match self {
            Self::Linear | Self::FourPoint => 1,
            Self::Sinc(_) => MAX_TAPS / 2 - 1,
        }
    }

    /// Returns the number of values that the kernel reads from the frame of a position onwards.
    pub(in crate::synth) fn taps_from(&self) -> usize {
        match self {
            Self::Linear | Self::FourPoint => 3,
            Self::Sinc(_) => MAX_TAPS / 2 + 1,
        }
    }

    /// Returns the function that interpolates 16-bit values without a window; `None` if the kernel
    /// has no such function. Most voices use it most of the time.
    pub(in crate::synth) fn pcm16_reader(&self) -> Option<Pcm16Reader> {
        match self {
            Self::Linear => Some(interpolate::<Linear, Pcm16>),
            Self::FourPoint => Some(cubic_pcm16),
            Self::Sinc(_) => None,
        }
    }

    /// Interpolates the values of a window. Its first values are the taps before the position.
    /// `fraction` is the fraction of the position, and `step` is the distance between positions,
    /// both in 2^-32 of a frame.
    pub(in crate::synth) fn read(&self, window: &Window, fraction: u32, step: u64, output: &mut [f32]) {
        match self {
            Self::Linear => interpolate::<Linear, f32>(window, fraction, step, output),
            Self::FourPoint => interpolate::<Cubic, f32>(window, fraction, step, output),
            Self::Sinc(table) => table.read(window, fraction, step, output),
        }
    }
}
