//! Versions of modules, for detecting changes.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Maximum numbers of files and of folder levels of a bundle that count.
const FILES_MAX: u64 = 5_000;
const DEPTH_MAX: usize = 6;

/// A text that changes with the count, size or modification time of a module's files. It also
/// changes with the version of the service, which is also the helper's.
pub(super) fn version_of(module: &Path) -> String {
    let mut files = Files::default();
    files.add(module, DEPTH_MAX);
    let modified = files.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let nanos = modified.unwrap_or_default().as_nanos();
    format!("{} {} {} {nanos}", env!("CARGO_PKG_VERSION"), files.count, files.size_bytes)
}

/// Totals over the files of a module.
#[derive(Debug, Default)]
struct Files {
    count: u64,
    size_bytes: u64,
    /// Latest modification time.
    modified: Option<SystemTime>,
}

impl Files {
    fn add(&mut self, path: &Path, depth: usize) {
        let Ok(facts) = fs::metadata(path) else { return };
        if facts.is_dir() && depth > 0 && self.count < FILES_MAX {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                self.add(&entry.path(), depth - 1);
            }
        } else if facts.is_file() {
            self.count += 1;
            self.size_bytes = self.size_bytes.saturating_add(facts.len());
            self.modified = self.modified.max(facts.modified().ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_file_of_a_bundle_counts() {
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
        file.set_modified(SystemTime::now() + Duration::from_secs(9)).expect("dates");
        assert_ne!(version_of(folder.path()), second);
        assert_ne!(version_of(&folder.path().join("none")), second);
    }
}
