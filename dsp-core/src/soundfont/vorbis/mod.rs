//! Compressed samples of SF3 banks. Each sample is an Ogg Vorbis stream in the sample data. The
//! stream is decoded when a preset that plays the sample is prepared.
//!
//! The last page of a stream states the number of frames. The positions of a sample are therefore
//! known before the stream is decoded.

mod decoded_streams;
mod decoder;
mod failure;
mod ogg;
mod setup_cache;
mod setup_check;

pub(super) use decoded_streams::DecodedStreams;
pub(super) use decoder::frames;
