//! Reading a whole file that somebody else made.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The bytes of a file of at most `max_bytes`, whatever its length is said to be: a device has
/// none and never ends.
///
/// # Errors
/// The file cannot be read, or holds more: then the kind is [`ErrorKind::FileTooLarge`].
pub(crate) fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let said_bytes = file.metadata()?.len();
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {max_bytes} bytes"));
    if said_bytes > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(said_bytes).unwrap_or_default());
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
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
