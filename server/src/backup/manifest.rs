//! The manifest of a backup.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Component, Path};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::database_name;
use super::files::{self, FileDigest};
use crate::db::DatabaseKind;

/// File name of the manifest.
const MANIFEST_NAME: &str = "backup.json";

/// Version of the backup format.
const FORMAT_VERSION: u32 = 1;

/// The contents of `backup.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Version of the format.
    #[serde(rename = "form")]
    format: u32,
    /// Version of the program that made the backup.
    pub(super) made_by: String,
    /// When the backup was started, RFC 3339.
    pub(super) made_at: String,
    /// Schema version of the database.
    #[serde(rename = "database_form")]
    pub(super) database_schema_version: i64,
    /// Size and SHA-256 of every file, by its path with `/`.
    pub(super) files: BTreeMap<String, Entry>,
}

/// Size and hash of a file in a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) size_bytes: u64,
    pub(super) sha256: String,
}

impl From<FileDigest> for Entry {
    fn from(content: FileDigest) -> Self {
        Self { size_bytes: content.size_bytes, sha256: content.sha256 }
    }
}

impl Manifest {
    pub(super) fn new(made_at: String, database_schema_version: i64) -> Self {
        let made_by = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FORMAT_VERSION, made_by, made_at, database_schema_version, files: BTreeMap::new() }
    }

    /// Returns the kind of the included database; `None` if there is no database.
    pub(super) fn database(&self) -> Option<DatabaseKind> {
        [DatabaseKind::Sqlite, DatabaseKind::Postgres]
            .into_iter()
            .find(|kind| self.files.contains_key(database_name(*kind)))
    }

    /// Writes the manifest into the backup's folder.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(MANIFEST_NAME);
        let write = || {
            let mut file = File::create(&path)?;
            file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
            file.sync_all()
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    /// Reads the manifest from the backup's folder.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(MANIFEST_NAME);
        let file = File::open(&path).with_context(|| {
            format!("{} is not a complete backup: cannot read {MANIFEST_NAME}", folder.display())
        })?;
        let manifest: Self = serde_json::from_reader(BufReader::new(file))
            .with_context(|| format!("{} is not a valid manifest of a backup", path.display()))?;
        anyhow::ensure!(
            manifest.format == FORMAT_VERSION,
            "{} has backup format {}; this version reads format {FORMAT_VERSION}",
            folder.display(),
            manifest.format
        );
        Ok(manifest)
    }

    /// Checks that all files exist and are unchanged. The error names a missing or changed file.
    pub(super) fn verify(&self, folder: &Path) -> anyhow::Result<()> {
        for (name, entry) in &self.files {
            let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            anyhow::ensure!(is_plain, "the backup names a file outside its folder: {name}");
            let digest = files::digest_of_file(&folder.join(name)).context("the backup is not complete")?;
            anyhow::ensure!(
                digest.size_bytes == entry.size_bytes && digest.sha256 == entry.sha256,
                "the backup is damaged: {name} has {} bytes and the SHA-256 {}, but the manifest lists {} bytes and {}",
                digest.size_bytes,
                digest.sha256,
                entry.size_bytes,
                entry.sha256
            );
        }
        Ok(())
    }
}
