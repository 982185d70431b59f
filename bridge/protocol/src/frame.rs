//! Frames: the unit of transfer on the socket between the service and a hosting helper.
//!
//! A frame has the length of its header and that of its binary part, both as 32-bit unsigned
//! little-endian integers. The header as JSON and the binary part follow.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum length of the header of a frame.
pub const HEADER_BYTES_MAX: usize = 8 << 20;

/// Maximum length of the binary part of a frame.
pub const BINARY_BYTES_MAX: usize = 64 << 20;

/// Number of bytes of a sample in a binary part.
const SAMPLE_BYTES: usize = size_of::<f32>();

/// A frame that was read from a socket.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame<H> {
    /// The header, such as [`crate::host::Request`].
    pub header: H,
    /// The binary part: samples, a state or a preset; empty for most frames.
    pub binary: Vec<u8>,
}

/// Reason why a frame cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The header is longer than [`HEADER_BYTES_MAX`].
    #[error("the header of a frame has {bytes} bytes; the maximum is {HEADER_BYTES_MAX}")]
    HeaderTooLong {
        /// Length of the header in bytes.
        bytes: usize,
    },
    /// The binary part is longer than [`BINARY_BYTES_MAX`].
    #[error("the binary part of a frame has {bytes} bytes; the maximum is {BINARY_BYTES_MAX}")]
    BinaryTooLong {
        /// Length of the binary part in bytes.
        bytes: usize,
    },
    /// The header is not the JSON of the expected type.
    #[error("the header of a frame is invalid: {0}")]
    Header(#[from] serde_json::Error),
    /// The socket failed or was closed within a frame.
    #[error("the socket failed: {0}")]
    Socket(#[from] io::Error),
}

/// Writes a frame.
///
/// # Errors
/// Returns an error if a part is too long or if `writer` fails. Nothing is written if a part is too
/// long.
pub fn write_frame<H: Serialize>(
    mut writer: impl Write,
    header: &H,
    binary: &[u8],
) -> Result<(), FrameError> {
    let header = serde_json::to_vec(header)?;
    check_lengths(header.len(), binary.len())?;
    // The check above ensures that both lengths fit into 32 bits.
    let mut start = Vec::with_capacity(8 + header.len());
    start.extend((header.len() as u32).to_le_bytes());
    start.extend((binary.len() as u32).to_le_bytes());
    start.extend(header);
    writer.write_all(&start)?;
    writer.write_all(binary)?;
    Ok(writer.flush()?)
}

/// Reads a frame. Returns `None` if the other process closed the socket between two frames.
///
/// # Errors
/// Returns an error if a part is too long, if the header is invalid, or if `reader` fails or ends
/// within a frame. Memory is allocated only after the lengths are checked.
pub fn read_frame<H: DeserializeOwned>(reader: impl Read) -> Result<Option<Frame<H>>, FrameError> {
    let mut binary = Vec::new();
    Ok(read_frame_into(reader, &mut binary)?.map(|header| Frame { header, binary }))
}

/// Reads a frame like [`read_frame`]. Returns its header, and replaces the content of `binary` by
/// its binary part.
///
/// # Errors
/// Those of [`read_frame`]. The content of `binary` is then undefined.
pub fn read_frame_into<H: DeserializeOwned>(
    mut reader: impl Read,
    binary: &mut Vec<u8>,
) -> Result<Option<H>, FrameError> {
    let mut lengths = [0; 8];
    let mut length_bytes = 0;
    while length_bytes < lengths.len() {
        match reader.read(&mut lengths[length_bytes..]) {
            Ok(0) if length_bytes == 0 => return Ok(None),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => length_bytes += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let [h0, h1, h2, h3, b0, b1, b2, b3] = lengths;
    let header_bytes = u32::from_le_bytes([h0, h1, h2, h3]) as usize;
    let binary_bytes = u32::from_le_bytes([b0, b1, b2, b3]) as usize;
    check_lengths(header_bytes, binary_bytes)?;
    let mut header = vec![0; header_bytes];
    reader.read_exact(&mut header)?;
    binary.resize(binary_bytes, 0);
    reader.read_exact(binary)?;
    Ok(Some(serde_json::from_slice(&header)?))
}

fn check_lengths(header_bytes: usize, binary_bytes: usize) -> Result<(), FrameError> {
    if header_bytes > HEADER_BYTES_MAX {
        return Err(FrameError::HeaderTooLong { bytes: header_bytes });
    }
    if binary_bytes > BINARY_BYTES_MAX {
        return Err(FrameError::BinaryTooLong { bytes: binary_bytes });
    }
    Ok(())
}

/// Converts channels to a binary part: all samples of the first channel, then those of the second,
/// and so on, as 32-bit floats in little-endian order.
#[must_use]
pub fn samples_to_bytes<C: AsRef<[f32]>>(channels: &[C]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_samples(channels, &mut bytes);
    bytes
}

/// Replaces the content of `bytes` by that of [`samples_to_bytes`].
pub fn write_samples<C: AsRef<[f32]>>(channels: &[C], bytes: &mut Vec<u8>) {
    let samples = channels.iter().map(|channel| channel.as_ref().len()).sum::<usize>();
    bytes.resize(samples * SAMPLE_BYTES, 0);
    let mut remaining = bytes.as_chunks_mut::<SAMPLE_BYTES>().0;
    for channel in channels {
        // A loop over two slices, which the compiler vectorizes.
        let samples = channel.as_ref();
        let (bytes, later_samples) = remaining.split_at_mut(samples.len());
        bytes.iter_mut().zip(samples).for_each(|(bytes, sample)| *bytes = sample.to_le_bytes());
        remaining = later_samples;
    }
}

/// Converts a binary part to channels of `frames` samples each. Returns `None` if its length does
/// not equal that of `channels` such channels.
#[must_use]
pub fn bytes_to_samples(bytes: &[u8], channels: usize, frames: usize) -> Option<Vec<Vec<f32>>> {
    let mut samples = Vec::new();
    read_samples(bytes, channels, frames, &mut samples).then_some(samples)
}

/// Replaces the content of `samples` by that of [`bytes_to_samples`]. Returns false, without a
/// change, if the length is wrong.
#[must_use]
pub fn read_samples(bytes: &[u8], channels: usize, frames: usize, samples: &mut Vec<Vec<f32>>) -> bool {
    let channel_bytes = frames.checked_mul(SAMPLE_BYTES);
    let all_bytes = channel_bytes.and_then(|channel_bytes| channel_bytes.checked_mul(channels));
    if all_bytes != Some(bytes.len()) {
        return false;
    }
    samples.resize(channels, Vec::new());
    for (index, channel) in samples.iter_mut().enumerate() {
        let bytes = &bytes.as_chunks::<SAMPLE_BYTES>().0[index * frames..(index + 1) * frames];
        channel.clear();
        channel.extend(bytes.iter().map(|sample| f32::from_le_bytes(*sample)));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Answer, Request};

    fn written(request: &Request, binary: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, request, binary).expect("writes");
        bytes
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        let mut bytes = written(&Request::SetState, &[1, 2, 3]);
        bytes.extend(written(&Request::Close, &[]));
        let mut reader = bytes.as_slice();
        let first = read_frame::<Request>(&mut reader).expect("reads");
        assert_eq!(first, Some(Frame { header: Request::SetState, binary: vec![1, 2, 3] }));
        let second = read_frame::<Request>(&mut reader).expect("reads");
        assert_eq!(second, Some(Frame { header: Request::Close, binary: Vec::new() }));
        assert_eq!(read_frame::<Request>(&mut reader).expect("reads"), None);
    }

    #[test]
    fn a_frame_that_ends_early_is_an_error() {
        let bytes = written(&Request::SetState, &[1, 2, 3]);
        for length in 1..bytes.len() {
            let result = read_frame::<Request>(&bytes[..length]);
            assert!(matches!(result, Err(FrameError::Socket(_))), "{length} bytes: {result:?}");
        }
    }

    #[test]
    fn parts_that_are_too_long_are_refused_before_they_are_read() {
        let lengths = |header: usize, binary: usize| {
            [(header as u32).to_le_bytes(), (binary as u32).to_le_bytes()].concat()
        };
        let header = read_frame::<Request>(lengths(HEADER_BYTES_MAX + 1, 0).as_slice());
        assert!(matches!(header, Err(FrameError::HeaderTooLong { bytes }) if bytes == HEADER_BYTES_MAX + 1));
        let binary = read_frame::<Request>(lengths(2, BINARY_BYTES_MAX + 1).as_slice());
        assert!(matches!(binary, Err(FrameError::BinaryTooLong { bytes }) if bytes == BINARY_BYTES_MAX + 1));
        let mut output = Vec::new();
        let reason = "x".repeat(HEADER_BYTES_MAX);
        let result = write_frame(&mut output, &Answer::Refused { reason }, &[]);
        assert!(matches!(result, Err(FrameError::HeaderTooLong { .. })));
        assert!(output.is_empty());
    }

    #[test]
    fn a_header_of_another_type_is_an_error() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &"unknown", &[]).expect("writes");
        assert!(matches!(read_frame::<Request>(bytes.as_slice()), Err(FrameError::Header(_))));
    }

    #[test]
    fn samples_are_converted_without_loss() {
        let channels = vec![vec![0.5, -1.0, f32::MIN_POSITIVE], vec![0.0, 1.0, -0.25]];
        let bytes = samples_to_bytes(&channels);
        assert_eq!(bytes.len(), 24);
        assert_eq!(bytes_to_samples(&bytes, 2, 3), Some(channels.clone()));
        let mut buffer = vec![vec![9.0; 5]; 3];
        assert!(!read_samples(&bytes, 3, 3, &mut buffer) && buffer[2] == [9.0; 5]);
        assert!(read_samples(&bytes, 2, 3, &mut buffer));
        assert_eq!(buffer, channels);
        let mut bytes_buffer = vec![9; 100];
        write_samples(&channels, &mut bytes_buffer);
        assert_eq!(bytes_buffer, bytes);
        assert_eq!(bytes_to_samples(&bytes, 2, 4), None);
        assert_eq!(bytes_to_samples(&bytes, usize::MAX, usize::MAX), None);
        assert_eq!(bytes_to_samples(&[], 0, 512), Some(Vec::new()));
    }
}
