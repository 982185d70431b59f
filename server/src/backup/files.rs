//! Copies files durably and hashes them.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// Size and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileDigest {
    pub(super) size_bytes: u64,
    /// SHA-256 in hexadecimal.
    pub(super) sha256: String,
}

/// Passes the bytes of `source` to `write` in chunks, and hashes them.
fn copy(mut source: impl Read, mut write: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<FileDigest> {
    let (mut hash, mut size_bytes, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK_BYTES]);
    loop {
        let read_bytes = source.read(&mut chunk)?;
        if read_bytes == 0 {
            break;
        }
        write(&chunk[..read_bytes])?;
        hash.update(&chunk[..read_bytes]);
        size_bytes += read_bytes as u64;
    }
    Ok(FileDigest { size_bytes, sha256: format!("{:x}", hash.finalize()) })
}

/// Returns the size and hash of a file.
pub(super) fn digest_of_file(path: &Path) -> anyhow::Result<FileDigest> {
    let read_file = || copy(File::open(path)?, |_| Ok(()));
    read_file().with_context(|| format!("cannot read {}", path.display()))
}

/// Copies `source` to the file `path`, and syncs the file. A new file can only be read by its
/// owner; an existing file is overwritten.
pub(super) fn copy_to(source: impl Read, path: &Path) -> anyhow::Result<FileDigest> {
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let content = copy(source, |chunk| file.write_all(chunk))?;
        file.sync_all()?;
        Ok::<_, io::Error>(content)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the relative paths of all regular files below a folder, or none if the folder does not
/// exist. Links are skipped.
pub(super) fn list_files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (mut found_paths, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(relative) = folders.pop() {
        let entries = match fs::read_dir(folder.join(&relative)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file_type => {
                file_type.with_context(|| format!("cannot read {}", folder.join(&relative).display()))?
            }
        };
        for entry in entries {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, relative.join(entry.file_name()));
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                found_paths.push(path);
            }
        }
    }
    found_paths.sort();
    Ok(found_paths)
}
