//! Sample-rate conversion by a fixed rational ratio, for exports and for clips of another rate.
//!
//! The signal passes two filters, as in L. de Soras, "The Quest For The Perfect Resampler" (2005).
//! The first filter is a long sinc with a Kaiser window, applied by Fourier transforms. It removes
//! the frequencies above the lower of the two Nyquist frequencies. Unless the output rate is at
//! most half the input rate, it also doubles the sample rate. The second filter is a polyphase
//! filter (R. E. Crochiere and L. R. Rabiner, "Multirate Digital Signal Processing", 1983, chapter
//! 4), which converts to any rate. It can be short because its input has no frequencies above a
//! quarter of its sample rate. Both filters have linear phase, and their delay is compensated: the
//! first output frame is at the time of the first input frame.
//!
//! | sample type | images and aliases | pass band | -3 dB |
//! |---|---|---|---|
//! | `f64` | at most -140 dB | 0.01 dB up to 0.907 | above 0.95 |
//! | `f32` | at most -130 dB | 0.01 dB up to 0.907 | above 0.95 |
//!
//! Frequencies in the table are fractions of the lower Nyquist frequency.
//!
//! Sums are computed in a fixed order, so the output has the same bits on every machine. Blocks
//! start at fixed frames, so the output does not depend on the call size. Channels are independent.

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
