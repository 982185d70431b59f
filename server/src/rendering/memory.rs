//! Files as memory, so that a large bank is opened at once and takes memory only where it sounds.
//!
//! A map is the file, not a copy: if somebody cuts the file short in place while it is mapped,
//! reading behind its new end ends the process (SIGBUS). Nothing of the service does that: it
//! replaces and deletes files by name, which leaves a mapped one whole until its last reader goes,
//! and so do package managers, browsers and file managers. What must not be done with a bank in one
//! of the folders is writing over it in place (`cat new.sf2 > bank.sf2`) while it plays.

#![expect(unsafe_code, reason = "mapping a file is unsafe; every block says why it may")]

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use memmap2::{Mmap, UncheckedAdvice};

/// Bytes that a bank reads from.
pub(crate) type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Pages of mapped files that may be present, in bytes: what has been played of banks stays in the
/// system's cache, and need not count as memory of this process.
const PRESENT_MAX_BYTES: u64 = 256 << 20;

/// Time between two looks at how many are.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The maps that are in use, and when the last look at them was.
static MAPS: Mutex<Maps> = Mutex::new(Maps { all: Vec::new(), looked_at: None });

struct Maps {
    all: Vec<Weak<Mmap>>,
    looked_at: Option<Instant>,
}

/// Gives pages of mapped files back to the system where too many are present; they come back from
/// its cache when they are read. For renders to call again and again.
pub(crate) fn give_back() {
    let mut maps = MAPS.lock().unwrap_or_else(PoisonError::into_inner);
    if maps.looked_at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
        return;
    }
    maps.looked_at = Some(Instant::now());
    maps.give_back();
}

impl Maps {
    fn give_back(&mut self) {
        if present_bytes().is_none_or(|bytes| bytes <= PRESENT_MAX_BYTES) {
            return;
        }
        self.all.retain(|map| map.strong_count() > 0);
        for map in self.all.iter().filter_map(Weak::upgrade) {
            // SAFETY: the map is a shared one of a file and is only read, so that a page that is
            // dropped is read again as it was.
            let given_back = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
            if let Err(error) = given_back {
                tracing::warn!(%error, "cannot give pages of a mapped file back");
            }
        }
    }
}

/// Pages of files that this process has mapped and that are present, in bytes (proc_pid_statm(5),
/// `shared`).
fn present_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(2)?.parse().ok()?;
    Some(pages * page_bytes())
}

fn page_bytes() -> u64 {
    // SAFETY: it reads a constant of the system.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

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
    // content is a change of sound: what is mapped is checked at every access, never trusted. A
    // file that is cut short is what the module's text warns of.
    let map = Arc::new(unsafe { Mmap::map(file) }?);
    let mut maps = MAPS.lock().unwrap_or_else(PoisonError::into_inner);
    maps.all.retain(|map| map.strong_count() > 0);
    maps.all.push(Arc::downgrade(&map));
    Ok(map)
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
    fn pages_that_were_read_go_back_to_the_system() {
        const FILE_BYTES: usize = PRESENT_MAX_BYTES as usize + (64 << 20);
        let file = tempfile::tempfile().expect("a file");
        // Nothing of it is written.
        file.set_len(FILE_BYTES as u64).expect("sets");
        let bytes = map_file(&file).expect("maps");
        let all: &[u8] = (*bytes).as_ref();
        let read = || all.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>();
        // Other tests map files and give pages back at the same time.
        let is_given_back = (0..50).any(|_| {
            assert_eq!(read(), 0);
            let before = present_bytes().expect("a number");
            MAPS.lock().expect("free").give_back();
            let after = present_bytes().expect("a number");
            before > PRESENT_MAX_BYTES && after < before - PRESENT_MAX_BYTES / 2
        });
        assert!(is_given_back);
        assert_eq!(read(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_refused() {
        let error = map(Path::new("/dev/zero"), 100_000).err().expect("no file");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}
