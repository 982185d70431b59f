//! Catalogue of the SoundFonts in the system's folders, which are cached, and of those that users
//! uploaded.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::scan::Scanner;
use super::snapshot::Snapshot;
use super::{id_of_name, store};
use crate::config::{Config, SoundConfig};
use crate::db::Db;
use crate::error::ApiError;
use crate::state::AppState;

/// Interval between searches for new and changed files.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);

/// Searches for SoundFont files on a thread that may block.
pub(crate) type Search = Box<dyn FnOnce() -> Vec<PathBuf> + Send>;

/// Prepares a search for SoundFont files outside the folders of the settings.
pub(crate) type PrepareSearch = Box<dyn Fn(Db) -> BoxFuture<'static, Result<Search, ApiError>> + Send + Sync>;

/// Searches the SoundFont folders, caches the result, and adds the uploads of a user.
pub struct Catalogue {
    db: Db,
    extra_files: PrepareSearch,
    scanner: Arc<Mutex<Scanner>>,
    snapshot: Arc<RwLock<Option<Arc<Snapshot>>>>,
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue").finish_non_exhaustive()
    }
}

impl Catalogue {
    /// Makes a catalogue of the folders in the settings and of `extra_files`. Does not search the
    /// folders yet.
    pub(crate) fn new(config: &Config, db: Db, extra_files: PrepareSearch) -> Self {
        let preferred_id = config.sound.default_soundfont.as_deref().map(id_of_name);
        Self {
            db,
            extra_files,
            scanner: Arc::new(Mutex::new(Scanner::new(config.sound.soundfont_dirs.clone(), preferred_id))),
            snapshot: Arc::default(),
        }
    }

    /// Returns the SoundFonts of a user: those of the system (see [`Self::current`]) and the user's
    /// uploads, which no other user sees.
    ///
    /// # Errors
    /// Those of [`Self::current`].
    pub async fn of_user(&self, owner_id: &str) -> Result<Arc<Snapshot>, ApiError> {
        let system = self.current().await?;
        let uploads = store::read_of_owner(&self.db, owner_id).await?;
        if uploads.is_empty() { Ok(system) } else { Ok(Arc::new(system.with_uploads(&uploads, owner_id)?)) }
    }

    /// Returns the system's SoundFonts from the last scan. Waits for the first scan if none has
    /// ended yet.
    ///
    /// # Errors
    /// Those of [`Self::rescan`].
    pub async fn current(&self) -> Result<Arc<Snapshot>, ApiError> {
        if let Some(snapshot) = self.last_snapshot() {
            return Ok(snapshot);
        }
        let (scanner, last_snapshot) = (Arc::clone(&self.scanner), Arc::clone(&self.snapshot));
        let extra_files = (self.extra_files)(self.db.clone()).await?;
        let first_scan = move || {
            let mut scanner = scanner.lock().unwrap_or_else(PoisonError::into_inner);
            // Another scan may have ended while this one waited for the lock.
            let snapshot = last_snapshot.read().unwrap_or_else(PoisonError::into_inner).clone();
            snapshot.unwrap_or_else(|| publish(&mut scanner, extra_files, &last_snapshot))
        };
        Ok(tokio::task::spawn_blocking(first_scan).await?)
    }

    /// Searches the folders now.
    ///
    /// # Errors
    /// The scan panics, or the database does not return the plugin folders of users.
    pub async fn rescan(&self) -> Result<Arc<Snapshot>, ApiError> {
        let (scanner, last_snapshot) = (Arc::clone(&self.scanner), Arc::clone(&self.snapshot));
        let extra_files = (self.extra_files)(self.db.clone()).await?;
        let scan = move || {
            publish(&mut scanner.lock().unwrap_or_else(PoisonError::into_inner), extra_files, &last_snapshot)
        };
        Ok(tokio::task::spawn_blocking(scan).await?)
    }

    /// Returns the result of the last scan; `None` if there was none.
    #[must_use]
    pub fn last_snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn publish(
    scanner: &mut Scanner,
    extra_files: Search,
    last_snapshot: &RwLock<Option<Arc<Snapshot>>>,
) -> Arc<Snapshot> {
    let snapshot = Arc::new(scanner.scan(extra_files()));
    *last_snapshot.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&snapshot));
    snapshot
}

/// Scans the folders at regular intervals until the service stops.
pub async fn keep_scanning(state: AppState, stop: CancellationToken) {
    let mut is_first = true;
    loop {
        match state.soundfonts.catalogue.rescan().await {
            Ok(snapshot) if is_first => {
                warn_of_default(&state.config.sound, &snapshot);
                is_first = false;
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "cannot scan the SoundFont folders"),
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(SCAN_INTERVAL) => {}
        }
    }
}

/// Warns if the default SoundFont of the settings was not found or cannot be played.
fn warn_of_default(sound: &SoundConfig, snapshot: &Snapshot) {
    let Some(default_name) = &sound.default_soundfont else { return };
    if snapshot.find(&id_of_name(default_name)).is_some_and(|soundfont| soundfont.summary.usable) {
        return;
    }
    match snapshot.default_soundfont() {
        Some(default) => {
            let default_id = &default.summary.soundfont_id;
            tracing::warn!(
                "SF_DEFAULT_SOUNDFONT is `{default_name}`, which is missing or cannot be played; `{default_id}` is used instead"
            );
        }
        None => tracing::warn!(
            "SF_DEFAULT_SOUNDFONT is `{default_name}`, which is missing or cannot be played; no other playable SoundFont is installed"
        ),
    }
}
