//! Stored files that nothing refers to.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use super::{Blobs, Expected, FileKind, Orphan};

impl Blobs {
    /// Files of one kind that are not among `expected` and are at least `age` old.
    ///
    /// # Errors
    /// When the files cannot be listed.
    pub fn orphans(&self, kind: FileKind, expected: &[Expected], age: Duration) -> io::Result<Vec<Orphan>> {
        let of_folder = expected.iter().filter(|file| file.key.folder() == kind.folder);
        let known: HashSet<String> = of_folder.map(|file| file.key.file_name()).collect();
        let mut orphans = Vec::new();
        for entry in self.entries(kind.folder)? {
            let name = entry.file_name();
            if known.contains(&name) || entry.age() < age {
                continue;
            }
            if let Some(key) = kind.key(&name) {
                orphans.push(Orphan { key, size_bytes: entry.size_bytes, stored_at: entry.stored_at });
            }
        }
        Ok(orphans)
    }
}
