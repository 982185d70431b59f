//! Computes versions of modules, which show whether a module has changed.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use songfoundry_bridge_protocol::host::PROTOCOL_VERSION;

/// Number of counted files after which no further folder of a bundle is read.
const FILES_MAX: u64 = 5_000;

/// Maximum number of levels of folders in a bundle that are read.
const DEPTH_MAX: usize = 6;

/// Returns a text that changes with the number, total size or latest modification time of a
/// module's files. It also changes with the system and the processor, because servers share the
/// results, and with the helper's protocol. It does not change with each version of the service.
/// Otherwise, users of a server would have no plugins after an update until an administrator scans.
pub(crate) fn version_of(module: &Path) -> String {
    let mut files = FileTotals::default();
    files.add(module, DEPTH_MAX);
    let modified = files.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let nanos = modified.unwrap_or_default().as_nanos();
    format!("{OS} {ARCH} {PROTOCOL_VERSION} {} {} {nanos}", files.count, files.size_bytes)
}

/// Totals of the files of a module.
#[derive(Debug, Default)]
struct FileTotals {
    count: u64,
    size_bytes: u64,
    /// Latest modification time of the files.
    modified: Option<SystemTime>,
}

impl FileTotals {
    fn add(&mut self, path: &Path, depth: usize) {
        let Ok(metadata) = fs::metadata(path) else { return };
        if metadata.is_dir() && depth > 0 && self.count < FILES_MAX {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                self.add(&entry.path(), depth - 1);
            }
        } else if metadata.is_file() {
            self.count += 1;
            self.size_bytes = self.size_bytes.saturating_add(metadata.len());
            self.modified = self.modified.max(metadata.modified().ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_version_changes_with_every_file_of_a_bundle() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("Contents/x86_64-linux");
        fs::create_dir_all(&inside).expect("makes");
        fs::write(inside.join("Foo.so"), "library").expect("writes");
        let first = version_of(folder.path());
        assert_eq!(version_of(folder.path()), first);
        fs::write(folder.path().join("Contents/moduleinfo.json"), "{}").expect("writes");
        let second = version_of(folder.path());
        assert_ne!(second, first);
        let file = fs::File::options().write(true).open(inside.join("Foo.so")).expect("opens");
        file.set_modified(SystemTime::now() + Duration::from_secs(9)).expect("sets the time");
        assert_ne!(version_of(folder.path()), second);
        assert_ne!(version_of(&folder.path().join("none")), second);
    }
}
