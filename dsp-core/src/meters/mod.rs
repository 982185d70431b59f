//! Meters of a stereo signal in real time: loudness, peaks, correlation and spectrum.
//!
//! | reading | ballistics |
//! |---|---|
//! | momentary, short-term loudness | means of the last 400 ms and 3 s (EBU Tech 3341), updated every 10 ms |
//! | integrated loudness | gated blocks of 400 ms with an overlap of 75 % (ITU-R BS.1770-4) |
//! | true peak, sample peak | maximum since the start of the measurement |
//! | RMS, correlation | means of the last 300 ms, updated every 10 ms |
//! | spectrum | see `spectrum` |
//!
//! The meters process intervals of 10 ms. A reading does not include the incomplete last interval.

pub(crate) mod gating;
mod intervals;
mod master_meter;
mod sliding_window;
mod spectrum;
#[cfg(test)]
mod tests;

pub use master_meter::{MasterMeter, MasterReadings};
pub use spectrum::SPECTRUM_BANDS;
