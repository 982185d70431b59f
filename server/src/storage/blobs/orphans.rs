//! Finds stored files that nothing refers to.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use super::{Blobs, ExpectedFile, FileKind, Orphan};

impl Blobs {
    /// Returns the files of one kind that are not among `expected_files` and that were stored at
    /// least `age` ago.
    ///
    /// # Errors
    /// The files cannot be listed.
    pub fn find_orphans(
        &self,
        kind: FileKind,
        expected_files: &[ExpectedFile],
        age: Duration,
    ) -> io::Result<Vec<Orphan>> {
        let expected_in_folder = expected_files.iter().filter(|file| file.blob_key.folder() == kind.folder);
        let expected_names: HashSet<String> =
            expected_in_folder.map(|file| file.blob_key.file_name()).collect();
        let mut orphans = Vec::new();
        for entry in self.entries(kind.folder)? {
            let name = entry.file_name();
            if expected_names.contains(&name) || entry.age() < age {
                continue;
            }
            if let Some(blob_key) = kind.key(&name) {
                orphans.push(Orphan {
                    key: blob_key,
                    size_bytes: entry.size_bytes,
                    stored_at: entry.stored_at,
                });
            }
        }
        Ok(orphans)
    }
}
