//! Restores a backup.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::manifest::{Entry, Manifest};
use super::{BLOBS_FOLDER, SIGNING_KEY, SOUNDFONTS_FOLDER, database_name, files};
use crate::clock;
use crate::config::{BlobStore, Config};
use crate::db::{self, DatabaseKind};
use crate::disk::free_bytes;
use crate::installation;
use crate::inventory::{KINDS, key_of};
use crate::state::{make_private_dir, open_blobs};
use crate::storage::{Blobs, Sharing};
use crate::storage_lock::StorageLock;

/// Prefix of the folder to which the replaced files are moved.
const REPLACED_PREFIX: &str = "replaced-";

/// Restores the backup in `folder` to the storage of the settings. The service must not be running.
/// With `is_replacing`, existing files are moved to another folder; otherwise they are an error.
///
/// # Errors
/// If the backup is not complete or the storage is not empty; nothing is changed then. Also if a
/// file cannot be written; the error names it.
pub(crate) async fn restore(
    config: &Config,
    folder: &Path,
    is_replacing: bool,
) -> anyhow::Result<RestoreSummary> {
    let manifest = Manifest::read(folder)?;
    let address = &config.storage.database;
    let kind = manifest.database();
    anyhow::ensure!(
        kind.is_none_or(|kind| kind == address.kind()),
        "the backup has a database of another kind than SF_DATABASE_URL ({address}); to move songs between SQLite and \
         PostgreSQL, export and import them as bundles"
    );
    anyhow::ensure!(
        manifest.database_schema_version <= db::newest_schema_version(),
        "the backup is from Songfoundry {}, with database schema version {}; this version supports up to {}",
        manifest.made_by,
        manifest.database_schema_version,
        db::newest_schema_version()
    );
    manifest.verify(folder)?;
    make_private_dir(&config.storage.dir).context("cannot use SF_STORAGE_DIR")?;
    let _lock = StorageLock::acquire(&config.storage.dir)?;
    let database = kind.and_then(|_| address.file());
    anyhow::ensure!(
        kind != Some(DatabaseKind::Postgres) || db::is_empty(address).await?,
        "the database {address} (SF_DATABASE_URL) is not empty; nothing was changed. Use an empty database"
    );
    let existing_paths = list_existing_files(config, database.as_deref());
    if !existing_paths.is_empty() {
        anyhow::ensure!(
            is_replacing,
            not_empty_error(&format!("the storage folder {} (SF_STORAGE_DIR)", config.storage.dir.display()))
        );
        check_backup_location(folder, &existing_paths)?;
    }
    check_free_space(config, &manifest)?;
    let replaced_dir = move_files(&config.storage.dir, &existing_paths)?;
    let blobs = open_blobs(&config.storage, Sharing::Exclusive).await?;
    let (source, folder, dir) = (folder, folder.to_owned(), config.storage.dir.clone());
    let restoring = move || -> anyhow::Result<usize> {
        for kind in KINDS.iter().filter(|_| !is_replacing) {
            anyhow::ensure!(
                blobs.durable_entries(kind.folder)?.is_empty(),
                not_empty_error("the file storage (SF_BLOB_STORE)")
            );
        }
        installation::remove_mark(&blobs)?;
        let copy = kind.map(database_name);
        for name in manifest.files.keys().filter(|name| Some(name.as_str()) != copy) {
            restore_file(&blobs, &folder, &dir, name)?;
        }
        // The database is restored last, so that a missing database shows that a restore was
        // interrupted.
        if let Some(database) = database {
            let unfinished_path = database.with_extension("restoring");
            files::copy_to(File::open(folder.join(database_name(DatabaseKind::Sqlite)))?, &unfinished_path)?;
            fs::rename(&unfinished_path, &database)
                .with_context(|| format!("cannot write {}", database.display()))?;
        }
        Ok(manifest.files.len())
    };
    let restore_result = async {
        let files = tokio::task::spawn_blocking(restoring).await??;
        if kind == Some(DatabaseKind::Postgres) {
            let copy = source.join(database_name(DatabaseKind::Postgres));
            db::restore(address, &copy).await.context("cannot restore the database")?;
        }
        anyhow::Ok(files)
    };
    let files = restore_result.await.with_context(|| match &replaced_dir {
        Some(replaced_dir) => format!(
            "the restore is incomplete; repeat it. The previous files are in {}",
            replaced_dir.display()
        ),
        None => "the restore is incomplete; repeat it".to_owned(),
    })?;
    Ok(RestoreSummary { files, replaced_dir })
}

/// The result of a restore.
#[derive(Debug)]
pub(crate) struct RestoreSummary {
    /// Number of restored files.
    pub(crate) files: usize,
    /// Folder with the replaced files, if there were any.
    pub(crate) replaced_dir: Option<PathBuf>,
}

fn not_empty_error(target: &str) -> String {
    format!("{target} is not empty; nothing was changed. --replace moves its files to another folder")
}

/// Returns the files and folders that a restore would replace.
fn list_existing_files(config: &Config, database: Option<&Path>) -> Vec<PathBuf> {
    let dir = &config.storage.dir;
    let mut existing_paths: Vec<PathBuf> =
        [SIGNING_KEY, SOUNDFONTS_FOLDER].iter().map(|name| dir.join(name)).collect();
    if matches!(config.storage.blobs, BlobStore::Local) {
        existing_paths.push(dir.join(BLOBS_FOLDER));
    }
    for suffix in ["", "-wal", "-shm"] {
        existing_paths.extend(database.map(|file| PathBuf::from(format!("{}{suffix}", file.display()))));
    }
    let has_content = |path: &PathBuf| match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.exists(),
    };
    existing_paths.retain(has_content);
    existing_paths
}

/// Refuses a backup inside a folder that the restore would move away.
fn check_backup_location(folder: &Path, existing_paths: &[PathBuf]) -> anyhow::Result<()> {
    let backup = folder.canonicalize()?;
    for path in existing_paths {
        anyhow::ensure!(
            !backup.starts_with(path.canonicalize()?),
            "the backup {} is inside {}, which the restore would replace; nothing was changed. Move the backup to another \
             folder",
            folder.display(),
            path.display()
        );
    }
    Ok(())
}

/// Refuses a backup that is larger than the free space of the disk. Files that are restored to a
/// bucket need no space on the disk.
fn check_free_space(config: &Config, manifest: &Manifest) -> anyhow::Result<()> {
    let dir = &config.storage.dir;
    let is_local = matches!(config.storage.blobs, BlobStore::Local);
    let on_disk = |(name, _): &(&String, &Entry)| is_local || !name.starts_with(BLOBS_FOLDER);
    let needed_bytes: u64 = manifest.files.iter().filter(on_disk).map(|(_, entry)| entry.size_bytes).sum();
    let Some(free_bytes) = free_bytes(dir)? else { return Ok(()) };
    anyhow::ensure!(
        needed_bytes <= free_bytes,
        "the backup has {} MiB, but the disk of {} has only {} MiB of free space; nothing was changed",
        needed_bytes.div_ceil(1 << 20),
        dir.display(),
        free_bytes >> 20
    );
    Ok(())
}

/// Moves files to a new folder below the storage folder, and returns the new folder; `None` if
/// there are no files.
fn move_files(dir: &Path, existing_paths: &[PathBuf]) -> anyhow::Result<Option<PathBuf>> {
    if existing_paths.is_empty() {
        return Ok(None);
    }
    // The time has microseconds, so that a repeated restore gets a different folder.
    let stamp: String = clock::now_text().chars().filter(char::is_ascii_digit).collect();
    let replaced_dir = dir.join(format!("{REPLACED_PREFIX}{stamp}"));
    make_private_dir(&replaced_dir)?;
    for path in existing_paths {
        let name = path.file_name().with_context(|| format!("{} has no file name", path.display()))?;
        fs::rename(path, replaced_dir.join(name))
            .with_context(|| format!("cannot move {} to the folder of replaced files", path.display()))?;
    }
    Ok(Some(replaced_dir))
}

/// Restores one file of a backup.
fn restore_file(blobs: &Blobs, folder: &Path, dir: &Path, name: &str) -> anyhow::Result<()> {
    let source =
        File::open(folder.join(name)).with_context(|| format!("cannot read {name} of the backup"))?;
    let Some(blob) = name.strip_prefix(BLOBS_FOLDER).and_then(|path| path.strip_prefix('/')) else {
        files::copy_to(source, &dir.join(name))?;
        return Ok(());
    };
    let blob_key = blob.split_once('/').and_then(|(kind, file)| key_of(kind, file));
    let blob_key = blob_key
        .with_context(|| format!("the backup has a kind of file that this version does not know: {name}"))?;
    let mut writer = blobs.writer(&blob_key).with_context(|| format!("cannot write {name}"))?;
    std::io::copy(&mut std::io::BufReader::new(source), &mut writer)
        .and_then(|_| writer.finish())
        .with_context(|| format!("cannot write {name}"))?;
    Ok(())
}
