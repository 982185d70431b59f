//! Loudness after ITU-R BS.1770 and EBU R 128, by the `ebur128` crate. True peaks use the engine's
//! own meter, which is finer and faster than the crate's.

mod maxima;
mod measurement;
mod meter;
mod normalization;

pub use measurement::Loudness;
pub use meter::{ChannelLayout, LoudnessError, LoudnessMeter};
pub use normalization::{MAX_TRUE_PEAK_DBTP, Normalization};
