//! Files as memory, so that a large bank is opened at once and takes memory only where it sounds.
//!
//! A map is the file, not a copy: if somebody cuts the file short in place while it is mapped,
//! reading behind its new end ends the process (SIGBUS). Nothing of the service does that: it
//! replaces and deletes files by name, which leaves a mapped one whole until its last reader goes, and so
//! do package managers, browsers and file managers. What must not be done with a bank in one of
//! the folders is writing over it in place (`cat new.sf2 > bank.sf2`) while it plays.

#![expect(unsafe_code, reason = "mapping a file is unsafe; every block says why it may")]

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// Bytes that a bank reads from.
pub(crate) type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Maps a whole file of at most `max_bytes`.
///
/// # Errors
/// It cannot be opened or mapped, is no plain file, or is larger: then the kind is
/// [`ErrorKind::FileTooLarge`].
pub(crate) fn map(path: &Path, max_bytes: u64) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no plain file"));
    }
    if facts.len() > max_bytes {
        let detail = format!("it has {} bytes; at most {max_bytes} are read", facts.len());
        return Err(io::Error::new(ErrorKind::FileTooLarge, detail));
    }
    map_file(&file)
}

/// Maps all of a plain file.
///
/// # Errors
/// It cannot be mapped.
pub(crate) fn map_file(file: &File) -> io::Result<Bytes> {
    if file.metadata()?.len() == 0 {
        // There is no map of nothing.
        return Ok(Arc::new(Vec::new()));
    }
    // SAFETY: the map is only read. Other processes could change the file under it. A change of its
    // content is a change of sound: what is mapped is checked at every access, never trusted. A file that is
    // cut short is what the module's text warns of.
    let map = unsafe { memmap2::Mmap::map(file) }?;
    Ok(Arc::new(map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_the_file_and_outlives_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"12345").expect("writes");
        let bytes = map(&path, 5).expect("maps");
        std::fs::remove_file(&path).expect("goes");
        assert_eq!((*bytes).as_ref(), b"12345");
    }

    #[test]
    fn what_cannot_be_mapped_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        assert_eq!(map(&path, 5).err().map(|error| error.kind()), Some(ErrorKind::NotFound));
        std::fs::write(&path, b"12345").expect("writes");
        let error = map(&path, 4).err().expect("too large");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has 5 bytes; at most 4 are read");
        std::fs::write(&path, b"").expect("writes");
        assert_eq!((*map(&path, 5).expect("maps")).as_ref(), b"");
        assert_eq!(map(folder.path(), 5).err().map(|error| error.kind()), Some(ErrorKind::InvalidInput));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_refused() {
        let error = map(Path::new("/dev/zero"), 100_000).err().expect("no file");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}
