//! Checks whether the database and the stored files belong together.
//!
//! Both contain the id of their installation: the database in a table, and the files as the name of
//! a file in the folder `installation`. If there are stored files, the service does not start with
//! a new database or that of another installation. All files would become orphans.

mod store;

use std::collections::HashSet;

use anyhow::Context as _;

use crate::auth::management;
use crate::config::{BlobStore, StorageConfig};
use crate::db::Db;
use crate::inventory;
use crate::storage::{BlobKey, Blobs, FileKind};

/// Folder and extension of the file whose name is the id of the installation.
const FILE_KIND: FileKind = FileKind { folder: "installation", extensions: &["id"] };

/// Whether the database and the stored files belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Relation {
    /// Both have the same id.
    Same,
    /// The database and the stored files may be used together. Both get this id, or a new one if it
    /// is `None`.
    Compatible(Option<String>),
    /// The database and the stored files do not belong together, for this reason.
    Mismatch(String),
}

/// The installation ids and the number of the stored files.
struct Survey {
    /// Installation ids with which the stored files are marked (see [`FILE_KIND`]); normally one.
    ids: Vec<String>,
    /// Number of stored files.
    files: usize,
    /// Number of stored files to which the database refers.
    known_files: usize,
}

/// Checks that the database and the stored files belong together, and marks both with the same id.
///
/// # Errors
/// If they do not belong together, unless `config.adopts_files` is set. The error names both.
pub(crate) async fn claim(config: &StorageConfig, db: &Db, blobs: &Blobs) -> anyhow::Result<()> {
    let existing_id = match find_relation(config, db, blobs).await? {
        Relation::Same => return Ok(()),
        Relation::Compatible(id) => id,
        Relation::Mismatch(_) if config.adopts_files => None,
        Relation::Mismatch(reason) => anyhow::bail!("{}", refusal(config, &reason)),
    };
    let id = store::set_id(db, &existing_id.unwrap_or_else(new_id)).await?;
    let blobs = blobs.clone();
    let marking = tokio::task::spawn_blocking(move || write_mark(&blobs, &id));
    marking.await?.context("cannot mark the stored files with the id of the installation")
}

/// Returns the reason why the database and the stored files do not belong together, or `None` if
/// they do.
///
/// # Errors
/// If one of them cannot be read.
pub(crate) async fn find_fault(
    config: &StorageConfig,
    db: &Db,
    blobs: &Blobs,
) -> anyhow::Result<Option<String>> {
    Ok(match find_relation(config, db, blobs).await? {
        Relation::Same | Relation::Compatible(_) => None,
        Relation::Mismatch(reason) => Some(reason),
    })
}

/// Refuses to create a new SQLite database if there are stored files.
///
/// # Errors
/// Those of [`claim`].
pub(crate) async fn refuse_missing_database(config: &StorageConfig, blobs: &Blobs) -> anyhow::Result<()> {
    let is_missing = config.database.file().is_some_and(|file| !file.exists());
    if !is_missing || config.adopts_files {
        return Ok(());
    }
    let survey = survey(blobs, KnownFiles::default()).await?;
    anyhow::ensure!(survey.files == 0, refusal(config, &unknown_files(config, &survey)));
    Ok(())
}

/// Removes the id of the installation from the stored files. The next start adds it again. Blocks.
///
/// # Errors
/// If the storage fails.
pub(crate) fn remove_mark(blobs: &Blobs) -> std::io::Result<()> {
    for id in read_ids(blobs)? {
        if let Some(blob_key) = FILE_KIND.key(&format!("{id}.id")) {
            blobs.remove(&blob_key)?;
        }
    }
    Ok(())
}

async fn find_relation(config: &StorageConfig, db: &Db, blobs: &Blobs) -> anyhow::Result<Relation> {
    let database_id = store::read_id(db).await?;
    let listing = blobs.clone();
    let ids = tokio::task::spawn_blocking(move || read_ids(&listing)).await??;
    if database_id.as_ref().is_some_and(|id| ids.contains(id)) {
        return Ok(Relation::Same);
    }
    let known_files = KnownFiles::load(db).await?;
    let expected_count = known_files.names.len();
    let survey = survey(blobs, known_files).await?;
    if survey.files == 0 && expected_count > 0 {
        tracing::warn!(
            "the database {} (SF_DATABASE_URL) refers to {expected_count} stored files, but there are none in {}; restore them \
             from a backup",
            config.database,
            files_location(config)
        );
    }
    Ok(compare(database_id, &survey, || unknown_files(config, &survey)))
}

fn compare(database_id: Option<String>, survey: &Survey, unknown: impl Fn() -> String) -> Relation {
    if survey.files == 0 {
        return Relation::Compatible(database_id);
    }
    match (database_id, survey.ids.as_slice()) {
        (Some(_), [_, ..]) => {
            let reason = "the database and the stored files belong to different installations";
            Relation::Mismatch(format!("{reason}, and {}", unknown()))
        }
        _ if survey.known_files == 0 => Relation::Mismatch(unknown()),
        // The database is from a version without ids.
        (None, [id]) => Relation::Compatible(Some(id.clone())),
        (None, [_, _, ..]) => Relation::Mismatch(unknown()),
        (database_id, []) => Relation::Compatible(database_id),
    }
}

fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

fn write_mark(blobs: &Blobs, id: &str) -> anyhow::Result<()> {
    let blob_key = BlobKey::new(FILE_KIND.folder, id, "id")?;
    blobs.put(&blob_key, id.as_bytes())?;
    for old_id in read_ids(blobs)?.into_iter().filter(|old_id| old_id != id) {
        blobs.remove(&BlobKey::new(FILE_KIND.folder, &old_id, "id")?)?;
    }
    Ok(())
}

fn read_ids(blobs: &Blobs) -> std::io::Result<Vec<String>> {
    Ok(blobs.durable_entries(FILE_KIND.folder)?.into_iter().map(|entry| entry.id).collect())
}

/// The stored files that belong to a database.
#[derive(Default)]
struct KnownFiles {
    names: HashSet<String>,
    /// Ids of all users. The names of renders and stems begin with them.
    owner_ids: HashSet<String>,
}

impl KnownFiles {
    async fn load(db: &Db) -> anyhow::Result<Self> {
        let names =
            inventory::list_expected_files(db).await?.into_iter().map(|file| file.blob_key.path()).collect();
        let owner_ids = management::user_names(db).await?.into_iter().map(|(id, _)| id).collect();
        Ok(Self { names, owner_ids })
    }

    fn has(&self, blob_key: &BlobKey) -> bool {
        let file_name = blob_key.file_name();
        let owner = file_name.split_once('_').map(|(owner_id, _)| owner_id);
        self.names.contains(&blob_key.path())
            || owner.is_some_and(|owner_id| self.owner_ids.contains(owner_id))
    }
}

async fn survey(blobs: &Blobs, known_files: KnownFiles) -> anyhow::Result<Survey> {
    let blobs = blobs.clone();
    let counting = move || -> anyhow::Result<Survey> {
        let mut survey = Survey { ids: read_ids(&blobs)?, files: 0, known_files: 0 };
        for kind in inventory::KINDS {
            for entry in blobs.durable_entries(kind.folder)? {
                let Some(blob_key) = kind.key(&entry.file_name()) else { continue };
                survey.files += 1;
                survey.known_files += usize::from(known_files.has(&blob_key));
            }
        }
        Ok(survey)
    };
    tokio::task::spawn_blocking(counting).await?
}

fn unknown_files(config: &StorageConfig, survey: &Survey) -> String {
    format!(
        "the database {} (SF_DATABASE_URL) refers to {} of the {} stored files in {}",
        config.database,
        if survey.known_files == 0 { "none".to_owned() } else { survey.known_files.to_string() },
        survey.files,
        files_location(config)
    )
}

/// Returns the location of the stored files, and the setting that determines it.
fn files_location(config: &StorageConfig) -> String {
    match &config.blobs {
        BlobStore::Local => format!("{} (SF_STORAGE_DIR)", config.dir.join("blobs").display()),
        BlobStore::SharedFolder(dir) => format!("{} (SF_BLOB_STORE)", dir.display()),
        BlobStore::S3(s3) => format!("s3://{}/{} (SF_BLOB_STORE)", s3.bucket, s3.prefix),
    }
}

fn refusal(config: &StorageConfig, reason: &str) -> String {
    format!(
        "{reason}; nothing was changed. Set SF_DATABASE_URL to the database of these files, or restore a backup of it. If \
         {} is the right database, `songfoundry serve --adopt` starts with both: files that it does not need move to the \
         quarantine after SF_ORPHAN_AGE_SECS",
        config.database
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        database_id: Option<&str>,
        ids: &[&str],
        files: usize,
        known: usize,
        expected: &Result<Option<&str>, ()>,
    ) {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let survey = Survey { ids, files, known_files: known };
        let comparison = match compare(database_id.map(str::to_owned), &survey, || "unknown".to_owned()) {
            Relation::Compatible(id) => Ok(id),
            _ => Err(()),
        };
        assert_eq!(comparison, expected.map(|id| id.map(str::to_owned)), "{database_id:?} {files} {known}");
    }

    #[test]
    fn a_database_is_compatible_with_files_that_it_refers_to() {
        check(None, &[], 0, 0, &Ok(None));
        check(Some("a"), &[], 0, 0, &Ok(Some("a")));
        check(Some("a"), &["b"], 0, 0, &Ok(Some("a")));
        check(None, &[], 3, 0, &Err(()));
        check(None, &["b"], 3, 0, &Err(()));
        check(None, &["b"], 3, 1, &Ok(Some("b")));
        check(Some("a"), &[], 3, 0, &Err(()));
        check(Some("a"), &[], 3, 1, &Ok(Some("a")));
        check(Some("a"), &["b"], 3, 3, &Err(()));
        check(None, &[], 3, 2, &Ok(None));
    }
}
