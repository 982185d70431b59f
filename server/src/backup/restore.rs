//! Putting a backup back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::manifest::Manifest;
use super::{BLOBS, SIGNING_KEY, SOUNDFONTS, database_name, files};
use crate::clock;
use crate::config::{BlobStore, Config};
use crate::db::{self, Kind};
use crate::installation;
use crate::inventory::{KINDS, key_of};
use crate::state::{make_private_dir, open_blobs};
use crate::storage::{Blobs, Sharing};
use crate::storage_lock::StorageLock;

/// Prefix of the folder that the replaced files are moved to.
const REPLACED: &str = "replaced-";

/// Puts the backup in `folder` into the storage that the settings name; the service must not be
/// running. What is there is only touched with `replace`, and then moved aside. Says how many files
/// were put back, and where the old ones are.
///
/// # Errors
/// Before anything is touched: when the backup is not whole, or something is stored already. Later:
/// when something cannot be written, by name.
pub(crate) async fn restore(config: &Config, folder: &Path, replace: bool) -> anyhow::Result<Restored> {
    let manifest = Manifest::read(folder)?;
    let address = &config.storage.database;
    let kind = manifest.database();
    anyhow::ensure!(
        kind.is_none_or(|kind| kind == address.kind()),
        "the backup holds a database of another kind than SF_DATABASE_URL names ({address}); a song can go from one to the \
         other, a database cannot"
    );
    anyhow::ensure!(
        manifest.database_form <= db::newest_form(),
        "the backup is from Songfoundry {}, and its database in form {}; this version knows forms up to {}",
        manifest.made_by,
        manifest.database_form,
        db::newest_form()
    );
    manifest.verify(folder)?;
    make_private_dir(&config.storage.dir)?;
    let _lock = StorageLock::of(&config.storage.dir)?;
    let database = kind.and_then(|_| address.file());
    anyhow::ensure!(
        kind != Some(Kind::Postgres) || db::is_empty(address).await?,
        "the database {address} (SF_DATABASE_URL) is not empty; nothing was changed. Name an empty one"
    );
    let aside = make_way(config, database.as_deref(), replace)?;
    let blobs = open_blobs(&config.storage, Sharing::Own).await?;
    let (source, folder, dir) = (folder, folder.to_owned(), config.storage.dir.clone());
    let putting = move || -> anyhow::Result<usize> {
        for kind in KINDS.iter().filter(|_| !replace) {
            anyhow::ensure!(
                blobs.entries_for_good(kind.folder)?.is_empty(),
                occupied("the place of stored files (SF_BLOB_STORE)")
            );
        }
        installation::unmark(&blobs)?;
        let copy = kind.map(database_name);
        for name in manifest.files.keys().filter(|name| Some(name.as_str()) != copy) {
            put_back(&blobs, &folder, &dir, name)?;
        }
        // Last: without a database, a restore that broke off is seen as one.
        if let Some(database) = database {
            let unfinished = database.with_extension("restoring");
            files::copy_to(File::open(folder.join(database_name(Kind::Sqlite)))?, &unfinished)?;
            fs::rename(&unfinished, &database)
                .with_context(|| format!("cannot write {}", database.display()))?;
        }
        Ok(manifest.files.len())
    };
    let files = tokio::task::spawn_blocking(putting).await??;
    if kind == Some(Kind::Postgres) {
        let copy = source.join(database_name(Kind::Postgres));
        db::restore(address, &copy).await.context("cannot put the database back")?;
    }
    Ok(Restored { files, aside })
}

/// The result of a restore.
#[derive(Debug)]
pub(crate) struct Restored {
    /// Files that were put back.
    pub(crate) files: usize,
    /// Where what was there before is now.
    pub(crate) aside: Option<PathBuf>,
}

fn occupied(what: &str) -> String {
    format!("{what} is not empty; nothing was changed. --replace moves aside what is there")
}

/// Moves everything of the storage folder aside, if there is anything and it may be.
fn make_way(config: &Config, database: Option<&Path>, replace: bool) -> anyhow::Result<Option<PathBuf>> {
    let dir = &config.storage.dir;
    let mut there: Vec<PathBuf> = [SIGNING_KEY, SOUNDFONTS].iter().map(|name| dir.join(name)).collect();
    if matches!(config.storage.blobs, BlobStore::Local) {
        there.push(dir.join(BLOBS));
    }
    for suffix in ["", "-wal", "-shm"] {
        there.extend(database.map(|file| PathBuf::from(format!("{}{suffix}", file.display()))));
    }
    let is_something = |path: &PathBuf| match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.exists(),
    };
    there.retain(is_something);
    if there.is_empty() {
        return Ok(None);
    }
    anyhow::ensure!(replace, occupied(&format!("the storage folder {} (SF_STORAGE_DIR)", dir.display())));
    let stamp: String = clock::now_text().chars().filter(char::is_ascii_digit).take(14).collect();
    let aside = dir.join(format!("{REPLACED}{stamp}"));
    make_private_dir(&aside)?;
    for path in there {
        let name = path.file_name().context("a path without a name")?;
        fs::rename(&path, aside.join(name))
            .with_context(|| format!("cannot move {} aside", path.display()))?;
    }
    Ok(Some(aside))
}

/// Puts one file where it belongs.
fn put_back(blobs: &Blobs, folder: &Path, dir: &Path, name: &str) -> anyhow::Result<()> {
    let source =
        File::open(folder.join(name)).with_context(|| format!("cannot read {name} of the backup"))?;
    let Some(blob) = name.strip_prefix(BLOBS).and_then(|rest| rest.strip_prefix('/')) else {
        files::copy_to(source, &dir.join(name))?;
        return Ok(());
    };
    let key = blob.split_once('/').and_then(|(kind, file)| key_of(kind, file));
    let key =
        key.with_context(|| format!("the backup holds a kind of file that is not known here: {name}"))?;
    let mut writer = blobs.writer(&key).with_context(|| format!("cannot write {name}"))?;
    std::io::copy(&mut std::io::BufReader::new(source), &mut writer)
        .and_then(|_| writer.finish())
        .with_context(|| format!("cannot write {name}"))?;
    Ok(())
}
