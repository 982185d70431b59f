//! Searching folders for SoundFonts, looking only into what is new or has changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::inspect::{Inspection, inspect};
use super::snapshot::{FOUND_FIRST, PLAYABLE_FIRST, PassedOver, SF2_FIRST, Snapshot, other};
use super::{BankFile, SoundFont, SoundFontFormat, SoundFontSource, SoundFontSummary, id_of_name};
use crate::clock;
use crate::rendering::banks::Version;

/// How many folders deep the search goes.
const DEPTH_MAX: usize = 4;

/// Banks that stand in where the settings name none, the first that is there.
const USUAL_DEFAULTS: [&str; 2] = ["timgm6mb", "fluidr3gm"];

/// Most files in the catalogue; more are left out, with a warning in the log.
const FILES_MAX: usize = 2_000;

/// Knows the folders, and what was in their files when they were last looked into.
#[derive(Debug)]
pub(super) struct Scanner {
    folders: Vec<PathBuf>,
    preferred: Option<String>,
    inspected: HashMap<PathBuf, (Version, Inspection)>,
}

struct Found {
    path: PathBuf,
    version: Version,
}

impl Scanner {
    pub(super) fn new(folders: Vec<PathBuf>, preferred: Option<String>) -> Self {
        Self { folders, preferred, inspected: HashMap::new() }
    }

    /// Searches the folders; `others` are files that were found elsewhere, by their real paths.
    pub(super) fn scan(&mut self, others: Vec<PathBuf>) -> Snapshot {
        let files = self.find(others);
        let mut known = std::mem::take(&mut self.inspected);
        let mut by_id: BTreeMap<String, Vec<SoundFont>> = BTreeMap::new();
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
            by_id.entry(soundfont.summary.soundfont_id.clone()).or_default().push(soundfont);
        }
        let mut passed_over = Vec::new();
        let mut soundfonts: Vec<SoundFont> =
            by_id.into_values().filter_map(|same_id| choose(same_id, &mut passed_over)).collect();
        if let Some(index) = default_index(&soundfonts, self.preferred.as_deref()) {
            soundfonts[index].summary.default = true;
        }
        Snapshot { soundfonts, passed_over, scanned_at: clock::now_text() }
    }

    /// The files of all folders by their real paths, each once, in the order of the folders, and
    /// the others behind them.
    fn find(&self, others: Vec<PathBuf>) -> Vec<Found> {
        let mut seen = HashSet::new();
        let mut files = Vec::new();
        for folder in &self.folders {
            let mut paths = Vec::new();
            search(folder, DEPTH_MAX, &mut seen, &mut paths);
            paths.sort();
            for path in paths {
                let Ok(facts) = fs::metadata(&path) else { continue };
                files.push(Found { path, version: Version::of(&facts) });
            }
        }
        for path in others {
            if let Ok(facts) = fs::metadata(&path)
                && seen.insert(path.clone())
            {
                files.push(Found { path, version: Version::of(&facts) });
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
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.and_then(SoundFontFormat::of_extension).is_some()
}

fn soundfont(found: &Found, inspection: &Inspection) -> SoundFont {
    let stem = found.path.file_stem().unwrap_or_default().to_string_lossy();
    SoundFont {
        summary: SoundFontSummary {
            soundfont_id: Some(id_of_name(&stem))
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| "unnamed".into()),
            name: inspection.name.clone(),
            source: SoundFontSource::System,
            format: inspection.format,
            size_bytes: found.version.size_bytes,
            content_hash: inspection.content_hash.clone(),
            default: false,
            usable: inspection.problem.is_none(),
            problem: inspection.problem.clone(),
            skipped: inspection.skipped.clone(),
            others: Vec::new(),
        },
        presets: inspection.presets.clone(),
        file: BankFile::InFolder { path: found.path.clone(), version: found.version },
    }
}

/// Of files with one id: what can be played before what cannot, then SF2 before SF3, then the
/// earlier. It names the others.
fn choose(mut same_id: Vec<SoundFont>, passed_over: &mut Vec<PassedOver>) -> Option<SoundFont> {
    let rank = |soundfont: &SoundFont| (!soundfont.summary.usable, soundfont.summary.format);
    // Keeps the order of those that are alike.
    same_id.sort_by_key(rank);
    let mut same_id = same_id.into_iter();
    let mut taken = same_id.next()?;
    for file in same_id {
        let reason = match (rank(&taken), rank(&file)) {
            ((false, _), (true, _)) => PLAYABLE_FIRST,
            ((_, best), (_, format)) if best != format => SF2_FIRST,
            _ => FOUND_FIRST,
        };
        taken.summary.others.push(other(SoundFontSource::System, file.summary.format, reason));
        if let (Some(path), Some(instead)) = (file.path(), taken.path()) {
            passed_over.push(PassedOver {
                soundfont_id: file.summary.soundfont_id.clone(),
                format: file.summary.format,
                path: path.to_owned(),
                reason,
                instead: instead.to_owned(),
            });
        }
    }
    Some(taken)
}

fn default_index(soundfonts: &[SoundFont], preferred: Option<&str>) -> Option<usize> {
    let index =
        |id: &str| soundfonts.iter().position(|one| one.summary.soundfont_id == id && one.summary.usable);
    preferred
        .into_iter()
        .chain(USUAL_DEFAULTS)
        .find_map(index)
        .or_else(|| soundfonts.iter().position(|one| one.summary.usable))
}
