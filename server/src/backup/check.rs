//! Checks that every file that the database names is stored and unchanged.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use crate::audio;
use crate::config::{BlobStore, Config};
use crate::db::{self, Db};
use crate::exports::{render_files, stem_faults};
use crate::state::open_blobs;
use crate::storage::{Blobs, Expected, Orphan, Sharing};
use crate::storage_lock::StorageLock;
use crate::{clock, installation, inventory, orphans, projects};

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
    /// Those of them that were moved to the quarantine.
    pub(crate) set_aside: Vec<String>,
    /// Decoded copies and peaks whose hash is not known, so that damage in them is not found.
    pub(crate) without_hash: usize,
    /// Files that were missing or damaged and were made again, or came back from the quarantine.
    pub(crate) mended: Vec<String>,
}

/// Additional actions of a check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thoroughness {
    /// Whether files are read and their hashes compared.
    pub(crate) hashes: bool,
    /// Whether files that belong to nothing are moved to the quarantine, missing ones brought back
    /// from there, and damaged ones made again that can be. The service must not be running.
    pub(crate) repair: bool,
    /// How long this database must have needed no file that is moved; `SF_ORPHAN_AGE_SECS` if
    /// `None`.
    pub(crate) unneeded_for: Option<Duration>,
}

/// Looks at the database and at every file that it speaks of.
///
/// # Errors
/// When the database cannot be opened or the storage not be read; what is wrong in them is no
/// error.
pub(crate) async fn check(config: &Config, how: Thoroughness) -> anyhow::Result<Report> {
    let _lock = match how.repair {
        true => Some(StorageLock::of(&config.storage.dir)?),
        false => None,
    };
    let blobs = open_blobs(&config.storage, Sharing::Shared).await?;
    let db = db::open_as_it_is(&config.storage.database, config.storage.database_limits).await?;
    let mut report = Report { problems: db::faults(&db).await?, ..Report::default() };
    report.problems.extend(projects::faults(&db).await?);
    let strange = installation::fault(&config.storage, &db, &blobs).await?;
    anyhow::ensure!(strange.is_none() || !how.repair, "{}; nothing was changed", strange.unwrap_or_default());
    report.problems.extend(strange);
    let (config, runtime) = (config.clone(), Handle::current());
    let looking = move || -> anyhow::Result<Report> {
        let faults = files(&config, &db, &runtime, &blobs, how, &mut report)?;
        if how.repair {
            let faulty: HashSet<String> = faults.iter().map(|fault| fault.name.clone()).collect();
            let findings = audio::Findings { faulty: &faulty, hashes: how.hashes };
            report.mended.extend(audio::mend(&db, &runtime, &blobs, &config.limits.audio, &findings)?);
        }
        let expected = runtime.block_on(inventory::expected(&db))?;
        let has_no_hash = |one: &&Expected| one.sha256.is_none() && !one.is_growing;
        report.without_hash = expected.iter().filter(has_no_hash).count();
        let is_faulty = |fault: &&Fault| !report.mended.contains(&fault.name);
        let problems: Vec<String> =
            faults.iter().filter(is_faulty).map(|fault| format!("{} {}", fault.name, fault.what)).collect();
        report.problems.extend(problems);
        for (count, faults) in [render_files::faults(&blobs, how.hashes)?, stem_faults(&blobs, how.hashes)?] {
            report.files += count;
            report.problems.extend(faults);
        }
        let left_over = left_over(&config, &db, &runtime, &blobs, how.repair)?;
        report.orphans = left_over.iter().map(|one| one.key.path()).collect();
        report.orphan_bytes = left_over.iter().map(|one| one.size_bytes).sum();
        if how.repair {
            let age = how.unneeded_for.unwrap_or(Duration::from_secs(config.orphans.age_secs));
            for orphan in orphans::due(&db, &runtime, &left_over, age, clock::now_unix_ms())? {
                orphans::set_aside(&blobs, orphan)?;
                orphans::forget(&db, &runtime, orphan)?;
                report.set_aside.push(orphan.key.path());
            }
        }
        runtime.block_on(db.close());
        Ok(report)
    };
    tokio::task::spawn_blocking(looking).await?
}

/// A fault of a stored file.
struct Fault {
    /// Folder and name, with `/` between.
    name: String,
    /// As the rest of a sentence.
    what: String,
}

/// Compares every expected file with what is there. With `repair` missing ones return from the
/// quarantine.
fn files(
    config: &Config,
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    how: Thoroughness,
    report: &mut Report,
) -> anyhow::Result<Vec<Fault>> {
    let expected = runtime.block_on(inventory::expected(db))?;
    let set_aside: HashSet<String> = blobs.quarantined()?.into_iter().map(|one| one.name).collect();
    let mut faults = Vec::new();
    report.files = expected.len();
    // With S3, what of an upload has come lies on the machine that it began on, maybe another.
    let has_all_parts = !matches!(config.storage.blobs, BlobStore::S3(_));
    let mut sizes: HashMap<String, u64> = HashMap::new();
    for kind in inventory::KINDS {
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
        let name = one.key.path();
        let fault = match sizes.get(&name) {
            None if one.is_growing && !has_all_parts => None,
            None if set_aside.contains(&name) && how.repair && blobs.return_from_quarantine(&one.key)? => {
                report.mended.push(name.clone());
                if how.hashes { wrong_hash(one, blobs)? } else { None }
            }
            None if set_aside.contains(&name) => {
                Some("is missing and is in the quarantine: --repair or the service brings it back".to_owned())
            }
            None => Some("is missing".to_owned()),
            Some(size_bytes) => match wrong_size(one, *size_bytes) {
                None if how.hashes => wrong_hash(one, blobs)?,
                fault => fault,
            },
        };
        faults.extend(fault.map(|what| Fault { name, what }));
    }
    Ok(faults)
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

/// Files that belong to nothing. Where somebody may be bringing files, only those that are old
/// enough.
fn left_over(
    config: &Config,
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    is_alone: bool,
) -> anyhow::Result<Vec<Orphan>> {
    let age = match config.storage.blobs {
        BlobStore::Local if is_alone => Duration::ZERO,
        BlobStore::Local => JUST_BROUGHT,
        BlobStore::SharedFolder(_) | BlobStore::S3(_) => Duration::from_secs(config.orphans.age_secs),
    };
    let expected = runtime.block_on(inventory::expected(db))?;
    Ok(orphans::find(db, runtime, blobs, &expected, age)?)
}
