//! Loudness after ITU-R BS.1770 and EBU R 128, with the filters of the `ebur128` crate. True peaks
//! are measured by [`crate::true_peak`], which is more precise and faster than that of the crate.

mod gated_blocks;
mod measurement;
mod meter;
mod normalization;
mod windows;

pub use measurement::Loudness;
pub use meter::{ChannelLayout, LoudnessError, LoudnessMeter};
pub use normalization::{MAX_TRUE_PEAK_DBTP, Normalization};
