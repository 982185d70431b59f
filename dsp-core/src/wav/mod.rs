//! WAV files in 8, 16 or 24-bit PCM with dither, or in 32-bit float.

mod float_writer;
mod header;
mod sample_encoder;
mod sample_format;
mod writer;

pub use float_writer::{FLOAT_HEADER_BYTES, FloatWavWriter};
pub use sample_encoder::SampleEncoder;
pub use sample_format::SampleFormat;
pub use writer::WavWriter;
