//! Samples of SF3 banks. Each is an Ogg Vorbis stream in the sample data, which is decoded when a
//! preset that plays it is prepared.
//!
//! The last page of a stream states the number of frames, so that the positions of a sample are
//! known before it is decoded.

mod decoded_streams;
mod decoder;
mod failure;
mod ogg;
mod setup_cache;
mod setup_check;

pub(super) use decoded_streams::DecodedStreams;
pub(super) use decoder::frames;
