//! The process that encodes one file: `songfoundry encode`.
//!
//! The first line of its input is a [`Request`]. Parts of the samples follow, each as its length in
//! bytes (32 bits, little-endian) and the bytes of whole interleaved frames. A length of 0 ends the
//! samples. Standard output is the file, which is read again when it is complete. The outcome is a
//! line of JSON on standard error. The process exits if its input ends early.

use std::fs::File;
use std::io::{self, BufRead as _, Read, Seek as _, Write as _};
use std::panic::catch_unwind;
use std::process::exit;

use super::{CHANNELS, EncodedFile, Message, Request, SentSamples, codecs, decoding};
use crate::helper_processes::limits::{ResourceLimits, exit_with_parent};

/// Maximum address space of the process, in bytes.
const MEMORY_MAX_BYTES: u64 = 3 << 28;

/// Processor time in seconds that each file may use in addition to its length. Encoders are several
/// times faster than real time.
pub(super) const CPU_SECS: u64 = 120;

/// Maximum size of a part of the samples, in bytes.
const PART_MAX_BYTES: u32 = 1 << 24;

/// Bytes of a file in addition to its samples: headers and tags.
const HEADER_MAX_BYTES: u64 = 4 << 20;

/// Reads a request and the samples from standard input, encodes them and prints the outcome.
///
/// # Errors
/// If there is no request, or a limit or thread cannot be set up.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut request_line = String::new();
    let mut input = io::stdin().lock();
    input.read_line(&mut request_line)?;
    let request: Request = serde_json::from_str(&request_line)?;
    let frame_bytes = (CHANNELS * request.sample_format().bytes_per_sample()) as u64;
    ResourceLimits {
        memory_bytes: MEMORY_MAX_BYTES,
        cpu_secs: CPU_SECS + request.max_frames / u64::from(request.sample_rate_hz.max(1)),
        file_bytes: HEADER_MAX_BYTES.saturating_add(request.max_frames.saturating_mul(2 * frame_bytes)),
    }
    .set()?;
    let file = take_output()?;
    let outcome = catch_unwind(move || -> io::Result<EncodedFile> {
        let sent_samples = encode(&request, &file, &mut input)?;
        drop(input);
        exit_with_parent()?;
        decoding::measure(&request, file, &sent_samples)
    });
    let message = match outcome {
        Ok(Ok(encoded)) => Message::Done(encoded),
        Ok(Err(error)) => Message::Failed(error.to_string()),
        Err(_) => Message::Failed("the encoder crashed".to_owned()),
    };
    let mut text = serde_json::to_vec(&message)?;
    text.push(b'\n');
    let print_result = io::stderr().write_all(&text);
    // The standard output is the file itself, so nothing else may be written to it.
    exit(i32::from(print_result.is_err()));
}

/// Takes over the standard output as an empty file.
fn take_output() -> io::Result<File> {
    #[cfg(unix)]
    let stdout_handle = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let stdout_handle = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    let mut file = File::from(stdout_handle);
    file.set_len(0)?;
    file.rewind()?;
    Ok(file)
}

/// Encodes the samples of `input` to `file`.
fn encode(request: &Request, file: &File, input: &mut impl Read) -> io::Result<SentSamples> {
    use sha2::{Digest as _, Sha256};
    let mut codec = codecs::start(request, file.try_clone()?)?;
    let frame_bytes = CHANNELS * request.sample_format().bytes_per_sample();
    let mut unread_frames = request.max_frames;
    let mut hash = Sha256::new();
    let mut samples = Vec::new();
    loop {
        let mut part_bytes = [0; 4];
        input.read_exact(&mut part_bytes)?;
        let part_bytes = u32::from_le_bytes(part_bytes);
        if part_bytes == 0 {
            codec.finish()?;
            let frames = request.max_frames - unread_frames;
            return Ok(SentSamples { sha256: format!("{:x}", hash.finalize()), frames });
        }
        let frames = u64::from(part_bytes) / frame_bytes as u64;
        if part_bytes > PART_MAX_BYTES
            || !(part_bytes as usize).is_multiple_of(frame_bytes)
            || frames > unread_frames
        {
            return Err(io::Error::other(format!(
                "a part of {part_bytes} bytes is invalid: a part has whole frames of {frame_bytes} bytes, at most \
                 {PART_MAX_BYTES} bytes and at most {unread_frames} frames"
            )));
        }
        unread_frames -= frames;
        samples.resize(part_bytes as usize, 0);
        input.read_exact(&mut samples)?;
        hash.update(&samples);
        codec.write(&samples)?;
    }
}
