//! Files that were made as root for a service that runs as somebody else.

use std::path::Path;

use anyhow::Context as _;

use crate::config::Config;

/// Gives everything of root's in the storage folder, and the database, to the owner of the folder.
/// Only root makes such files, and only root can give them away.
///
/// # Errors
/// When a file cannot be given away, by name.
#[cfg(unix)]
pub(super) fn keep(config: &Config) -> anyhow::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let dir = &config.storage.dir;
    let facts = match std::fs::metadata(dir) {
        // A command that was refused made nothing.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        facts => facts.with_context(|| format!("cannot read {}", dir.display()))?,
    };
    if facts.uid() == 0 {
        return Ok(());
    }
    let owner = Owner { user: facts.uid(), group: facts.gid() };
    owner.give_below(dir)?;
    if let Some(database) = config.storage.database.file() {
        for suffix in ["", "-wal", "-shm", "-reserve"] {
            owner.give(Path::new(&format!("{}{suffix}", database.display())))?;
        }
    }
    match &config.storage.blobs {
        crate::config::BlobStore::SharedFolder(shared) => owner.give_below(shared),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn keep(_: &Config) -> anyhow::Result<()> {
    Ok(())
}

/// A user and a group, by their numbers.
#[cfg(unix)]
struct Owner {
    user: u32,
    group: u32,
}

#[cfg(unix)]
impl Owner {
    fn give(&self, path: &Path) -> anyhow::Result<()> {
        use std::os::unix::fs::{MetadataExt as _, lchown};
        let Ok(facts) = std::fs::symlink_metadata(path) else { return Ok(()) };
        // Files of other users than root were not made by this command.
        let given = match facts.uid() {
            0 => lchown(path, Some(self.user), Some(self.group)),
            _ => Ok(()),
        };
        match given {
            // Made by root at another time, and this is somebody else.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
            given => given.with_context(|| {
                format!("cannot give {} to the owner of the storage folder", path.display())
            })?,
        }
        Ok(())
    }

    fn give_below(&self, folder: &Path) -> anyhow::Result<()> {
        self.give(folder)?;
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => self.give_below(&entry.path())?,
                false => self.give(&entry.path())?,
            }
        }
        Ok(())
    }
}
