//! Loudness of recordings and renders after ITU-R BS.1770 and EBU R 128. [`crate::meters`] measures
//! a signal that plays, without allocation.

mod gated_blocks;
mod measurement;
mod meter;
mod normalization;
mod windows;

pub use measurement::Loudness;
pub use meter::{ChannelLayout, LoudnessError, LoudnessMeter};
pub use normalization::{MAX_TRUE_PEAK_DBTP, Normalization};
