//! Hashes files.

use std::fs::File;
use std::io;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Size of the read buffer in bytes.
const BUFFER_BYTES: usize = 256 * 1024;

/// Returns the SHA-256 of a file in hexadecimal.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn hash_file(path: &Path) -> io::Result<String> {
    sha256_of(File::open(path)?)
}

/// Returns the SHA-256 of the remaining bytes of `content`, in hexadecimal.
///
/// # Errors
/// The content cannot be read.
pub(crate) fn sha256_of(content: impl io::Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut io::BufReader::with_capacity(BUFFER_BYTES, content), &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

/// Returns the SHA-256 of a value as JSON, in hexadecimal.
///
/// # Errors
/// The value has a map whose keys are not texts.
pub(crate) fn sha256_of_json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut hash = Sha256::new();
    serde_json::to_writer(io::BufWriter::with_capacity(BUFFER_BYTES, &mut hash), value)?;
    Ok(format!("{:x}", hash.finalize()))
}
