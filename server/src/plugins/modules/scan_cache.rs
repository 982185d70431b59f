//! Caches the plugin scans of users.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::progress::ScanStatus;
use super::scanner::{FoundPlugin, ModulesToRun, Scan, Scanner};
use super::store;
use crate::auth::CurrentUser;
use crate::config::Config;
use crate::db::Db;
use crate::error::ApiError;
use crate::helper_processes::Helpers;
use crate::plugins::dirs;

/// Time for which a scan is valid, in seconds.
pub(in crate::plugins) const SCAN_CACHE_SECS: u32 = 300;

/// Maximum length of a plugin's id in an error text, in characters.
const PRINTED_ID_MAX_CHARS: usize = 64;

/// The scanner of plugins, with a cache of each user's last scan.
#[derive(Debug, Clone)]
pub struct Plugins(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    scanner: Scanner,
    /// Whether the folders belong to the installation, so that all users share one scan.
    are_folders_shared: bool,
    /// Revision of the stored scan results that the scanner knows; `None` before the first scan.
    known_revision: Mutex<Option<i64>>,
    /// Permit for running a scan. Only one runs at a time, because two could scan the same modules.
    permit: Semaphore,
    /// Cached scans by user id; the scan of shared folders has the id `None`. A running scan locks
    /// its slot, which makes other callers wait for its result.
    slots: Mutex<HashMap<Option<String>, Slot>>,
}

type Slot = Arc<tokio::sync::Mutex<Option<CachedScan>>>;

#[derive(Debug, Clone)]
struct CachedScan {
    started_at: Instant,
    ended_at: Instant,
    modules_run: ModulesToRun,
    /// Revision of the stored scan results after the scan. Any server may have increased it since.
    revision: i64,
    scan: Arc<Scan>,
}

/// Condition for the use of a cached scan.
#[derive(Debug, Clone, Copy)]
enum Freshness {
    /// The scan may have any age. If there is none, no module is run.
    Any,
    /// The scan ended at most [`SCAN_CACHE_SECS`] ago.
    Recent,
    /// The scan started at this time or later, and ran at least these modules.
    Since(Instant, ModulesToRun),
}

/// A module to scan again, even if it has not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plugins) struct ModuleRequest {
    /// Path of the module, without symbolic links.
    pub(in crate::plugins) path: PathBuf,
    /// New time limit of this module's scans, in seconds. Later scans use it, too.
    pub(in crate::plugins) max_secs: Option<u64>,
}

impl Plugins {
    /// Makes an empty cache.
    #[must_use]
    pub fn new(config: &Config, db: &Db, helpers: &Helpers) -> Self {
        Self(Arc::new(Inner {
            db: db.clone(),
            scanner: Scanner::new(config, helpers.clone()),
            are_folders_shared: dirs::are_shared(config.environment),
            known_revision: Mutex::default(),
            permit: Semaphore::new(1),
            slots: Mutex::default(),
        }))
    }

    /// Returns a scan of the user's folders that ended at most [`SCAN_CACHE_SECS`] ago. Scans now
    /// if there is none. Returns `None` if the user has no plugin folders, or may not use plugins.
    ///
    /// Users who may not scan get the last scan. These are users of shared folders, which belong to
    /// the installation, and API keys. If there is no last scan, the answer is made from the stored
    /// results of earlier scans, without running modules.
    pub(in crate::plugins) async fn current(
        &self,
        user: &CurrentUser,
    ) -> Result<Option<Arc<Scan>>, ApiError> {
        let dirs = self.dirs_of(&user.id).await?;
        if dirs.is_empty() {
            return Ok(None);
        }
        let freshness = if user.may_scan() { Freshness::Recent } else { Freshness::Any };
        match self.may_use(user) {
            true => self.scan(&user.id, dirs, freshness).await.map(Some),
            false => Ok(None),
        }
    }

    /// Returns the plugin with this id that the user may use. Uses the scan that [`Self::current`]
    /// returns.
    ///
    /// # Errors
    /// 404 if there is no such plugin.
    pub(crate) async fn find(&self, user: &CurrentUser, plugin_id: &str) -> Result<FoundPlugin, ApiError> {
        let scan = self.current(user).await?;
        let mut plugins = scan.iter().flat_map(|scan| scan.instruments.iter().chain(&scan.effects));
        plugins.find(|listed_plugin| listed_plugin.plugin.plugin_id == plugin_id).cloned().ok_or_else(|| {
            let printable = plugin_id.chars().filter(|character| !character.is_control());
            ApiError::not_found("plugin", &printable.take(PRINTED_ID_MAX_CHARS).collect::<String>())
        })
    }

    /// Whether a user may use the plugins of [`Self::find_scanned`].
    pub(crate) fn may_use(&self, user: &CurrentUser) -> bool {
        self.0.are_folders_shared || user.may_use_plugins()
    }

    /// Returns the plugin with this id that earlier scans of the user's folders found. Runs no
    /// module.
    pub(crate) async fn find_scanned(
        &self,
        user_id: &str,
        plugin_id: &str,
    ) -> Result<Option<FoundPlugin>, ApiError> {
        let scan = self.scan(user_id, self.dirs_of(user_id).await?, Freshness::Any).await?;
        let mut plugins = scan.instruments.iter().chain(&scan.effects);
        Ok(plugins.find(|listed_plugin| listed_plugin.plugin.plugin_id == plugin_id).cloned())
    }

    /// Scans a user's folders now. Discards the cached scans of all users, because their folders
    /// may overlap. Also returns whether a cached scan was discarded. Concurrent calls share one
    /// scan.
    ///
    /// Runs new and changed modules, and also either the module of `request` or, without one, the
    /// modules whose last scan failed.
    ///
    /// # Errors
    /// 404 if the user's folders do not contain the module of `request`.
    pub(in crate::plugins) async fn rescan(
        &self,
        user_id: &str,
        request: Option<ModuleRequest>,
    ) -> Result<(Arc<Scan>, bool), ApiError> {
        let to_run = match &request {
            Some(_) => ModulesToRun::Changed,
            None => ModulesToRun::ChangedAndFailed,
        };
        if let Some(ModuleRequest { path, max_secs }) = &request {
            self.0.scanner.request(path.clone(), *max_secs);
        }
        let requested_at = Instant::now();
        let has_discarded = self.discard_before(requested_at).await;
        let dirs = self.dirs_of(user_id).await?;
        let scan = self.scan(user_id, dirs, Freshness::Since(requested_at, to_run)).await;
        let not_found = request.filter(|request| self.0.scanner.withdraw(&request.path));
        match (scan?, not_found) {
            (_, Some(ModuleRequest { path, .. })) => {
                Err(ApiError::not_found("plugin module", &path.to_string_lossy()))
            }
            (scan, None) => Ok((scan, has_discarded)),
        }
    }

    /// Returns the status of the scan that runs in this process; `None` if none runs.
    pub(in crate::plugins) fn scan_status(&self) -> Option<ScanStatus> {
        self.0.scanner.progress().status()
    }

    /// Discards the scans that started before `time`. Returns whether there was one.
    async fn discard_before(&self, time: Instant) -> bool {
        let slots: Vec<_> = self.slots().values().cloned().collect();
        let mut has_discarded = false;
        for slot in slots {
            has_discarded |= slot.lock().await.take_if(|cached_scan| cached_scan.started_at < time).is_some();
        }
        has_discarded
    }

    /// Returns the cached scans with the ids of their users; the scan of shared folders has none.
    /// Leaves out users whose scan is running.
    pub(crate) fn cached_scans(&self) -> Vec<(Option<String>, Arc<Scan>)> {
        let slots = self.slots();
        let scan = |(id, slot): (&Option<String>, &Slot)| {
            Some((id.clone(), Arc::clone(&slot.try_lock().ok()?.as_ref()?.scan)))
        };
        slots.iter().filter_map(scan).collect()
    }

    fn slot_id(&self, user_id: &str) -> Option<String> {
        (!self.0.are_folders_shared).then(|| user_id.to_owned())
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Option<String>, Slot>> {
        self.0.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn scan(
        &self,
        user_id: &str,
        dirs: Vec<PathBuf>,
        freshness: Freshness,
    ) -> Result<Arc<Scan>, ApiError> {
        let slot = Arc::clone(self.slots().entry(self.slot_id(user_id)).or_default());
        let mut slot = slot.lock_owned().await;
        if let Some(cached_scan) = slot.as_ref().filter(|cached_scan| cached_scan.is_usable(freshness, &dirs))
            && cached_scan.revision == store::revision(&self.0.db).await?
        {
            return Ok(Arc::clone(&cached_scan.scan));
        }
        // The scan continues even if its caller disconnects, because other callers may wait for its
        // result.
        let shared_cache = Arc::clone(&self.0);
        let scanning = tokio::spawn(async move {
            let _permit = shared_cache.permit.acquire().await.map_err(ApiError::internal)?;
            shared_cache.restore_results().await?;
            let (started_at, scanning) = (Instant::now(), Arc::clone(&shared_cache));
            let modules_run = freshness.modules_to_run();
            let scan =
                tokio::task::spawn_blocking(move || scanning.scanner.scan(dirs, modules_run)).await??;
            let scan = Arc::new(scan);
            let is_explicit = matches!(freshness, Freshness::Since(..));
            let revision = shared_cache.store_changes(is_explicit).await?;
            let ended_at = Instant::now();
            let cached_scan =
                CachedScan { started_at, ended_at, modules_run, revision, scan: Arc::clone(&scan) };
            *slot = Some(cached_scan);
            Ok(scan)
        });
        scanning.await?
    }

    async fn dirs_of(&self, user_id: &str) -> Result<Vec<PathBuf>, ApiError> {
        let dirs = dirs::folders_of(&self.0.db, user_id, self.0.are_folders_shared).await?;
        Ok(dirs.into_iter().map(PathBuf::from).collect())
    }
}

impl Inner {
    /// Loads the stored scan results into the scanner if they have changed.
    async fn restore_results(&self) -> Result<(), sqlx::Error> {
        let revision = store::revision(&self.db).await?;
        if *self.known_revision() != Some(revision) {
            // The results are at least as new as the revision, which was read before.
            self.scanner.restore(store::stored_results(&self.db).await?);
            *self.known_revision() = Some(revision);
        }
        Ok(())
    }

    /// Stores the changes of scan results, or none of them if that fails. After a change or an
    /// explicit scan, all servers discard their cached scans. Returns the revision of the results
    /// that the scanner knows.
    async fn store_changes(&self, is_explicit: bool) -> Result<i64, sqlx::Error> {
        let changes = self.scanner.take_changes();
        let known = self.known_revision().unwrap_or_default();
        if changes.is_empty() && !is_explicit {
            return Ok(known);
        }
        let increased = match store::store_changes(&self.db, &changes).await {
            Ok(increased) => increased,
            Err(error) => {
                // The next scan stores them, because it does not run their modules again.
                self.scanner.return_changes(changes);
                return Err(error);
            }
        };
        // If the difference is larger, another server has stored results that the scanner lacks.
        if increased == known + 1 {
            *self.known_revision() = Some(increased);
            return Ok(increased);
        }
        Ok(known)
    }

    fn known_revision(&self) -> MutexGuard<'_, Option<i64>> {
        self.known_revision.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Freshness {
    /// Returns the modules that a scan runs if no cached scan is new enough.
    fn modules_to_run(self) -> ModulesToRun {
        match self {
            Self::Any => ModulesToRun::None,
            Self::Recent => ModulesToRun::Changed,
            Self::Since(_, modules) => modules,
        }
    }
}

impl CachedScan {
    fn is_usable(&self, freshness: Freshness, dirs: &[PathBuf]) -> bool {
        let is_fresh = match freshness {
            Freshness::Any => true,
            Freshness::Recent => self.ended_at.elapsed() < Duration::from_secs(SCAN_CACHE_SECS.into()),
            Freshness::Since(time, modules) => self.started_at >= time && self.modules_run >= modules,
        };
        let has_run_modules =
            self.modules_run > ModulesToRun::None || freshness.modules_to_run() == ModulesToRun::None;
        is_fresh && has_run_modules && self.scan.dirs == dirs
    }
}
