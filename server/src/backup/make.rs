//! Makes a backup.

use std::fs::{self, File};
use std::path::Path;

use anyhow::Context as _;
use tokio::runtime::Handle;

use super::manifest::{Entry, Manifest};
use super::{BLOBS_FOLDER, SIGNING_KEY, SOUNDFONTS_FOLDER, database_name, files};
use crate::clock;
use crate::config::Config;
use crate::db::{self, DatabaseAddress, DatabaseKind, Db, Snapshot};
use crate::disk;
use crate::inventory::{KINDS, UNLISTED, list_expected_files};
use crate::state::{make_private_dir, open_blobs};
use crate::storage::{BlobKey, Blobs, ExpectedFile, Sharing};

/// Maximum number of times that the database is copied, if files are deleted in the meantime.
const ATTEMPTS_MAX: u32 = 5;

/// Size and contents of a finished backup.
#[derive(Debug)]
pub(crate) struct BackupSummary {
    /// Number of files.
    pub(crate) files: usize,
    /// Total size in bytes.
    pub(crate) bytes: u64,
    /// Whether the backup includes the database.
    pub(crate) has_database: bool,
}

/// Makes a backup in `folder`, which must be empty or missing. The service may be running. If
/// `includes_database` is false, the backup does not contain the database.
///
/// # Errors
/// If a file cannot be read or written; the error names it. The files that were already written
/// stay, but are not a valid backup.
pub(crate) async fn make(
    config: &Config,
    folder: &Path,
    includes_database: bool,
) -> anyhow::Result<BackupSummary> {
    let is_postgres = config.storage.database.kind() == DatabaseKind::Postgres;
    anyhow::ensure!(
        is_postgres || config.storage.dir.is_dir(),
        "there is nothing to back up: the storage folder {} (SF_STORAGE_DIR) is missing",
        config.storage.dir.display()
    );
    // A machine that only makes backups may not have this folder yet.
    make_private_dir(&config.storage.dir).context("cannot use SF_STORAGE_DIR")?;
    make_private_dir(folder)
        .with_context(|| format!("cannot create the backup folder {}", folder.display()))?;
    let is_empty =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?.next().is_none();
    anyhow::ensure!(is_empty, "{} is not empty; choose an empty or a new folder", folder.display());
    let blobs = open_blobs(&config.storage, Sharing::Shared).await?;
    let db = db::open_existing(&config.storage.database, config.storage.database_limits).await?;
    let made_at = clock::now_text();
    let manifest = Manifest::new(made_at, db::schema_version(&db).await?);
    let database = includes_database.then(|| config.storage.database.clone());
    let (dir, target, runtime) = (config.storage.dir.clone(), folder.to_owned(), Handle::current());
    let copying = move || BackupJob { db, database, blobs, target, manifest }.run(&runtime, &dir);
    tokio::task::spawn_blocking(copying).await?
}

struct BackupJob {
    db: Db,
    /// Address of the database, if the backup includes it.
    database: Option<DatabaseAddress>,
    blobs: Blobs,
    target: std::path::PathBuf,
    manifest: Manifest,
}

impl BackupJob {
    fn run(mut self, runtime: &Handle, storage_dir: &Path) -> anyhow::Result<BackupSummary> {
        self.copy_database_and_files(runtime)?;
        self.copy_unlisted_files()?;
        let key_path = storage_dir.join(SIGNING_KEY);
        if key_path.is_file() {
            self.add(File::open(&key_path)?, SIGNING_KEY)?;
        }
        let soundfonts = storage_dir.join(SOUNDFONTS_FOLDER);
        for path in files::list_files_below(&soundfonts)? {
            let name = path
                .to_str()
                .with_context(|| format!("the file name {} is not valid Unicode", path.display()))?;
            self.add(File::open(soundfonts.join(&path))?, &format!("{SOUNDFONTS_FOLDER}/{name}"))?;
        }
        self.manifest.write(&self.target)?;
        let bytes = self.manifest.files.values().map(|entry| entry.size_bytes).sum();
        let has_database = self.manifest.database().is_some();
        Ok(BackupSummary { files: self.manifest.files.len(), bytes, has_database })
    }

    fn add(&mut self, source: File, name: &str) -> anyhow::Result<()> {
        let content = files::copy_to(source, &self.target.join(name))?;
        self.manifest.files.insert(name.to_owned(), Entry::from(content));
        Ok(())
    }

    fn copy_database_and_files(&mut self, runtime: &Handle) -> anyhow::Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            let expected_files = match self.database.clone() {
                Some(address) => runtime.block_on(self.copy_database(&address))?,
                None => runtime.block_on(list_expected_files(&self.db))?,
            };
            let mut missing = None;
            for file in &expected_files {
                // With S3, the bytes of an unfinished upload are on the machine that received them,
                // which may be another machine.
                if !self.ensure_copied(file)? && !file.is_growing {
                    missing = Some(file.blob_key.file_name());
                }
            }
            let Some(missing) = missing else { return self.remove_stale_files(&expected_files) };
            tracing::info!(missing, "a file was deleted during the backup; copying the database again");
        }
        anyhow::bail!(
            "files that the database refers to are still missing after {ATTEMPTS_MAX} attempts; `songfoundry admin check` names them"
        )
    }

    /// Copies the current state of the database, and returns the files that it refers to.
    async fn copy_database(&mut self, address: &DatabaseAddress) -> anyhow::Result<Vec<ExpectedFile>> {
        let name = database_name(address.kind());
        let path = self.target.join(name);
        disk::remove_if_there(&path)?;
        let expected_files = match address.kind() {
            DatabaseKind::Sqlite => {
                db::copy_sqlite(&self.db, &path).await.context("cannot copy the database")?;
                let copy = db::open_copy(&path).await?;
                let expected_files = list_expected_files(&copy).await;
                copy.close().await;
                expected_files?
            }
            DatabaseKind::Postgres => {
                let snapshot = Snapshot::take(address).await?;
                let expected_files = list_expected_files(&snapshot.db).await?;
                snapshot.dump(address, &path).await.context("cannot copy the database")?;
                snapshot.close().await;
                expected_files
            }
        };
        self.manifest.files.insert(name.to_owned(), files::digest_of_file(&path)?.into());
        Ok(expected_files)
    }

    /// Copies a file, unless the backup already has it. A growing file is always copied. Returns
    /// whether the backup has the file afterwards.
    fn ensure_copied(&mut self, expected_file: &ExpectedFile) -> anyhow::Result<bool> {
        let name = backup_path(&expected_file.blob_key);
        if self.manifest.files.contains_key(&name) && !expected_file.is_growing {
            return Ok(true);
        }
        let source_file = match self.blobs.read(&expected_file.blob_key)? {
            Some(file) => Some(file),
            None => self.blobs.local().read(&expected_file.blob_key)?,
        };
        match source_file {
            Some(file) => self.add(file, &name).map(|()| true),
            None => Ok(false),
        }
    }

    /// Removes files that only earlier copies of the database referred to.
    fn remove_stale_files(&mut self, expected_files: &[ExpectedFile]) -> anyhow::Result<()> {
        let needed_paths: std::collections::HashSet<String> =
            expected_files.iter().map(|file| backup_path(&file.blob_key)).collect();
        let copied_names: Vec<String> =
            self.manifest.files.keys().filter(|name| name.starts_with(BLOBS_FOLDER)).cloned().collect();
        for name in copied_names.into_iter().filter(|name| !needed_paths.contains(name)) {
            disk::remove_if_there(&self.target.join(&name))?;
            self.manifest.files.remove(&name);
        }
        Ok(())
    }

    /// Copies all files of the kinds that the database does not list ([`UNLISTED`]), except those
    /// that are deleted in the meantime.
    fn copy_unlisted_files(&mut self) -> anyhow::Result<()> {
        for kind in UNLISTED {
            for entry in self.blobs.entries(kind.folder)? {
                let Some(blob_key) = kind.key(&entry.file_name()) else { continue };
                if let Some(file) = self.blobs.read(&blob_key)? {
                    self.add(file, &backup_path(&blob_key))?;
                }
            }
        }
        Ok(())
    }
}

fn backup_path(blob_key: &BlobKey) -> String {
    debug_assert!(
        KINDS.iter().any(|kind| kind.folder == blob_key.folder()),
        "a restore does not know this kind of file"
    );
    format!("{BLOBS_FOLDER}/{}/{}", blob_key.folder(), blob_key.file_name())
}
