//! Is everything that the database speaks of there, and as it was?

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::KINDS;
use crate::blobs::{BlobKey, Blobs, Expected, Orphan, Sharing};
use crate::config::{BlobStore, Config};
use crate::db::{self, Db};
use crate::state::{lock, open_blobs};
use crate::{clock, orphans, projects};

/// Folder in the storage folder that takes what belongs to nothing.
const QUARANTINE: &str = "quarantine";

/// Age below which a file of a running service may not have its entry yet.
const JUST_BROUGHT: Duration = Duration::from_secs(60);

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// Files that the database speaks of.
    pub(crate) files: usize,
    /// What is wrong, in sentences. Empty: everything is there and whole.
    pub(crate) problems: Vec<String>,
    /// Stored files that belong to nothing, with their folders.
    pub(crate) orphans: Vec<String>,
    /// Their size in bytes.
    pub(crate) orphan_bytes: u64,
    /// Where they are now, if they were moved.
    pub(crate) quarantine: Option<PathBuf>,
}

/// What a check does beside looking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thoroughness {
    /// Whether files are read and their hashes compared.
    pub(crate) hashes: bool,
    /// Whether files that belong to nothing are moved to the quarantine. The service must not be running.
    pub(crate) repair: bool,
}

/// Looks at the database and at every file that it speaks of.
///
/// # Errors
/// When the database cannot be opened or the storage not be read; what is wrong in them is no error.
pub(crate) async fn check(config: &Config, how: Thoroughness) -> anyhow::Result<Report> {
    let _lock = match how.repair {
        true => Some(lock(&config.storage.dir)?),
        false => None,
    };
    let blobs = open_blobs(&config.storage, Sharing::Shared).await?;
    let db = db::open_as_it_is(&config.storage.database, config.storage.database_limits).await?;
    let mut report = Report { problems: db::faults(&db).await?, ..Report::default() };
    report.problems.extend(projects::faults(&db).await?);
    let (config, runtime) = (config.clone(), Handle::current());
    let looking = move || -> anyhow::Result<Report> {
        files(&config, &db, &runtime, &blobs, how, &mut report)?;
        let left_over = left_over(&config, &db, &runtime, &blobs, how.repair)?;
        report.orphans = left_over.iter().map(|one| name_of(&one.key)).collect();
        report.orphan_bytes = left_over.iter().map(|one| one.size_bytes).sum();
        if how.repair && !left_over.is_empty() {
            report.quarantine = Some(set_aside(&config.storage.dir, &blobs, &left_over)?);
        }
        runtime.block_on(db.close());
        Ok(report)
    };
    tokio::task::spawn_blocking(looking).await?
}

fn name_of(key: &BlobKey) -> String {
    format!("{}/{}", key.folder(), key.file_name())
}

/// Compares every expected file with what is there.
fn files(
    config: &Config,
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    how: Thoroughness,
    report: &mut Report,
) -> anyhow::Result<()> {
    let expected = runtime.block_on(super::expected(db))?;
    report.files = expected.len();
    // With S3, what of an upload has come lies on the machine that it began on, maybe another.
    let has_all_parts = !matches!(config.storage.blobs, BlobStore::S3(_));
    let mut sizes: HashMap<String, u64> = HashMap::new();
    for kind in KINDS {
        for entry in blobs
            .local()
            .entries_for_good(kind.folder)?
            .into_iter()
            .chain(blobs.entries_for_good(kind.folder)?)
        {
            sizes.insert(format!("{}/{}", kind.folder, entry.file_name()), entry.size_bytes);
        }
    }
    for one in &expected {
        let name = name_of(&one.key);
        let fault = match sizes.get(&name) {
            None if one.is_growing && !has_all_parts => None,
            None => Some("is missing".to_owned()),
            Some(size_bytes) => match wrong_size(one, *size_bytes) {
                None if how.hashes => wrong_hash(one, blobs)?,
                fault => fault,
            },
        };
        report.problems.extend(fault.map(|fault| format!("{name} {fault}")));
    }
    Ok(())
}

fn wrong_size(expected: &Expected, found: u64) -> Option<String> {
    let wanted = expected.size_bytes;
    let is_wrong = found < wanted || (found > wanted && !expected.is_growing);
    is_wrong.then(|| format!("has {found} bytes and should have {wanted}"))
}

fn wrong_hash(expected: &Expected, blobs: &Blobs) -> anyhow::Result<Option<String>> {
    let Some(wanted) = &expected.sha256 else { return Ok(None) };
    let Some(file) = blobs.read(&expected.key)? else { return Ok(Some("is missing".to_owned())) };
    let mut hash = Sha256::new();
    std::io::copy(&mut std::io::BufReader::new(file), &mut hash)?;
    let found = format!("{:x}", hash.finalize());
    Ok((found != *wanted).then(|| format!("is damaged: its SHA-256 is {found}")))
}

/// Files that belong to nothing. Where somebody may be bringing files, only those that are old enough.
fn left_over(
    config: &Config,
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    is_alone: bool,
) -> anyhow::Result<Vec<Orphan>> {
    let age = match config.storage.blobs {
        BlobStore::Own if is_alone => Duration::ZERO,
        BlobStore::Own => JUST_BROUGHT,
        BlobStore::SharedFolder(_) | BlobStore::S3(_) => Duration::from_secs(config.orphans.age_secs),
    };
    let expected = runtime.block_on(super::expected(db))?;
    Ok(orphans::find(db, runtime, blobs, &expected, age)?)
}

/// Moves files to a folder of this moment in the quarantine.
fn set_aside(storage_dir: &Path, blobs: &Blobs, orphans: &[Orphan]) -> anyhow::Result<PathBuf> {
    let stamp: String = clock::now_text().chars().filter(char::is_ascii_digit).take(14).collect();
    let folder = storage_dir.join(QUARANTINE).join(stamp);
    for orphan in orphans {
        let target = folder.join(name_of(&orphan.key));
        let Some(mut file) = blobs.read(&orphan.key)? else { continue };
        let mut keep = || {
            fs::create_dir_all(target.parent().unwrap_or(&folder))?;
            // Within one disk a file only gets another name.
            if fs::hard_link(blobs.path(&orphan.key), &target).is_err() {
                let mut copy = File::create_new(&target)?;
                std::io::copy(&mut file, &mut copy)?;
                copy.sync_all()?;
            }
            blobs.remove(&orphan.key)
        };
        keep().with_context(|| format!("cannot move {} to {}", name_of(&orphan.key), target.display()))?;
    }
    Ok(folder)
}
