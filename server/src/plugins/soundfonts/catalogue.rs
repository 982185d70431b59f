//! Keeps what is in the folders in mind, and adds what users have uploaded.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::scan::Scanner;
use super::snapshot::Snapshot;
use super::{id_of_name, store};
use crate::config::Config;
use crate::db::Db;
use crate::error::ApiError;
use crate::plugins::dirs::{self, PlaceNames};
use crate::plugins::modules::{Limits, search};
use crate::start_checks;
use crate::state::AppState;

/// How often the folders are searched for new and changed files.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);

/// Searches the SoundFont folders and remembers what is in them; knows what users have uploaded.
#[derive(Debug)]
pub struct Catalogue {
    db: Db,
    places: PlaceNames,
    scanner: Arc<Mutex<Scanner>>,
    snapshot: Arc<RwLock<Option<Arc<Snapshot>>>>,
}

impl Catalogue {
    /// A catalogue of the folders in the settings and of those in which users have plugins, not
    /// searched yet.
    #[must_use]
    pub fn new(config: &Config, db: Db) -> Self {
        let preferred = config.sound.default_soundfont.as_deref().map(id_of_name);
        Self {
            db,
            places: PlaceNames::new(config),
            scanner: Arc::new(Mutex::new(Scanner::new(config.sound.soundfont_dirs.clone(), preferred))),
            snapshot: Arc::default(),
        }
    }

    /// What a user has now: the system's as in [`Self::current`], and their own, which no other
    /// user ever sees.
    ///
    /// # Errors
    /// As [`Self::current`].
    pub async fn of(&self, owner_id: &str) -> Result<Arc<Snapshot>, ApiError> {
        let system = self.current().await?;
        let own = store::of_owner(&self.db, owner_id).await?;
        if own.is_empty() { Ok(system) } else { Ok(Arc::new(system.with_uploads(&own)?)) }
    }

    /// The system's as the last scan found them; the first caller waits for the first scan.
    ///
    /// # Errors
    /// As [`Self::rescan`].
    pub async fn current(&self) -> Result<Arc<Snapshot>, ApiError> {
        if let Some(snapshot) = self.known() {
            return Ok(snapshot);
        }
        let (scanner, known) = (Arc::clone(&self.scanner), Arc::clone(&self.snapshot));
        let plugin_dirs = self.plugin_dirs().await?;
        let first_scan = move || {
            let mut scanner = scanner.lock().unwrap_or_else(PoisonError::into_inner);
            // Somebody else's scan may have ended while this one waited for its turn.
            let done = known.read().unwrap_or_else(PoisonError::into_inner).clone();
            done.unwrap_or_else(|| publish(&mut scanner, &plugin_dirs, &known))
        };
        Ok(tokio::task::spawn_blocking(first_scan).await?)
    }

    /// Searches the folders now.
    ///
    /// # Errors
    /// When the thread of the scan fails, or the database does not say where users have plugins.
    pub async fn rescan(&self) -> Result<Arc<Snapshot>, ApiError> {
        let (scanner, known) = (Arc::clone(&self.scanner), Arc::clone(&self.snapshot));
        let plugin_dirs = self.plugin_dirs().await?;
        let scan = move || {
            publish(&mut scanner.lock().unwrap_or_else(PoisonError::into_inner), &plugin_dirs, &known)
        };
        Ok(tokio::task::spawn_blocking(scan).await?)
    }

    async fn plugin_dirs(&self) -> Result<PluginDirs, ApiError> {
        let paths = dirs::store::of_all(&self.db).await?.into_iter().map(PathBuf::from).collect();
        Ok(PluginDirs { paths, names: self.places.clone() })
    }

    /// What the last scan found, if there was one.
    #[must_use]
    pub fn known(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The folders in which users have plugins.
struct PluginDirs {
    paths: Vec<PathBuf>,
    names: PlaceNames,
}

impl PluginDirs {
    /// The SoundFonts below them. Blocks.
    fn soundfonts(&self) -> Vec<PathBuf> {
        let places = self.names.places();
        let found = search(&self.paths, Limits::default(), &|real| places.allow(real));
        found.soundfonts.into_iter().map(|one| one.path).collect()
    }
}

fn publish(
    scanner: &mut Scanner,
    plugin_dirs: &PluginDirs,
    known: &RwLock<Option<Arc<Snapshot>>>,
) -> Arc<Snapshot> {
    let snapshot = Arc::new(scanner.scan(plugin_dirs.soundfonts()));
    *known.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&snapshot));
    snapshot
}

/// Keeps the catalogue current until the service stops.
pub async fn keep_scanning(state: AppState, stop: CancellationToken) {
    let mut is_first = true;
    loop {
        match state.sound.catalogue.rescan().await {
            Ok(found) if is_first => {
                start_checks::warn_of_default_soundfont(&state.config.sound, &found);
                is_first = false;
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the scan for SoundFonts failed"),
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(SCAN_INTERVAL) => {}
        }
    }
}
