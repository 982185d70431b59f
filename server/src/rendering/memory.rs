//! Maps files into memory. A large bank then opens immediately, and only its used parts take up
//! memory.
//!
//! If a program truncates a mapped file in place, reading beyond the new end kills this process
//! (SIGBUS). The service never truncates such a file: it replaces and deletes files by name, which
//! leaves a mapped file intact until it is unmapped. Package managers, browsers and file managers
//! do the same. Operators must not overwrite a bank in place while it plays (`cat new.sf2 >
//! bank.sf2`).

#![expect(unsafe_code, reason = "mapping a file is unsafe; a comment at each block says why it is sound")]

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use memmap2::{Mmap, UncheckedAdvice};

/// Contents of a mapped file.
pub(crate) type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Maximum size of the resident pages of mapped files, in bytes. If they exceed this size, the
/// pages of all mapped files are released. They stay in the system's page cache without counting as
/// memory of this process.
const RESIDENT_MAX_BYTES: u64 = 128 << 20;

/// Minimum time between two checks of the resident pages.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// All mapped files, and the time of the last check.
static BANK_MAPS: Mutex<Maps> = Mutex::new(Maps { maps: Vec::new(), checked_at: None });

struct Maps {
    maps: Vec<Weak<Mmap>>,
    checked_at: Option<Instant>,
}

/// Returns the pages of all mapped files to the system if too many are resident. A later read gets
/// such a page from the system's page cache again. Renders call this function repeatedly.
pub(crate) fn release_pages() {
    let mut maps = BANK_MAPS.lock().unwrap_or_else(PoisonError::into_inner);
    if maps.checked_at.is_some_and(|checked_at| checked_at.elapsed() < CHECK_INTERVAL) {
        return;
    }
    maps.checked_at = Some(Instant::now());
    maps.release_pages();
}

impl Maps {
    fn release_pages(&mut self) {
        if resident_bytes().is_none_or(|bytes| bytes <= RESIDENT_MAX_BYTES) {
            return;
        }
        self.maps.retain(|map| map.strong_count() > 0);
        for map in self.maps.iter().filter_map(Weak::upgrade) {
            // SAFETY: the map is shared, file-backed and read-only. A dropped page is therefore
            // read from the file again, unchanged.
            let advise_result = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
            if let Err(error) = advise_result {
                tracing::warn!(%error, "cannot return pages of a mapped file to the system");
            }
        }
    }
}

/// Returns the size of this process's resident mapped pages in bytes (proc_pid_statm(5), `shared`).
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(2)?.parse().ok()?;
    Some(pages * page_bytes())
}

fn page_bytes() -> u64 {
    // SAFETY: `sysconf` only reads a constant of the system.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Maps a whole file of at most `max_bytes` into memory.
///
/// # Errors
/// The file cannot be opened or mapped, is not a regular file, or is larger
/// ([`ErrorKind::FileTooLarge`]).
pub(crate) fn map(path: &Path, max_bytes: u64) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the file is not a regular file"));
    }
    if metadata.len() > max_bytes {
        let detail = format!("the file has {} bytes; at most {max_bytes} bytes are allowed", metadata.len());
        return Err(io::Error::new(ErrorKind::FileTooLarge, detail));
    }
    map_file(&file)
}

/// Maps a whole regular file into memory.
///
/// # Errors
/// The file cannot be mapped.
pub(crate) fn map_file(file: &File) -> io::Result<Bytes> {
    if file.metadata()?.len() == 0 {
        // An empty file cannot be mapped.
        return Ok(Arc::new(Vec::new()));
    }
    // SAFETY: the map is only read. If another process changes the content, only the sound changes,
    // because readers check every access and never trust the content. The module's documentation
    // covers truncation.
    let map = Arc::new(unsafe { Mmap::map(file) }?);
    let mut maps = BANK_MAPS.lock().unwrap_or_else(PoisonError::into_inner);
    maps.maps.retain(|map| map.strong_count() > 0);
    maps.maps.push(Arc::downgrade(&map));
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_can_be_read_after_it_was_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"12345").expect("writes");
        let bytes = map(&path, 5).expect("maps the file");
        std::fs::remove_file(&path).expect("removes the file");
        assert_eq!((*bytes).as_ref(), b"12345");
    }

    #[test]
    fn files_that_cannot_be_mapped_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        assert_eq!(map(&path, 5).err().map(|error| error.kind()), Some(ErrorKind::NotFound));
        std::fs::write(&path, b"12345").expect("writes");
        let error = map(&path, 4).err().expect("too large");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "the file has 5 bytes; at most 4 bytes are allowed");
        std::fs::write(&path, b"").expect("writes");
        assert_eq!((*map(&path, 5).expect("maps the file")).as_ref(), b"");
        assert_eq!(map(folder.path(), 5).err().map(|error| error.kind()), Some(ErrorKind::InvalidInput));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn too_many_resident_pages_are_released() {
        const FILE_BYTES: usize = RESIDENT_MAX_BYTES as usize + (64 << 20);
        let file = tempfile::tempfile().expect("a file");
        // The file stays sparse, so it takes no disk space.
        file.set_len(FILE_BYTES as u64).expect("sets the size");
        let bytes = map_file(&file).expect("maps the file");
        let all_bytes: &[u8] = (*bytes).as_ref();
        let read_pages = || all_bytes.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>();
        // Other tests map files and release pages at the same time, so several attempts may be
        // needed.
        let is_released = (0..50).any(|_| {
            assert_eq!(read_pages(), 0);
            let bytes_before = resident_bytes().expect("a number");
            BANK_MAPS.lock().expect("a lock").release_pages();
            let bytes_after = resident_bytes().expect("a number");
            bytes_before > RESIDENT_MAX_BYTES && bytes_after < bytes_before - RESIDENT_MAX_BYTES / 2
        });
        assert!(is_released);
        assert_eq!(read_pages(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_refused() {
        let error = map(Path::new("/dev/zero"), 100_000).err().expect("a device is no regular file");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}
