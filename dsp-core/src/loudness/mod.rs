//! Loudness after ITU-R BS.1770 and EBU R 128, measured by the `ebur128` crate. True peaks are
//! measured by [`crate::true_peak`], which is more precise and faster than that of the crate.

mod maxima;
mod measurement;
mod meter;
mod normalization;

pub use measurement::Loudness;
pub use meter::{ChannelLayout, LoudnessError, LoudnessMeter};
pub use normalization::{MAX_TRUE_PEAK_DBTP, Normalization};
