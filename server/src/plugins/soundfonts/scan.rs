//! Searching folders for SoundFonts, looking only into what is new or has changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::inspect::{Inspection, inspect};
use super::{Snapshot, SoundFont, SoundFontSource, SoundFontSummary, USUAL_DEFAULTS, id_of_name};
use crate::clock;
use crate::rendering::banks::Version;

/// How many folders deep the search goes.
const DEPTH_MAX: usize = 4;

/// Most files in the catalogue; more are left out, with a warning in the log.
const FILES_MAX: usize = 2_000;

/// A folder to search.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) source: SoundFontSource,
}

/// Knows the folders, and what was in their files when they were last looked into.
#[derive(Debug)]
pub(super) struct Scanner {
    folders: Vec<Folder>,
    preferred: Option<String>,
    inspected: HashMap<PathBuf, (Version, Inspection)>,
}

struct Found {
    path: PathBuf,
    source: SoundFontSource,
    version: Version,
}

impl Scanner {
    pub(super) fn new(folders: Vec<Folder>, preferred: Option<String>) -> Self {
        Self { folders, preferred, inspected: HashMap::new() }
    }

    /// Searches the folders; `others` are files that were found elsewhere, by their real paths.
    pub(super) fn scan(&mut self, others: Vec<PathBuf>) -> Snapshot {
        let files = self.find(others);
        let mut known = std::mem::take(&mut self.inspected);
        let mut by_id: BTreeMap<String, SoundFont> = BTreeMap::new();
        for found in files {
            let inspection = match known.remove(&found.path) {
                Some((version, inspection)) if version == found.version => inspection,
                _ => {
                    let inspection = inspect(&found.path);
                    let problem = inspection.problem.as_deref();
                    let skipped = inspection.skipped.count;
                    tracing::info!(path = ?found.path, problem, skipped, "looked into a SoundFont");
                    inspection
                }
            };
            let soundfont = soundfont(&found, &inspection);
            self.inspected.insert(found.path, (found.version, inspection));
            let id = soundfont.summary.soundfont_id.clone();
            match by_id.get(&id) {
                Some(earlier) if !is_better(&soundfont, earlier) => {}
                _ => {
                    by_id.insert(id, soundfont);
                }
            }
        }
        let mut soundfonts: Vec<SoundFont> = by_id.into_values().collect();
        if let Some(place) = default_place(&soundfonts, self.preferred.as_deref()) {
            soundfonts[place].summary.default = true;
        }
        let content = serde_json::to_vec(&soundfonts).unwrap_or_default();
        let etag = format!("\"{:x}\"", Sha256::digest(&content));
        Snapshot { soundfonts, scanned_at: clock::now_text(), etag }
    }

    /// The files of all folders by their real paths, each once, in the order of the folders, and the others behind them.
    fn find(&self, others: Vec<PathBuf>) -> Vec<Found> {
        let mut seen = HashSet::new();
        let mut files = Vec::new();
        for folder in &self.folders {
            let mut paths = Vec::new();
            search(&folder.path, DEPTH_MAX, &mut seen, &mut paths);
            paths.sort();
            let real_folder = folder.path.canonicalize().unwrap_or_else(|_| folder.path.clone());
            for path in paths {
                let Ok(facts) = fs::metadata(&path) else { continue };
                let version = Version::of(&facts);
                // What a link in our own folder leads to is not ours.
                let source =
                    if path.starts_with(&real_folder) { folder.source } else { SoundFontSource::System };
                files.push(Found { path, source, version });
            }
        }
        for path in others {
            if let Ok(facts) = fs::metadata(&path)
                && seen.insert(path.clone())
            {
                files.push(Found { path, source: SoundFontSource::System, version: Version::of(&facts) });
            }
        }
        if files.len() > FILES_MAX {
            tracing::warn!(
                found = files.len(),
                kept = FILES_MAX,
                "too many SoundFonts; the rest is left out"
            );
            files.truncate(FILES_MAX);
        }
        files
    }
}

/// Collects the real paths of SoundFont files below a folder. A link is as good as what it
/// leads to, and what several links lead to is found once.
fn search(folder: &Path, depth: usize, seen: &mut HashSet<PathBuf>, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(real) = entry.path().canonicalize() else { continue };
        if real.is_dir() {
            if depth > 1 && seen.insert(real.clone()) {
                search(&real, depth - 1, seen, paths);
            }
        } else if real.is_file() && is_soundfont(&real) && seen.insert(real.clone()) {
            paths.push(real);
        }
    }
}

fn is_soundfont(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("sf2") || extension.eq_ignore_ascii_case("sf3")
    })
}

fn soundfont(found: &Found, inspection: &Inspection) -> SoundFont {
    let stem = found.path.file_stem().unwrap_or_default().to_string_lossy();
    SoundFont {
        summary: SoundFontSummary {
            soundfont_id: Some(id_of_name(&stem))
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| "unnamed".into()),
            name: inspection.name.clone(),
            source: found.source,
            format: inspection.format,
            size_bytes: found.version.size_bytes,
            content_hash: inspection.content_hash.clone(),
            default: false,
            usable: inspection.problem.is_none(),
            problem: inspection.problem.clone(),
            skipped: inspection.skipped.clone(),
        },
        presets: inspection.presets.clone(),
        path: found.path.clone(),
        version: found.version,
    }
}

/// Of two files with one id: what can be played before what cannot, then SF2 before SF3.
/// Otherwise the earlier stays.
fn is_better(one: &SoundFont, other: &SoundFont) -> bool {
    let rank = |soundfont: &SoundFont| (!soundfont.summary.usable, soundfont.summary.format);
    rank(one) < rank(other)
}

fn default_place(soundfonts: &[SoundFont], preferred: Option<&str>) -> Option<usize> {
    let place =
        |id: &str| soundfonts.iter().position(|one| one.summary.soundfont_id == id && one.summary.usable);
    preferred
        .into_iter()
        .chain(USUAL_DEFAULTS)
        .find_map(place)
        .or_else(|| soundfonts.iter().position(|one| one.summary.usable))
}
