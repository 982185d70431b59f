//! Checks that every file that the database refers to is stored and unchanged.

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
use crate::storage::{Blobs, ExpectedFile, Orphan, Sharing};
use crate::storage_lock::StorageLock;
use crate::{clock, installation, inventory, orphans, projects};

/// Maximum age of a stored file that may not have its database row yet, while the service runs.
const NEW_FILE_AGE: Duration = Duration::from_secs(60);

/// The result of a check.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// Number of files that the database refers to.
    pub(crate) files: usize,
    /// Faults, as sentences. Empty if everything is intact.
    pub(crate) problems: Vec<String>,
    /// Stored files without a database row, as `folder/name`.
    pub(crate) orphans: Vec<String>,
    /// Total size of the orphans, in bytes.
    pub(crate) orphan_bytes: u64,
    /// Orphans that were moved to the quarantine.
    pub(crate) set_aside: Vec<String>,
    /// Number of files without a stored hash. Damage in them cannot be found.
    pub(crate) without_hash: usize,
    /// Missing or damaged files that were made again or restored from the quarantine.
    pub(crate) mended: Vec<String>,
}

/// Options of a check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckOptions {
    /// Whether to read the files and compare their hashes.
    pub(crate) compares_hashes: bool,
    /// Whether to move orphans to the quarantine, restore missing files from there, and make
    /// damaged files again where possible. The service must not be running.
    pub(crate) repairs_files: bool,
    /// Minimum time for which a file must have been an orphan before it is moved; `None` uses
    /// `SF_ORPHAN_AGE_SECS`.
    pub(crate) unneeded_for: Option<Duration>,
}

/// Checks the database and every file that it refers to.
///
/// # Errors
/// If the database cannot be opened or the storage cannot be read. Faults are part of the report.
pub(crate) async fn check(config: &Config, options: CheckOptions) -> anyhow::Result<Report> {
    let _lock = match options.repairs_files {
        true => Some(StorageLock::acquire(&config.storage.dir)?),
        false => None,
    };
    let blobs = open_blobs(&config.storage, Sharing::Shared).await?;
    let db = db::open_existing(&config.storage.database, config.storage.database_limits).await?;
    let mut report = Report { problems: db::find_faults(&db).await?, ..Report::default() };
    report.problems.extend(projects::find_faults(&db).await?);
    let mismatch = installation::find_fault(&config.storage, &db, &blobs).await?;
    anyhow::ensure!(
        mismatch.is_none() || !options.repairs_files,
        "{}; nothing was changed",
        mismatch.unwrap_or_default()
    );
    report.problems.extend(mismatch);
    let (config, runtime) = (config.clone(), Handle::current());
    let checking = move || -> anyhow::Result<Report> {
        let faults = compare_files(&config, &db, &runtime, &blobs, options, &mut report)?;
        if options.repairs_files {
            let faulty_names: HashSet<String> = faults.iter().map(|fault| fault.name.clone()).collect();
            let findings =
                audio::Findings { faulty: &faulty_names, has_compared_hashes: options.compares_hashes };
            report.mended.extend(audio::repair_stored_audio(
                &db,
                &runtime,
                &blobs,
                &config.limits.audio,
                &findings,
            )?);
        }
        let expected_files = runtime.block_on(inventory::list_expected_files(&db))?;
        let has_no_hash = |file: &&ExpectedFile| file.sha256.is_none() && !file.is_growing;
        report.without_hash = expected_files.iter().filter(has_no_hash).count();
        let is_faulty = |fault: &&Fault| !report.mended.contains(&fault.name);
        let problems: Vec<String> = faults
            .iter()
            .filter(is_faulty)
            .map(|fault| format!("{} {}", fault.name, fault.description))
            .collect();
        report.problems.extend(problems);
        for (count, faults) in [
            render_files::faults(&blobs, options.compares_hashes)?,
            stem_faults(&blobs, options.compares_hashes)?,
        ] {
            report.files += count;
            report.problems.extend(faults);
        }
        let orphaned_files = find_orphans(&config, &db, &runtime, &blobs, options.repairs_files)?;
        report.orphans = orphaned_files.iter().map(|orphan| orphan.key.path()).collect();
        report.orphan_bytes = orphaned_files.iter().map(|orphan| orphan.size_bytes).sum();
        if options.repairs_files {
            let age = options.unneeded_for.unwrap_or(Duration::from_secs(config.orphans.age_secs));
            for orphan in
                orphans::record_and_find_due(&db, &runtime, &orphaned_files, age, clock::now_unix_ms())?
            {
                orphans::quarantine_orphan(&blobs, orphan)?;
                orphans::delete_record(&db, &runtime, orphan)?;
                report.set_aside.push(orphan.key.path());
            }
        }
        runtime.block_on(db.close());
        Ok(report)
    };
    tokio::task::spawn_blocking(checking).await?
}

/// A fault of a stored file.
struct Fault {
    /// The file, as `folder/name`.
    name: String,
    /// The fault, as the predicate of a sentence.
    description: String,
}

/// Compares every expected file with the stored one. With `repairs_files`, restores missing files
/// from the quarantine.
fn compare_files(
    config: &Config,
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    options: CheckOptions,
    report: &mut Report,
) -> anyhow::Result<Vec<Fault>> {
    let expected_files = runtime.block_on(inventory::list_expected_files(db))?;
    let quarantined_names: HashSet<String> =
        blobs.list_quarantined()?.into_iter().map(|entry| entry.name).collect();
    let mut faults = Vec::new();
    report.files = expected_files.len();
    // With S3, the bytes of an unfinished upload are on the machine that received them, which may
    // be another machine.
    let has_all_uploads = !matches!(config.storage.blobs, BlobStore::S3(_));
    let mut sizes: HashMap<String, u64> = HashMap::new();
    for kind in inventory::KINDS {
        for entry in
            blobs.local().durable_entries(kind.folder)?.into_iter().chain(blobs.durable_entries(kind.folder)?)
        {
            sizes.insert(format!("{}/{}", kind.folder, entry.file_name()), entry.size_bytes);
        }
    }
    for file in &expected_files {
        let name = file.blob_key.path();
        let fault = match sizes.get(&name) {
            None if file.is_growing && !has_all_uploads => None,
            None if quarantined_names.contains(&name)
                && options.repairs_files
                && blobs.return_from_quarantine(&file.blob_key)? =>
            {
                report.mended.push(name.clone());
                if options.compares_hashes { find_wrong_hash(file, blobs)? } else { None }
            }
            None if quarantined_names.contains(&name) => {
                Some("is missing, but is in the quarantine; --repair or the service restores it".to_owned())
            }
            None => Some("is missing".to_owned()),
            Some(size_bytes) => match find_wrong_size(file, *size_bytes) {
                None if options.compares_hashes => find_wrong_hash(file, blobs)?,
                fault => fault,
            },
        };
        faults.extend(fault.map(|description| Fault { name, description }));
    }
    Ok(faults)
}

fn find_wrong_size(expected_file: &ExpectedFile, found_bytes: u64) -> Option<String> {
    let expected_bytes = expected_file.size_bytes;
    let is_wrong =
        found_bytes < expected_bytes || (found_bytes > expected_bytes && !expected_file.is_growing);
    is_wrong.then(|| format!("has {found_bytes} bytes instead of {expected_bytes}"))
}

fn find_wrong_hash(expected_file: &ExpectedFile, blobs: &Blobs) -> anyhow::Result<Option<String>> {
    let Some(sha256) = &expected_file.sha256 else { return Ok(None) };
    let Some(file) = blobs.read(&expected_file.blob_key)? else { return Ok(Some("is missing".to_owned())) };
    let mut hash = Sha256::new();
    std::io::copy(&mut std::io::BufReader::new(file), &mut hash)?;
    let found_sha256 = format!("{:x}", hash.finalize());
    Ok((found_sha256 != *sha256)
        .then(|| format!("is damaged: its SHA-256 is {found_sha256} instead of {sha256}")))
}

/// Finds stored files without a database row. If other processes may be storing files, new files
/// are left out.
fn find_orphans(
    config: &Config,
    db: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    is_alone: bool,
) -> anyhow::Result<Vec<Orphan>> {
    let age = match config.storage.blobs {
        BlobStore::Local if is_alone => Duration::ZERO,
        BlobStore::Local => NEW_FILE_AGE,
        BlobStore::SharedFolder(_) | BlobStore::S3(_) => Duration::from_secs(config.orphans.age_secs),
    };
    let expected_files = runtime.block_on(inventory::list_expected_files(db))?;
    Ok(orphans::find(db, runtime, blobs, &expected_files, age)?)
}
