//! What plugins are below some folders: the rules of the files, then a look into each module.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use songfoundry_bridge_protocol::{PluginFormat, PluginKind, ScannedPlugin};

use super::helper::{Contents, Helper, Outcome};
use super::names::normalized;
use super::search::{Limits, Module, Remark, SoundFontFile, search};
use super::store::Known;
use super::version::version_of;
use crate::clock;
use crate::config::Config;
use crate::helper_processes::Helpers;
use crate::plugins::dirs::PlaceNames;

/// Most modules that are looked into at a time.
const AT_A_TIME_MAX: usize = 4;

/// A plugin that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundPlugin {
    pub(crate) module: PathBuf,
    pub(crate) format: PluginFormat,
    pub(crate) plugin: ScannedPlugin,
}

/// A plugin that says neither what it is for, or a module that does not say what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unclassified {
    pub(crate) module: PathBuf,
    pub(crate) format: PluginFormat,
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// What is below some folders.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The folders.
    pub(crate) dirs: Vec<PathBuf>,
    /// When the scan ended, RFC 3339.
    pub(crate) scanned_at: String,
    pub(crate) instruments: Vec<FoundPlugin>,
    pub(crate) effects: Vec<FoundPlugin>,
    pub(crate) unclassified: Vec<Unclassified>,
    /// What would be a plugin but for the rules.
    pub(crate) ignored: Vec<Remark>,
    pub(crate) unreadable: Vec<Remark>,
    pub(crate) truncated: bool,
    pub(crate) soundfonts: Vec<SoundFontFile>,
}

/// Looks into modules, and remembers what was in those that stay as they are.
#[derive(Debug)]
pub(super) struct Scanner {
    places: PlaceNames,
    helper: Helper,
    /// What was found in modules.
    known: Mutex<HashMap<PathBuf, Known>>,
    /// Modules about which there is something new since [`Self::news`] was asked.
    news: Mutex<HashSet<PathBuf>>,
}

impl Scanner {
    pub(super) fn new(config: &Config, helpers: Helpers) -> Self {
        Self {
            places: PlaceNames::new(config),
            helper: Helper::new(&config.plugins, helpers),
            known: Mutex::default(),
            news: Mutex::default(),
        }
    }

    /// Takes up what was found before this process started.
    pub(super) fn remember(&self, known: HashMap<PathBuf, Known>) {
        locked(&self.known).extend(known);
    }

    /// What was found since this was last asked, and `None` for modules that have gone.
    pub(super) fn news(&self) -> Vec<(PathBuf, Option<Known>)> {
        let known = locked(&self.known);
        let news = std::mem::take(&mut *locked(&self.news));
        let found = |path: PathBuf| {
            let found = known.get(&path).cloned();
            (path, found)
        };
        news.into_iter().map(found).collect()
    }

    /// Scans folders. With `try_again` modules that failed before are looked into again, even if
    /// they have not changed. Blocks.
    pub(super) fn scan(&self, dirs: Vec<PathBuf>, try_again: bool) -> std::io::Result<Scan> {
        // Folders that modules may fill, and that go when the scan ends.
        let home = tempfile::Builder::new().prefix("songfoundry-scan").tempdir()?;
        let places = self.places.places();
        let found = search(&dirs, Limits::default(), &|real| places.allow(real));
        let mut scan = Scan {
            dirs,
            scanned_at: String::new(),
            instruments: Vec::new(),
            effects: Vec::new(),
            unclassified: Vec::new(),
            ignored: found.ignored,
            unreadable: found.unreadable,
            truncated: found.truncated,
            soundfonts: found.soundfonts,
        };
        let (vst3, vst2): (Vec<_>, Vec<_>) =
            found.modules.into_iter().partition(|module| module.format == PluginFormat::Vst3);
        for (module, contents) in self.contents(vst3, home.path(), try_again) {
            scan.take(module, contents);
        }
        let vst2 = scan.without_twins(vst2);
        for (module, contents) in self.contents(vst2, home.path(), try_again) {
            scan.take(module, contents);
        }
        self.forget_gone(&scan.dirs);
        scan.finish();
        Ok(scan)
    }

    /// What is in modules, in their order.
    fn contents(&self, modules: Vec<Module>, home: &Path, try_again: bool) -> Vec<(Module, Contents)> {
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(AT_A_TIME_MAX);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(modules.len()) {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(module) = modules.get(place) else { return };
                        let contents = self.contents_of(module, home, try_again);
                        locked(&results).push((place, contents));
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(place, _)| *place);
        modules.into_iter().zip(results.into_iter().map(|(_, contents)| contents)).collect()
    }

    fn contents_of(&self, module: &Module, home: &Path, try_again: bool) -> Contents {
        let version = version_of(&module.path);
        if let Some((known_version, known)) = locked(&self.known).get(&module.path)
            && *known_version == version
            && !(try_again && known.problem.is_some())
        {
            return known.clone();
        }
        match self.helper.look_into(&module.path, home) {
            Outcome::Known(contents) => {
                let (plugins, problem) = (contents.plugins.len(), contents.problem.as_deref());
                tracing::info!(path = ?module.path, plugins, problem, "looked into a plugin module");
                locked(&self.known).insert(module.path.clone(), (version, contents.clone()));
                locked(&self.news).insert(module.path.clone());
                contents
            }
            Outcome::Unknown(reason) => {
                tracing::warn!(path = ?module.path, reason, "a plugin module could not be looked into");
                Contents { plugins: Vec::new(), problem: Some(reason) }
            }
        }
    }

    /// Forgets modules that lay in these folders and have gone.
    fn forget_gone(&self, dirs: &[PathBuf]) {
        let mut known = locked(&self.known);
        let mut news = locked(&self.news);
        known.retain(|path, _| {
            let stays = path.exists() || !dirs.iter().any(|dir| path.starts_with(dir));
            if !stays {
                news.insert(path.clone());
            }
            stays
        });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scan {
    /// Adds what is in a module to what was found.
    fn take(&mut self, module: Module, contents: Contents) {
        let unclassified = |name: String, reason: String| Unclassified {
            module: module.path.clone(),
            format: module.format,
            name,
            reason,
        };
        for plugin in contents.plugins {
            let found = FoundPlugin { module: module.path.clone(), format: module.format, plugin };
            match found.plugin.kind {
                PluginKind::Instrument => self.instruments.push(found),
                PluginKind::Effect => self.effects.push(found),
                PluginKind::Unclassified => {
                    let reason = "it says neither that it plays notes nor that it changes sound";
                    self.unclassified.push(unclassified(found.plugin.name, reason.to_owned()));
                }
            }
        }
        if let Some(problem) = contents.problem {
            self.unclassified.push(unclassified(module.stem, problem));
        }
    }

    /// Modules without those that are a VST3 effect which was found already, by their names.
    fn without_twins(&mut self, modules: Vec<Module>) -> Vec<Module> {
        let effects: HashSet<String> = self
            .effects
            .iter()
            .flat_map(|found| [normalized(&found.plugin.name), stem_of(&found.module)])
            .collect();
        let (twins, others): (Vec<_>, Vec<_>) =
            modules.into_iter().partition(|module| effects.contains(&normalized(&module.stem)));
        self.ignored.extend(twins.into_iter().map(|module| Remark {
            path: module.path,
            reason: "a VST3 effect of the same name was found".to_owned(),
        }));
        others
    }

    /// Lists every plugin once, by name.
    fn finish(&mut self) {
        for list in [&mut self.instruments, &mut self.effects] {
            let mut seen: HashMap<(PluginFormat, String), PathBuf> = HashMap::new();
            list.retain(|found| {
                let key = (found.format, found.plugin.plugin_id.clone());
                let first = seen.entry(key).or_insert_with(|| found.module.clone());
                // A module may hold two of one number, which is its own affair.
                let is_other = *first != found.module;
                if is_other {
                    let reason =
                        format!("its plugin `{}` was found in {}", found.plugin.name, first.display());
                    self.ignored.push(Remark { path: found.module.clone(), reason });
                }
                !is_other
            });
            list.sort_by_cached_key(|found| (found.plugin.name.to_lowercase(), found.module.clone()));
        }
        self.scanned_at = clock::now_text();
    }
}

fn stem_of(module: &Path) -> String {
    normalized(&module.file_stem().unwrap_or_default().to_string_lossy())
}
