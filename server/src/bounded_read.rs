//! Reads a whole file of unknown origin, up to a limit.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Reads a file of at most `max_bytes`. The limit applies to the bytes that are read, not to the
/// reported length, because a device reports no length and may never end.
///
/// # Errors
/// If the file cannot be read, or is larger ([`ErrorKind::FileTooLarge`]).
pub(crate) fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // `read_to_end` reserves memory for the reported length.
    if file.metadata()?.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    read_all(file, max_bytes)
}

/// Reads at most `max_bytes` from `source`, up to its end.
///
/// # Errors
/// Those of [`read`].
pub(crate) fn read_all(source: impl io::Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large(max_bytes)) } else { Ok(bytes) }
}

fn too_large(max_bytes: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {max_bytes} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"12345").expect("writes");
        assert_eq!(read(&path, 5).expect("the bytes"), b"12345");
        let error = read(&path, 4).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has more than 4 bytes");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_that_never_ends_is_refused() {
        let error = read(Path::new("/dev/zero"), 100_000).expect_err("endless");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
