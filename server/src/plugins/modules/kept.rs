//! The scans of users, kept for a while.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore};

use super::scanner::{Scan, Scanner};
use super::store;
use crate::auth::CurrentUser;
use crate::config::Config;
use crate::db::Db;
use crate::error::ApiError;
use crate::helper_processes::Helpers;
use crate::plugins::dirs;

/// How long a scan is taken to hold, in seconds.
pub(in crate::plugins) const SCAN_CACHE_SECS: u32 = 300;

/// The plugins of users.
#[derive(Debug, Clone)]
pub struct Plugins(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    scanner: Scanner,
    /// Whether the scanner knows what is in the database.
    has_remembered: OnceCell<()>,
    /// One scan at a time: two would look into the same modules.
    turn: Semaphore,
    /// By the user's id. Whoever holds a place scans, and others wait for what comes of it.
    kept: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<Kept>>>>>,
}

#[derive(Debug, Clone)]
struct Kept {
    begun: Instant,
    ended: Instant,
    scan: Arc<Scan>,
}

/// Which kept scan will do.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    /// One that is not too old.
    Recent,
    /// One that began after this.
    Since(Instant),
}

impl Plugins {
    /// Nothing is scanned yet.
    #[must_use]
    pub fn new(config: &Config, db: &Db, helpers: &Helpers) -> Self {
        Self(Arc::new(Inner {
            db: db.clone(),
            scanner: Scanner::new(config, helpers.clone()),
            has_remembered: OnceCell::new(),
            turn: Semaphore::new(1),
            kept: Mutex::default(),
        }))
    }

    /// What is in a user's folders, by a scan that is not older than [`SCAN_CACHE_SECS`]; for an
    /// API key, which may not scan, by the last one of this process. `None` without such a scan,
    /// for whoever has no folders, and for whoever may not have plugins (any more).
    pub(in crate::plugins) async fn current(
        &self,
        user: &CurrentUser,
    ) -> Result<Option<Arc<Scan>>, ApiError> {
        let dirs = self.dirs_of(&user.id).await?;
        if !user.has_plugins() || dirs.is_empty() {
            return Ok(None);
        }
        if !user.may_scan() {
            return Ok(self.last(&user.id, &dirs).await);
        }
        self.scan(&user.id, dirs, Wanted::Recent).await.map(Some)
    }

    /// Scans a user's folders now, and forgets the scans that are kept for any user: folders of
    /// several users may overlap. Says whether there was one to forget. Calls that wait for the
    /// same scan share its result.
    pub(in crate::plugins) async fn rescan(&self, user_id: &str) -> Result<(Arc<Scan>, bool), ApiError> {
        let asked = Instant::now();
        let forgotten = self.forget_before(asked).await;
        let scan = self.scan(user_id, self.dirs_of(user_id).await?, Wanted::Since(asked)).await?;
        Ok((scan, forgotten))
    }

    /// The last scan of these folders of a user, however old, once one that is under way has ended.
    async fn last(&self, user_id: &str, dirs: &[PathBuf]) -> Option<Arc<Scan>> {
        let kept = self.kept().get(user_id).cloned()?;
        let kept = kept.lock().await;
        kept.as_ref().filter(|kept| kept.scan.dirs == dirs).map(|kept| Arc::clone(&kept.scan))
    }

    /// Forgets the scans that began before `asked`, and says whether there was one.
    async fn forget_before(&self, asked: Instant) -> bool {
        let kept: Vec<_> = self.kept().values().cloned().collect();
        let mut forgotten = false;
        for scan in kept {
            forgotten |= scan.lock().await.take_if(|scan| scan.begun < asked).is_some();
        }
        forgotten
    }

    /// The scans that are kept, by the users' ids.
    pub(crate) fn known(&self) -> Vec<(String, Arc<Scan>)> {
        let kept = self.kept();
        let scan = |(id, place): (&String, &Arc<tokio::sync::Mutex<Option<Kept>>>)| {
            Some((id.clone(), Arc::clone(&place.try_lock().ok()?.as_ref()?.scan)))
        };
        kept.iter().filter_map(scan).collect()
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Arc<tokio::sync::Mutex<Option<Kept>>>>> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn scan(&self, user_id: &str, dirs: Vec<PathBuf>, wanted: Wanted) -> Result<Arc<Scan>, ApiError> {
        let place = Arc::clone(self.kept().entry(user_id.to_owned()).or_default());
        let mut place = place.lock_owned().await;
        if let Some(kept) = place.as_ref().filter(|kept| kept.will_do(wanted, &dirs)) {
            return Ok(Arc::clone(&kept.scan));
        }
        // The scan goes on if its caller leaves, so that those behind do not begin again.
        let inner = Arc::clone(&self.0);
        let scanning = tokio::spawn(async move {
            let _turn = inner.turn.acquire().await.map_err(ApiError::internal)?;
            inner.remember().await?;
            let (begun, scanning) = (Instant::now(), Arc::clone(&inner));
            let try_again = matches!(wanted, Wanted::Since(_));
            let scan = tokio::task::spawn_blocking(move || scanning.scanner.scan(dirs, try_again)).await??;
            let scan = Arc::new(scan);
            inner.store_news().await?;
            *place = Some(Kept { begun, ended: Instant::now(), scan: Arc::clone(&scan) });
            Ok(scan)
        });
        scanning.await?
    }

    async fn dirs_of(&self, user_id: &str) -> Result<Vec<PathBuf>, ApiError> {
        let dirs = dirs::store::of_user(&self.0.db, user_id).await?;
        Ok(dirs.into_iter().map(PathBuf::from).collect())
    }
}

impl Inner {
    /// Lets the scanner know what was found before this process started.
    async fn remember(&self) -> Result<(), sqlx::Error> {
        let remember = || async {
            self.scanner.remember(store::all(&self.db).await?);
            Ok(())
        };
        self.has_remembered.get_or_try_init(remember).await.copied()
    }

    async fn store_news(&self) -> Result<(), sqlx::Error> {
        for (path, known) in self.scanner.news() {
            match known {
                Some(known) => store::put(&self.db, &path, &known).await?,
                None => store::remove(&self.db, &path).await?,
            }
        }
        Ok(())
    }
}

impl Kept {
    fn will_do(&self, wanted: Wanted, dirs: &[PathBuf]) -> bool {
        let in_time = match wanted {
            Wanted::Recent => self.ended.elapsed() < Duration::from_secs(SCAN_CACHE_SECS.into()),
            Wanted::Since(asked) => self.begun >= asked,
        };
        in_time && self.scan.dirs == dirs
    }
}
