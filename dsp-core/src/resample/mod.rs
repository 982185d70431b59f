//! Sample-rate conversion by a fixed rational ratio, for exports and for clips of another rate.
//!
//! Two filters follow each other, as in L. de Soras, "The Quest For The Perfect Resampler" (2005).
//! The first is a long sinc under a Kaiser window, applied by Fourier transforms. It removes
//! everything above the lower of the two Nyquist frequencies, and doubles the rate where the treble
//! needs it. The second converts to any rate: a polyphase filter (R. E. Crochiere and L. R.
//! Rabiner, "Multirate Digital Signal Processing", 1983, chapter 4), which is short because the
//! treble is removed. Both have linear phase and a compensated delay: the first output frame is at
//! the time of the first input frame.
//!
//! | samples | images and aliases | pass band | half power |
//! |---|---|---|---|
//! | `f64` | at most -140 dB | 0.01 dB to 0.907 of the lower Nyquist frequency | above 0.95 of it |
//! | `f32` | at most -130 dB | the same | the same |
//!
//! Sums have a fixed order, so every machine computes the same bits. Blocks start at fixed frames,
//! so the output does not depend on the call size. Channels are independent.

mod error;
mod filter;
mod fourier;
mod polyphase;
mod processor;
mod sample;
mod scalar;
mod whole_signal;

pub use error::{MAX_PHASES, MAX_RATE_HZ, MIN_RATE_HZ, ResampleError};
pub use filter::ResamplerFilter;
pub use processor::{Progress, ResamplerProcessor};
pub use sample::Sample;
pub use whole_signal::resample;
