//! Gives files that root created to the account that runs the service.

use std::path::Path;

use anyhow::Context as _;

use crate::config::Config;

/// Changes the owner of root's files to the owner of the storage folder. These are files in the
/// storage folder and the shared folder, and the files of the database. Only root can do this.
///
/// # Errors
/// If the owner of a file cannot be changed.
#[cfg(unix)]
pub(super) fn restore(config: &Config) -> anyhow::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let dir = &config.storage.dir;
    let metadata = match std::fs::metadata(dir) {
        // If the folder is missing, the command was refused before it created files.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.with_context(|| format!("cannot read {}", dir.display()))?,
    };
    if metadata.uid() == 0 {
        return Ok(());
    }
    let owner = Owner { user_id: metadata.uid(), group_id: metadata.gid() };
    owner.set_owner_below(dir)?;
    if let Some(database) = config.storage.database.file() {
        for suffix in ["", "-wal", "-shm", "-reserve"] {
            owner.set_owner_of(Path::new(&format!("{}{suffix}", database.display())))?;
        }
    }
    match &config.storage.blobs {
        crate::config::BlobStore::SharedFolder(shared_folder) => owner.set_owner_below(shared_folder),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn restore(_: &Config) -> anyhow::Result<()> {
    Ok(())
}

/// Ids of a user and a group.
#[cfg(unix)]
struct Owner {
    user_id: u32,
    group_id: u32,
}

#[cfg(unix)]
impl Owner {
    fn set_owner_of(&self, path: &Path) -> anyhow::Result<()> {
        use std::os::unix::fs::{MetadataExt as _, lchown};
        let Ok(metadata) = std::fs::symlink_metadata(path) else { return Ok(()) };
        // Files of root may be from this command, because it runs as root. Other files are not.
        let chown_result = match metadata.uid() {
            0 => lchown(path, Some(self.user_id), Some(self.group_id)),
            _ => Ok(()),
        };
        match chown_result {
            // The file is from an earlier command of root, and this process is not root.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
            chown_result => chown_result.with_context(|| {
                format!("cannot give {} to the owner of the storage folder", path.display())
            })?,
        }
        Ok(())
    }

    fn set_owner_below(&self, folder: &Path) -> anyhow::Result<()> {
        self.set_owner_of(folder)?;
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => self.set_owner_below(&entry.path())?,
                false => self.set_owner_of(&entry.path())?,
            }
        }
        Ok(())
    }
}
