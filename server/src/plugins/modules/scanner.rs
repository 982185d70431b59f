//! Scans folders for plugins. First finds modules by their file names, then scans each module.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use songfoundry_bridge_protocol::{PluginFormat, PluginKind, ScannedPlugin};

use super::helper::{Helper, ScanOutcome, ScanResult};
use super::names::normalized;
use super::progress::ScanProgress;
use super::search::{Limits, Module, Remark, SoundFontFile, search};
use super::store::{ResultChange, VERSIONS_MAX, VersionedResult};
use super::version::version_of;
use crate::clock;
use crate::config::Config;
use crate::helper_processes::Helpers;
use crate::plugin_hosts::PluginRef;
use crate::plugins::dirs::FolderRules;

/// Modules that a scan runs. Their scan results are otherwise those of earlier scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ModulesToRun {
    /// No modules. New and changed modules are left unclassified.
    None,
    /// New and changed modules.
    Changed,
    /// Also unchanged modules whose last scan failed.
    ChangedAndFailed,
}

/// A plugin that a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundPlugin {
    pub(crate) module: PathBuf,
    pub(crate) format: PluginFormat,
    pub(crate) plugin: ScannedPlugin,
}

impl From<FoundPlugin> for PluginRef {
    fn from(found: FoundPlugin) -> Self {
        Self { module: found.module, format: found.format, plugin_id: found.plugin.plugin_id }
    }
}

/// A plugin of unknown kind, or a module that could not be scanned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnclassifiedModule {
    pub(crate) module: PathBuf,
    pub(crate) format: PluginFormat,
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// Result of a scan of folders.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The folders that were scanned.
    pub(crate) dirs: Vec<PathBuf>,
    /// Time when the scan ended, RFC 3339.
    pub(crate) scanned_at: String,
    pub(crate) instruments: Vec<FoundPlugin>,
    pub(crate) effects: Vec<FoundPlugin>,
    pub(crate) unclassified: Vec<UnclassifiedModule>,
    /// Modules that the search rules exclude, and modules with a plugin that another module also
    /// contains.
    pub(crate) ignored: Vec<Remark>,
    /// Folders that could not be read, or that the settings do not allow.
    pub(crate) unreadable: Vec<Remark>,
    /// Whether the search stopped early because of a limit.
    pub(crate) truncated: bool,
    pub(crate) soundfonts: Vec<SoundFontFile>,
}

/// Scans modules, and caches the scan results of modules that have not changed.
#[derive(Debug)]
pub(super) struct Scanner {
    rules: FolderRules,
    helper: Helper,
    /// Maximum number of modules that are scanned at the same time.
    parallel_max: usize,
    /// Versions and scan results of modules by path, those of the newest scan last. Other servers
    /// may have other versions of a module on their disks.
    cached: Mutex<HashMap<PathBuf, Vec<VersionedResult>>>,
    /// Versions of the modules that this process found on the disk, by path.
    found: Mutex<HashMap<PathBuf, String>>,
    /// Modules that the next scan runs even if they have not changed. Each may have a new time
    /// limit of its scans, in seconds.
    requested: Mutex<HashMap<PathBuf, Option<u64>>>,
    progress: ScanProgress,
    /// Changes of scan results since the last call of [`Self::take_changes`].
    changes: Mutex<Vec<ResultChange>>,
}

impl Scanner {
    pub(super) fn new(config: &Config, helpers: Helpers) -> Self {
        Self {
            rules: FolderRules::new(config),
            helper: Helper::new(&config.plugins, helpers),
            parallel_max: config.plugins.scans_max,
            cached: Mutex::default(),
            found: Mutex::default(),
            requested: Mutex::default(),
            progress: ScanProgress::default(),
            changes: Mutex::default(),
        }
    }

    /// Adds the scan results that this and other processes stored.
    pub(super) fn restore(&self, stored_results: HashMap<PathBuf, Vec<VersionedResult>>) {
        lock(&self.cached).extend(stored_results);
    }

    /// Returns the changes of the scan results since the last call.
    pub(super) fn take_changes(&self) -> Vec<ResultChange> {
        std::mem::take(&mut *lock(&self.changes))
    }

    /// Returns changes of [`Self::take_changes`] that could not be stored.
    pub(super) fn return_changes(&self, mut unstored: Vec<ResultChange>) {
        let mut changes = lock(&self.changes);
        unstored.append(&mut changes);
        *changes = unstored;
    }

    /// Makes the next scan run a module. `max_secs` is the new time limit of its scans.
    pub(super) fn request(&self, module: PathBuf, max_secs: Option<u64>) {
        lock(&self.requested).insert(module, max_secs);
    }

    /// Withdraws a request of [`Self::request`]. Returns whether no scan has run the module.
    pub(super) fn withdraw(&self, module: &Path) -> bool {
        lock(&self.requested).remove(module).is_some()
    }

    /// Returns the progress of the running scan.
    pub(super) fn progress(&self) -> &ScanProgress {
        &self.progress
    }

    /// Scans folders. Blocks.
    pub(super) fn scan(&self, dirs: Vec<PathBuf>, to_run: ModulesToRun) -> std::io::Result<Scan> {
        // Modules get a temporary home folder. It is deleted when the scan ends.
        let home = tempfile::Builder::new().prefix("songfoundry-scan").tempdir()?;
        self.progress.begin();
        let rules = self.rules.resolve();
        let search_result = search(&dirs, Limits::default(), &|real| rules.allows(real));
        let mut scan = Scan {
            dirs,
            scanned_at: String::new(),
            instruments: Vec::new(),
            effects: Vec::new(),
            unclassified: Vec::new(),
            ignored: search_result.ignored,
            unreadable: search_result.unreadable,
            truncated: search_result.truncated,
            soundfonts: search_result.soundfonts,
        };
        self.progress.set_modules(search_result.modules.len());
        let (vst3, vst2): (Vec<_>, Vec<_>) =
            search_result.modules.into_iter().partition(|module| module.format == PluginFormat::Vst3);
        for (module, result) in self.scan_all(vst3, home.path(), to_run) {
            scan.add(module, result);
        }
        let found = vst2.len();
        let vst2 = scan.without_duplicates(vst2);
        self.progress.skip(found - vst2.len());
        for (module, result) in self.scan_all(vst2, home.path(), to_run) {
            scan.add(module, result);
        }
        self.progress.end();
        self.remove_deleted(&scan.dirs);
        scan.finish();
        Ok(scan)
    }

    /// Returns the scan results of modules, in the order of `modules`. Unchanged modules are not
    /// scanned again.
    fn scan_all(&self, modules: Vec<Module>, home: &Path, to_run: ModulesToRun) -> Vec<(Module, ScanResult)> {
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..self.parallel_max.min(modules.len()) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(module) = modules.get(index) else { return };
                        let scanning = || self.scan_module(module, home, to_run);
                        let result = self.progress.during(&module.path, scanning);
                        lock(&results).push((index, result));
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        modules.into_iter().zip(results.into_iter().map(|(_, result)| result)).collect()
    }

    fn scan_module(&self, module: &Module, home: &Path, to_run: ModulesToRun) -> ScanResult {
        let version = version_of(&module.path);
        lock(&self.found).insert(module.path.clone(), version.clone());
        let results = lock(&self.cached).get(&module.path).cloned().unwrap_or_default();
        let remembered_max_secs = results.last().and_then(|(_, newest_result)| newest_result.max_secs);
        let cached = results.into_iter().find(|(cached_version, _)| *cached_version == version);
        let requested = match to_run {
            ModulesToRun::None => None,
            _ => lock(&self.requested).remove(&module.path),
        };
        if let Some((_, cached)) = cached
            && requested.is_none()
            && !(to_run == ModulesToRun::ChangedAndFailed && cached.problem.is_some())
        {
            return cached;
        }
        if to_run == ModulesToRun::None {
            let problem = "it has not been scanned since it was added or changed; ask an administrator to scan the plugin folders";
            return ScanResult { problem: Some(problem.to_owned()), ..ScanResult::default() };
        }
        let max_secs = requested.flatten().or(remembered_max_secs);
        match self.helper.scan(&module.path, home, max_secs) {
            ScanOutcome::Scanned(result) => {
                let (plugins, problem) = (result.plugins.len(), result.problem.as_deref());
                tracing::info!(path = ?module.path, plugins, problem, "scanned a plugin module");
                self.add_result(&module.path, (version, result.clone()));
                result
            }
            ScanOutcome::NotScanned(reason) => {
                tracing::warn!(path = ?module.path, reason, "cannot scan a plugin module");
                ScanResult { problem: Some(reason), ..ScanResult::default() }
            }
        }
    }

    fn add_result(&self, path: &Path, (version, result): VersionedResult) {
        let mut cached = lock(&self.cached);
        let results = cached.entry(path.to_owned()).or_default();
        results.retain(|(cached_version, _)| *cached_version != version);
        if results.len() == VERSIONS_MAX {
            results.remove(0);
        }
        results.push((version.clone(), result.clone()));
        lock(&self.changes).push(ResultChange::Scanned(path.to_owned(), (version, result)));
    }

    /// Removes the results of modules that this process found in these folders and that were
    /// deleted from the disk. Modules that only other servers have on their disks keep theirs.
    fn remove_deleted(&self, dirs: &[PathBuf]) {
        let is_deleted = |path: &Path| dirs.iter().any(|dir| path.starts_with(dir)) && !path.exists();
        for (path, version) in lock(&self.found).extract_if(|path, _| is_deleted(path)) {
            if let Some(results) = lock(&self.cached).get_mut(&path) {
                results.retain(|(cached_version, _)| *cached_version != version);
            }
            lock(&self.changes).push(ResultChange::Deleted(path, version));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scan {
    /// Adds the plugins of a module, and its problem if it has one.
    fn add(&mut self, module: Module, result: ScanResult) {
        let unclassified = |name: String, reason: String| UnclassifiedModule {
            module: module.path.clone(),
            format: module.format,
            name,
            reason,
        };
        for plugin in result.plugins {
            let found = FoundPlugin { module: module.path.clone(), format: module.format, plugin };
            match found.plugin.kind {
                PluginKind::Instrument => self.instruments.push(found),
                PluginKind::Effect => self.effects.push(found),
                PluginKind::Unclassified => {
                    let reason = "its module does not say whether it is an instrument or an effect";
                    self.unclassified.push(unclassified(found.plugin.name, reason.to_owned()));
                }
            }
        }
        if let Some(problem) = result.problem {
            self.unclassified.push(unclassified(module.stem, problem));
        }
    }

    /// Sets VST2 modules aside as ignored if their name is that of a VST3 effect. Returns the
    /// others.
    fn without_duplicates(&mut self, modules: Vec<Module>) -> Vec<Module> {
        let effects: HashSet<String> = self
            .effects
            .iter()
            .flat_map(|found| [normalized(&found.plugin.name), stem_of(&found.module)])
            .collect();
        let (duplicates, others): (Vec<_>, Vec<_>) =
            modules.into_iter().partition(|module| effects.contains(&normalized(&module.stem)));
        self.ignored.extend(duplicates.into_iter().map(|module| Remark {
            path: module.path,
            reason: "a VST3 effect of the same name was found".to_owned(),
        }));
        others
    }

    /// Sorts the plugins by name. If several modules contain a plugin, keeps only the plugin of the
    /// module that was found first.
    fn finish(&mut self) {
        for plugins in [&mut self.instruments, &mut self.effects] {
            let mut seen_plugins: HashMap<(PluginFormat, String), PathBuf> = HashMap::new();
            plugins.retain(|found| {
                let key = (found.format, found.plugin.plugin_id.clone());
                let first = seen_plugins.entry(key).or_insert_with(|| found.module.clone());
                // Plugins with the same id in one module are not duplicates.
                let is_duplicate = *first != found.module;
                if is_duplicate {
                    let reason = format!("its plugin `{}` is also in {}", found.plugin.name, first.display());
                    self.ignored.push(Remark { path: found.module.clone(), reason });
                }
                !is_duplicate
            });
            plugins.sort_by_cached_key(|found| (found.plugin.name.to_lowercase(), found.module.clone()));
        }
        self.scanned_at = clock::now_text();
    }
}

fn stem_of(module: &Path) -> String {
    normalized(&module.file_stem().unwrap_or_default().to_string_lossy())
}
